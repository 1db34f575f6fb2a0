//! Against a real VictoriaMetrics on loopback, which is given samples with a hole. Skips with a word where it is missing;
//! `scripts/test` installs it.

#![expect(
    clippy::disallowed_methods,
    reason = "files and processes of a test, which end with it"
)]

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::live::{Process, free_port, get, now_secs, tailscope, wait_for, words};

/// Starts an empty one; `None` where there is none.
fn victoria(folder: &Path) -> Option<(Process, u16)> {
    let port = free_port();
    let child = Command::new("victoria-metrics")
        .arg(format!(
            "-storageDataPath={}",
            folder.join("data").display()
        ))
        .arg(format!("-httpListenAddr=127.0.0.1:{port}"))
        .args(["-retentionPeriod=10y", "-search.latencyOffset=0s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = child else {
        eprintln!("skipped: no `victoria-metrics` here; scripts/test installs it");
        return None;
    };
    let process = Process(child);
    wait_for("VictoriaMetrics", || {
        get(port, "/health").is_some_and(|text| text.contains("OK"))
    });
    Some((process, port))
}

fn import(port: u16, samples: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        stream,
        "POST /api/v1/import/prometheus HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{samples}",
        samples.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 20"), "{text}");
}

#[test]
fn a_hole_in_victoriametrics_is_a_gap_live_and_from_the_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some((server, port)) = victoria(folder) else {
        return;
    };
    // Ten minutes at 15 s; two minutes of one target are missing, and `up` of the other says nothing against it.
    let end = now_secs() / 60 * 60 - 300;
    let start = end - 600;
    let mut samples = String::new();
    for t in (start..=end).step_by(15) {
        for (target, is_there) in [
            ("10.0.0.1:80", true),
            ("10.0.0.2:80", !(start + 240..start + 360).contains(&t)),
        ] {
            if is_there {
                for (name, value) in [("up", 1), ("http_requests_total", t - start)] {
                    let labels = format!("{{job=\"shop\",instance=\"{target}\"}}");
                    writeln!(samples, "{name}{labels} {value} {}", t * 1_000).unwrap();
                }
            }
        }
    }
    import(port, &samples);
    wait_for("the samples", || {
        get(port, "/internal/force_flush");
        get(port, &format!("/api/v1/query?query=up&time={end}"))
            .is_some_and(|text| text.contains("10.0.0.2:80"))
    });
    fs::write(
        folder.join("tailscope.toml"),
        format!(
            "[sources.vm]\nkind = \"prometheus\"\nurl = \"http://127.0.0.1:{port}\"\nmetrics = [\"http_*\"]\n"
        ),
    )
    .unwrap();
    let doctor = tailscope(folder, &["doctor"]);
    assert_eq!(doctor.status.code(), Some(0), "{}", words(&doctor));
    assert!(
        words(&doctor).contains("VictoriaMetrics"),
        "{}",
        words(&doctor)
    );

    let window = [format!("{start}"), format!("{}", end + 1)];
    let window = ["--from", &window[0], "--to", &window[1]];
    let recorded = tailscope(
        folder,
        &[&["record", "-o", "vm.tailscope"], window.as_slice()].concat(),
    );
    assert!(
        matches!(recorded.status.code(), Some(0 | 5)),
        "{}",
        words(&recorded)
    );
    let report = |arguments: &[&str]| {
        let done = tailscope(
            folder,
            &[&["analyze", "--format", "json"], arguments].concat(),
        );
        assert!(
            matches!(done.status.code(), Some(0 | 5)),
            "{}",
            words(&done)
        );
        serde_json::from_slice::<serde_json::Value>(&done.stdout).unwrap()
    };
    let live = report(&[&["--sources", "tailscope.toml"], window.as_slice()].concat());
    drop(server);
    let kept = report(&["vm.tailscope", "--offline"]);
    for part in ["window", "entities"] {
        assert_eq!(live[part], kept[part], "{part}");
    }
    for report in [&live, &kept] {
        let gaps: Vec<&serde_json::Value> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|f| f["kind"] == "scrape_gap")
            .collect();
        assert_eq!(gaps.len(), 1, "{:#}", report["findings"]);
        let text = gaps[0].to_string();
        assert!(
            text.contains("10.0.0.2:80") && !text.contains("10.0.0.1:80"),
            "{text}"
        );
    }
}
