//! `tailscope serve`: a recording, answered over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::base::fs;
use crate::cli::Exit;
use crate::cli::args::{Inputs, Span};
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::engine::serve::{ServeError, Served, bind};
use crate::session::bundle::{self, Bundle};
use crate::session::intake::Limits;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(super) struct Serve {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    span: Span,
    /// Where to listen; port 0 is a free one, and standard output says which. Loopback, unless you say otherwise
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:0",
        alias = "addr"
    )]
    listen: String,
}

pub(super) fn run(command: &Serve, out: &mut Out) -> Result<Exit, CliError> {
    if out.is_offline() {
        return Err(CliError::usage(
            "--offline refuses any use of the network, and serve listens on it",
        )
        .hint("leave --offline out: by default nobody but this machine can connect"));
    }
    let address = address(&command.listen)?;
    let document = command.inputs.open(&command.span, out)?;
    let is_partial = document.is_partial;
    let served = Served::new(document, bundles(&command.inputs.paths));
    let listening = bind(address).map_err(|e| of_serving(&e))?;
    let at = listening.address();
    if !at.ip().is_loopback() {
        out.warning(&format!(
            "{at} can be reached by others: whoever can connect may read the recording"
        ));
    }
    if !out.is_quiet() {
        out.remark(&about(&served));
    }
    let mut said = Ok(());
    listening
        .run(served, || {
            said = out.result(None, format!("http://{at}\n").as_bytes());
        })
        .map_err(|e| of_serving(&e))?;
    said?;
    Ok(if is_partial {
        Exit::Partial
    } else {
        Exit::Done
    })
}

fn about(served: &Served) -> String {
    let window = served
        .window()
        .map(|w| format!(" of {} to {}", w.start, w.end))
        .unwrap_or_default();
    format!(
        "serves {} series and {} recorded answers{window}, read-only, until Ctrl-C",
        served.series(),
        served.exchanges()
    )
}

/// `127.0.0.1:9090`, `[::1]:9090`, `localhost:9090`, or a port alone.
fn address(text: &str) -> Result<SocketAddr, CliError> {
    let text = text.trim();
    let port_alone = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = port_alone.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    if let Some(Ok(port)) = text.strip_prefix("localhost:").map(str::parse::<u16>) {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    text.parse().ok().ok_or_else(|| {
        CliError::usage(format!(
            "--listen: expected an address and a port, as 127.0.0.1:9090; got {text:?}"
        ))
        .hint("port 0 takes a free one")
    })
}

fn of_serving(error: &ServeError) -> CliError {
    let told = CliError::usage(error.to_string());
    match error {
        ServeError::Bind { .. } => told.hint(
            "another program may have it: --listen 127.0.0.1:0 takes a free port and prints it",
        ),
        ServeError::Start(_) => CliError::new(Exit::Nothing, error.to_string()),
    }
}

/// The bundles among the inputs, for their exchanges. What cannot be read was told of when the inputs were read.
fn bundles(paths: &[PathBuf]) -> Vec<Bundle> {
    paths
        .iter()
        .filter(|path| path.is_file())
        .filter_map(|path| {
            let bytes = fs::read(path).ok()?;
            if !bundle::is_bundle(&bytes) {
                return None;
            }
            bundle::read(&path.display().to_string(), bytes, &Limits::default()).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (text, want) in [
            ("127.0.0.1:9090", "127.0.0.1:9090"),
            ("[::1]:9090", "[::1]:9090"),
            ("localhost:9090", "127.0.0.1:9090"),
            (":9090", "127.0.0.1:9090"),
            ("9090", "127.0.0.1:9090"),
            ("0.0.0.0:0", "0.0.0.0:0"),
        ] {
            assert_eq!(address(text).unwrap().to_string(), want);
        }
        for bad in ["", "example.org:80", "127.0.0.1", "127.0.0.1:70000"] {
            assert_eq!(address(bad).unwrap_err().exit, Exit::Usage, "{bad}");
        }
    }
}
