//! Remote read: the question, and what must be known of the answer (`prometheus.md` §1.4, with the field numbers).
//!
//! XOR chunks are asked for first and samples second: chunks leave the server as they are stored, frame by frame, while
//! samples are unpacked and held whole in its memory. The server adds its external labels to every series, which the query
//! API does not; they are named in the recorded question, so that the reader takes them off again.

use serde::Deserialize;

use crate::formats::prometheus::remote_read::{Glance, glance};
use crate::sources::prometheus::matchers::Matcher;
use crate::sources::prometheus::plan::Raw;
use crate::sources::prometheus::questions::{any_of, secs};
use crate::sources::request::query;
use crate::sources::{Body, Method, Outcome, Request};

/// The path under the base address.
const PATH: &str = "/api/v1/read";

/// Asks for the raw samples of `[from_ms, to_ms)`. The recording says it in words: nobody reads protobuf.
pub(super) fn request(
    raw: &Raw,
    matchers: &[Matcher],
    selector: &str,
    external: &[(String, String)],
) -> Request {
    let mut asked = Vec::new();
    put_varint(&mut asked, 1, raw.from_ms.cast_unsigned());
    put_varint(&mut asked, 2, (raw.to_ms - 1).cast_unsigned());
    let name = if let [one] = raw.metrics.as_slice() {
        matcher(0, "__name__", one)
    } else {
        matcher(2, "__name__", &any_of(&raw.metrics))
    };
    put_bytes(&mut asked, 3, &name);
    for one in matchers {
        put_bytes(&mut asked, 3, &matcher(one.kind, &one.name, &one.value));
    }
    let mut message = Vec::new();
    put_bytes(&mut message, 1, &asked);
    put_bytes(&mut message, 2, &[1, 0]); // STREAMED_XOR_CHUNKS, then SAMPLES
    let body = Body::Bytes {
        content_type: "application/x-protobuf",
        bytes: literally(&message),
    };
    let (start, end) = (secs(raw.from_ms), secs(raw.to_ms - 1));
    let labels: Vec<String> = external.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let mut fields = vec![
        ("match[]", selector),
        ("start", start.as_str()),
        ("end", end.as_str()),
    ];
    fields.extend(labels.iter().map(|l| ("external_label", l.as_str())));
    let words = query(&fields);
    let mut request = Request::new(Method::Post, PATH.to_owned(), body)
        .with_header("content-encoding", "snappy")
        .with_header("x-prometheus-remote-read-version", "0.1.0");
    request.recorded_as = Some(Box::new(Body::Form(words)));
    request
}

/// What a good answer holds. `None` when it is no answer to remote read at all.
pub(super) fn good(outcome: &Outcome<'_>) -> Option<Glance> {
    let Outcome::Answered(reply) = outcome else {
        return None;
    };
    let is_read = reply.is_good()
        && reply
            .header("content-type")
            .is_some_and(|kind| kind.contains("protobuf"));
    is_read.then(|| glance(&reply.body))
}

/// `global.external_labels` of the answer to `/api/v1/status/config`.
pub(super) fn external_labels(config: &serde_json::Value) -> Vec<(String, String)> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Config {
        global: Global,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Global {
        external_labels: std::collections::BTreeMap<String, String>,
    }
    let text = config
        .pointer("/data/yaml")
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default();
    // Only this part of it is read: the rest is long, and knows shapes that this does not.
    let global: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("global:"))
        .enumerate()
        .take_while(|(at, line)| *at == 0 || line.starts_with(' ') || line.is_empty())
        .map(|(_, line)| line)
        .collect();
    let config: Config = serde_saphyr::from_str(&global.join("\n")).unwrap_or_default();
    config.global.external_labels.into_iter().collect()
}

fn matcher(kind: u8, name: &str, value: &str) -> Vec<u8> {
    let mut message = Vec::new();
    if kind > 0 {
        put_varint(&mut message, 1, u64::from(kind));
    }
    put_bytes(&mut message, 2, name.as_bytes());
    put_bytes(&mut message, 3, value.as_bytes());
    message
}

fn put_varint(to: &mut Vec<u8>, field: u8, value: u64) {
    to.push(field << 3);
    varint(to, value);
}

fn put_bytes(to: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    to.push(field << 3 | 2);
    varint(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    to.push((value & 0x7f) as u8);
}

/// A snappy block that holds the bytes as they are: a question is short, and its bytes do not hang on a packer's version.
/// Form: <https://github.com/google/snappy/blob/main/format_description.txt>.
fn literally(bytes: &[u8]) -> Vec<u8> {
    let mut block = Vec::with_capacity(bytes.len() + 16);
    varint(&mut block, bytes.len() as u64);
    for part in bytes.chunks(1 << 16) {
        let less = part.len() - 1;
        block.push(61 << 2); // a literal whose length less one follows in two bytes
        block.extend_from_slice(&[(less & 0xff) as u8, (less >> 8 & 0xff) as u8]);
        block.extend_from_slice(part);
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(metrics: &[&str]) -> Raw {
        Raw {
            metrics: metrics.iter().map(|m| (*m).to_owned()).collect(),
            from_ms: 1_000,
            to_ms: 61_000,
            cuts: 0,
        }
    }

    #[test]
    fn the_question_is_a_snappy_block_of_a_read_request() {
        let matchers = [Matcher {
            kind: 3,
            name: "job".to_owned(),
            value: "x".to_owned(),
        }];
        let request = request(&raw(&["up", "a.b"]), &matchers, "{…}", &[]);
        let Body::Bytes { bytes, .. } = &request.body else {
            panic!();
        };
        let message = snap::raw::Decoder::new().decompress_vec(bytes).unwrap();
        let expected = [
            b"\x0a\x2a\x08\xe8\x07\x10\xc7\xdc\x03".as_slice(),
            b"\x1a\x15\x08\x02\x12\x08__name__\x1a\x07up|a\\.b",
            b"\x1a\x0a\x08\x03\x12\x03job\x1a\x01x",
            b"\x12\x02\x01\x00",
        ]
        .concat();
        assert_eq!(message, expected);
        let long = literally(&vec![7; 200_000]);
        let back = snap::raw::Decoder::new().decompress_vec(&long).unwrap();
        assert_eq!(back, vec![7; 200_000]);
    }

    #[test]
    fn the_recording_says_the_question_in_words() {
        let external = [("cluster".to_owned(), "eu".to_owned())];
        let request = request(&raw(&["up"]), &[], r#"{__name__="up"}"#, &external);
        assert_eq!(
            request.question().name("prod"),
            "prod: POST /api/v1/read match%5B%5D=%7B__name__%3D%22up%22%7D&start=1&end=60.999&external_label=cluster%3Deu"
        );
    }

    #[test]
    fn external_labels_are_read_of_the_configuration() {
        let of = |yaml: &str| external_labels(&serde_json::json!({"data": {"yaml": yaml}}));
        let yaml = "global:\n  scrape_interval: 1s\n  external_labels:\n    cluster: eu\n    replica: \"0\"\nscrape_configs:\n- job_name: a\n  x: !odd\n";
        assert_eq!(
            of(yaml),
            [("cluster", "eu"), ("replica", "0")].map(|(n, v)| (n.to_owned(), v.to_owned()))
        );
        assert!(of("scrape_configs: []\n").is_empty());
        assert!(external_labels(&serde_json::Value::Null).is_empty());
    }
}
