//! Running an incident forward again: where its present stands, who takes over whose id, and what came when.
//!
//! Nothing in here reads a clock: the time of the window is handed in.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::time::{NANOS_PER_SEC, TimeRange, Timestamp};
use crate::model::hypothesis::Hypothesis;
use crate::session::incident::Incident;
use crate::session::notes::Notes;

/// Seconds of the incident that pass in a second.
pub const SPEEDS: [u32; 6] = [1, 5, 20, 60, 120, 600];
/// The speed that a replay starts with: an hour in a minute.
const USUAL_SPEED: u32 = 60;
/// How often what was known is found out anew while it plays, in seconds of the window.
const ANEW_S: f64 = 0.25;
/// The least time of the incident between two findings-out while it plays.
const LEAST_NANOS: i64 = NANOS_PER_SEC;
/// A step where no interval of scrapes is known.
const USUAL_STEP_NANOS: i64 = 5 * NANOS_PER_SEC;
/// A frame that comes later than this after the one before (the machine slept) moves time by no more, in seconds.
const LONGEST_FRAME_S: f64 = 1.0;
/// Series that are asked for the interval of scrapes.
const ASKED: usize = 64;

/// Where a replay stands; for panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// The time of the incident that it runs over.
    pub range: TimeRange,
    /// Its present.
    pub at: Timestamp,
    /// Up to when what is shown was found out; `None` until the first time.
    pub as_of: Option<Timestamp>,
    /// Seconds of the incident in a second.
    pub speed: u32,
    /// Whether it runs.
    pub is_playing: bool,
}

/// The present of a replay.
#[derive(Debug, Clone)]
pub struct Clock {
    range: TimeRange,
    at: Timestamp,
    speed: u32,
    step_nanos: i64,
    /// Instants at which something happened, in order.
    marks: Vec<Timestamp>,
    is_playing: bool,
    /// The window's time of the last move, while it plays.
    last_s: Option<f64>,
}

impl Clock {
    /// At the begin of an incident's recording, not running yet. It steps by the interval of its scrapes, and to its events and
    /// the begins of its findings.
    pub fn new(whole: &Incident) -> Self {
        let range = whole.document.recording;
        let snapshot = whole.snapshot();
        let raw = snapshot.series.iter().filter(|s| s.sampling.is_raw());
        let mut intervals: Vec<i64> = raw
            .take(ASKED)
            .filter_map(crate::model::series::Series::interval_nanos)
            .collect();
        intervals.sort_unstable();
        let step_nanos = intervals
            .get(intervals.len() / 2)
            .copied()
            .unwrap_or(USUAL_STEP_NANOS)
            .clamp(LEAST_NANOS, 600 * NANOS_PER_SEC);
        let mut marks: Vec<Timestamp> = snapshot
            .events
            .iter()
            .map(|e| e.t)
            .chain(whole.findings().iter().map(|f| f.start))
            .filter(|t| range.contains(*t))
            .collect();
        marks.sort_unstable();
        marks.dedup();
        Self {
            range,
            at: range.start,
            speed: USUAL_SPEED,
            step_nanos,
            marks,
            is_playing: false,
            last_s: None,
        }
    }

    /// For panels, with the time up to which the shown was found out.
    pub const fn now(&self, as_of: Option<Timestamp>) -> Now {
        Now {
            range: self.range,
            at: self.at,
            as_of,
            speed: self.speed,
            is_playing: self.is_playing,
        }
    }

    /// The present.
    pub const fn at(&self) -> Timestamp {
        self.at
    }

    /// Whether it runs.
    pub const fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// Whether everything has happened.
    pub fn is_over(&self) -> bool {
        self.at >= self.range.end
    }

    /// Moves the present to the window's time `now_s`. With `is_still` it moves in steps instead of smoothly.
    pub fn tick(&mut self, now_s: f64, is_still: bool) {
        if !self.is_playing {
            self.last_s = None;
            return;
        }
        let last_s = *self.last_s.get_or_insert(now_s);
        let passed_s = (now_s - last_s).clamp(0.0, LONGEST_FRAME_S);
        if is_still && passed_s < ANEW_S {
            return;
        }
        self.last_s = Some(now_s);
        #[expect(clippy::cast_possible_truncation, reason = "at most 600 s")]
        let nanos = (passed_s * f64::from(self.speed) * 1e9).round() as i64;
        self.at = self.at.plus_nanos(nanos).min(self.range.end);
        self.is_playing = !self.is_over();
    }

    /// How long the next frame can wait without anybody seeing it, in seconds; `None` when nothing moves.
    pub fn next_frame_s(&self, is_still: bool) -> Option<f64> {
        let least_s = if is_still { ANEW_S } else { 0.0 };
        self.is_playing
            .then(|| (1.0 / f64::from(self.speed)).max(least_s))
    }

    /// Up to when what was known is to be found out: the present, or while it plays the last of a few a second.
    pub fn due(&self) -> Timestamp {
        if !self.is_playing {
            return self.at;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 150 s")]
        let grid = ((ANEW_S * f64::from(self.speed) * 1e9) as i64).max(LEAST_NANOS);
        let since = self.at.nanos_since(self.range.start);
        self.range.start.plus_nanos(since.div_euclid(grid) * grid)
    }

    /// Runs, or stops. At the end it starts from the begin again.
    pub fn play(&mut self, is_playing: bool) {
        if is_playing && self.is_over() {
            self.at = self.range.start;
        }
        self.is_playing = is_playing;
        self.last_s = None;
    }

    /// Goes to an instant.
    pub fn go(&mut self, t: Timestamp) {
        self.at = t.clamp(self.range.start, self.range.end);
        self.last_s = None;
        self.is_playing &= !self.is_over();
    }

    /// One interval of scrapes on or back; stops it.
    pub fn step(&mut self, is_forward: bool) {
        self.is_playing = false;
        let by = if is_forward { 1 } else { -1 } * self.step_nanos;
        self.go(self.at.plus_nanos(by));
    }

    /// To the next instant at which something happened, or the one before; stops it.
    pub fn jump(&mut self, is_forward: bool) {
        self.is_playing = false;
        let to = if is_forward {
            let next = self.marks.partition_point(|t| *t <= self.at);
            self.marks.get(next).copied().unwrap_or(self.range.end)
        } else {
            let here = self.marks.partition_point(|t| *t < self.at);
            let before = here.checked_sub(1).and_then(|at| self.marks.get(at));
            before.copied().unwrap_or(self.range.start)
        };
        self.go(to);
    }

    /// Runs at this speed.
    pub fn set_speed(&mut self, speed: u32) {
        self.speed = speed.clamp(1, SPEEDS[SPEEDS.len() - 1]);
    }

    /// The next speed up or down.
    pub fn shift(&mut self, is_faster: bool) {
        let next = if is_faster {
            SPEEDS.iter().find(|s| **s > self.speed)
        } else {
            SPEEDS.iter().rev().find(|s| **s < self.speed)
        };
        self.speed = next.copied().unwrap_or(self.speed);
    }
}

/// What came when in a replay.
#[derive(Debug, Clone, Default)]
pub struct Story {
    /// When each finding and hypothesis was first shown, by id.
    first: BTreeMap<String, Timestamp>,
    /// The best hypothesis from when on, as long as time only went forward.
    leaders: Vec<(Timestamp, Hypothesis)>,
}

impl Story {
    /// Takes in what is shown as of `t`; `heirs` are ids that took over from those shown before.
    pub fn tell(&mut self, t: Timestamp, shown: &Incident, heirs: &BTreeMap<String, String>) {
        for (old, new) in heirs {
            if let Some(first) = self.first.get(old).copied() {
                let known = self.first.entry(new.clone()).or_insert(first);
                *known = (*known).min(first);
            }
        }
        let findings = shown.findings().iter().map(|f| &f.id);
        for id in findings.chain(shown.hypotheses().iter().map(|h| &h.id)) {
            let first = self.first.entry(id.clone()).or_insert(t);
            *first = (*first).min(t);
        }
        let Some(best) = shown.hypotheses().first() else {
            return;
        };
        match self.leaders.last_mut() {
            Some((_, known)) if is_heir(known, best) => *known = best.clone(),
            Some((since, _)) if *since >= t => {}
            _ => self.leaders.push((t, best.clone())),
        }
    }

    /// When this was first shown.
    pub fn first(&self, id: &str) -> Option<Timestamp> {
        self.first.get(id).copied()
    }

    /// What stood first, and since when.
    pub fn leaders(&self) -> &[(Timestamp, Hypothesis)] {
        &self.leaders
    }
}

fn is_heir(old: &Hypothesis, new: &Hypothesis) -> bool {
    old.signature == new.signature
        && (old.entities.is_empty()
            || new.entities.is_empty()
            || old.entities.iter().any(|e| new.entities.contains(e)))
}

/// Whose ids are others' now. An id holds the onset, which moves a little as more comes to be known; what was said of a cause
/// must not be lost for that.
pub fn heirs(old: &Incident, new: &Incident) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for hypothesis in old.hypotheses() {
        if new.hypothesis(&hypothesis.id).is_some() {
            continue;
        }
        let heir = new.hypotheses().iter().find(|h| {
            is_heir(hypothesis, h)
                && old.hypothesis(&h.id).is_none()
                && !taken.contains(h.id.as_str())
        });
        if let Some(heir) = heir {
            taken.insert(heir.id.as_str());
            found.insert(hypothesis.id.clone(), heir.id.clone());
        }
    }
    for finding in old.findings() {
        if new.finding(&finding.id).is_some() {
            continue;
        }
        let heir = new
            .findings()
            .iter()
            .filter(|f| {
                f.kind == finding.kind
                    && f.entities == finding.entities
                    && old.finding(&f.id).is_none()
                    && !taken.contains(f.id.as_str())
            })
            .min_by_key(|f| f.start.nanos_since(finding.start).abs());
        if let Some(heir) = heir {
            taken.insert(heir.id.as_str());
            found.insert(finding.id.clone(), heir.id.clone());
        }
    }
    found
}

/// What was said of one id is said of its heir. Of both the heir's own wins.
pub fn rename(notes: &mut Notes, heirs: &BTreeMap<String, String>) {
    fn each<V>(map: &mut BTreeMap<String, V>, heirs: &BTreeMap<String, String>) {
        for (old, new) in heirs {
            if let Some(value) = map.remove(old) {
                map.entry(new.clone()).or_insert(value);
            }
        }
    }
    for (old, new) in heirs {
        if notes.pinned.remove(old) {
            notes.pinned.insert(new.clone());
        }
    }
    each(&mut notes.dismissed, heirs);
    each(&mut notes.comments, heirs);
    each(&mut notes.verdicts, heirs);
    each(&mut notes.edits, heirs);
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
