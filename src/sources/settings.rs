//! What `sources.toml` says of one source, as plain values. [`super::config`] reads the file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::base::secret::Secret;

/// One source.
#[derive(Debug, Clone, Default)]
pub struct SourceSettings {
    /// What the person calls it; unique in the file.
    pub name: String,
    /// Which kind it is.
    pub kind: String,
    /// Base address; AWS kinds have one of their own.
    pub url: Option<String>,
    /// The folder of the configuration, where relative paths start.
    pub folder: PathBuf,
    /// How to speak HTTP with it.
    pub http: HttpSettings,
    /// How much at once.
    pub limits: PullLimits,
    /// What only this kind knows, checked by it.
    pub own: serde_json::Map<String, serde_json::Value>,
}

/// HTTP client settings, in the shape that `promtool --http.config.file` takes.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// Who we are.
    pub credentials: Option<Credentials>,
    /// Headers to send, with their values.
    pub headers: Vec<(String, SecretRef)>,
    /// TLS.
    pub tls: TlsSettings,
    /// Proxy address; `None` with [`HttpSettings::is_proxy_from_environment`] asks the environment.
    pub proxy_url: Option<String>,
    /// Hosts that need no proxy.
    pub no_proxy: Vec<String>,
    /// Whether `HTTPS_PROXY` and the like count. They do unless the file says no.
    pub is_proxy_from_environment: Option<bool>,
    /// Whether redirects are followed (within the same origin with credentials; elsewhere without).
    pub follows_redirects: Option<bool>,
}

/// Who we are.
#[derive(Debug, Clone)]
pub enum Credentials {
    /// User and password.
    Basic {
        /// The user.
        username: String,
        /// The password.
        password: SecretRef,
    },
    /// `Authorization: TYPE CREDENTIALS`; the type is `Bearer` unless the file says another.
    Authorization {
        /// The type.
        scheme: String,
        /// The rest of the header.
        credentials: SecretRef,
    },
    /// A login form (Pinpoint).
    Login {
        /// The user.
        username: String,
        /// The password.
        password: SecretRef,
    },
}

/// Where a secret is.
#[derive(Debug, Clone)]
pub enum SecretRef {
    /// In a file, whole.
    File(PathBuf),
    /// What a command prints.
    Command(Vec<String>),
    /// In the system's keyring, under this name.
    Keyring(String),
    /// In the clear, in a foreign configuration file that is read unchanged. Never from `sources.toml`.
    Clear(Secret),
    /// No secret: a plain value.
    Plain(String),
}

/// TLS of one source.
#[derive(Debug, Clone, Default)]
pub struct TlsSettings {
    /// PEM file of authorities beside the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file of our certificate.
    pub cert_file: Option<PathBuf>,
    /// PEM file of its key.
    pub key_file: Option<PathBuf>,
    /// The name that the certificate must carry, when it is not the host's.
    pub server_name: Option<String>,
    /// Whether any certificate will do. Stamped into the report.
    pub insecure_skip_verify: bool,
}

/// How much of a source at once.
#[derive(Debug, Clone)]
pub struct PullLimits {
    /// Requests in flight to its host.
    pub requests_at_once: usize,
    /// Requests a second to its host; `None` is as many as it answers.
    pub requests_per_s: Option<f64>,
    /// Time for a connection with its TLS.
    pub connect_timeout: Duration,
    /// Time from the last byte sent to the first byte of the answer.
    pub first_byte_timeout: Duration,
    /// Time for the whole answer.
    pub total_timeout: Duration,
    /// Times that a request is tried again after 429, 502, 503, 504 or a lost connection.
    pub retries: u32,
    /// Largest answer as received.
    pub packed_bytes: u64,
    /// Largest answer unpacked.
    pub unpacked_bytes: u64,
}

impl Default for PullLimits {
    fn default() -> Self {
        Self {
            requests_at_once: 4,
            requests_per_s: None,
            connect_timeout: Duration::from_secs(5),
            first_byte_timeout: Duration::from_mins(1),
            total_timeout: Duration::from_mins(5),
            retries: 3,
            packed_bytes: 256 << 20,
            unpacked_bytes: 1 << 30,
        }
    }
}

/// What is wrong with the settings of a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}; expected {expected}")]
pub struct SettingsError {
    /// File and key: `tailscope.toml: sources.prod.url`.
    pub place: String,
    /// What was there.
    pub what: String,
    /// What was expected.
    pub expected: String,
}

impl SourceSettings {
    /// An error at one key of this source.
    pub fn error(
        &self,
        key: &str,
        what: impl Into<String>,
        expected: impl Into<String>,
    ) -> SettingsError {
        SettingsError {
            place: format!("sources.{}.{key}", self.name),
            what: what.into(),
            expected: expected.into(),
        }
    }

    /// The settings that only this kind knows. A key that it does not know is an error that names it.
    pub fn own<T: serde::de::DeserializeOwned>(&self) -> Result<T, SettingsError> {
        serde_json::from_value(serde_json::Value::Object(self.own.clone())).map_err(|error| {
            SettingsError {
                place: format!("sources.{}", self.name),
                what: error.to_string(),
                expected: format!("settings of the kind `{}`", self.kind),
            }
        })
    }
}

/// All sources of a file, by name.
pub type Sources = BTreeMap<String, SourceSettings>;
