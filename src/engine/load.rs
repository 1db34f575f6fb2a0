//! Opening inputs beside the window: read, join, analyse; each step is told as soon as it is done.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::engine::cancel::Cancel;
use crate::engine::{EngineError, Wake};
use crate::session::analysis::{Asked, Document};
use crate::session::incident::Incident;
use crate::session::intake::{self, Options};

/// What to open, and how.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// Folders, files, archives, patterns.
    pub paths: Vec<PathBuf>,
    /// How to read.
    pub options: Options,
    /// The part of time that somebody asked for.
    pub asked: Asked,
}

/// How far the reading has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Inputs that were found so far.
    pub found: usize,
    /// Inputs that were read.
    pub read: usize,
    /// Bytes that were read.
    pub bytes: u64,
    /// What is read now, by path.
    pub current: Vec<String>,
    /// Whether everything is read, and only the analysis runs.
    pub is_analysing: bool,
}

/// What comes back.
#[derive(Debug)]
pub enum Message {
    /// How far it has come.
    Progress(Progress),
    /// Rows to show; the report comes later.
    Rows(Incident),
    /// Everything, with the report.
    Done(Incident),
    /// Nothing useful was in it; why, one line for each input.
    Nothing(Vec<String>),
    /// It was cancelled; what was shown stays.
    Cancelled,
}

/// One opening in progress. Dropping it cancels.
#[derive(Debug)]
pub struct Load {
    messages: Receiver<Message>,
    cancel: Cancel,
}

impl Drop for Load {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Load {
    /// Starts it on a thread of its own.
    pub fn start(opening: Opening, wake: Wake) -> Result<Self, EngineError> {
        let (send, messages) = sync_channel(64);
        let cancel = Cancel::new();
        let flag = cancel.clone();
        let name = "tailscope-load".to_owned();
        std::thread::Builder::new()
            .name(name.clone())
            .spawn(move || run(&opening, &flag, &send, &wake))
            .map_err(|source| EngineError::Thread { name, source })?;
        Ok(Self { messages, cancel })
    }

    /// Asks it to stop.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// The next message, when there is one.
    pub fn next(&self) -> Option<Message> {
        self.messages.try_recv().ok()
    }
}

fn run(opening: &Opening, cancel: &Cancel, send: &SyncSender<Message>, wake: &Wake) {
    let tell = |message: Message| {
        // The only failure is that nobody listens any more.
        send.send(message).ok();
        wake();
    };
    let intake = intake::read(&opening.paths, &opening.options, &mut std::io::empty());
    if cancel.is_cancelled() {
        return tell(Message::Cancelled);
    }
    if !intake.is_useful {
        let why = intake.parts.iter().flat_map(|(input, _)| {
            let path = input.path.clone();
            let warnings = input.warnings.iter();
            warnings.map(move |w| format!("{path}: {}", w.text))
        });
        return tell(Message::Nothing(why.collect()));
    }
    let rows = Incident {
        document: Arc::new(Document::new(intake, opening.asked)),
        report: None,
        generation: 1,
        is_complete: true,
    };
    tell(Message::Rows(rows.clone()));
    if cancel.is_cancelled() {
        return tell(Message::Cancelled);
    }
    let report = Arc::new(rows.document.report(None));
    tell(Message::Done(Incident {
        report: Some(report),
        generation: 2,
        ..rows
    }));
}
