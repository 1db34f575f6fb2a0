use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::sources::settings::{Credentials, SecretRef};

#[derive(Default)]
struct Files(BTreeMap<&'static str, &'static str>);

impl Beside for Files {
    fn file(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.0
            .get(path.to_str().unwrap())
            .map(|text| text.as_bytes().to_vec())
            .ok_or_else(|| "no such file".to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|text| (*text).to_owned())
    }
}

fn load(name: &str, text: &str) -> Result<Loaded, SettingsError> {
    let files = Files(
        [
            (
                "/etc/ts/http.yml",
                "basic_auth:\n  username: me\n  password: hunter2\ntls_config:\n  ca_file: ca.pem\n",
            ),
            ("TOKEN", "hunter2"),
        ]
        .into(),
    );
    read(name, text.as_bytes(), Path::new("/etc/ts"), &files)
}

fn fault(text: &str) -> String {
    load("tailscope.toml", text).unwrap_err().to_string()
}

#[test]
fn our_own_file() {
    let loaded = load(
        "tailscope.toml",
        r#"
[sources.prod]
kind = "prometheus"
url = "https://prom.example/prometheus/"
tenant = "a|b"
[sources.prod.http]
authorization = { credentials_file = "token" }
tls_config = { insecure_skip_verify = true }
http_headers = { X-Team = { values = ["sre"] } }
[sources.prod.limits]
connect_timeout = "2s"
requests_per_s = 10

[sources.other]
kind = "prometheus"
url = "http://10.0.0.1:9090"
http_config_file = "http.yml"
"#,
    )
    .unwrap();
    let prod = &loaded.sources["prod"];
    assert_eq!(prod.url.as_deref(), Some("https://prom.example/prometheus"));
    assert_eq!(prod.own["tenant"], "a|b");
    assert!(prod.http.tls.insecure_skip_verify);
    assert_eq!(prod.limits.connect_timeout.as_secs(), 2);
    let Some(Credentials::Authorization {
        scheme,
        credentials: SecretRef::File(path),
    }) = &prod.http.credentials
    else {
        panic!("{:?}", prod.http.credentials);
    };
    assert_eq!(scheme, "Bearer");
    assert_eq!(path, Path::new("/etc/ts/token"));
    let other = &loaded.sources["other"];
    assert!(matches!(
        &other.http.credentials,
        Some(Credentials::Basic { username, password: SecretRef::Clear(word) })
            if username == "me" && word.expose() == "hunter2"
    ));
    assert_eq!(
        other.http.tls.ca_file.as_deref(),
        Some(Path::new("/etc/ts/ca.pem"))
    );
    assert!(!format!("{loaded:?}").contains("hunter2"));
}

#[test]
fn faults_say_where_and_what_was_expected() {
    let source = |more: &str| {
        fault(&format!(
            "[sources.prod]\nkind = \"prometheus\"\nurl = \"http://h\"\n{more}"
        ))
    };
    for (text, words) in [
        (fault(""), "missing field `sources`"),
        (fault("[sources]\n"), "no source"),
        (
            fault("[sources.a]\nkind = \"prometeus\"\n"),
            "tailscope.toml: sources.a.kind: `prometeus`; expected one of prometheus",
        ),
        (fault("[sources.a\n"), "tailscope.toml: line 1"),
        (
            fault("[sources.a]\nkind = \"prometheus\"\nurl = \"ftp://h\"\n"),
            "sources.a.url: `ftp://h`; expected an address like",
        ),
        (
            fault("[sources.a]\nkind = \"prometheus\"\nurl = \"http://me:hunter2@h\"\n"),
            "a user or password in the address; expected `http.basic_auth`",
        ),
        (
            source("http.basic_auth = { username = \"u\", password = \"hunter2\" }"),
            "sources.prod.http.basic_auth.password: a secret in the clear; expected",
        ),
        (
            source("http.authorization = { type = \"Bearer\" }"),
            "sources.prod.http.authorization: no secret",
        ),
        (source("http.oauth2 = { client_id = \"x\" }"), "OAuth 2"),
        (
            source("http.tls_config = { cert_file = \"c\" }"),
            "a certificate without its key",
        ),
        (
            source("limits.total_timeout = \"soon\""),
            "sources.prod.limits.total_timeout: `soon`; expected a duration",
        ),
        (source("limits.requests_at_once = 0"), "expected 1 or more"),
        (
            source("http_config_file = \"none.yml\""),
            "no such file; expected a YAML file at /etc/ts/none.yml",
        ),
    ] {
        assert!(text.contains(words), "{text}\n  lacks: {words}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[test]
fn an_alertmanager_of_mimir_is_below_a_path_of_its_own() {
    let loaded = load(
        "datasources.yaml",
        r"
datasources:
  - {name: plain, type: alertmanager, url: 'http://am:9093', jsonData: {implementation: prometheus}}
  - {name: mimir, type: alertmanager, url: 'http://mimir:8080', jsonData: {implementation: mimir}}
  - {name: unsaid, type: alertmanager, url: 'http://cortex:8080/'}
",
    )
    .unwrap();
    for (name, url) in [
        ("plain", "http://am:9093"),
        ("mimir", "http://mimir:8080/alertmanager"),
        ("unsaid", "http://cortex:8080/alertmanager"),
    ] {
        let source = &loaded.sources[name];
        assert_eq!(source.kind, "alertmanager");
        assert_eq!(source.url.as_deref(), Some(url));
    }
}

#[test]
fn grafana_provisioning_is_read_unchanged_and_says_what_is_missing() {
    let loaded = load(
        "datasources.yaml",
        r"
apiVersion: 1
datasources:
  - name: Prod metrics
    type: prometheus
    access: proxy
    url: http://prometheus:9090
    basicAuth: true
    basicAuthUser: grafana
    jsonData:
      httpMethod: POST
      httpHeaderName1: X-Scope-OrgID
      tlsSkipVerify: true
      oauthPassThru: true
    secureJsonData:
      basicAuthPassword: $TOKEN
      httpHeaderValue1: team-a
  - name: Logs
    type: loki
    url: http://loki:3100
",
    )
    .unwrap();
    let source = &loaded.sources["Prod-metrics"];
    assert_eq!(source.url.as_deref(), Some("http://prometheus:9090"));
    assert!(source.http.tls.insecure_skip_verify);
    assert!(matches!(
        &source.http.credentials,
        Some(Credentials::Basic { username, password: SecretRef::Clear(word) })
            if username == "grafana" && word.expose() == "hunter2"
    ));
    assert!(matches!(
        source.http.headers.as_slice(),
        [(name, SecretRef::Clear(word))] if name == "X-Scope-OrgID" && word.expose() == "team-a"
    ));
    assert_eq!(loaded.left_out.len(), 2, "{:?}", loaded.left_out);
    assert!(loaded.left_out.iter().any(|l| l.contains("loki")));

    let unset = load(
        "d.yaml",
        "datasources:\n  - {name: a, type: prometheus, url: $NOWHERE}\n",
    );
    assert!(unset.unwrap_err().to_string().contains("`NOWHERE`"));
}

#[test]
fn promtools_file_alone_names_no_source() {
    let error = load("http.yml", "basic_auth:\n  password: hunter2\n").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("http_config_file = \"http.yml\"")
    );
    let broken = read_http(
        "http.yml",
        "basic_auth: {password: hunter2, what: 1}",
        Path::new("/"),
    );
    let text = broken.unwrap_err().to_string();
    assert!(text.starts_with("http.yml: line 1"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn pasted_links_give_source_queries_and_window() {
    let now = Timestamp::parse_rfc3339("2026-08-02T00:00:00Z").unwrap();
    let loaded = read_link(
        "http://prom:9090/graph?g0.expr=rate(up%5B5m%5D)&g0.tab=0&g0.range_input=2h&g0.end_input=2026-08-01%2012%3A00%3A00&g1.expr=sum(x)+by+(job)",
        now,
    )
    .unwrap();
    let source = &loaded.sources["link"];
    assert_eq!(source.url.as_deref(), Some("http://prom:9090"));
    assert_eq!(
        source.own["queries"],
        serde_json::json!(["rate(up[5m])", "sum(x) by (job)"])
    );
    let (start, end) = loaded.window.unwrap();
    assert_eq!(start.to_rfc3339(), "2026-08-01T10:00:00Z");
    assert_eq!(end.to_rfc3339(), "2026-08-01T12:00:00Z");

    let panes = crate::base::percent::encode(
        r#"{"abc":{"datasource":"P1","queries":[{"refId":"A","expr":"up","datasource":{"type":"prometheus","uid":"P1"}}],"range":{"from":"now-1h","to":"now"}}}"#,
    );
    let loaded = read_link(
        &format!("https://grafana.example/explore?schemaVersion=1&panes={panes}&orgId=1"),
        now,
    )
    .unwrap();
    assert_eq!(
        loaded.sources["link"].url.as_deref(),
        Some("https://grafana.example/api/datasources/proxy/uid/P1")
    );
    assert_eq!(
        loaded.window.unwrap().0.to_rfc3339(),
        "2026-08-01T23:00:00Z"
    );

    let nothing = read_link("https://grafana.example/d/abc/board", now).unwrap_err();
    assert!(nothing.to_string().contains("Grafana Explore"));
}

#[test]
fn the_schema_names_every_kind_and_what_it_adds() {
    let schema = schema();
    let kinds = schema
        .pointer("/$defs/SourceShape/properties/kind/enum")
        .unwrap();
    assert_eq!(
        kinds.as_array().unwrap().len(),
        crate::sources::ALL.len(),
        "{schema:#}"
    );
    let own = schema.pointer("/$defs/SourceShape/allOf").unwrap();
    assert_eq!(own.as_array().unwrap().len(), crate::sources::ALL.len());
}
