//! One HTTP client for each source: its TLS, its proxy, its credentials.

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::base::fs;
use crate::engine::net::failure::Place;
use crate::engine::net::masks::Masks;
use crate::engine::net::secrets;
use crate::sources::settings::{Credentials, SecretRef};
use crate::sources::{Failure, FailureKind, SourceSettings};

/// Everything that sending for one source needs.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) settings: SourceSettings,
    pub(super) base: Url,
    pub(super) http: reqwest::Client,
    pub(super) place: Place,
    /// `host:port`: whose gate it goes through.
    pub(super) host: String,
    /// The host that the person wrote, when the certificate carries another name.
    pub(super) host_header: Option<String>,
    /// Credentials and headers, read when the first request is sent and again after a 401.
    pub(super) secret_headers: tokio::sync::Mutex<Option<HeaderMap>>,
    /// What of them must not come back in an answer.
    masks: Mutex<Masks>,
    #[cfg(feature = "aws")]
    pub(super) signer: super::signing::Signer,
}

fn install_crypto() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error means that somebody was faster, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
    });
}

impl Client {
    /// Makes one.
    ///
    /// # Errors
    /// When a file of the TLS settings cannot be used, or the address cannot be read.
    pub(super) async fn new(settings: SourceSettings) -> Result<Arc<Self>, Failure> {
        install_crypto();
        let address = settings.url.clone().unwrap_or_default();
        let mut base = Url::parse(&address).map_err(|error| Failure {
            kind: FailureKind::Protocol,
            text: format!("`{address}` is no address: {error}"),
            advice: "write it like `https://prometheus.example:9090`".to_owned(),
        })?;
        let place = Place {
            origin: base.origin().ascii_serialization(),
            has_proxy: settings.http.proxy_url.is_some()
                || settings.http.is_proxy_from_environment != Some(false),
        };
        let host = format!(
            "{}:{}",
            base.host_str().unwrap_or_default(),
            base.port_or_known_default().unwrap_or_default()
        );
        let mut builder = reqwest::Client::builder()
            .connect_timeout(settings.limits.connect_timeout)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("tailscope/", env!("CARGO_PKG_VERSION")))
            .pool_max_idle_per_host(settings.limits.requests_at_once);
        builder = trusting(&settings, builder, &place)?;
        builder = by_proxy(&settings, builder, &place)?;
        let mut host_header = None;
        if let Some(name) = &settings.http.tls.server_name {
            // The certificate is checked against the name in the address, so the name goes there, and leads to the host.
            let found = tokio::net::lookup_host(&host).await.map_err(|error| {
                place.failure(
                    FailureKind::Unresolved,
                    &format!("the name has no address: {error}"),
                )
            })?;
            let addresses: Vec<_> = found.collect();
            builder = builder.resolve_to_addrs(name, &addresses);
            host_header = Some(match base.port() {
                Some(port) => format!("{}:{port}", base.host_str().unwrap_or_default()),
                None => base.host_str().unwrap_or_default().to_owned(),
            });
            base.set_host(Some(name)).map_err(|error| {
                place.failure(
                    FailureKind::Protocol,
                    &format!("`{name}` is no name of a server: {error}"),
                )
            })?;
        }
        let http = builder.build().map_err(|error| place.of(&error))?;
        Ok(Arc::new(Self {
            #[cfg(feature = "aws")]
            signer: super::signing::Signer::new(http.clone()),
            settings,
            base,
            http,
            place,
            host,
            host_header,
            secret_headers: tokio::sync::Mutex::default(),
            masks: Mutex::default(),
        }))
    }

    /// What must not be kept of answers.
    pub(super) fn masks(&self) -> MutexGuard<'_, Masks> {
        self.masks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Credentials and headers for requests to the base address itself; never for anywhere else.
    pub(super) async fn headers(&self, is_fresh: bool) -> Result<HeaderMap, Failure> {
        let mut held = self.secret_headers.lock().await;
        if let Some(headers) = held.as_ref().filter(|_| !is_fresh) {
            return Ok(headers.clone());
        }
        let fail = |why: String| self.place.failure(FailureKind::Credentials, &why);
        let mut headers = HeaderMap::new();
        let secret = |value: String| {
            HeaderValue::from_str(&value)
                .map(|mut value| {
                    value.set_sensitive(true);
                    value
                })
                .map_err(|error| format!("the secret cannot stand in a header: {error}"))
        };
        match &self.settings.http.credentials {
            Some(Credentials::Basic { username, password }) => {
                let password = secrets::get(password).await.map_err(fail)?;
                self.masks().add(password.expose());
                let pair = base64(format!("{username}:{}", password.expose()).as_bytes());
                self.masks().add(&pair);
                let value = secret(format!("Basic {pair}")).map_err(fail)?;
                headers.insert(reqwest::header::AUTHORIZATION, value);
            }
            Some(Credentials::Authorization {
                scheme,
                credentials,
            }) => {
                let word = secrets::get(credentials).await.map_err(fail)?;
                self.masks().add(word.expose());
                let value = secret(format!("{scheme} {}", word.expose())).map_err(fail)?;
                headers.insert(reqwest::header::AUTHORIZATION, value);
            }
            Some(Credentials::Login { .. }) | None => {}
        }
        for (name, place) in &self.settings.http.headers {
            let word = secrets::get(place).await.map_err(fail)?;
            if !matches!(place, SecretRef::Plain(_)) {
                self.masks().add(word.expose());
            }
            let header = HeaderName::from_bytes(name.as_bytes())
                .map_err(|error| fail(format!("`{name}` is no name of a header: {error}")))?;
            headers.append(header, secret(word.expose().to_owned()).map_err(fail)?);
        }
        *held = Some(headers.clone());
        Ok(headers)
    }
}

fn trusting(
    settings: &SourceSettings,
    mut builder: reqwest::ClientBuilder,
    place: &Place,
) -> Result<reqwest::ClientBuilder, Failure> {
    let tls = &settings.http.tls;
    let fail = |why: String| place.failure(FailureKind::Credentials, &why);
    if let Some(path) = &tls.ca_file {
        let pem = fs::read(path).map_err(|error| fail(error.to_string()))?;
        let certificates = reqwest::Certificate::from_pem_bundle(&pem).map_err(|error| {
            fail(format!(
                "{} holds no PEM certificate: {error}",
                path.display()
            ))
        })?;
        if certificates.is_empty() {
            return Err(fail(format!("{} holds no PEM certificate", path.display())));
        }
        builder = builder.tls_certs_merge(certificates);
    }
    if let (Some(certificate), Some(key)) = (&tls.cert_file, &tls.key_file) {
        let mut pem = fs::read(certificate).map_err(|error| fail(error.to_string()))?;
        pem.push(b'\n');
        pem.extend(fs::read(key).map_err(|error| fail(error.to_string()))?);
        let identity = reqwest::Identity::from_pem(&pem).map_err(|error| {
            fail(format!(
                "{} and {} are no certificate with its key: {error}",
                certificate.display(),
                key.display()
            ))
        })?;
        builder = builder.identity(identity);
    }
    if tls.insecure_skip_verify {
        builder = builder.tls_danger_accept_invalid_certs(true);
    }
    Ok(builder)
}

fn by_proxy(
    settings: &SourceSettings,
    builder: reqwest::ClientBuilder,
    place: &Place,
) -> Result<reqwest::ClientBuilder, Failure> {
    let http = &settings.http;
    if let Some(url) = &http.proxy_url {
        let proxy = reqwest::Proxy::all(url).map_err(|error| {
            place.failure(
                FailureKind::Proxy,
                &format!("the address of the proxy cannot be read: {error}"),
            )
        })?;
        let except = reqwest::NoProxy::from_string(&http.no_proxy.join(","));
        return Ok(builder.proxy(proxy.no_proxy(except)));
    }
    if http.is_proxy_from_environment == Some(false) {
        return Ok(builder.no_proxy());
    }
    Ok(builder)
}

/// RFC 4648 §4, for `Authorization: Basic` (RFC 7617).
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let word = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for digit in 0..4_usize {
            if digit > three.len() {
                out.push('=');
                continue;
            }
            let at = (word >> (18 - 6 * digit)) & 63;
            out.push(
                usize::try_from(at)
                    .ok()
                    .and_then(|at| DIGITS.get(at))
                    .map_or('=', |d| char::from(*d)),
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    /// RFC 4648 §10.
    #[test]
    fn base64_of_the_standard() {
        for (plain, packed) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), packed);
        }
    }
}
