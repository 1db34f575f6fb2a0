//! Functions and aggregations with their arguments.

use crate::store::promql::functions::function;
use crate::store::promql::lex::Token;
use crate::store::promql::parse::{Parsed, Parser};
use crate::store::promql::{Expr, Grouping, Kind};

impl Parser<'_> {
    pub(super) fn call(&mut self, at: usize, name: &str) -> Parsed<Expr> {
        let function = function(name)
            .ok_or_else(|| self.error(at, format!("unknown function with name {name:?}")))?;
        let arguments = self.arguments()?;
        let (kinds, least, most) = function.arguments();
        let n = arguments.len();
        if n < least || most.is_some_and(|most| n > most) {
            let wanted = match most {
                Some(most) if most == least => format!("{least}"),
                Some(most) => format!("{least} to {most}"),
                None => format!("at least {least}"),
            };
            let why = format!("expected {wanted} argument(s) in call to {name:?}, got {n}");
            return Err(self.error(at, why));
        }
        for (nth, (place, argument)) in arguments.iter().enumerate() {
            let wanted = kinds.get(nth).or_else(|| kinds.last()).copied();
            self.check(
                *place,
                wanted,
                argument,
                &format!("call to function {name:?}"),
            )?;
        }
        Ok(Expr::Call {
            function: function.name,
            gives: function.gives,
            arguments: arguments.into_iter().map(|(_, a)| a).collect(),
        })
    }

    fn check(&self, at: usize, wanted: Option<Kind>, got: &Expr, place: &str) -> Parsed<()> {
        let got = got.kind();
        match wanted {
            Some(wanted) if wanted != got => Err(self.error(
                at,
                format!(
                    "expected type {} in {place}, got {}",
                    wanted.word(),
                    got.word()
                ),
            )),
            _ => Ok(()),
        }
    }

    /// `(a, b)` with the place of each.
    fn arguments(&mut self) -> Parsed<Vec<(usize, Expr)>> {
        let open = self.place();
        self.expect("(", "\"(\"")?;
        let mut found = Vec::new();
        if self.eat(")") {
            return Ok(found);
        }
        loop {
            let at = self.place();
            found.push((at, self.binary(0)?));
            if self.eat(",") {
                continue;
            }
            self.close(open)?;
            return Ok(found);
        }
    }

    pub(super) fn aggregate(&mut self, op: &'static str, parameter: Option<Kind>) -> Parsed<Expr> {
        let before = self.grouping()?;
        let at = self.place();
        let mut arguments = self.arguments()?;
        let wanted = 1 + usize::from(parameter.is_some());
        if arguments.len() != wanted {
            return Err(self.error(
                at,
                format!(
                    "wrong number of arguments for aggregate expression provided, expected {wanted}, got {}",
                    arguments.len()
                ),
            ));
        }
        let grouping = match before {
            Some(grouping) => Some(grouping),
            None => self.grouping()?,
        };
        let Some((place, inner)) = arguments.pop() else {
            return Err(self.unexpected("an expression"));
        };
        self.check(place, Some(Kind::Vector), &inner, "aggregation expression")?;
        let first = arguments.pop();
        if let Some((place, first)) = &first {
            self.check(*place, parameter, first, "aggregation parameter")?;
        }
        Ok(Expr::Aggregate {
            op,
            grouping: grouping.unwrap_or(Grouping::By(Vec::new())),
            parameter: first.map(|(_, p)| Box::new(p)),
            inner: Box::new(inner),
        })
    }

    fn grouping(&mut self) -> Parsed<Option<Grouping>> {
        if self.eat_word("by") {
            return Ok(Some(Grouping::By(self.names()?)));
        }
        if self.eat_word("without") {
            return Ok(Some(Grouping::Without(self.names()?)));
        }
        Ok(None)
    }

    /// `(a, b)`, names of labels.
    pub(super) fn names(&mut self) -> Parsed<Vec<String>> {
        self.expect("(", "\"(\"")?;
        let mut names = Vec::new();
        while !self.eat(")") {
            match self.peek().cloned() {
                Some(Token::Word(name) | Token::Text(name)) => names.push(name),
                _ => return Err(self.unexpected("label")),
            }
            self.step();
            if !self.eat(",") {
                self.expect(")", "\",\" or \")\"")?;
                break;
            }
        }
        Ok(names)
    }
}
