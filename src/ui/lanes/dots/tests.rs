//! Tests of the module above.

use super::shapes::Ramp;
use super::*;

#[test]
fn rungs_are_drawn_only_when_data_reach_them() {
    assert!(rungs(&[1.0, 300.0, 900.0]).is_empty());
    assert_eq!(rungs(&[1.0, 1_024.0]), [1_000.0]);
    assert_eq!(
        rungs(&[1_024.0, 3_031.0, 5_003.0]),
        [1_000.0, 3_000.0, 5_000.0]
    );
    assert_eq!(rungs(&[4_400.0]), [1_000.0, 3_000.0], "no DNS timer");
}

#[test]
fn every_dot_is_counted_once_where_it_stands() {
    let place = Place {
        left: 0.0,
        start: 1_003,
        per_nano: 0.1,
        bottom: 50.0,
        is_log: false,
        base: 0.0,
        per_unit: 1.0,
    };
    let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, 50.0));
    let mut cells = Cells::new(&place, area);
    for k in 0..1_000 {
        cells.add(1_003 + k, 20.0);
    }
    assert_eq!(cells.counts.iter().sum::<u32>(), 1_000);
    let rows: std::collections::BTreeSet<usize> = (0..cells.counts.len())
        .filter(|at| cells.counts[*at] > 0)
        .map(|at| at % cells.rows)
        .collect();
    assert_eq!(rows.into_iter().collect::<Vec<_>>(), [10]);
    // Many at once, as a lane counts them.
    let mut many = Cells::new(&place, area);
    let (v, mut e) = (vec![30.0; 1_000], vec![false; 1_000]);
    e[7] = true;
    let t: Vec<i64> = (0..1_000).map(|k| 1_003 + k).collect();
    let mut from = 0;
    while from < t.len() {
        let (end, column) = many.column(t[from]);
        let to = t.partition_point(|t| *t < end);
        assert!(to > from, "a column holds the time that asked for it");
        column.add_all((&v[from..to], &e[from..to]), &place);
        from = to;
    }
    assert_eq!(many.counts.iter().sum::<u32>(), 999, "one failed");
    let differ = many
        .counts
        .iter()
        .zip(&cells.counts)
        .filter(|(a, b)| a != b);
    assert_eq!(differ.count(), 1);
    // The same dots, a little further: the cells have moved with them.
    let moved = Place {
        start: 1_010,
        ..place
    };
    let again = Cells::new(&moved, area);
    assert_eq!((again.start - cells.start) % 20, 0);
}

#[test]
fn density_rises_with_the_count() {
    let ramp = Ramp::new(1_000, Color32::GREEN, Color32::WHITE);
    let light = |n: u32| {
        let c = ramp.color(n);
        u32::from(c.r()) + u32::from(c.g()) + u32::from(c.b())
    };
    let steps = [1, 5, 30, 200, 1_000];
    assert!(steps.windows(2).all(|w| light(w[0]) < light(w[1])));
}

#[test]
fn the_name_of_a_rung_covers_no_dot_and_no_other_name() {
    let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(300.0, 100.0));
    let size = vec2(80.0, 12.0);
    let covers = |plate: Rect, dots: &[Pos2]| dots.iter().any(|p| plate.contains(*p));
    let right = rung_place(area, 40.0, size, &[], &[]).unwrap();
    assert!(right.right() > 290.0);
    let dots: Vec<Pos2> = [150.0, 240.0, 280.0].map(|x| pos2(x, 42.0)).to_vec();
    let first = rung_place(area, 40.0, size, &dots, &[]).unwrap();
    assert!(!covers(first, &dots) && first.right() < 150.0, "{first:?}");
    let second = rung_place(area, 46.0, size, &[], &[right]).unwrap();
    assert!(!second.shrink(0.1).intersects(right) && second.right() < right.left() + 0.1);
    let crowd: Vec<Pos2> = (0..60).map(|k| pos2(k as f32 * 5.0, 40.0)).collect();
    assert!(rung_place(area, 40.0, size, &crowd, &[]).is_none());
    let top = rung_place(area, 1.0, size, &[], &[]).unwrap();
    assert!(top.top() >= 0.0);
}
