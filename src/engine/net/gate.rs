//! How much at once to one host. Several sources may share one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::base::clock::Stopwatch;

/// The gate of one host.
#[derive(Debug)]
pub(super) struct Gate {
    /// Requests that may be under way; halved when the host says that it is too much.
    allowed: AtomicUsize,
    under_way: AtomicUsize,
    /// Time between two requests.
    spacing: Option<Duration>,
    since: Stopwatch,
    /// When the next request may start, since `since`.
    next: Mutex<Duration>,
}

impl Gate {
    pub(super) fn new(at_once: usize, per_s: Option<f64>) -> Self {
        Self {
            allowed: AtomicUsize::new(at_once.max(1)),
            under_way: AtomicUsize::new(0),
            spacing: per_s.map(|rate| Duration::from_secs_f64(1.0 / rate)),
            since: Stopwatch::start(),
            next: Mutex::new(Duration::ZERO),
        }
    }

    /// Takes a place, when there is one.
    pub(super) fn enter(&self) -> bool {
        let is_room = self.under_way.load(Ordering::Acquire) < self.allowed.load(Ordering::Acquire);
        if is_room {
            self.under_way.fetch_add(1, Ordering::AcqRel);
        }
        is_room
    }

    /// Gives it back.
    pub(super) fn leave(&self) {
        self.under_way.fetch_sub(1, Ordering::AcqRel);
    }

    /// The host said that it is too much.
    pub(super) fn slow_down(&self) {
        let allowed = self.allowed.load(Ordering::Acquire);
        self.allowed.store((allowed / 2).max(1), Ordering::Release);
    }

    /// How long to wait before the next request, by the rate.
    pub(super) fn wait(&self) -> Duration {
        let Some(spacing) = self.spacing else {
            return Duration::ZERO;
        };
        let now = self.since.elapsed();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let start = (*next).max(now);
        *next = start + spacing;
        start.saturating_sub(now)
    }

    #[cfg(test)]
    pub(super) fn allowed(&self) -> usize {
        self.allowed.load(Ordering::Acquire)
    }
}
