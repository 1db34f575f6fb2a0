//! Amazon Managed Prometheus: the signature, and what it refuses.

use super::*;

/// Amazon Managed Prometheus: looks at the signature's shape and date, and says no as AWS does.
fn amp(asking: &Asking) -> Vec<u8> {
    let deny = |status: &str, kind: &str, text: &str| {
        let headers = format!("{JSON}x-amzn-ErrorType: {kind}\r\n");
        answer(status, &headers, json!({"message": text}).to_string())
    };
    let Some(authorization) = asking.header("authorization") else {
        return deny(
            "403 Forbidden",
            "MissingAuthenticationTokenException",
            "Missing Authentication Token",
        );
    };
    let date = asking.header("x-amz-date").unwrap_or_default();
    let day = date.split('T').next().unwrap_or_default();
    let scope = format!(
        "AWS4-HMAC-SHA256 Credential={KEY}/{day}/eu-central-1/aps/aws4_request, SignedHeaders="
    );
    let is_date = date.len() == 16 && day.len() == 8 && date.ends_with('Z');
    let rest = authorization.strip_prefix(&scope);
    let signature = rest.and_then(|r| r.split_once(", Signature="));
    let is_signed = signature.is_some_and(|(headers, signature)| {
        let signed: Vec<&str> = headers.split(';').collect();
        signed.contains(&"host")
            && signed.contains(&"x-amz-date")
            && signature.len() == 64
            && signature.bytes().all(|b| b.is_ascii_hexdigit())
    });
    if !is_date || !is_signed {
        return deny(
            "403 Forbidden",
            "InvalidSignatureException",
            &format!("not signed as it must be: {authorization} at {date}"),
        );
    }
    match asking.path.strip_prefix("/workspaces/ws-1") {
        Some("/api/v1/status/buildinfo") => {
            deny("404 Not Found", "UnknownOperationException", "Not Found")
        }
        Some("/api/v1/query") if asking.fields.contains("ms]") && asking.metrics().len() > 1 => {
            error(
                "422 Unprocessable Entity",
                "execution",
                "expanding series: the query hit the max number of chunks limit while fetching chunks (limit: 20000000)",
            )
        }
        _ => common(asking).unwrap_or_else(absent),
    }
}

#[test]
fn amazon_is_asked_with_a_signature_and_only_for_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(amp));
    let url = format!("http://127.0.0.1:{port}/workspaces/ws-1");
    sources(folder, &url, "region = \"eu-central-1\"");
    let seen_by_doctor = doctor(folder, 0);
    assert!(
        seen_by_doctor.contains("Amazon Managed Prometheus, told by `region` in the settings"),
        "{seen_by_doctor}"
    );
    seen.lock().unwrap().clear();
    let (said, _) = same(folder, 0);
    is_whole(folder);
    assert!(
        said.contains("Amazon Managed Prometheus has no remote read"),
        "{said}"
    );
    let seen = seen.lock().unwrap();
    for absent in ["/targets", "/status/", "exemplars", "/read", "/stores"] {
        assert!(!seen.iter().any(|s| s.contains(absent)), "{absent}");
    }
    let bundle = fs::read(folder.join("n.tailscope")).unwrap();
    for secret in [SECRET, KEY] {
        assert!(!bundle.windows(secret.len()).any(|w| w == secret.as_bytes()));
    }
}

#[test]
fn what_amazon_refuses_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (status, kind, text, advice) in [
        (
            "403 Forbidden",
            "AccessDeniedException",
            "User: arn:aws:iam::1:user/x is not authorized to perform: aps:QueryMetrics",
            "allow aps:QueryMetrics",
        ),
        (
            "403 Forbidden",
            "ExpiredTokenException",
            "The security token included in the request is expired",
            "aws sso login",
        ),
        (
            "400 Bad Request",
            "RequestExpired",
            "Signature expired: 20260801T000000Z is now earlier than 20260801T001000Z",
            "set this machine's clock",
        ),
    ] {
        let (port, _) = server(Arc::new(move |_| {
            let headers = format!("{JSON}x-amzn-ErrorType: {kind}\r\n");
            answer(status, &headers, json!({"message": text}).to_string())
        }));
        sources(
            folder,
            &format!("http://127.0.0.1:{port}/workspaces/ws-1"),
            "region = \"eu-central-1\"",
        );
        let window = window();
        let window: Vec<&str> = window.iter().map(String::as_str).collect();
        let record = [&["record", "-o", "x.tailscope"], window.as_slice()].concat();
        let refused = tailscope(folder, &record);
        assert_eq!(refused.status.code(), Some(3), "{}", words(&refused));
        let said = words(&refused);
        assert!(
            said.contains(kind) && said.contains(text) && said.contains(advice),
            "{said}"
        );
        let seen_by_doctor = doctor(folder, 3);
        assert!(seen_by_doctor.contains(advice), "{seen_by_doctor}");
    }
}
