//! Times inside spans: epoch numbers in whatever unit they came, and the timing variables that proxies put on spans
//! (`protocols/xray.md` §3).

use std::borrow::Cow;

use crate::formats::upstream_lists;

/// An epoch time in nanoseconds, exactly as its digits say, and whether it had to be taken for something other than
/// the seconds that X-Ray asks for. `None` when it is no number or does not fit (years 1678 to 2262).
///
/// The unit is told by size: 10¹¹ seconds are the year 5138, so from there on the number counts milliseconds, from
/// 10¹⁴ microseconds, from 10¹⁷ nanoseconds.
pub(super) fn epoch_nanos(digits: &str) -> Option<(i64, bool)> {
    let (mantissa, exponent) = decimal(digits.trim())?;
    // Seconds with up to nine digits behind the point, which nearly all are: without wide numbers.
    if let (Ok(small), Ok(places)) = (i64::try_from(mantissa), usize::try_from(-exponent))
        && let Some(nanos) = scaled(small, places)
    {
        return Some((nanos, false));
    }
    let seconds = mantissa as f64 * 10f64.powi(exponent);
    let (shift, is_odd) = match seconds.abs() {
        s if s < 1e11 => (9, false),
        s if s < 1e14 => (6, true),
        s if s < 1e17 => (3, true),
        _ => (0, true),
    };
    let power = exponent.checked_add(shift)?;
    let scale = 10i128.checked_pow(power.unsigned_abs())?;
    let nanos = if power >= 0 {
        mantissa.checked_mul(scale)?
    } else {
        let half = scale / 2;
        (mantissa + if mantissa < 0 { -half } else { half }) / scale
    };
    i64::try_from(nanos).ok().map(|n| (n, is_odd))
}

/// Seconds, given as their digits and how many of them stand behind the point, as nanoseconds; `None` when that is not exact, or
/// so large that they cannot be seconds.
pub(super) fn scaled(digits: i64, places: usize) -> Option<i64> {
    let power = 9usize.checked_sub(places)?;
    digits.checked_mul(10i64.pow(power as u32))
}

/// A decimal number as mantissa × 10^exponent; digits beyond the 19th are dropped (of today's seconds they are below a
/// nanosecond).
fn decimal(text: &str) -> Option<(i128, i32)> {
    let (body, is_negative) = text.strip_prefix('-').map_or((text, false), |b| (b, true));
    let (number, exponent) = match body.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (body, 0),
    };
    if exponent.abs() > 40 {
        return None;
    }
    let (mut mantissa, mut scale, mut kept, mut seen, mut is_fraction) =
        (0u64, exponent, 0, 0, false);
    for byte in number.bytes() {
        match byte {
            b'.' if !is_fraction => is_fraction = true,
            b'0'..=b'9' => {
                seen += 1;
                if kept < 19 {
                    mantissa = mantissa * 10 + u64::from(byte - b'0');
                    kept += i32::from(mantissa != 0);
                    scale -= i32::from(is_fraction);
                } else {
                    scale += i32::from(!is_fraction);
                }
            }
            _ => return None,
        }
    }
    let signed = i128::from(mantissa) * if is_negative { -1 } else { 1 };
    (seen > 0).then_some((signed, scale))
}

/// What an attribute key says about time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Connect,
    Header,
    Response,
    Status,
    Peer,
    Queue,
}

/// The role of an attribute key, and how many milliseconds one of its units is.
///
/// Keys are normalised as `xray.md` §3 says: lower case, `.` and `-` to `_`, without leading `$`, `nginx_`, `ngx_`,
/// `http_`, `proxy_`. A suffix `_ms`, `_us`, `_seconds` gives the unit, else it is seconds.
pub(super) fn role(key: &str) -> Option<(Role, f64)> {
    // The longest known key has 27 characters; what is much longer is none, and costs nothing.
    if key.len() < 3 || key.len() > 48 {
        return None;
    }
    let mut buffer = [0u8; 48];
    for (to, from) in buffer.iter_mut().zip(key.bytes()) {
        *to = match from {
            b'.' | b'-' => b'_',
            other => other.to_ascii_lowercase(),
        };
    }
    let mut name = std::str::from_utf8(buffer.get(..key.len())?).ok()?;
    while let Some(rest) = ["$", "nginx_", "ngx_", "http_", "proxy_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
    {
        name = rest;
    }
    let (stem, ms) = [("_ms", 1.0), ("_us", 1e-3), ("_seconds", 1e3)]
        .iter()
        .find_map(|(suffix, ms)| name.strip_suffix(suffix).map(|stem| (stem, *ms)))
        .unwrap_or((name, 1e3));
    let role = match stem {
        "upstream_connect_time"
        | "upstream_connect"
        | "connect_time"
        | "uct"
        | "tcp_connect"
        | "connect"
        | "time_to_connect" => Role::Connect,
        "upstream_header_time" | "upstream_header" | "uht" => Role::Header,
        "upstream_response_time" | "upstream_response" | "urt" => Role::Response,
        "upstream_status" => Role::Status,
        "upstream_addr" | "upstream_address" | "upstream_name" | "upstream_cluster"
        | "peer_address" => Role::Peer,
        // No list of `xray.md` names these; they are what pools and HAProxy call the wait for a turn.
        "queue_time"
        | "time_queue"
        | "time_in_queue"
        | "queue_wait"
        | "pool_wait"
        | "pool_wait_time"
        | "connection_wait_time" => Role::Queue,
        _ => return None,
    };
    // `connect` and its like are times only with a unit: "connect": true is a flag.
    let is_bare = matches!(
        name,
        "upstream_connect" | "connect" | "tcp_connect" | "upstream_header" | "upstream_response"
    );
    (!is_bare).then_some((role, ms))
}

/// One timing value with its unit.
#[derive(Debug, Clone)]
struct Value<'a> {
    text: Cow<'a, str>,
    ms: f64,
    /// Annotations are looked at before metadata.
    is_annotation: bool,
}

/// The timing values that one span carries.
#[derive(Debug, Clone, Default)]
pub(super) struct Timing<'a> {
    connect: Option<Value<'a>>,
    header: Option<Value<'a>>,
    response: Option<Value<'a>>,
    status: Option<Value<'a>>,
    peer: Option<Value<'a>>,
    queue: Option<Value<'a>>,
}

impl<'a> Timing<'a> {
    /// Takes an attribute when its key is one of those that matter. Annotations win over metadata, the first of equals.
    pub(super) fn offer(
        &mut self,
        key: &str,
        is_annotation: bool,
        value: impl FnOnce() -> Cow<'a, str>,
    ) {
        let Some((role, ms)) = role(key) else { return };
        let slot = match role {
            Role::Connect => &mut self.connect,
            Role::Header => &mut self.header,
            Role::Response => &mut self.response,
            Role::Status => &mut self.status,
            Role::Peer => &mut self.peer,
            Role::Queue => &mut self.queue,
        };
        if slot
            .as_ref()
            .is_none_or(|known| is_annotation && !known.is_annotation)
        {
            *slot = Some(Value {
                text: value(),
                ms,
                is_annotation,
            });
        }
    }

    /// Time until a connection was ready, summed over attempts: the connect time of an attempt, or, when it never
    /// connected (`-`) and ended with 502 or 504 before any header, its whole response time (`xray.md` §3).
    pub(super) fn connect_ms(&self) -> Option<f64> {
        let connect = self.connect.as_ref()?;
        let header = Elements::of(self.header.as_ref());
        let response = Elements::of(self.response.as_ref());
        let status = Elements::of(self.status.as_ref());
        let mut total = None;
        for (ix, element) in elements(&connect.text).enumerate() {
            let cost = number(element).map(|n| n * connect.ms).or_else(|| {
                let failed = status.get(ix).is_some_and(|s| matches!(s, "502" | "504"))
                    && header.get(ix).is_none_or(|h| h == "-");
                let unit = self.response.as_ref().map_or(1e3, |v| v.ms);
                (element == "-" && failed)
                    .then(|| response.get(ix).and_then(number))
                    .flatten()
                    .map(|n| n * unit)
            });
            if let Some(cost) = cost {
                total = Some(total.unwrap_or(0.0) + cost);
            }
        }
        // Rounded to the nanosecond: 1.009 s is 1,009 ms, not 1,008.9999999999999.
        total.map(|ms: f64| (ms * 1e6).round() / 1e6)
    }

    /// Time spent waiting for a turn.
    pub(super) fn queue_ms(&self) -> Option<f64> {
        let queue = self.queue.as_ref()?;
        number(&queue.text).map(|n| n * queue.ms)
    }

    /// The address or name of the last upstream that was tried.
    pub(super) fn peer(&self) -> Option<&str> {
        let peer = elements(&self.peer.as_ref()?.text).last()?;
        (!peer.is_empty() && peer != "-").then_some(peer)
    }
}

/// The elements of a list of attempts; groups do not matter here.
fn elements(list: &str) -> impl Iterator<Item = &str> {
    upstream_lists::elements(list).map(|(element, _)| element)
}

/// The elements of one variable by position.
struct Elements<'t>(Vec<&'t str>);

impl<'t> Elements<'t> {
    fn of(value: Option<&'t Value<'_>>) -> Self {
        Self(
            value
                .map(|v| elements(&v.text).collect())
                .unwrap_or_default(),
        )
    }

    fn get(&self, ix: usize) -> Option<&'t str> {
        self.0.get(ix).copied()
    }
}

/// A time that is a number and not negative (ingress-nginx's Lua makes −1 of a list).
fn number(text: &str) -> Option<f64> {
    text.trim()
        .parse::<f64>()
        .ok()
        .filter(|n| n.is_finite() && *n >= 0.0)
}

/// The connecting time, in milliseconds, that a single value of an annotation says (trace summaries).
pub(super) fn annotation_connect_ms(key: &str, text: &str) -> Option<f64> {
    let mut timing = Timing::default();
    if role(key)?.0 != Role::Connect {
        return None;
    }
    timing.offer(key, true, || Cow::Owned(text.to_owned()));
    timing.connect_ms()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_keep_every_digit_and_tell_their_unit() {
        assert_eq!(
            epoch_nanos("1796048834.352203"),
            Some((1_796_048_834_352_203_000, false))
        );
        assert_eq!(
            epoch_nanos("1.499473411677E9"),
            Some((1_499_473_411_677_000_000, false))
        );
        assert_eq!(
            epoch_nanos("1675191925.6815343"),
            Some((1_675_191_925_681_534_300, false))
        );
        assert_eq!(
            epoch_nanos("1796048834352"),
            Some((1_796_048_834_352_000_000, true))
        );
        assert_eq!(
            epoch_nanos("1796048834352203"),
            Some((1_796_048_834_352_203_000, true))
        );
        assert_eq!(epoch_nanos("-1.5"), Some((-1_500_000_000, false)));
        assert_eq!(
            epoch_nanos("1796048834.35220345678912345"),
            Some((1_796_048_834_352_203_456, false))
        );
        // `contrib-indep-subsegment-content-length-string.json`: the year 2438 does not fit
        assert_eq!(epoch_nanos("14782323361.271"), None);
        for bad in ["", ".", "1e", "1e99", "NaN", "12:30", "--1"] {
            assert_eq!(epoch_nanos(bad), None, "{bad}");
        }
    }

    #[test]
    fn keys_in_any_dress() {
        for key in [
            "upstream_connect_time",
            "upstream.connect_time",
            "$upstream_connect_time",
            "nginx.upstream-connect-time",
            "uct",
        ] {
            assert_eq!(role(key), Some((Role::Connect, 1e3)), "{key}");
        }
        assert_eq!(role("tcp_connect_ms"), Some((Role::Connect, 1.0)));
        assert_eq!(role("connect_time_us"), Some((Role::Connect, 1e-3)));
        assert_eq!(role("connect_seconds"), Some((Role::Connect, 1e3)));
        assert_eq!(role("http.connect"), None);
        assert_eq!(role("request_time"), None);
    }

    fn timing(connect: &str, header: &str, response: &str, status: &str) -> Option<f64> {
        let mut timing = Timing::default();
        for (key, value) in [
            ("upstream_connect_time", connect),
            ("upstream_header_time", header),
            ("upstream_response_time", response),
            ("upstream_status", status),
        ] {
            timing.offer(key, false, || Cow::Owned(value.to_owned()));
        }
        timing.connect_ms().map(|ms| (ms * 1e3).round() / 1e3)
    }

    #[test]
    fn attempts_that_never_connected_cost_their_response_time() {
        // the cases of `xray.md` §3
        assert_eq!(timing("1.023", "1.045", "1.045", "200"), Some(1023.0));
        assert_eq!(
            timing("-, 0.000", "-, 0.001", "0.300, 0.002", "504, 200"),
            Some(300.0)
        );
        assert_eq!(
            timing(
                "0.000, - : 0.001",
                "0.000, - : 0.008",
                "0.000, 0.001 : 0.008",
                "502, 502 : 200"
            ),
            Some(2.0)
        );
        assert_eq!(timing("0.000", "0.001", "0.001", "200"), Some(0.0));
        assert_eq!(timing("-", "-", "-", "-"), None);
        assert_eq!(timing("-1", "-", "-", "-"), None);
    }

    #[test]
    fn annotations_win_over_metadata() {
        let mut timing = Timing::default();
        timing.offer("upstream.connect_time", false, || Cow::Borrowed("9"));
        timing.offer("upstream_connect_time", true, || Cow::Borrowed("1.009"));
        assert_eq!(timing.connect_ms(), Some(1009.0));
        timing.offer("upstream_addr", false, || {
            Cow::Borrowed("unix:/a : b, 10.0.0.1:80 : [::1]:81")
        });
        assert_eq!(timing.peer(), Some("[::1]:81"));
        timing.offer("pool_wait_ms", false, || Cow::Borrowed("12.5"));
        assert_eq!(timing.queue_ms(), Some(12.5));
    }
}
