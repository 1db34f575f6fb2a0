//! Change events in CSV.

use crate::base::reporter::Reporter;
use crate::base::text::{decode, shorten};
use crate::base::time::Zone;
use crate::formats::events::columns::{self, Columns, Refusal};
use crate::formats::events::table::{self, Parts, Record};
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::event::Event;

/// Change events in CSV.
pub struct EventsCsv;

impl Format for EventsCsv {
    fn id(&self) -> &'static str {
        "events-csv"
    }

    fn title(&self) -> &'static str {
        "change events in CSV"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if !head.is_text || head.json.is_some() {
            return Sniff::NOT_AT_ALL;
        }
        let whole = if head.is_whole {
            head.text.len()
        } else {
            head.text.rfind('\n').unwrap_or(0)
        };
        let text = head.text.get(..whole).unwrap_or("");
        match Table::of(text, &Zone::utc()) {
            Ok(table) if table.columns.is_named => Sniff::Yes(80),
            Ok(table) if !table.names.is_empty() => Sniff::Yes(60),
            Ok(_) => Sniff::Yes(50),
            Err(refusal) if refusal.near == 0 => Sniff::NOT_AT_ALL,
            Err(refusal) => Sniff::refused(refusal.near, refusal.why),
        }
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let (text, is_replaced) = decode(bytes);
        if is_replaced {
            log.note(
                "bad_encoding",
                "bytes that are neither UTF-8 nor UTF-16 were replaced",
                None,
            );
        }
        let table = Table::of(&text, hints.zone).map_err(|refusal| {
            FormatError::new(
                "no_event_columns",
                None,
                if refusal.why.is_empty() {
                    "it is no table".to_owned()
                } else {
                    refusal.why
                },
                "a column of times and one of titles",
                "name them `time` and `title` in a first line",
            )
        })?;
        log.note(
            "columns",
            columns::in_words(&table.columns, &table.names),
            None,
        );
        let before = out.events.len();
        for record in &table.rows {
            match table.event(record, hints.zone) {
                Ok(event) => out.events.push(event),
                Err(why) => {
                    log.lost(
                        "bad_row",
                        format!("a row was passed over: {why}"),
                        place(record),
                    );
                }
            }
            if record.is_open {
                log.lost(
                    "open_quote",
                    "a quote is never closed; all that follows it is taken as one cell",
                    place(record),
                );
            }
        }
        if out.events.len() > before {
            Ok(())
        } else {
            Err(FormatError::new(
                "no_events",
                None,
                "no row has a time",
                "RFC 3339 with an offset, an epoch number, or a wall time",
                "mend the column of times",
            ))
        }
    }
}

fn place(record: &Record) -> String {
    format!("line {}", record.line)
}

/// A table that is a list of events.
struct Table {
    delimiter: char,
    names: Vec<String>,
    columns: Columns,
    rows: Vec<Record>,
}

impl Table {
    fn of(text: &str, zone: &Zone) -> Result<Self, Refusal> {
        let nothing = || Refusal {
            near: 0,
            why: String::new(),
        };
        let delimiter = table::delimiter_of(text).ok_or_else(nothing)?;
        let mut rows: Vec<Record> = table::records(text, delimiter).collect();
        // A first row in which nothing reads as a time is a header.
        let has_header = rows.first().is_some_and(|first| {
            first
                .cells
                .iter()
                .all(|cell| columns::read_time(cell, zone).is_none())
        });
        let names: Vec<String> = if has_header && !rows.is_empty() {
            let header = rows.remove(0);
            header.cells.iter().map(|c| c.trim().to_owned()).collect()
        } else {
            Vec::new()
        };
        let sample: Vec<Vec<String>> = rows
            .iter()
            .take(columns::SAMPLE_ROWS)
            .map(|r| r.cells.clone())
            .collect();
        let columns = columns::find(has_header.then_some(names.as_slice()), &sample, zone)?;
        Ok(Self {
            delimiter,
            names,
            columns,
            rows,
        })
    }

    fn event(&self, record: &Record, zone: &Zone) -> Result<Event, String> {
        let columns = &self.columns;
        let cell = |at: usize| record.cells.get(at).map_or("", |c| c.trim());
        let optional = |at: Option<usize>| at.map_or("", cell);
        let time = cell(columns.time);
        let t = columns::read_time(time, zone).ok_or_else(|| {
            format!(
                "its time cannot be read: {:?}; expected RFC 3339 with an offset, an epoch number, or a wall time between 1990 and 2100",
                shorten(time, 60)
            )
        })?;
        let end = columns::read_time(optional(columns.end), zone);
        let width = if self.names.is_empty() {
            record.cells.len()
        } else {
            self.names.len()
        };
        // A title in the last column may hold the delimiter without quotes.
        let last = width.saturating_sub(1);
        let joined = record
            .cells
            .get(last..)
            .map(|cells| cells.join(&self.delimiter.to_string()))
            .unwrap_or_default();
        let with_rest = |at: usize| if at == last { joined.trim() } else { cell(at) };
        let used = [
            Some(columns.time),
            columns.end,
            columns.kind,
            Some(columns.title),
            columns.text,
            columns.source,
        ];
        let attributes = self
            .names
            .iter()
            .enumerate()
            .filter(|(at, _)| !used.contains(&Some(*at)) && !cell(*at).is_empty())
            .map(|(at, name)| (name.clone(), cell(at).into()))
            .collect();
        let parts = Parts {
            locator: place(record),
            kind: optional(columns.kind),
            title: with_rest(columns.title),
            text: columns.text.map_or("", with_rest),
            source: optional(columns.source),
            attributes,
        };
        Ok(table::event(t, end, parts))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8]) -> (Result<Vec<Event>, FormatError>, Reporter) {
        let zone = Zone::parse("+09:00").unwrap();
        let hints = Hints {
            name: "events.csv",
            request: None,
            zone: &zone,
            log_formats: &[],
        };
        let (mut out, mut log) = (Batch::default(), Reporter::new());
        let result = EventsCsv.read(text, &hints, &mut out, &mut log);
        (result.map(|()| out.events), log)
    }

    fn sniff(text: &str) -> Sniff {
        EventsCsv.sniff(&Head::new(text.as_bytes()))
    }

    #[test]
    fn with_names_a_mark_and_quotes() {
        let text = "\u{feff}time,end,kind,title,text\n2026-11-30T14:27:48.379Z,2026-11-30T14:28:00Z,deploy,\"web, twice\",log only\n1796048898.892,,,moved,\n";
        assert_eq!(sniff(text), Sniff::Yes(80));
        let (events, log) = read(text.as_bytes());
        let events = events.unwrap();
        assert_eq!(events[0].title.as_ref(), "web, twice");
        assert_eq!(events[0].text.as_ref(), "log only");
        assert!(events[0].end.is_some());
        assert_eq!(events[1].kind.as_ref(), "change");
        assert_eq!(events[1].locator.as_ref(), "line 3");
        assert_eq!(events[1].t.to_rfc3339(), "2026-11-30T14:28:18.892Z");
        let notes = log.into_warnings();
        assert_eq!(notes[0].code, "columns");
        assert_eq!(
            notes[0].text,
            "took `time` for the time, `end` for the end, `kind` for the kind, `title` for the title and `text` for the text"
        );
        assert!(!notes[0].lossy);
    }

    #[test]
    fn without_a_header_and_with_another_delimiter() {
        let text = "2026-11-30 23:27:48;deploy;web 1.4 rolled out\n2026-11-30 23:28:48;config;log level set to INFO\n";
        assert_eq!(sniff(text), Sniff::Yes(50));
        let events = read(text.as_bytes()).0.unwrap();
        assert_eq!(events[0].t.to_rfc3339(), "2026-11-30T14:27:48Z");
        assert_eq!(events[1].kind.as_ref(), "config");
        assert_eq!(events[1].title.as_ref(), "log level set to INFO");
    }

    #[test]
    fn epochs_of_every_unit_other_columns_and_bare_commas() {
        let text = "unix,kind,service,detail\n1796045759157,phase,web,baseline\n1796045789.175874,fault_on,web,6 percent of SYN packets, dropped\n";
        let events = read(text.as_bytes()).0.unwrap();
        assert_eq!(events[0].t.millis(), 1_796_045_759_157);
        assert_eq!(
            events[1].title.as_ref(),
            "6 percent of SYN packets, dropped"
        );
        assert_eq!(events[0].attributes.as_ref(), r#"{"service":"web"}"#);
    }

    #[test]
    fn bad_rows_are_named_and_the_rest_is_kept() {
        let text = "time,title\n2026-11-30T14:27:48Z,a deploy\nyesterday,b deploy\n2026-11-30T14:29:48Z,c deploy\n2026-11-30T14:29:49Z,d deploy\n2026-11-30T14:29:50Z,e deploy\n";
        let (events, log) = read(text.as_bytes());
        assert_eq!(events.unwrap().len(), 4);
        assert!(log.is_lossy());
        let bad = log
            .into_warnings()
            .into_iter()
            .find(|w| w.code == "bad_row")
            .unwrap();
        assert_eq!(bad.at.as_deref(), Some("line 3"));
        let error = read(b"time,value\n2026-11-30T14:27:48Z,3\n").0.unwrap_err();
        assert!(
            error.to_string().contains("no column of free text"),
            "{error}"
        );
    }

    #[test]
    fn other_texts_are_not_swallowed() {
        assert_eq!(
            sniff("some words, and more\nother words, too\n"),
            Sniff::refused(20, "no column of it reads as times")
        );
        assert!(matches!(
            sniff("unix,a,b\n1796045759.1,0,0\n1796045764.4,476,0\n"),
            Sniff::No { .. }
        ));
        let log: String = std::iter::once("time,level,message\n".to_owned())
            .chain((0..100).map(|n| format!("2026-11-30T14:27:48Z,INFO,request {n} done\n")))
            .collect();
        assert!(matches!(sniff(&log), Sniff::No { near: 40, .. }));
    }

    #[test]
    fn every_recorded_csv_is_what_it_is() {
        let Some(root) = crate::base::testing::shared_data("") else {
            return;
        };
        let mut open = vec![root];
        let (mut taken, mut refused) = (Vec::new(), 0);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|e| e == "csv") {
                    let bytes = crate::base::fs::read(&path).unwrap();
                    if matches!(EventsCsv.sniff(&Head::new(&bytes)), Sniff::Yes(_)) {
                        taken.push(path.file_name().unwrap().to_string_lossy().into_owned());
                    } else {
                        refused += 1;
                    }
                }
            }
        }
        // phases.csv is for checking only, and a list of events, too.
        let is_list = |name: &String| name == "events.csv" || name == "phases.csv";
        assert!(taken.iter().all(is_list), "{taken:?}");
        assert!(taken.len() >= 6, "{taken:?}");
        assert!(refused > 10);
    }

    proptest! {
        #[test]
        fn never_panics(text in "[a-z0-9,;\"\n\t:TZ. -]{0,200}") {
            let _verdict = sniff(&text);
            let _outcome = read(text.as_bytes());
        }
    }
}
