//! Before each frame: take in what workers did. Nothing is drawn here, and nothing waits.

use std::path::PathBuf;
use std::sync::Arc;

use crate::app::{App, Look};
use crate::base::clock::Stopwatch;
use crate::base::time::Zone;
use crate::engine::load::Message;
use crate::session::incident::Incident;
use crate::session::settings::Lang;
use crate::session::state;
use crate::session::view::{Selection, View};
use crate::ui::theme::Tokens;
use crate::ui::words::Words;
use crate::words::warnings;

/// How long a frame may take messages in; more wait for the next.
const TAKE_IN_MS: f64 = 10.0;

impl App {
    /// Takes in what has come.
    pub(super) fn drain(&mut self, ctx: &egui::Context) {
        self.take_written(ctx);
        let clock = Stopwatch::start();
        while clock.elapsed_ms() < TAKE_IN_MS {
            let Some(message) = self.load.as_ref().and_then(|load| load.next()) else {
                return;
            };
            self.take(ctx, message);
        }
        ctx.request_repaint();
    }

    fn take(&mut self, ctx: &egui::Context, message: Message) {
        match message {
            Message::Progress(progress) => self.progress = Some(progress),
            Message::Known(known) => {
                if let Some(aside) = &known.aside {
                    self.tell_aside(ctx, aside);
                }
                if let Some(keeper) = &mut self.keeper {
                    keeper.known(*known, self.opening.is_reload);
                }
            }
            Message::Rows(incident) => self.show(ctx, incident),
            Message::Done(incident) => {
                self.end_load();
                self.show(ctx, incident);
                self.drop_lost_selection();
            }
            Message::Nothing(why) => self.opened_nothing(ctx, why),
            Message::Failed(why) if self.incident.is_none() => self.opened_nothing(ctx, vec![why]),
            Message::Failed(why) => {
                self.end_load();
                self.tell(ctx, warnings::why(self.words, &why));
            }
            Message::Cancelled => self.end_load(),
        }
    }

    /// Nothing is read any more.
    pub(super) fn end_load(&mut self) {
        self.load = None;
        self.progress = None;
    }

    /// Says why there is nothing to show. What was open before a second reading stays.
    fn opened_nothing(&mut self, ctx: &egui::Context, why: Vec<String>) {
        self.end_load();
        if self.incident.is_some() {
            let text = self.words.text("load-reload-failed").to_owned();
            let first = why.into_iter().next().unwrap_or_default();
            let first = match first.split_once(": ") {
                Some((path, why)) => format!("{path}: {}", warnings::why(self.words, why)),
                None => first,
            };
            self.tell(ctx, format!("{text} · {first}"));
        } else {
            self.panels.start.failed(&self.opening.paths, why);
        }
    }

    /// Shows rows or a report that have come; the person's view stays where it is, on the same rows.
    fn show(&mut self, ctx: &egui::Context, incident: Incident) {
        let old = self.incident.replace(incident);
        let first = self.first_view();
        match &old {
            None => {
                self.view = first.clone();
                let recent = &mut self.settings.recent;
                state::remember(recent, &self.opening.paths);
            }
            Some(old) => {
                self.carry(old);
                if self.first_range == Some(self.view.range) {
                    self.view.range = first.range;
                }
            }
        }
        self.first_range = Some(first.range);
        self.restore(ctx);
        self.retire(old);
        self.follow_selection();
    }

    /// Brings what points into the old rows over to the new ones.
    pub(super) fn carry(&mut self, old: &Incident) {
        let Some(new) = &self.incident else {
            return;
        };
        if Arc::ptr_eq(&old.document, &new.document) {
            return;
        }
        let (old, new) = (old.snapshot(), new.snapshot());
        self.view.carry(old, new);
        self.edits.adjust(|(view, _)| view.carry(old, new));
    }

    /// Picks nothing when what was picked is not in the report.
    pub(super) fn drop_lost_selection(&mut self) {
        let Some(incident) = self.incident.as_ref().filter(|i| i.report.is_some()) else {
            return;
        };
        let is_there = match &self.view.selection {
            Selection::Nothing => true,
            Selection::Hypothesis(id) => incident.hypothesis(id).is_some(),
            Selection::Finding(id) => incident.finding(id).is_some(),
        };
        if !is_there {
            self.view.selection = Selection::Nothing;
            self.follow_selection();
        }
    }

    /// Lets go of rows. A gigabyte of them takes long to free: not in a frame.
    pub(super) fn retire(&self, incident: Option<Incident>) {
        if let Some(incident) = incident {
            self.pool.spawn(move || drop(incident));
        }
    }

    /// Opens what was dropped on the window.
    pub(super) fn open_dropped(&mut self, ctx: &egui::Context) {
        if ctx.current_pass_index() > 0 {
            return;
        }
        let paths: Vec<PathBuf> = ctx.input(|i| {
            let files = i.raw.dropped_files.iter();
            files.map(|file| file.path().to_owned()).collect()
        });
        if !paths.is_empty() {
            self.open_paths(ctx, paths);
        }
    }

    /// What an incident opens with; its lanes come from the timeline, once a worker found them.
    pub(super) fn first_view(&self) -> View {
        let Some(incident) = &self.incident else {
            return View::default();
        };
        View {
            range: incident.document.window,
            ..View::default()
        }
    }

    /// Makes what hangs on settings again where they changed.
    pub(super) fn follow_settings(&mut self, ctx: &egui::Context) {
        let look = Look {
            theme: self.settings.theme,
            scale: self.settings.scale,
            is_motion_reduced: self.settings.is_motion_reduced,
        };
        if self.look != Some(look) {
            self.tokens = Tokens::of(look.theme);
            self.tokens.apply(ctx);
            ctx.set_zoom_factor(look.scale);
            if look.is_motion_reduced {
                ctx.all_styles_mut(|style| style.animation_time = 0.0);
            }
            self.look = Some(look);
        }
        let lang: Lang = self.settings.lang;
        if self.words.lang() != lang {
            self.words = Words::of(lang);
        }
        self.zone = Zone::parse(&self.settings.zone).unwrap_or_default();
        self.second_zone = self
            .settings
            .second_zone
            .as_deref()
            .and_then(|name| Zone::parse(name).ok());
    }
}
