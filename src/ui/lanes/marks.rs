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

/// Which labels of one row can be written: each from `x` on, `width` wide, without touching the next. Earlier ones in `wanted` win
/// when `first` says so. What does not fit is given as `None`.
///
/// `wanted` are (x, width, weight): heavier ones are placed first, of equals the leftmost.
pub(super) fn labels(wanted: &[(f32, f32, u32)], gap: f32) -> Vec<bool> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    let weight = |at: &usize| wanted.get(*at).map_or(0, |w| w.2);
    let x = |at: &usize| wanted.get(*at).map_or(0.0, |w| w.0);
    order.sort_by(|a, b| weight(b).cmp(&weight(a)).then(x(a).total_cmp(&x(b))));
    let mut placed: Vec<(f32, f32)> = Vec::new();
    let mut fits = vec![false; wanted.len()];
    for at in order {
        let Some((x, width, _)) = wanted.get(at) else {
            continue;
        };
        let (from, to) = (*x, x + width);
        let is_free = placed
            .iter()
            .all(|(a, b)| to + gap <= *a || *b + gap <= from);
        if is_free {
            placed.push((from, to));
            if let Some(slot) = fits.get_mut(at) {
                *slot = true;
            }
        }
    }
    fits
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

    #[test]
    fn heavy_labels_win_and_none_overlap() {
        let wanted = [
            (0.0, 50.0, 1),
            (40.0, 50.0, 2),
            (95.0, 20.0, 1),
            (60.0, 5.0, 1),
        ];
        assert_eq!(labels(&wanted, 4.0), [false, true, true, false]);
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
        fn no_two_labels_touch(wanted in proptest::collection::vec((0.0f32..900.0, 1.0f32..150.0, 0u32..4), 0..40)) {
            let fits = labels(&wanted, 4.0);
            let kept: Vec<_> = wanted.iter().zip(fits).filter(|(_, f)| *f).map(|(w, _)| w).collect();
            for a in 0..kept.len() {
                for b in a + 1..kept.len() {
                    let (x, y) = (kept[a], kept[b]);
                    prop_assert!(x.0 + x.1 + 4.0 <= y.0 + 1e-3 || y.0 + y.1 + 4.0 <= x.0 + 1e-3);
                }
            }
        }
    }
}
