//! Compressed files and archives → leaves. What is packed is recognised from its first bytes, never from its name.

use std::io::{Cursor, Read};
use std::path::PathBuf;

use crate::base::fs;
use crate::base::id::sha256_hex;
use crate::base::reporter::Reporter;
use crate::base::text::shorten;
use crate::formats::head::HEAD_BYTES;
use crate::session::intake::limits::Limits;
use crate::session::intake::sidecar::{Kind, kind_of};
use crate::session::intake::walk::{Found, Problem, What, is_skipped};

/// One input, ready to be recognised.
#[derive(Debug)]
pub(super) struct Leaf {
    /// Path relative to its argument; members of archives follow after `!`.
    pub(super) path: String,
    /// Where it lies; what sidecars are joined by.
    pub(super) location: String,
    /// Whether an argument named it, or the archive that it is in.
    pub(super) is_named: bool,
    /// What kind of sidecar it looks like.
    pub(super) sidecar: Option<Kind>,
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

/// Unpacked bytes and what happened on the way.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// Unpacked.
    pub(super) bytes: Vec<u8>,
    /// SHA-256 of the bytes as they were found.
    pub(super) sha256: String,
    /// Whether they were found compressed, so that `sha256` is not that of `bytes`.
    pub(super) was_packed: bool,
    /// What was lost.
    pub(super) log: Reporter,
}

/// What packs bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
    Zip,
    Tar,
}

fn packing(head: &[u8]) -> Packing {
    if head.starts_with(&[0x1f, 0x8b, 8]) {
        Packing::Gzip
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Packing::Zstd
    } else if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        Packing::Zip
    } else if head.get(257..262) == Some(b"ustar") {
        Packing::Tar
    } else {
        Packing::Plain
    }
}

/// Turns files into leaves, one after the other, so that what the limits cut off does not depend on threads.
pub(super) struct Unpacker<'a> {
    limits: &'a Limits,
    leaves: Vec<Leaf>,
    held_bytes: u64,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            leaves: Vec::new(),
            held_bytes: 0,
        }
    }

    /// All leaves so far.
    pub(super) fn into_leaves(self) -> Vec<Leaf> {
        self.leaves
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
        match what {
            What::Problem(problem) => self.push(place, Content::Problem(problem)),
            What::File(file) => self.file(place, file),
            What::Stream(file) => match fs::read_up_to(&file, self.limits.input_bytes) {
                Ok((bytes, is_more)) => self.stream(place, bytes, is_more),
                Err(error) => self.unreadable(place, &error),
            },
            What::Stdin => {
                let limit = self.limits.input_bytes;
                let mut bytes = Vec::new();
                match stdin.take(limit.saturating_add(1)).read_to_end(&mut bytes) {
                    Ok(_) => {
                        let is_more = bytes.len() as u64 > limit;
                        self.stream(place, bytes, is_more);
                    }
                    Err(error) => {
                        let problem = Problem::lost(
                            "unreadable",
                            format!("cannot read standard input: {error}"),
                        );
                        self.push(place, Content::Problem(problem));
                    }
                }
            }
        }
    }

    fn stream(&mut self, place: Place, bytes: Vec<u8>, is_more: bool) {
        if is_more {
            let problem = too_large(self.limits.input_bytes);
            return self.push(place, Content::Problem(problem));
        }
        self.bytes(place, bytes, 0);
    }

    fn unreadable(&mut self, place: Place, error: &fs::FsError) {
        let why = match error {
            fs::FsError::Read { source, .. } | fs::FsError::Write { source, .. } => {
                format!("cannot read: {source}")
            }
        };
        self.push(place, Content::Problem(Problem::lost("unreadable", why)));
    }

    fn file(&mut self, place: Place, file: PathBuf) {
        let head = match fs::read_up_to(&file, HEAD_BYTES as u64) {
            Ok((head, _)) => head,
            Err(error) => return self.unreadable(place, &error),
        };
        let (inner, head) = match packing(&head) {
            outer @ (Packing::Gzip | Packing::Zstd) => {
                let mut unpacked = Vec::new();
                // Damage shows again, and is told, when the whole of it is read.
                drop(
                    decoder(outer, &head)
                        .map(|d| d.take(HEAD_BYTES as u64).read_to_end(&mut unpacked)),
                );
                (packing(&unpacked), unpacked)
            }
            outer => (outer, head),
        };
        if inner == Packing::Plain {
            let sidecar = kind_of(&place.location, &head);
            return self.push_as(place, sidecar, Content::File(file));
        }
        match fs::read_up_to(&file, self.limits.input_bytes) {
            Ok((_, true)) => {
                let problem = too_large(self.limits.input_bytes);
                self.push(place, Content::Problem(problem));
            }
            Ok((bytes, false)) => self.bytes(place, bytes, 0),
            Err(error) => self.unreadable(place, &error),
        }
    }

    fn bytes(&mut self, place: Place, bytes: Vec<u8>, depth: usize) {
        if depth > self.limits.nesting {
            let why = format!(
                "packed more than {} times into one another: not read",
                self.limits.nesting
            );
            let problem = Problem::lost("nested_too_deep", why);
            return self.push(place, Content::Problem(problem));
        }
        match packing(&bytes) {
            Packing::Zip => self.zip(&place, bytes, depth),
            Packing::Tar => self.tar(&place, &bytes, depth),
            Packing::Gzip | Packing::Zstd => match load(bytes, self.limits) {
                Ok(loaded) if matches!(packing(&loaded.bytes), Packing::Zip | Packing::Tar) => {
                    if loaded.log.is_lossy() {
                        self.damage(&place, loaded.log);
                    }
                    self.bytes(place, loaded.bytes, depth + 1);
                }
                Ok(loaded) => self.hold(place, loaded),
                Err(problem) => self.push(place, Content::Problem(problem)),
            },
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

    fn hold(&mut self, place: Place, loaded: Loaded) {
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
        self.push_as(place, sidecar, Content::Bytes(loaded));
    }

    /// An archive as a whole gets a line of its own only when something was wrong with it.
    fn damage(&mut self, place: &Place, log: Reporter) {
        for warning in log.into_warnings() {
            let problem = Problem {
                format: super::ARCHIVE,
                warning,
            };
            self.push(place.clone(), Content::Problem(problem));
        }
    }

    fn zip(&mut self, place: &Place, bytes: Vec<u8>, depth: usize) {
        let packed = bytes.len() as u64;
        let mut log = Reporter::new();
        let mut archive = match zip::ZipArchive::new(Cursor::new(bytes)) {
            Ok(archive) => archive,
            Err(error) => {
                log.lost(
                    "bad_archive",
                    format!("not a whole zip archive: {error}; copy it again"),
                    None,
                );
                return self.damage(place, log);
            }
        };
        if archive.has_overlapping_entries().unwrap_or(false) {
            log.lost(
                "unsafe_archive",
                "members of this zip archive overlap, as in a decompression bomb: not read",
                None,
            );
            return self.damage(place, log);
        }
        let is_document = archive.index_for_name("[Content_Types].xml").is_some()
            || archive.index_for_name("META-INF/MANIFEST.MF").is_some();
        if is_document {
            let why = "an office document or a Java archive: not an archive of recordings";
            let problem = Problem::note("unrecognised", why);
            return self.push(place.clone(), Content::Problem(problem));
        }
        let mut order: Vec<(String, usize)> = (0..archive.len())
            .map(|at| {
                let name = archive.name_for_index(at).and_then(Result::ok);
                (name.map_or_else(String::new, |n| n.into_owned()), at)
            })
            .collect();
        order.sort();
        let mut total = 0;
        for (count, (name, at)) in order.into_iter().enumerate() {
            if name.ends_with('/') {
                continue;
            }
            let Some(member) = self.member(place, &name, count, &mut log) else {
                continue;
            };
            let read = match archive.by_index(at) {
                Ok(file) if file.is_symlink() => {
                    log.note("link_in_archive", "a link: not followed", Some(name));
                    continue;
                }
                Ok(mut file) => {
                    let allowed = self.limits.allowed(file.compressed_size());
                    read_limited(&mut file, allowed)
                }
                Err(error) => Err(std::io::Error::other(error)),
            };
            if !self.take_member(member, read, packed, &mut total, depth) {
                break;
            }
        }
        self.damage(place, log);
    }

    fn tar(&mut self, place: &Place, bytes: &[u8], depth: usize) {
        let packed = bytes.len() as u64;
        let mut log = Reporter::new();
        let mut archive = tar::Archive::new(bytes);
        let mut members = Vec::new();
        let entries = match archive.entries() {
            Ok(entries) => entries,
            Err(error) => {
                log.lost("bad_archive", format!("not a tar archive: {error}"), None);
                return self.damage(place, log);
            }
        };
        for (count, entry) in entries.enumerate() {
            let mut entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let why = format!("the tar archive breaks off or is damaged: {error}");
                    log.lost("bad_archive", why, Some(format!("member {}", count + 1)));
                    break;
                }
            };
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let kind = entry.header().entry_type();
            if kind.is_symlink() || kind.is_hard_link() {
                log.note("link_in_archive", "a link: not followed", Some(name));
                continue;
            }
            if !(kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse()) {
                continue;
            }
            if count > self.limits.members {
                self.member(place, &name, count, &mut log);
                break;
            }
            let allowed = self.limits.allowed(packed);
            let read = read_limited(&mut entry, allowed);
            members.push((name, read));
        }
        members.sort_by(|a, b| a.0.cmp(&b.0));
        let mut total = 0;
        for (name, read) in members {
            let Some(member) = self.member(place, &name, 0, &mut log) else {
                continue;
            };
            if !self.take_member(member, read, packed, &mut total, depth) {
                break;
            }
        }
        self.damage(place, log);
    }

    /// The place of a member, unless it is not to be read.
    fn member(
        &self,
        archive: &Place,
        name: &str,
        count: usize,
        log: &mut Reporter,
    ) -> Option<Place> {
        if count >= self.limits.members {
            if count == self.limits.members {
                let why = format!(
                    "more than {} members: the rest was not read; unpack it into a folder",
                    self.limits.members
                );
                log.lost("limit_members", why, Some(shorten(name, 120)));
            }
            return None;
        }
        let name = name.strip_prefix("./").unwrap_or(name);
        let is_unsafe = name.starts_with('/')
            || name.contains(['\\', '\0'])
            || name.split('/').any(|part| part == "..")
            || name.as_bytes().get(1) == Some(&b':');
        if is_unsafe {
            let why = "a member with an unsafe name (absolute, or with `..`): refused";
            log.lost("unsafe_name", why, Some(shorten(name, 120)));
            return None;
        }
        if name.is_empty() || name.split('/').any(is_skipped) {
            return None;
        }
        Some(Place {
            path: format!("{}!{name}", archive.path),
            location: format!("{}!/{name}", archive.location),
            is_named: false,
        })
    }

    /// Takes the bytes of a member; `false` when no more of this archive shall be read.
    fn take_member(
        &mut self,
        member: Place,
        read: std::io::Result<(Vec<u8>, bool)>,
        packed: u64,
        total: &mut u64,
        depth: usize,
    ) -> bool {
        match read {
            Ok((bytes, false)) => {
                *total += bytes.len() as u64;
                if *total > self.limits.allowed(packed) {
                    let problem = bomb(packed, self.limits);
                    self.push(member, Content::Problem(problem));
                    return false;
                }
                self.bytes(member, bytes, depth + 1);
            }
            Ok((_, true)) => {
                let problem = bomb(packed, self.limits);
                self.push(member, Content::Problem(problem));
            }
            Err(error) => {
                let why = format!("this member cannot be unpacked: {error}");
                self.push(member, Content::Problem(Problem::lost("bad_member", why)));
            }
        }
        true
    }

    fn push(&mut self, place: Place, content: Content) {
        self.push_as(place, None, content);
    }

    fn push_as(&mut self, place: Place, sidecar: Option<Kind>, content: Content) {
        self.leaves.push(Leaf {
            sidecar,
            path: place.path,
            location: place.location,
            is_named: place.is_named,
            content,
        });
    }
}

#[derive(Debug, Clone)]
struct Place {
    path: String,
    location: String,
    is_named: bool,
}

/// Unpacks what is compressed, however often, up to the limits. What was unpacked before damage is kept.
pub(super) fn load(bytes: Vec<u8>, limits: &Limits) -> Result<Loaded, Problem> {
    let mut loaded = Loaded {
        sha256: sha256_hex(&bytes),
        bytes,
        ..Loaded::default()
    };
    for _ in 0..=limits.nesting {
        let outer = packing(&loaded.bytes);
        if !matches!(outer, Packing::Gzip | Packing::Zstd) {
            return Ok(loaded);
        }
        let packed = loaded.bytes.len() as u64;
        let mut unpacked = Vec::new();
        let outcome = decoder(outer, &loaded.bytes).and_then(|d| {
            d.take(limits.allowed(packed).saturating_add(1))
                .read_to_end(&mut unpacked)
        });
        if unpacked.len() as u64 > limits.allowed(packed) {
            return Err(bomb(packed, limits));
        }
        if let Err(error) = outcome {
            if unpacked.is_empty() {
                let why = format!(
                    "damaged or cut-off compression, nothing of it can be read: {error}; copy it again"
                );
                return Err(Problem::lost("bad_compression", why));
            }
            loaded.log.lost(
                "bad_compression",
                format!("the compressed data break off or are damaged: {error}; what came before was read"),
                Some(format!("byte {} of the unpacked data", unpacked.len())),
            );
        }
        loaded.bytes = unpacked;
        loaded.was_packed = true;
    }
    let why = format!(
        "compressed more than {} times over: not read",
        limits.nesting
    );
    Err(Problem::lost("nested_too_deep", why))
}

fn decoder(packing: Packing, bytes: &[u8]) -> std::io::Result<Box<dyn Read + '_>> {
    Ok(match packing {
        Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?),
        Packing::Plain | Packing::Zip | Packing::Tar => Box::new(bytes),
    })
}

fn read_limited(from: &mut dyn Read, limit: u64) -> std::io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    let is_more = bytes.len() as u64 > limit;
    Ok((bytes, is_more))
}

fn bomb(packed: u64, limits: &Limits) -> Problem {
    let why = format!(
        "{} unpack to more than {}: taken for a decompression bomb and not read; unpack it yourself if it is none",
        size(packed),
        size(limits.allowed(packed))
    );
    Problem::lost("limit_ratio", why)
}

pub(super) fn too_large(limit: u64) -> Problem {
    let why = format!("larger than {}: not read; cut it into parts", size(limit));
    Problem::lost("limit_size", why)
}

fn size(bytes: u64) -> String {
    crate::base::units::bytes(bytes as f64)
}
