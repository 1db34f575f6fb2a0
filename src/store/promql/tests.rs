use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::model::batch::Batch;
use crate::model::input::{Counts, Input};
use crate::model::labels::Labels;
use crate::model::prometheus::ServerFact;
use crate::model::series::{HistogramPoint, STALE_NAN_BITS, Sampling, Series};
use crate::store::{Snapshot, build};

const S: i64 = 1_000_000_000;

fn series(metric: &str, labels: &[(&str, &str)], samples: &[(i64, f64)]) -> Series {
    let mut series = Series::new(Arc::from(metric), Labels::of(labels), Sampling::Raw);
    series.t = samples.iter().map(|(t, _)| t * S).collect();
    series.v = samples.iter().map(|(_, v)| *v).collect();
    series
}

fn evaluated(metric: &str, expr: &str, step: i64, samples: &[(i64, f64)]) -> Series {
    let mut one = series(metric, &[("job", "x")], samples);
    one.sampling = Sampling::Grid {
        step_nanos: step * S,
    };
    one.expr = Some(Arc::from(expr));
    one
}

fn snapshot(series: Vec<Series>, version: &str) -> Snapshot {
    let mut batch = Batch {
        series,
        ..Batch::default()
    };
    if !version.is_empty() {
        batch.facts.push(ServerFact {
            input: Default::default(),
            name: Arc::from("buildinfo.version"),
            value: Arc::from(version),
        });
    }
    let input = Input {
        id: "in".to_owned(),
        path: "a.json".to_owned(),
        format: "prometheus-api".to_owned(),
        sha256: String::new(),
        counts: Counts::default(),
        start: None,
        end: None,
        warnings: Vec::new(),
    };
    build::build(vec![(input, batch)])
}

/// Values at one instant, as `labels value`, or `labels [t:v …]`.
fn at(snapshot: &Snapshot, query: &str, secs: f64) -> Vec<String> {
    on(snapshot, query, Evaluation::at((secs * 1e3) as i64)).unwrap()
}

fn on(snapshot: &Snapshot, query: &str, when: Evaluation) -> Result<Vec<String>, EvalError> {
    let shelf = Shelf::new(snapshot);
    let expr = parse(query).unwrap_or_else(|e| panic!("{query}: {e}"));
    let (value, _) = evaluate(&shelf, snapshot, query, &expr, when)?;
    let show = |labels: &LabelSet| {
        labels
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let number = |point: &Point<'_>| match point {
        Point::Float(v) => v.to_string(),
        Point::Histogram(h) => format!("h{}", h.count),
    };
    Ok(match value {
        Value::Scalar(values) => values.iter().map(f64::to_string).collect(),
        Value::Text(text) => vec![text],
        Value::Vector(lines) => lines
            .iter()
            .map(|l| {
                let points: Vec<String> = l
                    .points
                    .iter()
                    .map(|(step, p)| match when.step_ms {
                        0 => number(p),
                        _ => format!("{step}:{}", number(p)),
                    })
                    .collect();
                format!("{} {}", show(&l.labels), points.join(" "))
            })
            .collect(),
        Value::Range(lines) => lines
            .iter()
            .map(|l| {
                let points: Vec<String> = l
                    .samples
                    .iter()
                    .map(|(t, p)| format!("{t}:{}", number(p)))
                    .collect();
                format!("{} [{}]", show(&l.labels), points.join(" "))
            })
            .collect(),
    })
}

fn up() -> Snapshot {
    snapshot(
        vec![
            series("up", &[("job", "a")], &[(1000, 1.0), (1015, 0.0)]),
            series("up", &[("job", "ab"), ("zone", "")], &[(1000, 1.0)]),
            series("down", &[("job", "a"), ("zone", "x")], &[(1000, 7.0)]),
        ],
        "",
    )
}

#[test]
fn all_four_matchers_look_at_the_whole_value_and_a_missing_label_is_empty() {
    let up = up();
    for (query, want) in [
        ("up{job=\"a\"}", vec!["__name__=up,job=a 0"]),
        ("up{job!=\"a\"}", vec!["__name__=up,job=ab 1"]),
        ("up{job=~\"a\"}", vec!["__name__=up,job=a 0"]),
        (
            "up{job=~'a|ab'}",
            vec!["__name__=up,job=a 0", "__name__=up,job=ab 1"],
        ),
        ("up{job!~`a.+`}", vec!["__name__=up,job=a 0"]),
        (
            "{job=~\".+\",zone=\"\"}",
            vec!["__name__=up,job=a 0", "__name__=up,job=ab 1"],
        ),
        (
            "{zone=~\"x|\",__name__=~\"d.*\"}",
            vec!["__name__=down,job=a,zone=x 7"],
        ),
        ("{zone!=\"\"}", vec!["__name__=down,job=a,zone=x 7"]),
        ("{\"up\",job=\"ab\"}", vec!["__name__=up,job=ab 1"]),
        ("none", vec![]),
    ] {
        assert_eq!(at(&up, query, 1020.0), want, "{query}");
    }
}

#[test]
fn a_sample_counts_for_five_minutes_and_the_edge_is_that_of_the_recorded_version() {
    let samples = [(1000, 1.0)];
    for (version, at_the_edge) in [("2.42.0", 1), ("3.1.0", 0), ("", 0)] {
        let one = snapshot(vec![series("up", &[], &samples)], version);
        let n = |secs: f64| at(&one, "up", secs).len();
        assert_eq!(n(999.999), 0);
        assert_eq!(n(1000.0), 1);
        assert_eq!(n(1299.999), 1);
        assert_eq!(n(1300.0), at_the_edge, "{version}");
        assert_eq!(n(1300.001), 0);
        // The same edge of a range: both ends hold a sample.
        let two = snapshot(
            vec![series("up", &[], &[(1000, 1.0), (1010, 2.0)])],
            version,
        );
        let want = if at_the_edge == 1 {
            "1000000:1 1010000:2"
        } else {
            "1010000:2"
        };
        assert_eq!(
            at(&two, "up[10s]", 1010.0),
            [format!("__name__=up [{want}]")]
        );
    }
    let one = snapshot(vec![series("up", &[], &samples)], "");
    let mut short = Evaluation::at(1_011_000);
    short.lookback_nanos = Some(10 * S);
    assert_eq!(on(&one, "up", short).unwrap().len(), 0);
}

#[test]
fn a_staleness_marker_ends_a_series_at_once_and_is_no_sample_of_a_range() {
    let stale = f64::from_bits(STALE_NAN_BITS);
    let one = snapshot(
        vec![series(
            "x",
            &[],
            &[(1000, 1.0), (1010, stale), (1020, f64::NAN)],
        )],
        "",
    );
    assert_eq!(at(&one, "x", 1009.0).len(), 1);
    assert_eq!(at(&one, "x", 1010.0).len(), 0);
    assert_eq!(at(&one, "x", 1019.0).len(), 0);
    // Any other NaN is a value.
    assert_eq!(at(&one, "x", 1020.0), ["__name__=x NaN"]);
    assert_eq!(
        at(&one, "x[1m]", 1020.0),
        ["__name__=x [1000000:1 1020000:NaN]"]
    );
    assert_eq!(at(&one, "count_over_time(x[1m])", 1020.0), [" 2"]);
}

#[test]
fn offset_and_at_move_the_time_that_is_looked_at() {
    let one = snapshot(
        vec![series("x", &[], &[(1000, 1.0), (1400, 2.0), (1800, 3.0)])],
        "",
    );
    for (query, want) in [
        ("x", "3"),
        ("x offset 400s", "2"),
        ("x offset -1m", "3"),
        ("x @ 1000", "1"),
        ("x @ 1800 offset 400s", "2"),
        ("x offset 400s @ 1800", "2"),
        ("x @ end()", "3"),
    ] {
        assert_eq!(
            at(&one, query, 1800.0),
            [format!("__name__=x {want}")],
            "{query}"
        );
    }
    assert_eq!(
        at(&one, "x[500s] offset 300s", 1800.0),
        ["__name__=x [1400000:2]"]
    );
    let grid = Evaluation {
        start_ms: 1_000_000,
        end_ms: 1_800_000,
        step_ms: 400_000,
        lookback_nanos: None,
    };
    assert_eq!(on(&one, "x", grid).unwrap(), ["__name__=x 0:1 1:2 2:3"]);
    assert_eq!(
        on(&one, "x @ start()", grid).unwrap(),
        ["__name__=x 0:1 1:1 2:1"]
    );
    assert_eq!(
        on(&one, "x @ end() offset 400s", grid).unwrap(),
        ["__name__=x 0:2 1:2 2:2"]
    );
}

#[test]
fn a_grid_shows_holes_where_nothing_counts() {
    let one = snapshot(vec![series("x", &[], &[(0, 1.0), (600, 2.0)])], "");
    let grid = Evaluation {
        start_ms: 0,
        end_ms: 650_000,
        step_ms: 100_000,
        lookback_nanos: None,
    };
    assert_eq!(grid.steps(), 7);
    assert_eq!(on(&one, "x", grid).unwrap(), ["__name__=x 0:1 1:1 2:1 6:2"]);
}

#[test]
fn aggregations_and_numbers() {
    let up = up();
    for (query, want) in [
        (
            "count by (__name__) ({job=~\".+\"})",
            vec!["__name__=down 1", "__name__=up 2"],
        ),
        ("sum(up)", vec![" 1"]),
        ("SUM BY (job) ({job=~\".+\"})", vec!["job=a 7", "job=ab 1"]),
        ("max without (zone) ({zone=\"x\"})", vec!["job=a 7"]),
        ("min({job=~\".+\"})", vec![" 0"]),
        ("avg(up)", vec![" 0.5"]),
        ("group(up) by (nolabel)", vec![" 1"]),
        ("sum(none)", vec![]),
        ("1+1", vec!["2"]),
        ("-2^2", vec!["-4"]),
        ("2^3^2", vec!["512"]),
        ("7 - 2 - 1", vec!["4"]),
        ("1 > bool 2", vec!["0"]),
        ("time()", vec!["1020"]),
        ("vector(1)", vec![" 1"]),
        ("\"hello\\x41\\u00e9\\n\"", vec!["helloAé\n"]),
        ("0x1F", vec!["31"]),
        ("-Inf", vec!["-inf"]),
    ] {
        assert_eq!(at(&up, query, 1020.0), want, "{query}");
    }
}

/// By hand, from the algorithm's own words: three samples 10 s apart in a range of 40 s, so the earlier edge is 15 s away,
/// which is more than 1.1 × 10 s, and 5 s are added; the later edge is 5 s away and added whole.
#[test]
fn rate_extrapolates_over_resets_to_the_edges() {
    let one = snapshot(
        vec![series(
            "c",
            &[("a", "b")],
            &[(1015, 100.0), (1025, 130.0), (1035, 10.0)],
        )],
        "",
    );
    // 130 - 100 before the reset and 10 after it.
    let grown = 40.0_f64;
    let want = grown * (20.0 + 5.0 + 5.0) / 20.0;
    let got = at(&one, "increase(c[40s])", 1040.0);
    assert_eq!(got, [format!("a=b {want}")]);
    assert_eq!(
        at(&one, "rate(c[40s])", 1040.0),
        [format!("a=b {}", want / 40.0)]
    );
    assert_eq!(
        at(&one, "rate(c[10s])", 1040.0).len(),
        0,
        "one sample is no rate"
    );
    // A counter that starts at 0 was not below it before: nothing is added at the earlier edge.
    let zero = snapshot(
        vec![series("c", &[], &[(1005, 0.0), (1015, 10.0), (1025, 20.0)])],
        "",
    );
    assert_eq!(at(&zero, "increase(c[30s])", 1030.0), [" 25"]);
}

#[test]
fn native_histograms_are_given_and_not_added() {
    let mut one = series("h", &[], &[]);
    one.histograms = vec![HistogramPoint {
        t: crate::base::time::Timestamp::from_nanos(1000 * S),
        count: 4.0,
        sum: 2.0,
        buckets: Vec::new(),
    }];
    let one = snapshot(vec![one], "");
    assert_eq!(at(&one, "h", 1001.0), ["__name__=h h4"]);
    assert_eq!(at(&one, "h[5s]", 1001.0), ["__name__=h [1000000:h4]"]);
    assert_eq!(at(&one, "count(h)", 1001.0), [" 1"]);
    for query in ["sum(h)", "rate(h[5s])"] {
        let error = on(&one, query, Evaluation::at(1_001_000)).unwrap_err();
        assert!(
            error.to_string().contains("of native histograms"),
            "{error}"
        );
    }
}

#[test]
fn a_recorded_query_is_answered_word_for_word_and_others_are_refused_with_words() {
    let quantile = "histogram_quantile(0.99, sum by (le) (rate(x_bucket[1m])))";
    let one = snapshot(
        vec![
            evaluated(
                quantile,
                quantile,
                15,
                &[(1000, 0.5), (1015, 0.6), (1045, 0.7)],
            ),
            evaluated("up", "topk(1, up)", 15, &[(1000, 1.0)]),
        ],
        "",
    );
    assert_eq!(at(&one, quantile, 1015.0), ["job=x 0.6"]);
    // Between two steps the last one holds, and in a hole nothing does.
    assert_eq!(at(&one, quantile, 1029.0), ["job=x 0.6"]);
    assert_eq!(at(&one, quantile, 1030.0).len(), 0);
    let refused = |query: &str| match on(&one, query, Evaluation::at(1_000_000)) {
        Err(EvalError::Unsupported(words)) => words,
        other => panic!("{query}: {other:?}"),
    };
    let words = refused("histogram_quantile(0.5, x)");
    assert!(
        words.contains("`histogram_quantile`") && words.contains(quantile),
        "{words}"
    );
    assert!(refused("up + up").contains("`+`"));
    assert!(refused("topk(3, up)").contains("`topk`"));
    assert!(refused("up[5m:10s]").contains("subquery"));
    assert!(refused("-up").contains("`-`"));
    // What `topk` left of a series is not the series.
    assert_eq!(at(&one, "up", 1000.0).len(), 0);
    assert_eq!(at(&one, "topk(1, up)", 1000.0), ["__name__=up,job=x 1"]);
}

#[test]
fn what_is_known_only_as_evaluated_has_no_samples() {
    let one = snapshot(
        vec![evaluated("up", "up", 15, &[(1000, 1.0), (1015, 0.0)])],
        "",
    );
    assert_eq!(at(&one, "up", 1020.0), ["__name__=up,job=x 0"]);
    assert_eq!(at(&one, "up", 1030.0).len(), 0);
    let error = on(&one, "up[5m]", Evaluation::at(1_020_000)).unwrap_err();
    assert!(error.to_string().contains("only evaluations"), "{error}");
    // Stored samples win over evaluated ones.
    let both = snapshot(
        vec![
            evaluated("up", "up", 15, &[(1000, 1.0)]),
            series("up", &[("job", "x")], &[(1003, 5.0)]),
        ],
        "",
    );
    assert_eq!(at(&both, "up", 1020.0), ["__name__=up,job=x 5"]);
    // Before the first of them, and after the last, an evaluation says what the server showed.
    assert_eq!(at(&both, "up", 1001.0), ["__name__=up,job=x 1"]);
}

#[test]
fn mistakes_have_a_place_and_the_words_of_the_server() {
    for (query, want) in [
        ("", "1:1: parse error: no expression found in input"),
        (
            "# only words",
            "1:1: parse error: no expression found in input",
        ),
        ("sum(up", "1:7: parse error: unclosed left parenthesis"),
        (
            "nofunc(up)",
            "1:1: parse error: unknown function with name \"nofunc\"",
        ),
        (
            "rate(up)",
            "1:6: parse error: expected type range vector in call to function \"rate\", got instant vector",
        ),
        (
            "up[5m] + 1",
            "1:1: parse error: binary expression must contain only scalar and instant vector types",
        ),
        (
            "{job=~\".*\"}",
            "1:1: parse error: vector selector must contain at least one non-empty matcher",
        ),
        (
            "\u{fffd}",
            "1:1: parse error: unexpected character: '\u{fffd}'",
        ),
        (
            "up\n  {job=}",
            "2:8: parse error: unexpected \"}\", expected string in label matching",
        ),
        (
            "up[5m",
            "1:6: parse error: unexpected end of input, expected \":\" or \"]\"",
        ),
        (
            "up[0s]",
            "1:6: parse error: duration must be greater than 0",
        ),
        (
            "sum(up)[5m]",
            "1:1: parse error: ranges only allowed for vector selectors",
        ),
        (
            "up offset 5m offset 5m",
            "1:14: parse error: offset modifier must be preceded by an instant vector selector or range vector selector or a subquery, and may not be set twice",
        ),
        (
            "up{__name__=\"x\"}",
            "1:4: parse error: metric name must not be set twice",
        ),
        ("'a", "1:1: parse error: unterminated quoted string"),
        (
            "up up",
            "1:4: parse error: unexpected identifier \"up\", expected end of the query",
        ),
    ] {
        assert_eq!(parse(query).unwrap_err().to_string(), want, "{query}");
    }
    let regex = parse("up{job=~\"(\"}").unwrap_err().to_string();
    assert!(regex.contains("error parsing regexp"), "{regex}");
    // A group that is closed by ours is still wrong.
    assert!(parse("up{job=~\"a)(b\"}").is_err());
    assert!(parse_selector("up").is_ok());
    assert!(parse_selector("rate(up[5m])").is_err());
}

#[test]
fn no_query_is_deep_or_long_enough_to_harm() {
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(parse(&deep).unwrap_err().to_string().contains("parts"));
    assert!(parse(&"-".repeat(100_000)).is_err());
    let long = vec!["1"; 100_000].join("+");
    assert!(parse(&long).unwrap_err().to_string().contains("parts"));
}

#[test]
fn a_query_that_is_too_much_is_refused() {
    let many: Vec<Series> = (0..1_000)
        .map(|n| series("x", &[("n", &n.to_string())], &[(0, 1.0)]))
        .collect();
    let many = snapshot(many, "");
    let grid = Evaluation {
        start_ms: 0,
        end_ms: 11_000_000,
        step_ms: 1_000,
        lookback_nanos: Some(i64::MAX),
    };
    assert_eq!(on(&many, "x", grid), Err(EvalError::TooMuch));
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*") {
        drop(parse(&text));
    }

    #[test]
    fn nothing_made_of_its_own_pieces_panics(
        pieces in proptest::collection::vec(
            prop_oneof![
                "up|sum|rate|by|offset|bool|on|inf|time", "[(){}\\[\\],+*/^%@:=<>!~-]",
                "\"[a-z\\\\\"]{0,3}\"?", "[0-9.]{1,4}[smhdwye]?", " |#|\n",
            ],
            0..24,
        ),
        secs in -1e13_f64..1e13,
    ) {
        let text = pieces.concat();
        if let Ok(expr) = parse(&text) {
            let snapshot = up();
            let shelf = Shelf::new(&snapshot);
            let when = Evaluation::at(secs as i64);
            drop(evaluate(&shelf, &snapshot, &text, &expr, when));
        }
    }
}

#[test]
fn a_value_that_is_held_for_long_is_given_with_a_doubt() {
    let samples: Vec<(i64, f64)> = (0..10).map(|n| (1000 + 15 * n, 1.0)).collect();
    let one = snapshot(vec![series("up", &[], &samples)], "");
    let shelf = Shelf::new(&one);
    let expr = parse("up").unwrap();
    let notes = |t: i64| {
        evaluate(&shelf, &one, "up", &expr, Evaluation::at(t))
            .unwrap()
            .1
    };
    assert_eq!(notes(1_140_000), Vec::<String>::new());
    assert_eq!(notes(1_164_000), Vec::<String>::new());
    assert!(notes(1_170_000)[0].contains("staleness markers"));
}

#[test]
fn a_query_that_was_recorded_at_two_steps_is_answered_by_the_one_that_fits() {
    let query = "topk(1, up)";
    let one = snapshot(
        vec![
            evaluated("up", query, 15, &[(1000, 1.0), (1015, 2.0), (1030, 3.0)]),
            evaluated("up", query, 10, &[(1000, 7.0), (1010, 8.0), (1020, 9.0)]),
        ],
        "",
    );
    let grid = |step_ms: i64, end: i64| Evaluation {
        start_ms: 1_000_000,
        end_ms: end * 1_000,
        step_ms,
        lookback_nanos: None,
    };
    assert_eq!(
        on(&one, query, grid(15_000, 1030)).unwrap(),
        ["__name__=up,job=x 0:1 1:2 2:3"]
    );
    assert_eq!(
        on(&one, query, grid(10_000, 1020)).unwrap(),
        ["__name__=up,job=x 0:7 1:8 2:9"]
    );
    // Of no recorded step: the finest one, held.
    assert_eq!(
        on(&one, query, grid(7_000, 1014)).unwrap(),
        ["__name__=up,job=x 0:7 1:7 2:8"]
    );
}
