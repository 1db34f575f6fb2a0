//! A zip that only grows: each entry is written whole, one after the other, with its sizes and checksum before its bytes, so that a
//! file that ends anywhere still gives every entry before that. Form: PKWARE APPNOTE 6.3.10, §4.3.7 (local header),
//! §4.3.12 (directory), §4.3.14 to §4.3.16 (its end, with zip64).
//!
//! The `zip` crate reads what is written here; it cannot write it, since it comes back to patch each header.

use std::borrow::Cow;
use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
/// Needed to extract: 4.5, for zip64 (§4.4.3.2).
const VERSION: u16 = 45;
/// Names are UTF-8 (§4.4.4, bit 11).
const UTF8: u16 = 1 << 11;
/// 1980-01-01, the first date that the form knows: no clock enters a bundle by way of its zip.
const DATE: u16 = (1 << 5) | 1;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Below so many bytes packing saves nothing.
const WORTH_PACKING: usize = 128;

/// What the directory says of one entry.
#[derive(Debug, Clone)]
struct Listed {
    name: String,
    method: u16,
    crc: u32,
    packed: u32,
    unpacked: u32,
    offset: u64,
}

/// An entry in its final form: header and data are written as they are. A body that is not worth packing is not copied.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    listed: Listed,
    header: Vec<u8>,
    data: Cow<'a, [u8]>,
}

/// Prepares an entry. Needs no file, so that any thread may do it. `None` when it has 4 GiB or more, which no limit of ours
/// lets through.
pub(super) fn prepare<'a>(name: &str, body: &'a [u8], is_packed: bool) -> Option<Prepared<'a>> {
    let unpacked = u32::try_from(body.len()).ok()?;
    let deflated = (!is_packed && body.len() >= WORTH_PACKING)
        .then(|| deflate(body))
        .flatten()
        .filter(|packed| packed.len() < body.len());
    let (method, data) = match deflated {
        Some(packed) => (DEFLATED, Cow::Owned(packed)),
        None => (STORED, Cow::Borrowed(body)),
    };
    let mut crc = flate2::Crc::new();
    crc.update(body);
    let listed = Listed {
        name: name.to_owned(),
        method,
        crc: crc.sum(),
        packed: u32::try_from(data.len()).ok()?,
        unpacked,
        offset: 0,
    };
    let mut header = Vec::with_capacity(30 + name.len());
    put32(&mut header, LOCAL);
    listed.put_common(&mut header);
    put16(&mut header, u16::try_from(name.len()).ok()?);
    put16(&mut header, 0); // no extra field
    header.extend_from_slice(name.as_bytes());
    Some(Prepared {
        listed,
        header,
        data,
    })
}

fn deflate(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body).ok()?;
    encoder.finish().ok()
}

/// The directory of what was appended so far.
#[derive(Debug, Default)]
pub(super) struct Directory {
    entries: Vec<Listed>,
    end: u64,
}

impl Directory {
    /// Appends one entry to `to`, and lists it. A header without all of its data is no entry to [`Directory::recover`].
    pub(super) fn append(
        &mut self,
        prepared: Prepared<'_>,
        to: &mut dyn Write,
    ) -> std::io::Result<()> {
        to.write_all(&prepared.header)?;
        to.write_all(&prepared.data)?;
        let mut listed = prepared.listed;
        listed.offset = self.end;
        self.end += (prepared.header.len() + prepared.data.len()) as u64;
        self.entries.push(listed);
        Ok(())
    }

    /// How many bytes were appended.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// Writes the directory: nothing can be appended after it.
    pub(super) fn close(self, to: &mut dyn Write) -> std::io::Result<()> {
        let mut bytes = Vec::new();
        for listed in &self.entries {
            listed.put_central(&mut bytes);
        }
        let (count, size) = (self.entries.len() as u64, bytes.len() as u64);
        put32(&mut bytes, END_64);
        put64(&mut bytes, 44); // of what follows this field
        put16(&mut bytes, VERSION);
        put16(&mut bytes, VERSION);
        put32(&mut bytes, 0); // this disk
        put32(&mut bytes, 0); // disk of the directory
        put64(&mut bytes, count);
        put64(&mut bytes, count);
        put64(&mut bytes, size);
        put64(&mut bytes, self.end);
        put32(&mut bytes, LOCATOR_64);
        put32(&mut bytes, 0);
        put64(&mut bytes, self.end + size);
        put32(&mut bytes, 1); // disks
        put32(&mut bytes, END);
        put16(&mut bytes, 0);
        put16(&mut bytes, 0);
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        put16(&mut bytes, count);
        put16(&mut bytes, count);
        put32(&mut bytes, u32::try_from(size).unwrap_or(u32::MAX));
        put32(&mut bytes, u32::try_from(self.end).unwrap_or(u32::MAX));
        put16(&mut bytes, 0); // no comment
        to.write_all(&bytes)
    }
}

impl Listed {
    /// The fields that both headers share, from `version needed` to the uncompressed size.
    fn put_common(&self, to: &mut Vec<u8>) {
        put16(to, VERSION);
        put16(to, UTF8);
        put16(to, self.method);
        put16(to, 0); // midnight
        put16(to, DATE);
        put32(to, self.crc);
        put32(to, self.packed);
        put32(to, self.unpacked);
    }

    fn put_central(&self, to: &mut Vec<u8>) {
        let offset = u32::try_from(self.offset).ok().filter(|o| *o != u32::MAX);
        put32(to, CENTRAL);
        put16(to, VERSION);
        self.put_common(to);
        put16(to, u16::try_from(self.name.len()).unwrap_or(u16::MAX));
        put16(to, if offset.is_some() { 0 } else { 12 });
        put16(to, 0); // no comment
        put16(to, 0); // disk
        put16(to, 0); // internal attributes
        put32(to, 0); // external attributes
        put32(to, offset.unwrap_or(u32::MAX));
        to.extend_from_slice(self.name.as_bytes());
        if offset.is_none() {
            put16(to, 1); // zip64
            put16(to, 8);
            put64(to, self.offset);
        }
    }
}

fn put16(to: &mut Vec<u8>, value: u16) {
    to.extend_from_slice(&value.to_le_bytes());
}

fn put32(to: &mut Vec<u8>, value: u32) {
    to.extend_from_slice(&value.to_le_bytes());
}

fn put64(to: &mut Vec<u8>, value: u64) {
    to.extend_from_slice(&value.to_le_bytes());
}

/// What a sequential look at a file without a directory finds, so that appending can go on.
impl Directory {
    /// Reads the local headers of `bytes` from the start. Ends at the first thing that is not a whole entry, or at a
    /// directory; [`Directory::end`] is where that is. Each entry is handed to `seen` with its unpacked bytes when its
    /// checksum is right, and ends the look when not.
    pub(super) fn recover(bytes: &[u8], mut seen: impl FnMut(&str, Vec<u8>)) -> Self {
        let mut directory = Self::default();
        while let Some((listed, body, next)) = usize::try_from(directory.end)
            .ok()
            .and_then(|at| local(bytes, at))
        {
            seen(&listed.name, body);
            directory.entries.push(listed);
            directory.end = next as u64;
        }
        directory
    }
}

fn local(bytes: &[u8], at: usize) -> Option<(Listed, Vec<u8>, usize)> {
    let head = bytes.get(at..at.checked_add(30)?)?;
    if get32(head, 0)? != LOCAL {
        return None;
    }
    let method = get16(head, 8)?;
    let (crc, packed, unpacked) = (get32(head, 14)?, get32(head, 18)?, get32(head, 22)?);
    let (name_len, extra_len) = (usize::from(get16(head, 26)?), usize::from(get16(head, 28)?));
    let name_at = at + 30;
    let data_at = name_at.checked_add(name_len)?.checked_add(extra_len)?;
    let next = data_at.checked_add(usize::try_from(packed).ok()?)?;
    let name = std::str::from_utf8(bytes.get(name_at..name_at + name_len)?).ok()?;
    let data = bytes.get(data_at..next)?;
    let body = match method {
        STORED => data.to_vec(),
        DEFLATED => inflate(data, unpacked)?,
        _ => return None,
    };
    let mut sum = flate2::Crc::new();
    sum.update(&body);
    if sum.sum() != crc || body.len() != usize::try_from(unpacked).ok()? {
        return None;
    }
    let listed = Listed {
        name: name.to_owned(),
        method,
        crc,
        packed,
        unpacked,
        offset: at as u64,
    };
    Some((listed, body, next))
}

/// At most the bytes that the header promises.
fn inflate(data: &[u8], unpacked: u32) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let mut body = Vec::new();
    flate2::read::DeflateDecoder::new(data)
        .take(u64::from(unpacked) + 1)
        .read_to_end(&mut body)
        .ok()?;
    Some(body)
}

fn get16(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at + 2)?;
    Some(u16::from_le_bytes(two.try_into().ok()?))
}

fn get32(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

impl Directory {
    /// Forgets the last entry, which will be written over.
    pub(super) fn drop_last(&mut self) {
        if let Some(last) = self.entries.pop() {
            self.end = last.offset;
        }
    }
}
