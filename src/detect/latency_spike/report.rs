//! Spikes in words: joins what several sources saw of one spike, and writes the finding.

use super::candidate::{Candidate, Numbers, quantile_name};
use super::sources::Source;
use crate::base::text;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::store::Snapshot;

/// A mean that moved by less than this factor shows nothing among its usual ups and downs; the p99 had to rise by
/// [`super::scan::LEAST_RATIO`].
const MEAN_IS_FLAT: f64 = 1.3;

/// One finding for each spike: the best source gives the numbers, the others are named and add evidence.
pub(super) fn findings(
    snapshot: &Snapshot,
    open_end: Timestamp,
    mut candidates: Vec<Candidate>,
) -> Vec<Finding> {
    candidates.sort_by(|a, b| {
        (
            a.source,
            a.subject.route.is_empty(),
            &a.subject,
            a.start,
            &a.metric,
        )
            .cmp(&(
                b.source,
                b.subject.route.is_empty(),
                &b.subject,
                b.start,
                &b.metric,
            ))
    });
    let mut spikes: Vec<(Candidate, Vec<Candidate>)> = Vec::new();
    for candidate in candidates {
        // Of one source, two routes are two spikes.
        let of_one = |best: &Candidate| {
            best.is_same(&candidate, open_end)
                && (best.source != candidate.source
                    || best.metric != candidate.metric
                    || best.subject.route == candidate.subject.route)
        };
        match spikes.iter_mut().find(|(best, _)| of_one(best)) {
            Some((_, others)) => others.push(candidate),
            None => spikes.push((candidate, Vec::new())),
        }
    }
    spikes
        .into_iter()
        .map(|(best, others)| finding(snapshot, &best, &others))
        .collect()
}

fn finding(snapshot: &Snapshot, best: &Candidate, others: &[Candidate]) -> Finding {
    let numbers = &best.numbers;
    let subject = format!(
        "{}|{}|{}|{}|{}",
        best.step.as_deref().unwrap_or(""),
        best.subject.callee,
        best.subject.observer,
        best.subject.route,
        best.only.join(",")
    );
    let mut finding = Finding::new(FindingKind::LatencySpike, &subject, best.start, best.end);
    finding.onset = best.onset;
    let ratio = numbers.peak_ms / numbers.baseline_ms;
    let mean_ratio = match (numbers.mean_baseline_ms, numbers.mean_peak_ms) {
        (Some(before), Some(during)) if before > 0.0 => Some(during / before),
        _ => None,
    };
    finding.title = title(best, ratio, mean_ratio);
    finding.detail = detail(best, others, ratio, mean_ratio);
    finding.severity = severity(numbers, ratio);
    // Each other source that saw the same halves the rest of the doubt, up to three.
    let doubt = others
        .iter()
        .filter(|o| o.source != best.source || o.subject.observer != best.subject.observer)
        .take(3)
        .fold(1.0 - best.confidence, |doubt, _| doubt * 0.5);
    finding.confidence = units::round_to((1.0 - doubt).min(0.99), 3);
    for candidate in std::iter::once(best).chain(others) {
        for id in &candidate.entities {
            if !finding.entities.contains(id) && snapshot.graph.contains(id) {
                finding.entities.push(id.clone());
            }
        }
        finding.evidence.extend(candidate.evidence.iter().cloned());
    }
    let number = |value: Option<f64>| value.map(|v| units::round_to(v, 3));
    let finding = finding
        .with("quantile", numbers.q)
        .with("baseline_ms", units::round_to(numbers.baseline_ms, 3))
        .with("peak_ms", units::round_to(numbers.peak_ms, 3))
        .with("worst_window_ms", units::round_to(numbers.worst_ms, 3))
        .with("ratio", units::round_to(ratio, 3))
        .with("mean_baseline_ms", number(numbers.mean_baseline_ms))
        .with("mean_peak_ms", number(numbers.mean_peak_ms))
        .with("mean_ratio", number(mean_ratio))
        .with("hidden_by_mean", number(mean_ratio.map(|m| ratio / m)))
        .with("at_least", numbers.is_ceiling);
    match &numbers.counted {
        Some(c) => finding
            .with("observations", c.n.round())
            .with("slow_count", c.k.round())
            .with("slow_share", units::round_to(c.k / c.n, 6))
            .with("slow_share_baseline", units::round_to(c.usual_share, 6))
            .with("bound_ms", units::round_to(c.bound_ms, 3)),
        None => finding,
    }
}

/// Half a second more is what people wait for; under a tenth nobody notices (Nielsen 1993: 0.1 s feels instant, 1 s
/// breaks the flow).
fn severity(numbers: &Numbers, ratio: f64) -> Severity {
    let rise_ms = numbers.peak_ms - numbers.baseline_ms;
    if rise_ms < 100.0 {
        Severity::Minor
    } else if rise_ms >= 1_000.0 && ratio >= 10.0 {
        Severity::Critical
    } else {
        Severity::Major
    }
}

fn whom(candidate: &Candidate) -> String {
    let subject = &candidate.subject;
    let mut name = if subject.callee.is_empty() {
        candidate.metric.clone()
    } else {
        subject.callee.clone()
    };
    if let Some(step) = &candidate.step {
        name = format!("{step} of {name}");
    }
    if !subject.route.is_empty() {
        name = format!("{name} {}", subject.route);
    }
    if !candidate.only.is_empty() && candidate.only.len() <= 3 {
        name = format!("{name} at {}", text::join_and(&candidate.only));
    }
    if !subject.observer.is_empty() {
        name = format!("{name}, as seen at {},", subject.observer);
    }
    name
}

fn title(best: &Candidate, ratio: f64, mean_ratio: Option<f64>) -> String {
    let numbers = &best.numbers;
    let at_least = if numbers.is_ceiling { "at least " } else { "" };
    let mean = match mean_ratio {
        Some(m) if m < MEAN_IS_FLAT => format!("; the mean only {}×", units::round_to(m, 2)),
        Some(m) => format!("; the mean {}×", units::round_to(m, 2)),
        None => String::new(),
    };
    format!(
        "{} of {} rose {at_least}{}× ({} to {}){mean}",
        quantile_name(numbers.q),
        whom(best),
        units::round_to(ratio, 1),
        units::ms(numbers.baseline_ms),
        units::ms(numbers.peak_ms),
    )
}

fn detail(best: &Candidate, others: &[Candidate], ratio: f64, mean_ratio: Option<f64>) -> String {
    let numbers = &best.numbers;
    let name = quantile_name(numbers.q);
    let at_least = if numbers.is_ceiling { "at least " } else { "" };
    let mut sentences = vec![format!(
        "By {} the {name} of {} was {at_least}{} from {} {}, against {} otherwise ({}×).",
        source_name(best),
        whom(best).trim_end_matches(','),
        units::ms(numbers.peak_ms),
        best.start.to_clock(),
        best.end.map_or_else(
            || "to the end of the recording".to_owned(),
            |end| format!("to {}", end.to_clock())
        ),
        units::ms(numbers.baseline_ms),
        units::round_to(ratio, 2),
    )];
    if numbers.worst_ms > numbers.peak_ms * 1.05 {
        sentences.push(format!(
            "Its highest single window reached {}.",
            units::ms(numbers.worst_ms)
        ));
    }
    if let Some(c) = &numbers.counted {
        sentences.push(format!(
            "{} of {} took longer than {} ({}); at other times {} of {} did.",
            units::number(c.k.round()),
            units::number(c.n.round()),
            units::ms(c.bound_ms),
            units::share(c.k / c.n),
            units::share(c.usual_share),
            units::number(c.usual_n.round()),
        ));
    }
    sentences.push(mean_sentence(numbers, &name, ratio, mean_ratio));
    if !best.has_begun {
        sentences.push("It may have begun before the recording did.".to_owned());
    }
    if !best.caution.is_empty() {
        sentences.push(best.caution.clone());
    }
    for other in others {
        sentences.push(format!(
            "{} shows it too for {}: {} {} to {} from {}.",
            text_upper(&source_name(other)),
            whom(other).trim_end_matches(','),
            quantile_name(other.numbers.q),
            units::ms(other.numbers.baseline_ms),
            units::ms(other.numbers.peak_ms),
            other.start.to_clock(),
        ));
    }
    sentences.join(" ")
}

fn mean_sentence(numbers: &Numbers, name: &str, ratio: f64, mean_ratio: Option<f64>) -> String {
    let (Some(before), Some(during), Some(mean_ratio)) =
        (numbers.mean_baseline_ms, numbers.mean_peak_ms, mean_ratio)
    else {
        return "The mean is not known.".to_owned();
    };
    let verdict = if mean_ratio < MEAN_IS_FLAT {
        "a graph of the mean would not have shown it"
    } else if mean_ratio < ratio / 1.5 {
        "a graph of the mean shows it much smaller"
    } else {
        "a graph of the mean shows it as well"
    };
    format!(
        "The {name} rose {}×, the mean {}× ({} to {}): {verdict}.",
        units::round_to(ratio, 2),
        units::round_to(mean_ratio, 2),
        units::ms(before),
        units::ms(during),
    )
}

fn source_name(candidate: &Candidate) -> String {
    match candidate.source {
        Source::AccessLog => "the access log".to_owned(),
        Source::Summaries => "the list of traces".to_owned(),
        Source::Spans => "the spans".to_owned(),
        Source::Native => format!("the native histogram {}", candidate.metric),
        Source::Classic => format!("the histogram {}", candidate.metric),
        Source::Summary => format!("the summary {}", candidate.metric),
        Source::Evaluated => "the evaluated quantile".to_owned(),
    }
}

fn text_upper(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
