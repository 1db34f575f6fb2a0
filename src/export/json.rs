//! The report as JSON: `contract.md` §3.

use crate::export::{ExportError, Exporter, Material, Options};

/// JSON, indented, keys in a fixed order, closed by a line feed.
pub struct Json;

impl Exporter for Json {
    fn id(&self) -> &'static str {
        "json"
    }

    fn title(&self) -> &'static str {
        "the whole report, for programs"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn write(&self, material: &Material<'_>, _: &Options) -> Result<Vec<u8>, ExportError> {
        let mut bytes =
            serde_json::to_vec_pretty(material.report).map_err(|error| ExportError::Write {
                what: "JSON",
                why: error.to_string(),
            })?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::Example;
    use crate::model::report::Report;

    #[test]
    fn what_is_written_reads_back_the_same() {
        let example = Example::new();
        let bytes = Json
            .write(&example.material(), &Options::default())
            .unwrap();
        assert!(bytes.ends_with(b"}\n"));
        let back: Report = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(back.findings, example.report.findings);
        assert_eq!(back.hypotheses, example.report.hypotheses);
        assert_eq!(back.timeline, example.report.timeline);
    }
}
