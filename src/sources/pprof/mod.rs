//! `net/http/pprof` of a Go program: dumps and profiles of the moment at which they are asked for.
//!
//! Protocol and facts: `profiles.md` §3 of the protocol notes. A goroutine dump at `debug=2` stops every goroutine of the
//! program while it is written, `gc=1` collects first: both are taken only where the settings say `stop_the_world = true`.
//! At `debug=0` and 1 the program pauses briefly (Go 1.19 and later).

mod answer;
mod checkup;
mod index;
mod pull;
#[cfg(test)]
mod tests;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::time::{TimeRange, parse_duration_nanos};
use crate::sources::{Checkup, Kind, LONGEST_DELAY, Pull, Request, SettingsError, SourceSettings};

/// A profile is of the moment at which it is taken, which lies a little behind the end of a window up to "now". What was
/// taken so long after the end of the recorded window still belongs to it.
pub const TAKEN_LATER_NANOS: i64 = 600_000_000_000;
/// Where Go programs serve them, unless they were mounted elsewhere.
const USUAL_PATH: &str = "/debug/pprof";
/// Profiles that every Go program has (`profiles.md` §3).
const USUAL_PROFILES: &[&str] = &[
    "allocs",
    "block",
    "goroutine",
    "heap",
    "mutex",
    "threadcreate",
];
/// Profiles whose difference over some seconds says more than their sum since the start.
const CUMULATIVE: &[&str] = &["allocs", "block", "mutex"];
/// Dumps of goroutines: what grows in each of three grows (`profiles.md` §10).
const DUMPS: u32 = 3;
/// More are no help to a person and a burden to the program.
const MOST_DUMPS: u32 = 100;
const INTERVAL: Duration = Duration::from_secs(10);
const CPU: Duration = Duration::from_secs(10);
/// A CPU profile or difference takes this long at most.
const LONGEST_MEASURE: Duration = Duration::from_mins(5);

/// The kind.
#[derive(Debug, Clone, Copy)]
pub struct Pprof;

/// What only this kind knows.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Own {
    /// Where the handlers are mounted, after `url` [default: `/debug/pprof`].
    path: Option<String>,
    /// Profiles to take [default: all that its index page names, or the six that every Go program has].
    profiles: Option<Vec<String>>,
    /// The explicit yes to what stops the program while it is taken: goroutine dumps with states, waiting times and lock
    /// addresses (`debug=2`; 14,820 goroutines took 9.5 s once), and `gc` [default: false].
    stop_the_world: bool,
    /// Forms of the goroutine dump: 0 (protobuf), 1 (text by groups), 2 (every goroutine; needs `stop_the_world`)
    /// [default: 0, and 2 where `stop_the_world` is set].
    goroutine_debug: Option<Vec<u8>>,
    /// Goroutine dumps, one after the other: what grows between them is a finding [default: 3].
    dumps: Option<u32>,
    /// Time between two of them, at most a minute [default: `10s`].
    interval: Option<String>,
    /// Length of the CPU profile in whole seconds; `0s` takes none [default: `10s`].
    cpu: Option<String>,
    /// Also take what allocs, block and mutex count within so many whole seconds, beside their sums since the start
    /// [default: none].
    delta: Option<String>,
    /// Collect before the heap is looked at; needs `stop_the_world` [default: false].
    gc: bool,
}

/// Settings, checked.
#[derive(Debug, Clone)]
struct Checked {
    /// With which every path begins; empty or `/…`, without a `/` at its end.
    path: String,
    profiles: Option<Vec<String>>,
    stop_the_world: bool,
    /// Whether somebody asked for `debug=2` without the yes.
    is_refused_dump: bool,
    /// 0, 1 and 2 in the order of asking.
    forms: Vec<u8>,
    dumps: u32,
    interval: Duration,
    /// Seconds of the CPU profile; 0 for none.
    cpu_s: u64,
    is_cpu_asked: bool,
    /// Seconds of differences; 0 for none.
    delta_s: u64,
    gc: bool,
    total_timeout: Duration,
}

impl Checked {
    fn of(source: &SourceSettings) -> Result<Self, SettingsError> {
        let own: Own = source.own()?;
        let Some(url) = &source.url else {
            return Err(source.error("url", "nothing", "the base address of the program"));
        };
        let is_in_url = url.trim_end_matches('/').ends_with(USUAL_PATH);
        let path = match own.path {
            Some(path) => path,
            None if is_in_url => String::new(),
            None => USUAL_PATH.to_owned(),
        };
        let path = path.trim_end_matches('/').to_owned();
        if !(path.is_empty() || path.starts_with('/')) || path.contains(['?', '#', ' ']) {
            return Err(source.error(
                "path",
                format!("`{path}`"),
                "a path like `/debug/pprof`, without a query",
            ));
        }
        if let Some(names) = &own.profiles {
            for name in names {
                check_name(source, name)?;
            }
        }
        let asked = own.goroutine_debug.unwrap_or_else(|| {
            if own.stop_the_world {
                vec![0, 2]
            } else {
                vec![0]
            }
        });
        if let Some(form) = asked.iter().find(|form| **form > 2) {
            return Err(source.error("goroutine_debug", form.to_string(), "0, 1 or 2"));
        }
        let mut forms: Vec<u8> = asked
            .iter()
            .copied()
            .filter(|form| *form < 2 || own.stop_the_world)
            .collect();
        forms.sort_unstable();
        forms.dedup();
        if own.gc && !own.stop_the_world {
            return Err(source.error(
                "gc",
                "true",
                "`stop_the_world = true` beside it: a collection stops the program",
            ));
        }
        let dumps = own.dumps.unwrap_or(DUMPS);
        if dumps > MOST_DUMPS {
            return Err(source.error("dumps", dumps.to_string(), "at most 100"));
        }
        let interval = duration(source, "interval", own.interval.as_deref(), INTERVAL)?;
        if interval > LONGEST_DELAY {
            return Err(source.error(
                "interval",
                format!("{} s", interval.as_secs()),
                "at most 60s",
            ));
        }
        Ok(Self {
            path,
            profiles: own.profiles,
            stop_the_world: own.stop_the_world,
            is_refused_dump: asked.contains(&2) && !own.stop_the_world,
            forms,
            dumps,
            interval,
            cpu_s: whole_seconds(source, "cpu", own.cpu.as_deref(), CPU)?,
            is_cpu_asked: own.cpu.is_some(),
            delta_s: whole_seconds(source, "delta", own.delta.as_deref(), Duration::ZERO)?,
            gc: own.gc,
            total_timeout: source.limits.total_timeout,
        })
    }

    /// A request for one profile.
    fn request(&self, name: &str, query: &str) -> Request {
        let mut path = format!("{}/{}", self.path, encoded(name));
        if !query.is_empty() {
            path.push('?');
            path.push_str(query);
        }
        Request::get(path)
    }

    /// The same for what measures `secs` seconds before it answers.
    fn measure(&self, name: &str, secs: u64) -> Request {
        let mut request = self.request(name, &format!("seconds={secs}"));
        request.total_timeout = Some(self.total_timeout + Duration::from_secs(secs));
        request
    }

    fn index(&self) -> Request {
        Request::get(format!("{}/", self.path)).unkept()
    }
}

/// Profiles are called like `goroutine` or `example.com/shop.orders`; a name's `/` stands as it is in Go's own links.
fn encoded(name: &str) -> String {
    let parts: Vec<String> = name.split('/').map(crate::base::percent::encode).collect();
    parts.join("/")
}

fn check_name(source: &SourceSettings, name: &str) -> Result<(), SettingsError> {
    let expected = match name {
        "profile" => "a name without `profile`: `cpu = \"10s\"` says how long to measure",
        "trace" | "cmdline" | "symbol" => {
            "the name of a profile; traces, command lines and symbols are none"
        }
        _ if name.is_empty() || name.contains(['?', '#', ' ']) || name.starts_with('/') => {
            "a name like `goroutine` or `heap`"
        }
        _ => return Ok(()),
    };
    Err(source.error("profiles", format!("`{name}`"), expected))
}

fn duration(
    source: &SourceSettings,
    key: &str,
    text: Option<&str>,
    usual: Duration,
) -> Result<Duration, SettingsError> {
    let Some(text) = text else {
        return Ok(usual);
    };
    parse_duration_nanos(text)
        .and_then(|nanos| u64::try_from(nanos).ok())
        .map(Duration::from_nanos)
        .ok_or_else(|| source.error(key, format!("`{text}`"), "a duration like `10s`"))
}

fn whole_seconds(
    source: &SourceSettings,
    key: &str,
    text: Option<&str>,
    usual: Duration,
) -> Result<u64, SettingsError> {
    let length = duration(source, key, text, usual)?;
    if length.subsec_nanos() != 0 || length > LONGEST_MEASURE {
        return Err(source.error(
            key,
            format!("`{}`", text.unwrap_or_default()),
            "whole seconds, at most `5m`",
        ));
    }
    Ok(length.as_secs())
}

impl Kind for Pprof {
    fn id(&self) -> &'static str {
        "pprof"
    }

    fn title(&self) -> &'static str {
        "Go programs with net/http/pprof"
    }

    fn example(&self) -> &'static str {
        r#"[sources.shop]
kind = "pprof"
url = "http://shop-0.example:6060"
# path = "/debug/pprof"           # where the handlers are mounted
# profiles = ["goroutine", "heap", "mutex"]   # instead of all that it has
# stop_the_world = true           # yes: dumps of every goroutine may stop the program, for seconds when it has many
# goroutine_debug = [0, 2]        # 0 protobuf, 1 text by groups, 2 every goroutine (needs stop_the_world)
# dumps = 3                       # goroutine dumps, to see what grows
# interval = "10s"                # between two of them
# cpu = "10s"                     # length of the CPU profile; "0s" takes none
# delta = "10s"                   # also what allocs, block and mutex count within that time
# gc = true                       # collect before looking at the heap (needs stop_the_world)
"#
    }

    fn own_schema(&self) -> schemars::Schema {
        schemars::schema_for!(Own)
    }

    fn plan(
        &self,
        source: &SourceSettings,
        window: TimeRange,
    ) -> Result<Box<dyn Pull>, SettingsError> {
        Ok(Box::new(pull::PprofPull::new(Checked::of(source)?, window)))
    }

    fn examine(&self, source: &SourceSettings) -> Result<Box<dyn Checkup>, SettingsError> {
        Ok(Box::new(checkup::PprofCheckup::new(Checked::of(source)?)))
    }
}
