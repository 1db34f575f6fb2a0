use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::model::input::InputIx;
use crate::model::span::{SpanKind, SpanStatus};
use crate::store::calls::match_calls;

/// A span; times in milliseconds, an open one with a negative length.
fn span(id: u64, parent: u64, service: &str, start_ms: f64, length_ms: f64) -> Span {
    Span {
        input: InputIx::default(),
        trace_id: Arc::from("t"),
        span_id: SpanId(id),
        parent_id: (parent != 0).then_some(SpanId(parent)),
        service: Arc::from(service),
        operation: Arc::from(format!("op{id}")),
        kind: SpanKind::Internal,
        is_segment: false,
        is_inferred: false,
        origin: Arc::from(""),
        start: Timestamp::from_nanos(1_796_046_000_000_000_000 + (start_ms * 1e6) as i64),
        duration_ms: (length_ms >= 0.0).then_some(length_ms),
        connect_ms: None,
        queue_ms: None,
        peer: None,
        status: SpanStatus::Unset,
        http_status: None,
        error: Arc::from(""),
        attributes: Arc::from("{}"),
    }
}

fn segment(id: u64, parent: u64, service: &str, start_ms: f64, length_ms: f64) -> Span {
    Span {
        is_segment: true,
        kind: SpanKind::Server,
        ..span(id, parent, service, start_ms, length_ms)
    }
}

fn tree(mut spans: Vec<Span>) -> (Vec<Span>, Tree) {
    spans.sort_by_key(|s| (s.start, s.span_id));
    let calls = match_calls(&spans);
    let tree = Tree::of(&spans, &calls, 0);
    (spans, tree)
}

/// (id, depth, own time in ms) of each row; id 0 is a missing span.
fn shape(spans: &[Span], tree: &Tree) -> Vec<(u64, u16, f64)> {
    tree.rows
        .iter()
        .map(|r| {
            let id = spans.get(r.span as usize).map_or(0, |s| s.span_id.0);
            (id, r.depth, r.own as f64 / 1e6)
        })
        .collect()
}

/// (id, from, to) of the critical path in milliseconds, in order of time.
fn path(spans: &[Span], tree: &Tree) -> Vec<(u64, f64, f64)> {
    let mut pieces: Vec<_> = tree.critical[1]
        .iter()
        .map(|p| {
            let span = tree.rows[p.row as usize].span as usize;
            (
                spans[span].span_id.0,
                p.from as f64 / 1e6,
                p.to as f64 / 1e6,
            )
        })
        .collect();
    pieces.sort_by(|a, b| a.1.total_cmp(&b.1));
    pieces
}

#[test]
fn rows_go_down_first_and_children_by_their_start() {
    let (spans, tree) = tree(vec![
        span(1, 0, "a", 0.0, 100.0),
        span(3, 1, "a", 50.0, 30.0),
        span(2, 1, "a", 10.0, 20.0),
        span(4, 2, "a", 12.0, 5.0),
    ]);
    assert_eq!(
        shape(&spans, &tree),
        [(1, 0, 50.0), (2, 1, 15.0), (4, 2, 5.0), (3, 1, 30.0)]
    );
    assert_eq!(
        tree.rows.iter().map(|r| r.end).collect::<Vec<_>>(),
        [4, 3, 3, 4]
    );
    assert_eq!(tree.visible(|row| row == 1), [0, 1, 3]);
    assert_eq!(tree.above(2).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(tree.span_at(3), tree.row_of(2).map(|_| 3));
}

#[test]
fn children_that_run_together_are_taken_off_once() {
    let (spans, tree) = tree(vec![
        span(1, 0, "a", 0.0, 100.0),
        span(2, 1, "a", 10.0, 40.0),
        span(3, 1, "a", 20.0, 50.0),
        // goes on after its parent
        span(4, 1, "a", 90.0, 60.0),
    ]);
    assert_eq!(shape(&spans, &tree)[0], (1, 0, 30.0));
}

#[test]
fn the_path_follows_what_finished_last() {
    // CRISP's rule: 3 ran last; before it began, 2 was the last to have ended; 4 ended within 3 and was not waited for
    let (spans, tree) = tree(vec![
        span(1, 0, "a", 0.0, 100.0),
        span(2, 1, "a", 10.0, 30.0),
        span(3, 1, "a", 45.0, 45.0),
        span(4, 1, "a", 20.0, 60.0),
        span(5, 3, "a", 50.0, 20.0),
    ]);
    assert_eq!(
        path(&spans, &tree),
        [
            (1, 0.0, 10.0),
            (2, 10.0, 40.0),
            (1, 40.0, 45.0),
            (3, 45.0, 50.0),
            (5, 50.0, 70.0),
            (3, 70.0, 90.0),
            (1, 90.0, 100.0)
        ]
    );
    assert_eq!(tree.critical(0, Clocks::Corrected).len(), 3);
}

#[test]
fn a_parent_that_was_not_recorded_keeps_its_place() {
    let (spans, tree) = tree(vec![
        segment(1, 9, "a", 5.0, 10.0),
        segment(2, 9, "a", 20.0, 10.0),
        segment(3, 0, "b", 0.0, 8.0),
    ]);
    assert_eq!(
        shape(&spans, &tree),
        [(3, 0, 8.0), (0, 0, 0.0), (1, 1, 10.0), (2, 1, 10.0)]
    );
    assert_eq!(tree.missing_id(1), Some(SpanId(9)));
    assert_eq!(tree.missing_id(2), None);
    assert_eq!(tree.rows[1].times(Clocks::Raw), 5_000_000..30_000_000);
}

#[test]
fn a_circle_is_cut_at_its_earliest_span_and_nothing_is_lost() {
    let (spans, tree) = tree(vec![
        span(1, 3, "a", 0.0, 10.0),
        span(2, 1, "a", 1.0, 8.0),
        span(3, 2, "a", 2.0, 6.0),
        span(4, 4, "a", 3.0, 1.0),
        span(5, 3, "a", 3.0, 1.0),
    ]);
    let ids: Vec<_> = shape(&spans, &tree).iter().map(|r| (r.0, r.1)).collect();
    assert_eq!(ids, [(1, 0), (2, 1), (3, 2), (5, 3), (4, 0)]);
}

#[test]
fn a_callee_before_its_call_is_put_into_the_middle_and_takes_along_what_is_below() {
    // `zipkin-skew` of xray.md: the callee seems to begin 65.441 ms early
    let (spans, tree) = tree(vec![
        segment(1, 0, "edge", 100.0, 10.0),
        segment(2, 1, "shop", 40.0, 8.0),
        span(3, 2, "shop", 41.0, 2.0),
        span(4, 3, "edge", 101.0, 1.0),
    ]);
    let row = |id: u64| {
        let at = spans.iter().position(|s| s.span_id.0 == id).unwrap();
        tree.rows[tree.row_of(at).unwrap()]
    };
    assert_eq!(row(2).shift, 61_000_000);
    assert_eq!(row(3).shift, 61_000_000);
    // a span of the first service below is on its own clock again, and fits as far as clocks of a millisecond can tell
    assert_eq!(row(4).shift, 0);
    assert_eq!(tree.skews.len(), 1);
    assert_eq!(tree.skews[0].service.as_ref(), "shop");
    assert_eq!(tree.skews[0].moves, (61_000_000, 61_000_000));
    assert_eq!((tree.skews[0].count, tree.skews[0].of), (1, 1));
}

#[test]
fn what_the_clocks_cannot_tell_is_no_skew() {
    // both count milliseconds: one step at each end of each span
    let (_, tree) = tree(vec![
        segment(1, 0, "edge", 100.0, 10.0),
        segment(2, 1, "shop", 97.0, 8.0),
    ]);
    assert!(tree.skews.is_empty());
    let (_, tree) = self::tree(vec![
        segment(1, 0, "edge", 100.0, 10.0),
        segment(2, 1, "shop", 95.0, 8.0),
    ]);
    assert_eq!(tree.skews.len(), 1);
}

#[test]
fn a_callee_that_outlasts_its_call_is_moved_only_when_it_begins_early() {
    let (_, tree) = tree(vec![
        segment(1, 0, "edge", 100.0, 10.0),
        segment(2, 1, "queue", 105.0, 500.0),
    ]);
    assert!(tree.skews.is_empty());
    let (_, tree) = self::tree(vec![
        segment(1, 0, "edge", 100.0, 10.0),
        segment(2, 1, "queue", 50.0, 500.0),
    ]);
    assert_eq!(tree.skews[0].moves.0, 50_000_000);
}

#[test]
fn what_had_not_ended_reaches_to_the_end() {
    let (spans, tree) = tree(vec![
        segment(1, 0, "edge", 0.0, -1.0),
        span(2, 1, "edge", 10.0, 30.0),
    ]);
    assert!(tree.rows[0].is_open);
    assert_eq!(shape(&spans, &tree)[0], (1, 0, 10.0));
    assert_eq!(tree.extent(Clocks::Raw), 0..40_000_000);
}

#[test]
fn text_is_found_wherever_it_stands() {
    let mut spans = vec![
        span(0xabcd_1234, 0, "Edge", 0.0, 10.0),
        span(2, 0xabcd_1234, "shop", 1.0, 2.0),
        span(3, 77, "shop", 2.0, 2.0),
    ];
    spans[1].attributes = Arc::from(r#"{"user":"Kim 김"}"#);
    spans[1].http_status = Some(503);
    let (spans, tree) = tree(spans);
    let find = |text: &str| search(&tree, &spans, text, &|| false);
    assert_eq!(find("eDGE"), [0]);
    assert_eq!(find("kim"), [1]);
    assert_eq!(find("김"), [1]);
    assert_eq!(find("503"), [1]);
    assert_eq!(find("abcd12"), [0]);
    assert_eq!(find("000000000000004d"), [2]);
    assert_eq!(find("  "), [0u32; 0]);
    assert_eq!(find("nowhere"), [0u32; 0]);
}

proptest! {
    #[test]
    fn any_links_give_a_whole_tree(
        links in proptest::collection::vec((0u64..12, 0u64..14, 0i32..50, -2i32..60, 0u8..4), 0..24)
    ) {
        let spans: Vec<Span> = links
            .iter()
            .map(|(id, parent, start, length, service)| Span {
                is_segment: service % 2 == 0,
                kind: if service % 2 == 0 { SpanKind::Server } else { SpanKind::Client },
                ..span(id + 1, *parent, ["a", "b", "c", "d"][*service as usize], f64::from(*start), f64::from(*length))
            })
            .collect();
        let n = spans.len();
        let (spans, tree) = tree(spans);
        let mut seen: Vec<u32> = tree.rows.iter().map(|r| r.span).filter(|s| *s != NONE).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..n as u32).collect::<Vec<_>>());
        for (at, row) in tree.rows.iter().enumerate() {
            prop_assert!(row.own >= 0 && row.own <= row.length);
            prop_assert!(row.end as usize > at && row.end as usize <= tree.rows.len());
            if row.parent != NONE {
                let above = tree.rows[row.parent as usize];
                prop_assert!((row.parent as usize) < at && above.end >= row.end);
                prop_assert_eq!(above.depth + 1, row.depth);
            }
        }
        let longest = tree.rows.iter().filter(|r| r.parent == NONE).map(|r| r.length).max().unwrap_or(0);
        for critical in &tree.critical {
            let sum: i64 = critical.iter().map(|p| p.to - p.from).sum();
            prop_assert!(sum <= longest);
        }
        search(&tree, &spans, "op1", &|| false);
    }

    #[test]
    fn own_times_of_work_done_one_after_another_make_the_whole(
        cuts in proptest::collection::vec(1u32..50, 1..12), depth in 1usize..5
    ) {
        // a chain: in each span its children follow each other
        let total: u32 = cuts.iter().sum::<u32>() + 10;
        let mut spans = vec![span(1, 0, "a", 0.0, f64::from(total))];
        let mut at = 5.0;
        let mut id = 2;
        for cut in &cuts {
            let mut parent = 1;
            for level in 0..depth {
                let inset = level as f64 * 0.05;
                spans.push(span(id, parent, "a", at + inset, f64::from(*cut) - 2.0 * inset));
                parent = id;
                id += 1;
            }
            at += f64::from(*cut);
        }
        let (_, tree) = tree(spans);
        let own: i64 = tree.rows.iter().map(|r| r.own).sum();
        prop_assert!((own - tree.rows[0].length).abs() < 1000, "{own}");
        let path: i64 = tree.critical[1].iter().map(|p| p.to - p.from).sum();
        prop_assert_eq!(path, tree.rows[0].length);
    }
}
