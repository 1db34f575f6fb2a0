//! Before each frame: take in what workers did. Nothing is drawn here, and nothing waits.

use crate::app::{App, Look};
use crate::base::time::Zone;
use crate::engine::load::Message;
use crate::session::incident::Incident;
use crate::session::settings::Lang;
use crate::session::view::View;
use crate::ui::theme::Tokens;
use crate::ui::words::Words;

/// Messages that one frame takes in; more wait for the next.
const MESSAGES_A_FRAME: usize = 32;

impl App {
    /// Takes in what has come.
    pub(super) fn drain(&mut self, ctx: &egui::Context) {
        for _ in 0..MESSAGES_A_FRAME {
            let Some(message) = self.load.as_ref().and_then(|load| load.next()) else {
                return;
            };
            self.take(message);
        }
        ctx.request_repaint();
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Progress(progress) => self.progress = Some(progress),
            Message::Rows(incident) => self.show(incident),
            Message::Done(incident) => {
                self.show(incident);
                self.load = None;
                self.progress = None;
            }
            Message::Nothing(why) => {
                self.load = None;
                self.progress = None;
                self.panels.start.failed(&self.opening.paths, why);
            }
            Message::Cancelled => {
                self.load = None;
                self.progress = None;
            }
        }
    }

    /// Shows rows or a report that have come; the person's view stays where it is.
    fn show(&mut self, mut incident: Incident) {
        // Each opening counts from 1; caches must tell one incident from the next.
        self.generations += 1;
        incident.generation = self.generations;
        let is_first = self.incident.is_none();
        self.incident = Some(incident);
        if is_first {
            self.view = self.first_view();
        }
        self.follow_selection();
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
            self.words = Words::new(lang);
        }
        self.zone = Zone::parse(&self.settings.zone).unwrap_or_default();
        self.second_zone = self
            .settings
            .second_zone
            .as_deref()
            .and_then(|name| Zone::parse(name).ok());
    }
}
