//! Where bars and labels go: rows for spans that overlap, places for labels that must not.

/// Packs spans into rows: each goes to the first row that is free from its start on. Gives the row of each, in order of `spans`.
///
/// The order of `spans` is the order of importance: what comes first gets the upper rows. Spans may be in any order of time.
pub(super) fn rows(spans: &[(i64, i64)]) -> Vec<usize> {
    // Taken stretches of each row, sorted: start → end.
    let mut taken: Vec<std::collections::BTreeMap<i64, i64>> = Vec::new();
    spans
        .iter()
        .map(|(start, end)| {
            let end = (*end).max(start.saturating_add(1));
            let is_free = |row: &std::collections::BTreeMap<i64, i64>| {
                let before = row.range(..end).next_back();
                before.is_none_or(|(_, known_end)| known_end <= start)
            };
            let at = taken.iter().position(is_free).unwrap_or(taken.len());
            if at == taken.len() {
                taken.push(Default::default());
            }
            if let Some(row) = taken.get_mut(at) {
                row.insert(*start, end);
            }
            at
        })
        .collect()
}

/// Where the next span of the same row begins, for each span.
pub(super) fn next_in_row(spans: &[(i64, i64)], rows: &[usize]) -> Vec<Option<i64>> {
    let mut order: Vec<(usize, i64, usize)> = (rows.iter().zip(spans).enumerate())
        .map(|(at, (row, span))| (*row, span.0, at))
        .collect();
    order.sort_unstable();
    let mut next = vec![None; spans.len()];
    for pair in order.windows(2) {
        if let [(row, _, at), (same, start, _)] = pair
            && row == same
            && let Some(slot) = next.get_mut(*at)
        {
            *slot = Some(*start);
        }
    }
    next
}

/// A mark with its title right of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Flag {
    /// Index of the mark.
    pub(super) at: usize,
    /// Its row, from the top.
    pub(super) row: usize,
    /// How wide its title may be.
    pub(super) room: f32,
    /// Marks that found no row and are counted here.
    pub(super) hidden: Vec<usize>,
    /// Whether its line down would cross a title below.
    pub(super) is_crossing: bool,
}

/// How flags are packed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Packing {
    /// Rows that there are.
    pub(super) rows: usize,
    /// Points from a mark to its title, and from there to the next mark.
    pub(super) gap: f32,
    /// The shortest title that still says anything.
    pub(super) least: f32,
}

/// Packs marks, given by (place, width of the title) from the left, into rows. No title touches another or a mark of its row: where
/// it is crowded titles are cut, and only where every row is full a mark is counted at the one before.
///
/// A mark goes to the highest row under which nothing is written, so that its line down crosses no title.
pub(super) fn flags(wanted: &[(f64, f32)], packing: Packing) -> Vec<Flag> {
    let gap = f64::from(packing.gap);
    let x = |at: usize| wanted.get(at).map_or(0.0, |w| w.0);
    let mut placed: Vec<Flag> = Vec::new();
    // The last flag of each row.
    let mut last: Vec<Option<usize>> = vec![None; packing.rows.max(1)];
    let mut below: Vec<Vec<usize>> = Vec::new();
    for (at, (place, width)) in wanted.iter().enumerate() {
        let end = |flag: Option<usize>, is_cut: bool| -> f64 {
            let Some(flag) = flag.and_then(|f| placed.get(f)) else {
                return f64::NEG_INFINITY;
            };
            let room = if is_cut {
                flag.room.min(packing.least)
            } else {
                flag.room
            };
            x(flag.at) + gap + f64::from(room) + gap
        };
        let is_free = |row: usize| last.get(row).is_some_and(|f| end(*f, false) <= *place);
        let rows = 0..last.len();
        let clear = rows.clone().find(|r| (*r..last.len()).all(is_free));
        let squeezed = || {
            let can = rows
                .clone()
                .filter(|r| last.get(*r).is_some_and(|f| end(*f, true) <= *place));
            // Whose title began furthest to the left has the most room left.
            let began = |r: &usize| last.get(*r).copied().flatten().map_or(0, |f| f);
            can.min_by_key(began)
        };
        let Some(row) = clear
            .or_else(|| rows.clone().find(|r| is_free(*r)))
            .or_else(squeezed)
        else {
            if let Some(flag) = placed.last_mut() {
                flag.hidden.push(at);
            }
            continue;
        };
        if let Some(before) = last
            .get(row)
            .copied()
            .flatten()
            .and_then(|f| placed.get_mut(f))
        {
            let room = (place - x(before.at) - 2.0 * gap) as f32;
            before.room = before.room.min(room);
        }
        below.push(last.iter().skip(row + 1).copied().flatten().collect());
        if let Some(slot) = last.get_mut(row) {
            *slot = Some(placed.len());
        }
        placed.push(Flag {
            at,
            row,
            room: *width,
            hidden: Vec::new(),
            is_crossing: false,
        });
    }
    let crossing: Vec<bool> = placed
        .iter()
        .zip(&below)
        .map(|(flag, below)| {
            let reach = |f: &Flag| x(f.at) + gap + f64::from(f.room);
            let under = below.iter().filter_map(|f| placed.get(*f));
            under.into_iter().any(|f| reach(f) >= x(flag.at))
        })
        .collect();
    for (flag, is_crossing) in placed.iter_mut().zip(crossing) {
        flag.is_crossing = is_crossing;
    }
    placed
}

/// The rightmost place from `left` to `right` where a label of a width lies on none of the sorted `taken` places.
pub(super) fn free_place(taken: &[f32], width: f32, left: f32, right: f32) -> Option<f32> {
    let inside = taken.iter().copied().filter(|x| (left..=right).contains(x));
    let mut edges: Vec<f32> = std::iter::once(left).chain(inside).collect();
    edges.push(right);
    let hole = edges.windows(2).rev().find_map(|pair| match pair {
        [a, b] if b - a >= width => Some(*b),
        _ => None,
    });
    hole.map(|end| end - width)
}

/// Joins places that lie closer than `near` points: (first index, count) of each clump of sorted `xs`.
pub(super) fn clumps(xs: &[f32], near: f32) -> Vec<(usize, usize)> {
    let mut clumps: Vec<(usize, usize)> = Vec::new();
    let mut start = f32::NEG_INFINITY;
    for (at, x) in xs.iter().enumerate() {
        match clumps.last_mut() {
            Some((_, count)) if x - start < near => *count += 1,
            _ => {
                clumps.push((at, 1));
                start = *x;
            }
        }
    }
    clumps
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn overlapping_spans_get_rows_and_the_important_one_is_on_top() {
        assert_eq!(
            rows(&[(50, 100), (0, 60), (100, 120), (60, 90), (0, 10)]),
            [0, 1, 0, 1, 0]
        );
        assert_eq!(rows(&[(5, 5), (5, 5)]), [0, 1], "instants overlap too");
    }

    const PACKING: Packing = Packing {
        rows: 3,
        gap: 8.0,
        least: 60.0,
    };

    #[test]
    fn near_marks_each_get_a_row_and_a_title() {
        let flags = flags(&[(0.0, 200.0), (10.0, 200.0), (20.0, 200.0)], PACKING);
        let told: Vec<(usize, f32, usize)> = flags
            .iter()
            .map(|f| (f.row, f.room, f.hidden.len()))
            .collect();
        assert_eq!(told, [(0, 200.0, 0), (1, 200.0, 0), (2, 200.0, 0)]);
        assert!(flags.iter().all(|f| !f.is_crossing));
    }

    #[test]
    fn titles_are_cut_before_marks_are_only_counted() {
        let wanted = [
            (0.0, 200.0),
            (10.0, 200.0),
            (20.0, 200.0),
            (100.0, 50.0),
            (102.0, 50.0),
        ];
        let flags = flags(&wanted, PACKING);
        let told: Vec<(usize, f32, usize)> = flags
            .iter()
            .map(|f| (f.row, f.room, f.hidden.len()))
            .collect();
        assert_eq!(
            told,
            [
                (0, 84.0, 0),
                (1, 76.0, 0),
                (2, 200.0, 0),
                (0, 50.0, 0),
                (1, 50.0, 0)
            ]
        );
        assert!(flags[3].is_crossing, "the title of the third lies under it");
        let crowd: Vec<(f64, f32)> = (0..9).map(|n| (f64::from(n), 80.0)).collect();
        let flags = super::flags(&crowd, PACKING);
        assert_eq!(flags.len(), 3);
        assert_eq!(flags[2].hidden, [3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_label_stands_where_no_dot_is() {
        let close = |found: Option<f32>, x: f32| found.is_some_and(|f| (f - x).abs() < 1e-3);
        assert!(close(free_place(&[], 40.0, 0.0, 100.0), 60.0));
        assert!(close(free_place(&[80.0, 90.0], 40.0, 0.0, 100.0), 40.0));
        assert_eq!(
            free_place(&[30.0, 60.0], 40.0, 0.0, 100.0).map(f32::round),
            Some(60.0)
        );
        assert_eq!(free_place(&[30.0, 62.0, 90.0], 40.0, 0.0, 100.0), None);
    }

    #[test]
    fn the_next_span_of_a_row_is_known() {
        let spans = [(50, 60), (0, 10), (0, 90), (20, 30)];
        assert_eq!(
            next_in_row(&spans, &[0, 0, 1, 0]),
            [None, Some(20), None, Some(50)]
        );
    }

    #[test]
    fn near_places_become_one_clump() {
        assert_eq!(clumps(&[0.0, 3.0, 5.0, 20.0, 24.0], 6.0), [(0, 3), (3, 2)]);
        assert!(clumps(&[], 6.0).is_empty());
    }

    proptest! {
        #[test]
        fn no_two_spans_of_one_row_overlap(spans in proptest::collection::vec((0i64..1000, 0i64..200), 0..60)) {
            let spans: Vec<(i64, i64)> = spans.into_iter().map(|(s, l)| (s, s + l.max(1))).collect();
            let rows = rows(&spans);
            for a in 0..spans.len() {
                for b in a + 1..spans.len() {
                    prop_assert!(rows[a] != rows[b] || spans[a].1 <= spans[b].0 || spans[b].1 <= spans[a].0);
                }
            }
        }

        #[test]
        fn every_mark_is_told_once_and_no_title_touches_the_next(
            places in proptest::collection::vec((0.0f64..900.0, 5.0f32..300.0), 0..60), rows in 1usize..6) {
            let mut wanted = places;
            wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let packing = Packing { rows, ..PACKING };
            let flags = flags(&wanted, packing);
            let mut told: Vec<usize> = flags.iter().flat_map(|f| f.hidden.iter().copied().chain([f.at])).collect();
            told.sort_unstable();
            prop_assert_eq!(told, (0..wanted.len()).collect::<Vec<_>>());
            for (k, a) in flags.iter().enumerate() {
                prop_assert!(a.room >= packing.least.min(wanted[a.at].1) - 1e-3);
                for b in flags.iter().skip(k + 1).filter(|b| b.row == a.row) {
                    let end = wanted[a.at].0 + 8.0 + f64::from(a.room) + 8.0;
                    prop_assert!(end <= wanted[b.at].0 + 1e-3);
                }
            }
        }
    }
}
