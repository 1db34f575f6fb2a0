//! Goroutines that wait for one lock, from dumps: one finding for each dump and place.

pub mod holder;
pub(super) mod place;
#[cfg(test)]
pub(super) mod tests;

use crate::base::text::{count, grouped, join_and};
use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::{Context, Detector, Verdict};
use crate::formats::go_dump::wait;
use crate::model::entity::{EntityType, entity_id};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::profile::{Profile, WaitClass};
use holder::{By, Holder};
use place::{Place, Places, short};

/// Goroutines that wait for one lock.
pub struct LockContention;

impl Detector for LockContention {
    fn kind(&self) -> FindingKind {
        FindingKind::LockContention
    }

    fn doc(&self) -> &'static str {
        "From goroutine dumps (text debug=1, debug=2, protobuf): goroutines whose innermost frames are the slow path of \
         a mutex, joined by the first frame of the program's own code. Told when at least 20 goroutines and a tenth of \
         all wait for locks, or one waits for a minute (profiles.md §6); places with less than a tenth of the waiters \
         are left out. With lock addresses (debug=2) it counts the locks and names the likely holder by the object or \
         type that it works on. Silent on wait groups, channels and idle pools. An empty mutex or block profile is no \
         sign of health: it is probably not enabled."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let snapshot = context.snapshot;
        let dumps: Vec<&Profile> = snapshot
            .profiles
            .iter()
            .filter(|p| place::is_dump(p))
            .collect();
        if dumps.is_empty() {
            return Verdict::NotEnough(without_dumps(context));
        }
        let looked: Vec<(&Profile, Places<'_>)> =
            dumps.iter().map(|dump| (*dump, Places::of(dump))).collect();
        let mut findings = Vec::new();
        for (dump, places) in &looked {
            if dump.t.is_some_and(|t| !context.window.contains(t)) {
                continue;
            }
            let first = findings.len();
            for place in places.told() {
                let story = Story::of(context, &looked, dump, place);
                findings.push(finding(context, dump, place, &story));
            }
            if let (true, Some(finding)) = (places.more > 0, findings.get_mut(first)) {
                let more = count(places.more as u64, "place", "places");
                finding.detail = format!(
                    "{} {more} more with long waits are not listed.",
                    finding.detail
                );
            }
        }
        Verdict::of(findings)
    }
}

/// What is missing when there is no dump; with a word on profiles that look empty.
fn without_dumps(context: &Context<'_>) -> String {
    let contention: Vec<&Profile> = context
        .snapshot
        .profiles
        .iter()
        .filter(|p| matches!(p.kind.as_ref(), "mutex" | "block"))
        .collect();
    if !contention.is_empty() && contention.iter().all(|p| p.groups.is_empty()) {
        return "no goroutine dump was given, and the mutex or block profile has 0 samples: it is probably not enabled, \
                which is not the same as no contention"
            .to_owned();
    }
    "no goroutine dump was given".to_owned()
}

/// When a dump was taken; for one without a time the start of what was read.
pub(super) fn moment(context: &Context<'_>, dump: &Profile) -> Timestamp {
    let known = context.snapshot.extent.map(|e| e.start);
    dump.t.or(known).unwrap_or_default()
}

/// What the other dumps of the same process say about a place.
struct Story {
    onset: Timestamp,
    end: Option<Timestamp>,
    /// Waiters in the dumps of the same encoding, in order of time: `0 at 14:29:10`.
    course: Vec<String>,
}

impl Story {
    fn of(
        context: &Context<'_>,
        looked: &[(&Profile, Places<'_>)],
        dump: &Profile,
        at: &Place<'_>,
    ) -> Self {
        let snapshot = context.snapshot;
        let now = moment(context, dump);
        let waited = at.longest_wait_s.unwrap_or(0.0);
        let mut story = Self {
            onset: now.plus_nanos(-(waited * 1e9) as i64),
            end: None,
            course: Vec::new(),
        };
        let Some(t) = dump.t else { return story };
        let key = place::process_key(snapshot, dump);
        let mut siblings: Vec<(Timestamp, &Profile, &Places<'_>, bool)> = looked
            .iter()
            .filter(|(other, _)| place::process_key(snapshot, other) == key)
            .filter_map(|(other, places)| {
                let has = places.told().any(|p| p.user_site == at.user_site);
                Some((other.t?, *other, places, has))
            })
            .collect();
        siblings.sort_by_key(|(t, other, ..)| (*t, other.input));
        story.end = siblings
            .iter()
            .find(|(when, .., has)| *when > t && !has)
            .map(|(when, ..)| *when);
        // The first dump of the unbroken run that this one belongs to, and the one before it.
        let here = siblings.iter().filter(|(when, ..)| *when <= t).count();
        let before = siblings.get(..here).unwrap_or_default();
        let first = before
            .iter()
            .rposition(|(when, .., has)| *when < t && !has)
            .map_or(0, |at| at + 1);
        let last_clear = first
            .checked_sub(1)
            .and_then(|at| before.get(at))
            .map(|(when, ..)| *when);
        if let (Some(clear), Some((seen, ..))) = (last_clear, before.get(first)) {
            let between = clear.plus_nanos(seen.nanos_since(clear) / 2);
            story.onset = story.onset.min(between);
        } else if let Some((seen, ..)) = before.get(first) {
            story.onset = story.onset.min(*seen);
        }
        let encoding = place::encoding(snapshot, dump);
        for (when, other, places, _) in &siblings {
            if place::encoding(snapshot, other) == encoding {
                let waiting = places.at(at.user_site).map_or(0.0, |p| p.waiting);
                story.course.push(format!(
                    "{} at {}",
                    grouped(waiting as u64),
                    when.to_clock()
                ));
            }
        }
        story
    }
}

fn finding(context: &Context<'_>, dump: &Profile, place: &Place<'_>, story: &Story) -> Finding {
    let snapshot = context.snapshot;
    let subject = format!("{} {}", snapshot.input_id(dump.input), place.user_site);
    let start = moment(context, dump);
    let mut finding = Finding::new(FindingKind::LockContention, &subject, start, story.end);
    let share = if dump.total > 0.0 {
        place.waiting / dump.total
    } else {
        0.0
    };
    // Without states and addresses the frames of the type are too many to point at one.
    let holder = holder::likely(dump, place).filter(|_| dump.has_states);
    finding.onset = story.onset;
    finding.severity = severity(share);
    finding.confidence = confidence(place);
    finding.title = title(dump, place);
    finding.detail = detail(dump, place, share, story, holder.as_ref());
    if !dump.process.is_empty() {
        finding
            .entities
            .push(entity_id(EntityType::Instance, &dump.process));
    }
    finding = finding
        .with("waiting", place.waiting as u64)
        .with("total", dump.total as u64)
        .with("share", units::round_to(share, 4))
        .with("site", place.site)
        .with("user_site", place.user_site)
        .with("handoff", place.handoff as u64);
    if !place.locks.is_empty() {
        finding = finding.with("locks", place.locks.len());
    }
    if let Some(wait_s) = place.longest_wait_s {
        finding = finding.with("longest_wait_s", wait_s);
    }
    if let Some(id) = holder.as_ref().and_then(|h| h.group.first_id) {
        finding = finding.with("likely_holder", id);
    }
    for group in place.groups.iter().take(3) {
        let frames: Vec<&str> = group.frames.iter().map(|f| short(&f.function)).collect();
        let quote = format!("{} × {}", grouped(group.value as u64), frames.join(" < "));
        finding.evidence.push(snapshot.evidence(
            dump.input,
            place::locator(snapshot, dump, group),
            quote,
        ));
    }
    if let Some(holder) = &holder {
        let quote = format!("likely holder: {}", top_frames(holder));
        let at = place::locator(snapshot, dump, holder.group);
        finding
            .evidence
            .push(snapshot.evidence(dump.input, at, quote));
    }
    finding
}

/// A process of which half waits is as good as stopped; a tenth is the threshold of `profiles.md` §6.
fn severity(share: f64) -> Severity {
    if share >= 0.5 {
        Severity::Critical
    } else if share >= 0.1 {
        Severity::Major
    } else {
        Severity::Minor
    }
}

/// The frames say surely that these goroutines wait; a dump is one moment, so that few waiters may be a passing queue
/// (n / (n + 5): 0.76 at the threshold of 20, 0.95 from about 500 on). One that waited for minutes is no passing queue.
fn confidence(place: &Place<'_>) -> f64 {
    let by_count = 0.95 * place.waiting / (place.waiting + 5.0);
    let least = if place.longest_wait_s.is_some() {
        0.7
    } else {
        0.0
    };
    units::round_to(by_count.max(least), 3)
}

fn title(dump: &Profile, place: &Place<'_>) -> String {
    let locks = match place.locks.len() {
        0 => "a lock".to_owned(),
        1 => "one lock".to_owned(),
        n => format!("{n} locks"),
    };
    let verb = if place.waiting as u64 == 1 {
        "waits"
    } else {
        "wait"
    };
    let called = if place.site == place.user_site {
        String::new()
    } else {
        format!(", called from {}", short(place.user_site))
    };
    format!(
        "{} of {} goroutines {verb} for {locks} in {}{called}",
        grouped(place.waiting as u64),
        grouped(dump.total as u64),
        short(place.site)
    )
}

fn detail(
    dump: &Profile,
    place: &Place<'_>,
    share: f64,
    story: &Story,
    holder: Option<&Holder<'_>>,
) -> String {
    let called = if place.site == place.user_site {
        String::new()
    } else {
        format!(", called from {}", place.user_site)
    };
    let mut parts = vec![format!(
        "{} of {} ({}) wait for a lock that {} takes{called}.",
        grouped(place.waiting as u64),
        count(dump.total as u64, "goroutine", "goroutines"),
        units::share(share),
        place.site
    )];
    let others: Vec<String> = place
        .sites
        .iter()
        .filter(|(site, _)| **site != place.site)
        .map(|(site, n)| format!("{} in {}", grouped(*n as u64), short(site)))
        .collect();
    if !others.is_empty() {
        parts.push(format!("Among them {}.", join_and(&others)));
    }
    if place.handoff > 0.0 {
        parts.push(format!(
            "{} more hand it over.",
            grouped(place.handoff as u64)
        ));
    }
    if let [(lock, waiting), _, ..] = place.most_wanted().as_slice() {
        parts.push(format!(
            "They wait for {} locks, {} of them for the one at {lock:#x}.",
            place.locks.len(),
            grouped(*waiting as u64)
        ));
    }
    if let Some(wait_s) = place.longest_wait_s {
        parts.push(format!(
            "The longest has waited for at least {} (Go prints a lower bound).",
            units::secs(wait_s)
        ));
    }
    if story.course.len() > 1 {
        parts.push(format!(
            "Dumps of this kind show {} waiting there.",
            join_and(&story.course)
        ));
    }
    if dump.t.is_none() {
        parts.push("Nothing says when the dump was taken.".to_owned());
    }
    match holder {
        Some(holder) => parts.extend(holder_parts(place, holder)),
        None if dump.has_states => {
            parts.push("No goroutine shows that it holds the lock.".to_owned());
        }
        None => parts.push("Only a debug=2 dump can show who holds it.".to_owned()),
    }
    parts.join(" ")
}

fn holder_parts(place: &Place<'_>, holder: &Holder<'_>) -> Vec<String> {
    let group = holder.group;
    let which = match holder.chain.first() {
        Some(lock) if place.locks.len() > 1 => format!(" of {lock:#x}"),
        _ => String::new(),
    };
    let who = match group.first_id {
        Some(id) => format!("goroutine {id} ({})", group.state),
        None => format!("a goroutine ({})", group.state),
    };
    let why = match holder.by {
        By::Object => "it works on the object that the others wait for",
        By::Type => "it runs a method of the type that takes the lock",
        By::Nearness => "it has a pointer to shortly before the lock",
    };
    let mut parts = vec![format!(
        "Likely holder{which}: {who} in {}; {why}.",
        top_frames(holder)
    )];
    if holder.chain.len() > 1 {
        parts.push(format!(
            "It ends a chain of {} locks, where each holder waits for the next lock.",
            holder.chain.len()
        ));
    }
    if holder.is_cycle {
        parts.push("The chain comes back to where it began: a deadlock is possible.".to_owned());
    } else if group.class == WaitClass::Lock {
        parts.push("It waits for another lock itself.".to_owned());
    }
    parts
}

/// The first frames of the holder that are not of the standard library, the innermost first.
fn top_frames(holder: &Holder<'_>) -> String {
    let frames = &holder.group.frames;
    let mut names: Vec<&str> = frames
        .iter()
        .filter(|f| !wait::is_std(wait::package_of(&f.function)))
        .map(|f| short(&f.function))
        .collect();
    names.dedup();
    if names.is_empty() {
        names = frames.iter().map(|f| short(&f.function)).collect();
    }
    let more = names.len() > 6;
    names.truncate(6);
    let text = names.join(" < ");
    if more { format!("{text} < …") } else { text }
}
