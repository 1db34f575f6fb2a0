//! Files and folders that belong to an incident, pulled with the same words as live systems.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::reporter::Warning;
use crate::base::time::TimeRange;
use crate::sources::{
    Check, Checkup, Kind, Outcome, Progress, Pull, SettingsError, SourceSettings, Step, Ticket,
    Verdict,
};

/// The kind.
#[derive(Debug, Clone, Copy)]
pub struct Files;

/// What only this kind knows.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Own {
    /// Files and folders; relative ones start from the folder of the configuration.
    paths: Vec<PathBuf>,
}

impl Files {
    fn checked(source: &SourceSettings) -> Result<Vec<PathBuf>, SettingsError> {
        let own: Own = source.own()?;
        if source.url.is_some() {
            return Err(source.error("url", "an address", "`paths`: files and folders"));
        }
        if own.paths.is_empty() {
            return Err(source.error("paths", "nothing", "files and folders"));
        }
        Ok(own
            .paths
            .into_iter()
            .map(|path| source.folder.join(path))
            .collect())
    }
}

impl Kind for Files {
    fn id(&self) -> &'static str {
        "file"
    }

    fn title(&self) -> &'static str {
        "Files and folders"
    }

    fn example(&self) -> &'static str {
        r#"[sources.logs]
kind = "file"
paths = ["/var/log/nginx", "notes/changes.csv"]   # relative ones start from this file's folder
"#
    }

    fn own_schema(&self) -> schemars::Schema {
        schemars::schema_for!(Own)
    }

    fn plan(&self, source: &SourceSettings, _: TimeRange) -> Result<Box<dyn Pull>, SettingsError> {
        Self::checked(source)?;
        Ok(Box::new(Nothing))
    }

    fn examine(&self, source: &SourceSettings) -> Result<Box<dyn Checkup>, SettingsError> {
        Self::checked(source)?;
        Ok(Box::new(Nothing))
    }

    fn files(&self, source: &SourceSettings) -> Result<Vec<PathBuf>, SettingsError> {
        Self::checked(source)
    }
}

/// Asks nobody.
#[derive(Debug)]
struct Nothing;

impl Pull for Nothing {
    fn next(&mut self) -> Step {
        Step::Done
    }

    fn feed(&mut self, _: Ticket, _: &Outcome<'_>) {}

    fn progress(&self) -> Progress {
        Progress::default()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

impl Checkup for Nothing {
    fn checks(&self) -> Vec<(Check, Verdict)> {
        vec![(
            Check::MayRead,
            Verdict::unknown("files are read when they are recorded"),
        )]
    }
}
