//! A recording, answered over HTTP: as a Prometheus that stands still, and, for whatever else was recorded, byte for byte.
//!
//! [`Served`] is everything that answers, made once and only read; [`api`] and what stands beside it turn a request into a reply
//! without touching a socket; [`http`] is the socket.

mod api;
mod facts;
mod http;
mod query;
mod recorded;
mod reply;
#[cfg(test)]
mod tests;

use crate::base::time::{NANOS_PER_MS, TimeRange, Timestamp};
use crate::session::analysis::Document;
use crate::session::bundle::Bundle;
use crate::store::promql::Shelf;

pub use http::{Listening, ServeError, bind};
pub use recorded::Recorded;
pub use reply::{Asked, Reply};

/// Everything that is served.
#[derive(Debug)]
pub struct Served {
    document: Document,
    shelf: Shelf,
    recorded: Recorded,
    /// What every answer made of samples must carry, since something is missing.
    warnings: Vec<String>,
}

impl Served {
    /// What was read, and the exchanges of the bundles among it.
    pub fn new(document: Document, bundles: Vec<Bundle>) -> Self {
        let shelf = Shelf::new(&document.snapshot);
        let lost = crate::session::intake::failures(&document.snapshot.inputs).count();
        let mut warnings = Vec::new();
        if document.is_partial {
            warnings.push(format!(
                "the recording is partial: {lost} things were lost of what was to be recorded or read; `tailscope inspect` names them"
            ));
        }
        Self {
            recorded: Recorded::new(bundles),
            shelf,
            warnings,
            document,
        }
    }

    /// How many series can be selected.
    pub fn series(&self) -> usize {
        self.shelf.all().len()
    }

    /// How many answers are given as they were recorded.
    pub fn exchanges(&self) -> usize {
        self.recorded.len()
    }

    /// The recorded window, as far as anything has a time.
    pub fn window(&self) -> Option<TimeRange> {
        let window = self.document.window;
        (window.start != Timestamp::MIN && window.end != Timestamp::MAX).then_some(window)
    }

    /// The last instant of the recording, in milliseconds: where its clock stands.
    fn now_ms(&self) -> i64 {
        let nanos = self
            .window()
            .or(self.document.snapshot.extent)
            .map_or(0, |w| w.end.nanos());
        // A window ends just after the last sample; the next whole millisecond shows it.
        nanos
            .saturating_add(NANOS_PER_MS - 1)
            .div_euclid(NANOS_PER_MS)
    }

    /// The reply to a request. Does not wait for anything.
    pub fn answer(&self, asked: &Asked) -> Reply {
        api::answer(self, asked)
    }
}
