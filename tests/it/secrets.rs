//! Secrets through the real program: from the keyring, and from a server that says them back.

#![expect(
    clippy::disallowed_methods,
    reason = "files and threads of a test, which end with it"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

const PLANTED: &str = "keyring-planted-hunter2";

/// A server that answers every request with the request's own headers.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    port
}

fn answer(mut to: TcpStream) {
    let mut said = String::new();
    for line in BufReader::new(to.try_clone().unwrap()).lines() {
        match line {
            Ok(line) if !line.is_empty() => said += &line,
            _ => break,
        }
    }
    let body = serde_json::json!({"status": "error", "errorType": "bad_data", "error": said});
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 400 No\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    drop(to.write_all((head + &body).as_bytes()));
}

/// A `secret-tool` that knows one entry, as libsecret's does: it prints the word without a line break.
fn secret_tool(folder: &Path) {
    let path = folder.join("secret-tool");
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = 'lookup service tailscope account prod' ] && printf %s '{PLANTED}'\n"
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn record(folder: &Path, path: &str, entry: &str, port: u16) -> Output {
    let sources = format!(
        "[sources.prod]\nkind = \"prometheus\"\nurl = \"http://127.0.0.1:{port}\"\nhttp.authorization = {{ keyring = \"{entry}\" }}\n"
    );
    fs::write(folder.join("tailscope.toml"), sources).unwrap();
    Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args([
            "record",
            "--from",
            "now-5m",
            "--to",
            "now",
            "-o",
            "n.tailscope",
        ])
        .current_dir(folder)
        .env("PATH", path)
        .env("XDG_CONFIG_HOME", folder)
        .output()
        .unwrap()
}

fn words(output: &Output) -> String {
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
#[cfg(target_os = "linux")]
fn the_keyring_gives_the_secret_and_who_says_it_back_is_not_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    secret_tool(folder);
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let done = record(folder, &path, "prod", echo());
    let said = words(&done);
    // The request had it, since the answer quotes the header; and what we say and keep has stars.
    assert!(said.contains("Bearer ***"), "{said}");
    assert!(!said.contains(PLANTED), "{said}");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("secret-tool") {
            let bytes = fs::read(&path).unwrap();
            let is_there = bytes
                .windows(PLANTED.len())
                .any(|w| w == PLANTED.as_bytes());
            assert!(!is_there, "{}", path.display());
        }
    }

    // What is not in it, and where there is none.
    let said = words(&record(folder, &path, "other", echo()));
    assert!(
        said.contains("`other`") && said.contains("secret-tool store --label=other"),
        "{said}"
    );
    let said = words(&record(folder, "/nowhere", "prod", echo()));
    assert!(said.contains("libsecret-tools"), "{said}");
}
