//! Where time stands on the screen in this frame, and how what is shown glides to what is wanted.

use egui::{Rangef, Ui};

use crate::base::time::{TimeRange, Timestamp};
use crate::model::finding::Severity;
use crate::session::incident::Incident;
use crate::ui::frame::Frame;
use crate::ui::timeline::axis::Clock;
use crate::ui::timeline::navigate::Bounds;

/// How long a glide takes, in seconds: long enough to see where one went, too short to wait for.
const GLIDE_S: f64 = 0.16;

/// Time on the screen.
#[derive(Debug, Clone, Copy)]
pub struct Stage {
    /// What can be shown.
    pub bounds: Bounds,
    /// What is drawn in this frame; glides to the view's range.
    pub drawn: TimeRange,
    /// Left and right edge of the time, in points.
    pub x: Rangef,
    /// Where relative times count from.
    pub zero: Timestamp,
}

impl Stage {
    /// Where an instant stands.
    pub fn x(&self, t: Timestamp) -> f32 {
        let offset = t.nanos_since(self.drawn.start) as f64;
        let share = offset / self.drawn.nanos().max(1) as f64;
        // What is far outside is not needed exactly, and must not overflow a mesh.
        let x = f64::from(self.x.min) + share * f64::from(self.x.span());
        x.clamp(-1e5, 1e5) as f32
    }

    /// The instant at a place.
    pub fn t(&self, x: f32) -> Timestamp {
        let nanos = self.share(x) * self.drawn.nanos() as f64;
        self.drawn.start.plus_nanos(nanos.round() as i64)
    }

    /// 0 at the left edge, 1 at the right.
    pub fn share(&self, x: f32) -> f64 {
        f64::from(x - self.x.min) / f64::from(self.x.span().max(1.0))
    }

    /// Nanoseconds that a point stands for.
    pub fn nanos_per_point(&self) -> f64 {
        self.drawn.nanos() as f64 / f64::from(self.x.span().max(1.0))
    }

    /// How instants are written.
    pub const fn clock<'a>(&self, frame: &Frame<'a>) -> Clock<'a> {
        if frame.settings.is_relative {
            Clock::Since(self.zero, frame.words.units())
        } else {
            Clock::Wall(frame.zone)
        }
    }
}

/// Where relative times count from: the first onset of what is worse than a note, else of any finding, else the window.
pub fn zero(incident: &Incident, bounds: &Bounds) -> Timestamp {
    let first = |least: Severity| {
        let worse = incident.findings().iter().filter(|f| f.severity >= least);
        worse.map(|f| f.onset).min()
    };
    first(Severity::Minor)
        .or_else(|| first(Severity::Info))
        .unwrap_or(bounds.recording.start)
}

/// A glide from one range to another.
#[derive(Debug, Default)]
pub struct Motion {
    glide: Option<Glide>,
    /// Whether the next change follows the hand, and must not lag behind it.
    pub is_direct: bool,
}

#[derive(Debug, Clone, Copy)]
struct Glide {
    from: TimeRange,
    to: TimeRange,
    since: f64,
}

impl Motion {
    /// What is drawn now on the way to `wanted`. Asks for another frame only while it moves.
    pub fn drawn(&mut self, ui: &Ui, wanted: TimeRange, is_still: bool) -> TimeRange {
        let now = ui.input(|i| i.time);
        let is_direct = std::mem::take(&mut self.is_direct) || is_still;
        let glide = match self.glide {
            Some(glide) if glide.to == wanted => glide,
            before => {
                let from = match before {
                    Some(glide) if !is_direct => glide.at(now),
                    _ => wanted,
                };
                Glide {
                    from,
                    to: wanted,
                    since: now,
                }
            }
        };
        self.glide = Some(glide);
        let drawn = glide.at(now);
        if drawn != wanted {
            ui.request_repaint();
        }
        drawn
    }
}

impl Glide {
    fn at(&self, now: f64) -> TimeRange {
        let share = ((now - self.since) / GLIDE_S).clamp(0.0, 1.0);
        if share >= 1.0 || self.from == self.to {
            return self.to;
        }
        let eased = 1.0 - (1.0 - share).powi(3);
        let between =
            |a: Timestamp, b: Timestamp| a.plus_nanos((b.nanos_since(a) as f64 * eased) as i64);
        TimeRange::new(
            between(self.from.start, self.to.start),
            between(self.from.end, self.to.end),
        )
    }
}
