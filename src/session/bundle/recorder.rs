//! Writing a bundle while it comes in.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::base::fs::{self, FsError};
use crate::base::id::sha256_hex;
use crate::model::exchange::Exchange;
use crate::session::bundle::append::{Directory, prepare};
use crate::session::bundle::{
    BundleError, Ending, Entry, Generator, Head, MANIFEST, Manifest, OPENING, Recording, SCHEMA,
    Window, check_schema, part_of,
};

/// A bundle that is being written. What [`Recorder::keep`] returned from is in the file, whatever happens to this process.
#[derive(Debug)]
pub struct Recorder {
    target: PathBuf,
    part: PathBuf,
    file: File,
    directory: Directory,
    entries: Vec<Entry>,
    names: BTreeSet<String>,
    recording: Recording,
    /// What an earlier, unfinished recording left, by key: good answers only.
    earlier: BTreeMap<String, Exchange>,
}

impl Recorder {
    /// Begins a bundle that shall be called `target`, or goes on with the one that was left unfinished there.
    ///
    /// # Errors
    /// When the file cannot be written, is being written by another process, or holds an unfinished recording of something
    /// else.
    pub fn begin(target: &Path, recording: Recording) -> Result<Self, BundleError> {
        let part = part_of(target);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&part)
            .map_err(|source| write_error(&part, source))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(BundleError::Busy {
                    name: part.display().to_string(),
                });
            }
            // Without locks on this file system, nobody else can be told apart.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut recorder = Self {
            target: target.to_owned(),
            part,
            file,
            directory: Directory::default(),
            entries: Vec::new(),
            names: BTreeSet::new(),
            recording,
            earlier: BTreeMap::new(),
        };
        recorder.recover()?;
        if recorder.names.is_empty() {
            let opening = to_json(&recorder.recording);
            recorder.put(OPENING, &opening, false)?;
        }
        Ok(recorder)
    }

    /// Takes over what is there, and cuts off what is not a whole entry.
    fn recover(&mut self) -> Result<(), BundleError> {
        let bytes = fs::read(&self.part)?;
        let mut found: Vec<(String, Vec<u8>)> = Vec::new();
        let mut directory = Directory::recover(&bytes, |name, body| {
            found.push((name.to_owned(), body));
        });
        if found.last().is_some_and(|(name, _)| name == MANIFEST) {
            // It was whole but for its name; the manifest is written anew.
            found.pop();
            directory.drop_last();
        }
        if bytes.is_empty() || found.is_empty() {
            self.truncate(0)?;
            return Ok(());
        }
        drop(bytes);
        self.truncate(directory.end())?;
        self.directory = directory;
        let mut body = Vec::new();
        for (name, content) in found {
            self.list(&name, &content);
            if name == OPENING {
                self.check_same(&content)?;
            } else if let Some(head) = name
                .strip_suffix(".json")
                .and_then(|_| serde_json::from_slice::<Head>(&content).ok())
            {
                let exchange = head.with_body(std::mem::take(&mut body));
                let status = exchange.answer.status;
                if (200..300).contains(&status) && exchange.answer.cut.is_none() {
                    self.earlier.insert(exchange.key(), exchange);
                }
            } else {
                body = content;
            }
        }
        Ok(())
    }

    fn check_same(&self, opening: &[u8]) -> Result<(), BundleError> {
        let name = self.part.display().to_string();
        let left: Recording =
            serde_json::from_slice(opening).map_err(|error| BundleError::Not {
                name: name.clone(),
                why: format!("its first entry cannot be read: {error}"),
            })?;
        check_schema(&name, &left.schema)?;
        if (left.start, left.end) != (self.recording.start, self.recording.end) {
            let what = format!("{} to {}", left.start.to_rfc3339(), left.end.to_rfc3339());
            return Err(BundleError::Other { name, what });
        }
        if left.sources != self.recording.sources {
            let names: Vec<String> = left
                .sources
                .iter()
                .map(|s| format!("{} ({})", s.name, s.url.as_deref().unwrap_or(&s.kind)))
                .collect();
            let what = format!("the sources {}", names.join(", "));
            return Err(BundleError::Other { name, what });
        }
        Ok(())
    }

    /// A good answer to the same question that an unfinished recording left.
    pub fn earlier(&self, key: &str) -> Option<&Exchange> {
        self.earlier.get(key)
    }

    /// How many good answers an unfinished recording left.
    pub fn earlier_count(&self) -> usize {
        self.earlier.len()
    }

    /// Appends one exchange: body first, so that a head means that all of it is there.
    ///
    /// # Errors
    /// When the file cannot be written (the disk is full): what was kept before is still good.
    pub fn keep(&mut self, exchange: &Exchange) -> Result<(), BundleError> {
        let stem = self.free_stem(&exchange.source, &exchange.key());
        let header = |name: &str| exchange.answer.header(name);
        // Chunks of Prometheus are as small as they get: packing them again takes longer than sending them did.
        let is_packed = header("content-encoding").is_some()
            || header("content-type").is_some_and(|kind| kind.contains("streamed-protobuf"));
        self.put(&format!("{stem}.body"), &exchange.answer.body, is_packed)?;
        self.put(
            &format!("{stem}.json"),
            &to_json(&Head::of(exchange)),
            false,
        )
    }

    /// Appends a file that belongs to the incident; `path` is what the report will call it.
    ///
    /// # Errors
    /// As [`Recorder::keep`].
    pub fn add(&mut self, path: &str, bytes: &[u8]) -> Result<(), BundleError> {
        let name = format!("inputs/{path}");
        if self.names.contains(&name) {
            return Ok(());
        }
        self.put(&name, bytes, false)
    }

    /// Writes manifest and directory, and gives the file its name.
    ///
    /// # Errors
    /// As [`Recorder::keep`]; the part stays.
    pub fn finish(mut self, mut endings: Vec<Ending>) -> Result<(), BundleError> {
        endings.sort_by(|a, b| a.source.cmp(&b.source));
        let manifest = Manifest {
            schema: SCHEMA.to_owned(),
            generator: Generator {
                name: env!("CARGO_PKG_NAME").to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            window: Window {
                start: self.recording.start,
                end: self.recording.end,
            },
            sources: self.recording.sources.clone(),
            endings,
            entries: std::mem::take(&mut self.entries),
        };
        self.put(MANIFEST, &to_json(&manifest), false)?;
        let directory = std::mem::take(&mut self.directory);
        directory
            .close(&mut self.file)
            .and_then(|()| self.file.sync_all())
            .map_err(|source| write_error(&self.part, source))?;
        std::fs::rename(&self.part, &self.target)
            .map_err(|source| write_error(&self.target, source))
    }

    fn put(&mut self, name: &str, body: &[u8], is_packed: bool) -> Result<(), BundleError> {
        let prepared = prepare(name, body, is_packed).ok_or_else(|| {
            let why = std::io::Error::other(format!("{name} has 4 GiB or more"));
            write_error(&self.part, why)
        })?;
        let end = self.directory.end();
        if let Err(source) = self.directory.append(prepared, &mut self.file) {
            // Half an entry would hide whatever came after it.
            self.truncate(end)?;
            return Err(write_error(&self.part, source));
        }
        self.list(name, body);
        Ok(())
    }

    fn list(&mut self, name: &str, body: &[u8]) {
        self.names.insert(name.to_owned());
        self.entries.push(Entry {
            name: name.to_owned(),
            bytes: body.len() as u64,
            sha256: sha256_hex(body),
        });
    }

    fn truncate(&mut self, end: u64) -> Result<(), BundleError> {
        self.file
            .set_len(end)
            .and_then(|()| self.file.seek(SeekFrom::Start(end)))
            .and_then(|_| self.file.flush())
            .map_err(|source| write_error(&self.part, source))
    }

    /// An entry's name without its ending, that nothing has yet: the same question may have had a bad answer before.
    fn free_stem(&self, source: &str, key: &str) -> String {
        let folder: String = source
            .chars()
            .map(|c| match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => c,
                _ => '_',
            })
            .collect();
        let stem = format!("exchanges/{folder}/{key}");
        let mut free = stem.clone();
        let mut tries = 1;
        while self.names.contains(&format!("{free}.body")) {
            tries += 1;
            free = format!("{stem}-{tries}");
        }
        free
    }
}

fn to_json<T: serde::Serialize>(value: &T) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

fn write_error(path: &Path, source: std::io::Error) -> BundleError {
    BundleError::File(FsError::Write {
        path: path.to_owned(),
        source,
    })
}
