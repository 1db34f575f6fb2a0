//! The lanes that an incident opens with: where it hurts, in one screen.

use crate::ui::window;

fn opened(input: &str) -> Vec<(String, String)> {
    let harness = window(&[input]);
    let lanes = &harness.state().view().lanes;
    let told = lanes
        .iter()
        .map(|l| (l.spec.kind.clone(), l.spec.key.clone()));
    told.collect()
}

fn has(lanes: &[(String, String)], kind: &str, key: &str) -> bool {
    lanes
        .iter()
        .any(|(k, text)| k == kind && text.contains(key))
}

#[test]
fn a_starved_scrape_opens_with_health_dumps_and_what_grows() {
    let lanes = opened("fixtures/ingress-metrics-lock/input");
    let kinds: Vec<&str> = lanes.iter().take(3).map(|(k, _)| k.as_str()).collect();
    assert_eq!(kinds, ["findings", "events", "health"]);
    assert!(has(&lanes, "dumps", "x2k4v"), "{lanes:?}");
    assert!(has(&lanes, "metric", "go_goroutines"), "{lanes:?}");
    assert!(has(&lanes, "metric", "memory_bytes"), "{lanes:?}");
    assert!(lanes.len() <= 9, "{lanes:?}");
}

#[test]
fn lost_syns_open_with_latency_connects_and_the_counters() {
    let lanes = opened("fixtures/snat-connect-ladder/input");
    assert!(has(&lanes, "quantiles", "prezipage"), "{lanes:?}");
    assert!(has(&lanes, "connects", "smartgateway"), "{lanes:?}");
    assert!(
        has(&lanes, "scatter", "requests|smartgateway|prezipage"),
        "{lanes:?}"
    );
    assert!(has(&lanes, "metric", "insert_failed"), "{lanes:?}");
    assert!(!has(&lanes, "health", ""), "nothing was missed: {lanes:?}");
    assert!(lanes.len() <= 9, "{lanes:?}");
}
