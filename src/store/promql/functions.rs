//! The functions and aggregations that `PromQL` has, and what they take: a name that is none of them is a mistake.

use super::Kind;

/// Name, arguments, result. `v` is an instant vector, `m` a range vector, `s` a scalar, `t` a text; `?` makes the one before it
/// optional, `*` lets it come any number of times. As `promql/parser/functions.go` of Prometheus 3 lists them.
const FUNCTIONS: &[(&str, &str, Kind)] = &[
    ("abs", "v", Kind::Vector),
    ("absent", "v", Kind::Vector),
    ("absent_over_time", "m", Kind::Vector),
    ("acos", "v", Kind::Vector),
    ("acosh", "v", Kind::Vector),
    ("asin", "v", Kind::Vector),
    ("asinh", "v", Kind::Vector),
    ("atan", "v", Kind::Vector),
    ("atanh", "v", Kind::Vector),
    ("avg_over_time", "m", Kind::Vector),
    ("ceil", "v", Kind::Vector),
    ("changes", "m", Kind::Vector),
    ("clamp", "vss", Kind::Vector),
    ("clamp_max", "vs", Kind::Vector),
    ("clamp_min", "vs", Kind::Vector),
    ("cos", "v", Kind::Vector),
    ("cosh", "v", Kind::Vector),
    ("count_over_time", "m", Kind::Vector),
    ("day_of_month", "v?", Kind::Vector),
    ("day_of_week", "v?", Kind::Vector),
    ("day_of_year", "v?", Kind::Vector),
    ("days_in_month", "v?", Kind::Vector),
    ("deg", "v", Kind::Vector),
    ("delta", "m", Kind::Vector),
    ("deriv", "m", Kind::Vector),
    ("double_exponential_smoothing", "mss", Kind::Vector),
    ("exp", "v", Kind::Vector),
    ("floor", "v", Kind::Vector),
    ("histogram_avg", "v", Kind::Vector),
    ("histogram_count", "v", Kind::Vector),
    ("histogram_fraction", "ssv", Kind::Vector),
    ("histogram_quantile", "sv", Kind::Vector),
    ("histogram_stddev", "v", Kind::Vector),
    ("histogram_stdvar", "v", Kind::Vector),
    ("histogram_sum", "v", Kind::Vector),
    ("holt_winters", "mss", Kind::Vector),
    ("hour", "v?", Kind::Vector),
    ("idelta", "m", Kind::Vector),
    ("increase", "m", Kind::Vector),
    ("info", "vv?", Kind::Vector),
    ("irate", "m", Kind::Vector),
    ("label_join", "vttt*", Kind::Vector),
    ("label_replace", "vtttt", Kind::Vector),
    ("last_over_time", "m", Kind::Vector),
    ("ln", "v", Kind::Vector),
    ("log10", "v", Kind::Vector),
    ("log2", "v", Kind::Vector),
    ("mad_over_time", "m", Kind::Vector),
    ("max_over_time", "m", Kind::Vector),
    ("min_over_time", "m", Kind::Vector),
    ("minute", "v?", Kind::Vector),
    ("month", "v?", Kind::Vector),
    ("pi", "", Kind::Scalar),
    ("predict_linear", "ms", Kind::Vector),
    ("present_over_time", "m", Kind::Vector),
    ("quantile_over_time", "sm", Kind::Vector),
    ("rad", "v", Kind::Vector),
    ("rate", "m", Kind::Vector),
    ("resets", "m", Kind::Vector),
    ("round", "vs?", Kind::Vector),
    ("scalar", "v", Kind::Scalar),
    ("sgn", "v", Kind::Vector),
    ("sin", "v", Kind::Vector),
    ("sinh", "v", Kind::Vector),
    ("sort", "v", Kind::Vector),
    ("sort_by_label", "vt*", Kind::Vector),
    ("sort_by_label_desc", "vt*", Kind::Vector),
    ("sort_desc", "v", Kind::Vector),
    ("sqrt", "v", Kind::Vector),
    ("stddev_over_time", "m", Kind::Vector),
    ("stdvar_over_time", "m", Kind::Vector),
    ("sum_over_time", "m", Kind::Vector),
    ("tan", "v", Kind::Vector),
    ("tanh", "v", Kind::Vector),
    ("time", "", Kind::Scalar),
    ("timestamp", "v", Kind::Vector),
    ("vector", "s", Kind::Vector),
    ("year", "v?", Kind::Vector),
];

/// Aggregations, with what they take before the vector.
const AGGREGATIONS: &[(&str, Option<Kind>)] = &[
    ("avg", None),
    ("bottomk", Some(Kind::Scalar)),
    ("count", None),
    ("count_values", Some(Kind::Text)),
    ("group", None),
    ("limit_ratio", Some(Kind::Scalar)),
    ("limitk", Some(Kind::Scalar)),
    ("max", None),
    ("min", None),
    ("quantile", Some(Kind::Scalar)),
    ("stddev", None),
    ("stdvar", None),
    ("sum", None),
    ("topk", Some(Kind::Scalar)),
];

/// What a function takes and gives.
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) gives: Kind,
    takes: &'static str,
}

pub(super) fn function(name: &str) -> Option<Function> {
    FUNCTIONS
        .iter()
        .find(|(known, ..)| *known == name)
        .map(|(name, takes, gives)| Function {
            name,
            gives: *gives,
            takes,
        })
}

/// Its name, and the parameter that stands before the vector.
pub(super) fn aggregation(name: &str) -> Option<(&'static str, Option<Kind>)> {
    AGGREGATIONS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .copied()
}

impl Function {
    /// Its arguments in order, and how many of them there must and may be (`None`: any number).
    pub(super) fn arguments(&self) -> (Vec<Kind>, usize, Option<usize>) {
        let mut kinds = Vec::new();
        let mut least = 0;
        let mut most = Some(0);
        for letter in self.takes.chars() {
            let kind = match letter {
                'v' => Kind::Vector,
                'm' => Kind::Range,
                's' => Kind::Scalar,
                't' => Kind::Text,
                '?' => {
                    least -= 1;
                    continue;
                }
                _ => {
                    least -= 1;
                    most = None;
                    continue;
                }
            };
            kinds.push(kind);
            least += 1;
            most = most.map(|n| n + 1);
        }
        (kinds, least, most)
    }
}
