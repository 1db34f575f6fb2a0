//! How a frame asks for something that takes longer than a frame: it says each time what it wants, and gets what is there.
//!
//! The newest wish wins; the previous answer stays on screen until it is met; a wish that was overtaken is dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use crate::engine::cancel::Cancel;
use crate::engine::pool::Pool;

/// What is there.
#[derive(Debug)]
pub enum Answer<'a, T> {
    /// What was asked for.
    Ready(&'a T),
    /// An earlier answer, while the new one is made.
    Stale(&'a T),
    /// Nothing yet.
    Pending,
    /// It could not be made; why.
    Failed(&'a str),
}

impl<'a, T> Answer<'a, T> {
    /// Whatever there is to draw.
    pub const fn value(&self) -> Option<&'a T> {
        match self {
            Self::Ready(value) | Self::Stale(value) => Some(value),
            Self::Pending | Self::Failed(_) => None,
        }
    }
}

type Slot<K, T> = Arc<Mutex<Option<(K, Result<T, String>)>>>;

/// One wish and its last answer.
#[derive(Debug)]
pub struct Memo<K, T> {
    done: Slot<K, T>,
    last: Option<(K, T)>,
    failed: Option<(K, String)>,
    wanted: Option<(K, Cancel)>,
}

impl<K, T> Default for Memo<K, T> {
    fn default() -> Self {
        Self {
            done: Arc::default(),
            last: None,
            failed: None,
            wanted: None,
        }
    }
}

impl<K, T> Drop for Memo<K, T> {
    fn drop(&mut self) {
        if let Some((_, cancel)) = &self.wanted {
            cancel.cancel();
        }
    }
}

impl<K: Clone + PartialEq + Send + 'static, T: Send + 'static> Memo<K, T> {
    /// What there is for `key`; asks for it when it is not there and not asked for.
    pub fn want(
        &mut self,
        pool: &Pool,
        key: &K,
        make: impl FnOnce(&Cancel) -> Result<T, String> + Send + 'static,
    ) -> Answer<'_, T> {
        self.take(pool);
        let is_there = self.last.as_ref().is_some_and(|(k, _)| k == key)
            || self.failed.as_ref().is_some_and(|(k, _)| k == key);
        let is_asked = self.wanted.as_ref().is_some_and(|(k, _)| k == key);
        if !is_there && !is_asked {
            self.ask(pool, key, make);
        }
        if let Some((_, why)) = self.failed.as_ref().filter(|(k, _)| k == key) {
            return Answer::Failed(why);
        }
        match &self.last {
            Some((k, value)) if k == key => Answer::Ready(value),
            Some((_, value)) => Answer::Stale(value),
            None => Answer::Pending,
        }
    }

    /// The last answer, whatever it was for.
    pub fn last(&self) -> Option<&T> {
        self.last.as_ref().map(|(_, value)| value)
    }

    /// The last answer and what it was for.
    pub fn last_with_key(&self) -> Option<(&K, &T)> {
        self.last.as_ref().map(|(k, value)| (k, value))
    }

    /// Takes what has come. Never waits: a worker holds the lock only to put its result down; and what was there before may be
    /// large, or the last to hold an incident, so a worker lets go of it.
    fn take(&mut self, pool: &Pool) {
        let Ok(mut done) = self.done.try_lock() else {
            return;
        };
        let Some((key, result)) = done.take() else {
            return;
        };
        drop(done);
        if self.wanted.as_ref().is_some_and(|(k, _)| *k == key) {
            self.wanted = None;
        }
        match result {
            Ok(value) => {
                self.failed = None;
                if let Some(old) = self.last.replace((key, value)) {
                    pool.discard(old);
                }
            }
            Err(why) => self.failed = Some((key, why)),
        }
    }

    fn ask(
        &mut self,
        pool: &Pool,
        key: &K,
        make: impl FnOnce(&Cancel) -> Result<T, String> + Send + 'static,
    ) {
        if let Some((_, cancel)) = self.wanted.take() {
            cancel.cancel();
        }
        let cancel = Cancel::new();
        let flag = cancel.clone();
        let done = Arc::clone(&self.done);
        let for_key = key.clone();
        let is_taken = pool.spawn(move || {
            if flag.is_cancelled() {
                return;
            }
            let made = catch_unwind(AssertUnwindSafe(|| make(&flag)))
                .unwrap_or_else(|_| Err("internal error: the work panicked".to_owned()));
            if !flag.is_cancelled()
                && let Ok(mut done) = done.lock()
            {
                *done = Some((for_key, made));
            }
        });
        if is_taken {
            self.wanted = Some((key.clone(), cancel));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> Pool {
        Pool::new(1, Arc::new(|| ())).unwrap()
    }

    fn settle(pool: &Pool) {
        while pool.open() > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_previous_answer_stays_until_the_next_is_there() {
        let pool = pool();
        let mut memo = Memo::default();
        assert!(matches!(
            memo.want(&pool, &1, |_| Ok("one")),
            Answer::Pending
        ));
        settle(&pool);
        assert!(matches!(
            memo.want(&pool, &1, |_| Ok("?")),
            Answer::Ready(&"one")
        ));
        assert!(matches!(
            memo.want(&pool, &2, |_| Ok("two")),
            Answer::Stale(&"one")
        ));
        settle(&pool);
        assert!(matches!(
            memo.want(&pool, &2, |_| Ok("?")),
            Answer::Ready(&"two")
        ));
    }

    #[test]
    fn what_was_overtaken_is_dropped() {
        let pool = pool();
        let (go, wait) = std::sync::mpsc::sync_channel::<()>(1);
        let mut memo = Memo::default();
        memo.want(&pool, &1, move |cancel| {
            wait.recv().ok();
            assert!(cancel.is_cancelled());
            Ok("late")
        });
        memo.want(&pool, &2, |_| Ok("newest"));
        go.send(()).unwrap();
        settle(&pool);
        assert!(matches!(
            memo.want(&pool, &2, |_| Ok("?")),
            Answer::Ready(&"newest")
        ));
    }

    #[test]
    fn a_panic_is_a_failure_and_the_pool_lives_on() {
        let pool = pool();
        let mut memo: Memo<u8, ()> = Memo::default();
        memo.want(&pool, &1, |_| panic!("on purpose"));
        settle(&pool);
        assert!(matches!(
            memo.want(&pool, &1, |_| Ok(())),
            Answer::Failed(_)
        ));
        memo.want(&pool, &2, |_| Ok(()));
        settle(&pool);
        assert!(matches!(
            memo.want(&pool, &2, |_| Ok(())),
            Answer::Ready(())
        ));
    }
}
