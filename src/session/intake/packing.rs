//! Compressed bytes → bytes, in blocks, within limits. What is packed is recognised from its first bytes, never from its
//! name, and what nobody could read is recognised from the first unpacked bytes, before the rest of it is unpacked.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::base::fs;
use crate::base::id::sha256_hex;
use crate::base::reporter::Reporter;
use crate::base::time::Zone;
use crate::formats::head::HEAD_BYTES;
use crate::formats::{Head, Hints, Recognised, recognise};
use crate::session::intake::limits::Limits;
use crate::session::intake::walk::Problem;
use crate::session::intake::watch::Desk;

/// Bytes between two looks at whether to go on: about a millisecond from a fast disk, ten from a slow one.
const BLOCK: u64 = 1 << 20;

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

impl Loaded {
    /// The beginning of what nobody can read. It has no hash: the rest was not unpacked.
    pub(super) fn head(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }
}

/// What packs bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Gzip,
    Zstd,
    Zip,
    Tar,
}

impl Packing {
    /// By the first bytes.
    pub(super) fn of(head: &[u8]) -> Self {
        if head.starts_with(&[0x1f, 0x8b, 8]) {
            Self::Gzip
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Self::Zstd
        } else if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            Self::Zip
        } else if head.get(257..262) == Some(b"ustar") {
            Self::Tar
        } else {
            Self::Plain
        }
    }

    /// Whether it holds one stream of bytes, without names.
    pub(super) const fn is_stream(self) -> bool {
        matches!(self, Self::Gzip | Self::Zstd)
    }

    /// Whether it holds files.
    pub(super) const fn is_archive(self) -> bool {
        matches!(self, Self::Zip | Self::Tar)
    }

    fn decoder(self, bytes: &[u8]) -> std::io::Result<Box<dyn Read + '_>> {
        Ok(match self {
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
            Self::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?),
            Self::Plain | Self::Zip | Self::Tar => Box::new(bytes),
        })
    }
}

/// Why reading ended before the end.
#[derive(Debug)]
pub(super) enum Cut {
    /// There is more than the limit.
    Limit,
    /// Nobody wants the rest.
    Cancelled,
    /// It is damaged, or cannot be read.
    Failed(std::io::Error),
}

/// Reads to the end, in blocks. At the limit or at a failure what came before is there.
pub(super) fn pump(
    from: &mut dyn Read,
    into: &mut Vec<u8>,
    limit: u64,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Result<(), Cut> {
    let before = into.len();
    loop {
        let so_far = (into.len() - before) as u64;
        // One byte more than the limit tells whether there is more.
        let block = BLOCK.min(limit.saturating_add(1).saturating_sub(so_far));
        let came = (&mut *from).take(block).read_to_end(into);
        let came = came.map_err(Cut::Failed)? as u64;
        if so_far + came > limit {
            return Err(Cut::Limit);
        }
        if !goes_on(came) {
            return Err(Cut::Cancelled);
        }
        if came < block {
            return Ok(());
        }
    }
}

/// The first bytes of a file as it lies there, and its length (0 when it has none).
pub(super) fn head_of(file: &Path) -> Result<(Vec<u8>, u64), Problem> {
    let mut open = open(file)?;
    let length = open.metadata().map_or(0, |meta| meta.len());
    let mut head = Vec::new();
    match pump(&mut open, &mut head, HEAD_BYTES as u64, |_| true) {
        Ok(()) | Err(Cut::Cancelled) => {}
        Err(Cut::Limit) => head.truncate(HEAD_BYTES),
        Err(Cut::Failed(error)) => return Err(unreadable(&error)),
    }
    Ok((head, length))
}

/// The first unpacked bytes of what begins with `head`.
pub(super) fn head_within(outer: Packing, head: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    if let Ok(mut from) = outer.decoder(head) {
        drop(pump(&mut *from, &mut unpacked, HEAD_BYTES as u64, |_| true));
    }
    unpacked.truncate(HEAD_BYTES);
    unpacked
}

/// All bytes of a file as they lie there.
pub(super) fn raw(path: &Path, limits: &Limits, desk: Desk<'_>) -> Result<Vec<u8>, Problem> {
    let mut file = open(path)?;
    let length = file.metadata().map_or(0, |meta| meta.len());
    let mut bytes = Vec::new();
    bytes.reserve_exact(usize::try_from(length.min(limits.input_bytes)).unwrap_or(0) + 1);
    stream(&mut file, bytes, limits, desk)
}

/// All bytes of a pipe or a device.
pub(super) fn stream(
    from: &mut dyn Read,
    mut bytes: Vec<u8>,
    limits: &Limits,
    desk: Desk<'_>,
) -> Result<Vec<u8>, Problem> {
    match pump(from, &mut bytes, limits.input_bytes, |came| {
        desk.advanced(came)
    }) {
        Ok(()) => Ok(bytes),
        Err(Cut::Limit) => Err(too_large(limits.input_bytes)),
        Err(Cut::Cancelled) => Err(Problem::not_read()),
        Err(Cut::Failed(error)) => Err(unreadable(&error)),
    }
}

fn open(path: &Path) -> Result<File, Problem> {
    fs::open(path).map_err(|error| match error {
        fs::FsError::Read { source, .. } | fs::FsError::Write { source, .. } => unreadable(&source),
    })
}

fn unreadable(error: &std::io::Error) -> Problem {
    Problem::lost("unreadable", format!("cannot read: {error}"))
}

/// All bytes of a file, unpacked.
pub(super) fn load_file(path: &Path, limits: &Limits, desk: Desk<'_>) -> Result<Loaded, Problem> {
    load(raw(path, limits, desk)?, limits, desk)
}

/// Unpacks what is compressed, however often, up to the limits. What was unpacked before damage is kept.
pub(super) fn load(bytes: Vec<u8>, limits: &Limits, desk: Desk<'_>) -> Result<Loaded, Problem> {
    let mut loaded = Loaded {
        sha256: sha256_hex(&bytes),
        bytes,
        ..Loaded::default()
    };
    for _ in 0..=limits.nesting {
        let outer = Packing::of(&loaded.bytes);
        if !outer.is_stream() {
            return Ok(loaded);
        }
        let packed = loaded.bytes.len() as u64;
        let outcome = outer
            .decoder(&loaded.bytes)
            .map_err(Cut::Failed)
            .and_then(|mut from| unpack(&mut *from, packed, limits, desk));
        let (bytes, error) = match outcome {
            Ok(Unpacked::Whole(bytes)) => (bytes, None),
            Ok(Unpacked::Head(bytes)) => {
                loaded.bytes = bytes;
                loaded.was_packed = true;
                return Ok(loaded);
            }
            Ok(Unpacked::Damaged(bytes, error)) => (bytes, Some(error)),
            Err(Cut::Limit) => return Err(bomb(packed, limits)),
            Err(Cut::Cancelled) => return Err(Problem::not_read()),
            Err(Cut::Failed(error)) => return Err(nothing_of_it(&error)),
        };
        if let Some(error) = error {
            if bytes.is_empty() {
                return Err(nothing_of_it(&error));
            }
            loaded.log.lost(
                "bad_compression",
                format!("the compressed data break off or are damaged: {error}; what came before was read"),
                Some(format!("byte {} of the unpacked data", bytes.len())),
            );
        }
        loaded.bytes = bytes;
        loaded.was_packed = true;
    }
    let why = format!(
        "compressed more than {} times over: not read",
        limits.nesting
    );
    Err(Problem::lost("nested_too_deep", why))
}

fn nothing_of_it(error: &std::io::Error) -> Problem {
    let why = format!(
        "damaged or cut-off compression, nothing of it can be read: {error}; copy it again"
    );
    Problem::lost("bad_compression", why)
}

/// What came of unpacking.
#[derive(Debug)]
pub(super) enum Unpacked {
    /// All of it.
    Whole(Vec<u8>),
    /// Its beginning only: nobody could read the rest.
    Head(Vec<u8>),
    /// What came before the damage.
    Damaged(Vec<u8>, std::io::Error),
}

/// Unpacks from a decoder. The beginning comes first: when nobody could read what begins like this, the rest is not
/// unpacked into memory, so that a bomb costs neither memory nor time.
pub(super) fn unpack(
    from: &mut dyn Read,
    packed: u64,
    limits: &Limits,
    desk: Desk<'_>,
) -> Result<Unpacked, Cut> {
    let limit = limits.allowed(packed);
    let mut bytes = Vec::new();
    let head_limit = limit.min(HEAD_BYTES as u64);
    match pump(from, &mut bytes, head_limit, |_| desk.goes_on()) {
        Ok(()) => return Ok(Unpacked::Whole(bytes)),
        Err(Cut::Limit) if limit > head_limit => {}
        Err(Cut::Failed(error)) => return Ok(Unpacked::Damaged(bytes, error)),
        Err(cut) => return Err(cut),
    }
    match Beginning::of(&bytes) {
        Beginning::Useful => {}
        Beginning::Useless => return Ok(Unpacked::Head(bytes)),
        Beginning::Blank => {
            // Blanks may go on for ever. They are counted, and thrown away, up to the limit.
            skip(from, limit - bytes.len() as u64, desk)?;
            return Ok(Unpacked::Head(bytes));
        }
    }
    let rest = limit - bytes.len() as u64;
    match pump(from, &mut bytes, rest, |_| desk.goes_on()) {
        Ok(()) => Ok(Unpacked::Whole(bytes)),
        Err(Cut::Failed(error)) => Ok(Unpacked::Damaged(bytes, error)),
        Err(cut) => Err(cut),
    }
}

fn skip(from: &mut dyn Read, limit: u64, desk: Desk<'_>) -> Result<(), Cut> {
    let mut skipped = 0;
    let mut block = Vec::new();
    loop {
        block.clear();
        match pump(from, &mut block, BLOCK - 1, |_| desk.goes_on()) {
            Ok(()) if skipped + block.len() as u64 > limit => return Err(Cut::Limit),
            // Damage behind blanks loses nothing.
            Ok(()) | Err(Cut::Failed(_)) => return Ok(()),
            Err(Cut::Limit) => skipped += block.len() as u64,
            Err(Cut::Cancelled) => return Err(Cut::Cancelled),
        }
        if skipped > limit {
            return Err(Cut::Limit);
        }
    }
}

/// What can be said of unpacked bytes by their beginning, without knowing what lies beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    /// A format begins like this, or may do with hints that are not known yet: text always may.
    Useful,
    /// Only blanks.
    Blank,
    /// No text, and no format begins like this.
    Useless,
}

impl Beginning {
    fn of(bytes: &[u8]) -> Self {
        if Packing::of(bytes) != Packing::Plain {
            return Self::Useful;
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Self::Blank;
        }
        let head = Head::new(bytes);
        if head.is_text {
            return Self::Useful;
        }
        // Hints tell lines of text apart; what is no text is what it is.
        let hints = Hints {
            name: "",
            request: None,
            zone: &Zone::utc(),
            log_formats: &[],
        };
        match recognise(&head, &hints) {
            Recognised::As(_) => Self::Useful,
            Recognised::Nothing { .. } => Self::Useless,
        }
    }
}

pub(super) fn bomb(packed: u64, limits: &Limits) -> Problem {
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

pub(super) fn size(bytes: u64) -> String {
    crate::base::units::bytes(bytes as f64)
}

#[cfg(test)]
mod tests {
    use std::io::repeat;

    use super::*;
    use crate::session::intake::Unwatched;

    /// Reads on, and fails when more is read than anybody needs.
    struct Meagre<R>(R, u64);

    impl<R: Read> Read for Meagre<R> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let came = self.0.read(into)?;
            self.1 = self.1.checked_sub(came as u64).expect("too much was read");
            Ok(came)
        }
    }

    fn unpacked(mut from: impl Read) -> Result<Unpacked, Cut> {
        let limits = Limits::default();
        unpack(&mut from, 1 << 30, &limits, Desk::new(&Unwatched, "x"))
    }

    #[test]
    fn what_begins_like_nothing_is_not_unpacked() {
        let head = unpacked(Meagre(repeat(0), 2 * HEAD_BYTES as u64)).unwrap();
        assert!(matches!(head, Unpacked::Head(bytes) if bytes.len() == HEAD_BYTES + 1));
    }

    #[test]
    fn text_is_unpacked_whole_and_blanks_are_not_kept() {
        let text = "a line that a log format may match, given by hand\n".repeat(5000);
        let whole = unpacked(text.as_bytes()).unwrap();
        assert!(matches!(whole, Unpacked::Whole(bytes) if bytes == text.as_bytes()));
        let blanks = unpacked(repeat(b' ').take(3 * BLOCK + 7)).unwrap();
        assert!(matches!(blanks, Unpacked::Head(bytes) if bytes.len() == HEAD_BYTES + 1));
        let limits = Limits {
            input_bytes: 5 * BLOCK,
            ..Limits::default()
        };
        let desk = Desk::new(&Unwatched, "x");
        let endless = unpack(&mut repeat(b' '), 1 << 30, &limits, desk);
        assert!(matches!(endless, Err(Cut::Limit)));
    }

    #[test]
    fn a_limit_is_met_to_the_byte() {
        for (length, is_over) in [(0, false), (9, false), (10, false), (11, true), (999, true)] {
            let mut bytes = Vec::new();
            let end = pump(&mut repeat(1).take(length), &mut bytes, 10, |_| true);
            assert_eq!(matches!(end, Err(Cut::Limit)), is_over, "{length}");
            assert_eq!(end.is_ok(), !is_over, "{length}");
        }
    }
}
