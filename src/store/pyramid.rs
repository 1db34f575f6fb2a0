//! Min–max pyramid over one column of values: what a lane draws from, at any zoom.
//!
//! The leaves hold the smallest and the largest of [`LEAF`] values, each level above those of two nodes below, so a
//! pyramid costs 2 × 16 B for every 64 values of 8 B: 1/16 of the column. It keeps no copy of the values: a query is
//! given them again, and scans at most two partial leaves for each pixel column, so its answers are exact.
//!
//! `NaN` (a staleness marker, a break) is no value: it hides nothing of its neighbours, and a flag says that it was there.

use std::ops::Range;

/// Values for each leaf. A power of two, and one word of the scan's flags.
pub const LEAF: usize = 64;
/// Independent accumulators of the scan: enough to hide the latency of a minimum (4 cycles, two a cycle).
const LANES: usize = 8;

/// Smallest and largest of some values, and whether any of them was `NaN`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinMax {
    /// Smallest; `+∞` when there was no value.
    pub min: f64,
    /// Largest; `-∞` when there was no value.
    pub max: f64,
    /// Whether there was a `NaN`.
    pub has_gap: bool,
}

impl MinMax {
    /// Of nothing.
    pub const EMPTY: Self = Self {
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        has_gap: false,
    };

    /// Whether there was no value (nothing, or only `NaN`).
    pub fn is_empty(&self) -> bool {
        self.min > self.max
    }

    /// Of both together.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            min: smaller(other.min, self.min),
            max: larger(other.max, self.max),
            has_gap: self.has_gap | other.has_gap,
        }
    }

    /// Of `values`, by looking at each.
    pub fn scan(values: &[f64]) -> Self {
        let mut min = [f64::INFINITY; LANES];
        let mut max = [f64::NEG_INFINITY; LANES];
        // A sum is NaN when one of its parts is, for one addition each; it also is for +∞ and −∞ together, so then, and
        // only then, the values are looked at again.
        let mut sum = [0.0; LANES];
        let (blocks, rest) = values.as_chunks::<LANES>();
        for block in blocks {
            for lane in 0..LANES {
                let v = block[lane];
                min[lane] = smaller(v, min[lane]);
                max[lane] = larger(v, max[lane]);
                sum[lane] += v;
            }
        }
        let mut half = LANES / 2;
        while half > 0 {
            for lane in 0..half {
                min[lane] = smaller(min[lane + half], min[lane]);
                max[lane] = larger(max[lane + half], max[lane]);
                sum[lane] += sum[lane + half];
            }
            half /= 2;
        }
        let mut all = Self {
            min: min[0],
            max: max[0],
            has_gap: false,
        };
        for v in rest {
            all.min = smaller(*v, all.min);
            all.max = larger(*v, all.max);
            sum[0] += v;
        }
        all.has_gap = sum[0].is_nan() && values.iter().any(|v| v.is_nan());
        all
    }
}

/// `v` when it is below `known`, else `known`: also for a `NaN`, and one instruction (`minpd`), which `f64::min` is not.
#[inline]
fn smaller(v: f64, known: f64) -> f64 {
    if v < known { v } else { known }
}

/// `v` when it is above `known`, else `known`.
#[inline]
fn larger(v: f64, known: f64) -> f64 {
    if v > known { v } else { known }
}

/// One pixel column of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Smallest and largest value in it, and whether it has a `NaN`.
    pub range: MinMax,
    /// Index of its first sample; when it has none, where one would be inserted.
    pub first: usize,
    /// How many samples it covers, `NaN` among them.
    pub samples: usize,
}

#[derive(Debug, Clone)]
struct Level {
    min: Vec<f64>,
    max: Vec<f64>,
    gaps: Vec<u64>,
}

impl Level {
    fn with_nodes(nodes: usize) -> Self {
        Self {
            min: Vec::with_capacity(nodes),
            max: Vec::with_capacity(nodes),
            gaps: vec![0; nodes.div_ceil(64)],
        }
    }

    fn push(&mut self, node: MinMax) {
        let at = self.min.len();
        self.min.push(node.min);
        self.max.push(node.max);
        if let Some(word) = self.gaps.get_mut(at / 64) {
            *word |= u64::from(node.has_gap) << (at % 64);
        }
    }

    fn node(&self, at: usize) -> MinMax {
        match (self.min.get(at), self.max.get(at), self.gaps.get(at / 64)) {
            (Some(&min), Some(&max), Some(word)) => MinMax {
                min,
                max,
                has_gap: word >> (at % 64) & 1 == 1,
            },
            _ => MinMax::EMPTY,
        }
    }
}

/// The pyramid of one column.
#[derive(Debug, Clone, Default)]
pub struct Pyramid {
    len: usize,
    levels: Vec<Level>,
}

impl Pyramid {
    /// Reads `values` once.
    pub fn build(values: &[f64]) -> Self {
        let mut levels: Vec<Level> = Vec::new();
        if values.len() > LEAF {
            let mut leaves = Level::with_nodes(values.len().div_ceil(LEAF));
            for leaf in values.chunks(LEAF) {
                leaves.push(MinMax::scan(leaf));
            }
            levels.push(leaves);
        }
        while let Some(below) = levels.last().filter(|level| level.min.len() > 1) {
            let nodes = below.min.len();
            let mut level = Level::with_nodes(nodes.div_ceil(2));
            for at in (0..nodes).step_by(2) {
                level.push(below.node(at).join(below.node(at + 1)));
            }
            levels.push(level);
        }
        Self {
            len: values.len(),
            levels,
        }
    }

    /// How many values it was built over.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it was built over none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that it holds beside the values.
    pub fn heap_bytes(&self) -> usize {
        self.levels
            .iter()
            .map(|l| (l.min.capacity() + l.max.capacity() + l.gaps.capacity()) * 8)
            .sum()
    }

    /// Smallest and largest of `values[range]`, where `values` are those that it was built over. Exact. A range beyond
    /// the end is cut.
    pub fn range(&self, values: &[f64], range: Range<usize>) -> MinMax {
        let end = range.end.min(values.len()).min(self.len);
        let start = range.start.min(end);
        let (first, last) = (start.div_ceil(LEAF), end / LEAF);
        if first >= last || self.levels.is_empty() {
            return scan_range(values, start..end);
        }
        let mut all = scan_range(values, start..first * LEAF);
        all = all.join(scan_range(values, last * LEAF..end));
        all.join(self.nodes(first, last))
    }

    /// Of the whole leaves `from..to`: at most two nodes of each level.
    fn nodes(&self, mut from: usize, mut to: usize) -> MinMax {
        let mut all = MinMax::EMPTY;
        for level in &self.levels {
            if from >= to {
                break;
            }
            if from % 2 == 1 {
                all = all.join(level.node(from));
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                all = all.join(level.node(to));
            }
            from /= 2;
            to /= 2;
        }
        all
    }

    /// `pixels` columns of equal numbers of samples over `window`; the remainders are spread.
    pub fn columns(&self, values: &[f64], window: Range<usize>, pixels: usize) -> Vec<Column> {
        let end = window.end.min(self.len);
        let start = window.start.min(end);
        let border =
            |p: usize| start + ((end - start) as u128 * p as u128 / pixels.max(1) as u128) as usize;
        (0..pixels)
            .map(|p| self.column(values, border(p)..border(p + 1)))
            .collect()
    }

    /// `pixels` columns of equal time over the half-open window from `start` to `end` (nanoseconds, as in `t`, which
    /// rises and is as long as the values). A column without a sample is empty.
    pub fn columns_by_time(
        &self,
        t: &[i64],
        values: &[f64],
        (start, end): (i64, i64),
        pixels: usize,
    ) -> Vec<Column> {
        let width = i128::from(end) - i128::from(start);
        let mut from = t.partition_point(|t| *t < start);
        (1..=pixels)
            .map(|p| {
                let offset = width.max(0) * p as i128 / pixels.max(1) as i128;
                let border = i128::from(start) + offset;
                let rest = t.get(from..).unwrap_or_default();
                let to = from + rest.partition_point(|t| i128::from(*t) < border);
                let column = self.column(values, from..to);
                from = to;
                column
            })
            .collect()
    }

    fn column(&self, values: &[f64], range: Range<usize>) -> Column {
        Column {
            first: range.start,
            samples: range.len(),
            range: self.range(values, range),
        }
    }
}

fn scan_range(values: &[f64], range: Range<usize>) -> MinMax {
    MinMax::scan(values.get(range).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn brute(values: &[f64]) -> MinMax {
        let mut all = MinMax::EMPTY;
        for v in values {
            if v.is_nan() {
                all.has_gap = true;
            } else {
                all.min = all.min.min(*v);
                all.max = all.max.max(*v);
            }
        }
        all
    }

    #[test]
    fn a_nan_hides_nothing_and_is_told() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values[130] = f64::NAN;
        let pyramid = Pyramid::build(&values);
        assert_eq!(
            pyramid.range(&values, 0..1000),
            MinMax {
                min: 0.0,
                max: 999.0,
                has_gap: true
            }
        );
        assert!(!pyramid.range(&values, 131..1000).has_gap);
        assert!(pyramid.range(&values, 130..131).is_empty());
        assert!(pyramid.range(&values, 5000..6000).is_empty());
    }

    #[test]
    fn takes_an_eighth_at_most() {
        for n in [65, 1_000, 100_000] {
            let values = vec![1.0; n];
            assert!(Pyramid::build(&values).heap_bytes() <= n * 8 / 8, "{n}");
        }
    }

    #[test]
    fn columns_of_time_follow_the_clock_not_the_index() {
        let t = [0, 1, 2, 3, 90];
        let values = [1.0, 5.0, f64::NAN, 2.0, 7.0];
        let pyramid = Pyramid::build(&values);
        let columns = pyramid.columns_by_time(&t, &values, (0, 100), 4);
        assert_eq!(
            columns.iter().map(|c| c.samples).collect::<Vec<_>>(),
            [4, 0, 0, 1]
        );
        assert_eq!((columns[0].range.min, columns[0].range.max), (1.0, 5.0));
        assert!(columns[0].range.has_gap && columns[1].range.is_empty());
        assert_eq!(columns[3].first, 4);
    }

    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![
            16 => -1e6..1e6f64,
            1 => Just(f64::NAN),
            1 => Just(f64::INFINITY),
            1 => Just(f64::NEG_INFINITY),
        ]
    }

    proptest! {
        #[test]
        fn equals_brute_force_for_any_window(
            values in prop::collection::vec(value(), 0..1500), a in 0usize..1600, b in 0usize..1600,
        ) {
            let pyramid = Pyramid::build(&values);
            let (from, to) = (a.min(b).min(values.len()), a.max(b).min(values.len()));
            prop_assert_eq!(pyramid.range(&values, a.min(b)..a.max(b)), brute(&values[from..to]));
        }

        #[test]
        fn columns_cover_the_window_without_overlap(
            values in prop::collection::vec(value(), 0..1500), a in 0usize..1500, b in 0usize..1500, pixels in 1usize..200,
        ) {
            let pyramid = Pyramid::build(&values);
            let window = a.min(b).min(values.len())..a.max(b).min(values.len());
            let columns = pyramid.columns(&values, window.clone(), pixels);
            let mut at = window.start;
            for column in &columns {
                prop_assert_eq!(column.first, at);
                prop_assert_eq!(column.range, brute(&values[at..at + column.samples]));
                at += column.samples;
            }
            prop_assert_eq!(at, window.end);
        }
    }
}
