//! Rows of a table ↔ places in the data: what the timeline shows of a picked row, and which rows it has picked.

use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::model::series::is_stale_marker;
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::store::Snapshot;
use crate::store::tables::Column;
use crate::ui::panels::table::sheet::text_column;

/// Where the rows of one table lead.
#[derive(Debug, Default)]
pub(super) enum Links {
    /// Nowhere.
    #[default]
    None,
    /// One row for each series, with its selector.
    Series(Vec<Arc<str>>),
    /// One row for each sample: the first row of each series, its selector and its unit.
    Samples(Vec<usize>, Vec<(Arc<str>, Arc<str>)>),
    /// One row for each span.
    Spans,
    /// One row for each request.
    Requests,
    /// One row for each profile.
    Profiles,
    /// One row for each stack: the first row of each profile, and what it is.
    Stacks(Vec<usize>, Vec<Arc<str>>),
    /// One row for each event.
    Events,
    /// One row for each finding, by id.
    Findings(Vec<String>),
    /// One row for each hypothesis, by id.
    Hypotheses(Vec<String>),
}

impl Links {
    /// Those of a table.
    pub(super) fn of(incident: &Incident, table: &str) -> Self {
        let snapshot = incident.snapshot();
        match table {
            "series" => Self::Series(
                snapshot
                    .series
                    .iter()
                    .map(|s| s.selector().into())
                    .collect(),
            ),
            "samples" => samples(snapshot),
            "spans" => Self::Spans,
            "requests" => Self::Requests,
            "profiles" => Self::Profiles,
            "stacks" => stacks(snapshot),
            "events" => Self::Events,
            "findings" => Self::Findings(ids(incident.findings().iter().map(|f| &f.id))),
            "hypotheses" => Self::Hypotheses(ids(incident.hypotheses().iter().map(|h| &h.id))),
            _ => Self::None,
        }
    }

    /// A first column that says what the id of a row stands for.
    pub(super) fn words(&self, rows: usize) -> Option<Column> {
        match self {
            Self::Samples(firsts, series) => Some(text_column(rows, |row| {
                let at = group_of(firsts, row)?;
                series.get(at).map(|(selector, _)| Arc::clone(selector))
            })),
            Self::Stacks(firsts, profiles) => Some(text_column(rows, |row| {
                profiles.get(group_of(firsts, row)?).map(Arc::clone)
            })),
            _ => None,
        }
    }

    /// The name of that column.
    pub(super) const fn word_name(&self) -> &'static str {
        match self {
            Self::Stacks(..) => "profile",
            _ => "series",
        }
    }

    /// Text that a filter finds and no column shows.
    pub(super) fn selectors(&self) -> Option<Column> {
        match self {
            Self::Series(all) => Some(text_column(all.len(), |row| all.get(row).map(Arc::clone))),
            _ => None,
        }
    }

    /// The unit of the value in a row.
    pub(super) fn unit(&self, row: usize) -> &str {
        match self {
            Self::Samples(firsts, series) => group_of(firsts, row)
                .and_then(|at| series.get(at))
                .map_or("", |(_, unit)| unit.as_ref()),
            _ => "",
        }
    }

    /// Where a row leads; `t` is its time.
    pub(super) fn target(&self, row: usize, t: Option<Timestamp>) -> Option<Target> {
        match self {
            Self::None | Self::Hypotheses(_) => None,
            Self::Series(_) => Some(Target::Sample {
                series: row,
                t: None,
            }),
            Self::Samples(firsts, _) => Some(Target::Sample {
                series: group_of(firsts, row)?,
                t,
            }),
            Self::Spans => Some(Target::Span { span: row }),
            Self::Requests => Some(Target::Request { request: row }),
            Self::Profiles => Some(Target::Stack {
                profile: row,
                group: None,
            }),
            Self::Stacks(firsts, _) => {
                let profile = group_of(firsts, row)?;
                let group = row.checked_sub(*firsts.get(profile)?);
                Some(Target::Stack { profile, group })
            }
            Self::Events => Some(Target::Event { event: row }),
            Self::Findings(ids) => ids.get(row).cloned().map(Target::Finding),
        }
    }

    /// The row of a place. `times` are those of the rows, where rows have them.
    pub(super) fn row(&self, target: &Target, times: Option<&Column>) -> Option<usize> {
        match (self, target) {
            (Self::Series(_), Target::Sample { series, .. }) => Some(*series),
            (Self::Samples(firsts, _), Target::Sample { series, t: Some(t) }) => {
                let from = *firsts.get(*series)?;
                let Some(Column::Time(times)) = times else {
                    return None;
                };
                let to = firsts.get(*series + 1).copied().unwrap_or(times.len());
                let own = times.get(from..to)?;
                let at = own.partition_point(|have| have.is_some_and(|have| have < t.nanos()));
                (own.get(at) == Some(&Some(t.nanos()))).then_some(from + at)
            }
            (Self::Spans, Target::Span { span }) => Some(*span),
            (Self::Requests, Target::Request { request }) => Some(*request),
            (Self::Profiles, Target::Stack { profile, .. }) => Some(*profile),
            (
                Self::Stacks(firsts, _),
                Target::Stack {
                    profile,
                    group: Some(group),
                },
            ) => firsts.get(*profile).map(|first| first + group),
            (Self::Events, Target::Event { event }) => Some(*event),
            (Self::Findings(ids), Target::Finding(id)) => ids.iter().position(|have| have == id),
            _ => None,
        }
    }
}

fn ids<'a>(all: impl Iterator<Item = &'a String>) -> Vec<String> {
    all.cloned().collect()
}

fn samples(snapshot: &Snapshot) -> Links {
    let mut firsts = Vec::with_capacity(snapshot.series.len());
    let mut rows = 0;
    for series in &snapshot.series {
        firsts.push(rows);
        let pairs = series.t.iter().zip(&series.v);
        rows += pairs.filter(|(_, v)| !is_stale_marker(**v)).count();
    }
    let words = snapshot
        .series
        .iter()
        .map(|s| (s.selector().into(), Arc::clone(&s.unit)))
        .collect();
    Links::Samples(firsts, words)
}

fn stacks(snapshot: &Snapshot) -> Links {
    let mut firsts = Vec::with_capacity(snapshot.profiles.len());
    let mut rows = 0;
    for profile in &snapshot.profiles {
        firsts.push(rows);
        rows += profile.groups.len();
    }
    let words = snapshot
        .profiles
        .iter()
        .map(|p| {
            let t =
                p.t.map(|t| format!(" {}", t.to_clock()))
                    .unwrap_or_default();
            Arc::from(format!("{}{t}", p.kind))
        })
        .collect();
    Links::Stacks(firsts, words)
}

/// The group that holds a row: the last that begins at or before it (groups without rows begin where the next does).
fn group_of(firsts: &[usize], row: usize) -> Option<usize> {
    firsts.partition_point(|first| *first <= row).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_leads_to_its_place_and_back() {
        let words = (0..3)
            .map(|at| (Arc::from(format!("s{at}")), Arc::from("")))
            .collect();
        // The middle series has no samples.
        let links = Links::Samples(vec![0, 2, 2], words);
        let times = Column::Time(vec![Some(5), Some(6), Some(5)]);
        for (row, series) in [(0, 0), (1, 0), (2, 2)] {
            let Column::Time(t) = &times else {
                unreachable!()
            };
            let t = t[row].map(Timestamp::from_nanos);
            let target = links.target(row, t).unwrap();
            assert_eq!(target, Target::Sample { series, t });
            assert_eq!(links.row(&target, Some(&times)), Some(row));
        }
        let gone = Target::Sample {
            series: 1,
            t: Some(Timestamp::from_nanos(5)),
        };
        assert_eq!(links.row(&gone, Some(&times)), None);
    }
}
