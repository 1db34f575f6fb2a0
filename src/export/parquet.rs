//! One table as a Parquet file.

use crate::export::{ExportError, Exporter, Material, Options};
use crate::model::schema::TABLES;
use crate::store::{sql, tables};

/// Parquet (Zstandard): one table a file, `findings` unless another is asked for. Times are nanoseconds in UTC.
pub struct Parquet;

impl Exporter for Parquet {
    fn id(&self) -> &'static str {
        "parquet"
    }

    fn title(&self) -> &'static str {
        "the findings, or with --table any table, for data tools"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["parquet", "pq"]
    }

    fn write(&self, material: &Material<'_>, options: &Options) -> Result<Vec<u8>, ExportError> {
        let name = options.table.as_deref().unwrap_or("findings");
        let table = tables::table(name).ok_or_else(|| {
            let names: Vec<&str> = TABLES.iter().map(|t| t.name).collect();
            ExportError::Table {
                name: name.to_owned(),
                known: names.join(", "),
            }
        })?;
        let source = tables::Source {
            snapshot: material.snapshot,
            findings: &material.report.findings,
            hypotheses: &material.report.hypotheses,
        };
        sql::table_parquet(&source, table).map_err(|error| ExportError::Write {
            what: "Parquet",
            why: error.what,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::Example;

    #[test]
    fn findings_are_a_parquet_file() {
        let example = Example::new();
        let write = |table: Option<&str>| {
            let options = Options {
                table: table.map(str::to_owned),
                ..Options::default()
            };
            Parquet.write(&example.material(), &options)
        };
        let bytes = write(None).unwrap();
        // The magic of the format, at both ends.
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
        assert_eq!(bytes, write(Some("findings")).unwrap());
        assert!(
            write(Some("none"))
                .unwrap_err()
                .to_string()
                .contains("samples")
        );
    }
}
