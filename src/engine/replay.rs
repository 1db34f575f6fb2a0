//! What was known at an instant of an incident: its rows up to then, analysed as they would have been then.

use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::engine::cancel::Cancel;
use crate::engine::load::{next_generation, threads};
use crate::engine::memo::{Answer, Memo};
use crate::engine::pool::Pool;
use crate::session::incident::Incident;
use crate::session::{SessionError, workers};

/// Finds out beside the window what was known when.
#[derive(Debug)]
pub struct Hindsight {
    whole: Incident,
    answers: Memo<Timestamp, Incident>,
    workers: Arc<rayon::ThreadPool>,
    /// What was asked last and is not answered yet.
    open: Option<Timestamp>,
}

impl Hindsight {
    /// For a whole incident with its report.
    pub fn new(whole: Incident) -> Result<Self, SessionError> {
        Ok(Self {
            whole,
            answers: Memo::default(),
            workers: Arc::new(workers(threads())?),
            open: None,
        })
    }

    /// The whole.
    pub const fn whole(&self) -> &Incident {
        &self.whole
    }

    /// The whole, without the rest.
    pub fn into_whole(self) -> Incident {
        self.whole
    }

    /// The same incident, of which nothing is known yet.
    pub fn nothing(&self) -> Incident {
        let start = self.whole.document.recording.start;
        self.whole.nothing_until(start, next_generation())
    }

    /// What was known at `t`, or what was asked before that is just answered, with its time; `None` while it is found out or
    /// where that failed. With `must_hurry` an older question is dropped; without, it is answered first, so that a present which
    /// runs on gets answers at all.
    pub fn want(
        &mut self,
        pool: &Pool,
        t: Timestamp,
        must_hurry: bool,
    ) -> Option<(Timestamp, Incident)> {
        let key = self.open.filter(|_| !must_hurry).unwrap_or(t);
        let (whole, workers) = (self.whole.clone(), Arc::clone(&self.workers));
        let answer = self.answers.want(pool, &key, move |cancel| {
            known(&whole, key, &workers, cancel)
        });
        match answer {
            Answer::Ready(incident) => {
                self.open = None;
                Some((key, incident.clone()))
            }
            Answer::Failed(_) => {
                self.open = None;
                None
            }
            Answer::Stale(_) | Answer::Pending => {
                self.open = Some(key);
                None
            }
        }
    }
}

fn known(
    whole: &Incident,
    t: Timestamp,
    workers: &rayon::ThreadPool,
    cancel: &Cancel,
) -> Result<Incident, String> {
    let mut part = whole.until(t, next_generation());
    let goes_on = || !cancel.is_cancelled();
    let report = workers.install(|| part.document.report_while(None, &goes_on));
    part.report = Some(Arc::new(report.ok_or("cancelled")?));
    Ok(part)
}
