//! What a variable, a JSON key or a `key=value` name means to us.

use std::borrow::Cow;

use crate::formats::upstream_lists;

/// One thing that a line may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    /// `$msec`.
    Msec,
    /// `$time_iso8601`.
    TimeIso,
    /// `$time_local`.
    TimeLocal,
    /// A key that says only "time": any of the three.
    TimeAny,
    /// `METHOD PATH PROTOCOL`.
    Request,
    Method,
    Path,
    Status,
    Bytes,
    Duration,
    UpstreamAddr,
    UpstreamStatus,
    UpstreamConnect,
    UpstreamHeader,
    UpstreamResponse,
    UpstreamName,
    Client,
    RequestId,
    Trace,
    Pod,
    Service,
    /// The machine's own name, for sure.
    Hostname,
    /// The machine's name, or the virtual host.
    Host,
    /// `ua` of a short form: the upstream's address, or the user agent.
    AddrOrAgent,
    /// Another `$upstream_*` list: passed over, but its spaces are known.
    OtherList,
    /// A number that is passed over.
    OtherNumber,
    /// Anything else.
    Other,
}

/// How many of [`Field`] are kept (all before `OtherList`).
const KEPT: usize = Field::OtherList as usize;

/// What a value's number is in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unit {
    /// Seconds, as nginx writes them, unless the whole file says otherwise.
    Usual,
    /// This many milliseconds each, as the name says.
    Millis(f64),
}

impl Field {
    /// Whether its value is a list over the attempts upstream, with spaces in it.
    pub(super) const fn is_list(self) -> bool {
        matches!(
            self,
            Self::UpstreamAddr
                | Self::UpstreamStatus
                | Self::UpstreamConnect
                | Self::UpstreamHeader
                | Self::UpstreamResponse
                | Self::OtherList
        )
    }

    /// Whether it may hold any text at all, the literals of its format among it.
    pub(super) const fn is_free_text(self) -> bool {
        matches!(self, Self::Request | Self::Path | Self::Other)
    }

    /// Whether it says when.
    pub(super) const fn is_time(self) -> bool {
        matches!(
            self,
            Self::Msec | Self::TimeIso | Self::TimeLocal | Self::TimeAny
        )
    }

    /// Whether a value can be one of this field.
    pub(super) fn accepts(self, value: &str) -> bool {
        let is_number = |v: &str| {
            v == "-"
                || (v.bytes().any(|b| b.is_ascii_digit())
                    && v.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        };
        match self {
            Self::Status => {
                value == "-" || (value.len() == 3 && value.bytes().all(|b| b.is_ascii_digit()))
            }
            Self::Bytes | Self::Duration | Self::OtherNumber => {
                value.is_empty() || is_number(value)
            }
            Self::Msec => value.len() >= 10 && is_number(value),
            Self::UpstreamStatus
            | Self::UpstreamConnect
            | Self::UpstreamHeader
            | Self::UpstreamResponse => {
                value.is_empty() || upstream_lists::elements(value).all(|(e, _)| is_number(e))
            }
            Self::TimeLocal => super::times::time_local_len(value).is_some(),
            Self::TimeIso => value.contains('T') || value.contains(':'),
            _ => true,
        }
    }

    /// The field of an nginx variable.
    pub(super) fn of_variable(name: &str) -> (Self, Unit) {
        match name {
            // `$host` is the virtual host that was asked for, never the machine that answered.
            "host" | "http_host" | "server_name" | "pipe" => (Self::Other, Unit::Usual),
            "connection"
            | "connection_requests"
            | "request_length"
            | "pid"
            | "server_port"
            | "remote_port" => (Self::OtherNumber, Unit::Usual),
            _ => Self::of_name(name),
        }
    }

    /// The field of a JSON key or a `key=value` name, with the rules of `xray.md` §3.
    pub(super) fn of_name(name: &str) -> (Self, Unit) {
        let name = normalised(name);
        if let Some(field) = Self::of_normalised(&name) {
            return (field, Unit::Usual);
        }
        for (suffix, millis) in UNIT_SUFFIXES {
            if let Some(field) = name
                .strip_suffix(suffix)
                .and_then(Self::of_normalised_duration)
            {
                return (field, Unit::Millis(*millis));
            }
        }
        let other = if name.starts_with("upstream_") {
            Self::OtherList
        } else {
            Self::Other
        };
        (other, Unit::Usual)
    }

    /// The field of a normalised name, or of one that lacks only its `_time` (`upstream_connect_ms`).
    fn of_normalised_duration(name: &str) -> Option<Self> {
        Self::of_normalised(name)
            .or_else(|| Self::of_normalised(&format!("{name}_time")))
            .filter(|f| {
                matches!(
                    f,
                    Self::Duration
                        | Self::UpstreamConnect
                        | Self::UpstreamHeader
                        | Self::UpstreamResponse
                )
            })
    }

    fn of_normalised(name: &str) -> Option<Self> {
        Some(match name {
            "msec" | "time_msec" | "epoch" => Self::Msec,
            "time_iso8601" => Self::TimeIso,
            "time_local" => Self::TimeLocal,
            "time" | "timestamp" | "ts" | "date" | "datetime" | "t" => Self::TimeAny,
            "request" => Self::Request,
            "request_method" | "method" | "verb" => Self::Method,
            "request_uri" | "uri" | "path" | "url" | "request_path" => Self::Path,
            "status" | "status_code" | "response_status" | "response_code" => Self::Status,
            "body_bytes_sent" | "bytes_sent" | "bytes" | "size" | "body_bytes" => Self::Bytes,
            "request_time" | "rt" | "duration" | "request_duration" | "response_time" => {
                Self::Duration
            }
            "upstream_addr" | "upstream_address" | "upstream_host" => Self::UpstreamAddr,
            "upstream_status" | "us" => Self::UpstreamStatus,
            "upstream_connect_time"
            | "uct"
            | "upstream_connect"
            | "connect_time"
            | "time_to_connect"
            | "tcp_connect" => Self::UpstreamConnect,
            "upstream_header_time" | "uht" | "upstream_header" => Self::UpstreamHeader,
            "upstream_response_time" | "urt" | "upstream_response" | "upstream_time" => {
                Self::UpstreamResponse
            }
            "upstream_name" | "upstream" | "upname" => Self::UpstreamName,
            "remote_addr" | "client" | "client_ip" | "clientip" | "remote_ip" | "the_real_ip"
            | "remote_address" => Self::Client,
            "request_id" | "req_id" | "rid" | "reqid" | "x_request_id" => Self::RequestId,
            "trace"
            | "trace_id"
            | "traceid"
            | "x_amzn_trace_id"
            | "traceparent"
            | "otel_trace_id"
            | "opentelemetry_trace_id"
            | "xray_trace_id" => Self::Trace,
            "pod" | "pod_name" | "kubernetes_pod_name" => Self::Pod,
            "service" | "service_name" => Self::Service,
            "hostname" | "instance" => Self::Hostname,
            "host" => Self::Host,
            "ua" => Self::AddrOrAgent,
            _ => return None,
        })
    }
}

const UNIT_SUFFIXES: &[(&str, f64)] = &[
    ("_milliseconds", 1.0),
    ("_millis", 1.0),
    ("_msec", 1.0),
    ("_ms", 1.0),
    ("_us", 0.001),
    ("_seconds", 1_000.0),
    ("_secs", 1_000.0),
    ("_s", 1_000.0),
];

/// Lower case, `.` and `-` as `_`, without the prefixes that say nothing (`xray.md` §3).
fn normalised(name: &str) -> String {
    let mut name: String = name
        .chars()
        .map(|c| match c {
            '.' | '-' => '_',
            other => other.to_ascii_lowercase(),
        })
        .collect();
    for prefix in ["$", "@", "nginx_", "ngx_", "http_", "proxy_"] {
        if let Some(rest) = name.strip_prefix(prefix) {
            name = rest.to_owned();
        }
    }
    name
}

/// The values of one line, by field.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    values: [Option<(Cow<'a, str>, Unit)>; KEPT],
}

impl<'a> Fields<'a> {
    pub(super) const fn new() -> Self {
        Self {
            values: [const { None }; KEPT],
        }
    }

    /// Keeps a value; the first of two for one field wins.
    pub(super) fn set(&mut self, field: Field, value: Cow<'a, str>, unit: Unit) {
        if let Some(slot @ None) = self.values.get_mut(field as usize) {
            *slot = Some((value, unit));
        }
    }

    /// Whether the line has the field at all, empty or not.
    pub(super) fn has(&self, field: Field) -> bool {
        matches!(self.values.get(field as usize), Some(Some(_)))
    }

    /// A value that says something: neither empty nor `-`.
    pub(super) fn get(&self, field: Field) -> Option<&str> {
        self.raw(field).filter(|v| !v.is_empty() && *v != "-")
    }

    /// A value as it stands.
    pub(super) fn raw(&self, field: Field) -> Option<&str> {
        match self.values.get(field as usize) {
            Some(Some((value, _))) => Some(value.as_ref()),
            _ => None,
        }
    }

    /// The unit that the field's name gave.
    pub(super) fn unit(&self, field: Field) -> Unit {
        match self.values.get(field as usize) {
            Some(Some((_, unit))) => *unit,
            _ => Unit::Usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_kind_are_known() {
        for (name, field) in [
            ("upstream.connect_time", Field::UpstreamConnect),
            ("nginx.upstream_addr", Field::UpstreamAddr),
            ("uct", Field::UpstreamConnect),
            ("$proxy_upstream_name", Field::UpstreamName),
            ("http_x_request_id", Field::RequestId),
            ("upstream_bytes_sent", Field::OtherList),
            ("http_user_agent", Field::Other),
            ("@timestamp", Field::TimeAny),
        ] {
            assert_eq!(Field::of_name(name).0, field, "{name}");
        }
        assert_eq!(
            Field::of_name("upstream_connect_ms"),
            (Field::UpstreamConnect, Unit::Millis(1.0))
        );
        assert_eq!(
            Field::of_name("request_time_us"),
            (Field::Duration, Unit::Millis(0.001))
        );
        assert_eq!(Field::of_variable("host").0, Field::Other);
    }

    #[test]
    fn values_are_tried_before_they_are_taken() {
        assert!(Field::UpstreamConnect.accepts("-, 0.000 : 1.001"));
        assert!(!Field::UpstreamConnect.accepts("10.0.0.1:80"));
        assert!(Field::Status.accepts("499"));
        assert!(!Field::Status.accepts("\"GET"));
    }
}
