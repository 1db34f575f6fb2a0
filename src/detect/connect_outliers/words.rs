//! The words of a finding: its title and its detail.

use std::collections::BTreeMap;

use crate::base::text::{count, grouped, join_and};
use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::connect_outliers::cause::{Cause, Group};
use crate::detect::connect_outliers::collect::{Caller, Connect, Record};
use crate::detect::connect_outliers::interval::Interval;

/// So many pods and upstreams are named.
const NAMED: usize = 5;

/// One line.
pub(super) fn title(caller: &Caller, group: &Group, total: u64, largest: f64) -> String {
    let service = &caller.service;
    let slow = group.members.len() as u64;
    let of = format!(
        "{} of {}",
        grouped(slow),
        count(total, "connect", "connects")
    );
    let rungs: Vec<String> = by_rung(group).into_iter().map(|(rung, _)| rung).collect();
    match group.cause {
        Cause::SynRetransmit => format!(
            "{service}: {of} took just over {}, as after a lost SYN",
            join_and(&rungs)
        ),
        Cause::DnsTimeout => format!(
            "{service}: {of} took just over {}, as after a lost DNS answer",
            join_and(&rungs)
        ),
        Cause::SlowPeer => format!(
            "{service}: {of} took up to {}, on no ladder of a timer: the other side is slow to accept",
            units::ms(largest)
        ),
        Cause::ConnectTimeout => format!(
            "{service}: {of} were given up at {}, the caller's own limit",
            limits(group)
        ),
        Cause::Unknown => format!(
            "{service}: {of} took up to {}; why cannot be told",
            units::ms(largest)
        ),
    }
}

/// Rungs in order of time: (`1 s`, 23).
fn by_rung(group: &Group) -> Vec<(String, u64)> {
    let mut rungs: Vec<(f64, u64)> = group
        .rungs
        .iter()
        .filter_map(|(rung, n)| Some((rung.trim_end_matches('s').parse().ok()?, *n)))
        .collect();
    rungs.sort_by(|a, b| a.0.total_cmp(&b.0));
    rungs
        .into_iter()
        .map(|(s, n)| (format!("{s} s"), n))
        .collect()
}

/// Whole sentences: how many, from when until when, why that cause, and where.
pub(super) fn detail(caller: &Caller, group: &Group, interval: &Interval, share: f64) -> String {
    let mut sentences = vec![format!(
        "From {} on, {} of {} of {} ({}) took far longer than usual ({}); the last one ended at {}.",
        Timestamp::from_nanos(interval.start),
        grouped(group.members.len() as u64),
        count(interval.total, "connect", "connects"),
        caller.service,
        units::share(share),
        usual(caller.usual_ms),
        Timestamp::from_nanos(interval.last),
    )];
    sentences.push(match interval.end {
        Some(end) => format!(
            "By {} it had been quiet for so long that, at the last rate, chance has 1 %: it is over.",
            Timestamp::from_nanos(end)
        ),
        None => "The recording ends before it can be called over.".to_owned(),
    });
    sentences.push(why(group));
    sentences.extend(split(group, "pod", |c| c.instance.as_ref()));
    sentences.extend(split(group, "upstream", |c| c.upstream.as_ref()));
    if caller.record == Record::Traces {
        sentences.push(
            "The connects are those of the traces at hand; if traces were sampled or chosen, so are the counts."
                .to_owned(),
        );
    }
    let same = caller
        .also
        .iter()
        .filter(|c| (interval.start..=interval.last).contains(&c.start))
        .count() as u64;
    if same > 0 {
        sentences.push(format!(
            "{} also shown by traces and not counted again.",
            count(same, "slow connect is", "slow connects are")
        ));
    }
    sentences.join(" ")
}

/// The usual connect; logs in milliseconds write most of those within a machine room as 0.
fn usual(ms: f64) -> String {
    if ms < 1.0 {
        "under 1 ms".to_owned()
    } else {
        units::ms(ms)
    }
}

/// What the cause rests on.
fn why(group: &Group) -> String {
    match group.cause {
        Cause::SynRetransmit | Cause::DnsTimeout => why_ladder(group),
        Cause::SlowPeer => format!(
            "They are spread from {} to {} and stand on no ladder of a timer (that as many stand near a rung by chance has a probability of {}): nothing speaks for lost packets, the other side or the way to it is slow.",
            units::ms(
                group
                    .members
                    .iter()
                    .map(|c| c.ms)
                    .fold(f64::INFINITY, f64::min)
            ),
            units::ms(group.members.iter().map(|c| c.ms).fold(0.0, f64::max)),
            by_chance(group)
        ),
        Cause::ConnectTimeout => format!(
            "They ended with 504 and without a header at {}: that is the caller's connect time-out. How long the connects would have taken is not known, so neither is why.",
            limits(group)
        ),
        Cause::Unknown if !group.limits_ms.is_empty() => format!(
            "They pile at {}, which is no rung of a known timer; a time-out or a sleep of some program may be.",
            limits(group)
        ),
        Cause::Unknown => {
            let rungs = rungs_in_words(group);
            let near = if rungs.is_empty() {
                String::new()
            } else {
                format!(" ({rungs})")
            };
            format!(
                "{} not enough to tell a ladder of timers from a slow peer{near}; by chance that has a probability of {}.",
                count(group.members.len() as u64, "is", "are"),
                by_chance(group)
            )
        }
    }
}

fn why_ladder(group: &Group) -> String {
    let what = match (group.cause, group.ladder) {
        (Cause::DnsTimeout, _) => "where a resolver that got no answer asks again",
        (_, "classic") => "where a SYN is sent again with the time doubling (1, 3, 7 s)",
        (_, "linear") => "where Linux 6.5 and later sends a SYN again (1, 2, 3, 4, 5, 7, 11 s)",
        _ => "where a SYN is sent again; no second rung was reached, so the ladder is not known",
    };
    let beside = (group.members.len() as u64).saturating_sub(group.explained);
    let beside = if beside > 0 {
        format!(
            " {} beside the rungs.",
            count(beside, "other lies", "others lie")
        )
    } else {
        String::new()
    };
    format!(
        "{} on the rungs of a timer: {}, {what}. By chance that has a probability of {}.{beside}",
        count(group.explained, "stands", "stand"),
        rungs_in_words(group),
        by_chance(group)
    )
}

fn by_chance(group: &Group) -> String {
    match group.log10_p {
        Some(p) if p > -1.0 => units::number(units::round_to(10f64.powf(p), 2)),
        Some(p) => format!("10^{}", units::number(units::round_to(p, 1))),
        None => "1".to_owned(),
    }
}

fn rungs_in_words(group: &Group) -> String {
    let rungs: Vec<String> = by_rung(group)
        .into_iter()
        .map(|(rung, n)| format!("{} just above {rung}", grouped(n)))
        .collect();
    join_and(&rungs)
}

fn limits(group: &Group) -> String {
    let limits: Vec<String> = group.limits_ms.iter().map(|l| units::ms(*l)).collect();
    join_and(&limits)
}

/// How the slow connects are split over what `of` names; nothing when it names nothing.
fn split(group: &Group, name: &str, of: impl Fn(&Connect) -> &str) -> Option<String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for connect in &group.members {
        *counts.entry(of(connect)).or_insert(0) += 1;
    }
    counts.remove("");
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let more = counts.len().saturating_sub(NAMED);
    let mut named: Vec<String> = counts
        .iter()
        .take(NAMED)
        .map(|(name, n)| format!("{name} {}", grouped(*n)))
        .collect();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    (!named.is_empty()).then(|| format!("By {name}: {}.", named.join(", ")))
}
