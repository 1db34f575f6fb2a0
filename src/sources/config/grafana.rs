//! Grafana's provisioning of data sources (`apiVersion: 1`, `datasources: […]`), read unchanged.
//!
//! Form: Grafana's documentation, "Provision Grafana", data sources; `$NAME`, `${NAME}` and `$__env{NAME}` come from the
//! environment and `$__file{PATH}` from a file, as there.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::base::secret::Secret;
use crate::sources::config::http::yaml_error;
use crate::sources::config::toml_file::base_address;
use crate::sources::config::{Beside, Loaded};
use crate::sources::settings::{
    Credentials, HttpSettings, SecretRef, SettingsError, SourceSettings, TlsSettings,
};

#[derive(Debug, Deserialize)]
struct File {
    #[serde(default)]
    datasources: Vec<DataSource>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DataSource {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    url: String,
    basic_auth: bool,
    basic_auth_user: String,
    with_credentials: bool,
    json_data: BTreeMap<String, Value>,
    secure_json_data: BTreeMap<String, Secret>,
}

/// Grafana's plugin id → our kind.
const KINDS: &[(&str, &str)] = &[
    ("prometheus", "prometheus"),
    ("grafana-amazonprometheus-datasource", "prometheus"),
    ("grafana-x-ray-datasource", "xray"),
    ("alertmanager", "alertmanager"),
    ("grafana-pyroscope-datasource", "pyroscope"),
];

/// Whether a text is such a file.
pub(super) fn is_provisioning(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("datasources:"))
}

pub(super) fn read(name: &str, text: &str, beside: &dyn Beside) -> Result<Loaded, SettingsError> {
    let file: File = serde_saphyr::from_str(text).map_err(|error| yaml_error(name, &error))?;
    let mut loaded = Loaded::default();
    for source in file.datasources {
        let place = format!("{name}: datasources, `{}`", source.name);
        let Some((_, kind)) = KINDS
            .iter()
            .find(|(theirs, ours)| *theirs == source.kind && crate::sources::by_id(ours).is_some())
        else {
            loaded.left_out.push(format!(
                "`{}` is a data source of the type `{}`, which this version does not pull from",
                source.name, source.kind
            ));
            continue;
        };
        let mut settings = source.settings(kind, &place, beside, &mut loaded.left_out)?;
        let mut tries = 1;
        let plain = settings.name.clone();
        while loaded.sources.contains_key(&settings.name) {
            tries += 1;
            settings.name = format!("{plain}-{tries}");
        }
        loaded.sources.insert(settings.name.clone(), settings);
    }
    if loaded.sources.is_empty() {
        let mut what = "no data source that this version pulls from".to_owned();
        if let Some(first) = loaded.left_out.first() {
            what = format!("{what}: {first}");
        }
        return Err(SettingsError {
            place: name.to_owned(),
            what,
            expected: "at least one of the type `prometheus`".to_owned(),
        });
    }
    Ok(loaded)
}

impl DataSource {
    fn settings(
        self,
        kind: &str,
        place: &str,
        beside: &dyn Beside,
        left_out: &mut Vec<String>,
    ) -> Result<SourceSettings, SettingsError> {
        let expand = |text: &str| expand(text, place, beside);
        let mut own = Map::new();
        let url = match expand(&self.url)?.as_str() {
            "" => None,
            url => Some(base_address(url).map_err(|(what, expected)| SettingsError {
                place: format!("{place}: url"),
                what,
                expected,
            })?),
        };
        let credentials = if self.basic_auth {
            let password = self.secure_json_data.get("basicAuthPassword");
            let password = expand(password.map_or("", Secret::expose))?;
            Some(Credentials::Basic {
                username: expand(&self.basic_auth_user)?,
                password: SecretRef::Clear(Secret::new(password)),
            })
        } else {
            None
        };
        let mut headers = Vec::new();
        for (key, header) in &self.json_data {
            let Some(number) = key.strip_prefix("httpHeaderName") else {
                continue;
            };
            let value = self
                .secure_json_data
                .get(&format!("httpHeaderValue{number}"));
            let value = expand(value.map_or("", Secret::expose))?;
            if let Some(header) = header.as_str() {
                headers.push((header.to_owned(), SecretRef::Clear(Secret::new(value))));
            }
        }
        let is_set = |key: &str| self.json_data.get(key).and_then(Value::as_bool) == Some(true);
        if let Some(region) = ["defaultRegion", "sigV4Region"]
            .iter()
            .find_map(|key| self.json_data.get(*key)?.as_str())
        {
            own.insert("region".to_owned(), Value::String(expand(region)?));
        }
        for (key, what) in [
            ("tlsAuth", "a client certificate in `secureJsonData`"),
            ("tlsAuthWithCACert", "an authority in `secureJsonData`"),
            ("oauthPassThru", "the login of the person who looks"),
        ] {
            if is_set(key) {
                left_out.push(format!(
                    "`{}` uses {what} (`{key}`): write it to a file and name that in sources.toml",
                    self.name
                ));
            }
        }
        if self.with_credentials {
            left_out.push(format!(
                "`{}` sends the browser's cookies (`withCredentials`), which we do not have",
                self.name
            ));
        }
        // Grafana puts this path before the API of these two itself, and takes `cortex` when nothing is said
        // (`pkg/services/ngalert/api/lotex_am.go`).
        let implementation = self.json_data.get("implementation").and_then(Value::as_str);
        let is_below = kind == "alertmanager"
            && matches!(implementation.unwrap_or("cortex"), "cortex" | "mimir");
        let url = url.map(|url| {
            if is_below {
                format!("{url}/alertmanager")
            } else {
                url
            }
        });
        Ok(SourceSettings {
            name: plain_name(&self.name),
            kind: kind.to_owned(),
            url,
            http: HttpSettings {
                credentials,
                headers,
                tls: TlsSettings {
                    insecure_skip_verify: is_set("tlsSkipVerify"),
                    ..TlsSettings::default()
                },
                ..HttpSettings::default()
            },
            own,
            ..SourceSettings::default()
        })
    }
}

/// A name as `sources.toml` would take it.
fn plain_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
            _ => '-',
        })
        .collect();
    if plain.is_empty() {
        "grafana".to_owned()
    } else {
        plain
    }
}

/// Puts variables and files in the place of their names.
fn expand(text: &str, place: &str, beside: &dyn Beside) -> Result<String, SettingsError> {
    let missing = |what: String, expected: &str| SettingsError {
        place: place.to_owned(),
        what,
        expected: expected.to_owned(),
    };
    let variable = |name: &str| {
        beside.variable(name).ok_or_else(|| {
            missing(
                format!("the variable `{name}`, which is not set"),
                "it in the environment, as Grafana has it",
            )
        })
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let braced = |prefix: &str| {
            after
                .strip_prefix(prefix)
                .and_then(|inside| inside.split_once('}'))
        };
        if let Some(tail) = after.strip_prefix('$') {
            out.push('$');
            rest = tail;
        } else if let Some((name, tail)) = braced("__env{").or_else(|| braced("{")) {
            out.push_str(&variable(name)?);
            rest = tail;
        } else if let Some((path, tail)) = braced("__file{") {
            let bytes = beside
                .file(Path::new(path))
                .map_err(|why| missing(why, "a file that can be read"))?;
            out.push_str(String::from_utf8_lossy(&bytes).trim_end());
            rest = tail;
        } else {
            let end = after
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(after.len());
            let (name, tail) = after.split_at(end);
            if name.is_empty() {
                out.push('$');
            } else {
                out.push_str(&variable(name)?);
            }
            rest = tail;
        }
    }
    out.push_str(rest);
    Ok(out)
}
