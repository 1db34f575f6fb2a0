//! What stands in braces: conditions on labels.

use crate::store::promql::lex::Token;
use crate::store::promql::matching::anchored;
use crate::store::promql::parse::{Parsed, Parser};
use crate::store::promql::{Expr, Match, Matcher, NAME, Selector};

impl Parser<'_> {
    /// `{…}` behind a name, or alone.
    pub(super) fn selector(&mut self, at: usize, name: Option<String>) -> Parsed<Expr> {
        let is_named = name.is_some();
        let mut matchers: Vec<Matcher> = name.into_iter().map(named).collect();
        if self.eat("{") {
            while !self.eat("}") {
                let place = self.place();
                let matcher = self.matcher()?;
                if matcher.name == NAME && is_named {
                    return Err(self.error(place, "metric name must not be set twice"));
                }
                matchers.push(matcher);
                if !self.eat(",") {
                    self.expect("}", "\",\" or \"}\"")?;
                    break;
                }
            }
        }
        if matchers.iter().all(|m| m.holds("")) {
            return Err(self.error(
                at,
                "vector selector must contain at least one non-empty matcher",
            ));
        }
        Ok(Expr::Selector(Selector {
            matchers,
            offset_ms: 0,
            fixed: None,
        }))
    }

    fn matcher(&mut self) -> Parsed<Matcher> {
        let name = match self.peek().cloned() {
            Some(Token::Word(name)) => {
                self.step();
                name
            }
            Some(Token::Text(name)) => {
                self.step();
                // Prometheus 3: a text alone is the metric's name.
                if matches!(self.peek(), Some(Token::Sign("," | "}"))) {
                    return Ok(named(name));
                }
                name
            }
            _ => return Err(self.unexpected("identifier or \"}\" in label matching")),
        };
        let op = match self.peek() {
            Some(Token::Sign(op @ ("=" | "!=" | "=~" | "!~"))) => *op,
            _ => return Err(self.unexpected("label matching operator")),
        };
        self.step();
        let Some(Token::Text(text)) = self.peek().cloned() else {
            return Err(self.unexpected("string in label matching"));
        };
        let at = self.place();
        self.step();
        let regex = || {
            anchored(&text)
                .map_err(|why| self.error(at, format!("error parsing regexp: {why}: `{text}`")))
        };
        let value = match op {
            "=" => Match::Equal(text),
            "!=" => Match::NotEqual(text),
            "=~" => Match::Like(regex()?),
            _ => Match::NotLike(regex()?),
        };
        Ok(Matcher { name, value })
    }
}

fn named(name: String) -> Matcher {
    Matcher {
        name: NAME.to_owned(),
        value: Match::Equal(name),
    }
}
