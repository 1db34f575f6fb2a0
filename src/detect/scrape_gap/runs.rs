//! Runs of scrapes that failed or did not come, split into phases where the way of failing changes.

use crate::detect::scrape_gap::timeline::{Hole, Scrape, Target};

/// A scrape that took at least this share of its timeout was cut off by it (`prometheus.md` §2.6, row 6).
const TIMEOUT_SHARE: f64 = 0.95;
/// This many failures of another kind are a phase of their own; a single one is not (`contract.md` §3).
const PHASE_MIN: usize = 2;

/// How a scrape failed, as far as what is stored about it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// It took as long as its timeout.
    Slow,
    /// It failed at once, and the body's size was not kept: `scrape_body_size_bytes` is -1.
    OverSize,
    /// It failed after some samples had been read.
    Partial,
    /// It failed with a body and no sample in it.
    NotMetrics,
    /// It failed before the timeout and left nothing.
    Fast,
    /// It failed, and how long it took is not known.
    Untimed,
    /// There is no sample of it at all.
    Missing,
}

/// One gap of one target.
#[derive(Debug, Clone)]
pub(crate) struct Phase {
    /// How its scrapes failed.
    pub(crate) class: Class,
    /// Indices of the failed scrapes that were recorded.
    pub(crate) failed: Vec<usize>,
    /// Scrapes that left no sample.
    pub(crate) missing: u64,
    /// The first scrape that failed or did not come.
    pub(crate) start: i64,
    /// The last one.
    pub(crate) last_bad: i64,
    /// The first good scrape after it, or the first one of the next phase.
    pub(crate) end: Option<i64>,
    /// Index of the last good scrape before the run.
    pub(crate) before: Option<usize>,
    /// Index of the first good scrape after the run.
    pub(crate) after: Option<usize>,
    /// Whether no other phase of the run follows.
    pub(crate) is_last: bool,
    /// The scrape interval.
    pub(crate) interval: i64,
    /// The hole, when nothing at all was recorded.
    pub(crate) hole: Option<Hole>,
}

impl Phase {
    /// Scrapes that failed or did not come.
    pub(crate) fn missed(&self) -> u64 {
        self.failed.len() as u64 + self.missing
    }
}

/// How a failed scrape failed.
fn class_of(scrape: &Scrape, timeout_s: Option<f64>, interval: i64) -> Class {
    let Some(duration) = scrape.duration_s else {
        return Class::Untimed;
    };
    // A timeout is never longer than the interval, so without a known one only that bound is certain.
    let limit = timeout_s.unwrap_or(interval as f64 / 1e9);
    let samples = scrape.samples.unwrap_or(0.0);
    match scrape.body {
        _ if duration >= TIMEOUT_SHARE * limit => Class::Slow,
        Some(body) if body < 0.0 => Class::OverSize,
        _ if samples > 0.0 => Class::Partial,
        Some(body) if body > 0.0 => Class::NotMetrics,
        _ => Class::Fast,
    }
}

/// Scrapes that failed alike, one after the other.
#[derive(Debug, Clone)]
struct Segment {
    class: Class,
    failed: Vec<usize>,
    missing: u64,
    start: i64,
    last_bad: i64,
    hole: Option<Hole>,
}

impl Segment {
    fn take(&mut self, other: Self) {
        self.failed.extend(other.failed);
        self.missing += other.missing;
        self.start = self.start.min(other.start);
        self.last_bad = self.last_bad.max(other.last_bad);
    }
}

/// Every gap of a target. Holes of which `is_shared` is true belong to Prometheus and are passed over. `is_restart` says
/// whether a new process answered between two scrapes.
pub(crate) fn phases(
    target: &Target<'_>,
    holes: &[Hole],
    is_shared: &dyn Fn(&Hole) -> bool,
    is_restart: &dyn Fn(usize, usize) -> bool,
) -> Vec<Phase> {
    let mut found = Vec::new();
    let mut run: Vec<Segment> = Vec::new();
    let mut last_good: Option<usize> = None;
    let mut holes = holes.iter().peekable();
    for (ix, scrape) in target.scrapes.iter().enumerate() {
        if scrape.is_up {
            close(
                target,
                &mut run,
                last_good,
                Some(ix),
                is_restart,
                &mut found,
            );
            last_good = Some(ix);
        } else {
            push(&mut run, failure(target, ix, scrape));
        }
        while let Some(hole) = holes.next_if(|h| h.before <= ix) {
            if !is_shared(hole) {
                push(&mut run, absence(hole));
            }
        }
    }
    close(target, &mut run, last_good, None, is_restart, &mut found);
    found
}

fn failure(target: &Target<'_>, ix: usize, scrape: &Scrape) -> Segment {
    Segment {
        class: class_of(scrape, target.timeout_s, target.interval_after(ix)),
        failed: vec![ix],
        missing: 0,
        start: scrape.t,
        last_bad: scrape.t,
        hole: None,
    }
}

fn absence(hole: &Hole) -> Segment {
    let start = hole.from + hole.interval;
    Segment {
        class: Class::Missing,
        failed: Vec::new(),
        missing: hole.missing,
        start,
        last_bad: hole.last_missed(),
        hole: Some(*hole),
    }
}

fn push(run: &mut Vec<Segment>, next: Segment) {
    match run.last_mut() {
        Some(last) if last.class == next.class && next.class != Class::Missing => last.take(next),
        _ => run.push(next),
    }
}

fn close(
    target: &Target<'_>,
    run: &mut Vec<Segment>,
    before: Option<usize>,
    after: Option<usize>,
    is_restart: &dyn Fn(usize, usize) -> bool,
    found: &mut Vec<Phase>,
) {
    if run.is_empty() {
        return;
    }
    let restarted = before
        .zip(after)
        .is_some_and(|(before, after)| is_restart(before, after));
    let segments = smooth(std::mem::take(run), restarted);
    let good = after.and_then(|ix| target.scrapes.get(ix)).map(|s| s.t);
    let starts: Vec<i64> = segments.iter().map(|s| s.start).collect();
    for (ix, segment) in segments.into_iter().enumerate() {
        let anchor = segment
            .failed
            .first()
            .copied()
            .or_else(|| segment.hole.map(|h| h.before))
            .unwrap_or(0);
        found.push(Phase {
            class: segment.class,
            failed: segment.failed,
            missing: segment.missing,
            start: segment.start,
            last_bad: segment.last_bad,
            end: starts.get(ix + 1).copied().or(good),
            before,
            after,
            is_last: ix + 1 == starts.len(),
            interval: target.interval_after(anchor).max(1),
            hole: segment.hole,
        });
    }
}

/// Joins single scrapes that failed differently into their neighbours: the last single failure of a run of time-outs is
/// often short, because the answer was let go meanwhile (`prometheus.md` §2.6, row 6, case 29). One fast failure before
/// a new process stays a phase.
fn smooth(segments: Vec<Segment>, restarted: bool) -> Vec<Segment> {
    let mut kept: Vec<Segment> = Vec::with_capacity(segments.len());
    let mut rest = segments.into_iter().peekable();
    while let Some(segment) = rest.next() {
        let next = rest.peek();
        let is_single = segment.failed.len() + segment.missing as usize == 1;
        let between_equals = kept
            .last()
            .zip(next)
            .is_some_and(|(a, b)| a.class == b.class);
        let stays = match segment.class {
            Class::Missing | Class::Slow => !is_single || !between_equals,
            Class::Fast if restarted && next.is_none() => true,
            _ => segment.failed.len() >= PHASE_MIN,
        };
        match kept.last_mut() {
            Some(last) if last.class == segment.class && segment.class != Class::Missing => {
                last.take(segment);
            }
            Some(last) if !stays && last.class != Class::Missing => last.take(segment),
            _ => kept.push(segment),
        }
    }
    fold_leading_single(kept, restarted)
}

/// A single odd failure at the very start joins what follows it.
fn fold_leading_single(mut kept: Vec<Segment>, restarted: bool) -> Vec<Segment> {
    let is_odd = |s: &Segment| s.failed.len() == 1 && s.missing == 0 && s.class != Class::Slow;
    if let [first, second, ..] = kept.as_slice()
        && is_odd(first)
        && second.class != Class::Missing
        && !(restarted && kept.len() == 1)
    {
        let first = kept.remove(0);
        if let Some(second) = kept.first_mut() {
            let (class, failed) = (second.class, std::mem::take(&mut second.failed));
            second.take(first);
            second.failed.extend(failed);
            second.class = class;
        }
    }
    kept
}
