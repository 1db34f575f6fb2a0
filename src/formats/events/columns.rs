//! Which column is which, by its name, else by what stands in it.

use std::collections::BTreeSet;

use crate::base::text::join_and;
use crate::base::time::{NANOS_PER_SEC, Timestamp, Zone, parse_time};

/// Names of a time column, best first (`logs.md` §6).
pub(super) const TIME: &[&str] = &[
    "time",
    "timestamp",
    "ts",
    "start",
    "start_time",
    "started_at",
    "starts_at",
    "startsat",
    "at",
    "when",
    "date",
    "datetime",
    "unix",
    "epoch",
    "t",
    "@timestamp",
    "created_at",
    "start_unix",
];
/// Names of the end.
pub(super) const END: &[&str] = &[
    "end",
    "end_time",
    "ended_at",
    "ends_at",
    "endsat",
    "finished_at",
    "finished",
    "until",
    "stop",
    "timeend",
    "time_end",
    "end_unix",
];
/// Names of the kind.
pub(super) const KIND: &[&str] = &["kind", "type", "category", "event_type", "eventtype"];
/// Names of the title, best first (issue 2); the next one that a list has is its longer text.
pub(super) const TITLE: &[&str] = &[
    "title",
    "summary",
    "message",
    "detail",
    "description",
    "text",
    "event",
    "what",
    "note",
    "comment",
    "subject",
];
/// Names of who said so.
pub(super) const SOURCE: &[&str] = &["source", "author", "user", "by", "actor", "who", "system"];

/// Rows that are looked at to find the columns.
pub(super) const SAMPLE_ROWS: usize = 1_000;
/// The times of an event list lie between 1990 and 2100; other numbers are no times.
const BELIEVED: std::ops::Range<i64> = 631_152_000..4_102_444_800;

/// The columns of a list of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) time: usize,
    pub(super) end: Option<usize>,
    pub(super) kind: Option<usize>,
    pub(super) title: usize,
    pub(super) text: Option<usize>,
    pub(super) source: Option<usize>,
    /// Whether time and title were found by their names.
    pub(super) is_named: bool,
}

/// Why a table is no list of events: how near it came, and the end of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) near: u8,
    pub(super) why: String,
}

fn refuse<T>(near: u8, why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal {
        near,
        why: why.into(),
    })
}

/// Reads a time of an event list.
pub(super) fn read_time(text: &str, zone: &Zone) -> Option<Timestamp> {
    let t = parse_time(text, zone).ok()?;
    BELIEVED
        .contains(&t.nanos().div_euclid(NANOS_PER_SEC))
        .then_some(t)
}

/// What stands in a column, as shares of its cells that are not empty.
#[derive(Debug, Default)]
struct Content {
    filled: usize,
    times: f64,
    numbers: f64,
    prose: f64,
    distinct: f64,
    mean_len: f64,
}

impl Content {
    fn of<'c>(cells: impl Iterator<Item = &'c str>, zone: &Zone) -> Self {
        let cells: Vec<&str> = cells.map(str::trim).filter(|c| !c.is_empty()).collect();
        let n = cells.len().max(1) as f64;
        let share = |is: &dyn Fn(&str) -> bool| cells.iter().filter(|c| is(c)).count() as f64 / n;
        let distinct: BTreeSet<&&str> = cells.iter().collect();
        Self {
            filled: cells.len(),
            times: share(&|c| read_time(c, zone).is_some()),
            numbers: share(&|c| c.trim_end_matches('%').parse::<f64>().is_ok()),
            prose: share(&|c| {
                c.split_whitespace().nth(1).is_some() && c.chars().any(char::is_alphabetic)
            }),
            distinct: distinct.len() as f64 / n,
            mean_len: cells.iter().map(|c| c.len()).sum::<usize>() as f64 / n,
        }
    }
}

/// Finds the columns of a table of `rows` (without its header).
pub(super) fn find(
    header: Option<&[String]>,
    rows: &[Vec<String>],
    zone: &Zone,
) -> Result<Columns, Refusal> {
    let width = header.map_or_else(|| rows.first().map_or(0, Vec::len), <[String]>::len);
    if width < 2 || rows.is_empty() {
        return refuse(0, "");
    }
    let names: Vec<String> = header
        .unwrap_or_default()
        .iter()
        .map(|name| {
            name.trim()
                .trim_start_matches('#')
                .trim()
                .to_ascii_lowercase()
        })
        .collect();
    if let Some(why) = other_table(&names) {
        return refuse(60, why);
    }
    let contents: Vec<Content> = (0..width)
        .map(|at| {
            let cells = rows
                .iter()
                .take(SAMPLE_ROWS)
                .filter_map(move |row| row.get(at).map(String::as_str));
            Content::of(cells, zone)
        })
        .collect();
    let content = |at: usize| contents.get(at);
    let named = |wanted: &[&str], fits: &dyn Fn(&Content) -> bool| {
        wanted
            .iter()
            .filter_map(|name| names.iter().position(|n| n == name))
            .find(|at| content(*at).is_some_and(fits))
    };
    let is_time = |c: &Content| c.filled > 0 && c.times >= 0.8;
    let time_named = named(TIME, &is_time);
    let time = time_named.or_else(|| contents.iter().position(is_time));
    let Some(time) = time else {
        return refuse(20, "no column of it reads as times");
    };
    let is_text = |c: &Content| c.filled > 0 && c.numbers < 0.5 && c.times < 0.5;
    let title_named = named(TITLE, &is_text);
    let title = title_named.or_else(|| free_text(&contents));
    let Some(title) = title else {
        return refuse(
            40,
            "it has a time and no column of free text (title, summary, message, detail, description or text)",
        );
    };
    let numbers = contents
        .iter()
        .enumerate()
        .filter(|(at, c)| *at != time && c.filled > 0 && c.numbers >= 0.8 && c.times < 0.8)
        .count();
    let is_measured = if title_named.is_some() {
        numbers * 2 > width
    } else {
        numbers >= 2
    };
    if is_measured {
        return refuse(
            40,
            format!("{numbers} of its {width} columns are numbers: measurements, not events"),
        );
    }
    let is_log = names
        .iter()
        .any(|n| matches!(n.as_str(), "level" | "severity" | "loglevel" | "priority"));
    let repeats = content(title).is_some_and(|c| c.distinct < 0.5);
    if rows.len() > 50 && (is_log || repeats) {
        return refuse(
            40,
            "its texts come again and again, as in a log: expected a list of what was changed",
        );
    }
    let is_maybe_time = |c: &Content| c.filled == 0 || c.times >= 0.8;
    let end_named = named(END, &is_maybe_time).filter(|at| *at != time);
    let end =
        end_named.or_else(|| later_time(&contents, rows, time, zone).filter(|_| header.is_none()));
    let any = |_: &Content| true;
    let kind = named(KIND, &any)
        .or_else(|| short_words(&contents, rows.len()).filter(|_| header.is_none()))
        .filter(|at| *at != title && *at != time);
    let text = TITLE
        .iter()
        .filter_map(|name| names.iter().position(|n| n == name))
        .find(|at| *at != title && Some(*at) != kind);
    let source = named(SOURCE, &any).filter(|at| *at != title && Some(*at) != kind);
    Ok(Columns {
        time,
        end,
        kind,
        title,
        text,
        source,
        is_named: time_named.is_some() && title_named.is_some(),
    })
}

/// Tables that `contract.md` §4 and well-known tools define, told by their header.
fn other_table(names: &[String]) -> Option<&'static str> {
    let has = |name: &str| names.iter().any(|n| n == name);
    if (has("run") || has("step")) && has("start") && has("end") {
        return Some("it is a list of load runs or steps (runs.csv, steps.csv)");
    }
    if has("timestamp") && has("elapsed") && has("label") {
        return Some("it is a JMeter result (JTL), which this version does not read");
    }
    if has("occurrences") && has("error") {
        return Some("it is a list of Locust's failures, which this version does not read");
    }
    None
}

/// The column of free text: words with blanks, mostly different ones; of several the longest.
fn free_text(contents: &[Content]) -> Option<usize> {
    contents
        .iter()
        .enumerate()
        .filter(|(_, c)| {
            c.filled > 0 && c.times < 0.5 && c.numbers < 0.2 && c.prose >= 0.5 && c.distinct >= 0.5
        })
        .max_by(|a, b| a.1.mean_len.total_cmp(&b.1.mean_len).then(b.0.cmp(&a.0)))
        .map(|(at, _)| at)
}

/// In a list without a header: another column of times, none before its row's start.
fn later_time(
    contents: &[Content],
    rows: &[Vec<String>],
    time: usize,
    zone: &Zone,
) -> Option<usize> {
    let at_of = |row: &Vec<String>, at: usize| row.get(at).and_then(|c| read_time(c, zone));
    contents
        .iter()
        .enumerate()
        .find(|(at, c)| {
            *at != time
                && c.filled > 0
                && c.times >= 0.8
                && rows.iter().take(SAMPLE_ROWS).all(|row| {
                    match (at_of(row, time), at_of(row, *at)) {
                        (Some(start), Some(end)) => start <= end,
                        _ => true,
                    }
                })
        })
        .map(|(at, _)| at)
}

/// In a list without a header: a column of single words that come again.
fn short_words(contents: &[Content], rows: usize) -> Option<usize> {
    contents.iter().position(|c| {
        c.filled == rows
            && c.times < 0.2
            && c.numbers < 0.2
            && c.prose < 0.1
            && c.mean_len <= 20.0
            && (c.distinct < 1.0 || rows < 4)
    })
}

/// `took column 1 `time` for the time, …`.
pub(super) fn in_words(columns: &Columns, names: &[String]) -> String {
    let name = |at: usize| match names.get(at).filter(|n| !n.is_empty()) {
        Some(name) => format!("`{name}`"),
        None => format!("column {}", at + 1),
    };
    let mut parts = vec![format!("{} for the time", name(columns.time))];
    for (at, what) in [
        (columns.end, "the end"),
        (columns.kind, "the kind"),
        (Some(columns.title), "the title"),
        (columns.text, "the text"),
        (columns.source, "the source"),
    ] {
        if let Some(at) = at {
            parts.push(format!("{} for {what}", name(at)));
        }
    }
    format!("took {}", join_and(&parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        text.lines()
            .map(|l| l.split(',').map(str::to_owned).collect())
            .collect()
    }

    fn found(text: &str) -> Result<Columns, Refusal> {
        let mut rows = rows(text);
        let header = rows.remove(0);
        find(Some(&header), &rows, &Zone::utc())
    }

    #[test]
    fn by_name_and_by_content() {
        let columns = found(
            "time,end,kind,title,text\n2026-11-30T14:27:48.379Z,,change,web 1.4 out,log only",
        )
        .unwrap();
        assert_eq!(
            (
                columns.time,
                columns.end,
                columns.kind,
                columns.title,
                columns.text
            ),
            (0, Some(1), Some(2), 3, Some(4))
        );
        assert!(columns.is_named);
        let columns = found("who,moment,wording\nann,1796045759.157146,rolled web out\nbob,1796045789.2,rolled it back").unwrap();
        assert_eq!((columns.time, columns.title), (1, 2));
        assert_eq!(columns.source, Some(0));
        assert!(!columns.is_named);
        assert_eq!(
            in_words(
                &columns,
                &["who".to_owned(), "moment".to_owned(), "wording".to_owned()]
            ),
            "took `moment` for the time, `wording` for the title and `who` for the source"
        );
    }

    #[test]
    fn tables_of_other_things_are_refused_with_the_reason() {
        let why = |text: &str| found(text).unwrap_err().why;
        assert!(
            why("unix,open,retrans\n1796045759.1,0,0\n1796045764.4,476,0")
                .contains("no column of free text")
        );
        assert!(
            why("run,step,start,end,vusers\na b,c,2026-11-30T14:47:31Z,2026-11-30T14:47:36Z,16")
                .contains("load runs")
        );
        assert!(
            why("timeStamp,elapsed,label,threadName\n1551783627191,351,JR OK,Thread Group 1-1")
                .contains("JMeter")
        );
        assert!(
            why("DateTime,Tests,Errors,who did it\n2013-12-02 11:06:29,532,0,Thread Group 1-1")
                .contains("numbers")
        );
        assert!(why("a,b\nx,some words").contains("no column of it reads as times"));
    }
}
