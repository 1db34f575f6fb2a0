//! Arguments → rows: walks folders, unpacks archives, joins sidecars, recognises and reads.
//!
//! The same files give the same result in whatever order they were named and with any number of threads. Everything
//! that was found is listed, with what became of it; nothing is left out silently, except hidden files.

mod archive;
mod limits;
mod packing;
mod parse;
mod reading;
mod recorded;
mod sidecar;
mod unpack;
mod walk;
mod watch;

pub use limits::Limits;
pub use reading::Reading;
pub use sidecar::WindowHint;
pub use watch::{Unwatched, Watch};

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

use rayon::prelude::*;

use crate::base::id::stable_id;
use crate::base::reporter::{Reporter, Warning};
use crate::base::time::Zone;
use crate::formats::NamedLogFormat;
use crate::model::batch::Batch;
use crate::model::input::{Counts, Input};
use crate::session::bundle::Bundle;
use crate::session::intake::packing::load_file;
use crate::session::intake::parse::{Part, read_leaf};
use crate::session::intake::sidecar::Sidecars;
use crate::session::intake::unpack::{Content, Leaf, Place, Unpacked, Unpacker};
use crate::session::intake::watch::Desk;

/// `inputs[].format` of what nobody recognises.
pub const UNRECOGNISED: &str = "unrecognised";
/// `inputs[].format` of what could not be opened or was too much.
pub const UNREADABLE: &str = "unreadable";
/// `inputs[].format` of files that say something about the files beside them.
pub const SIDECAR: &str = "sidecar";
/// `inputs[].format` of an archive that something was wrong with; its members stand for themselves.
pub const ARCHIVE: &str = "archive";
/// `inputs[].format` of what was found and, since the reading was stopped, not read.
pub const NOT_READ: &str = "not_read";
/// `inputs[].format` of a live source, which says how its pull ended; what it answered stands beside it.
pub const SOURCE: &str = "source";
/// `inputs[].format` of an answer that says no (404, 401, 500).
pub const REFUSED: &str = "refused";
/// `inputs[].format` of a second copy.
pub const DUPLICATE: &str = "duplicate";

/// How to read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The zone of civil times that carry none.
    pub zone: Zone,
    /// Formats of log lines that were given by hand.
    pub log_formats: Vec<NamedLogFormat>,
    /// When to stop.
    pub limits: Limits,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Intake {
    /// Every input with its rows, by path.
    pub parts: Vec<(Input, Batch)>,
    /// What `window.json` says, the shallowest one.
    pub window: Option<WindowHint>,
    /// Whether an input that was recognised, or that was named, could not be read whole.
    pub is_partial: bool,
    /// Whether anything was recognised and read.
    pub is_useful: bool,
    /// Whether somebody stopped the reading before all was read.
    pub is_cut: bool,
}

/// Reads everything that the arguments name: folders, files, patterns, and `-` for `stdin`. [`Reading`] does the same
/// beside the caller.
pub fn read(arguments: &[PathBuf], options: &Options, stdin: &mut dyn Read) -> Intake {
    read_gathered(gather(arguments, options, stdin, &Unwatched), options)
}

/// Reads what was just pulled. A bundle of it gives the same, to the byte.
pub fn read_recording(bundle: Bundle, options: &Options) -> Intake {
    let mut unpacker = Unpacker::new(&options.limits, &Unwatched);
    let place = Place {
        path: String::new(),
        location: String::new(),
        is_named: true,
    };
    unpacker.recording(&place, bundle);
    read_gathered(gathered(unpacker, options, &Unwatched), options)
}

fn read_gathered(gathered: Gathered, options: &Options) -> Intake {
    let mut parts = gathered.parts;
    parts.par_extend(
        gathered
            .leaves
            .into_par_iter()
            .map(|leaf| read_leaf(leaf, &gathered.sidecars, options, &Unwatched)),
    );
    finish(parts, &gathered.sidecars.windows)
}

/// What was found, before it is read.
struct Gathered {
    /// Sidecars, which are read already.
    parts: Vec<Part>,
    /// The rest.
    leaves: Vec<Leaf>,
    /// What the sidecars say.
    sidecars: Sidecars,
}

fn gather(
    arguments: &[PathBuf],
    options: &Options,
    stdin: &mut dyn Read,
    watch: &dyn Watch,
) -> Gathered {
    let mut unpacker = Unpacker::new(&options.limits, watch);
    for found in walk::files(arguments, &options.limits, watch) {
        unpacker.take(found, stdin);
    }
    gathered(unpacker, options, watch)
}

fn gathered(unpacker: Unpacker<'_>, options: &Options, watch: &dyn Watch) -> Gathered {
    let Unpacked {
        leaves,
        parts: mut sources,
        windows,
    } = unpacker.into_unpacked();
    let mut sidecars = Sidecars::new(leaves.iter().map(|leaf| leaf.location.as_str()));
    sidecars.windows.extend(windows);
    let (mut parts, leaves) = take_sidecars(leaves, &mut sidecars, options, watch);
    parts.append(&mut sources);
    Gathered {
        parts,
        leaves,
        sidecars,
    }
}

/// Puts what was read in order. The order of `parts` does not matter.
fn finish(mut parts: Vec<Part>, windows: &[WindowHint]) -> Intake {
    parts.sort_by(|a, b| (&a.input.path, &a.input.sha256).cmp(&(&b.input.path, &b.input.sha256)));
    drop_copies(&mut parts);
    name_inputs(&mut parts);
    note_far_clocks(&mut parts);
    Intake {
        window: windows
            .iter()
            .min_by_key(|w| (w.path.matches(['/', '!']).count(), &w.path))
            .cloned(),
        is_partial: parts.iter().any(|p| p.is_lossy),
        is_useful: parts.iter().any(|p| p.is_useful),
        is_cut: parts.iter().any(|p| p.input.format == NOT_READ),
        parts: parts.into_iter().map(|p| (p.input, p.batch)).collect(),
    }
}

/// Reads the sidecars first, since they say how to read the rest.
fn take_sidecars(
    leaves: Vec<Leaf>,
    sidecars: &mut Sidecars,
    options: &Options,
    watch: &dyn Watch,
) -> (Vec<Part>, Vec<Leaf>) {
    let mut parts = Vec::new();
    let mut rest = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        let Some(kind) = leaf.sidecar else {
            rest.push(leaf);
            continue;
        };
        let mut log = Reporter::new();
        let taken = match &leaf.content {
            Content::Problem(_) => None,
            Content::Bytes(loaded) => sidecars
                .take(kind, &leaf.path, &leaf.location, &loaded.bytes, &mut log)
                .map(|()| loaded.sha256.clone()),
            Content::File(path) => {
                let limits = Limits {
                    input_bytes: options.limits.sidecar_bytes,
                    ..options.limits
                };
                // What is too large to be a sidecar may still be an input.
                let desk = Desk::new(watch, &leaf.path);
                load_file(path, &limits, desk).ok().and_then(|loaded| {
                    sidecars
                        .take(kind, &leaf.path, &leaf.location, &loaded.bytes, &mut log)
                        .map(|()| loaded.sha256)
                })
            }
        };
        match taken {
            None => rest.push(leaf),
            Some(sha256) => {
                let input = Input {
                    id: String::new(),
                    path: leaf.path,
                    format: SIDECAR.to_owned(),
                    sha256,
                    counts: Counts::default(),
                    start: None,
                    end: None,
                    warnings: log.clone().into_warnings(),
                };
                watch.finished(&input.path, Some(&input));
                parts.push(Part {
                    is_lossy: log.is_lossy(),
                    ..Part::empty(input)
                });
            }
        }
    }
    (parts, rest)
}

/// Of inputs with the same content (and the same request, and the same time in their names) the first is kept.
fn drop_copies(parts: &mut [Part]) {
    let mut first: BTreeMap<(String, String, String), String> = BTreeMap::new();
    for part in parts.iter_mut().filter(|p| p.is_useful) {
        let request = part.request.as_ref().map(|r| format!("{r:?}"));
        let key = (
            part.content.clone(),
            request.unwrap_or_default(),
            moment_of(part),
        );
        let Some(original) = first.get(&key) else {
            first.insert(key, part.input.path.clone());
            continue;
        };
        let text = format!(
            "the same content as {original}, read once (as {})",
            part.input.format
        );
        part.batch = Batch::default();
        part.input.counts = Counts::default();
        part.input.start = None;
        part.input.end = None;
        DUPLICATE.clone_into(&mut part.input.format);
        part.input.warnings = vec![Warning {
            code: DUPLICATE.to_owned(),
            text,
            at: None,
            lossy: false,
        }];
        part.is_lossy = false;
    }
}

/// What a file's name says of its moment. Dumps carry theirs nowhere else, and an idle process dumps the same text
/// twice (`t0-before`, `t2-after`), so of dumps the whole name counts; of others the digits that may be a time.
fn moment_of(part: &Part) -> String {
    let name = sidecar::unpacked_name(sidecar::file_name(&part.input.path));
    let is_dump = part.batch.profiles.iter().any(|p| p.t_source != "recorded");
    if is_dump {
        return name.to_owned();
    }
    name.split(|c: char| !c.is_ascii_digit())
        .filter(|run| run.len() >= 6)
        .collect::<Vec<_>>()
        .join("-")
}

fn name_inputs(parts: &mut [Part]) {
    let mut used = BTreeSet::new();
    for part in parts {
        let mut copy = 0u32;
        let id = loop {
            let suffix = if copy == 0 {
                String::new()
            } else {
                copy.to_string()
            };
            let id = stable_id("in", [&*part.input.path, &part.input.sha256, &suffix]);
            if used.insert(id.clone()) {
                break id;
            }
            copy += 1;
        };
        part.input.id = id;
    }
}

/// Inputs whose times lie further than this from all others are told of: no incident is recorded like that, clocks that
/// are off and milliseconds taken for seconds are.
const FAR_NANOS: i64 = 180 * 86_400 * 1_000_000_000;

/// The code of the warning that [`note_far_clocks`] gives.
pub const FAR_CODE: &str = "far_from_others";

fn note_far_clocks(parts: &mut [Part]) {
    let mut ranges: Vec<(i64, i64, usize)> = parts
        .iter()
        .enumerate()
        .filter_map(|(ix, p)| Some((p.input.start?.nanos(), p.input.end?.nanos(), ix)))
        .collect();
    ranges.sort_unstable();
    let mut groups: Vec<(i64, Vec<usize>)> = Vec::new();
    for (start, end, ix) in ranges {
        match groups.last_mut() {
            Some((last, members)) if start.saturating_sub(*last) < FAR_NANOS => {
                *last = end.max(*last);
                members.push(ix);
            }
            _ => groups.push((end, vec![ix])),
        }
    }
    // The largest group is the incident; of equals the latest.
    let main = groups
        .iter()
        .enumerate()
        .max_by_key(|(at, (_, members))| (members.len(), *at))
        .map(|(at, _)| at);
    for (at, (_, members)) in groups.iter().enumerate() {
        if Some(at) == main {
            continue;
        }
        for ix in members {
            let Some(part) = parts.get_mut(*ix) else {
                continue;
            };
            part.input.warnings.push(Warning {
                code: FAR_CODE.to_owned(),
                text: "its times lie more than half a year from those of the other inputs: a clock that is off, or milliseconds where seconds were due? It was read, and does not widen the window; use --from and --to to look there".to_owned(),
                at: part.input.start.map(|t| t.to_rfc3339()),
                lossy: false,
            });
        }
    }
}

/// What went wrong with inputs that were lost, one line each.
pub fn failures(inputs: &[Input]) -> impl Iterator<Item = (&Input, &Warning)> {
    inputs
        .iter()
        .flat_map(|i| i.warnings.iter().filter(|w| w.lossy).map(move |w| (i, w)))
}

#[cfg(test)]
mod tests;
