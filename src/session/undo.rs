//! Undo and redo of any plain value.

/// How many steps are kept.
pub const STEPS: usize = 200;

/// Earlier and later states of one value.
#[derive(Debug, Clone)]
pub struct History<T> {
    past: Vec<T>,
    future: Vec<T>,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self {
            past: Vec::new(),
            future: Vec::new(),
        }
    }
}

impl<T: Clone + PartialEq> History<T> {
    /// Keeps `before`, which is about to change. What was undone is forgotten.
    pub fn keep(&mut self, before: &T) {
        if self.past.last() == Some(before) {
            return;
        }
        self.future.clear();
        if self.past.len() == STEPS {
            self.past.remove(0);
        }
        self.past.push(before.clone());
    }

    /// Goes one step back from `now`.
    pub fn undo(&mut self, now: &mut T) -> bool {
        while let Some(before) = self.past.pop() {
            if before != *now {
                self.future.push(std::mem::replace(now, before));
                return true;
            }
        }
        false
    }

    /// Goes one step forward again.
    pub fn redo(&mut self, now: &mut T) -> bool {
        let Some(after) = self.future.pop() else {
            return false;
        };
        self.past.push(std::mem::replace(now, after));
        true
    }

    /// Whether there is a step back.
    pub const fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Whether there is a step forward.
    pub const fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    /// Changes every earlier and later state: what they point at has moved.
    pub fn adjust(&mut self, change: impl FnMut(&mut T)) {
        self.past
            .iter_mut()
            .chain(&mut self.future)
            .for_each(change);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.past.clear();
        self.future.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn undo_then_redo_is_nothing(steps in prop::collection::vec(0u8..5, 1..40), back in 1usize..40) {
            let mut history = History::default();
            let mut now = 255u8;
            for step in steps {
                history.keep(&now);
                now = step;
            }
            let end = now;
            let undone = (0..back).filter(|_| history.undo(&mut now)).count();
            for _ in 0..undone {
                prop_assert!(history.redo(&mut now));
            }
            prop_assert_eq!(now, end);
        }
    }

    #[test]
    fn a_new_step_forgets_what_was_undone() {
        let mut history = History::default();
        let mut now = 1;
        history.keep(&now);
        now = 2;
        assert!(history.undo(&mut now));
        assert_eq!(now, 1);
        history.keep(&now);
        now = 3;
        assert!(!history.can_redo());
        assert!(history.undo(&mut now));
        assert_eq!(now, 1);
    }
}
