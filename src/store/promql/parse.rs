//! Tokens → expression.

use crate::store::promql::functions::aggregation;
use crate::store::promql::lex::{Token, tokens};
use crate::store::promql::{Expr, Fixed, Kind, Selector};

/// Brackets within brackets; no query that a person writes comes near.
const MOST_DEPTH: usize = 64;
/// Parts of one query: a limit of ours, so that no query can use up the stack.
const MOST_PARTS: usize = 1_000;

/// A query that is none, in the words of Prometheus: `1:5: parse error: …`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: parse error: {why}")]
pub struct ParseError {
    line: usize,
    column: usize,
    why: String,
}

impl ParseError {
    pub(super) fn at(text: &str, at: usize, why: String) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before.len() - line_start + 1,
            why,
        }
    }
}

/// Reads a query.
///
/// # Errors
/// With line and column.
pub fn parse(text: &str) -> Result<Expr, ParseError> {
    let tokens = tokens(text)?;
    if tokens.is_empty() {
        let why = "no expression found in input".to_owned();
        return Err(ParseError::at(text, 0, why));
    }
    let mut parser = Parser {
        text,
        tokens,
        next: 0,
        depth: 0,
        parts: 0,
    };
    let expr = parser.binary(0)?;
    match parser.peek() {
        None => Ok(expr),
        Some(_) => Err(parser.unexpected("end of the query")),
    }
}

/// Reads what `match[]` takes: one selector.
///
/// # Errors
/// With line and column.
pub fn parse_selector(text: &str) -> Result<Selector, ParseError> {
    match parse(text)? {
        Expr::Selector(selector) if selector.offset_ms == 0 && selector.fixed.is_none() => {
            Ok(selector)
        }
        _ => Err(ParseError::at(
            text,
            0,
            "expected a series selector and nothing else".to_owned(),
        )),
    }
}

pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: usize,
    parts: usize,
}

pub(super) type Parsed<T> = Result<T, ParseError>;

/// How closely an operator binds, the loosest 1.
fn operator(token: &Token) -> Option<(&'static str, u8)> {
    const OPERATORS: &[(&str, u8)] = &[
        ("or", 1),
        ("and", 2),
        ("unless", 2),
        ("==", 3),
        ("!=", 3),
        ("<=", 3),
        ("<", 3),
        (">=", 3),
        (">", 3),
        ("+", 4),
        ("-", 4),
        ("*", 5),
        ("/", 5),
        ("%", 5),
        ("atan2", 5),
        ("^", 6),
    ];
    let named = |word: &str| {
        OPERATORS
            .iter()
            .find(|(op, _)| op.eq_ignore_ascii_case(word))
            .copied()
    };
    match token {
        Token::Sign(sign) => named(sign),
        Token::Word(word) => named(word),
        _ => None,
    }
}

/// How closely a sign before a term binds: `-2 ^ 2` is -4.
const UNARY: u8 = 5;

impl Parser<'_> {
    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    pub(super) fn place(&self) -> usize {
        self.tokens
            .get(self.next)
            .map_or(self.text.len(), |(at, _)| *at)
    }

    pub(super) fn error(&self, at: usize, why: impl Into<String>) -> ParseError {
        ParseError::at(self.text, at, why.into())
    }

    pub(super) fn unexpected(&self, expected: &str) -> ParseError {
        let found = match self.peek() {
            None => "unexpected end of input".to_owned(),
            Some(Token::Word(word)) => format!("unexpected identifier \"{word}\""),
            Some(Token::Number(n)) => format!("unexpected number \"{n}\""),
            Some(Token::Duration(ms)) => format!("unexpected duration \"{ms}ms\""),
            Some(Token::Text(text)) => format!("unexpected string {text:?}"),
            Some(Token::Sign(sign)) => format!("unexpected \"{sign}\""),
        };
        self.error(self.place(), format!("{found}, expected {expected}"))
    }

    /// One token further.
    pub(super) fn step(&mut self) {
        self.next += 1;
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Token::Sign(s)) if *s == sign);
        self.next += usize::from(is_it);
        is_it
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Token::Word(w)) if w.eq_ignore_ascii_case(word));
        self.next += usize::from(is_it);
        is_it
    }

    pub(super) fn expect(&mut self, sign: &str, expected: &str) -> Parsed<()> {
        if self.eat(sign) {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        self.parts += 1;
        if self.depth > MOST_DEPTH || self.parts > MOST_PARTS {
            return Err(self.error(
                self.place(),
                format!("the query has more than {MOST_PARTS} parts, or {MOST_DEPTH} of them within each other"),
            ));
        }
        let done = read(self);
        self.depth -= 1;
        done
    }

    /// Terms and operators that bind closer than `loosest`.
    pub(super) fn binary(&mut self, loosest: u8) -> Parsed<Expr> {
        self.deeper(|p| {
            let start = p.place();
            let mut left = p.unary()?;
            while let Some((op, binds)) = p.peek().and_then(operator) {
                if binds <= loosest {
                    break;
                }
                p.parts += 1;
                p.next += 1;
                p.modifiers_of_operator()?;
                // `^` groups to the right, everything else to the left.
                let right = p.binary(if op == "^" { binds - 1 } else { binds })?;
                left = p.joined(start, op, left, right)?;
                if p.parts > MOST_PARTS {
                    return Err(
                        p.error(start, format!("the query has more than {MOST_PARTS} parts"))
                    );
                }
            }
            Ok(left)
        })
    }

    fn joined(&self, at: usize, op: &'static str, left: Expr, right: Expr) -> Parsed<Expr> {
        let kinds = [left.kind(), right.kind()];
        if kinds.iter().any(|k| matches!(k, Kind::Range | Kind::Text)) {
            return Err(self.error(
                at,
                "binary expression must contain only scalar and instant vector types",
            ));
        }
        if matches!(op, "and" | "or" | "unless") && kinds.contains(&Kind::Scalar) {
            return Err(self.error(
                at,
                format!("set operator \"{op}\" not allowed in binary scalar expression"),
            ));
        }
        Ok(Expr::Binary {
            op,
            left: Box::new(left),
            right: Box::new(right),
        })
    }

    /// `bool`, `on (…)`, `group_left (…)`: understood, and not kept, since no such expression is evaluated.
    fn modifiers_of_operator(&mut self) -> Parsed<()> {
        self.eat_word("bool");
        if self.eat_word("on") || self.eat_word("ignoring") {
            self.names()?;
            let is_group = self.eat_word("group_left") || self.eat_word("group_right");
            if is_group && matches!(self.peek(), Some(Token::Sign("("))) {
                self.names()?;
            }
        }
        Ok(())
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let at = self.place();
        if self.eat("+") {
            return self.binary(UNARY);
        }
        if !self.eat("-") {
            return self.postfix();
        }
        let inner = self.binary(UNARY)?;
        match (inner.kind(), inner) {
            (_, Expr::Number(n)) => Ok(Expr::Number(-n)),
            (Kind::Scalar | Kind::Vector, inner) => Ok(Expr::Negative(Box::new(inner))),
            (kind, _) => Err(self.error(
                at,
                format!(
                    "unary expression only allowed on expressions of type scalar or instant vector, got {:?}",
                    kind.word()
                ),
            )),
        }
    }

    /// A term with its `[…]`, `offset` and `@`.
    fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.place();
        let mut expr = self.term()?;
        loop {
            let at = self.place();
            if self.eat("[") {
                expr = self.range(start, expr)?;
            } else if self.eat_word("offset") {
                let offset_ms = self.signed_duration()?;
                let taken = match &mut expr {
                    Expr::Selector(selector) | Expr::Range { selector, .. }
                        if selector.offset_ms == 0 =>
                    {
                        selector.offset_ms = offset_ms;
                        true
                    }
                    Expr::Subquery { .. } => true,
                    _ => false,
                };
                if !taken {
                    return Err(self.error(at, "offset modifier must be preceded by an instant vector selector or range vector selector or a subquery, and may not be set twice"));
                }
            } else if self.eat("@") {
                let fixed = self.fixed()?;
                let taken = match &mut expr {
                    Expr::Selector(selector) | Expr::Range { selector, .. }
                        if selector.fixed.is_none() =>
                    {
                        selector.fixed = Some(fixed);
                        true
                    }
                    Expr::Subquery { .. } => true,
                    _ => false,
                };
                if !taken {
                    return Err(self.error(at, "@ modifier must be preceded by an instant vector selector or range vector selector or a subquery, and may not be set twice"));
                }
            } else {
                return Ok(expr);
            }
        }
    }

    fn range(&mut self, start: usize, expr: Expr) -> Parsed<Expr> {
        let range_ms = self.duration()?;
        if range_ms <= 0 {
            return Err(self.error(self.place(), "duration must be greater than 0"));
        }
        if self.eat(":") {
            if !matches!(self.peek(), Some(Token::Sign("]"))) {
                self.duration()?;
            }
            self.expect("]", "\"]\"")?;
            return match expr.kind() {
                Kind::Vector | Kind::Scalar => Ok(Expr::Subquery {
                    inner: Box::new(expr),
                }),
                kind => Err(self.error(
                    start,
                    format!(
                        "subquery is only allowed on instant vector, got {}",
                        kind.word()
                    ),
                )),
            };
        }
        self.expect("]", "\":\" or \"]\"")?;
        match expr {
            Expr::Selector(selector) if selector.offset_ms != 0 => {
                Err(self.error(start, "no offset modifiers allowed before range"))
            }
            Expr::Selector(selector) if selector.fixed.is_some() => {
                Err(self.error(start, "no @ modifiers allowed before range"))
            }
            Expr::Selector(selector) => Ok(Expr::Range { selector, range_ms }),
            _ => Err(self.error(start, "ranges only allowed for vector selectors")),
        }
    }

    /// `5m`, and since Prometheus 3 also a number of seconds.
    fn duration(&mut self) -> Parsed<i64> {
        let ms = match self.peek() {
            Some(Token::Duration(ms)) => Some(*ms),
            Some(Token::Number(secs)) => whole_ms(*secs),
            _ => None,
        };
        let ms = ms.ok_or_else(|| self.unexpected("duration"))?;
        self.next += 1;
        Ok(ms)
    }

    fn signed_duration(&mut self) -> Parsed<i64> {
        let is_negative = self.eat("-");
        let ms = self.duration()?;
        Ok(if is_negative { -ms } else { ms })
    }

    fn fixed(&mut self) -> Parsed<Fixed> {
        for (word, fixed) in [("start", Fixed::Start), ("end", Fixed::End)] {
            if self.eat_word(word) {
                self.expect("(", "\"(\"")?;
                self.expect(")", "\")\"")?;
                return Ok(fixed);
            }
        }
        let is_negative = self.eat("-");
        self.eat("+");
        let secs = match self.peek() {
            Some(Token::Number(secs)) => *secs,
            _ => return Err(self.unexpected("timestamp, start() or end()")),
        };
        let ms = whole_ms(if is_negative { -secs } else { secs })
            .ok_or_else(|| self.error(self.place(), "timestamp out of bounds for @ modifier"))?;
        self.next += 1;
        Ok(Fixed::At(ms))
    }

    fn term(&mut self) -> Parsed<Expr> {
        let at = self.place();
        match self.peek().cloned() {
            Some(Token::Number(n)) => {
                self.next += 1;
                Ok(Expr::Number(n))
            }
            Some(Token::Text(text)) => {
                self.next += 1;
                Ok(Expr::Text(text))
            }
            Some(Token::Sign("(")) => {
                self.next += 1;
                let inner = self.binary(0)?;
                self.close(at)?;
                Ok(inner)
            }
            Some(Token::Sign("{")) => self.selector(at, None),
            Some(Token::Word(word)) => {
                self.next += 1;
                self.word(at, word)
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    pub(super) fn close(&mut self, _open: usize) -> Parsed<()> {
        if self.eat(")") {
            return Ok(());
        }
        Err(match self.peek() {
            None => self.error(self.text.len(), "unclosed left parenthesis"),
            Some(_) => self.unexpected("\")\""),
        })
    }

    fn word(&mut self, at: usize, word: String) -> Parsed<Expr> {
        let has_arguments = matches!(self.peek(), Some(Token::Sign("(")));
        let has_grouping = matches!(self.peek(), Some(Token::Word(w)) if w.eq_ignore_ascii_case("by") || w.eq_ignore_ascii_case("without"));
        if let Some((op, parameter)) = aggregation(&word)
            && (has_arguments || has_grouping)
        {
            return self.aggregate(op, parameter);
        }
        if has_arguments {
            return self.call(at, &word);
        }
        if word.eq_ignore_ascii_case("inf") {
            return Ok(Expr::Number(f64::INFINITY));
        }
        if word.eq_ignore_ascii_case("nan") {
            return Ok(Expr::Number(f64::NAN));
        }
        self.selector(at, Some(word))
    }
}

/// Seconds → milliseconds, within the years that nanoseconds can hold.
fn whole_ms(secs: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "checked just before")]
    (secs.abs() < 9.2e9).then(|| (secs * 1e3).round() as i64)
}
