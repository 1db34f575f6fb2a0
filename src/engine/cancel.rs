//! A flag that says that nobody wants the result any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared between who wants a result and who makes it.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Nobody has cancelled yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says so.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether somebody said so. Long loops ask every few milliseconds.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
