//! What is kept between starts: read at the start, written beside the window a little after each change, and at the end.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::app::App;
use crate::base::clock::{Clock as _, SystemClock};
use crate::base::time::Timestamp;
use crate::session::analysis::Asked;
use crate::session::notes::Notes;
use crate::session::settings::Settings;
use crate::session::state::{Aside, Identity, Known, Saved, Shape, Store};
use crate::session::view::View;
use crate::ui::lanes;
use crate::words::warnings;

/// How long after a change it is written, in seconds of the window's clock. Later changes go into the same writing.
const AFTER_S: f64 = 2.0;

/// What is kept, and how much of it was written.
#[derive(Debug)]
pub(super) struct Keeper {
    store: Store,
    /// Which incident is open; `None` until it was read.
    identity: Option<Identity>,
    /// What is kept of it, until it is shown.
    waiting: Option<Saved>,
    /// What was handed over to be written last.
    settings: Settings,
    incident: Option<(View, Notes)>,
    /// Since when there is something new.
    changed_s: Option<f64>,
    turn: u64,
    /// Why the last writing failed, until it is told.
    failure: Arc<Mutex<Option<String>>>,
    is_failure_told: bool,
}

impl Keeper {
    /// Takes what was set at an earlier start in place of `settings`.
    pub(super) fn start(
        folder: Option<PathBuf>,
        settings: &mut Settings,
    ) -> (Option<Self>, Option<Aside>) {
        let Some(folder) = folder else {
            return (None, None);
        };
        let store = Store::new(folder);
        let (kept, aside) = store.settings();
        if let Some(kept) = kept {
            *settings = kept;
        }
        let keeper = Self {
            store,
            identity: None,
            waiting: None,
            settings: settings.clone(),
            incident: None,
            changed_s: None,
            turn: 0,
            failure: Arc::default(),
            is_failure_told: false,
        };
        (Some(keeper), aside)
    }

    /// For those who write or read beside the window.
    pub(super) fn store(&self) -> Store {
        self.store.clone()
    }

    /// Takes in which incident it is. When it was read again, the person has it in hand, and what is kept is older.
    pub(super) fn known(&mut self, known: Known, is_reload: bool) {
        self.identity = Some(known.identity);
        self.waiting = known.saved.filter(|_| !is_reload);
    }

    fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }
}

impl App {
    /// Shows what is kept of the incident, when its last rows have come.
    pub(super) fn restore(&mut self, ctx: &egui::Context) {
        let (Some(keeper), Some(incident)) = (&mut self.keeper, &self.incident) else {
            return;
        };
        let Some(saved) = keeper.waiting.take() else {
            return;
        };
        let has_notes = !saved.notes.is_empty();
        self.notes.take_in(saved.notes.clone());
        // Who has moved or changed something since the first lanes came wants to stay there.
        let is_untouched = !self.edits.can_undo() && self.first_range == Some(self.view.range);
        if is_untouched && let Some(mut view) = saved.view_for(incident.snapshot()) {
            view.lanes
                .retain(|row| lanes::by_id(&row.spec.kind).is_some());
            view.active_lane = view.active_lane.min(view.lanes.len().saturating_sub(1));
            // Who asked for a part of time on the command line gets it.
            if self.opening.asked != Asked::default() {
                view.range = incident.document.window;
            }
            self.view = view;
        }
        let keeper_state = (self.view.clone(), self.notes.clone());
        keeper.incident = Some(keeper_state);
        if has_notes || !saved.is_closed {
            let key = if saved.is_closed {
                "load-restored"
            } else {
                "load-restored-crash"
            };
            let at = self.clock_text(saved.at);
            let text = self.words.with(key, &[("time", at.as_str().into())]);
            self.tell(ctx, text);
        }
    }

    /// `14:05` of today, else with its date.
    fn clock_text(&self, t: Timestamp) -> String {
        let (then, now) = (self.zone.civil(t), self.zone.civil(SystemClock.now()));
        let clock = format!("{:02}:{:02}", then.hour, then.minute);
        if then.date() == now.date() {
            clock
        } else {
            format!("{} {clock}", then.date())
        }
    }

    /// Says that a file of an earlier start could not be used.
    pub(super) fn tell_aside(&mut self, ctx: &egui::Context, aside: &Aside) {
        let (key, path, why) = match aside {
            Aside::Broken(path) => ("load-aside-broken", path, ""),
            Aside::Newer(path) => ("load-aside-newer", path, ""),
            Aside::Stuck(path, why) => ("load-aside-stuck", path, why.as_str()),
        };
        let path = path.display().to_string();
        let why = warnings::why(self.words, why);
        let values = [("path", path.as_str().into()), ("why", (&why).into())];
        let text = self.words.with(key, &values);
        self.tell(ctx, text);
    }

    /// Writes what has changed, a little after it did.
    pub(super) fn autosave(&mut self, ctx: &egui::Context) {
        self.tell_failure(ctx);
        let now_s = ctx.input(|i| i.time);
        let is_open = self.is_whole();
        let Some(keeper) = &mut self.keeper else {
            return;
        };
        let is_kept = match (&keeper.incident, &self.replay) {
            (Some(kept), Some(replay)) => *kept == replay.kept(&self.notes),
            (Some((view, notes)), None) => *view == self.view && *notes == self.notes,
            (None, _) => false,
        };
        let is_same = keeper.settings == self.settings && (!is_open || is_kept);
        if is_same {
            keeper.changed_s = None;
            return;
        }
        let since_s = *keeper.changed_s.get_or_insert(now_s);
        let left_s = since_s + AFTER_S - now_s;
        if left_s > 0.0 {
            ctx.request_repaint_after_secs(left_s as f32);
        } else if !self.save(false) {
            ctx.request_repaint_after_secs(AFTER_S as f32);
        }
    }

    /// Whether nothing more comes of an incident, so that what is said of it can be kept.
    fn is_whole(&self) -> bool {
        self.load.is_none() && self.incident.is_some()
    }

    /// Hands over what there is; whether somebody took it.
    fn save(&mut self, is_closed: bool) -> bool {
        let Some((store, turn, saved)) = self.unsaved(is_closed) else {
            return true;
        };
        let settings = self.settings.clone();
        let Some(keeper) = &self.keeper else {
            return true;
        };
        let failure = Arc::clone(&keeper.failure);
        self.pool.spawn(move || {
            if let Err(error) = store.save(turn, &settings, saved.as_ref())
                && let Ok(mut failure) = failure.lock()
            {
                *failure = Some(error.to_string());
            }
        })
    }

    /// What there is to write now; counts as written from here on.
    fn unsaved(&mut self, is_closed: bool) -> Option<(Store, u64, Option<Saved>)> {
        // Of a replay only what the person says is kept.
        let whole = self.replay.as_ref().map(|r| r.whole());
        let shape = whole
            .or(self.incident.as_ref())
            .filter(|_| self.is_whole())
            .map(|i| Shape::of(i.snapshot()));
        let (view, notes) = match &self.replay {
            Some(replay) => replay.kept(&self.notes),
            None => (self.view.clone(), self.notes.clone()),
        };
        let keeper = self.keeper.as_mut()?;
        let saved = shape
            .zip(keeper.identity.clone())
            .map(|(shape, identity)| Saved {
                identity,
                at: SystemClock.now(),
                is_closed,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                shape,
                view: Some(view.clone()),
                notes: notes.clone(),
            });
        keeper.changed_s = None;
        keeper.settings = self.settings.clone();
        keeper.incident = Some((view, notes));
        Some((keeper.store(), keeper.next_turn(), saved))
    }

    /// Writes what there is before something else is opened, and knows nothing of it after.
    pub(super) fn save_and_forget(&mut self) {
        if self.keeper.is_none() {
            return;
        }
        if self.incident.is_some() && !self.save(true) {
            // Too much waits in the pool to take it. Notes are worth a short wait.
            self.save_at_exit();
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.identity = None;
            keeper.waiting = None;
            keeper.incident = None;
        }
    }

    /// Writes what there is, and waits for it.
    pub(super) fn save_at_exit(&mut self) {
        let Some((store, turn, saved)) = self.unsaved(true) else {
            return;
        };
        if let Err(error) = store.save(turn, &self.settings, saved.as_ref())
            && let Some(keeper) = &self.keeper
            && let Ok(mut failure) = keeper.failure.lock()
        {
            *failure = Some(error.to_string());
        }
    }

    /// Says once that nothing can be kept, and why.
    fn tell_failure(&mut self, ctx: &egui::Context) {
        let Some(keeper) = &mut self.keeper else {
            return;
        };
        let why = keeper.failure.try_lock().ok().and_then(|mut f| f.take());
        let Some(why) = why.filter(|_| !keeper.is_failure_told) else {
            return;
        };
        keeper.is_failure_told = true;
        let why = warnings::why(self.words, &why);
        let values = [("why", (&why).into())];
        let text = self.words.with("load-save-failed", &values);
        self.tell(ctx, text);
    }
}
