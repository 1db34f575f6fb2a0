//! Errors of the HTTP stack → what happened and what to do.

use std::error::Error as _;

use crate::sources::{Failure, FailureKind};

/// What is known of the place of a failure.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// `scheme://host:port`, without anything else of the address: paths may hold what nobody should see.
    pub(super) origin: String,
    /// Whether a proxy stands between.
    pub(super) has_proxy: bool,
}

impl Place {
    pub(super) fn failure(&self, kind: FailureKind, what: &str) -> Failure {
        Failure {
            kind,
            text: format!("{what} ({})", self.origin),
            advice: advice(kind).to_owned(),
        }
    }

    /// By the chain of causes of an error.
    pub(super) fn of(&self, error: &reqwest::Error) -> Failure {
        let mut chain = Vec::new();
        let mut cause = error.source();
        while let Some(one) = cause {
            chain.push(one.to_string());
            cause = one.source();
        }
        let words = chain.join(": ");
        let has = |needles: &[&str]| needles.iter().any(|n| words.contains(n));
        let io = io_kind(error);
        let (kind, what) = if has(&["certificate", "CertNotValid", "UnknownIssuer"]) {
            (FailureKind::Untrusted, certificate(&words))
        } else if error.is_dns() || has(&["dns error", "failed to lookup"]) {
            (
                FailureKind::Unresolved,
                "the name has no address".to_owned(),
            )
        } else if error.is_connect() && error.is_timeout() {
            (
                FailureKind::ConnectTimeout,
                "no connection within the time for that".to_owned(),
            )
        } else if self.has_proxy && has(&["tunnel", "proxy"]) {
            (
                FailureKind::Proxy,
                format!("the proxy did not let us through: {}", last(&chain)),
            )
        } else if io == Some(std::io::ErrorKind::ConnectionRefused) {
            (
                FailureKind::Unreachable,
                "nobody listens there (connection refused)".to_owned(),
            )
        } else if has(&["InvalidContentType", "received corrupt message"]) {
            (
                FailureKind::Protocol,
                "what answers there does not speak TLS".to_owned(),
            )
        } else if error.is_connect() {
            (
                FailureKind::Unreachable,
                format!("it cannot be reached: {}", last(&chain)),
            )
        } else if error.is_timeout() {
            (
                FailureKind::TotalTimeout,
                "no whole answer within the time for that".to_owned(),
            )
        } else if has(&["invalid HTTP", "parse", "invalid header"]) {
            (
                FailureKind::Protocol,
                format!(
                    "what answers there does not speak HTTP as it should: {}",
                    last(&chain)
                ),
            )
        } else {
            (
                FailureKind::Broken,
                format!("the connection broke: {}", last(&chain)),
            )
        };
        self.failure(kind, &what)
    }
}

fn last(chain: &[String]) -> &str {
    chain.last().map_or("no reason was given", String::as_str)
}

fn io_kind(error: &reqwest::Error) -> Option<std::io::ErrorKind> {
    let mut cause = error.source();
    let mut found = None;
    while let Some(one) = cause {
        if let Some(io) = one.downcast_ref::<std::io::Error>() {
            found = Some(io.kind());
        }
        cause = one.source();
    }
    found
}

/// The words of rustls and of the platform's verifier, in plain ones.
fn certificate(words: &str) -> String {
    let why = if words.contains("xpired") {
        "it has expired"
    } else if words.contains("NotValidForName") || words.contains("not valid for") {
        "it is for another name"
    } else if words.contains("NotValidYet") || words.contains("not yet") {
        "it is not valid yet"
    } else if words.contains("UnknownIssuer") || words.contains("unknown") {
        "nobody that this machine trusts has signed it"
    } else if words.contains("required") {
        "the server wants a certificate of ours"
    } else {
        return format!(
            "the certificate is not trusted: {}",
            words.rsplit(": ").next().unwrap_or(words)
        );
    };
    format!("the certificate is not trusted: {why}")
}

const fn advice(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Unresolved => {
            "check the name in `url`, and the DNS of this machine (a VPN may be down)"
        }
        FailureKind::Unreachable => {
            "check host and port in `url`, whether the server runs, and firewalls between"
        }
        FailureKind::Untrusted => {
            "name its authority in `http.tls_config.ca_file`, or the name it carries in `server_name`; renew what has expired"
        }
        FailureKind::Proxy => "check `http.proxy_url` or HTTPS_PROXY, and `no_proxy`",
        FailureKind::ConnectTimeout => {
            "check the way there (VPN, firewall), or raise `limits.connect_timeout`"
        }
        FailureKind::FirstByteTimeout => {
            "ask for a shorter window, or raise `limits.first_byte_timeout`"
        }
        FailureKind::TotalTimeout => "ask for a shorter window, or raise `limits.total_timeout`",
        FailureKind::TooLarge => {
            "ask for a shorter window, or raise `limits.packed_bytes` and `limits.unpacked_bytes`"
        }
        FailureKind::Redirect => "put the address where it leads to into `url`",
        FailureKind::Credentials => "see that the file, command or keyring gives the secret",
        FailureKind::Protocol => "check scheme, host and port in `url`",
        FailureKind::Offline => "leave `--offline` out to use the network",
        FailureKind::Broken | FailureKind::Cancelled => "pull again: what arrived is kept",
    }
}
