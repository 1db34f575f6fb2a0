//! The calls: their paths, the right that each needs, and how a body is made.

use serde_json::{Map, Number, Value};

use crate::sources::{Body, Request};

/// A call that reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Destination,
    SamplingRules,
    SamplingStatistics,
    TimeSeries,
    ServiceGraph,
    Summaries,
    BatchTraces,
    StartRetrieval,
    ListRetrieved,
}

impl Action {
    /// What AWS calls it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Destination => "GetTraceSegmentDestination",
            Self::SamplingRules => "GetSamplingRules",
            Self::SamplingStatistics => "GetSamplingStatisticSummaries",
            Self::TimeSeries => "GetTimeSeriesServiceStatistics",
            Self::ServiceGraph => "GetServiceGraph",
            Self::Summaries => "GetTraceSummaries",
            Self::BatchTraces => "BatchGetTraces",
            Self::StartRetrieval => "StartTraceRetrieval",
            Self::ListRetrieved => "ListRetrievedTraces",
        }
    }

    /// Its path, which is not always its name (service model).
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Destination => "/GetTraceSegmentDestination",
            Self::SamplingRules => "/GetSamplingRules",
            Self::SamplingStatistics => "/SamplingStatisticSummaries",
            Self::TimeSeries => "/TimeSeriesServiceStatistics",
            Self::ServiceGraph => "/ServiceGraph",
            Self::Summaries => "/TraceSummaries",
            Self::BatchTraces => "/Traces",
            Self::StartRetrieval => "/StartTraceRetrieval",
            Self::ListRetrieved => "/ListRetrievedTraces",
        }
    }

    /// The right in IAM.
    pub(super) fn right(self) -> String {
        format!("xray:{}", self.name())
    }

    /// The request, kept. Every call is a POST of JSON.
    pub(super) fn request(self, body: Map<String, Value>) -> Request {
        Request::json(self.path(), &Value::Object(body))
    }
}

/// Seconds since the epoch as the API takes them: a number, whole where it can be.
pub(super) fn secs(ms: i64) -> Value {
    if ms.rem_euclid(1000) == 0 {
        return Value::from(ms.div_euclid(1000));
    }
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of this century")]
    let secs = ms as f64 / 1e3;
    Number::from_f64(secs).map_or(Value::Null, Value::Number)
}

/// The same request for another page. The token differs from pull to pull, so the recording names the page by its number.
pub(super) fn page(first: &Request, token: &str, number: u32) -> Request {
    let mut next = first.clone();
    next.body = set(&first.body, "NextToken", token);
    let shown = first.recorded_as.as_deref().unwrap_or(&first.body);
    next.recorded_as = Some(Box::new(set(shown, "NextToken", &format!("page {number}"))));
    next
}

/// A body with one member more, or another value of it.
pub(super) fn set(body: &Body, key: &str, value: &str) -> Body {
    let Body::Json(text) = body else {
        return body.clone();
    };
    let mut map: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    map.insert(key.to_owned(), Value::from(value));
    Body::Json(Value::Object(map).to_string())
}
