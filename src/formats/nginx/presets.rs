//! The formats that are known without being told.

use crate::formats::NamedLogFormat;
use crate::formats::nginx::template::Template;

/// Name and format, the longest first: a shorter one matches the lines of a longer one, with a tail.
const PRESETS: &[(&str, &str)] = &[
    // ingress-nginx since 0.26 (`logs.md` §1.1).
    (
        "upstreaminfo",
        r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id"#,
    ),
    // ingress-nginx before: without the alternative group, the client's address twice.
    (
        "upstreaminfo-old",
        r#"$remote_addr - [$the_real_ip] - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_length $request_time [$proxy_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id"#,
    ),
    // nginx's own default. "Timed" lines with `rt=… uct=…` behind it are read by their names.
    (
        "combined",
        r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#,
    ),
    (
        "common",
        r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent"#,
    ),
];

/// The presets, compiled, in the order in which they are tried.
pub(super) fn presets() -> Vec<Template> {
    PRESETS
        .iter()
        .filter_map(|(name, format)| {
            Template::compile(&NamedLogFormat {
                name: (*name).to_owned(),
                format: (*format).to_owned(),
                escape: "default".to_owned(),
            })
        })
        .collect()
}

/// The formats that were given, compiled; one without a time is no use.
pub(super) fn given(formats: &[NamedLogFormat]) -> Vec<Template> {
    formats
        .iter()
        .filter_map(Template::compile)
        .filter(Template::has_time)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_compile() {
        assert_eq!(presets().len(), PRESETS.len());
        assert!(presets().iter().all(Template::has_time));
    }
}
