//! HTTP client settings in the shape of Prometheus' `HTTPClientConfig` (`prometheus/common/config`, as `promtool
//! --http.config.file` reads it), from YAML and, without secrets in the clear, from TOML.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::secret::Secret;
use crate::sources::settings::{Credentials, HttpSettings, SecretRef, SettingsError, TlsSettings};

/// HTTP client settings.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct HttpShape {
    /// User and password.
    basic_auth: Option<BasicAuth>,
    /// `Authorization: TYPE CREDENTIALS`.
    authorization: Option<Authorization>,
    /// File with a bearer token; the old form of `authorization`.
    bearer_token_file: Option<PathBuf>,
    #[schemars(skip)]
    bearer_token: Option<Clear>,
    /// TLS.
    tls_config: Option<Tls>,
    /// Address of a proxy.
    proxy_url: Option<String>,
    /// Hosts, networks and domains that need no proxy, with commas between.
    no_proxy: Option<String>,
    /// Whether `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` count.
    proxy_from_environment: Option<bool>,
    /// Whether redirects are followed.
    follow_redirects: Option<bool>,
    /// Whether HTTP/2 is spoken; taken as it comes.
    enable_http2: Option<bool>,
    /// Headers to send.
    http_headers: BTreeMap<String, Header>,
    #[schemars(skip)]
    oauth2: Option<serde_json::Value>,
    #[schemars(skip)]
    proxy_connect_header: Option<serde_json::Value>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct BasicAuth {
    /// The user.
    username: Option<String>,
    /// File with the user.
    username_file: Option<PathBuf>,
    /// File with the password.
    password_file: Option<PathBuf>,
    /// Command that prints the password.
    credentials_command: Option<Vec<String>>,
    /// Name of the password in the system's keyring.
    keyring: Option<String>,
    #[schemars(skip)]
    password: Option<Clear>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Authorization {
    /// The type; `Bearer` when absent.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// File with the credentials.
    credentials_file: Option<PathBuf>,
    /// Command that prints the credentials.
    credentials_command: Option<Vec<String>>,
    /// Name of the credentials in the system's keyring.
    keyring: Option<String>,
    #[schemars(skip)]
    credentials: Option<Clear>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Tls {
    /// PEM file of authorities beside the system's.
    ca_file: Option<PathBuf>,
    /// PEM file of our certificate.
    cert_file: Option<PathBuf>,
    /// PEM file of its key.
    key_file: Option<PathBuf>,
    /// The name that the certificate must carry.
    server_name: Option<String>,
    /// Whether any certificate will do. Stamped into the report.
    insecure_skip_verify: bool,
    /// Lowest version of TLS: `TLS12` or `TLS13`.
    min_version: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Header {
    /// Values that are no secret.
    values: Vec<String>,
    /// Files with values that are.
    files: Vec<PathBuf>,
    #[schemars(skip)]
    secrets: Vec<Clear>,
}

/// A secret that stands in the file itself.
#[derive(Debug, Clone, Deserialize)]
struct Clear(Secret);

/// Where a shape was read, and what is allowed there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    /// File and key, for errors.
    pub(super) place: &'a str,
    /// What relative paths start from.
    pub(super) folder: &'a Path,
    /// Whether secrets in the clear are taken. Never from a file of ours.
    pub(super) takes_clear: bool,
}

impl Origin<'_> {
    fn error(self, key: &str, what: &str, expected: &str) -> SettingsError {
        SettingsError {
            place: format!("{}.{key}", self.place),
            what: what.to_owned(),
            expected: expected.to_owned(),
        }
    }

    fn clear(self, key: &str, word: Clear) -> Result<SecretRef, SettingsError> {
        if self.takes_clear {
            return Ok(SecretRef::Clear(word.0));
        }
        Err(self.error(
            key,
            "a secret in the clear",
            &format!(
                "`{key}_file`, `credentials_command` or `keyring`: this file holds no secrets"
            ),
        ))
    }

    /// The one way that is given, of several.
    fn one(
        self,
        key: &str,
        ways: impl IntoIterator<Item = Option<SecretRef>>,
    ) -> Result<SecretRef, SettingsError> {
        let mut given = ways.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(way), None) => Ok(way),
            (None, _) => Err(self.error(
                key,
                "no secret",
                "one of a file, `credentials_command` or `keyring`",
            )),
            (Some(_), Some(_)) => Err(self.error(key, "more than one place for the secret", "one")),
        }
    }

    fn path(self, path: PathBuf) -> PathBuf {
        self.folder.join(path)
    }

    fn file(self, path: Option<PathBuf>) -> Option<SecretRef> {
        path.map(|path| SecretRef::File(self.path(path)))
    }
}

fn command(words: Option<Vec<String>>) -> Option<SecretRef> {
    words.filter(|w| !w.is_empty()).map(SecretRef::Command)
}

impl HttpShape {
    /// Checks it, and says what of it we do not have.
    pub(super) fn settings(self, origin: Origin<'_>) -> Result<HttpSettings, SettingsError> {
        if self.oauth2.is_some() {
            return Err(origin.error(
                "oauth2",
                "OAuth 2 by client credentials",
                "a token from elsewhere: `authorization` with `credentials_command`, since this version fetches none",
            ));
        }
        if self.proxy_connect_header.is_some() {
            return Err(origin.error(
                "proxy_connect_header",
                "headers for the proxy",
                "nothing: this version sends none",
            ));
        }
        let _ = self.enable_http2; // either way is spoken as the server offers it
        let mut ways = Vec::new();
        if let Some(basic) = self.basic_auth {
            ways.push(basic.credentials(origin)?);
        }
        if let Some(authorization) = self.authorization {
            ways.push(authorization.credentials(origin)?);
        }
        if let Some(file) = self.bearer_token_file {
            ways.push(Credentials::Authorization {
                scheme: "Bearer".to_owned(),
                credentials: SecretRef::File(origin.path(file)),
            });
        }
        if let Some(word) = self.bearer_token {
            ways.push(Credentials::Authorization {
                scheme: "Bearer".to_owned(),
                credentials: origin.clear("bearer_token", word)?,
            });
        }
        if ways.len() > 1 {
            return Err(origin.error(
                "basic_auth",
                "more than one way to say who we are",
                "one of `basic_auth`, `authorization` and `bearer_token_file`",
            ));
        }
        let mut headers = Vec::new();
        for (name, header) in self.http_headers {
            let key = format!("http_headers.{name}");
            headers.extend(
                header
                    .values
                    .into_iter()
                    .map(|value| (name.clone(), SecretRef::Plain(value))),
            );
            for word in header.secrets {
                headers.push((name.clone(), origin.clear(&key, word)?));
            }
            headers.extend(
                header
                    .files
                    .into_iter()
                    .map(|path| (name.clone(), SecretRef::File(origin.path(path)))),
            );
        }
        Ok(HttpSettings {
            credentials: ways.pop(),
            headers,
            tls: self.tls_config.unwrap_or_default().settings(origin)?,
            proxy_url: self.proxy_url,
            no_proxy: self
                .no_proxy
                .iter()
                .flat_map(|list| list.split(','))
                .map(|host| host.trim().to_owned())
                .filter(|host| !host.is_empty())
                .collect(),
            is_proxy_from_environment: self.proxy_from_environment,
            follows_redirects: self.follow_redirects,
        })
    }
}

impl BasicAuth {
    fn credentials(self, origin: Origin<'_>) -> Result<Credentials, SettingsError> {
        if self.username_file.is_some() {
            return Err(origin.error(
                "basic_auth.username_file",
                "the user in a file",
                "`username`, which is no secret",
            ));
        }
        let clear = self
            .password
            .map(|word| origin.clear("basic_auth.password", word))
            .transpose()?;
        let ways = [
            origin.file(self.password_file),
            command(self.credentials_command),
            self.keyring.map(SecretRef::Keyring),
            clear,
        ];
        Ok(Credentials::Basic {
            username: self.username.unwrap_or_default(),
            password: origin.one("basic_auth", ways)?,
        })
    }
}

impl Authorization {
    fn credentials(self, origin: Origin<'_>) -> Result<Credentials, SettingsError> {
        let clear = self
            .credentials
            .map(|word| origin.clear("authorization.credentials", word))
            .transpose()?;
        let ways = [
            origin.file(self.credentials_file),
            command(self.credentials_command),
            self.keyring.map(SecretRef::Keyring),
            clear,
        ];
        Ok(Credentials::Authorization {
            scheme: self.kind.unwrap_or_else(|| "Bearer".to_owned()),
            credentials: origin.one("authorization", ways)?,
        })
    }
}

impl Tls {
    fn settings(self, origin: Origin<'_>) -> Result<TlsSettings, SettingsError> {
        if self.cert_file.is_some() != self.key_file.is_some() {
            return Err(origin.error(
                "tls_config",
                "a certificate without its key, or a key without its certificate",
                "`cert_file` and `key_file` together",
            ));
        }
        // TLS 1.0 and 1.1 are not spoken, so every other lower bound holds by itself.
        match self.min_version.as_deref() {
            None | Some("TLS10" | "TLS11" | "TLS12") => {}
            Some(other) => {
                return Err(origin.error(
                    "tls_config.min_version",
                    other,
                    "`TLS12`: this version cannot raise the lower bound above it",
                ));
            }
        }
        Ok(TlsSettings {
            ca_file: self.ca_file.map(|p| origin.path(p)),
            cert_file: self.cert_file.map(|p| origin.path(p)),
            key_file: self.key_file.map(|p| origin.path(p)),
            server_name: self.server_name,
            insecure_skip_verify: self.insecure_skip_verify,
        })
    }
}

/// Whether a text looks like promtool's file: YAML with one of its keys at the left edge.
pub(super) fn is_http_config(name: &str, text: &str) -> bool {
    let is_yaml = [".yml", ".yaml"].iter().any(|end| name.ends_with(end));
    is_yaml
        && text.lines().any(|line| {
            [
                "basic_auth:",
                "authorization:",
                "tls_config:",
                "proxy_url:",
                "oauth2:",
            ]
            .iter()
            .any(|key| line.starts_with(key))
        })
}

/// promtool's file.
pub(super) fn read_yaml(
    name: &str,
    text: &str,
    folder: &Path,
) -> Result<HttpSettings, SettingsError> {
    let shape: HttpShape = if text.trim().is_empty() {
        HttpShape::default()
    } else {
        serde_saphyr::from_str(text).map_err(|error| yaml_error(name, &error))?
    };
    shape.settings(Origin {
        place: name,
        folder,
        takes_clear: true,
    })
}

/// The parser shows the lines around a fault, and these may hold a password: only its place and first words are told.
pub(super) fn yaml_error(name: &str, error: &serde_saphyr::Error) -> SettingsError {
    let place = error.location().map_or_else(
        || name.to_owned(),
        |at| format!("{name}: line {}, column {}", at.line(), at.column()),
    );
    SettingsError {
        place,
        what: crate::base::text::shorten(
            error
                .without_snippet()
                .to_string()
                .lines()
                .next()
                .unwrap_or_default(),
            200,
        ),
        expected: "YAML of the form that the file's owner reads".to_owned(),
    }
}
