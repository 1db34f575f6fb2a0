//! Goroutines that pile up at one place, from dump to dump of one process.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::text::{grouped, join_and};
use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::lock_contention::place::{self, short};
use crate::detect::{Context, Detector, Verdict};
use crate::formats::go_dump::wait;
use crate::model::entity::{EntityType, entity_id};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::profile::{Profile, StackGroup, WaitClass};
use crate::store::Snapshot;

/// Goroutines that pile up at one place.
pub struct BlockedGrowth;

impl Detector for BlockedGrowth {
    fn kind(&self) -> FindingKind {
        FindingKind::BlockedGrowth
    }

    fn doc(&self) -> &'static str {
        "From two or more goroutine dumps of one process in one encoding: a stack (function names, wait and creator) \
         whose goroutines become more in every one of three or more dumps, or twice as many between two, by at least 20, \
         while they wait in a channel, select, lock, wait group or pool (profiles.md §10). Silent on stacks that are \
         stuck but constant, on idle connections and accept loops, and on lock places that lock_contention tells. \
         Dumps of one moment in several encodings are one record: only dumps of one encoding are compared, and a place \
         that grows in several is told once."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let snapshot = context.snapshot;
        let mut series: BTreeMap<(bool, &str), BTreeMap<&str, Vec<&Profile>>> = BTreeMap::new();
        for dump in snapshot.profiles.iter().filter(|p| place::is_dump(p)) {
            series
                .entry(place::process_key(snapshot, dump))
                .or_default()
                .entry(place::encoding(snapshot, dump))
                .or_default()
                .push(dump);
        }
        let mut findings = Vec::new();
        let mut could_compare = false;
        for by_encoding in series.into_values() {
            let mut known = BTreeSet::new();
            for dumps in comparable(by_encoding) {
                could_compare = true;
                let last = dumps.last().and_then(|d| d.t);
                if last.is_some_and(|t| !context.window.contains(t)) {
                    continue;
                }
                for growth in growths(&dumps) {
                    // Records of one state in several encodings tell one growth once.
                    if known.insert((growth.site, growth.user_site)) {
                        findings.push(finding(context, &dumps, &growth));
                    }
                }
            }
        }
        if could_compare {
            Verdict::of(findings)
        } else {
            Verdict::NotEnough(
                "two goroutine dumps of one process in one form, some time apart, are needed to see what grows"
                    .to_owned(),
            )
        }
    }
}

/// The dumps of one process that can be compared with each other, two or more of an encoding: first those that tell most
/// (stack dumps name who started a goroutine; protobuf has no place in the file to show).
fn comparable<'a>(by_encoding: BTreeMap<&str, Vec<&'a Profile>>) -> Vec<Vec<&'a Profile>> {
    let mut all: Vec<((bool, bool), Vec<&'a Profile>)> = by_encoding
        .into_iter()
        .map(|(encoding, dumps)| {
            let has_states = dumps.first().is_some_and(|d| d.has_states);
            ((!has_states, encoding == "pprof"), in_order(dumps))
        })
        .filter(|(_, dumps)| dumps.len() >= 2)
        .collect();
    all.sort_by_key(|(rank, _)| *rank);
    all.into_iter().map(|(_, dumps)| dumps).collect()
}

/// In order of time; those without a time in order of their names, and only where no two have one.
fn in_order(mut dumps: Vec<&Profile>) -> Vec<&Profile> {
    if dumps.iter().filter(|d| d.t.is_some()).count() >= 2 {
        dumps.retain(|d| d.t.is_some());
        dumps.sort_by_key(|d| (d.t, d.input));
        dumps.dedup_by_key(|d| d.t);
    } else {
        dumps.retain(|d| d.t.is_none());
        dumps.sort_by_key(|d| d.input);
    }
    dumps
}

/// What makes stacks of two dumps the same: names without addresses and lines, the wait, and the creator.
type Key<'a> = (WaitClass, Vec<&'a str>, &'a str);

/// A stack that grew.
struct Growth<'a> {
    /// Goroutines in each dump.
    counts: Vec<f64>,
    /// The group in the last dump.
    last: &'a StackGroup,
    site: &'a str,
    user_site: &'a str,
}

fn growths<'a>(dumps: &[&'a Profile]) -> Vec<Growth<'a>> {
    let mut counts: BTreeMap<Key<'a>, (Vec<f64>, &'a StackGroup)> = BTreeMap::new();
    for (n, dump) in dumps.iter().enumerate() {
        for group in dump.groups.iter().filter(|g| can_pile_up(g)) {
            let names = group.frames.iter().map(|f| f.function.as_ref()).collect();
            let key = (group.class, names, group.created_by.as_ref());
            let entry = counts
                .entry(key)
                .or_insert_with(|| (vec![0.0; dumps.len()], group));
            if let Some(count) = entry.0.get_mut(n) {
                // Groups come largest first: the first of the last dump is the one to show.
                if *count == 0.0 {
                    entry.1 = group;
                }
                *count += group.value;
            }
        }
    }
    let own = dumps.iter().find_map(|d| wait::own_module(d));
    let mut locks: BTreeSet<&str> = BTreeSet::new();
    for dump in dumps {
        locks.extend(place::Places::of(dump).told().map(|place| place.user_site));
    }
    let mut found: Vec<Growth<'a>> = counts
        .into_values()
        .filter(|(counts, _)| grows(counts))
        .filter_map(|(counts, last)| {
            let site = wait::library_frame(&last.frames)?.function.as_ref();
            let user_site = wait::user_frame(&last.frames, own.as_deref())?
                .function
                .as_ref();
            let is_told = last.class == WaitClass::Lock && locks.contains(user_site);
            (!is_told).then_some(Growth {
                counts,
                last,
                site,
                user_site,
            })
        })
        .collect();
    let gain = |g: &Growth<'_>| g.to() - g.from();
    found.sort_by(|a, b| {
        gain(b)
            .total_cmp(&gain(a))
            .then(a.last.line.cmp(&b.last.line))
    });
    found
}

/// Waits that only somebody else can end, and no idle pool (`profiles.md` §10).
fn can_pile_up(group: &StackGroup) -> bool {
    let is_blocked = matches!(
        group.class,
        WaitClass::Channel
            | WaitClass::Select
            | WaitClass::Lock
            | WaitClass::WaitGroup
            | WaitClass::Condition
            | WaitClass::Pool
    );
    is_blocked && !wait::is_profiler(&group.frames) && !wait::is_idle(&group.frames)
}

/// More in every one of three or more dumps, or at least twice as many in the second of two (`profiles.md` §10); by at
/// least as many as make a lock worth telling (§6), since three goroutines instead of one are no leak.
fn grows(counts: &[f64]) -> bool {
    let (Some(first), Some(last)) = (counts.first(), counts.last()) else {
        return false;
    };
    let is_rising = counts.windows(2).all(|w| matches!(w, [a, b] if b > a));
    last - first >= place::MIN_WAITING && is_rising && (counts.len() >= 3 || *last >= 2.0 * first)
}

impl Growth<'_> {
    fn from(&self) -> f64 {
        self.counts.first().copied().unwrap_or(0.0)
    }

    fn to(&self) -> f64 {
        self.counts.last().copied().unwrap_or(0.0)
    }
}

fn finding(context: &Context<'_>, dumps: &[&Profile], growth: &Growth<'_>) -> Finding {
    let snapshot = context.snapshot;
    let time = |dump: Option<&&Profile>| {
        dump.map_or_else(Timestamp::default, |d| {
            super::lock_contention::moment(context, d)
        })
    };
    let (first, second) = (time(dumps.first()), time(dumps.get(1)));
    let last = dumps.last();
    let process = last.map_or("", |d| d.process.as_ref());
    let (_, whose) = last.map_or((false, ""), |d| place::process_key(snapshot, d));
    let subject = format!(
        "{whose} {} {} {}",
        growth.last.folded(),
        growth.last.class.word(),
        growth.last.created_by
    );
    // It can be seen since the second dump, and began somewhere between the first two.
    let mut finding = Finding::new(FindingKind::BlockedGrowth, &subject, second, None);
    finding.onset = first.plus_nanos(second.nanos_since(first) / 2);
    let total = last.map_or(0.0, |d| d.total);
    finding.severity = if total > 0.0 && growth.to() >= 0.5 * total {
        Severity::Major
    } else {
        Severity::Minor
    };
    finding.confidence = confidence(growth);
    finding.title = format!(
        "Goroutines in {} grew from {} to {} ({})",
        short(growth.site),
        grouped(growth.from() as u64),
        grouped(growth.to() as u64),
        wait_words(growth.last)
    );
    finding.detail = detail(dumps, growth);
    if !process.is_empty() {
        finding
            .entities
            .push(entity_id(EntityType::Instance, process));
    }
    finding = finding
        .with("from", growth.from() as u64)
        .with("to", growth.to() as u64)
        .with("site", growth.site)
        .with("user_site", growth.user_site)
        .with("dumps", dumps.len());
    if !growth.last.created_by.is_empty() {
        finding = finding.with("created_by", growth.last.created_by.as_ref());
    }
    for (dump, count) in dumps.iter().zip(&growth.counts) {
        finding
            .evidence
            .push(evidence(snapshot, dump, growth, *count));
    }
    finding
}

fn evidence(
    snapshot: &Snapshot,
    dump: &Profile,
    growth: &Growth<'_>,
    count: f64,
) -> crate::model::input::Evidence {
    let folded = growth.last.folded();
    let group = dump
        .groups
        .iter()
        .find(|g| g.class == growth.last.class && g.folded() == folded);
    let at = group.map_or_else(
        || "line 1".to_owned(),
        |g| place::locator(snapshot, dump, g),
    );
    let names: Vec<&str> = growth
        .last
        .frames
        .iter()
        .map(|f| short(&f.function))
        .collect();
    let quote = format!("{} × {}", grouped(count as u64), names.join(" < "));
    snapshot.evidence(dump.input, at, quote)
}

/// Each further dump that grew makes chance less likely; times that nobody recorded make the order a guess.
fn confidence(growth: &Growth<'_>) -> f64 {
    match growth.counts.len() {
        0..=2 => 0.7,
        3 => 0.85,
        _ => 0.92,
    }
}

fn wait_words(group: &StackGroup) -> &str {
    if group.state.is_empty() {
        group.class.word()
    } else {
        group.state.as_ref()
    }
}

fn detail(dumps: &[&Profile], growth: &Growth<'_>) -> String {
    let course: Vec<String> = dumps
        .iter()
        .zip(&growth.counts)
        .map(|(dump, n)| match dump.t {
            Some(t) => format!("{} at {}", grouped(*n as u64), t.to_clock()),
            None => grouped(*n as u64),
        })
        .collect();
    let mut parts = vec![format!(
        "The goroutines that wait ({}) in {} are {} in {} dumps of one process.",
        wait_words(growth.last),
        growth.site,
        join_and(&course),
        dumps.len()
    )];
    if growth.user_site != growth.site {
        parts.push(format!(
            "The program's own code there is {}.",
            growth.user_site
        ));
    }
    if !growth.last.created_by.is_empty() {
        parts.push(format!("They were started by {}.", growth.last.created_by));
    }
    if let (Some(first), Some(last)) = (dumps.first(), dumps.last()) {
        parts.push(format!(
            "All goroutines went from {} to {}.",
            grouped(first.total as u64),
            grouped(last.total as u64)
        ));
        let minutes = first
            .t
            .zip(last.t)
            .map(|(from, to)| to.secs_since(from) / 60.0);
        match minutes {
            Some(minutes) if minutes > 0.0 => {
                let rate = (growth.to() - growth.from()) / minutes;
                parts.push(format!(
                    "That is {} a minute there.",
                    units::number(rate.round())
                ));
            }
            Some(_) => {}
            None => parts.push(
                "Nothing says when the dumps were taken: their order is that of their names."
                    .to_owned(),
            ),
        }
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::lock_contention::tests::{check, shared, text_dump};

    fn growth(verdict: Verdict) -> Vec<Finding> {
        match verdict {
            Verdict::Findings(found) => found,
            Verdict::Clear => Vec::new(),
            Verdict::NotEnough(why) => panic!("{why}"),
        }
    }

    fn dump(name: &str, stuck: u32, worker: u32) -> (String, String) {
        let total = stuck + worker;
        let groups = format!(
            "goroutine profile: total {total}\n{worker} @ 0x1 0x2 0x9\n#\t0x8\ttime.Sleep+0x1\t/t.go:1\n#\t0x9\tmain.worker+0x1\t/m.go:2\n\n{stuck} @ 0x1 0x3 0x4 0x5\n#\t0x4\tmain.waitForReply+0x1\t/m.go:9\n"
        );
        text_dump(name, &groups)
    }

    #[test]
    fn twice_as_many_between_two_dumps() {
        let inputs = [
            dump("t/a.20261130T100000Z.txt", 30, 5),
            dump("t/a.20261130T100100Z.txt", 60, 50),
        ];
        let found = growth(check(&BlockedGrowth, &inputs));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].number("from"), found[0].number("to")),
            (Some(30.0), Some(60.0))
        );
        assert_eq!(
            (found[0].text("site"), found[0].entities[0].as_str()),
            (Some("main.waitForReply"), "instance:a")
        );
        assert_eq!(found[0].start.to_rfc3339(), "2026-11-30T10:01:00Z");
        assert_eq!(found[0].onset.to_rfc3339(), "2026-11-30T10:00:30Z");
        assert_eq!(found[0].evidence.len(), 2);
    }

    #[test]
    fn constant_slow_and_falling_stacks_are_clear() {
        for counts in [
            &[500, 500][..],
            &[100, 190],
            &[1, 3, 5],
            &[10, 100, 90],
            &[0, 40, 40],
        ] {
            let inputs: Vec<_> = counts
                .iter()
                .zip(0..)
                .map(|(n, at): (_, u32)| dump(&format!("t/a.20261130T10{at:02}00Z.txt"), *n, 5))
                .collect();
            assert_eq!(check(&BlockedGrowth, &inputs), Verdict::Clear, "{counts:?}");
        }
    }

    #[test]
    fn one_dump_or_two_processes_are_not_enough() {
        let one = [dump("t/a.20261130T100000Z.txt", 30, 5)];
        let two = [
            dump("t/a.20261130T100000Z.txt", 30, 5),
            dump("t/b.20261130T100100Z.txt", 300, 5),
        ];
        assert!(matches!(check(&BlockedGrowth, &one), Verdict::NotEnough(_)));
        assert!(matches!(check(&BlockedGrowth, &two), Verdict::NotEnough(_)));
        let none: [(String, String); 0] = [];
        assert!(matches!(
            check(&BlockedGrowth, &none),
            Verdict::NotEnough(_)
        ));
    }

    #[test]
    fn the_leak_of_the_recordings_is_the_only_growth() {
        let folder = "profiles/go-chan-leak";
        let Some(all) = shared(folder, &["t1.goroutine.", "t2.goroutine."]) else {
            return;
        };
        let found = growth(check(&BlockedGrowth, &all));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].number("from"), found[0].number("to")),
            (Some(1000.0), Some(2500.0))
        );
        assert_eq!(found[0].text("site"), Some("main.waitForReply"));
        assert_eq!(found[0].text("created_by"), Some("main.fetch"));
        let with_start =
            shared(folder, &["t0.goroutine.", "t1.goroutine.", "t2.goroutine."]).unwrap();
        let found = growth(check(&BlockedGrowth, &with_start));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].number("from"), found[0].number("to")),
            (Some(0.0), Some(2500.0))
        );
        for ending in ["debug1.txt", "pb.gz"] {
            let inputs = shared(
                folder,
                &[
                    &format!("t1.goroutine.{ending}"),
                    &format!("t2.goroutine.{ending}"),
                ],
            )
            .unwrap();
            let found = growth(check(&BlockedGrowth, &inputs));
            assert_eq!(
                (found.len(), found[0].number("to")),
                (1, Some(2500.0)),
                "{ending}"
            );
        }
    }

    #[test]
    fn a_lock_convoy_is_told_by_its_own_detector() {
        let Some(inputs) = shared(
            "incidents/ingress-metrics-lock/input/profiles",
            &["goroutine"],
        ) else {
            return;
        };
        assert_eq!(check(&BlockedGrowth, &inputs), Verdict::Clear);
        let inputs = shared("profiles/go-wait-zoo", &["goroutine.debug2", "at-3s"]).unwrap();
        assert_eq!(check(&BlockedGrowth, &inputs), Verdict::Clear);
    }
}
