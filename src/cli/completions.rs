//! `tailscope completions`: a script for a shell.

use clap::Args;
use clap_complete::Shell;

use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::out::Out;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(command: &Completions, out: &mut Out) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    let mut cli = super::command();
    let name = cli.get_name().to_owned();
    clap_complete::generate(command.shell, &mut cli, name, &mut script);
    out.result(None, &script)?;
    Ok(Exit::Done)
}
