//! Reports for people and programs. One file per form; the same report gives the same bytes.
//!
//! To add one: a file here with a unit struct that implements [`Exporter`], one line in [`ALL`], and a test that holds
//! its bytes. Outside crates that only this floor may name: `minijinja`; `polars` in `parquet.rs` alone.

pub mod csv;
pub mod headline;
pub mod html;
pub mod json;
pub mod markdown;
#[cfg(feature = "sql")]
pub mod parquet;
pub mod text;
mod view;

pub use view::wrap;

use std::path::Path;

use crate::model::report::Report;
use crate::session::notes::Notes;
use crate::store::Snapshot;
use crate::words::Lang;

/// What is written.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// What the analysis says.
    pub report: &'a Report,
    /// What it was made from.
    pub snapshot: &'a Snapshot,
    /// What a person said of it; without, exactly the report is written.
    pub notes: Option<&'a Notes>,
}

/// How it is written.
#[derive(Debug, Clone)]
pub struct Options {
    /// Columns of the terminal; only forms for people wrap.
    pub width: usize,
    /// Whether escape sequences for colours may be used.
    pub colour: bool,
    /// Which table, for forms that hold one.
    pub table: Option<String>,
    /// The language of forms for people. What programs read stays English.
    pub lang: Lang,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 100,
            colour: false,
            table: None,
            lang: Lang::En,
        }
    }
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A table that this form does not have.
    #[error("no table {name:?} in this form; it has {known}")]
    Table {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Something below failed.
    #[error("cannot write {what}: {why}")]
    Write {
        /// What.
        what: &'static str,
        /// The words of what failed.
        why: String,
    },
}

/// One form of a report.
pub trait Exporter: Sync {
    /// The word after `--format`.
    fn id(&self) -> &'static str;
    /// What it is, for people.
    fn title(&self) -> &'static str;
    /// The endings of file names that choose it, without a dot.
    fn extensions(&self) -> &'static [&'static str];
    /// Writes all of it.
    fn write(&self, material: &Material<'_>, options: &Options) -> Result<Vec<u8>, ExportError>;
}

/// Every form, in documentation order.
pub const ALL: &[&dyn Exporter] = &[
    &text::Text,
    &markdown::Markdown,
    &html::Html,
    &json::Json,
    &csv::Csv,
    #[cfg(feature = "sql")]
    &parquet::Parquet,
];

/// The form of that name.
pub fn by_id(id: &str) -> Option<&'static dyn Exporter> {
    ALL.iter().copied().find(|e| e.id() == id)
}

/// The form that a file's ending asks for.
pub fn by_path(path: &Path) -> Option<&'static dyn Exporter> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    ALL.iter()
        .copied()
        .find(|e| e.extensions().contains(&ending.as_str()))
}

/// The names of all forms, for messages.
pub fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|e| e.id()).collect();
    names.join(", ")
}

#[cfg(test)]
pub(crate) mod testing;
