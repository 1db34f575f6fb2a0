use super::*;
use std::io::Read as _;
pub(crate) fn load(path: &str) -> Option<(Vec<i64>, Vec<f64>)> {
    let p = crate::base::testing::shared_data(path)?;
    let mut s = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(p).unwrap())
        .read_to_string(&mut s)
        .unwrap();
    let j: serde_json::Value = serde_json::from_str(&s).unwrap();
    Some(
        j["data"]["result"][0]["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| {
                (
                    (p[0].as_f64().unwrap() * 1e9) as i64,
                    p[1].as_str().unwrap().parse::<f64>().unwrap(),
                )
            })
            .unzip(),
    )
}
pub(crate) fn score(found: &[usize], want: &[usize], tol: usize) -> usize {
    // one to one greedy
    let mut used = vec![false; found.len()];
    want.iter()
        .filter(|w| {
            if let Some(i) = (0..found.len())
                .filter(|i| !used[*i] && found[*i].abs_diff(**w) <= tol)
                .min_by_key(|i| found[*i].abs_diff(**w))
            {
                used[i] = true;
                true
            } else {
                false
            }
        })
        .count()
}
#[test]
fn rtt() {
    let Some(p) = crate::base::testing::shared_data("bench/labels.json") else {
        return;
    };
    let l: serde_json::Value = serde_json::from_slice(&std::fs::read(p).unwrap()).unwrap();
    for rel in [0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1] {
        for sig in [2.0, 3.0, 4.0, 6.0] {
            for minside in [3usize, 5] {
                let (mut hit2, mut hit5, mut nf, mut nw) = (0, 0, 0, 0);
                for (k, c) in l["cases"]
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter(|(k, _)| k.starts_with("rtt"))
                {
                    let (_t, v) = load(&format!("bench/cases/{k}/input/prom.json.gz")).unwrap();
                    let want: Vec<usize> = c["changes"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|x| x.as_u64().unwrap() as usize)
                        .collect();
                    let idx: Vec<usize> = (0..v.len()).filter(|i| v[*i] > 0.0).collect();
                    let vv: Vec<f64> = idx.iter().map(|i| v[*i]).collect();
                    let lv = cached(k, &vv);
                    let found: Vec<usize> = lv
                        .parts
                        .windows(2)
                        .filter(|w| {
                            let d = (w[1].level - w[0].level).abs();
                            d >= rel * w[0].level.max(w[1].level)
                                && d >= sig * split::sigma_at(&w[0], &w[1])
                                && w[0].range.len() >= minside
                                && w[1].range.len() >= minside
                        })
                        .map(|w| idx[w[1].range.start])
                        .collect();
                    if rel == 0.0 && sig == 2.0 && minside == 3 {
                        println!(
                            "{k} want {} found {} hit {} rho {:.2}",
                            want.len(),
                            found.len(),
                            score(&found, &want, 2),
                            lv.rho
                        );
                    }
                    hit2 += score(&found, &want, 2);
                    hit5 += score(&found, &want, 5);
                    nf += found.len();
                    nw += want.len();
                }
                let f = |h: usize| {
                    let (p, r) = (h as f64 / nf as f64, h as f64 / nw as f64);
                    (p, r, 2.0 * p * r / (p + r))
                };
                println!(
                    "rel {rel} sig {sig} min {minside}: found {nf} want {nw} @2 {:.3?} @5 {:.3?}",
                    f(hit2),
                    f(hit5)
                );
            }
        }
    }
}
fn cached(k: &str, v: &[f64]) -> Levels {
    use std::collections::BTreeMap;
    use std::sync::Mutex;
    static C: Mutex<BTreeMap<String, Levels>> = Mutex::new(BTreeMap::new());
    C.lock()
        .unwrap()
        .entry(k.to_owned())
        .or_insert_with(|| levels(v, Noise::ALONE))
        .clone()
}
