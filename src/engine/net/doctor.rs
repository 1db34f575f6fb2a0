//! What `doctor` sees of the way to a source; the machine says the rest.

use std::sync::Arc;

use crate::base::clock::{Clock as _, SystemClock};
use crate::base::time::Timestamp;
use crate::engine::cancel::Cancel;
use crate::engine::net::clients::Client;
use crate::engine::net::drive::offline;
use crate::engine::net::gate::Gate;
use crate::engine::net::send::send;
use crate::engine::net::{Examined, Look, NetOptions};
use crate::sources::{
    Check, Checkup, Failure, FailureKind, Outcome, Reply, SourceSettings, Step, Verdict,
};

/// Clocks that differ by more make spans and samples lie beside one another.
const CLOCK_IS_OFF_S: f64 = 2.0;

pub(super) async fn examine(
    jobs: Vec<Look>,
    options: NetOptions,
    cancel: &Cancel,
) -> Vec<Examined> {
    let mut all = Vec::new();
    for (settings, checkup) in jobs {
        if cancel.is_cancelled() {
            break;
        }
        let source = settings.name.clone();
        let checks = one(settings, checkup, options).await;
        all.push(Examined { source, checks });
    }
    all
}

async fn one(
    settings: SourceSettings,
    mut checkup: Box<dyn Checkup>,
    options: NetOptions,
) -> Vec<(Check, Verdict)> {
    if settings.url.is_none() && checkup.next() == Step::Done {
        return checkup.checks();
    }
    let is_unchecked = settings.http.tls.insecure_skip_verify;
    let made = if options.is_offline {
        Err(offline(&settings))
    } else {
        Client::new(settings).await
    };
    let client = match made {
        Ok(client) => client,
        Err(failure) => return of_failure(&failure, false),
    };
    let limits = &client.settings.limits;
    let gate = Arc::new(Gate::new(limits.requests_at_once, limits.requests_per_s));
    let mut seen: Option<Result<Option<Verdict>, Failure>> = None;
    while let Step::Fetch(ticket, request) = checkup.next() {
        let sent = send(Arc::clone(&client), Arc::clone(&gate), request).await;
        match sent.outcome {
            Ok((_, reply)) => {
                if !matches!(seen, Some(Ok(_))) {
                    seen = Some(Ok(clock(&reply)));
                }
                checkup.feed(ticket, &Outcome::Answered(&reply));
            }
            Err(failure) => {
                checkup.feed(ticket, &Outcome::Failed(&failure));
                let is_hopeless = seen.is_none();
                seen.get_or_insert(Err(failure));
                if is_hopeless {
                    break;
                }
            }
        }
    }
    match seen {
        Some(Ok(clock)) => {
            let mut checks = vec![
                (Check::Resolved, Verdict::well(client.host.clone())),
                (Check::Reached, Verdict::well("it answers")),
                (Check::Trusted, trust(&client, is_unchecked)),
            ];
            checks.extend(checkup.checks());
            let clock = clock.unwrap_or_else(|| Verdict::unknown("its answers carry no date"));
            checks.push((Check::Clock, clock));
            checks.sort_by_key(|(check, _)| *check);
            checks
        }
        Some(Err(failure)) => of_failure(&failure, client.base.scheme() == "https"),
        None => checkup.checks(),
    }
}

fn trust(client: &Client, is_unchecked: bool) -> Verdict {
    if client.base.scheme() != "https" {
        return Verdict::unknown("no TLS: everybody on the way can read and change what is sent");
    }
    if is_unchecked {
        return Verdict::ill(
            "its certificate is not checked (insecure_skip_verify)",
            "name its authority in `http.tls_config.ca_file` instead",
        );
    }
    Verdict::well("its certificate is good")
}

/// The steps before the failing one are well, those after it unknown.
fn of_failure(failure: &Failure, is_tls: bool) -> Vec<(Check, Verdict)> {
    let ill = || Verdict::ill(failure.text.clone(), failure.advice.clone());
    let resolved = (Check::Resolved, Verdict::well("the name has an address"));
    match failure.kind {
        FailureKind::Unresolved => vec![(Check::Resolved, ill())],
        FailureKind::Untrusted => vec![
            resolved,
            (Check::Reached, Verdict::well("somebody answers there")),
            (Check::Trusted, ill()),
        ],
        FailureKind::Credentials => vec![(Check::Authenticated, ill())],
        FailureKind::Offline => vec![(Check::Reached, ill())],
        _ => {
            let mut checks = vec![resolved, (Check::Reached, ill())];
            if is_tls {
                checks.push((Check::Trusted, Verdict::unknown("not seen")));
            }
            checks
        }
    }
}

/// `Date` has whole seconds, and the answer was on its way: the difference is known to about a second.
fn clock(reply: &Reply) -> Option<Verdict> {
    let theirs = Timestamp::parse_http_date(reply.header("date")?)?;
    let ahead_s = theirs.secs_since(SystemClock.now());
    Some(if ahead_s.abs() <= CLOCK_IS_OFF_S {
        Verdict::well("its clock is ours, to about a second")
    } else {
        Verdict::ill(
            format!(
                "its clock is {:.0} s {} ours",
                ahead_s.abs(),
                if ahead_s > 0.0 { "ahead of" } else { "behind" }
            ),
            "set the clocks (NTP); until then times of different sources lie beside one another",
        )
    })
}
