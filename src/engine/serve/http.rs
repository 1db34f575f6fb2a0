//! The socket: HTTP/1.1, on loopback unless told otherwise, within limits.
//!
//! A request is taken, its reply is computed on a thread of its own beside the loop that accepts, and nothing is ever changed
//! by it. A page of the web may make a browser ask us under a name of its own that leads here (DNS rebinding): whoever asks
//! for another host than this machine's is refused.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::engine::serve::Served;
use crate::engine::serve::reply::{Asked, Refusal, Reply};

/// Connections at once; more wait until one is closed.
const MOST_CONNECTIONS: usize = 64;
/// Replies that are computed at once.
const MOST_REPLIES: usize = 4;
/// Bytes of a request's body. The names of a thousand metrics are 40 kB.
const MOST_BODY_BYTES: usize = 4 << 20;
/// Bytes of a request's line and headers.
const MOST_HEAD_BYTES: usize = 256 << 10;
/// How long a client may take for its headers, and for its body.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// How long one connection may live: an idle one must not keep others out.
const CONNECTION_TIME: Duration = Duration::from_mins(5);
/// How long open connections may go on after the end.
const LAST_TIME: Duration = Duration::from_secs(2);

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's own words.
        source: std::io::Error,
    },
    /// No runtime could be had.
    #[error("cannot start to serve: {0}")]
    Start(std::io::Error),
}

/// A socket that listens, and does not answer yet.
#[derive(Debug)]
pub struct Listening {
    listener: std::net::TcpListener,
    address: SocketAddr,
}

/// Begins to listen; port 0 is a free one.
///
/// # Errors
/// When the address is taken or not this machine's.
pub fn bind(address: SocketAddr) -> Result<Listening, ServeError> {
    let failed = |source| ServeError::Bind { address, source };
    let listener = std::net::TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok(Listening { listener, address })
}

impl Listening {
    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until an interrupt or a termination signal. `ready` is called once a signal would end it cleanly.
    ///
    /// # Errors
    /// When the system gives no runtime.
    pub fn run(self, served: Served, ready: impl FnOnce()) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(MOST_REPLIES)
            .thread_name("tailscope-serve")
            .build()
            .map_err(ServeError::Start)?;
        let done = runtime.block_on(async {
            let signals = Signals::new().map_err(ServeError::Start)?;
            let listener = TcpListener::from_std(self.listener).map_err(ServeError::Start)?;
            let desk = Arc::new(Desk {
                served: Arc::new(served),
                replies: Arc::new(Semaphore::new(MOST_REPLIES)),
                is_local: self.address.ip().is_loopback(),
            });
            ready();
            accept(&listener, &desk, signals).await;
            Ok(())
        });
        // A reply that is still computed is of use to nobody.
        runtime.shutdown_background();
        done
    }
}

/// What ends it.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "as on other systems")]
    fn new() -> std::io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}

/// What every connection needs.
struct Desk {
    served: Arc<Served>,
    replies: Arc<Semaphore>,
    is_local: bool,
}

async fn accept(listener: &TcpListener, desk: &Arc<Desk>, mut signals: Signals) {
    let slots = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let (end, ended) = watch::channel(false);
    loop {
        let slot = tokio::select! {
            slot = Arc::clone(&slots).acquire_owned() => slot,
            () = signals.next() => break,
        };
        let Ok(slot) = slot else { break };
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            () = signals.next() => break,
        };
        // Out of files, or gone again before it was taken: the next one may do better.
        let Ok((stream, _)) = stream else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (desk, ended) = (Arc::clone(desk), ended.clone());
        tokio::spawn(async move {
            connection(stream, &desk, ended).await;
            drop(slot);
        });
    }
    end.send_replace(true);
    let all = u32::try_from(MOST_CONNECTIONS).unwrap_or(u32::MAX);
    tokio::select! {
        _ = slots.acquire_many(all) => {}
        () = tokio::time::sleep(LAST_TIME) => {}
        () = signals.next() => {}
    }
}

async fn connection(stream: TcpStream, desk: &Arc<Desk>, mut ended: watch::Receiver<bool>) {
    let service = service_fn(|request| {
        let desk = Arc::clone(desk);
        async move { Ok::<_, Infallible>(respond(request, &desk).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // A client that breaks off is its own affair.
        _ = connection.as_mut() => return,
        _ = ended.wait_for(|is_over| *is_over) => {}
        () = tokio::time::sleep(CONNECTION_TIME) => {}
    }
    connection.as_mut().graceful_shutdown();
    drop(tokio::time::timeout(CONNECTION_TIME, connection).await);
}

async fn respond(request: Request<Incoming>, desk: &Desk) -> Response<Full<Bytes>> {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let reply = reply(request, desk).await;
    let mut response = Response::new(Full::new(Bytes::from(reply.body)));
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in reply.headers {
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(&value),
        ) {
            response.headers_mut().insert(name, value);
        }
    }
    let headers = response.headers_mut();
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    // A page of this machine may read the answer, a page of the web may not.
    if let Some(origin) = origin.filter(is_local_origin) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(
            header::ACCESS_CONTROL_ALLOW_METHODS,
            HeaderValue::from_static("GET, POST, OPTIONS"),
        );
        headers.insert(
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static("Accept, Authorization, Content-Type, Origin"),
        );
    }
    response
}

async fn reply(request: Request<Incoming>, desk: &Desk) -> Reply {
    if let Err(refusal) = check_host(&request, desk.is_local) {
        return Reply::failed(&refusal);
    }
    match *request.method() {
        Method::GET | Method::HEAD | Method::POST => {}
        Method::OPTIONS => return Reply::text(204, ""),
        _ => return Reply::not_allowed("GET, HEAD, POST, OPTIONS"),
    }
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MOST_BODY_BYTES).collect();
    let body = match tokio::time::timeout(HEAD_TIME, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            return Reply::text(
                413,
                &format!("the body of a request may have {MOST_BODY_BYTES} bytes\n"),
            );
        }
        Ok(Err(_)) => return Reply::text(400, "the body broke off\n"),
        Err(_) => return Reply::text(408, "the body did not come\n"),
    };
    let text = |name: HeaderName| header_text(&head.headers, &name).map(str::to_owned);
    let asked = Asked {
        method: head.method.as_str().to_owned(),
        target: head
            .uri
            .path_and_query()
            .map_or_else(|| "/".to_owned(), ToString::to_string),
        body: body.to_vec(),
        content_type: text(header::CONTENT_TYPE),
        takes_gzip: text(header::ACCEPT_ENCODING).is_some_and(|e| e.contains("gzip")),
    };
    let Ok(_turn) = desk.replies.acquire().await else {
        return Reply::text(503, "it is ending\n");
    };
    let served = Arc::clone(&desk.served);
    tokio::task::spawn_blocking(move || served.answer(&asked))
        .await
        .unwrap_or_else(|_| {
            Reply::failed(&Refusal {
                status: 500,
                kind: "internal",
                text: "an internal error of tailscope; please report it with the request"
                    .to_owned(),
            })
        })
}

fn header_text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|v| v.to_str().ok())
}

/// Whether the client asked for this machine: by the absolute form of the target, else by `Host`.
fn check_host(request: &Request<Incoming>, is_local: bool) -> Result<(), Refusal> {
    let named = request
        .uri()
        .authority()
        .map(hyper::http::uri::Authority::as_str)
        .or_else(|| header_text(request.headers(), &header::HOST));
    let refused = |text: String| {
        Err(Refusal {
            status: 403,
            kind: "forbidden",
            text,
        })
    };
    match named {
        None => refused("a request must name its host".to_owned()),
        Some(named) if is_good_host(named, is_local) => Ok(()),
        Some(named) => refused(format!(
            "{:?} is not the name of this machine's own address: ask for 127.0.0.1 or localhost{}. A page of the web could have sent you here under a name of its own",
            crate::base::text::shorten(named, 100),
            if is_local {
                ""
            } else {
                ", or the address by its number"
            }
        )),
    }
}

/// Whether a `Host` leads to this machine whoever answers for names: `localhost`, an address of the loopback, and where the
/// person chose to listen beyond that, any address in numbers.
pub(super) fn is_good_host(named: &str, is_local: bool) -> bool {
    let host = match named.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => named.split(':').next().unwrap_or_default(),
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if host == "localhost" || host.ends_with(".localhost") {
        return true;
    }
    host.parse::<IpAddr>()
        .is_ok_and(|ip| ip.is_loopback() || !is_local)
}

fn is_local_origin(origin: &HeaderValue) -> bool {
    origin
        .to_str()
        .ok()
        .and_then(|text| text.split_once("://"))
        .is_some_and(|(_, host)| is_good_host(host, true))
}
