use super::*;
use crate::base::testing::shared_data;
use crate::detect::testing;

#[test]
fn explore() {
    for case in std::env::var("CASES")
        .unwrap_or_default()
        .split_whitespace()
    {
        let Some(path) = shared_data(&format!("{case}/input")) else {
            return;
        };
        let snapshot = testing::snapshot_of(&path);
        let v = testing::check(&ErrorBurst, &snapshot);
        match v {
            Verdict::Findings(f) => {
                for f in f {
                    println!(
                        "{case}: {} .. {:?} on {} conf {} {:?}\n   {}\n   {}\n   {:?}\n  {:?} {:?}",
                        f.start,
                        f.end,
                        f.onset,
                        f.confidence,
                        f.severity,
                        f.title,
                        f.detail,
                        f.values,
                        f.entities,
                        f.evidence
                            .iter()
                            .map(|e| format!("{} {} {}", e.input, e.locator, e.quote))
                            .collect::<Vec<_>>()
                    );
                }
            }
            other => println!("{case}: {other:?}"),
        }
    }
}
