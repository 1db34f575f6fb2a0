//! Tests of the module above.

use super::*;
use crate::model::series::SeriesSource;

fn series(t: &[i64], v: &[f64]) -> Series {
    let mut series = Series::new(Arc::from("up"), Labels::of(&[("job", "a")]), Sampling::Raw);
    series.t = t.to_vec();
    series.v = v.to_vec();
    series.sources.push(SeriesSource {
        input: InputIx(0),
        locator: Arc::from("$"),
        range: TimeRange::ALL,
    });
    series
}

#[test]
fn chunks_of_one_series_become_one() {
    let merged = merge_series(vec![
        series(&[30, 40], &[3.0, 4.0]),
        series(&[10, 20, 30], &[1.0, 2.0, 9.0]),
    ]);
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0].t, [10, 20, 30, 40]);
    assert_eq!(merged[0].v, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(merged[0].sources.len(), 2);
}

#[test]
fn upstream_names_of_ingress_nginx_hold_the_service() {
    assert_eq!(
        service_of_upstream("default-presentationservice-8080"),
        Some("presentationservice")
    );
    assert_eq!(
        service_of_upstream("presentationservice"),
        Some("presentationservice")
    );
    assert_eq!(service_of_upstream("10.0.0.1:80"), None);
}

#[test]
fn a_count_that_goes_up_and_down_is_no_counter() {
    let kind = |v: &[f64]| {
        let t: Vec<i64> = (0..60).collect();
        let mut one = series(&t, v);
        one.metric = Arc::from("aws_elb_request_count");
        kind_by_name(&one)
    };
    let grows: Vec<f64> = (0..60).map(|i| f64::from(i % 20) * 3.0).collect();
    assert_eq!(kind(&grows), MetricKind::Counter, "with two restarts");
    let wobbles: Vec<f64> = (0..60).map(|i| f64::from(i * 7 % 11)).collect();
    assert_eq!(kind(&wobbles), MetricKind::Gauge);
}

#[test]
fn units_come_from_names() {
    assert_eq!(
        unit_by_name("http_request_duration_seconds_bucket"),
        "seconds"
    );
    assert_eq!(unit_by_name("process_resident_memory_bytes"), "bytes");
    assert_eq!(unit_by_name("go_goroutines"), "");
}
