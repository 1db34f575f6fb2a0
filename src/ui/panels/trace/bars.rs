//! Bars, hatches and outlines of many spans in one mesh.

use egui::{Color32, Mesh, Pos2, Rect, pos2};

/// Distance of the lines of a hatch.
const HATCH: f32 = 5.0;
/// More lines than any bar on a screen needs.
const MOST_LINES: usize = 2_000;

/// One mesh in the making.
#[derive(Debug, Default)]
pub(super) struct Bars {
    mesh: Mesh,
}

impl Bars {
    /// The finished mesh.
    pub(super) fn into_mesh(self) -> Mesh {
        self.mesh
    }

    pub(super) fn rect(&mut self, rect: Rect, colour: Color32) {
        self.mesh.add_colored_rect(rect, colour);
    }

    fn quad(&mut self, corners: [Pos2; 4], colours: [Color32; 4]) {
        let first = self.mesh.vertices.len() as u32;
        for (at, colour) in corners.into_iter().zip(colours) {
            self.mesh.colored_vertex(at, colour);
        }
        self.mesh.add_triangle(first, first + 1, first + 2);
        self.mesh.add_triangle(first, first + 2, first + 3);
    }

    /// Fades out to the right: its end is not known.
    pub(super) fn fading(&mut self, rect: Rect, colour: Color32) {
        let end = colour.gamma_multiply(0.15);
        self.quad(
            [
                rect.left_top(),
                rect.right_top(),
                rect.right_bottom(),
                rect.left_bottom(),
            ],
            [colour, end, end, colour],
        );
    }

    /// An outline inside `rect`.
    pub(super) fn outline(&mut self, rect: Rect, colour: Color32) {
        let line = 1.2;
        self.rect(
            Rect::from_min_max(rect.min, pos2(rect.right(), rect.top() + line)),
            colour,
        );
        self.rect(
            Rect::from_min_max(pos2(rect.left(), rect.bottom() - line), rect.max),
            colour,
        );
        self.rect(
            Rect::from_min_max(rect.min, pos2(rect.left() + line, rect.bottom())),
            colour,
        );
        self.rect(
            Rect::from_min_max(pos2(rect.right() - line, rect.top()), rect.max),
            colour,
        );
    }

    /// Slanted lines: the connecting part.
    pub(super) fn slanted(&mut self, rect: Rect, colour: Color32) {
        let slant = rect.height();
        let mut x = rect.left() - slant;
        for _ in 0..MOST_LINES {
            if x > rect.right() {
                break;
            }
            let at = |x: f32| x.clamp(rect.left(), rect.right());
            self.quad(
                [
                    pos2(at(x + slant), rect.top()),
                    pos2(at(x + slant + 2.0), rect.top()),
                    pos2(at(x + 2.0), rect.bottom()),
                    pos2(at(x), rect.bottom()),
                ],
                [colour; 4],
            );
            x += HATCH;
        }
    }

    /// Upright lines: the waiting part.
    pub(super) fn upright(&mut self, rect: Rect, colour: Color32) {
        let mut x = rect.left() + 1.0;
        for _ in 0..MOST_LINES {
            if x > rect.right() {
                break;
            }
            let to = (x + 1.5).min(rect.right());
            self.rect(
                Rect::from_min_max(pos2(x, rect.top()), pos2(to, rect.bottom())),
                colour,
            );
            x += 4.0;
        }
    }

    /// A dashed line from `x0` to `x1`.
    pub(super) fn dashes(&mut self, x0: f32, x1: f32, y: f32, colour: Color32) {
        let mut x = x0;
        for _ in 0..MOST_LINES {
            if x >= x1 {
                break;
            }
            let to = (x + 3.0).min(x1);
            self.rect(
                Rect::from_min_max(pos2(x, y - 0.6), pos2(to, y + 0.6)),
                colour,
            );
            x += 6.0;
        }
    }

    /// A bracket from `x0` to `x1`: a line with an upright at each end, and room for words in it.
    pub(super) fn bracket(
        &mut self,
        (x0, x1): (f32, f32),
        hole: Option<(f32, f32)>,
        y: f32,
        half: f32,
        colour: Color32,
    ) {
        let (left, right) = hole.unwrap_or((x1, x1));
        for (from, to) in [(x0, left.clamp(x0, x1)), (right.clamp(x0, x1), x1)] {
            self.rect(
                Rect::from_min_max(pos2(from, y - 0.75), pos2(to, y + 0.75)),
                colour,
            );
        }
        for x in [x0, x1] {
            self.rect(
                Rect::from_min_max(pos2(x - 0.75, y - half), pos2(x + 0.75, y + half)),
                colour,
            );
        }
    }

    /// A diamond: the mark of an error, told by its shape as well.
    pub(super) fn diamond(&mut self, centre: Pos2, half: f32, colour: Color32) {
        self.quad(
            [
                centre - egui::vec2(half, 0.0),
                centre - egui::vec2(0.0, half),
                centre + egui::vec2(half, 0.0),
                centre + egui::vec2(0.0, half),
            ],
            [colour; 4],
        );
    }
}
