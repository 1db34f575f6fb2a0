//! What the dots are drawn with: places, density cells with their ramp, rungs, dashes and rings.

use egui::{Color32, Mesh, Pos2, Rect, pos2, vec2};

use crate::ui::lanes::canvas::{Canvas, Scale};
use crate::ui::lanes::mesh;

/// Side of a cell of the density, in points.
const CELL: f32 = 2.0;
/// Rungs of a SYN that is sent again with the time doubling, in milliseconds.
pub(super) const SYN_RUNGS: [f32; 6] = [1_000.0, 3_000.0, 7_000.0, 15_000.0, 31_000.0, 63_000.0];
/// A DNS answer that is asked for again.
pub(super) const DNS_RUNG: f32 = 5_000.0;

/// How many dots stand in each small cell of the screen; each is drawn by how many it holds.
///
/// Columns are counted from the epoch, so that a pan moves them and changes none.
pub(super) struct Cells {
    /// Nanoseconds of a column, and where the first one begins.
    wide: i64,
    pub(super) start: i64,
    top: f32,
    pub(super) rows: usize,
    pub(super) counts: Vec<u32>,
}

impl Cells {
    pub(super) fn new(place: &Place, area: Rect) -> Self {
        let wide = (f64::from(CELL) / place.per_nano.max(1e-12)).max(1.0) as i64;
        let columns = (f64::from(area.width()) / f64::from(CELL)) as usize + 3;
        let rows = (area.height() / CELL) as usize + 1;
        Self {
            wide,
            start: place.start.div_euclid(wide).saturating_mul(wide),
            top: area.top(),
            rows,
            counts: vec![0; columns * rows],
        }
    }

    pub(super) fn add(&mut self, t: i64, y: f32) {
        let row = (((y - self.top) / CELL) as usize).min(self.rows - 1);
        if let Some(count) = self.column(t).1.counts.get_mut(row) {
            *count += 1;
        }
    }

    /// The column of a time, and when it ends; one without cells for a time that is not on screen.
    pub(super) fn column(&mut self, t: i64) -> (i64, Column<'_>) {
        let column = t.saturating_sub(self.start).max(0) / self.wide;
        let end = (column + 1)
            .saturating_mul(self.wide)
            .saturating_add(self.start);
        let from = (column as usize).saturating_mul(self.rows);
        let counts = self.counts.get_mut(from..from.saturating_add(self.rows));
        let column = Column {
            top: self.top,
            counts: counts.unwrap_or_default(),
        };
        (end, column)
    }

    pub(super) fn draw(&self, place: &Place, (ink, bright): (Color32, Color32), mesh: &mut Mesh) {
        let most = self.counts.iter().copied().max().unwrap_or(1);
        let ramp = Ramp::new(most, ink, bright);
        for (at, count) in self.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let (column, row) = (at / self.rows, at % self.rows);
            let t = i64::try_from(column)
                .unwrap_or(i64::MAX)
                .saturating_mul(self.wide)
                .saturating_add(self.start);
            let corner = pos2(place.x(t), self.top + row as f32 * CELL);
            let square = Rect::from_min_size(corner, vec2(CELL, CELL));
            mesh::bar(mesh, square, ramp.color(*count));
        }
    }
}

/// The cells of one column.
pub(super) struct Column<'c> {
    top: f32,
    counts: &'c mut [u32],
}

impl Column<'_> {
    /// Counts those of many values (as [`Place::y_ln`] takes them) that did not fail.
    pub(super) fn add_all(self, (values, is_error): (&[f32], &[bool]), place: &Place) {
        let Some(last) = self.counts.len().checked_sub(1) else {
            return;
        };
        // From a value to its row in one step: y is linear in it.
        let zero = (place.bottom + place.base * place.per_unit - self.top) / CELL;
        let slope = -place.per_unit / CELL;
        for (value, is_error) in values.iter().zip(is_error) {
            let row = (zero + value * slope) as usize;
            if let Some(count) = self.counts.get_mut(row.min(last)) {
                *count += u32::from(!is_error);
            }
        }
    }
}

/// From faint over a colour to bright, evenly in the logarithm of a count.
pub(super) struct Ramp {
    most: f32,
    ink: Color32,
    bright: Color32,
}

impl Ramp {
    pub(super) fn new(most: u32, ink: Color32, bright: Color32) -> Self {
        Self {
            most: (most as f32).ln_1p().max(1.0),
            ink,
            bright,
        }
    }

    pub(super) fn color(&self, count: u32) -> Color32 {
        let share = ((count as f32).ln_1p() / self.most).clamp(0.0, 1.0);
        if share < 0.6 {
            self.ink.gamma_multiply(0.3 + share / 0.6 * 0.7)
        } else {
            self.ink
                .lerp_to_gamma(self.bright, (share - 0.6) / 0.4 * 0.8)
        }
    }
}

/// The rungs that the data reach: those of a SYN up to the largest value, that of DNS when something stands on it.
pub(super) fn rungs(ms: &[f32]) -> Vec<f32> {
    let largest = ms.iter().copied().fold(0.0f32, f32::max);
    let mut found: Vec<f32> = SYN_RUNGS
        .iter()
        .copied()
        .filter(|r| largest >= r * 0.99)
        .collect();
    let on_dns = ms
        .iter()
        .any(|v| (DNS_RUNG - 1.0..DNS_RUNG * 1.02).contains(v));
    if on_dns {
        found.push(DNS_RUNG);
        found.sort_by(f32::total_cmp);
    }
    found
}

/// From nanoseconds and milliseconds to points.
pub(super) struct Place {
    pub(super) left: f32,
    pub(super) start: i64,
    pub(super) per_nano: f64,
    pub(super) bottom: f32,
    pub(super) is_log: bool,
    pub(super) base: f32,
    pub(super) per_unit: f32,
}

impl Place {
    pub(super) fn of(canvas: &Canvas<'_>, scale: Scale) -> Self {
        let (lo, hi) = if scale.is_log {
            (scale.min.max(1e-9).ln(), scale.max.max(1e-9).ln())
        } else {
            (scale.min, scale.max)
        };
        Self {
            left: canvas.rect.left(),
            start: canvas.shown.start.nanos(),
            per_nano: f64::from(canvas.rect.width()) / canvas.shown.nanos().max(1) as f64,
            bottom: canvas.rect.bottom(),
            is_log: scale.is_log,
            base: lo as f32,
            per_unit: canvas.rect.height() / ((hi - lo) as f32).max(1e-6),
        }
    }

    pub(super) fn x(&self, t: i64) -> f32 {
        self.left + (t.saturating_sub(self.start) as f64 * self.per_nano) as f32
    }

    pub(super) fn y_ln(&self, ln: f32) -> f32 {
        self.bottom - ((ln - self.base) * self.per_unit).clamp(-1e5, 1e5)
    }

    pub(super) fn y_ms(&self, ms: f32) -> f32 {
        if self.is_log {
            self.y_ln(ms.max(1e-6).ln())
        } else {
            self.y_ln(ms)
        }
    }
}

pub(super) fn dashes(mesh: &mut Mesh, area: Rect, y: f32, color: Color32, feather: f32) {
    let mut x = area.left();
    while x < area.right() {
        let to = (x + 6.0).min(area.right());
        mesh::line(mesh, &[pos2(x, y), pos2(to, y)], 1.0, color, feather);
        x += 10.0;
    }
}

pub(super) fn ring(mesh: &mut Mesh, centre: Pos2, color: Color32, feather: f32) {
    let around: Vec<Pos2> = (0..=16)
        .map(|k| centre + 5.0 * egui::Vec2::angled(std::f32::consts::TAU * k as f32 / 16.0))
        .collect();
    mesh::line(mesh, &around, 1.8, color, feather);
}
