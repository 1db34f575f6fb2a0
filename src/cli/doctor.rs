//! `tailscope doctor`: what is wrong with each source, and what to do.

use clap::Args;

use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::live::{self, Sources};
use crate::cli::out::Out;
use crate::engine::cancel::Cancel;
use crate::engine::net::{self, NetOptions};
use crate::sources::{Check, Verdict};

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    sources: Sources,
}

pub(super) fn run(command: &Doctor, out: &mut Out) -> Result<Exit, CliError> {
    let loaded = command.sources.load(out)?;
    let jobs = live::checkups(&loaded)?;
    let options = NetOptions {
        is_offline: out.is_offline(),
    };
    let seen = net::examine(jobs, options, &Cancel::new())
        .map_err(|e| CliError::new(Exit::Nothing, e.to_string()))?;
    let mut text = String::new();
    let mut is_ill = false;
    for examined in &seen {
        text.push_str(&examined.source);
        text.push('\n');
        for (check, verdict) in &examined.checks {
            is_ill |= verdict.is_well == Some(false);
            text.push_str(&line(*check, verdict));
        }
    }
    out.result(None, text.as_bytes())?;
    Ok(if is_ill { Exit::Refused } else { Exit::Done })
}

fn line(check: Check, verdict: &Verdict) -> String {
    let state = match verdict.is_well {
        Some(true) => "ok",
        Some(false) => "FAILS",
        None => "?",
    };
    let mut line = format!("  {:<14} {state:<6} {}\n", word(check), verdict.text);
    if let Some(advice) = &verdict.advice {
        line.push_str(&format_advice(advice));
    }
    line
}

fn format_advice(advice: &str) -> String {
    format!("{:24}-> {advice}\n", "")
}

const fn word(check: Check) -> &'static str {
    match check {
        Check::Resolved => "resolved",
        Check::Reached => "reached",
        Check::Trusted => "trusted",
        Check::Authenticated => "authenticated",
        Check::Version => "version",
        Check::Clock => "clock",
        Check::MayRead => "may read",
        Check::Limits => "limits",
    }
}
