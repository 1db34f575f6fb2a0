//! Secrets, from where the settings say they are. None is asked of a person: a pull at night has nobody to answer.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::base::fs;
use crate::base::secret::Secret;
use crate::sources::settings::SecretRef;

/// How long a command may take to print a secret.
const PATIENCE: Duration = Duration::from_secs(30);
/// A secret is short: more is a mistake.
const MOST_BYTES: u64 = 64 << 10;

/// Gets one.
///
/// # Errors
/// In words, without anything that was printed on standard output.
pub(super) async fn get(place: &SecretRef) -> Result<Secret, String> {
    match place {
        SecretRef::Clear(secret) => Ok(secret.clone()),
        SecretRef::Plain(value) => Ok(Secret::new(value.clone())),
        SecretRef::File(path) => {
            let (bytes, is_more) = fs::read_up_to(path, MOST_BYTES).map_err(|e| e.to_string())?;
            if is_more {
                return Err(format!("{} is no secret: more than 64 KiB", path.display()));
            }
            of_bytes(bytes).ok_or_else(|| format!("{} is empty or no text", path.display()))
        }
        SecretRef::Command(words) => command(words).await,
        SecretRef::Keyring(name) => keyring(name).await,
    }
}

/// The desktop's own keyring, by the desktop's own tool: the Secret Service of GNOME and KDE by libsecret's `secret-tool`, the
/// keychain of macOS by `security`. No library of it is linked, since each would bring a D-Bus of its own.
async fn keyring(name: &str) -> Result<Secret, String> {
    let (look, store): (&[&str], String) = if cfg!(target_os = "macos") {
        (
            &[
                "security",
                "find-generic-password",
                "-w",
                "-s",
                "tailscope",
                "-a",
            ],
            format!("security add-generic-password -s tailscope -a {name} -w"),
        )
    } else {
        (
            &["secret-tool", "lookup", "service", "tailscope", "account"],
            format!("secret-tool store --label={name} service tailscope account {name}"),
        )
    };
    let words: Vec<String> = look
        .iter()
        .copied()
        .chain([name])
        .map(str::to_owned)
        .collect();
    command(&words).await.map_err(|why| {
        let package = if cfg!(target_os = "macos") {
            ""
        } else {
            " (package libsecret-tools)"
        };
        format!(
            "the keyring entry `{name}` cannot be read: {why}; `{store}` puts it there{package}"
        )
    })
}

fn of_bytes(bytes: Vec<u8>) -> Option<Secret> {
    let secret = Secret::new(String::from_utf8(bytes).ok()?);
    (!secret.is_empty()).then_some(secret)
}

async fn command(words: &[String]) -> Result<Secret, String> {
    let (program, arguments) = words.split_first().ok_or("an empty command")?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("`{program}` cannot be run: {error}"))?;
    let done = tokio::time::timeout(PATIENCE, child.wait_with_output())
        .await
        .map_err(|late| {
            format!(
                "`{program}` did not end within {} s: {late}",
                PATIENCE.as_secs()
            )
        })?
        .map_err(|error| format!("`{program}` cannot be run: {error}"))?;
    if !done.status.success() {
        let words = String::from_utf8_lossy(&done.stderr);
        let line = words.lines().next().unwrap_or("it said nothing");
        return Err(format!("`{program}` failed ({}): {line}", done.status));
    }
    of_bytes(done.stdout).ok_or_else(|| format!("`{program}` printed nothing, or no text"))
}
