//! `sources.toml`, and what others have that says the same: promtool's HTTP configuration, Grafana's provisioning of data
//! sources, a link pasted from Prometheus or Grafana Explore.
//!
//! Pure: bytes in, [`Loaded`] out. Paths in a file are relative to its folder. Secrets never stand in `sources.toml`; what a
//! foreign file holds in the clear is taken as a [`Secret`](crate::base::secret::Secret) and goes no further.

mod grafana;
mod http;
mod link;
#[cfg(test)]
mod tests;
mod toml_file;

use std::path::Path;

use crate::base::time::Timestamp;
use crate::sources::settings::{HttpSettings, SettingsError, Sources};

pub use toml_file::schema;

/// What a configuration names.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The sources, by name.
    pub sources: Sources,
    /// Begin and end of the window that a pasted link shows.
    pub window: Option<(Timestamp, Timestamp)>,
    /// What was there and cannot be used, one sentence each: Grafana's other data sources, settings that we do not have.
    pub left_out: Vec<String>,
}

/// Where other files and variables come from: the reader itself touches neither.
pub trait Beside {
    /// The bytes of a file, or why not.
    fn file(&self, path: &Path) -> Result<Vec<u8>, String>;
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;
}

/// Reads a configuration that stands in `folder` and is called `name` in errors.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn read(
    name: &str,
    bytes: &[u8],
    folder: &Path,
    beside: &dyn Beside,
) -> Result<Loaded, SettingsError> {
    let text = std::str::from_utf8(bytes).map_err(|error| SettingsError {
        place: format!("{name}: byte {}", error.valid_up_to()),
        what: "bytes that are no UTF-8".to_owned(),
        expected: "a text file (TOML or YAML)".to_owned(),
    })?;
    if grafana::is_provisioning(text) {
        return grafana::read(name, text, beside);
    }
    if http::is_http_config(name, text) {
        return Err(SettingsError {
            place: name.to_owned(),
            what: "an HTTP client configuration as promtool takes it, which names no source"
                .to_owned(),
            expected: format!(
                "sources.toml; there, name it by `http_config_file = \"{name}\"` in the source that it is for"
            ),
        });
    }
    toml_file::read(name, text, folder, beside)
}

/// Reads a pasted link of Prometheus or Grafana Explore.
///
/// # Errors
/// When no query can be found in it.
pub fn read_link(link: &str, now: Timestamp) -> Result<Loaded, SettingsError> {
    link::read(link, now)
}

/// Whether an argument is a link and not a file.
pub fn is_link(argument: &str) -> bool {
    argument.starts_with("http://") || argument.starts_with("https://")
}

/// Reads promtool's HTTP client configuration (YAML).
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn read_http(name: &str, text: &str, folder: &Path) -> Result<HttpSettings, SettingsError> {
    http::read_yaml(name, text, folder)
}
