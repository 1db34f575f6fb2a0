//! The detector against the recorded cases, and small ones by hand.

use super::*;
use crate::base::testing::shared_data;
use crate::detect::testing::{check, findings, raw, snapshot_from, snapshot_of};
use crate::model::batch::Batch;

#[test]
fn show() {
    let Some(root) = shared_data("prom-cases") else {
        return;
    };
    let only = std::env::var("CASE").unwrap_or_default();
    let mut cases: Vec<_> = std::fs::read_dir(root)
        .unwrap()
        .flatten()
        .map(|e| e.path())
        .collect();
    cases.sort();
    if only == "ingress" {
        cases = vec![shared_data("incidents/ingress-metrics-lock").unwrap()];
    }
    for case in cases {
        if !case.to_string_lossy().contains(&only) {
            continue;
        }
        let snapshot = snapshot_of(&case.join("input"));
        println!(
            "=== {} series {} targets {}",
            case.file_name().unwrap().to_string_lossy(),
            snapshot.series.len(),
            snapshot.targets.len()
        );
        for d in [
            &ScrapeGap as &dyn Detector,
            &crate::detect::counter_reset::CounterReset,
            &crate::detect::change::Change,
        ] {
            match check(d, &snapshot) {
                Verdict::Findings(f) => {
                    for f in f {
                        println!(
                            "  {:?} {:?} {} .. {:?} c={} {:?}\n     {}\n     {}\n     {:?}\n     {:?}",
                            f.kind,
                            f.cause,
                            f.start,
                            f.end,
                            f.confidence,
                            f.severity,
                            f.title,
                            f.detail,
                            f.values,
                            f.entities
                        );
                        for e in &f.evidence {
                            println!("        {} | {}", e.locator, e.quote);
                        }
                    }
                }
                other => println!("  {other:?}"),
            }
        }
    }
}
