//! The only place that reads the machine's clocks.

use crate::base::time::Timestamp;

/// Where `now` comes from, so that a replay and a test can say what time it is.
pub trait Clock: Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everything else takes"
    )]
    fn now(&self) -> Timestamp {
        let since_epoch = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_nanos(i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX))
    }
}

/// Measures how long something takes. Says nothing of what time it is, so that no result can depend on it.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Starts now.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the stopwatch that everything else takes"
    )]
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// How long ago that was.
    pub fn elapsed(&self) -> std::time::Duration {
        self.0.elapsed()
    }

    /// How long ago that was, in milliseconds.
    pub fn elapsed_ms(&self) -> f64 {
        self.elapsed().as_secs_f64() * 1e3
    }
}

/// A clock that stands still.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}
