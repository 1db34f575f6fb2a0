//! The bookkeeping that every machine shares: what waits, what is in flight and what for, what came back.

use std::collections::{BTreeMap, VecDeque};

use crate::sources::{Progress, Request, Step, Ticket};

/// Requests of one machine. `P` says what an answer is for.
#[derive(Debug)]
pub(super) struct Queue<P> {
    waiting: VecDeque<(P, Request)>,
    in_flight: BTreeMap<Ticket, P>,
    tickets: u32,
    answered: u64,
}

impl<P> Default for Queue<P> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            in_flight: BTreeMap::new(),
            tickets: 0,
            answered: 0,
        }
    }
}

impl<P> Queue<P> {
    /// Asks later, in the order of asking.
    pub(super) fn ask(&mut self, purpose: P, request: Request) {
        self.waiting.push_back((purpose, request));
    }

    /// Does not ask any more what waits and is such; what is in flight is still answered.
    pub(super) fn forget(&mut self, is_such: impl Fn(&P) -> bool) {
        self.waiting.retain(|(purpose, _)| !is_such(purpose));
    }

    /// Whether nothing waits and nothing is in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_empty()
    }

    /// The next request; what it is for is kept until it is answered.
    pub(super) fn next(&mut self) -> Step {
        match self.waiting.pop_front() {
            Some((purpose, request)) => {
                let ticket = Ticket(self.tickets);
                self.tickets += 1;
                self.in_flight.insert(ticket, purpose);
                Step::Fetch(ticket, request)
            }
            None if self.in_flight.is_empty() => Step::Done,
            None => Step::Wait,
        }
    }

    /// What the answer with that ticket is for; `None` for one that nobody asked.
    pub(super) fn answered(&mut self, ticket: Ticket) -> Option<P> {
        let purpose = self.in_flight.remove(&ticket)?;
        self.answered += 1;
        Some(purpose)
    }

    /// How far it has come.
    pub(super) fn progress(&self) -> Progress {
        Progress {
            answered: self.answered,
            expected: self.answered + (self.in_flight.len() + self.waiting.len()) as u64,
        }
    }
}
