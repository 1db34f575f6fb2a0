//! `PromQL` over what was read: all of the language is understood, and the part of it that a recording can answer truthfully
//! is answered.
//!
//! [`parse()`] tells a mistake from a query that is right and merely not answered here; [`Shelf`] holds the series that may be
//! selected; [`evaluate`](fn@evaluate) does it. Language and rules: <https://prometheus.io/docs/prometheus/latest/querying/basics/>, and
//! for what differs between versions `prometheus.md` §1.2.

mod aggregate;
mod braces;
mod calls;
mod evaluate;
mod functions;
mod lex;
mod matching;
mod parse;
mod pick;
mod rate;
mod shelf;
#[cfg(test)]
mod tests;
mod verbatim;

pub use evaluate::{EvalError, Evaluation, Line, Point, RawLine, Value, evaluate};
pub use matching::{Match, Matcher};
pub use parse::{ParseError, parse, parse_selector};
pub use shelf::{Known, Rules, Shelf};

/// Sorted pairs of label names and values, with the metric's name as `__name__`.
pub type LabelSet = Vec<(std::sync::Arc<str>, std::sync::Arc<str>)>;

/// The label that holds the name of a metric.
pub const NAME: &str = "__name__";

/// An expression.
#[derive(Debug, Clone)]
pub enum Expr {
    /// `1.5`, `Inf`.
    Number(f64),
    /// `"text"`.
    Text(String),
    /// `up{job="x"} offset 5m`.
    Selector(Selector),
    /// `up[5m]`.
    Range {
        /// Of what.
        selector: Selector,
        /// How long, in milliseconds.
        range_ms: i64,
    },
    /// `rate(up[1m])[5m:30s]`.
    Subquery {
        /// Of what.
        inner: Box<Self>,
    },
    /// `sum by (job) (up)`.
    Aggregate {
        /// Its name in lower case.
        op: &'static str,
        /// Which labels stay.
        grouping: Grouping,
        /// The number of `topk`, the label of `count_values`.
        parameter: Option<Box<Self>>,
        /// Of what.
        inner: Box<Self>,
    },
    /// `rate(up[5m])`.
    Call {
        /// Its name.
        function: &'static str,
        /// What it gives.
        gives: Kind,
        /// Its arguments.
        arguments: Vec<Self>,
    },
    /// `a + b`.
    Binary {
        /// The sign or word between them.
        op: &'static str,
        /// Left of it.
        left: Box<Self>,
        /// Right of it.
        right: Box<Self>,
    },
    /// `-a`.
    Negative(Box<Self>),
}

/// What an expression gives at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Scalar,
    /// A text.
    Text,
    /// A value for each series.
    Vector,
    /// Stored samples of each series.
    Range,
}

impl Kind {
    /// As Prometheus calls it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Text => "string",
            Self::Vector => "instant vector",
            Self::Range => "range vector",
        }
    }
}

/// Which labels an aggregation keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grouping {
    /// Those named, and no others.
    By(Vec<String>),
    /// All but those named and the metric's name.
    Without(Vec<String>),
}

/// Which series, and when.
#[derive(Debug, Clone)]
pub struct Selector {
    /// All must hold.
    pub matchers: Vec<Matcher>,
    /// `offset`, in milliseconds; positive looks back.
    pub offset_ms: i64,
    /// `@`.
    pub fixed: Option<Fixed>,
}

/// Where `@` fixes an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixed {
    /// At this time, in milliseconds since the epoch.
    At(i64),
    /// Where the evaluation begins.
    Start,
    /// Where it ends.
    End,
}

impl Expr {
    /// What it gives.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Number(_) => Kind::Scalar,
            Self::Text(_) => Kind::Text,
            Self::Selector(_) | Self::Aggregate { .. } => Kind::Vector,
            Self::Range { .. } | Self::Subquery { .. } => Kind::Range,
            Self::Call { gives, .. } => *gives,
            Self::Binary { left, right, .. } => match (left.kind(), right.kind()) {
                (Kind::Scalar, Kind::Scalar) => Kind::Scalar,
                _ => Kind::Vector,
            },
            Self::Negative(inner) => inner.kind(),
        }
    }

    /// Every selector in it.
    pub fn selectors(&self) -> Vec<&Selector> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            match expr {
                Self::Number(_) | Self::Text(_) => {}
                Self::Selector(selector) | Self::Range { selector, .. } => found.push(selector),
                Self::Subquery { inner } | Self::Negative(inner) => open.push(inner),
                Self::Aggregate {
                    parameter, inner, ..
                } => {
                    open.push(inner);
                    open.extend(parameter.as_deref());
                }
                Self::Call { arguments, .. } => open.extend(arguments.iter().rev()),
                Self::Binary { left, right, .. } => open.extend([right.as_ref(), left.as_ref()]),
            }
        }
        found
    }
}
