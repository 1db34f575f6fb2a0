//! Tables as CSV (RFC 4180): the timeline, or any table of `contract.md` §4.

use serde_json::Value;

use crate::export::view::View;
use crate::export::{ExportError, Exporter, Material, Options};
use crate::model::schema::TABLES;
use crate::store::tables;

/// One table as CSV with a header; the timeline unless another is asked for.
pub struct Csv;

/// The table that is written when none is asked for.
const TIMELINE: &str = "timeline";

impl Exporter for Csv {
    fn id(&self) -> &'static str {
        "csv"
    }

    fn title(&self) -> &'static str {
        "the timeline, or with --table any table, for spreadsheets"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn write(&self, material: &Material<'_>, options: &Options) -> Result<Vec<u8>, ExportError> {
        let name = options.table.as_deref().unwrap_or(TIMELINE);
        if name == TIMELINE {
            return Ok(timeline(material, options).into_bytes());
        }
        let source = tables::Source {
            snapshot: material.snapshot,
            findings: &material.report.findings,
            hypotheses: &material.report.hypotheses,
        };
        let (Some(table), Some(columns)) = (tables::table(name), tables::columns(&source, name))
        else {
            let names: Vec<&str> = TABLES.iter().map(|t| t.name).collect();
            return Err(ExportError::Table {
                name: name.to_owned(),
                known: format!("{TIMELINE}, {}", names.join(", ")),
            });
        };
        let header: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        let mut out = String::new();
        push_row(&mut out, header.iter().map(|h| (*h).to_owned()));
        let rows = columns.first().map_or(0, tables::Column::len);
        for row in 0..rows {
            push_row(&mut out, columns.iter().map(|c| cell(&c.json(row))));
        }
        Ok(out.into_bytes())
    }
}

fn timeline(material: &Material<'_>, options: &Options) -> String {
    let view = View::of(material, options);
    let mut out = String::new();
    let header = [
        "start", "end", "kind", "severity", "title", "finding", "input",
    ];
    let said: &[&str] = match material.notes {
        Some(_) => &["text", "comment", "dismissed"],
        None => &[],
    };
    push_row(&mut out, header.iter().chain(said).map(|h| (*h).to_owned()));
    for entry in &view.timeline {
        let input = entry.input.as_deref().map_or("", |id| view.path(id));
        let cells = [
            entry.start.to_rfc3339(),
            entry.end.map(|t| t.to_rfc3339()).unwrap_or_default(),
            entry.kind.clone(),
            entry.weight().to_owned(),
            entry.title.clone(),
            entry.finding().unwrap_or_default().to_owned(),
            input.to_owned(),
        ];
        let said = material.notes.is_some().then(|| {
            [
                entry.text.clone(),
                entry.comment.clone().unwrap_or_default(),
                entry.dismissed.clone().unwrap_or_default(),
            ]
        });
        push_row(
            &mut out,
            cells.into_iter().chain(said.into_iter().flatten()),
        );
    }
    out
}

/// A value as a cell: null is empty, text is itself.
pub fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Adds one row; cells with commas, quotes or line breaks are quoted.
pub fn push_row(out: &mut String, cells: impl Iterator<Item = String>) {
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            out.push(',');
        }
        if cell.contains([',', '"', '\n', '\r']) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&cell);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::Example;

    #[test]
    fn the_timeline_has_one_row_for_each_entry() {
        let example = Example::new();
        let bytes = Csv.write(&example.material(), &Options::default()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.lines().count(), 1 + example.report.timeline.len());
        assert!(text.starts_with("start,end,kind,severity,title,finding,input\n"));
    }

    #[test]
    fn any_table_can_be_had_and_a_wrong_name_lists_them() {
        let example = Example::new();
        let table = |name: &str| {
            let options = Options {
                table: Some(name.to_owned()),
                ..Options::default()
            };
            Csv.write(&example.material(), &options)
        };
        let findings = String::from_utf8(table("findings").unwrap()).unwrap();
        assert!(findings.starts_with("id,kind,start,"));
        assert!(table("find").unwrap_err().to_string().contains("findings"));
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let mut out = String::new();
        let cells = ["a", "b,c", "say \"x\"", "two\nlines"];
        push_row(&mut out, cells.iter().map(|c| (*c).to_owned()));
        assert_eq!(out, "a,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\"\n");
    }

    #[test]
    fn carries_what_a_person_said() {
        let example = Example::new();
        let notes = example.notes();
        let bytes = Csv
            .write(&example.noted(&notes), &Options::default())
            .unwrap();
        let gap = &example.report.findings[0].id;
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            format!(
                "start,end,kind,severity,title,finding,input,text,comment,dismissed\n\
                 2026-11-30T14:30:00Z,2026-11-30T14:34:00Z,scrape_gap,critical,metrics were gone,{gap},prometheus/raw.up.json,,seen by all,\n\
                 2026-11-30T14:31:00Z,2026-11-30T14:32:00Z,own,note,\"called the team, on the phone\",,,they knew | nothing,,\n"
            )
        );
    }
}
