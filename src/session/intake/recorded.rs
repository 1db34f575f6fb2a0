//! A recording → leaves: each good answer is an input of its own, called after its source and request; each source is one
//! more, which says what falls short of it. Live and recorded are the same from here on.

use crate::base::id::sha256_hex;
use crate::base::reporter::{Reporter, Warning};
use crate::base::text::shorten;
use crate::base::time::{TimeRange, Timestamp};
use crate::formats::RequestHint;
use crate::model::exchange::Exchange;
use crate::session::bundle::{Bundle, Ending, RecordedSource};
use crate::session::intake::packing::{Loaded, load};
use crate::session::intake::parse::{Part, of_input};
use crate::session::intake::unpack::{Content, Place, Unpacker};
use crate::session::intake::walk::Problem;
use crate::session::intake::watch::Desk;
use crate::session::intake::{REFUSED, SOURCE, WindowHint};
use crate::sources::Kind as _;
use crate::sources::pprof::{Pprof, TAKEN_LATER_NANOS};

impl Unpacker<'_> {
    /// Takes a bundle apart. Its exchanges are called after their sources, wherever it lies.
    pub(super) fn recording(&mut self, place: &Place, bundle: Bundle) {
        self.windows.push(WindowHint {
            path: place.path.clone(),
            start: Some(bundle.recording.start),
            end: Some(end_of(&bundle)),
            ..WindowHint::default()
        });
        for damage in bundle.damage {
            let mut problem = Problem::lost(damage.code, damage.text);
            problem.warning.at = damage.at;
            self.push(place.clone(), Content::Problem(problem));
        }
        for source in &bundle.recording.sources {
            let ending = bundle.endings.iter().find(|e| e.source == source.name);
            self.parts
                .push(of_source(source, ending, bundle.is_finished));
        }
        for (path, bytes) in bundle.inputs {
            let inside = Place {
                location: format!("{}!/{path}", place.location),
                path,
                is_named: false,
            };
            self.bytes(inside, bytes, 1);
        }
        let window = TimeRange::new(bundle.recording.start, bundle.recording.end);
        for exchange in bundle.exchanges {
            let target = bundle
                .recording
                .sources
                .iter()
                .find(|s| s.name == exchange.source)
                .and_then(|s| host_of(s.url.as_deref()?));
            let hint = RequestHint {
                window: Some(window),
                ..hint_of(&exchange, target)
            };
            self.exchange(place, &exchange, hint);
        }
    }

    fn exchange(&mut self, place: &Place, exchange: &Exchange, hint: RequestHint) {
        let end = exchange
            .question
            .path
            .split('?')
            .next()
            .and_then(|path| path.rsplit('/').find(|part| !part.is_empty()))
            .unwrap_or_default();
        let here = Place {
            path: exchange.name(),
            location: format!("{}!/{}/{end}", place.location, exchange.key()),
            is_named: false,
        };
        if !(200..300).contains(&exchange.answer.status) {
            let problem = Problem {
                format: REFUSED,
                warning: Warning {
                    code: REFUSED.to_owned(),
                    text: refusal(exchange),
                    at: None,
                    lossy: false,
                },
            };
            return self.push(here, Content::Problem(problem));
        }
        let desk = Desk::new(self.watch, &here.path);
        match load(exchange.answer.body.to_vec(), self.limits, desk) {
            Ok(mut loaded) => {
                // A server packs as it likes; what it said is what counts.
                if loaded.was_packed {
                    loaded.sha256 = sha256_hex(&loaded.bytes);
                    loaded.was_packed = false;
                }
                if let Some(why) = &exchange.answer.cut {
                    let text = format!(
                        "the answer broke off: {why}; what came before was read, pull again for the rest"
                    );
                    loaded.log.lost("answer_cut", text, None);
                }
                self.hold_answer(here, hint, loaded);
            }
            Err(problem) => self.push(here, Content::Problem(problem)),
        }
    }

    fn hold_answer(&mut self, place: Place, hint: RequestHint, loaded: Loaded) {
        self.hold(place, loaded);
        if let Some(leaf) = self.last_leaf() {
            leaf.sidecar = None;
            leaf.request = Some(hint);
        }
    }
}

/// The end of the window; a profile that could only be taken when the window had ended (`--to now`) still lies in it.
fn end_of(bundle: &Bundle) -> Timestamp {
    let end = bundle.recording.end;
    let latest = end.plus_nanos(TAKEN_LATER_NANOS);
    let taken = |exchange: &Exchange| {
        let took = i64::try_from(exchange.took_ms).unwrap_or(0);
        exchange.at.plus_nanos(took.saturating_mul(1_000_000))
    };
    bundle
        .exchanges
        .iter()
        .filter(|e| e.kind == Pprof.id() && e.at >= bundle.recording.start)
        .map(taken)
        .filter(|t| *t <= latest)
        .map(|t| t.plus_nanos(1))
        .fold(end, Timestamp::max)
}

/// The request, as `requests.json` would give it.
fn hint_of(exchange: &Exchange, target: Option<String>) -> RequestHint {
    let question = &exchange.question;
    let is_json = question
        .content_type
        .as_deref()
        .is_some_and(|t| t.starts_with("application/json"));
    let body = question.body.as_ref().map(|text| {
        is_json
            .then(|| serde_json::from_str(text).ok())
            .flatten()
            .unwrap_or_else(|| serde_json::Value::String(text.clone()))
    });
    RequestHint {
        method: question.method.clone(),
        path: question.path.clone(),
        body,
        at: Some(exchange.at),
        http: Some(exchange.answer.status),
        ctype: exchange.answer.header("content-type").map(str::to_owned),
        target,
        is_pulled: true,
        window: None,
    }
}

/// What the server said when it refused, in one line.
fn refusal(exchange: &Exchange) -> String {
    let words = String::from_utf8_lossy(&exchange.answer.body);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let status = exchange.answer.status;
    if words.is_empty() || words.starts_with('<') {
        format!("the answer was HTTP {status}")
    } else {
        format!("the answer was HTTP {status}: {}", shorten(&words, 200))
    }
}

/// `host:port` of an address, as metrics name an instance.
fn host_of(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next()?;
    (!host.is_empty()).then(|| host.to_owned())
}

/// The line of a source in the list of inputs.
fn of_source(source: &RecordedSource, ending: Option<&Ending>, is_finished: bool) -> Part {
    let mut log = Reporter::new();
    if source.insecure_skip_verify {
        log.note(
            "insecure",
            "its certificate was not checked (insecure_skip_verify): whoever answered may not be who the address says",
            None,
        );
    }
    for told in ending.iter().flat_map(|e| &e.warnings) {
        if told.is_lossy {
            log.lost(&told.code, told.text.clone(), told.at.clone());
        } else {
            log.note(&told.code, told.text.clone(), told.at.clone());
        }
    }
    if ending.is_none() && is_finished {
        log.lost("not_asked", "nothing is known of how its pull ended", None);
    }
    let path = match &source.url {
        Some(url) => format!("{}: {} {url}", source.name, source.kind),
        None => format!("{}: {}", source.name, source.kind),
    };
    of_input(path, SOURCE, log)
}
