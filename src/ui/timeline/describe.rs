//! What lies under the pointer, in one or two lines.

use crate::base::text::shorten;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::session::target::Target;
use crate::ui::frame::Frame;
use crate::ui::timeline::axis::{self, Clock};

/// Letters of a name in a tooltip.
const LONGEST: usize = 160;

/// A target in words; `None` when it is not there (any more).
pub(super) fn target(
    frame: &Frame<'_>,
    target: &Target,
    clock: Clock<'_>,
    nanos_per_point: f64,
) -> Option<String> {
    let snapshot = frame.incident?.snapshot();
    let when = |t: Timestamp| axis::instant_text(t, clock, nanos_per_point.min(1e6));
    let text = match target {
        Target::Sample { series, t } => {
            let series = snapshot.series.get(*series)?;
            let name = shorten(&series.selector(), LONGEST);
            let sample = t.and_then(|t| {
                let at = series.t.binary_search(&t.nanos()).ok()?;
                let value = frame
                    .words
                    .units()
                    .with_unit(*series.v.get(at)?, &series.unit);
                Some(format!("\n{}   {value}", when(t)))
            });
            format!("{name}{}", sample.unwrap_or_default())
        }
        Target::Span { span } => {
            let span = snapshot.spans.get(*span)?;
            let lines = [
                format!("{} · {}", span.service, span.operation),
                when(span.start),
            ];
            timed(&lines, span.duration_ms)
        }
        Target::Summary { summary } => {
            let summary = snapshot.summaries.get(*summary)?;
            let lines = [
                shorten(&format!("{} {}", summary.entry, summary.http_url), LONGEST),
                when(summary.start),
            ];
            timed(&lines, summary.response_ms.or(summary.duration_ms))
        }
        Target::Request { request } => {
            let request = snapshot.requests.get(*request)?;
            let status = request
                .status
                .map(|s| format!("   {s}"))
                .unwrap_or_default();
            let path = shorten(&request.path, LONGEST);
            let lines = [
                format!("{} {path}{status}", request.method),
                when(request.t),
            ];
            timed(&lines, request.duration_ms)
        }
        Target::Stack { profile, .. } => {
            let profile = snapshot.profiles.get(*profile)?;
            format!(
                "{} · {}\n{}",
                profile.process,
                profile.kind,
                profile.t.map(when)?
            )
        }
        Target::Event { event } => {
            let event = snapshot.events.get(*event)?;
            format!("{}\n{}", shorten(&event.title, LONGEST), when(event.t))
        }
        Target::Finding(id) => {
            let finding = frame.incident?.finding(id)?;
            format!("{}\n{}", finding.title, when(finding.start))
        }
        Target::Own { event } => {
            let own = frame.notes.events.get(*event)?;
            let hint = frame.words.text("timeline-own-edit");
            format!(
                "{}\n{}\n{hint}",
                shorten(&own.title, LONGEST),
                when(own.start)
            )
        }
        Target::Input { input } => snapshot.inputs.get(*input)?.path.clone(),
    };
    Some(text)
}

/// The lines, with a duration after the last when there is one.
fn timed(lines: &[String], duration_ms: Option<f64>) -> String {
    let mut text = lines.join("\n");
    if let Some(ms) = duration_ms {
        text.push_str("   ");
        text.push_str(&units::ms(ms));
    }
    text
}
