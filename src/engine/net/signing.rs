//! `SigV4` with the credentials of the AWS chain.

use std::time::{Duration, SystemTime};

use aws_config::profile::ProfileFileCredentialsProvider;
use aws_config::provider_config::ProviderConfig;
use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials as _;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::{Response, StatusCode};
use aws_smithy_types::body::SdkBody;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::sources::Signing;

/// Signs for one source; the chain is asked once and keeps what it has until that expires.
#[derive(Debug)]
pub(super) struct Signer {
    http: reqwest::Client,
    config: tokio::sync::OnceCell<aws_config::SdkConfig>,
    /// The chain itself keeps nothing: it would run `credential_process` and ask the instance for every request.
    held: tokio::sync::Mutex<Option<Credentials>>,
}

/// Credentials are asked for anew so long before they expire: an answer may take as long.
const SPARE: Duration = Duration::from_mins(1);

impl Signer {
    pub(super) fn new(http: reqwest::Client) -> Self {
        Self {
            http,
            config: tokio::sync::OnceCell::new(),
            held: tokio::sync::Mutex::default(),
        }
    }

    /// The headers that the signature adds.
    ///
    /// # Errors
    /// When the chain has no credentials; in words, without any of them.
    pub(super) async fn sign(
        &self,
        signing: &Signing,
        method: &str,
        url: &Url,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<HeaderMap, String> {
        let config = self
            .config
            .get_or_init(|| async {
                let http = SharedHttpClient::new(OverOurs {
                    http: self.http.clone(),
                    patience: None,
                });
                let region = aws_config::Region::new(signing.region.clone());
                let mut loader = aws_config::defaults(aws_config::BehaviorVersion::latest())
                    .http_client(http.clone())
                    .region(region.clone());
                // Keys in the environment come first in the chain; whoever names a profile wants that one.
                if let Some(profile) = &signing.profile {
                    let around = ProviderConfig::default()
                        .with_http_client(http)
                        .with_region(Some(region));
                    let provider = ProfileFileCredentialsProvider::builder()
                        .configure(&around)
                        .profile_name(profile.as_ref())
                        .build();
                    loader = loader.credentials_provider(provider);
                }
                loader.load().await
            })
            .await;
        let identity = self.credentials(config).await?.into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&signing.region)
            .name(signing.service)
            .time(now())
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| error.to_string())?
            .into();
        // Only what must be signed: a proxy may change the rest. The host is the one of the address, unless it is sent as
        // another (the certificate carries another name).
        let signed_headers = headers
            .iter()
            .filter(|(name, _)| {
                [reqwest::header::CONTENT_TYPE, reqwest::header::HOST].contains(name)
            })
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let request = SignableRequest::new(
            method,
            url.as_str(),
            signed_headers,
            SignableBody::Bytes(body),
        )
        .map_err(|error| error.to_string())?;
        let (instructions, _) = sign(request, &params)
            .map_err(|error| error.to_string())?
            .into_parts();
        let mut added = HeaderMap::new();
        for (name, value) in instructions.headers() {
            let (Ok(name), Ok(mut value)) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(value),
            ) else {
                continue;
            };
            value.set_sensitive(true);
            added.insert(name, value);
        }
        Ok(added)
    }

    /// What the chain gave, until it is about to expire.
    async fn credentials(&self, config: &aws_config::SdkConfig) -> Result<Credentials, String> {
        let mut held = self.held.lock().await;
        let is_good =
            |known: &Credentials| known.expiry().is_none_or(|expiry| now() + SPARE < expiry);
        if let Some(known) = held.as_ref().filter(|known| is_good(known)) {
            return Ok(known.clone());
        }
        let provider = config
            .credentials_provider()
            .ok_or("the AWS chain has no provider of credentials")?;
        let new = provider
            .provide_credentials()
            .await
            .map_err(|error| format!("the AWS chain gives no credentials: {}", chain(&error)))?;
        *held = Some(new.clone());
        Ok(new)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a signature carries the time of sending; no result depends on it"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut words = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(one) = cause {
        words.push(one.to_string());
        cause = one.source();
    }
    // Some of them are whole paragraphs.
    let words = words.join(": ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The chain's own requests (SSO, web identity, instance metadata) over the client that everything else goes over.
#[derive(Debug, Clone)]
struct OverOurs {
    http: reqwest::Client,
    /// The chain knows how long each of its places may take: where no instance answers, a second must do.
    patience: Option<Duration>,
}

impl HttpClient for OverOurs {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        let patience = match (settings.connect_timeout(), settings.read_timeout()) {
            (Some(connect), Some(read)) => Some(connect + read),
            _ => None,
        };
        SharedHttpConnector::new(Self {
            http: self.http.clone(),
            patience,
        })
    }
}

impl HttpConnector for OverOurs {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (http, patience) = (self.http.clone(), self.patience);
        HttpConnectorFuture::new(async move {
            let wrong = |error: Box<dyn std::error::Error + Send + Sync>| {
                ConnectorError::other(error, None)
            };
            let method = reqwest::Method::from_bytes(request.method().as_bytes())
                .map_err(|e| wrong(e.into()))?;
            let mut sent = http.request(method, request.uri());
            if let Some(patience) = patience {
                sent = sent.timeout(patience);
            }
            for (name, value) in request.headers() {
                sent = sent.header(name, value);
            }
            let body = request.body().bytes().unwrap_or_default().to_vec();
            let answer = sent.body(body).send().await.map_err(|error| {
                if error.is_timeout() {
                    ConnectorError::timeout(error.into())
                } else {
                    ConnectorError::io(error.into())
                }
            })?;
            let status =
                StatusCode::try_from(answer.status().as_u16()).map_err(|e| wrong(e.into()))?;
            let headers = answer.headers().clone();
            let body = answer
                .bytes()
                .await
                .map_err(|e| ConnectorError::io(e.into()))?;
            let mut response = Response::new(status, SdkBody::from(body.to_vec()));
            for (name, value) in &headers {
                if let Ok(value) = value.to_str() {
                    response
                        .headers_mut()
                        .append(name.as_str().to_owned(), value.to_owned());
                }
            }
            Ok(response)
        })
    }
}
