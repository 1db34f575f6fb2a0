//! Members of archives → leaves, within limits, in order of their names.

use std::io::{Cursor, Read};

use crate::base::reporter::Reporter;
use crate::base::text::shorten;
use crate::session::intake::packing::{Cut, Loaded, Unpacked, bomb, pump, unpack};
use crate::session::intake::unpack::{Content, Place, Unpacker};
use crate::session::intake::walk::{Problem, is_skipped};
use crate::session::intake::watch::Desk;

impl Unpacker<'_> {
    pub(super) fn zip(&mut self, place: &Place, bytes: Vec<u8>, depth: usize) {
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
                    let sizes = (file.compressed_size(), file.size());
                    self.unpack_member(&place.path, &mut file, sizes)
                }
                Err(error) => Err(Cut::Failed(std::io::Error::other(error))),
            };
            if !self.take_member(member, read, packed, &mut total, depth) {
                break;
            }
        }
        self.damage(place, log);
    }

    pub(super) fn tar(&mut self, place: &Place, bytes: &[u8], depth: usize) {
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
            let sizes = (packed, entry.size());
            let read = self.unpack_member(&place.path, &mut entry, sizes);
            let is_cancelled = matches!(read, Err(Cut::Cancelled));
            members.push((name, read));
            if is_cancelled {
                break;
            }
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

    /// The bytes of one member, whose packed and unpacked sizes the archive claims. What claims to be large and begins
    /// like nothing that anybody could read is not unpacked.
    fn unpack_member(
        &self,
        archive: &str,
        from: &mut dyn Read,
        (packed, claimed): (u64, u64),
    ) -> Result<Member, Cut> {
        let desk = Desk::new(self.watch, archive);
        if !desk.goes_on() {
            return Err(Cut::Cancelled);
        }
        if claimed <= self.limits.ratio_from_bytes {
            let mut bytes = Vec::new();
            let limit = self.limits.allowed(0);
            pump(from, &mut bytes, limit, |_| desk.goes_on())?;
            return Ok(Member::Whole(bytes));
        }
        match unpack(from, packed, self.limits, desk)? {
            Unpacked::Whole(bytes) => Ok(Member::Whole(bytes)),
            Unpacked::Head(head) => Ok(Member::Head(head)),
            Unpacked::Damaged(_, error) => Err(Cut::Failed(error)),
        }
    }

    /// Takes the bytes of a member; `false` when no more of this archive shall be read.
    fn take_member(
        &mut self,
        member: Place,
        read: Result<Member, Cut>,
        packed: u64,
        total: &mut u64,
        depth: usize,
    ) -> bool {
        match read {
            Ok(Member::Whole(bytes)) => {
                *total += bytes.len() as u64;
                if *total > self.limits.allowed(packed) {
                    let problem = bomb(packed, self.limits);
                    self.push(member, Content::Problem(problem));
                    return false;
                }
                self.bytes(member, bytes, depth + 1);
            }
            Ok(Member::Head(head)) => self.hold(member, Loaded::head(head)),
            Err(Cut::Limit) => {
                let problem = bomb(packed, self.limits);
                self.push(member, Content::Problem(problem));
            }
            Err(Cut::Cancelled) => {
                self.push(member, Content::Problem(Problem::not_read()));
                return false;
            }
            Err(Cut::Failed(error)) => {
                let why = format!("this member cannot be unpacked: {error}");
                self.push(member, Content::Problem(Problem::lost("bad_member", why)));
            }
        }
        true
    }
}

/// What there is of a member of an archive.
#[derive(Debug)]
enum Member {
    /// All of it.
    Whole(Vec<u8>),
    /// Its beginning, which nobody can read.
    Head(Vec<u8>),
}
