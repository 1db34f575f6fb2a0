//! Which path is answered by whom.

use crate::engine::serve::reply::{Asked, Reply, add, quoted, success};
use crate::engine::serve::{Served, facts, query};

/// The reply to a request: the Prometheus API from the recorded series, everything else as it was recorded.
pub(super) fn answer(served: &Served, asked: &Asked) -> Reply {
    let path = asked.path();
    let is_read = matches!(asked.method.as_str(), "GET" | "HEAD");
    match path {
        "/-/healthy" | "/-/ready" if !is_read => return Reply::not_allowed("GET, HEAD, OPTIONS"),
        "/-/healthy" => return Reply::text(200, "Tailscope serves a recording and is Healthy.\n"),
        "/-/ready" => return Reply::text(200, "Tailscope serves a recording and is Ready.\n"),
        "/" if is_read => return front(served),
        _ => {}
    }
    // `/source/NAME/…` picks one of several sources that were asked the same.
    let (source, path) = match path
        .strip_prefix("/source/")
        .and_then(|p| p.split_once('/'))
    {
        Some((source, _)) => (
            Some(source),
            path.get("/source/".len() + source.len()..).unwrap_or("/"),
        ),
        None => (None, path),
    };
    if source.is_none()
        && let Some(endpoint) = path.strip_prefix("/api/v1/")
        && let Some(reply) = prometheus(served, asked, endpoint)
    {
        return reply;
    }
    served.recorded.answer(asked, source, path)
}

/// The Prometheus API; `None` for what is none of it.
fn prometheus(served: &Served, asked: &Asked, endpoint: &str) -> Option<Reply> {
    let takes_forms = matches!(
        endpoint,
        "query" | "query_range" | "query_exemplars" | "series" | "labels"
    );
    let is_known = takes_forms || facts::is_known(endpoint) || label_of(endpoint).is_some();
    if !is_known {
        return None;
    }
    match asked.method.as_str() {
        "GET" | "HEAD" => {}
        "POST" if takes_forms => {}
        _ => {
            return Some(Reply::not_allowed(if takes_forms {
                "GET, HEAD, POST, OPTIONS"
            } else {
                "GET, HEAD, OPTIONS"
            }));
        }
    }
    let fields = asked.fields();
    let done = match endpoint {
        "query" => query::instant(served, &fields),
        "query_range" => query::range(served, &fields),
        "query_exemplars" => query::exemplars(served, &fields),
        "series" => query::series(served, &fields),
        "labels" => query::label_names(served, &fields),
        _ => match label_of(endpoint) {
            Some(name) => query::label_values(served, &name, &fields),
            None => facts::answer(served, endpoint, &fields),
        },
    };
    Some(match done {
        Ok(body) => Reply::json(200, body),
        Err(refusal) => Reply::failed(&refusal),
    })
}

/// `label/NAME/values`. Prometheus 3 escapes names of other letters (`U__a_2e_b` is `a.b`, `prometheus.md` §1.3).
fn label_of(endpoint: &str) -> Option<String> {
    let name = endpoint.strip_prefix("label/")?.strip_suffix("/values")?;
    let name = crate::base::percent::decode(&name.replace('+', "%2B"));
    Some(unescaped(&name).unwrap_or(name))
}

fn unescaped(name: &str) -> Option<String> {
    let mut rest = name.strip_prefix("U__")?;
    let mut out = String::new();
    while let Some(at) = rest.find('_') {
        out.push_str(rest.get(..at)?);
        let after = rest.get(at + 1..)?;
        if let Some(after) = after.strip_prefix('_') {
            out.push('_');
            rest = after;
            continue;
        }
        let (digits, after) = after.split_once('_')?;
        out.push(
            u32::from_str_radix(digits, 16)
                .ok()
                .and_then(char::from_u32)?,
        );
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// What a person sees who opens the address.
fn front(served: &Served) -> Reply {
    let mut body = String::from("{\"serves\":");
    quoted(
        &mut body,
        "a recording, read-only: the Prometheus HTTP API under /api/v1, and what else was recorded as it was answered",
    );
    add(
        &mut body,
        format_args!(
            ",\"series\":{},\"recorded_answers\":{}",
            served.series(),
            served.exchanges()
        ),
    );
    if let Some(window) = served.window() {
        add(
            &mut body,
            format_args!(",\"start\":\"{}\",\"end\":\"{}\"", window.start, window.end),
        );
    }
    body.push_str(",\"queries\":");
    let queries: Vec<&str> = served.shelf.recorded_queries().collect();
    body.push_str(&serde_json::Value::from(queries).to_string());
    body.push('}');
    Reply::json(200, success(body.as_bytes(), &served.warnings, &[]))
}
