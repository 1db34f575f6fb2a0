//! The trace view in the real window: from a finding's evidence to the very span, by mouse and by keyboard.

use std::fmt::Write as _;

use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tailscope::app::App;
use tailscope::app::shot::settle;
use tailscope::model::finding::FindingKind;
use tailscope::session::evidence::Places;
use tailscope::session::target::Target;
use tailscope::session::view::{Drawer, Selection};
use tailscope::ui::request::{FocusEdit, Request};

use crate::ui::window;

type Window = egui_kittest::Harness<'static, App>;

const SNAT: &str = "fixtures/snat-connect-ladder/input";
/// `fixtures/snat-connect-ladder/README.md`: the first and the second SYN lost, gap 3032.614 ms.
const LADDER: &str = "1-6b0d8832-44ec0712a449ffefd10ffc9f";

/// A click takes two frames, and one wish may need another's answer.
fn rest(window: &mut Window) {
    settle(window);
    settle(window);
}

fn ask(window: &mut Window, request: Request) {
    let ctx = window.ctx.clone();
    window.state_mut().ask(&ctx, request);
    rest(window);
}

fn press(window: &mut Window, key: Key) {
    window.key_press(key);
    rest(window);
}

fn click(window: &mut Window, label: &str) {
    window.get_by_label_contains(label).click();
    rest(window);
}

/// Rows of the waterfall, by their names.
fn rows(window: &Window) -> Vec<String> {
    window
        .get_all_by_role(egui::Role::TreeItem)
        .filter_map(|node| node.accesskit_node().label())
        .collect()
}

/// The snat incident with the ladder's trace open and the drawer at full height.
fn ladder() -> Window {
    let mut w = window(&[SNAT]);
    ask(&mut w, Request::Drawer(Some(Drawer::Trace)));
    ask(&mut w, Request::DrawerFull(true));
    ask(
        &mut w,
        Request::Focus(FocusEdit::Trace(Some(LADDER.to_owned()))),
    );
    w
}

#[test]
fn the_evidence_of_a_slow_call_leads_to_the_very_span() {
    let mut w = window(&[SNAT]);
    let incident = w.state().incident().unwrap().clone();
    let finding = incident
        .findings()
        .iter()
        .find(|f| f.kind == FindingKind::SlowCall)
        .unwrap();
    let at = finding
        .evidence
        .iter()
        .position(|e| e.locator.contains(LADDER))
        .expect("the longest gap is among the evidence");
    let links = Places::of(incident.snapshot());
    let target = links.resolve(&finding.evidence[at]);
    let target = target
        .into_iter()
        .find(|t| matches!(t, Target::Span { .. }))
        .expect("a link to a span");
    ask(
        &mut w,
        Request::Select(Selection::Finding(finding.id.clone())),
    );
    ask(&mut w, Request::Follow(target.clone()));
    ask(&mut w, Request::DrawerFull(true));
    assert_eq!(w.state().view().focus.trace.as_deref(), Some(LADDER));
    let Target::Span { span } = target else {
        unreachable!()
    };
    let span = &incident.snapshot().spans[span];
    let picked: Vec<String> = w
        .get_all_by_role(egui::Role::TreeItem)
        .filter(|n| format!("{:?}", n.accesskit_node().toggled()) == "Some(True)")
        .filter_map(|n| n.accesskit_node().label())
        .collect();
    assert_eq!(picked.len(), 1, "{picked:?}");
    assert!(
        picked[0].starts_with(&format!("{} {}", span.service, span.operation)),
        "{picked:?}"
    );
    assert!(
        rows(&w)
            .iter()
            .any(|row| row.contains("Gap to caller 3.03 s"))
    );
    assert_eq!(rows(&w).len(), 14);
}

#[test]
fn rows_fold_by_key_and_by_mouse() {
    let mut w = ladder();
    assert_eq!(rows(&w).len(), 14);
    let first = w.get_all_by_role(egui::Role::TreeItem).next().unwrap();
    first.click();
    rest(&mut w);
    press(&mut w, Key::ArrowDown);
    press(&mut w, Key::ArrowLeft);
    assert_eq!(rows(&w).len(), 2);
    assert!(rows(&w)[1].ends_with("folded"));
    press(&mut w, Key::ArrowRight);
    assert_eq!(rows(&w).len(), 14);
    // the triangle of the first row
    let rect = w
        .get_all_by_role(egui::Role::TreeItem)
        .next()
        .unwrap()
        .rect();
    let place = egui::pos2(rect.left() + 9.0, rect.center().y);
    w.drag_at(place);
    w.drop_at(place);
    rest(&mut w);
    assert_eq!(rows(&w).len(), 1);
    click(&mut w, "Unfold");
    assert_eq!(rows(&w).len(), 14);
    click(&mut w, "Fold");
    assert!(rows(&w).len() < 14);
}

#[test]
fn the_search_goes_from_match_to_match() {
    let mut w = ladder();
    w.get_all_by_role(egui::Role::TreeItem)
        .next()
        .unwrap()
        .click();
    rest(&mut w);
    press(&mut w, Key::Slash);
    w.event(egui::Event::Text("presentationservice".to_owned()));
    rest(&mut w);
    // four calls, four segments of the gateway and four of the service name it
    w.get_by_label_contains("0 of 12");
    press(&mut w, Key::Enter);
    w.get_by_label_contains("1 of 12");
    press(&mut w, Key::Enter);
    w.get_by_label_contains("2 of 12");
    w.key_press_modifiers(Modifiers::SHIFT, Key::Enter);
    rest(&mut w);
    w.get_by_label_contains("1 of 12");
}

#[test]
fn waterfall_and_flame_and_attributes_by_key_and_by_mouse() {
    let mut w = ladder();
    click(&mut w, "Flame");
    w.get_by_label_contains("Flame of the trace");
    assert!(w.query_all_by_role(egui::Role::TreeItem).next().is_none());
    click(&mut w, "Waterfall");
    w.get_all_by_role(egui::Role::TreeItem)
        .next()
        .unwrap()
        .click();
    rest(&mut w);
    press(&mut w, Key::V);
    w.get_by_label_contains("Flame of the trace");
    press(&mut w, Key::V);
    // Enter opens the attributes of the picked span
    let before = w.query_by_label_contains("HTTP status").is_some();
    press(&mut w, Key::Enter);
    assert_ne!(
        w.query_by_label_contains("annotations.upstream_connect_time")
            .is_some(),
        before
    );
}

#[test]
fn a_line_of_the_list_opens_its_trace_and_titles_sort() {
    let mut w = window(&[SNAT]);
    ask(&mut w, Request::Drawer(Some(Drawer::Trace)));
    ask(&mut w, Request::DrawerFull(true));
    let lines = |w: &Window| -> Vec<String> {
        w.get_all_by_role(egui::Role::ListBoxOption)
            .filter_map(|n| n.accesskit_node().label())
            .filter(|line| line.contains("Duration "))
            .collect()
    };
    assert!(
        lines(&w)[0].contains("Duration 3.29 s, Gap 3.03 s, Connect 3.03 s, Spans 14"),
        "{}",
        lines(&w)[0]
    );
    click(&mut w, "Sort by Duration");
    assert!(!lines(&w)[0].contains("3.29 s"));
    assert!(
        lines(&w)[0].contains("Only a summary was read"),
        "{}",
        lines(&w)[0]
    );
    click(&mut w, "Sort by Gap");
    w.get_all_by_role(egui::Role::ListBoxOption)
        .find(|n| {
            n.accesskit_node()
                .label()
                .is_some_and(|l| l.contains("Duration "))
        })
        .unwrap()
        .click();
    rest(&mut w);
    assert_eq!(w.state().view().focus.trace.as_deref(), Some(LADDER));
    assert_eq!(rows(&w).len(), 14);
}

#[test]
fn a_trace_that_was_not_read_says_so() {
    let mut w = window(&[SNAT]);
    ask(&mut w, Request::Drawer(Some(Drawer::Trace)));
    let id = "1-00000000-000000000000000000000000";
    ask(
        &mut w,
        Request::Focus(FocusEdit::Trace(Some(id.to_owned()))),
    );
    w.get_by_label("This trace is not in the recording");
    assert!(w.query_all_by_label_contains(id).count() >= 2);
    let summary = {
        let snapshot = w.state().incident().unwrap().snapshot();
        let is_bare = |id: &str| snapshot.spans.iter().all(|s| s.trace_id.as_ref() != id);
        snapshot
            .summaries
            .iter()
            .map(|s| s.trace_id.to_string())
            .find(|id| is_bare(id))
            .unwrap()
    };
    ask(&mut w, Request::Focus(FocusEdit::Trace(Some(summary))));
    w.get_by_label("Only a summary was read");
    click(&mut w, "Close the trace");
    assert_eq!(w.state().view().focus.trace, None);
}

#[test]
fn eighty_thousand_spans_open() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("batch-get-traces.json"), large(80_000)).unwrap();
    let mut w = window(&[folder.path().to_str().unwrap()]);
    let trace = w.state().incident().unwrap().snapshot().spans[0]
        .trace_id
        .to_string();
    assert_eq!(w.state().incident().unwrap().snapshot().spans.len(), 80_000);
    ask(&mut w, Request::Drawer(Some(Drawer::Trace)));
    ask(&mut w, Request::Focus(FocusEdit::Trace(Some(trace))));
    w.get_by_label_contains("80000 shown");
    // only what is on screen is laid out
    assert!((5..60).contains(&rows(&w).len()), "{}", rows(&w).len());
    w.get_all_by_role(egui::Role::TreeItem)
        .next()
        .unwrap()
        .click();
    rest(&mut w);
    press(&mut w, Key::End);
    assert!(
        rows(&w).last().unwrap().contains("op79999"),
        "{:?}",
        rows(&w).last()
    );
    click(&mut w, "Flame");
    w.get_by_label_contains("Flame of the trace");
}

/// One trace of `n` spans: a segment with segments of ten subsegments each.
fn large(n: usize) -> String {
    let mut out =
        String::from(r#"{"Traces":[{"Id":"1-6b0d7cb0-000000000000000000000001","Segments":["#);
    let time = |us: usize| format!("{}.{:06}", 1_796_046_000 + us / 1_000_000, us % 1_000_000);
    let mut document = |id: usize, parent: Option<usize>, from: usize, to: usize, below: &str| {
        let parent = parent.map_or_else(String::new, |p| format!(r#""parent_id":"{p:016x}","#));
        let text = format!(
            r#"{{"id":"{id:016x}","name":"s{}","trace_id":"1-6b0d7cb0-000000000000000000000001",{parent}"start_time":{},"end_time":{},"subsegments":[{below}]}}"#,
            id % 6,
            time(from),
            time(to)
        );
        let comma = if id == 1 { "" } else { "," };
        write!(
            out,
            r#"{comma}{{"Id":"{id:016x}","Document":{}}}"#,
            serde_json::to_string(&text).unwrap()
        )
        .unwrap();
    };
    document(1, None, 0, n * 10, "");
    let mut id = 2;
    while id <= n {
        let own = id;
        let mut below = Vec::new();
        id += 1;
        while id <= n && below.len() < 9 {
            let (from, to) = (time(id * 10), time(id * 10 + 8));
            below.push(format!(
                r#"{{"id":"{id:016x}","name":"op{}","start_time":{from},"end_time":{to}}}"#,
                id - 1
            ));
            id += 1;
        }
        document(own, Some(1), own * 10, id * 10, &below.join(","));
    }
    out.push_str("]}]}");
    out
}
