//! One request: redirects, retries, limits.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url};

use crate::base::clock::{Clock as _, Stopwatch, SystemClock};
use crate::base::time::Timestamp;
use crate::engine::net::clients::Client;
use crate::engine::net::gate::Gate;
use crate::engine::net::unpack::{Fault, skim, unpack};
use crate::model::exchange::{Answer, Exchange};
use crate::sources::request::SKIMMED;
use crate::sources::{Body, Failure, FailureKind, Method, Reply, Request};

/// Redirects that are followed, one after the other.
const MOST_REDIRECTS: usize = 5;
/// The first wait before trying again; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait that a `Retry-After` may ask for: a person is waiting.
const LONGEST_WAIT: Duration = Duration::from_mins(2);
/// Headers of answers that hold secrets: they are not even kept in memory.
const SECRET_HEADERS: &[&str] = &[
    "set-cookie",
    "set-cookie2",
    "authorization",
    "proxy-authorization",
];

/// When a secret of ours came back.
const SAID_BACK: &str = "its answers hold a secret that it was sent; stars stand in its place in what is kept, and whoever runs it should know";

/// What came of one request.
#[derive(Debug)]
pub(super) struct Sent {
    /// The exchange as it is kept, and the answer with its body unpacked.
    pub(super) outcome: Result<(Exchange, Reply), Failure>,
    /// Bytes received, all tries together.
    pub(super) bytes: u64,
    /// What a person should know of the way there.
    pub(super) notes: Vec<String>,
}

/// Sends it, waits as long as it asks, follows, tries again.
pub(super) async fn send(client: Arc<Client>, gate: Arc<Gate>, request: Request) -> Sent {
    tokio::time::sleep(request.delay.min(crate::sources::LONGEST_DELAY)).await;
    let mut sent = Sent {
        outcome: Err(client.place.failure(FailureKind::Cancelled, "not sent")),
        bytes: 0,
        notes: Vec::new(),
    };
    let mut is_fresh = false;
    let mut try_number = 0;
    loop {
        tokio::time::sleep(gate.wait()).await;
        let at = SystemClock.now();
        let watch = Stopwatch::start();
        let total = request
            .total_timeout
            .unwrap_or(client.settings.limits.total_timeout);
        let once = Once {
            client: &client,
            request: &request,
            is_fresh,
        };
        let outcome = once.run(total, &mut sent).await;
        let advice = advise(&outcome, &gate);
        // A token may have been renewed while this pull ran.
        if matches!(&outcome, Ok(answer) if answer.status == 401)
            && !is_fresh
            && client.settings.http.credentials.is_some()
        {
            is_fresh = true;
            continue;
        }
        let is_last = try_number >= client.settings.limits.retries || !request.is_repeatable;
        match advice {
            Some(asked) if !is_last => {
                let wait = asked.unwrap_or_else(|| back_off(try_number, &request));
                if wait <= LONGEST_WAIT {
                    try_number += 1;
                    tokio::time::sleep(wait).await;
                    continue;
                }
                sent.notes.push(format!(
                    "it asks to wait {} s before the next question, longer than anybody waits",
                    wait.as_secs()
                ));
            }
            _ => {}
        }
        sent.outcome = match outcome {
            Ok(answer) => finish(&client, &request, answer, at, watch.elapsed())
                .await
                .map(|(mut exchange, mut reply)| {
                    if mask(&client, &mut exchange, &mut reply) {
                        sent.notes.push(SAID_BACK.to_owned());
                    }
                    (exchange, reply)
                }),
            Err(failure) => Err(failure),
        };
        return sent;
    }
}

/// Whether to try again, and after how long when the host says so itself.
#[expect(
    clippy::option_option,
    reason = "try again at all; and if so, told when or not"
)]
fn advise(outcome: &Result<Answer, Failure>, gate: &Gate) -> Option<Option<Duration>> {
    match outcome {
        Ok(answer) => match answer.status {
            429 => {
                gate.slow_down();
                Some(retry_after(answer))
            }
            503 => Some(retry_after(answer)),
            502 | 504 => Some(None),
            _ if answer.cut.is_some() => Some(None),
            _ => None,
        },
        Err(failure) => matches!(
            failure.kind,
            FailureKind::Broken | FailureKind::ConnectTimeout
        )
        .then_some(None),
    }
}

/// RFC 9110 §10.2.3: seconds, or a date.
fn retry_after(answer: &Answer) -> Option<Duration> {
    let text = answer.header("retry-after")?.trim();
    if let Ok(secs) = text.parse::<u64>() {
        return Some(Duration::from_secs(secs));
    }
    let date = Timestamp::parse_http_date(text)?;
    let nanos = date.nanos().saturating_sub(SystemClock.now().nanos());
    Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)))
}

/// Doubles, and is spread by up to a quarter so that many requests do not come back together. The spread is made of the
/// request, so that nothing is random.
fn back_off(try_number: u32, request: &Request) -> Duration {
    let wait = FIRST_WAIT.saturating_mul(1 << try_number.min(6));
    let spread: u32 = request.path.bytes().map(u32::from).sum::<u32>() % 256;
    wait + wait.mul_f64(f64::from(spread) / 1024.0)
}

/// One request of a try: a redirect makes another.
#[derive(Clone, Copy)]
struct Leg<'a> {
    url: &'a Url,
    method: Method,
    has_body: bool,
    /// Whether it goes to the origin of the base address, which alone may see credentials.
    is_home: bool,
}

/// One try.
struct Once<'a> {
    client: &'a Client,
    request: &'a Request,
    is_fresh: bool,
}

impl Once<'_> {
    async fn run(&self, total: Duration, sent: &mut Sent) -> Result<Answer, Failure> {
        let late = |_| {
            self.client.place.failure(
                FailureKind::TotalTimeout,
                &format!("no whole answer within {} s", total.as_secs()),
            )
        };
        tokio::time::timeout(total, self.follow(sent))
            .await
            .map_err(late)?
    }

    /// Follows redirects. Credentials and headers go to the origin of the base address only; a change of scheme is another
    /// origin.
    async fn follow(&self, sent: &mut Sent) -> Result<Answer, Failure> {
        let client = self.client;
        let mut url = self.address()?;
        let mut method = self.request.method;
        let mut has_body = !matches!(self.request.body, Body::Empty);
        for _ in 0..=MOST_REDIRECTS {
            let leg = Leg {
                url: &url,
                method,
                has_body,
                is_home: url.origin() == client.base.origin(),
            };
            let answer = self.one(leg, sent).await?;
            let is_redirect = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
            let Some(to) = answer.header("location").filter(|_| is_redirect) else {
                return Ok(answer);
            };
            if client.settings.http.follows_redirects == Some(false) {
                return Ok(answer);
            }
            let next = url.join(to).map_err(|error| {
                client.place.failure(
                    FailureKind::Redirect,
                    &format!("it redirects to what is no address: {error}"),
                )
            })?;
            if !matches!(next.scheme(), "http" | "https") {
                return Err(client.place.failure(
                    FailureKind::Redirect,
                    &format!(
                        "it redirects to `{}:`, which is not followed",
                        next.scheme()
                    ),
                ));
            }
            if next.origin() != url.origin() {
                sent.notes.push(format!(
                    "redirected to {}, without credentials",
                    next.origin().ascii_serialization()
                ));
            }
            // RFC 9110 §15.4: only 307 and 308 keep the method.
            if matches!(answer.status, 301..=303) {
                method = Method::Get;
                has_body = false;
            }
            url = next;
        }
        Err(client.place.failure(
            FailureKind::Redirect,
            &format!("it redirects more than {MOST_REDIRECTS} times, in a circle perhaps"),
        ))
    }

    fn address(&self) -> Result<Url, Failure> {
        let client = self.client;
        let text = format!(
            "{}{}",
            client.base.as_str().trim_end_matches('/'),
            self.request.path
        );
        Url::parse(&text).map_err(|error| {
            client.place.failure(
                FailureKind::Protocol,
                &format!("the address of a request cannot be read: {error}"),
            )
        })
    }

    async fn one(&self, leg: Leg<'_>, sent: &mut Sent) -> Result<Answer, Failure> {
        let client = self.client;
        let Leg {
            url,
            method,
            has_body,
            is_home,
        } = leg;
        let mut headers = HeaderMap::new();
        headers.insert(
            reqwest::header::ACCEPT_ENCODING,
            HeaderValue::from_static("gzip, zstd"),
        );
        if is_home {
            headers.extend(client.headers(self.is_fresh).await?);
            for (name, value) in &self.request.headers {
                if let (Ok(name), Ok(value)) = (
                    HeaderName::from_bytes(name.as_bytes()),
                    HeaderValue::from_str(value),
                ) {
                    headers.insert(name, value);
                }
            }
            if let Some(host) = &client.host_header
                && let Ok(host) = HeaderValue::from_str(host)
            {
                headers.insert(reqwest::header::HOST, host);
            }
        }
        let (content_type, body) = match &self.request.body {
            _ if !has_body => (None, Vec::new()),
            Body::Empty => (None, Vec::new()),
            Body::Form(form) => (
                Some("application/x-www-form-urlencoded"),
                form.clone().into_bytes(),
            ),
            Body::Json(json) => (Some("application/json"), json.clone().into_bytes()),
            Body::Bytes {
                content_type,
                bytes,
            } => (Some(*content_type), bytes.clone()),
        };
        if let Some(kind) = content_type {
            headers.insert(
                reqwest::header::CONTENT_TYPE,
                HeaderValue::from_static(kind),
            );
        }
        #[cfg(feature = "aws")]
        if let Some(signing) = self.request.signing.as_ref().filter(|_| is_home) {
            let signed = client
                .signer
                .sign(signing, method.as_str(), url, &headers, &body)
                .await
                .map_err(|why| Failure {
                    advice: "log in (`aws sso login`), set `profile`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; `aws sts get-caller-identity` shows what the AWS chain finds".to_owned(),
                    ..client.place.failure(FailureKind::Credentials, &why)
                })?;
            if let Some(token) = signed.get("x-amz-security-token") {
                client
                    .masks()
                    .add(&String::from_utf8_lossy(token.as_bytes()));
            }
            headers.extend(signed);
        }
        #[cfg(not(feature = "aws"))]
        if self.request.signing.is_some() {
            return Err(client.place.failure(
                FailureKind::Credentials,
                "this program was built without AWS (feature `aws`)",
            ));
        }
        let verb = match method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
        };
        let request = client
            .http
            .request(verb, url.clone())
            .headers(headers)
            .body(body)
            .send();
        // What measures for a while answers when it is done: it gets as much longer as it was given for the whole.
        let limits = &client.settings.limits;
        let longer = self.request.total_timeout.map_or(Duration::ZERO, |total| {
            total.saturating_sub(limits.total_timeout)
        });
        let patience = limits.first_byte_timeout + longer;
        let response = tokio::time::timeout(patience, request)
            .await
            .map_err(|late| {
                client.place.failure(
                    FailureKind::FirstByteTimeout,
                    &format!(
                        "no answer began within {} s: {late}",
                        patience.as_secs_f64()
                    ),
                )
            })?
            .map_err(|error| client.place.of(&error))?;
        self.body(response, sent).await
    }

    async fn body(
        &self,
        mut response: reqwest::Response,
        sent: &mut Sent,
    ) -> Result<Answer, Failure> {
        let client = self.client;
        let limit = client.settings.limits.packed_bytes;
        let status = response.status();
        let headers = headers_of(response.headers());
        // The parts are put together once, in the end: a buffer that grows would hold twice as much.
        let mut parts = Vec::new();
        let mut received = 0;
        let mut cut = None;
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    sent.bytes += chunk.len() as u64;
                    received += chunk.len() as u64;
                    parts.push(chunk);
                    if received > limit {
                        return Err(client.place.failure(
                            FailureKind::TooLarge,
                            &format!("an answer of more than {} MiB", limit >> 20),
                        ));
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    cut = Some(format!(
                        "the connection broke after {received} bytes: {}",
                        client.place.of(&error).text
                    ));
                    break;
                }
            }
        }
        let body = parts.concat();
        drop(parts);
        Ok(Answer {
            status: status.as_u16(),
            headers,
            body: body.into(),
            cut,
        })
    }
}

/// Names in lower case, in order, without those that hold secrets.
fn headers_of(headers: &HeaderMap) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = headers
        .iter()
        .filter(|(name, _)| !SECRET_HEADERS.contains(&name.as_str()))
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        })
        .collect();
    all.sort();
    all
}

/// Unpacks the body, beside the other requests, and puts question and answer together.
async fn finish(
    client: &Client,
    request: &Request,
    mut answer: Answer,
    at: Timestamp,
    took: Duration,
) -> Result<(Exchange, Reply), Failure> {
    let encoding = answer.header("content-encoding").map(str::to_owned);
    let (packed, limit) = (
        Arc::clone(&answer.body),
        client.settings.limits.unpacked_bytes,
    );
    let is_skimmed = request.is_skimmed && is_good(answer.status);
    let unpack = move || {
        if is_skimmed {
            skim(encoding.as_deref(), &packed, limit, SKIMMED)
        } else {
            unpack(encoding.as_deref(), &packed, limit)
        }
    };
    let unpacked = tokio::task::spawn_blocking(unpack).await.map_err(|error| {
        client
            .place
            .failure(FailureKind::Protocol, &error.to_string())
    })?;
    let body = match unpacked {
        Ok(body) => body,
        Err(Fault::TooLarge) => {
            return Err(client.place.failure(
                FailureKind::TooLarge,
                &format!(
                    "an answer of {} bytes that unpacks to more than {} MiB, or far more than data do",
                    answer.body.len(),
                    limit >> 20
                ),
            ));
        }
        Err(Fault::Unknown(encoding)) => {
            return Err(client.place.failure(
                FailureKind::Protocol,
                &format!("an answer packed as `{encoding}`, which nobody asked for"),
            ));
        }
        // What came before the damage is kept, and said to be cut.
        Err(Fault::Damaged(before, why)) => {
            if answer.cut.is_none() {
                answer.cut = Some(format!("its compression is damaged: {why}"));
            }
            before
        }
    };
    let reply = Reply {
        status: answer.status,
        headers: answer.headers.clone(),
        body,
        is_cut: answer.cut.is_some(),
    };
    let exchange = Exchange {
        source: client.settings.name.clone(),
        kind: client.settings.kind.clone(),
        question: request.question(),
        answer,
        at,
        took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
    };
    Ok((exchange, reply))
}

/// Puts stars over our secrets in an answer, and says whether there were any. The body is then kept unpacked.
fn mask(client: &Client, exchange: &mut Exchange, reply: &mut Reply) -> bool {
    let masks = client.masks();
    let mut is_masked = false;
    for (_, value) in exchange.answer.headers.iter_mut().chain(&mut reply.headers) {
        is_masked |= masks.over_text(value);
    }
    if let Some(masked) = masks.over(&reply.body) {
        let answer = &mut exchange.answer;
        answer
            .headers
            .retain(|(name, _)| name != "content-encoding");
        answer.body = masked.clone().into();
        reply.body = masked;
        is_masked = true;
    }
    is_masked
}

/// Whether an exchange answers its question for good, so that it need not be asked again.
pub(super) fn is_good(status: u16) -> bool {
    StatusCode::from_u16(status).is_ok_and(|s| s.is_success())
}
