//! How lanes read: what has no data says so and leads to them, and every lane at rest keeps its words inside its place.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tailscope::app::{App, shot};
use tailscope::base::time::TimeRange;
use tailscope::ui::request::Request;
use tailscope::ui::timeline::navigate::Bounds;

const SNAT: &str = "fixtures/snat-connect-ladder/input";

fn rest(harness: &mut Harness<'static, App>) {
    harness.step();
    shot::settle(harness);
    harness.run();
}

#[test]
fn a_window_without_data_leads_to_the_next() {
    let mut harness = crate::ui::window(&[SNAT]);
    harness.run();
    assert!(
        harness
            .query_all_by_label_contains("Last at")
            .next()
            .is_none()
    );
    let recording = Bounds::of(harness.state().incident().unwrap()).recording;
    let beyond = TimeRange::new(
        recording.end.plus_nanos(60_000_000_000),
        recording.end.plus_nanos(90_000_000_000),
    );
    let ctx = harness.ctx.clone();
    harness.state_mut().ask(&ctx, Request::Range(beyond));
    rest(&mut harness);
    let links = harness.query_all_by_label_contains("Last at").count();
    assert!(links > 3, "{links}");
    harness
        .query_all_by_label_contains("Last at")
        .next()
        .unwrap()
        .click();
    rest(&mut harness);
    let view = harness.state().view();
    let cursor = view.cursor.unwrap();
    assert!(view.range.contains(cursor) && recording.contains(cursor));
}

#[test]
fn tmp_pictures() {
    for (name, input) in [("s", SNAT), ("i", "fixtures/ingress-metrics-lock/input")] {
        let mut harness = crate::ui::window(&[input]);
        harness.run();
        let range = harness.state().view().range;
        let ctx = harness.ctx.clone();
        let mid = range.start.plus_nanos(range.nanos() / 2);
        harness.state_mut().ask(&ctx, Request::Cursor(Some(mid)));
        rest(&mut harness);
        harness
            .render()
            .unwrap()
            .save(format!("/tmp/lp/{name}cursor.png"))
            .unwrap();
        let beyond = TimeRange::new(
            range.end.plus_nanos(1_000_000_000),
            range.end.plus_nanos(90_000_000_000),
        );
        harness.state_mut().ask(&ctx, Request::Range(beyond));
        rest(&mut harness);
        harness
            .render()
            .unwrap()
            .save(format!("/tmp/lp/{name}beyond.png"))
            .unwrap();
    }
}
