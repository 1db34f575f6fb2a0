//! What lanes are drawn with: lines, bands, bars, hatching and marks, all into one mesh, and a cache of it.
//!
//! A mesh that egui gets has no feathering of its own, so lines and marks bring theirs: a rim of one pixel that fades out.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use egui::epaint::Vertex;
use egui::{Color32, Mesh, Pos2, Rect, Vec2, pos2, vec2};

use crate::base::time::TimeRange;
use crate::session::settings::Theme;
use crate::ui::lanes::canvas::{Canvas, Scale};

/// Width of a line, in points.
pub(super) const LINE: f32 = 1.5;

/// What a built mesh depends on.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    lane: u64,
    rect: Rect,
    shown: TimeRange,
    scale: Option<Scale>,
    theme: Theme,
    pixels_per_point: f32,
    /// Of what else the lane says: the part of the highlight that is its own.
    extra: u64,
}

/// The mesh of a place on the timeline as it was drawn last: an unchanged lane costs a clone of an `Arc`.
///
/// It belongs to the place and not to the lane that is drawn there, since a zoom brings new lanes all the time: a lane of a
/// hundred series has 30 MB of vertices, and to ask the system for them anew costs more than to fill them.
#[derive(Debug, Default)]
pub struct MeshSlot(RefCell<Option<(Key, Arc<Mesh>)>>);

/// Tells the meshes of one prepared lane from those of every other.
#[derive(Debug)]
pub(super) struct MeshCache(u64);

impl Default for MeshCache {
    fn default() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

impl MeshCache {
    /// Paints the mesh, built anew when anything changed that it depends on.
    pub(super) fn paint(&self, canvas: &Canvas<'_>, extra: u64, build: impl FnOnce(&mut Mesh)) {
        let key = Key {
            lane: self.0,
            rect: canvas.rect,
            shown: canvas.shown,
            scale: canvas.scale,
            theme: canvas.tokens.theme,
            pixels_per_point: canvas.painter.ctx().pixels_per_point(),
            extra,
        };
        // A lane that is painted while it is painted would find nothing here, and keep nothing.
        let kept = canvas
            .mesh
            .0
            .try_borrow_mut()
            .ok()
            .and_then(|mut k| k.take());
        let mesh = match kept {
            Some((known, mesh)) if known == key => mesh,
            old => {
                // The last frame is through with the old mesh, so its memory takes the new one.
                let old = old.and_then(|(_, mesh)| Arc::try_unwrap(mesh).ok());
                let mut mesh = old.unwrap_or_default();
                mesh.indices.clear();
                mesh.vertices.clear();
                build(&mut mesh);
                Arc::new(mesh)
            }
        };
        if !mesh.is_empty() {
            canvas.painter.add(egui::Shape::Mesh(Arc::clone(&mesh)));
        }
        if let Ok(mut slot) = canvas.mesh.0.try_borrow_mut() {
            *slot = Some((key, mesh));
        }
    }
}

/// A hash of what a lane's look depends on beside its place (FNV-1a over the words given).
pub(super) fn digest(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x100_0000_01b3)
    })
}

/// A hash of a text, for [`digest`].
pub(super) fn digest_text(text: &str) -> u64 {
    digest(text.bytes().map(u64::from))
}

fn vertex(mesh: &mut Mesh, pos: Pos2, color: Color32) {
    mesh.vertices.push(Vertex {
        pos,
        uv: egui::epaint::WHITE_UV,
        color,
    });
}

/// How many vertices there are, as the next index.
fn next(mesh: &Mesh) -> u32 {
    u32::try_from(mesh.vertices.len()).unwrap_or(u32::MAX)
}

/// A line through points with a soft rim: four vertices a point, eight where it turns sharply. `feather` is one pixel in points.
pub(super) fn line(mesh: &mut Mesh, points: &[Pos2], width: f32, color: Color32, feather: f32) {
    if points.len() < 2 {
        return;
    }
    let half = (width - feather).max(0.0) / 2.0;
    let outer = half + feather;
    mesh.vertices.reserve(points.len() * 4);
    mesh.indices.reserve(points.len() * 18);
    let mut across = |point: Pos2, side: Vec2| {
        let first = next(mesh);
        vertex(mesh, point - side * outer, Color32::TRANSPARENT);
        vertex(mesh, point - side * half, color);
        vertex(mesh, point + side * half, color);
        vertex(mesh, point + side * outer, Color32::TRANSPARENT);
        first
    };
    let mut rungs: Vec<(u32, u32)> = Vec::with_capacity(points.len());
    for (at, point) in points.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|b| points.get(b));
        let (arriving, leaving) = sides(before, *point, points.get(at + 1));
        let first = across(*point, arriving);
        let second = if arriving == leaving {
            first
        } else {
            across(*point, leaving)
        };
        rungs.push((first, second));
    }
    for pair in rungs.windows(2) {
        if let [(_, a), (b, _)] = pair {
            for k in 0..3 {
                mesh.add_triangle(a + k, a + k + 1, b + k);
                mesh.add_triangle(b + k, a + k + 1, b + k + 1);
            }
        }
    }
}

/// Across the line where it arrives at a point and where it leaves it: at a slight bend one direction for both, as long as keeps the
/// width; at a sharp one each has its own, else a spike would be thin on its way up.
fn sides(before: Option<&Pos2>, here: Pos2, after: Option<&Pos2>) -> (Vec2, Vec2) {
    let across = |from: Pos2, to: Pos2| (to - from).normalized().rot90();
    let left = before.map(|b| across(*b, here));
    let right = after.map(|a| across(here, *a));
    match (left, right) {
        (Some(l), Some(r)) if l.dot(r) > 0.3 => {
            let mean = (l + r).normalized();
            let side = mean / mean.dot(l).max(0.5);
            (side, side)
        }
        (Some(l), Some(r)) => (l, r),
        (Some(one), None) | (None, Some(one)) => (one, one),
        (None, None) => (Vec2::Y, Vec2::Y),
    }
}

/// A strip between an upper and a lower edge: two vertices a point.
pub(super) fn band(mesh: &mut Mesh, points: impl Iterator<Item = (f32, f32, f32)>, color: Color32) {
    let first = next(mesh);
    let mut n = 0;
    for (x, top, bottom) in points {
        vertex(mesh, pos2(x, top), color);
        vertex(mesh, pos2(x, bottom), color);
        n += 1;
    }
    for at in 1..n {
        let a = first + (at - 1) * 2;
        mesh.add_triangle(a, a + 1, a + 2);
        mesh.add_triangle(a + 2, a + 1, a + 3);
    }
}

/// A filled rectangle.
pub(super) fn bar(mesh: &mut Mesh, rect: Rect, color: Color32) {
    if rect.is_positive() {
        mesh.add_colored_rect(rect, color);
    }
}

/// A rectangle whose colour changes from left to right.
pub(super) fn fade(mesh: &mut Mesh, rect: Rect, left: Color32, right: Color32) {
    if !rect.is_positive() {
        return;
    }
    let first = next(mesh);
    vertex(mesh, rect.left_top(), left);
    vertex(mesh, rect.left_bottom(), left);
    vertex(mesh, rect.right_top(), right);
    vertex(mesh, rect.right_bottom(), right);
    mesh.add_triangle(first, first + 1, first + 2);
    mesh.add_triangle(first + 2, first + 1, first + 3);
}

/// Slanted lines over a rectangle: what is missing.
pub(super) fn hatch(mesh: &mut Mesh, rect: Rect, step: f32, color: Color32, feather: f32) {
    if !rect.is_positive() {
        return;
    }
    let height = rect.height();
    // Anchored to the screen, so that neighbouring rectangles hatch as one.
    let mut foot = (rect.left() / step).floor() * step - height;
    while foot < rect.right() {
        // From (foot, bottom) to (foot + height, top), cut to the rectangle.
        let from = (rect.left() - foot).max(0.0);
        let to = (rect.right() - foot).min(height);
        if to > from {
            let at = |d: f32| pos2(foot + d, rect.bottom() - d);
            line(mesh, &[at(from), at(to)], 1.0, color, feather);
        }
        foot += step;
    }
}

/// A filled round dot with a soft rim.
pub(super) fn dot(mesh: &mut Mesh, centre: Pos2, radius: f32, color: Color32, feather: f32) {
    let sides = if radius > 3.0 { 12 } else { 8 };
    polygon(mesh, centre, radius, sides, 0.0, color, feather);
}

/// A diamond.
pub(super) fn diamond(mesh: &mut Mesh, centre: Pos2, radius: f32, color: Color32, feather: f32) {
    polygon(mesh, centre, radius, 4, 0.0, color, feather);
}

/// A triangle that points up.
pub(super) fn triangle(mesh: &mut Mesh, centre: Pos2, radius: f32, color: Color32, feather: f32) {
    let up = -std::f32::consts::FRAC_PI_2;
    polygon(mesh, centre, radius, 3, up, color, feather);
}

/// A cross: what failed.
pub(super) fn cross(mesh: &mut Mesh, centre: Pos2, radius: f32, color: Color32, feather: f32) {
    let d = vec2(radius, radius);
    let e = vec2(radius, -radius);
    line(mesh, &[centre - d, centre + d], 1.6, color, feather);
    line(mesh, &[centre - e, centre + e], 1.6, color, feather);
}

fn polygon(
    mesh: &mut Mesh,
    centre: Pos2,
    radius: f32,
    sides: u32,
    turn: f32,
    color: Color32,
    feather: f32,
) {
    let first = next(mesh);
    let inner = (radius - feather / 2.0).max(0.1);
    let outer = radius + feather / 2.0;
    vertex(mesh, centre, color);
    for side in 0..sides {
        let angle = turn + std::f32::consts::TAU * side as f32 / sides as f32;
        let direction = Vec2::angled(angle);
        vertex(mesh, centre + direction * inner, color);
        vertex(mesh, centre + direction * outer, Color32::TRANSPARENT);
    }
    for side in 0..sides {
        let a = first + 1 + side * 2;
        let b = first + 1 + (side + 1) % sides * 2;
        mesh.add_triangle(first, a, b);
        mesh.add_triangle(a, a + 1, b);
        mesh.add_triangle(b, a + 1, b + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCENT: Color32 = Color32::WHITE;

    fn is_finite(mesh: &Mesh) -> bool {
        mesh.vertices
            .iter()
            .all(|v| v.pos.x.is_finite() && v.pos.y.is_finite())
    }

    #[test]
    fn lines_have_four_vertices_a_point_and_bands_two() {
        let mut mesh = Mesh::default();
        let points: Vec<Pos2> = (0..10)
            .map(|i| pos2(i as f32, (i % 3) as f32 * 0.1))
            .collect();
        line(&mut mesh, &points, LINE, ACCENT, 1.0);
        assert_eq!(mesh.vertices.len(), 40);
        assert!(mesh.is_valid() && is_finite(&mesh));
        let mut mesh = Mesh::default();
        band(&mut mesh, (0..10).map(|i| (i as f32, 0.0, 1.0)), ACCENT);
        assert_eq!(mesh.vertices.len(), 20);
        assert_eq!(mesh.indices.len(), 9 * 6);
        assert!(mesh.is_valid());
    }

    #[test]
    fn a_spike_is_as_wide_on_its_way_as_a_flat_line() {
        let mut mesh = Mesh::default();
        let spike = [pos2(0.0, 100.0), pos2(4.0, 0.0), pos2(8.0, 100.0)];
        line(&mut mesh, &spike, 2.0, ACCENT, 1.0);
        // The tip has two rungs, each across its own side.
        assert_eq!(mesh.vertices.len(), 16);
        let across = mesh.vertices[5].pos - mesh.vertices[6].pos;
        let along = (spike[1] - spike[0]).normalized();
        assert!((across.length() - 1.0).abs() < 1e-3 && across.dot(along).abs() < 1e-3);
    }

    #[test]
    fn a_line_that_turns_back_or_stands_still_stays_finite() {
        let mut mesh = Mesh::default();
        let p = pos2(5.0, 5.0);
        line(&mut mesh, &[p, p, pos2(6.0, 5.0), p, p], 1.5, ACCENT, 1.0);
        assert!(is_finite(&mesh));
    }

    #[test]
    fn hatching_stays_inside() {
        let rect = Rect::from_min_size(pos2(10.3, 20.0), vec2(37.0, 9.0));
        let mut mesh = Mesh::default();
        hatch(&mut mesh, rect, 5.0, ACCENT, 1.0);
        assert!(!mesh.is_empty() && is_finite(&mesh));
        assert!(rect.expand(2.0).contains_rect(mesh.calc_bounds()));
    }

    #[test]
    fn marks_are_valid() {
        let mut mesh = Mesh::default();
        let at = pos2(4.0, 4.0);
        dot(&mut mesh, at, 2.0, ACCENT, 1.0);
        diamond(&mut mesh, at, 4.0, ACCENT, 1.0);
        triangle(&mut mesh, at, 4.0, ACCENT, 1.0);
        cross(&mut mesh, at, 3.0, ACCENT, 1.0);
        assert!(mesh.is_valid() && is_finite(&mesh));
    }
}
