//! Reading a bundle, whole or broken off, within limits.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read as _};

use crate::base::id::sha256_hex;
use crate::base::text::shorten;
use crate::model::exchange::Exchange;
use crate::session::bundle::append::Directory;
use crate::session::bundle::{
    BundleError, Ending, Head, MANIFEST, Manifest, OPENING, Recording, check_schema,
};
use crate::session::intake::Limits;

/// Entries of one bundle: two for each exchange.
const MOST_ENTRIES: usize = 400_000;
/// What people noted; may be written after the manifest.
const NOTES: &str = "notes.json";

/// What is in a bundle.
#[derive(Debug)]
pub struct Bundle {
    /// What was recorded.
    pub recording: Recording,
    /// What falls short, by source; nothing when the recording broke off.
    pub endings: Vec<Ending>,
    /// Every exchange; of two answers to one question the later. In order of their names.
    pub exchanges: Vec<Exchange>,
    /// Files that were added, by path.
    pub inputs: Vec<(String, Vec<u8>)>,
    /// What people noted.
    pub notes: Option<Vec<u8>>,
    /// Whether the recording came to its end.
    pub is_finished: bool,
    /// What is wrong with it.
    pub damage: Vec<Damage>,
}

/// One thing that is wrong with a bundle. The rest of it is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// A short stable name.
    pub code: &'static str,
    /// What, and what to do.
    pub text: String,
    /// Which entry.
    pub at: Option<String>,
}

/// Whether a file that begins like this is a bundle: a zip whose first entry is `recording.json`.
pub fn is_bundle(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") && head.get(30..30 + OPENING.len()) == Some(OPENING.as_bytes())
}

/// Reads a bundle. `name` is what errors call it.
///
/// # Errors
/// When it is none, or of a newer form.
pub fn read(name: &str, bytes: Vec<u8>, limits: &Limits) -> Result<Bundle, BundleError> {
    let mut damage = Vec::new();
    let (entries, is_closed) = match zip::ZipArchive::new(Cursor::new(bytes.as_slice())) {
        Ok(archive) => (listed(archive, bytes.len(), limits, &mut damage), true),
        Err(_) => (unlisted(&bytes, limits, &mut damage), false),
    };
    drop(bytes);
    let not = |why: String| BundleError::Not {
        name: name.to_owned(),
        why,
    };
    let manifest = entries
        .iter()
        .rfind(|(n, _)| n == MANIFEST)
        .map(|(_, body)| serde_json::from_slice::<Manifest>(body));
    let opening = entries
        .iter()
        .find(|(n, _)| n == OPENING)
        .map(|(_, body)| body);
    let opening = opening.ok_or_else(|| not(format!("it has no {OPENING}")))?;
    // The form first: a newer one may not have the rest of what this version expects.
    let said: Schema = serde_json::from_slice(opening)
        .map_err(|error| not(format!("{OPENING} cannot be read: {error}")))?;
    check_schema(name, &said.schema)?;
    let recording: Recording = serde_json::from_slice(opening)
        .map_err(|error| not(format!("{OPENING} cannot be read: {error}")))?;
    let manifest = match manifest {
        Some(Ok(manifest)) => {
            check_schema(name, &manifest.schema)?;
            check_sums(&manifest, &entries, &mut damage);
            Some(manifest)
        }
        Some(Err(error)) => {
            damage.push(Damage {
                code: "bad_manifest",
                text: format!(
                    "the manifest cannot be read: {error}; nothing could be checked against it"
                ),
                at: Some(MANIFEST.to_owned()),
            });
            None
        }
        None => None,
    };
    let mut bundle = Bundle {
        recording,
        is_finished: is_closed && manifest.is_some(),
        endings: manifest.map(|m| m.endings).unwrap_or_default(),
        exchanges: Vec::new(),
        inputs: Vec::new(),
        notes: None,
        damage,
    };
    bundle.take(entries);
    Ok(bundle)
}

#[derive(serde::Deserialize)]
struct Schema {
    schema: String,
}

type Entries = Vec<(String, Vec<u8>)>;

/// The entries of a zip with a directory, in their order.
fn listed(
    mut archive: zip::ZipArchive<Cursor<&[u8]>>,
    packed: usize,
    limits: &Limits,
    damage: &mut Vec<Damage>,
) -> Entries {
    let mut entries = Entries::new();
    let mut budget = Budget::new(packed, limits);
    let mut names = BTreeSet::new();
    if archive.has_overlapping_entries().unwrap_or(true) {
        damage.push(Damage {
            code: "unsafe_archive",
            text: "entries of this bundle overlap, as in a decompression bomb: not read".to_owned(),
            at: None,
        });
        return entries;
    }
    for at in 0..archive.len() {
        let mut file = match archive.by_index(at) {
            Ok(file) => file,
            Err(error) => {
                damage.push(bad_entry(&format!("number {at}"), &error.to_string()));
                continue;
            }
        };
        let name = file.name().unwrap_or_default().into_owned();
        if is_unsafe(&name) || file.is_symlink() || !names.insert(name.clone()) {
            damage.push(Damage {
                code: "unsafe_name",
                text:
                    "an entry with an unsafe name, a link, or a second entry of one name: refused"
                        .to_owned(),
                at: Some(shorten(&name, 120)),
            });
            continue;
        }
        let Some(allowed) = budget.allows(damage) else {
            break;
        };
        let mut body = Vec::new();
        match (&mut file).take(allowed + 1).read_to_end(&mut body) {
            Ok(_) if body.len() as u64 > allowed => {
                damage.push(too_much(&name));
                break;
            }
            Ok(_) => {
                budget.spend(body.len());
                entries.push((name, body));
            }
            Err(error) => damage.push(bad_entry(&name, &error.to_string())),
        }
    }
    entries
}

/// The entries of a recording that broke off.
fn unlisted(bytes: &[u8], limits: &Limits, damage: &mut Vec<Damage>) -> Entries {
    let mut entries = Entries::new();
    let mut budget = Budget::new(bytes.len(), limits);
    let directory = Directory::recover(bytes, |name, body| {
        if is_unsafe(name) || budget.allows(damage).is_none() {
            return;
        }
        budget.spend(body.len());
        entries.push((name.to_owned(), body));
    });
    let rest = (bytes.len() as u64).saturating_sub(directory.end());
    let text = format!(
        "the recording broke off: {} entries are whole{}; run `record` again with the same sources, window and output to go on with it",
        entries.len(),
        if rest > 0 {
            format!(", {rest} bytes after them are not")
        } else {
            String::new()
        },
    );
    damage.push(Damage {
        code: "recording_broke_off",
        text,
        at: Some(format!("byte {}", directory.end())),
    });
    entries
}

/// How much may still be unpacked.
struct Budget {
    count: usize,
    left: u64,
}

impl Budget {
    fn new(packed: usize, limits: &Limits) -> Self {
        Self {
            count: 0,
            left: limits.allowed(packed as u64).min(limits.unpacked_bytes),
        }
    }

    fn allows(&mut self, damage: &mut Vec<Damage>) -> Option<u64> {
        self.count += 1;
        if self.count == MOST_ENTRIES + 1 {
            damage.push(Damage {
                code: "limit_members",
                text: format!("more than {MOST_ENTRIES} entries: the rest was not read"),
                at: None,
            });
        }
        (self.count <= MOST_ENTRIES).then_some(self.left)
    }

    const fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes as u64);
    }
}

fn is_unsafe(name: &str) -> bool {
    name.is_empty()
        || name.starts_with('/')
        || name.contains(['\\', '\0'])
        || name.split('/').any(|part| part == ".." || part == ".")
        || name.as_bytes().get(1) == Some(&b':')
}

fn bad_entry(name: &str, why: &str) -> Damage {
    Damage {
        code: "bad_member",
        text: format!("an entry cannot be unpacked: {why}"),
        at: Some(shorten(name, 120)),
    }
}

fn too_much(name: &str) -> Damage {
    Damage {
        code: "too_large",
        text: "the bundle unpacks to more than the limit, as a decompression bomb does: the rest was not read"
            .to_owned(),
        at: Some(shorten(name, 120)),
    }
}

fn check_sums(manifest: &Manifest, entries: &Entries, damage: &mut Vec<Damage>) {
    let found: BTreeMap<&str, &[u8]> = entries
        .iter()
        .map(|(name, body)| (name.as_str(), body.as_slice()))
        .collect();
    for entry in &manifest.entries {
        let fault = match found.get(entry.name.as_str()) {
            None => "an entry that the manifest lists is not there",
            Some(body) if sha256_hex(body) != entry.sha256 => {
                "an entry was changed after it was recorded: its SHA-256 is not that of the manifest"
            }
            Some(_) => continue,
        };
        damage.push(Damage {
            code: "bad_member",
            text: fault.to_owned(),
            at: Some(entry.name.clone()),
        });
    }
    let listed: BTreeSet<&str> = manifest.entries.iter().map(|e| e.name.as_str()).collect();
    for name in found.keys() {
        if !listed.contains(name) && *name != MANIFEST && *name != NOTES {
            damage.push(Damage {
                code: "unlisted_member",
                text: "an entry that the manifest does not list: not recorded by us; it was read all the same"
                    .to_owned(),
                at: Some((*name).to_owned()),
            });
        }
    }
}

impl Bundle {
    fn take(&mut self, entries: Entries) {
        let mut bodies: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut heads = Vec::new();
        for (name, body) in entries {
            if let Some(path) = name.strip_prefix("inputs/") {
                self.inputs.push((path.to_owned(), body));
            } else if let Some(stem) = name
                .strip_suffix(".body")
                .filter(|n| n.starts_with("exchanges/"))
            {
                bodies.insert(stem.to_owned(), body);
            } else if let Some(stem) = name
                .strip_suffix(".json")
                .filter(|n| n.starts_with("exchanges/"))
            {
                heads.push((stem.to_owned(), body));
            } else if name == NOTES {
                self.notes = Some(body);
            }
        }
        let mut last: BTreeMap<String, Exchange> = BTreeMap::new();
        for (stem, head) in heads {
            match (serde_json::from_slice::<Head>(&head), bodies.remove(&stem)) {
                (Ok(head), Some(body)) => {
                    let exchange = head.with_body(body);
                    let name = exchange.name();
                    let is_later = last.get(&name).is_none_or(|e| e.at <= exchange.at);
                    if is_later {
                        last.insert(name, exchange);
                    }
                }
                (Ok(_), None) => self.damage.push(bad_entry(&stem, "its body is missing")),
                (Err(error), _) => self.damage.push(bad_entry(&stem, &error.to_string())),
            }
        }
        self.exchanges = last.into_values().collect();
        self.inputs.sort();
    }
}
