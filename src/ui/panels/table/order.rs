//! Which rows are shown, in which order. Runs on a worker; the rows themselves stay where they are.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::base::time::TimeRange;
use crate::engine::cancel::Cancel;
use crate::store::tables::Column;
use crate::ui::panels::table::cell::Clock;
use crate::ui::panels::table::filter::{Filter, Needle, Op, Test};
use crate::ui::panels::table::sheet::{Field, Look, Sheet};

/// Which column rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sort {
    /// Which.
    pub(super) column: usize,
    /// From the largest.
    pub(super) is_descending: bool,
}

/// Rows that a worker looks at between two questions whether anybody still wants them.
const CHUNK: usize = 8192;

/// The rows that pass, sorted; `None` when nobody wants them any more.
pub(super) fn order(
    sheet: &Sheet,
    filter: &Filter,
    shown: Option<TimeRange>,
    picked: Option<&BTreeSet<usize>>,
    sort: Option<Sort>,
    clock: &Clock<'_>,
    cancel: &Cancel,
) -> Option<Vec<u32>> {
    let rows = sheet.rows.min(u32::MAX as usize);
    let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
    let mut kept: Vec<u32> = starts
        .par_iter()
        .flat_map_iter(|start| {
            let end = if cancel.is_cancelled() {
                *start
            } else {
                (start + CHUNK).min(rows)
            };
            (*start..end)
                .filter(|row| {
                    picked.is_none_or(|rows| rows.contains(row))
                        && shown.is_none_or(|shown| is_shown(sheet, *row, shown))
                        && passes(sheet, filter, *row, clock)
                })
                .map(|row| row as u32)
        })
        .collect();
    if cancel.is_cancelled() {
        return None;
    }
    if let Some(sort) = sort
        && let Some(field) = sheet.fields.get(sort.column)
    {
        kept.par_sort_by(|a, b| compare(field, *a as usize, *b as usize, sort.is_descending));
    }
    (!cancel.is_cancelled()).then_some(kept)
}

/// A row belongs to the shown time when it shares an instant with it; one without a time does not.
fn is_shown(sheet: &Sheet, row: usize, shown: TimeRange) -> bool {
    sheet
        .range(row)
        .is_some_and(|own| own.start < shown.end && shown.start <= own.end)
}

/// Nothing comes last, whichever way the rest is sorted.
pub(super) fn compare(field: &Field, a: usize, b: usize, is_descending: bool) -> Ordering {
    fn by<T>(
        a: Option<T>,
        b: Option<T>,
        is_descending: bool,
        order: impl Fn(&T, &T) -> Ordering,
    ) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) if is_descending => order(&b, &a),
            (Some(a), Some(b)) => order(&a, &b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        }
    }
    match &field.values {
        Column::Text(v) => {
            let get = |row: usize| v.get(row).and_then(Option::as_deref);
            if field.look == Look::Severity {
                let rank = |text: &str| crate::model::finding::Severity::from_word(text);
                return by(get(a).map(rank), get(b).map(rank), is_descending, Ord::cmp);
            }
            by(get(a), get(b), is_descending, Ord::cmp)
        }
        Column::Int(v) | Column::Time(v) => {
            let get = |row: usize| v.get(row).copied().flatten();
            by(get(a), get(b), is_descending, Ord::cmp)
        }
        Column::Float(v) => {
            let get = |row: usize| v.get(row).copied().flatten().filter(|v| !v.is_nan());
            by(get(a), get(b), is_descending, f64::total_cmp)
        }
    }
}

fn passes(sheet: &Sheet, filter: &Filter, row: usize, clock: &Clock<'_>) -> bool {
    filter
        .tests
        .iter()
        .all(|(is_not, test)| holds(sheet, test, row, clock) != *is_not)
}

fn holds(sheet: &Sheet, test: &Test, row: usize, clock: &Clock<'_>) -> bool {
    let values = |at: usize| sheet.fields.get(at).map(|f| &f.values);
    match test {
        Test::Anywhere(needle) => {
            let hidden = sheet.hidden.iter();
            let mut all = sheet.fields.iter().map(|f| &f.values).chain(hidden);
            all.any(|column| has(column, needle, row, clock))
        }
        Test::In(at, needle) => values(*at).is_some_and(|c| has(c, needle, row, clock)),
        Test::Text(at, op, wanted) => {
            let is_same = match values(*at) {
                Some(Column::Text(v)) => v
                    .get(row)
                    .and_then(Option::as_deref)
                    .unwrap_or("")
                    .eq_ignore_ascii_case(wanted),
                Some(other) => wanted.is_empty() && other.json(row).is_null(),
                None => false,
            };
            is_same != (*op == Op::IsNot)
        }
        Test::Number(at, op, bound) => match values(*at) {
            Some(Column::Float(v)) => is_at(v, row, |v| !v.is_nan() && op.holds(v, *bound)),
            Some(Column::Int(v)) => is_at(v, row, |v| op.holds(v as f64, *bound)),
            _ => false,
        },
        Test::Whole(at, op, bound) | Test::Time(at, op, bound) => match values(*at) {
            Some(Column::Int(v) | Column::Time(v)) => {
                is_at(v, row, |v| op.holds_exactly(v, *bound))
            }
            _ => false,
        },
        Test::Key(columns, pattern) => columns.iter().any(|at| match values(*at) {
            Some(Column::Text(v)) => v
                .get(row)
                .and_then(Option::as_deref)
                .is_some_and(|text| pattern.is_match(text)),
            _ => false,
        }),
    }
}

fn is_at<T: Copy>(values: &[Option<T>], row: usize, test: impl Fn(T) -> bool) -> bool {
    values.get(row).copied().flatten().is_some_and(test)
}

fn has(column: &Column, needle: &Needle, row: usize, clock: &Clock<'_>) -> bool {
    match column {
        Column::Text(v) => v
            .get(row)
            .and_then(Option::as_deref)
            .is_some_and(|text| needle.is_in(text)),
        Column::Int(v) if needle.may_be_number => {
            is_at(v, row, |v| v.to_string().contains(&needle.word))
        }
        Column::Float(v) if needle.may_be_number => {
            is_at(v, row, |v| v.to_string().contains(&needle.word))
        }
        Column::Time(v) if needle.may_be_time => {
            is_at(v, row, |t| clock.text(t).contains(&needle.word))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::base::time::{Timestamp, Zone};
    use crate::ui::panels::table::filter::Grammar;

    fn sheet(values: &[Option<f64>], texts: &[&str]) -> Sheet {
        let times = (0i64..)
            .take(values.len())
            .map(|at| Some(at * 1_000_000_000));
        Sheet::new(vec![
            ("t".to_owned(), Column::Time(times.collect())),
            ("duration_ms".to_owned(), Column::Float(values.to_vec())),
            (
                "path".to_owned(),
                Column::Text(texts.iter().map(|t| Some(Arc::from(*t))).collect()),
            ),
        ])
    }

    fn ask(sheet: &Sheet, text: &str, shown: Option<TimeRange>, sort: Option<Sort>) -> Vec<u32> {
        let zone = Zone::utc();
        let known = sheet.known();
        let filter = Grammar {
            columns: &known,
            zone: &zone,
            day: sheet.day(),
        }
        .parse(text)
        .unwrap();
        let clock = Clock::new(&zone, None, false);
        order(sheet, &filter, shown, None, sort, &clock, &Cancel::new()).unwrap()
    }

    const UP: Option<Sort> = Some(Sort {
        column: 1,
        is_descending: false,
    });
    const DOWN: Option<Sort> = Some(Sort {
        column: 1,
        is_descending: true,
    });

    #[test]
    fn nothing_comes_last_both_ways_and_equals_keep_their_order() {
        let values = [
            Some(2.0),
            None,
            Some(1.0),
            Some(2.0),
            Some(f64::NAN),
            Some(1.0),
        ];
        let sheet = sheet(&values, &["a"; 6]);
        assert_eq!(ask(&sheet, "", None, UP), [2, 5, 0, 3, 1, 4]);
        assert_eq!(ask(&sheet, "", None, DOWN), [0, 3, 2, 5, 1, 4]);
        assert_eq!(ask(&sheet, "", None, None), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn words_numbers_and_times_filter() {
        let sheet = sheet(
            &[Some(5.0), Some(1500.0), Some(12.5), None],
            &["/Cart/a", "/cart/b", "/pay", "/pay"],
        );
        assert_eq!(ask(&sheet, "cart", None, None), [0, 1]);
        assert_eq!(ask(&sheet, "b CART", None, None), [1]);
        assert_eq!(ask(&sheet, "-cart", None, None), [2, 3]);
        assert_eq!(ask(&sheet, "duration_ms>1s", None, None), [1]);
        assert_eq!(ask(&sheet, "duration_ms<=12.5", None, None), [0, 2]);
        assert_eq!(ask(&sheet, "12.5", None, None), [2]);
        assert_eq!(ask(&sheet, "path=/pay duration_ms=\"\"", None, None), [3]);
        assert_eq!(ask(&sheet, "t>=00:00:02", None, None), [2, 3]);
        let shown = TimeRange::new(
            Timestamp::from_nanos(1_000_000_000),
            Timestamp::from_nanos(2_000_000_000),
        );
        assert_eq!(ask(&sheet, "", Some(shown), None), [1]);
    }

    #[test]
    fn who_waits_no_more_gets_nothing() {
        let sheet = sheet(&[Some(1.0)], &["a"]);
        let zone = Zone::utc();
        let cancel = Cancel::new();
        cancel.cancel();
        let clock = Clock::new(&zone, None, false);
        let none = order(
            &sheet,
            &Filter::default(),
            None,
            None,
            None,
            &clock,
            &cancel,
        );
        assert_eq!(none, None);
    }

    proptest! {
        #[test]
        fn an_order_is_a_stable_sort_of_what_passes(
            values in prop::collection::vec(prop::option::of(0u8..6), 0..200),
        ) {
            let floats: Vec<Option<f64>> = values.iter().map(|v| v.map(f64::from)).collect();
            let texts = vec!["x"; floats.len()];
            let sheet = sheet(&floats, &texts);
            let mut want: Vec<u32> = (0..values.len() as u32).collect();
            want.sort_by_key(|row| values[*row as usize].map_or(u16::MAX, u16::from));
            prop_assert_eq!(ask(&sheet, "", None, UP), want);
            let some: Vec<u32> = (0..values.len() as u32)
                .filter(|row| values[*row as usize].is_some_and(|v| v > 2))
                .collect();
            prop_assert_eq!(ask(&sheet, "duration_ms>2", None, None), some);
        }
    }
}
