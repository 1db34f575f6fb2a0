//! Our own file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::base::time::parse_duration_nanos;
use crate::sources::config::http::{HttpShape, Origin, read_yaml};
use crate::sources::config::{Beside, Loaded};
use crate::sources::settings::{PullLimits, SettingsError, SourceSettings, Sources};
use crate::sources::{ALL, by_id};

/// `sources.toml`: the live systems that an incident's window is pulled from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileShape {
    /// Every source by the name that reports call it.
    sources: BTreeMap<String, SourceShape>,
}

/// One source; what only its kind knows stands beside these keys.
#[derive(Debug, Deserialize, JsonSchema)]
struct SourceShape {
    /// Which kind it is.
    kind: String,
    /// Base address, `http://` or `https://`, without user and password.
    url: Option<String>,
    /// HTTP client settings, in the shape that `promtool --http.config.file` takes.
    #[serde(default)]
    http: Option<HttpShape>,
    /// A file of that shape, as promtool reads it.
    http_config_file: Option<PathBuf>,
    /// How much at once.
    #[serde(default)]
    limits: LimitsShape,
    #[serde(flatten)]
    #[schemars(skip)]
    own: Map<String, Value>,
}

/// How much at once. Durations are written like `5s`, `2m`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct LimitsShape {
    /// Requests in flight to the host [default: 4].
    requests_at_once: Option<usize>,
    /// Requests a second to the host [default: as many as it answers].
    requests_per_s: Option<f64>,
    /// Time for a connection [default: 5s].
    connect_timeout: Option<String>,
    /// Time until the first byte of an answer [default: 1m].
    first_byte_timeout: Option<String>,
    /// Time for a whole answer [default: 5m].
    total_timeout: Option<String>,
    /// Times that a request is tried again [default: 3].
    retries: Option<u32>,
    /// Largest answer as received, in bytes [default: 256 MiB].
    packed_bytes: Option<u64>,
    /// Largest answer unpacked, in bytes [default: 1 GiB].
    unpacked_bytes: Option<u64>,
}

pub(super) fn read(
    name: &str,
    text: &str,
    folder: &Path,
    beside: &dyn Beside,
) -> Result<Loaded, SettingsError> {
    let file: FileShape = toml::from_str(text).map_err(|error| toml_error(name, text, &error))?;
    let mut sources = Sources::new();
    for (key, shape) in file.sources {
        let place = format!("{name}: sources.{key}");
        let settings = shape.settings(&key, &place, folder, beside)?;
        sources.insert(key, settings);
    }
    if sources.is_empty() {
        return Err(SettingsError {
            place: name.to_owned(),
            what: "no source".to_owned(),
            expected: "at least one table `[sources.NAME]` with its `kind`".to_owned(),
        });
    }
    Ok(Loaded {
        sources,
        ..Loaded::default()
    })
}

impl SourceShape {
    fn settings(
        self,
        key: &str,
        place: &str,
        folder: &Path,
        beside: &dyn Beside,
    ) -> Result<SourceSettings, SettingsError> {
        let error = |key: &str, what: String, expected: String| SettingsError {
            place: format!("{place}.{key}"),
            what,
            expected,
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if key.is_empty() || !key.chars().all(is_plain) {
            return Err(SettingsError {
                place: place.to_owned(),
                what: format!("the name `{key}`"),
                expected: "letters, digits, `-`, `_` and `.`".to_owned(),
            });
        }
        if by_id(&self.kind).is_none() {
            let kinds: Vec<&str> = ALL.iter().map(|kind| kind.id()).collect();
            return Err(error(
                "kind",
                format!("`{}`", self.kind),
                format!("one of {}", kinds.join(", ")),
            ));
        }
        let http = match (self.http, self.http_config_file) {
            (Some(_), Some(_)) => {
                return Err(error(
                    "http_config_file",
                    "a file beside an `http` table".to_owned(),
                    "one of the two".to_owned(),
                ));
            }
            (None, Some(file)) => {
                let path = folder.join(&file);
                let shown = file.display().to_string();
                let bytes = beside.file(&path).map_err(|why| {
                    error(
                        "http_config_file",
                        why,
                        format!("a YAML file at {}", path.display()),
                    )
                })?;
                let around = path.parent().unwrap_or(folder).to_owned();
                read_yaml(&shown, &String::from_utf8_lossy(&bytes), &around)?
            }
            (shape, None) => shape.unwrap_or_default().settings(Origin {
                place: &format!("{place}.http"),
                folder,
                takes_clear: false,
            })?,
        };
        Ok(SourceSettings {
            name: key.to_owned(),
            kind: self.kind,
            folder: folder.to_owned(),
            url: self
                .url
                .map(|url| {
                    base_address(&url).map_err(|(what, expected)| error("url", what, expected))
                })
                .transpose()?,
            http,
            limits: self.limits.limits(&format!("{place}.limits"))?,
            own: self.own,
        })
    }
}

/// The address without a slash at its end, checked.
pub(super) fn base_address(url: &str) -> Result<String, (String, String)> {
    let expected =
        || "an address like `https://prometheus.example:9090/path`, without query".to_owned();
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"))
        .ok_or_else(|| (format!("`{url}`"), expected()))?;
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.contains('@') {
        return Err((
            "a user or password in the address".to_owned(),
            "`http.basic_auth` for them".to_owned(),
        ));
    }
    if authority.is_empty() || rest.contains(['?', '#', ' ']) {
        return Err((format!("`{url}`"), expected()));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

impl LimitsShape {
    fn limits(self, place: &str) -> Result<PullLimits, SettingsError> {
        let usual = PullLimits::default();
        let error = |key: &str, what: String, expected: &str| SettingsError {
            place: format!("{place}.{key}"),
            what,
            expected: expected.to_owned(),
        };
        let duration = |key: &str, text: Option<String>, usual: Duration| {
            let Some(text) = text else { return Ok(usual) };
            parse_duration_nanos(&text)
                .and_then(|nanos| u64::try_from(nanos).ok())
                .filter(|nanos| *nanos > 0)
                .map(Duration::from_nanos)
                .ok_or_else(|| error(key, format!("`{text}`"), "a duration like `5s` or `2m`"))
        };
        if self.requests_at_once == Some(0) {
            return Err(error("requests_at_once", "0".to_owned(), "1 or more"));
        }
        if let Some(rate) = self.requests_per_s
            && !(rate > 0.0 && rate.is_finite())
        {
            return Err(error("requests_per_s", rate.to_string(), "more than 0"));
        }
        Ok(PullLimits {
            requests_at_once: self.requests_at_once.unwrap_or(usual.requests_at_once),
            requests_per_s: self.requests_per_s,
            connect_timeout: duration(
                "connect_timeout",
                self.connect_timeout,
                usual.connect_timeout,
            )?,
            first_byte_timeout: duration(
                "first_byte_timeout",
                self.first_byte_timeout,
                usual.first_byte_timeout,
            )?,
            total_timeout: duration("total_timeout", self.total_timeout, usual.total_timeout)?,
            retries: self.retries.unwrap_or(usual.retries),
            packed_bytes: self.packed_bytes.unwrap_or(usual.packed_bytes),
            unpacked_bytes: self.unpacked_bytes.unwrap_or(usual.unpacked_bytes),
        })
    }
}

/// The parser's message with line and column, without the line itself.
fn toml_error(name: &str, text: &str, error: &toml::de::Error) -> SettingsError {
    let place = error.span().map_or_else(
        || name.to_owned(),
        |span| {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
            format!("{name}: line {line}, column {column}")
        },
    );
    SettingsError {
        place,
        what: error.message().to_owned(),
        expected: "sources.toml; `tailscope schema sources` prints its form".to_owned(),
    }
}

/// The JSON Schema of `sources.toml`, with what each kind adds.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(FileShape).to_value();
    let kinds: Vec<&str> = ALL.iter().map(|kind| kind.id()).collect();
    let own: Vec<Value> = ALL
        .iter()
        .map(|kind| {
            json!({
                "if": {"properties": {"kind": {"const": kind.id()}}},
                "then": kind.own_schema().to_value(),
            })
        })
        .collect();
    if let Some(source) = schema.pointer_mut("/$defs/SourceShape") {
        if let Some(kind) = source.pointer_mut("/properties/kind") {
            *kind = json!({"description": "Which kind it is.", "enum": kinds});
        }
        if let Some(source) = source.as_object_mut() {
            source.insert("allOf".to_owned(), Value::Array(own));
        }
    }
    schema
}
