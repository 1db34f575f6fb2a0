//! Remote read of a real Prometheus on loopback: what its chunks give is what range selectors give, bit by bit, and the
//! staleness markers beside. Skips with a word where the program is missing; `scripts/test` installs it.

#![expect(
    clippy::disallowed_methods,
    reason = "files, threads and processes of a test, which end with it"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tailscope::model::series::{Series, is_stale_marker};
use tailscope::session::analysis::{Asked, Document};
use tailscope::session::intake;

use crate::live::{Process, free_port, get, now_secs, tailscope, wait_for, words};

/// A target whose series `gone` is exposed for its first five scrapes only, and whose values are of every shape.
fn target() -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let scrapes = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&scrapes);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            drop(stream.read(&mut head));
            let n = count.fetch_add(1, Ordering::SeqCst);
            let gone = if n < 5 { "gone{kind=\"pod\"} 7\n" } else { "" };
            let odd = match n % 5 {
                0 => "NaN",
                1 => "+Inf",
                2 => "-Inf",
                3 => "-0",
                _ => "1e-300",
            };
            let body = format!(
                "{gone}walk {}\nodd {odd}\nsteps_total {}\nsame 0.1\n",
                (n as f64 * 1.7).sin() * 1e9,
                n * n
            );
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    (port, scrapes)
}

fn prometheus(folder: &Path, target: u16) -> Option<(Process, u16)> {
    let port = free_port();
    let config = format!(
        "global: {{scrape_interval: 200ms, scrape_timeout: 200ms, external_labels: {{cluster: eu, replica: \"0\"}}}}\nscrape_configs:\n  - job_name: app\n    static_configs: [{{targets: ['127.0.0.1:{target}']}}]\n  - job_name: prometheus\n    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n"
    );
    fs::write(folder.join("prometheus.yml"), config).unwrap();
    let child = Command::new("prometheus")
        .arg(format!(
            "--config.file={}",
            folder.join("prometheus.yml").display()
        ))
        .arg(format!(
            "--storage.tsdb.path={}",
            folder.join("data").display()
        ))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = child else {
        eprintln!("skipped: no `prometheus` here; scripts/test installs it");
        return None;
    };
    Some((Process(child), port))
}

fn series(bundle: &Path) -> BTreeMap<String, Series> {
    let options = intake::Options::default();
    let read = intake::read(&[bundle.to_owned()], &options, &mut std::io::empty());
    let document = Document::new(read, Asked::default());
    let all = document.snapshot.series.iter().cloned();
    all.map(|s| (s.selector(), s)).collect()
}

/// Times and bits, without markers. JSON writes every other NaN as `NaN`, so that its bits are lost on the way.
fn samples(series: &Series) -> Vec<(i64, u64)> {
    let all = series.t.iter().zip(&series.v);
    all.filter(|(_, v)| !is_stale_marker(**v))
        .map(|(t, v)| (*t, if v.is_nan() { f64::NAN } else { *v }.to_bits()))
        .collect()
}

#[test]
fn chunks_hold_what_range_selectors_give_and_the_markers_beside() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (target, scrapes) = target();
    let Some((server, port)) = prometheus(folder, target) else {
        return;
    };
    // More than the 120 samples of one chunk.
    wait_for("130 scrapes", || scrapes.load(Ordering::SeqCst) >= 130);
    wait_for("the server", || {
        get(port, "/-/ready").is_some_and(|a| a.contains("200 OK"))
    });
    let to = now_secs();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let window = [format!("{}", to - 60), format!("{to}")];
    // A piece each of several metrics, and own queries: the same samples in the end.
    for (name, read) in [("read", "true"), ("range", "false"), ("auto", "")] {
        let read = if read.is_empty() {
            String::new()
        } else {
            format!("remote_read = {read}\n")
        };
        fs::write(
            folder.join("tailscope.toml"),
            format!(
                "[sources.prod]\nkind = \"prometheus\"\nurl = \"http://127.0.0.1:{port}\"\nmetrics = [\"gone\", \"walk\", \"odd\", \"steps_total\", \"same\", \"go_*\", \"prometheus_*\"]\n{read}"
            ),
        )
        .unwrap();
        let bundle = format!("{name}.tailscope");
        let record = [
            "record", "-v", "--from", &window[0], "--to", &window[1], "-o", &bundle,
        ];
        let done = tailscope(folder, &record);
        assert_eq!(done.status.code(), Some(0), "{}", words(&done));
        let by = if name == "range" {
            "by range selectors"
        } else {
            "by remote read, with staleness"
        };
        assert!(words(&done).contains(by), "{}", words(&done));
    }
    let doctor = tailscope(folder, &["doctor"]);
    assert!(
        words(&doctor).contains("staleness markers (remote read)"),
        "{}",
        words(&doctor)
    );

    let [read, range, auto] =
        ["read", "range", "auto"].map(|n| series(&folder.join(format!("{n}.tailscope"))));
    assert!(range.len() > 100, "{}", range.len());
    let names = |all: &BTreeMap<String, Series>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        names(&read),
        names(&range),
        "external labels are taken off again"
    );
    let mut compared = 0;
    for (selector, by_range) in &range {
        let by_read = &read[selector];
        assert_eq!(samples(by_read), samples(by_range), "{selector}");
        assert_eq!(by_read.v.len(), auto[selector].v.len(), "{selector}");
        assert!(
            !by_range.v.iter().any(|v| is_stale_marker(*v)),
            "{selector}"
        );
        compared += by_range.t.len();
    }
    assert!(compared > 10_000, "{compared}");
    let instance = format!("gone{{instance=\"127.0.0.1:{target}\",job=\"app\",kind=\"pod\"}}");
    let gone = &read[&instance];
    // A scrape of a busy machine may time out, which is a marker, too.
    assert!((1..=5).contains(&samples(gone).len()), "{:?}", gone.v);
    let last = gone.v.last().copied().unwrap();
    assert!(is_stale_marker(last), "it ended, and was not cut");
    assert!(!is_stale_marker(*range[&instance].v.last().unwrap()));

    // The stream that was recorded gives the same without the server, byte for byte.
    drop(server);
    let report = || {
        let done = tailscope(
            folder,
            &["analyze", "read.tailscope", "--format", "json", "--offline"],
        );
        assert_eq!(done.status.code(), Some(0), "{}", words(&done));
        done.stdout
    };
    assert_eq!(report(), report());
}
