//! Stacks of profiles as trees, groups and differences. Plain arithmetic: nothing in here knows a pixel or a word.

pub mod functions;
pub mod groups;
#[cfg(test)]
mod tests;
pub mod tree;

use crate::model::profile::Profile;
use crate::store::Snapshot;

/// What tells processes apart: the name of the process, or, where nothing names it, the folder of the dump. Dumps that
/// lie together without names are taken to be of one process.
pub fn process_key<'a>(snapshot: &'a Snapshot, profile: &'a Profile) -> (bool, &'a str) {
    if !profile.process.is_empty() {
        return (true, profile.process.as_ref());
    }
    let path = snapshot
        .inputs
        .get(profile.input.0 as usize)
        .map_or("", |i| i.path.as_str());
    (
        false,
        path.rsplit_once('/').map_or("", |(folder, _)| folder),
    )
}

/// How a dump was written down: records of one moment in several encodings are one state, not three.
pub fn encoding<'a>(snapshot: &'a Snapshot, profile: &Profile) -> &'a str {
    snapshot
        .inputs
        .get(profile.input.0 as usize)
        .map_or("", |i| i.format.as_str())
}

/// Whether a profile says what each goroutine or thread does at one moment, and not what a process used over a time.
pub fn is_of_threads(profile: &Profile) -> bool {
    profile.has_states
        || matches!(
            profile.kind.as_ref(),
            "goroutine" | "goroutineleak" | "thread" | "threads"
        )
}

/// How well two profiles can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// They count different things, or those of different processes.
    No,
    /// They count the same things, but were written down in different forms: one leaves frames out that the other shows.
    OtherForm,
    /// They count the same things in the same form.
    Same,
}

/// How well two profiles can be compared.
pub fn likeness(snapshot: &Snapshot, a: &Profile, b: &Profile) -> Likeness {
    if a.kind != b.kind || a.unit != b.unit || process_key(snapshot, a) != process_key(snapshot, b)
    {
        Likeness::No
    } else if encoding(snapshot, a) == encoding(snapshot, b) {
        Likeness::Same
    } else {
        Likeness::OtherForm
    }
}

/// The profiles of the same process, kind, unit and form as that one, itself among them, in order of time. Those without a time
/// come in order of their inputs, and never between those with one.
pub fn course(snapshot: &Snapshot, at: usize) -> Vec<usize> {
    let Some(this) = snapshot.profiles.get(at) else {
        return Vec::new();
    };
    let mut like: Vec<(usize, &Profile)> = snapshot
        .profiles
        .iter()
        .enumerate()
        .filter(|(ix, other)| {
            *ix == at
                || (likeness(snapshot, this, other) == Likeness::Same
                    && other.t.is_some() == this.t.is_some())
        })
        .collect();
    like.sort_by_key(|(ix, p)| (p.t, p.input, *ix));
    like.into_iter().map(|(ix, _)| ix).collect()
}
