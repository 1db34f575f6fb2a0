//! The dialog that opens and saves. It is our own so that it works without a desktop portal, by keyboard alone, and in tests.
//!
//! The text of the path field is the only truth: its folder is what is listed, its last part narrows the list, Tab completes it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use egui::{Key, Modifiers, Ui};

use crate::engine::memo::{Answer, Memo};
use crate::export;
use crate::session::folder::{self, Item, Listing};
use crate::ui::frame::Frame;
use crate::ui::request::{Export, Request};
use crate::ui::theme;
use crate::ui::widgets::rows::Rows;

/// The name that is offered for the timeline, less its ending.
const NAME: &str = "incident-timeline";

/// What the dialog is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Choose inputs.
    Open,
    /// Choose where the timeline is written.
    Save,
}

/// What the person is asked before it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A file stands there: replace it?
    Replace(Export),
}

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Files {
    pub(super) sheet: Option<Sheet>,
    opened_in: Option<PathBuf>,
    saved_in: Option<PathBuf>,
    listing: Memo<(PathBuf, bool, u32), Listing>,
}

/// The open dialog.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) purpose: Purpose,
    /// Where text without a slash is taken from.
    base: PathBuf,
    home: Option<PathBuf>,
    pub(super) typed: String,
    pub(super) picked: BTreeSet<PathBuf>,
    pub(super) rows: Rows,
    pub(super) form: &'static str,
    pub(super) is_hidden_shown: bool,
    pub(super) problem: Option<String>,
    pub(super) asked: Option<Asked>,
    pub(super) is_writing: bool,
    /// The path field takes the focus in the next frame.
    pub(super) must_focus: bool,
    /// The mark in the path field goes to the end of the text.
    pub(super) must_end: bool,
    /// What a person would type anew is marked: the path, or the name that is offered.
    pub(super) must_mark: bool,
    /// Keys that wait for the list of the folder.
    must_complete: bool,
    must_accept: bool,
    /// Counts up to read the folder again.
    attempt: u32,
}

/// What the list shows now.
#[derive(Debug, Clone)]
pub(super) enum Shown {
    /// The folder, which entries of it, and how many were left out.
    Items(Vec<Item>, usize),
    /// Not there yet.
    Wait,
    /// It cannot be read; why.
    Failed(String),
}

impl Files {
    /// Opens it where it was last, else beside what was opened lately.
    pub fn choose(&mut self, purpose: Purpose, recent: &[Vec<PathBuf>]) {
        let last = match purpose {
            Purpose::Open => &self.opened_in,
            Purpose::Save => &self.saved_in,
        };
        let beside = || {
            let path = recent.first()?.first()?;
            path.is_absolute()
                .then(|| path.parent().map(Path::to_owned))?
        };
        let base = last.clone().or_else(beside).unwrap_or_else(folder::first);
        let form = "md";
        let typed = match purpose {
            Purpose::Open => in_folder(&base, ""),
            Purpose::Save => in_folder(&base, &format!("{NAME}.{form}")),
        };
        let attempt = self.listing.last_with_key().map_or(0, |(k, _)| k.2 + 1);
        self.sheet = Some(Sheet {
            purpose,
            base,
            home: folder::home(),
            typed,
            picked: BTreeSet::new(),
            rows: Rows::default(),
            form,
            is_hidden_shown: false,
            problem: None,
            asked: None,
            is_writing: false,
            must_focus: true,
            must_end: false,
            must_mark: true,
            must_complete: false,
            must_accept: false,
            attempt,
        });
    }

    /// Whether it lies over the window.
    pub const fn is_open(&self) -> bool {
        self.sheet.is_some()
    }

    /// Asks something before it is done.
    pub fn ask(&mut self, asked: Asked) {
        if let Some(sheet) = &mut self.sheet {
            sheet.is_writing = false;
            sheet.asked = Some(asked);
        }
    }

    /// Says why nothing was written; the dialog stays.
    pub fn failed(&mut self, why: String) {
        if let Some(sheet) = &mut self.sheet {
            sheet.is_writing = false;
            sheet.problem = Some(why);
        }
    }

    /// The file is written: the dialog goes, its folder is remembered.
    pub fn written(&mut self, path: &Path) {
        self.saved_in = path.parent().map(Path::to_owned);
        if self
            .sheet
            .as_ref()
            .is_some_and(|s| s.purpose == Purpose::Save)
        {
            self.sheet = None;
        }
    }

    /// Draws it.
    pub fn ui(&mut self, ui: &Ui, frame: &mut Frame<'_>) {
        let Some(mut sheet) = self.sheet.take() else {
            return;
        };
        sheet.keys(ui);
        let shown = self.shown(&sheet, frame);
        sheet.do_what_waited(&shown, frame);
        let mut is_closed = super::files_ui::ui(ui, &mut sheet, &shown, frame);
        if sheet.purpose == Purpose::Open
            && frame.requests.iter().any(|r| matches!(r, Request::Open(_)))
        {
            self.opened_in = Some(sheet.folder());
            is_closed = true;
        }
        if !is_closed {
            self.sheet = Some(sheet);
        }
    }

    fn shown(&mut self, sheet: &Sheet, frame: &Frame<'_>) -> Shown {
        let (folder, begun) = sheet.split();
        let is_hidden_shown = sheet.is_hidden_shown || begun.starts_with('.');
        let key = (folder, is_hidden_shown, sheet.attempt);
        let at = key.0.clone();
        let answer = self.listing.want(frame.pool, &key, move |_| {
            folder::list(&at, is_hidden_shown).map_err(|e| e.to_string())
        });
        match answer {
            Answer::Ready(listing) => {
                let begun = match sheet.purpose {
                    Purpose::Open => begun.to_lowercase(),
                    // A new name narrows nothing: the person sees what is there already.
                    Purpose::Save => String::new(),
                };
                let items = listing.items.iter();
                let items = items.filter(|i| i.name.to_lowercase().contains(&begun));
                Shown::Items(items.cloned().collect(), listing.left_out)
            }
            Answer::Stale(_) | Answer::Pending => Shown::Wait,
            Answer::Failed(why) => Shown::Failed(why.to_owned()),
        }
    }
}

impl Sheet {
    /// The folder that is listed, and the begin of a name in it.
    pub(super) fn split(&self) -> (PathBuf, String) {
        folder::split(&self.base, &self.typed, self.home.as_deref())
    }

    /// The folder that is listed.
    pub(super) fn folder(&self) -> PathBuf {
        self.split().0
    }

    /// What the text names.
    pub(super) fn path(&self) -> PathBuf {
        folder::resolve(&self.base, &self.typed, self.home.as_deref())
    }

    /// Which letters a person would type anew: of a path to open all, of an offered name what stands before its ending.
    pub(super) fn marked(&self) -> std::ops::Range<usize> {
        let letters = |text: &str| text.chars().count();
        match (self.purpose, self.typed.rsplit_once('/')) {
            (Purpose::Save, Some((folder, name))) => {
                let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
                let from = letters(folder) + 1;
                from..from + letters(stem)
            }
            _ => 0..letters(&self.typed),
        }
    }

    /// Goes into a folder.
    pub(super) fn enter(&mut self, folder: &Path) {
        let name = match self.purpose {
            Purpose::Open => String::new(),
            Purpose::Save => self.split().1,
        };
        self.typed = in_folder(folder, &name);
        self.picked.clear();
        self.rows = Rows::default();
        self.problem = None;
        self.must_end = true;
    }

    /// Goes to the folder above.
    pub(super) fn up(&mut self) {
        let folder = self.folder();
        if let Some(above) = folder.parent() {
            self.enter(above);
        }
    }

    /// What was typed has changed.
    pub(super) fn typed_anew(&mut self) {
        self.problem = None;
        self.asked = None;
        self.picked.clear();
        self.rows.go(0);
        if self.purpose == Purpose::Save
            && let Some(form) = export::by_path(&self.path())
        {
            self.form = form.id();
        }
    }

    /// Chooses a form; the ending of the name follows.
    pub(super) fn set_form(&mut self, form: &'static dyn export::Exporter) {
        self.form = form.id();
        if let Some(ending) = form.extensions().first() {
            let (folder, name) = self.split();
            let has_ending = export::by_path(Path::new(&name)).is_some();
            let stem = match name.rsplit_once('.') {
                Some((stem, _)) if has_ending => stem,
                _ => name.as_str(),
            };
            self.typed = in_folder(&folder, &format!("{stem}.{ending}"));
            self.asked = None;
            self.problem = None;
        }
    }

    /// Tab, and Ctrl+Enter: keys of the whole dialog.
    fn keys(&mut self, ui: &Ui) {
        let is_accepted = ui.input_mut(|i| i.consume_key(Modifiers::COMMAND, Key::Enter));
        if is_accepted {
            self.accept_later();
        }
    }

    /// Does it as soon as the list of the folder is there.
    pub(super) const fn accept_later(&mut self) {
        self.must_accept = true;
    }

    /// Completes as soon as the list of the folder is there.
    pub(super) const fn complete_later(&mut self) {
        self.must_complete = true;
    }

    fn do_what_waited(&mut self, shown: &Shown, frame: &mut Frame<'_>) {
        let (items, why) = match shown {
            Shown::Wait => return,
            Shown::Items(items, _) => (items.as_slice(), None),
            Shown::Failed(why) => (&[][..], Some(why)),
        };
        if std::mem::take(&mut self.must_complete) {
            if let Some(done) = folder::complete(&self.typed, items) {
                self.typed = done;
                self.typed_anew();
                self.must_end = true;
            }
            self.must_focus = true;
        }
        if std::mem::take(&mut self.must_accept) {
            match why {
                Some(why) => self.problem = Some(why.clone()),
                None => self.accept(items, frame),
            }
        }
    }

    /// Opens or saves what is picked or typed.
    fn accept(&mut self, items: &[Item], frame: &mut Frame<'_>) {
        let (_, begun) = self.split();
        match self.purpose {
            Purpose::Open if !self.picked.is_empty() => {
                frame.ask(Request::Open(self.picked.iter().cloned().collect()));
            }
            Purpose::Open => {
                let path = self.path();
                let is_there = begun.is_empty() || items.iter().any(|i| i.path == path);
                if is_there || begun.contains(['*', '?', '[']) {
                    frame.ask(Request::Open(vec![path]));
                } else {
                    let name = begun.as_str();
                    let text = frame.words.with("files-missing", &[("name", name.into())]);
                    self.problem = Some(text);
                }
            }
            Purpose::Save => {
                let path = self.path();
                if begun.is_empty() || items.iter().any(|i| i.is_folder && i.path == path) {
                    self.problem = Some(frame.words.text("files-no-name").to_owned());
                } else if !self.is_writing {
                    self.problem = None;
                    self.is_writing = true;
                    frame.ask(Request::Export(Export {
                        path,
                        form: self.form.to_owned(),
                        is_replacing: false,
                    }));
                }
            }
        }
    }
}

/// A folder and a name as text for the path field.
fn in_folder(folder: &Path, name: &str) -> String {
    let folder = folder.display().to_string();
    if folder.ends_with('/') {
        format!("{folder}{name}")
    } else {
        format!("{folder}/{name}")
    }
}

/// Height of the list, in points.
pub(super) fn list_height(ui: &Ui) -> f32 {
    (ui.content_rect().height() * 0.45).clamp(5.0 * theme::ROW, 14.0 * theme::ROW)
}
