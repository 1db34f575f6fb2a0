//! One value that detectors derive from a snapshot and share, so that it is computed once.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Room for one shared value. A copy of a snapshot starts with an empty one, since it may be changed.
#[derive(Default)]
pub struct Memo(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Memo {
    /// The value, made by the first who asks. `make` must be quick and must not start parallel work: others wait for
    /// it. A value of another type than the first asked for is made anew each time.
    pub fn get_or_make<T: Any + Send + Sync>(&self, make: impl Fn() -> T) -> Arc<T> {
        let known = self.0.get_or_init(|| Arc::new(make()));
        Arc::clone(known)
            .downcast()
            .unwrap_or_else(|_| Arc::new(make()))
    }
}

impl Clone for Memo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memo")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_once_and_a_copy_starts_anew() {
        let memo = Memo::default();
        assert_eq!(*memo.get_or_make(|| 1), 1);
        assert_eq!(*memo.get_or_make(|| 2), 1);
        assert_eq!(*memo.get_or_make(|| "other"), "other");
        assert_eq!(*memo.clone().get_or_make(|| 3), 3);
    }
}
