//! Leaves → rows: recognises, reads, counts. Runs in parallel; nothing in here depends on the order.

use std::any::Any;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::id::sha256_hex;
use crate::base::reporter::Reporter;
use crate::base::text;
use crate::formats::prometheus::remote_read::RemoteRead;
use crate::formats::{Format, Head, Hints, NamedLogFormat, Recognised, RequestHint, recognise};
use crate::model::batch::Batch;
use crate::model::input::{Counts, Input};
use crate::session::intake::packing::{Loaded, load_file};
use crate::session::intake::sidecar::{Sidecars, file_name, unpacked_name};
use crate::session::intake::unpack::{Content, Leaf};
use crate::session::intake::walk::Problem;
use crate::session::intake::watch::{Desk, Watch};
use crate::session::intake::{Options, REFUSED, UNRECOGNISED};

/// One input with its rows.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// As the report lists it, without an id yet.
    pub(super) input: Input,
    /// Its rows.
    pub(super) batch: Batch,
    /// Whether it was recognised and read.
    pub(super) is_useful: bool,
    /// Whether something of it was lost.
    pub(super) is_lossy: bool,
    /// SHA-256 of the unpacked bytes.
    pub(super) content: String,
    /// The request that it answers.
    pub(super) request: Option<RequestHint>,
}

/// Reads one leaf.
pub(super) fn read_leaf(
    leaf: Leaf,
    sidecars: &Sidecars,
    options: &Options,
    watch: &dyn Watch,
) -> Part {
    let path = leaf.path.clone();
    let (length, is_in_memory) = (leaf.length, matches!(leaf.content, Content::Bytes(_)));
    watch.started(&path, length);
    let part = read_content(leaf, sidecars, options, Desk::new(watch, &path));
    if is_in_memory {
        watch.advanced(&path, length);
    }
    watch.finished(&path, Some(&part.input));
    part
}

fn read_content(leaf: Leaf, sidecars: &Sidecars, options: &Options, desk: Desk<'_>) -> Part {
    let request = leaf
        .request
        .or_else(|| sidecars.request(&leaf.location).cloned());
    let loaded = match leaf.content {
        Content::Problem(problem) => Err(problem),
        Content::File(_) | Content::Bytes(_) if !desk.goes_on() => Err(Problem::not_read()),
        Content::File(path) => load_file(&path, &options.limits, desk),
        Content::Bytes(loaded) => Ok(loaded),
    };
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(problem) => return of_problem(leaf.path, problem, leaf.is_named),
    };
    let mut log_formats = options.log_formats.clone();
    log_formats.extend(sidecars.log_formats(&leaf.location));
    let name = unpacked_name(file_name(&leaf.location)).to_owned();
    let mut part = read_bytes(&name, loaded, request.as_ref(), &log_formats, options);
    part.input.path = leaf.path;
    part.request = request;
    if leaf.is_named && !part.is_useful {
        mark_lost(&mut part);
    }
    part
}

impl Part {
    /// An input without rows.
    pub(super) fn empty(input: Input) -> Self {
        Self {
            is_lossy: false,
            input,
            batch: Batch::default(),
            is_useful: false,
            content: String::new(),
            request: None,
        }
    }
}

/// A part that has no rows and says what `log` holds.
pub(super) fn of_input(path: String, format: &str, log: Reporter) -> Part {
    Part {
        is_lossy: log.is_lossy(),
        ..Part::empty(Input {
            id: String::new(),
            path,
            format: format.to_owned(),
            sha256: String::new(),
            counts: Counts::default(),
            start: None,
            end: None,
            warnings: log.into_warnings(),
        })
    }
}

/// A part that says only why nothing was read.
pub(super) fn of_problem(path: String, problem: Problem, is_named: bool) -> Part {
    let is_lossy = problem.warning.lossy;
    let mut part = of_input(path, problem.format, Reporter::new());
    part.input.warnings.push(problem.warning);
    part.is_lossy = is_lossy;
    if is_named {
        mark_lost(&mut part);
    }
    part
}

/// Somebody named this very file, so that it cannot be used is a failure (`contract.md` §2, exit 5).
fn mark_lost(part: &mut Part) {
    part.is_lossy = true;
    for warning in &mut part.input.warnings {
        warning.lossy = true;
    }
}

fn read_bytes(
    name: &str,
    loaded: Loaded,
    request: Option<&RequestHint>,
    log_formats: &[NamedLogFormat],
    options: &Options,
) -> Part {
    let Loaded {
        bytes,
        sha256,
        was_packed,
        mut log,
    } = loaded;
    let content = if was_packed {
        sha256_hex(&bytes)
    } else {
        sha256.clone()
    };
    let hints = Hints {
        name,
        request,
        zone: &options.zone,
        log_formats,
    };
    let bytes = as_utf8(&bytes, &mut log);
    let mut batch = Batch::default();
    let mut is_useful = false;
    let mut format_id = UNRECOGNISED;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let why = "nothing in it: an empty recording, or a copy that failed";
        if request.is_some_and(|r| bytes.is_empty() && RemoteRead::may_be_empty(r)) {
            format_id = RemoteRead.id();
        } else if request.is_some_and(|r| r.http == Some(200)) {
            log.lost("empty", why, None);
        } else {
            log.note("empty", why, None);
        }
    } else {
        match recognise(&Head::new(&bytes), &hints) {
            Recognised::Nothing { guess } => {
                log.note("unrecognised", format!("not read: {guess}"), None);
            }
            Recognised::As(format) => {
                format_id = format.id();
                is_useful = read_as(format, &bytes, &hints, &mut batch, &mut log);
                if !is_useful && log.has(REFUSED) {
                    format_id = REFUSED;
                }
            }
        }
    }
    let extent = batch.extent();
    Part {
        is_lossy: log.is_lossy(),
        input: Input {
            id: String::new(),
            path: String::new(),
            format: format_id.to_owned(),
            sha256,
            counts: batch.counts(),
            start: extent.map(|e| e.start),
            end: extent.map(|e| e.end),
            warnings: log.into_warnings(),
        },
        batch,
        is_useful,
        content,
        request: None,
    }
}

/// Reads bytes as a format. A panic in a reader is a mistake of ours: it costs this input and no other.
fn read_as(
    format: &dyn Format,
    bytes: &[u8],
    hints: &Hints<'_>,
    batch: &mut Batch,
    log: &mut Reporter,
) -> bool {
    let outcome = catch_unwind(AssertUnwindSafe(|| format.read(bytes, hints, batch, log)));
    match outcome {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            *batch = Batch::default();
            let at = error.at.clone();
            let mut plain = error.clone();
            plain.at = None;
            log.lost(error.code, plain.to_string(), at);
            false
        }
        Err(payload) => {
            *batch = Batch::default();
            let why = format!(
                "internal error while reading this as {}: {}; this is a defect of Tailscope, please report it",
                format.title(),
                text::shorten(&panic_words(payload.as_ref()), 200)
            );
            log.lost("internal_error", why, None);
            false
        }
    }
}

pub(super) fn panic_words(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}

/// UTF-16 with its mark as UTF-8, and UTF-8 without its mark, so that no format has to know them.
fn as_utf8<'a>(bytes: &'a [u8], log: &mut Reporter) -> Cow<'a, [u8]> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return Cow::Borrowed(rest);
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        let (decoded, has_bad) = text::decode(bytes);
        if has_bad {
            let why = "some of this UTF-16 text is damaged: replaced by U+FFFD";
            log.lost("bad_encoding", why, None);
        }
        return Cow::Owned(decoded.into_owned().into_bytes());
    }
    Cow::Borrowed(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{FormatError, Sniff};

    struct Broken;

    impl Format for Broken {
        fn id(&self) -> &'static str {
            "broken"
        }
        fn title(&self) -> &'static str {
            "a reader with a defect"
        }
        fn sniff(&self, _: &Head<'_>) -> Sniff {
            Sniff::Yes(100)
        }
        fn read(
            &self,
            bytes: &[u8],
            _: &Hints<'_>,
            _: &mut Batch,
            _: &mut Reporter,
        ) -> Result<(), FormatError> {
            assert!(bytes.is_empty(), "index out of bounds");
            Ok(())
        }
    }

    #[test]
    fn a_panic_in_a_reader_costs_one_input() {
        let options = Options::default();
        let hints = Hints {
            name: "x",
            request: None,
            zone: &options.zone,
            log_formats: &[],
        };
        let mut log = Reporter::new();
        let mut batch = Batch::default();
        assert!(!read_as(&Broken, b"x", &hints, &mut batch, &mut log));
        let warnings = log.into_warnings();
        assert_eq!(warnings[0].code, "internal_error");
        assert!(warnings[0].lossy && warnings[0].text.contains("index out of bounds"));
    }

    #[test]
    fn marks_of_encodings_are_honoured() {
        let mut log = Reporter::new();
        assert_eq!(&*as_utf8(b"\xef\xbb\xbfa", &mut log), b"a");
        assert_eq!(&*as_utf8(b"\xff\xfea\0", &mut log), b"a");
        assert!(log.is_empty());
    }
}
