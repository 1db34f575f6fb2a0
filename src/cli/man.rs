//! `tailscope man`: manual pages, as roff.

use clap::Args;

use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::out::Out;

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(super) struct Man {
    /// The command whose page is wanted [default: the page of tailscope itself]
    #[arg(value_name = "COMMAND")]
    of: Option<String>,
}

pub(super) fn run(command: &Man, out: &mut Out) -> Result<Exit, CliError> {
    let mut cli = super::command();
    cli.build();
    let page = match &command.of {
        None => cli,
        Some(name) => cli
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| CliError::usage(format!("no command is called {name}")))?,
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut roff)
        .map_err(|e| CliError::new(Exit::Nothing, e.to_string()))?;
    out.result(None, &roff)?;
    Ok(Exit::Done)
}
