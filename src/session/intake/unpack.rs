//! Files, compressed files and archives → leaves.

use std::io::Read;
use std::path::PathBuf;

use crate::base::id::sha256_hex;
use crate::base::reporter::Reporter;
use crate::formats::RequestHint;
use crate::session::bundle::{self, BundleError};
use crate::session::intake::WindowHint;
use crate::session::intake::limits::Limits;
use crate::session::intake::packing::{self, Loaded, Packing, load, size};
use crate::session::intake::parse::Part;
use crate::session::intake::sidecar::{Kind, kind_of};
use crate::session::intake::walk::{Found, Problem, What};
use crate::session::intake::watch::{Desk, Watch};

/// One input, ready to be recognised.
#[derive(Debug)]
pub(super) struct Leaf {
    /// Path relative to its argument; members of archives follow after `!`.
    pub(super) path: String,
    /// Where it lies; what sidecars are joined by.
    pub(super) location: String,
    /// Whether an argument named it, or the archive that it is in.
    pub(super) is_named: bool,
    /// The request that it answers, when it is an answer; sidecars need not be asked then.
    pub(super) request: Option<RequestHint>,
    /// What kind of sidecar it looks like.
    pub(super) sidecar: Option<Kind>,
    /// Its length as it lies on disk, or in memory.
    pub(super) length: u64,
    /// Its bytes, or where they are.
    pub(super) content: Content,
}

/// The bytes of a leaf.
#[derive(Debug)]
pub(super) enum Content {
    /// In a file, perhaps compressed.
    File(PathBuf),
    /// In memory.
    Bytes(Loaded),
    /// Nothing that can be read.
    Problem(Problem),
}

/// Turns files into leaves, one after the other, so that what the limits cut off does not depend on threads.
pub(super) struct Unpacker<'a> {
    pub(super) limits: &'a Limits,
    pub(super) watch: &'a dyn Watch,
    leaves: Vec<Leaf>,
    /// Inputs that have no bytes: the sources of recordings.
    pub(super) parts: Vec<Part>,
    /// Windows of recordings.
    pub(super) windows: Vec<WindowHint>,
    held_bytes: u64,
}

/// What was found.
pub(super) struct Unpacked {
    pub(super) leaves: Vec<Leaf>,
    pub(super) parts: Vec<Part>,
    pub(super) windows: Vec<WindowHint>,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(limits: &'a Limits, watch: &'a dyn Watch) -> Self {
        Self {
            limits,
            watch,
            leaves: Vec::new(),
            parts: Vec::new(),
            windows: Vec::new(),
            held_bytes: 0,
        }
    }

    /// Everything so far.
    pub(super) fn into_unpacked(self) -> Unpacked {
        Unpacked {
            leaves: self.leaves,
            parts: self.parts,
            windows: self.windows,
        }
    }

    /// What was pushed last.
    pub(super) fn last_leaf(&mut self) -> Option<&mut Leaf> {
        self.leaves.last_mut()
    }

    /// Takes one file.
    pub(super) fn take(&mut self, found: Found, stdin: &mut dyn Read) {
        let Found {
            path,
            location,
            is_named,
            what,
        } = found;
        let place = Place {
            path,
            location,
            is_named,
        };
        if let What::Problem(problem) = what {
            return self.push(place, Content::Problem(problem));
        }
        if self.watch.is_cancelled() {
            return self.push(place, Content::Problem(Problem::not_read()));
        }
        match what {
            What::Problem(_) => {}
            What::File(file) => self.file(place, file),
            What::Stream(file) => match std::fs::File::open(&file) {
                Ok(mut open) => self.stream(place, &mut open),
                Err(error) => {
                    let why = format!("cannot read: {error}");
                    self.push(place, Content::Problem(Problem::lost("unreadable", why)));
                }
            },
            What::Stdin => self.stream(place, stdin),
        }
    }

    fn stream(&mut self, place: Place, from: &mut dyn Read) {
        let path = place.path.clone();
        self.watch.opened(&path, 0);
        let desk = Desk::new(self.watch, &path);
        match packing::stream(from, Vec::new(), self.limits, desk) {
            Ok(bytes) => self.bytes(place, bytes, 0),
            Err(problem) => self.push(place, Content::Problem(problem)),
        }
        self.watch.finished(&path, None);
    }

    fn file(&mut self, place: Place, file: PathBuf) {
        let (head, length) = match packing::head_of(&file) {
            Ok(found) => found,
            Err(problem) => return self.push(place, Content::Problem(problem)),
        };
        let outer = Packing::of(&head);
        let (inner, head) = if outer.is_stream() {
            // Damage shows again, and is told, when the whole of it is read.
            let unpacked = packing::head_within(outer, &head);
            (Packing::of(&unpacked), unpacked)
        } else {
            (outer, head)
        };
        if inner == Packing::Plain {
            let sidecar = kind_of(&place.location, &head);
            return self.push_as(place, sidecar, length, Content::File(file));
        }
        let path = place.path.clone();
        self.watch.opened(&path, length);
        let desk = Desk::new(self.watch, &path);
        match packing::raw(&file, self.limits, desk) {
            Ok(bytes) => self.bytes(place, bytes, 0),
            Err(problem) => self.push(place, Content::Problem(problem)),
        }
        self.watch.finished(&path, None);
    }

    pub(super) fn bytes(&mut self, place: Place, bytes: Vec<u8>, depth: usize) {
        if depth > self.limits.nesting {
            let why = format!(
                "packed more than {} times into one another: not read",
                self.limits.nesting
            );
            let problem = Problem::lost("nested_too_deep", why);
            return self.push(place, Content::Problem(problem));
        }
        let kind = Packing::of(&bytes);
        match kind {
            Packing::Zip if bundle::is_bundle(&bytes) => self.bundle(&place, bytes),
            Packing::Zip => self.zip(&place, bytes, depth),
            Packing::Tar => self.tar(&place, &bytes, depth),
            Packing::Gzip | Packing::Zstd => {
                let desk = Desk::new(self.watch, &place.path);
                let loaded = load(bytes, self.limits, desk);
                match loaded {
                    Ok(loaded) if Packing::of(&loaded.bytes).is_archive() => {
                        if loaded.log.is_lossy() {
                            self.damage(&place, loaded.log);
                        }
                        self.bytes(place, loaded.bytes, depth + 1);
                    }
                    Ok(loaded) => self.hold(place, loaded),
                    Err(problem) => self.push(place, Content::Problem(problem)),
                }
            }
            Packing::Plain => {
                let loaded = Loaded {
                    sha256: sha256_hex(&bytes),
                    bytes,
                    ..Loaded::default()
                };
                self.hold(place, loaded);
            }
        }
    }

    fn bundle(&mut self, place: &Place, bytes: Vec<u8>) {
        match bundle::read(&place.path, bytes, self.limits) {
            Ok(bundle) => self.recording(place, bundle),
            Err(error) => {
                let code = match error {
                    BundleError::Newer { .. } => "newer_bundle",
                    _ => "bad_bundle",
                };
                let problem = Problem::lost(code, error.to_string());
                self.push(place.clone(), Content::Problem(problem));
            }
        }
    }

    pub(super) fn hold(&mut self, place: Place, loaded: Loaded) {
        self.held_bytes = self.held_bytes.saturating_add(loaded.bytes.len() as u64);
        if self.held_bytes > self.limits.unpacked_bytes {
            self.held_bytes = self.limits.unpacked_bytes;
            let why = format!(
                "archives unpack to more than {}: this member was not read; unpack them into a folder",
                size(self.limits.unpacked_bytes)
            );
            let problem = Problem::lost("limit_unpacked", why);
            return self.push(place, Content::Problem(problem));
        }
        let sidecar = kind_of(&place.location, &loaded.bytes);
        let length = loaded.bytes.len() as u64;
        self.push_as(place, sidecar, length, Content::Bytes(loaded));
    }

    /// An archive as a whole gets a line of its own only when something was wrong with it.
    pub(super) fn damage(&mut self, place: &Place, log: Reporter) {
        for warning in log.into_warnings() {
            let problem = Problem {
                format: super::ARCHIVE,
                warning,
            };
            self.push(place.clone(), Content::Problem(problem));
        }
    }

    pub(super) fn push(&mut self, place: Place, content: Content) {
        self.push_as(place, None, 0, content);
    }

    fn push_as(&mut self, place: Place, sidecar: Option<Kind>, length: u64, content: Content) {
        self.watch.found(&place.path, length);
        self.leaves.push(Leaf {
            request: None,
            sidecar,
            length,
            path: place.path,
            location: place.location,
            is_named: place.is_named,
            content,
        });
    }
}

/// Where an input stands.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) location: String,
    pub(super) is_named: bool,
}
