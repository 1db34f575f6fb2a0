//! Where a lane draws: a rectangle, the time that it shows, the values that it shows, the look.

use egui::{Painter, Pos2, Rect};

use crate::base::time::{TimeRange, Timestamp};
use crate::ui::frame::Highlight;
pub use crate::ui::lanes::mesh::MeshSlot;
use crate::ui::theme::Tokens;
use crate::ui::words::Words;

/// The value axis, as it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Value at the bottom.
    pub min: f64,
    /// Value at the top.
    pub max: f64,
    /// Whether it is logarithmic; both ends are above 0 then.
    pub is_log: bool,
}

/// Where a lane draws.
pub struct Canvas<'a> {
    /// Clipped to `rect`.
    pub painter: &'a Painter,
    /// The place of the lane, without gutter and axis.
    pub rect: Rect,
    /// The time from its left to its right edge.
    pub shown: TimeRange,
    /// Values from bottom to top.
    pub scale: Option<Scale>,
    /// Colours.
    pub tokens: &'a Tokens,
    /// Words.
    pub words: &'a Words,
    /// The mesh that was drawn here last.
    pub mesh: &'a MeshSlot,
    /// What the picked finding points at.
    pub highlight: &'a Highlight,
    /// The pointer, when it is over this lane.
    pub pointer: Option<Pos2>,
    /// The cursor that reads all lanes.
    pub cursor: Option<Timestamp>,
}

impl Canvas<'_> {
    /// Where an instant stands, in points.
    pub fn x(&self, nanos: i64) -> f32 {
        let span = self.shown.nanos().max(1) as f64;
        let offset = nanos.saturating_sub(self.shown.start.nanos()) as f64;
        self.rect.left() + (offset / span * f64::from(self.rect.width())) as f32
    }

    /// The instant at a place.
    pub fn t(&self, x: f32) -> Timestamp {
        let share = f64::from(x - self.rect.left()) / f64::from(self.rect.width().max(1.0));
        self.shown
            .start
            .plus_nanos((share * self.shown.nanos() as f64) as i64)
    }

    /// Where a value stands, in points; the bottom without a scale. Not clamped, and finite for finite values.
    pub fn y(&self, value: f64) -> f32 {
        let Some(scale) = self.scale else {
            return self.rect.bottom();
        };
        let share = scale.share(value);
        self.rect.bottom() - (share * f64::from(self.rect.height())) as f32
    }

    /// Nanoseconds that a point of the screen stands for.
    pub fn nanos_per_point(&self) -> f64 {
        self.shown.nanos() as f64 / f64::from(self.rect.width().max(1.0))
    }
}

impl Scale {
    /// 0 at the bottom, 1 at the top; what a logarithmic axis cannot show lies well below it.
    pub fn share(&self, value: f64) -> f64 {
        let (min, max, value) = if self.is_log {
            if value <= 0.0 {
                return -1.0;
            }
            (self.min.ln(), self.max.ln(), value.ln())
        } else {
            (self.min, self.max, value)
        };
        let span = max - min;
        if span > 0.0 {
            ((value - min) / span).clamp(-1e4, 1e4)
        } else {
            0.5
        }
    }

    /// The value at a share.
    pub fn value(&self, share: f64) -> f64 {
        if self.is_log {
            (self.min.ln() + share * (self.max.ln() - self.min.ln())).exp()
        } else {
            self.min + share * (self.max - self.min)
        }
    }
}
