//! The questions of `doctor`: the index page, and one goroutine profile in the form that hardly pauses the program.

use crate::base::reporter::Warning;
use crate::sources::pprof::Checked;
use crate::sources::pprof::answer::{self, Answer, Expected};
use crate::sources::pprof::index::{self, Listed};
use crate::sources::pprof::pull::goroutines;
use crate::sources::queue::Queue;
use crate::sources::{Check, Checkup, Outcome, Progress, Pull, Step, Ticket, Verdict};

/// Bytes of one goroutine in a `debug=2` dump, about (`profiles.md` §3).
const BYTES_A_GOROUTINE: u64 = 850;
/// With more, a dump may hold the program for seconds (9.5 s for 14,820 in 2017, `profiles.md` §3).
const MANY: u64 = 5_000;

#[derive(Debug, Clone, Copy)]
enum Purpose {
    Index,
    Goroutine,
}

/// One look.
#[derive(Debug)]
pub(super) struct PprofCheckup {
    checked: Checked,
    queue: Queue<Purpose>,
    found: Option<Vec<Listed>>,
    go: Option<String>,
    authenticated: Option<Verdict>,
    reads: Option<Verdict>,
}

impl PprofCheckup {
    pub(super) fn new(checked: Checked) -> Self {
        let mut queue = Queue::default();
        queue.ask(Purpose::Index, checked.index());
        let text = checked.request("goroutine", "debug=1").unkept();
        queue.ask(Purpose::Goroutine, text);
        Self {
            checked,
            queue,
            found: None,
            go: None,
            authenticated: None,
            reads: None,
        }
    }

    fn take_goroutines(&mut self, answer: &Answer) {
        let path_advice =
            "check `url` and `path`: the handlers may be mounted elsewhere, or on another port";
        self.authenticated = match answer {
            Answer::Good { .. } | Answer::Unknown => Some(Verdict::well("it lets us in")),
            Answer::Refused {
                status: 401 | 403,
                text,
            } => Some(Verdict::ill(
                text.clone(),
                "check `http.basic_auth` or `http.authorization`",
            )),
            _ => None,
        };
        self.reads = match answer {
            Answer::Good { .. } => None,
            Answer::Unknown => Some(Verdict::ill(
                "pprof answers, and has no goroutine profile",
                "is it a Go program?",
            )),
            Answer::Absent(text) | Answer::Else(text) => {
                Some(Verdict::ill(text.clone(), path_advice))
            }
            Answer::Refused { text, .. } => Some(Verdict::ill(text.clone(), answer::advice(text))),
        };
    }

    fn limits(&self) -> Verdict {
        let of_all = self.found.as_deref().and_then(goroutines);
        if self.checked.stop_the_world {
            return match of_all {
                Some((n, text)) if n > MANY => Verdict::ill(
                    format!(
                        "{text}: a dump of each (debug=2) is about {} MB and may stop the program for seconds",
                        n * BYTES_A_GOROUTINE / 1_000_000
                    ),
                    "set `goroutine_debug = [0]` to leave these dumps out",
                ),
                Some((_, text)) => Verdict::well(format!(
                    "{text}: a dump of each (debug=2) stops the program for a moment; the settings say yes"
                )),
                None => Verdict::unknown(
                    "dumps of every goroutine (debug=2) stop the program while they are written; the settings say yes",
                ),
            };
        }
        let text = of_all.map_or_else(String::new, |(_, text)| format!("{text}; "));
        Verdict::well(format!(
            "{text}dumps with states and lock addresses (debug=2) are not taken, since they stop the program: `stop_the_world = true` allows them"
        ))
    }
}

/// The version in the path of Go's own sources, where a build left it there: `/usr/lib/go-1.19/src/…`,
/// `…/golang.org/toolchain@v0.0.1-go1.22.3.linux-amd64/src/…` (`profiles.md` §6).
fn go_version(text: &str) -> Option<String> {
    let goroot = text
        .lines()
        .find_map(|line| line.split_once("/src/runtime/").map(|(before, _)| before))?;
    let (_, version) = goroot
        .rsplit_once("/go-")
        .or_else(|| goroot.rsplit_once("-go"))
        .or_else(|| goroot.rsplit_once("/go"))?;
    let version: String = version
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    let version = version.trim_end_matches('.');
    version.contains('.').then(|| version.to_owned())
}

impl Pull for PprofCheckup {
    fn next(&mut self) -> Step {
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        let Some(purpose) = self.queue.answered(ticket) else {
            return;
        };
        match (purpose, outcome) {
            (Purpose::Index, Outcome::Answered(reply)) if reply.is_good() => {
                self.found = index::read(&reply.body);
            }
            (Purpose::Index, _) => {}
            (Purpose::Goroutine, outcome) => {
                self.take_goroutines(&answer::read(outcome, Expected::Groups));
                if let Outcome::Answered(reply) = outcome
                    && reply.is_good()
                {
                    self.go = go_version(&String::from_utf8_lossy(&reply.body));
                }
            }
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

impl Checkup for PprofCheckup {
    fn checks(&self) -> Vec<(Check, Verdict)> {
        let mut checks = Vec::new();
        checks.extend(
            self.authenticated
                .clone()
                .map(|v| (Check::Authenticated, v)),
        );
        checks.push((
            Check::Version,
            self.go.as_ref().map_or_else(
                || Verdict::unknown("no profile says its Go version"),
                |v| Verdict::well(format!("Go {v}, by the paths of its sources")),
            ),
        ));
        let reads = self.reads.clone().unwrap_or_else(|| match &self.found {
            Some(found) => {
                let names: Vec<&str> = found.iter().map(|l| l.name.as_str()).collect();
                Verdict::well(names.join(", "))
            }
            None => Verdict::well("goroutine; there is no index page, so the usual ones are tried"),
        });
        let is_well = reads.is_well == Some(true);
        checks.push((Check::MayRead, reads));
        if is_well {
            checks.push((Check::Limits, self.limits()));
        }
        checks
    }
}

#[cfg(test)]
mod tests {
    use super::go_version;

    #[test]
    fn the_version_stands_in_the_path_of_the_runtime() {
        for (line, version) in [
            (
                "#\t0x43\truntime.main+0x1\t/usr/lib/go-1.19/src/runtime/proc.go:250",
                Some("1.19"),
            ),
            (
                "/root/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.22.3.linux-amd64/src/runtime/proc.go:1",
                Some("1.22.3"),
            ),
            ("/opt/go1.21.5/src/runtime/x.go:1", Some("1.21.5")),
            ("/usr/local/go/src/runtime/proc.go:1", None),
            ("runtime/proc.go:1", None),
        ] {
            assert_eq!(go_version(line).as_deref(), version, "{line}");
        }
    }
}
