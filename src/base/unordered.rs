//! Maps and sets that are only looked up and never walked, so that their order reaches nobody.
//!
//! The hash is a fast one (`foldhash`) whose seed differs from run to run, so that no input can be made to collide.

#![expect(
    clippy::disallowed_types,
    reason = "nothing here can be walked, so no order reaches the user"
)]

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use foldhash::fast::RandomState;

/// Values by key.
#[derive(Debug, Clone)]
pub struct UnorderedMap<K, V>(HashMap<K, V, RandomState>);

impl<K: Eq + Hash, V> UnorderedMap<K, V> {
    /// An empty map with room for `n` keys.
    pub fn with_capacity(n: usize) -> Self {
        Self(HashMap::with_capacity_and_hasher(n, RandomState::default()))
    }

    /// The value of a key.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    /// Gives a key its value; of several the first is kept.
    pub fn insert_first(&mut self, key: K, value: V) {
        self.0.entry(key).or_insert(value);
    }
}

/// Things that were seen.
#[derive(Debug, Clone)]
pub struct UnorderedSet<T>(HashSet<T, RandomState>);

impl<T> Default for UnorderedSet<T> {
    fn default() -> Self {
        Self(HashSet::default())
    }
}

impl<T: Eq + Hash> UnorderedSet<T> {
    /// An empty set with room for `n` things.
    pub fn with_capacity(n: usize) -> Self {
        Self(HashSet::with_capacity_and_hasher(n, RandomState::default()))
    }

    /// The one that was put in and equals this.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, like: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
    {
        self.0.get(like)
    }

    /// Puts one in; whether it is new.
    pub fn insert(&mut self, new: T) -> bool {
        self.0.insert(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equals_is_kept() {
        let mut map = UnorderedMap::with_capacity(2);
        map.insert_first("a".to_owned(), 1);
        map.insert_first("a".to_owned(), 2);
        assert_eq!((map.get("a"), map.get("b")), (Some(&1), None));
        let mut set = UnorderedSet::default();
        assert!(set.insert("a".to_owned()) && !set.insert("a".to_owned()));
        assert_eq!(set.get("a").map(String::as_str), Some("a"));
    }
}
