//! One set of icons, drawn as strokes on a grid of 16 points, so that they need no font and follow the colour of their text.

use egui::{Painter, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, Vec2};

/// An icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    /// Open a file or folder.
    Folder,
    /// Look for something.
    Search,
    /// Close or take away.
    Close,
    /// Closed, can be opened.
    Right,
    /// Open, can be closed.
    Down,
    /// Go up.
    Up,
    /// Go back.
    Left,
    /// Add.
    Plus,
    /// Less.
    Minus,
    /// Keep on top.
    Pin,
    /// Right, confirmed.
    Check,
    /// Something needs care.
    Warning,
    /// Explain.
    Info,
    /// Write.
    Pen,
    /// Copy.
    Copy,
    /// Write to a file.
    Save,
    /// Follow a link.
    Link,
    /// Whole height.
    Expand,
    /// Part of the height.
    Shrink,
    /// More.
    Dots,
    /// Undo.
    Undo,
    /// Redo.
    Redo,
    /// Light or dark.
    Contrast,
    /// Move by its handle.
    Grip,
    /// Time.
    Clock,
    /// Hide.
    Hide,
    /// Play.
    Play,
    /// Stop for a while.
    Pause,
    /// To the next thing that happened.
    Next,
    /// To the one before.
    Previous,
    /// Choose what is shown.
    Filter,
}

/// Strokes of each icon as points on the grid.
#[expect(clippy::too_many_lines, reason = "a table: one arm for each icon")]
const fn lines(icon: Icon) -> &'static [&'static [(f32, f32)]] {
    match icon {
        Icon::Folder => &[&[
            (2.0, 12.5),
            (2.0, 3.5),
            (6.5, 3.5),
            (8.0, 5.5),
            (14.0, 5.5),
            (14.0, 12.5),
            (2.0, 12.5),
        ]],
        Icon::Search => &[&[(10.2, 10.2), (14.0, 14.0)]],
        Icon::Close => &[&[(4.0, 4.0), (12.0, 12.0)], &[(12.0, 4.0), (4.0, 12.0)]],
        Icon::Right => &[&[(6.0, 3.5), (10.5, 8.0), (6.0, 12.5)]],
        Icon::Down => &[&[(3.5, 6.0), (8.0, 10.5), (12.5, 6.0)]],
        Icon::Up => &[&[(3.5, 10.0), (8.0, 5.5), (12.5, 10.0)]],
        Icon::Left => &[&[(10.0, 3.5), (5.5, 8.0), (10.0, 12.5)]],
        Icon::Plus => &[&[(8.0, 3.0), (8.0, 13.0)], &[(3.0, 8.0), (13.0, 8.0)]],
        Icon::Minus => &[&[(3.0, 8.0), (13.0, 8.0)]],
        Icon::Pin => &[
            &[
                (5.0, 2.5),
                (11.0, 2.5),
                (10.0, 7.0),
                (12.0, 9.5),
                (4.0, 9.5),
                (6.0, 7.0),
                (5.0, 2.5),
            ],
            &[(8.0, 9.5), (8.0, 14.0)],
        ],
        Icon::Check => &[&[(3.0, 8.5), (6.5, 12.0), (13.0, 4.5)]],
        Icon::Warning => &[
            &[(8.0, 2.5), (14.5, 13.5), (1.5, 13.5), (8.0, 2.5)],
            &[(8.0, 6.5), (8.0, 10.0)],
            &[(8.0, 11.6), (8.0, 12.2)],
        ],
        Icon::Info => &[&[(8.0, 7.2), (8.0, 11.5)], &[(8.0, 4.6), (8.0, 5.2)]],
        Icon::Pen => &[&[
            (3.0, 13.0),
            (3.8, 9.8),
            (11.0, 2.6),
            (13.4, 5.0),
            (6.2, 12.2),
            (3.0, 13.0),
        ]],
        Icon::Copy => &[
            &[
                (5.5, 5.5),
                (13.0, 5.5),
                (13.0, 13.5),
                (5.5, 13.5),
                (5.5, 5.5),
            ],
            &[
                (10.5, 5.5),
                (10.5, 2.5),
                (3.0, 2.5),
                (3.0, 10.5),
                (5.5, 10.5),
            ],
        ],
        Icon::Save => &[
            &[(8.0, 2.5), (8.0, 10.0)],
            &[(4.5, 6.8), (8.0, 10.3), (11.5, 6.8)],
            &[(2.5, 11.0), (2.5, 13.5), (13.5, 13.5), (13.5, 11.0)],
        ],
        Icon::Link => &[
            &[
                (6.0, 3.5),
                (3.0, 3.5),
                (3.0, 13.0),
                (12.5, 13.0),
                (12.5, 10.0),
            ],
            &[(8.5, 2.8), (13.2, 2.8), (13.2, 7.5)],
            &[(13.2, 2.8), (7.0, 9.0)],
        ],
        Icon::Expand => &[
            &[(3.0, 6.5), (3.0, 3.0), (6.5, 3.0)],
            &[(13.0, 9.5), (13.0, 13.0), (9.5, 13.0)],
            &[(3.0, 3.0), (13.0, 13.0)],
        ],
        Icon::Shrink => &[
            &[(7.0, 3.5), (7.0, 7.0), (3.5, 7.0)],
            &[(9.0, 12.5), (9.0, 9.0), (12.5, 9.0)],
            &[(3.0, 3.0), (7.0, 7.0)],
            &[(9.0, 9.0), (13.0, 13.0)],
        ],
        Icon::Dots => &[
            &[(3.0, 8.0), (3.6, 8.0)],
            &[(7.7, 8.0), (8.3, 8.0)],
            &[(12.4, 8.0), (13.0, 8.0)],
        ],
        Icon::Undo => &[
            &[(6.0, 3.0), (2.8, 6.2), (6.0, 9.4)],
            &[
                (2.8, 6.2),
                (10.0, 6.2),
                (12.6, 7.6),
                (13.0, 10.0),
                (11.6, 12.6),
                (7.5, 13.0),
            ],
        ],
        Icon::Redo => &[
            &[(10.0, 3.0), (13.2, 6.2), (10.0, 9.4)],
            &[
                (13.2, 6.2),
                (6.0, 6.2),
                (3.4, 7.6),
                (3.0, 10.0),
                (4.4, 12.6),
                (8.5, 13.0),
            ],
        ],
        Icon::Contrast => &[
            &[(8.0, 2.5), (8.0, 13.5)],
            &[(9.6, 3.2), (9.6, 12.8)],
            &[(11.2, 4.2), (11.2, 11.8)],
            &[(12.6, 6.0), (12.6, 10.0)],
        ],
        Icon::Grip => &[
            &[(6.0, 4.0), (6.0, 4.6)],
            &[(10.0, 4.0), (10.0, 4.6)],
            &[(6.0, 7.7), (6.0, 8.3)],
            &[(10.0, 7.7), (10.0, 8.3)],
            &[(6.0, 11.4), (6.0, 12.0)],
            &[(10.0, 11.4), (10.0, 12.0)],
        ],
        Icon::Clock => &[&[(8.0, 4.6), (8.0, 8.2), (10.6, 9.8)]],
        Icon::Hide => &[
            &[
                (1.8, 8.0),
                (4.4, 5.0),
                (8.0, 3.8),
                (11.6, 5.0),
                (14.2, 8.0),
                (11.6, 11.0),
                (8.0, 12.2),
                (4.4, 11.0),
                (1.8, 8.0),
            ],
            &[(3.0, 13.0), (13.0, 3.0)],
        ],
        Icon::Play => &[&[(4.5, 3.0), (12.5, 8.0), (4.5, 13.0), (4.5, 3.0)]],
        Icon::Pause => &[&[(5.5, 3.5), (5.5, 12.5)], &[(10.5, 3.5), (10.5, 12.5)]],
        Icon::Next => &[
            &[(4.0, 3.5), (8.5, 8.0), (4.0, 12.5)],
            &[(11.5, 3.5), (11.5, 12.5)],
        ],
        Icon::Previous => &[
            &[(12.0, 3.5), (7.5, 8.0), (12.0, 12.5)],
            &[(4.5, 3.5), (4.5, 12.5)],
        ],
        Icon::Filter => &[&[
            (2.0, 3.5),
            (14.0, 3.5),
            (9.5, 8.5),
            (9.5, 13.0),
            (6.5, 11.5),
            (6.5, 8.5),
            (2.0, 3.5),
        ]],
    }
}

/// Centre and radius of the circle that some icons have, on the grid.
const fn circle(icon: Icon) -> Option<((f32, f32), f32)> {
    match icon {
        Icon::Search => Some(((6.8, 6.8), 4.4)),
        Icon::Info | Icon::Contrast => Some(((8.0, 8.0), 6.0)),
        Icon::Clock => Some(((8.0, 8.0), 5.8)),
        _ => None,
    }
}

/// Draws it into `rect`.
pub fn paint(painter: &Painter, icon: Icon, rect: Rect, stroke: Stroke) {
    let size = rect.width().min(rect.height());
    let origin = rect.center() - Vec2::splat(size / 2.0);
    let at = |(x, y): (f32, f32)| origin + Vec2::new(x, y) * (size / 16.0);
    for line in lines(icon) {
        let points: Vec<Pos2> = line.iter().map(|p| at(*p)).collect();
        painter.add(Shape::line(points, stroke));
    }
    if let Some((centre, radius)) = circle(icon) {
        painter.circle_stroke(at(centre), radius * size / 16.0, stroke);
    }
}

/// A button that is only an icon; `label` is its name for screen readers and its tooltip.
pub fn button(ui: &mut Ui, icon: Icon, label: &str) -> Response {
    toggle(ui, icon, label, false)
}

/// Like [`button`], lit when `is_on`.
pub fn toggle(ui: &mut Ui, icon: Icon, label: &str, is_on: bool) -> Response {
    let side = ui.spacing().interact_size.y;
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(side), Sense::click());
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::labeled(egui::Role::Button, ui.is_enabled(), label);
        if is_on {
            info.selected = Some(true);
        }
        info
    });
    if ui.is_rect_visible(rect) {
        let visuals = ui.style().interact_selectable(&response, is_on);
        if is_on || response.hovered() || response.has_focus() {
            ui.painter().rect(
                rect.shrink(1.0),
                visuals.corner_radius,
                visuals.weak_bg_fill,
                if response.has_focus() {
                    Stroke::new(1.5, ui.visuals().hyperlink_color)
                } else {
                    Stroke::NONE
                },
                egui::StrokeKind::Inside,
            );
        }
        let colour = if ui.is_enabled() {
            visuals.text_color()
        } else {
            ui.visuals().weak_text_color()
        };
        paint(
            ui.painter(),
            icon,
            rect.shrink(side * 0.19),
            Stroke::new(1.4, colour),
        );
    }
    response.on_hover_text(label)
}
