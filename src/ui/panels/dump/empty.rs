//! What is said where there is nothing to draw.

use egui::{RichText, Ui};

use crate::model::profile::Profile;
use crate::session::incident::Incident;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::dump::format;
use crate::ui::request::Request;
use crate::ui::theme::{GAP, PAD};

/// What a person runs to get a dump; the address is that of their own process.
const DUMP: &str = "curl -o goroutine.debug2.txt 'http://HOST:PORT/debug/pprof/goroutine?debug=2'";
/// The same without the names of states, which does not stop the process.
const CHEAP: &str = "curl -o goroutine.debug1.txt 'http://HOST:PORT/debug/pprof/goroutine?debug=1'";

/// Nothing in the recording is a profile: what one would tell, and how to record it.
pub(super) fn no_profiles(ui: &mut Ui, frame: &mut Frame<'_>) {
    let w = frame.words;
    egui::ScrollArea::vertical()
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.add_space(PAD);
            ui.label(RichText::new(w.text("dump-none-title")).heading());
            ui.label(RichText::new(w.text("dump-none-why")).color(frame.tokens.text_dim));
            ui.add_space(GAP);
            command(ui, frame, DUMP);
            ui.horizontal(|ui| {
                let (rect, _) =
                    ui.allocate_exact_size(egui::Vec2::splat(16.0), egui::Sense::hover());
                let stroke = egui::Stroke::new(1.4, frame.tokens.warning);
                icons::paint(ui.painter(), Icon::Warning, rect, stroke);
                ui.label(RichText::new(w.text("dump-none-stops")).color(frame.tokens.warning));
            });
            ui.add_space(GAP);
            ui.label(RichText::new(w.text("dump-none-cheap")).color(frame.tokens.text_dim));
            command(ui, frame, CHEAP);
            ui.add_space(GAP);
            ui.label(RichText::new(w.text("dump-none-where")).color(frame.tokens.text_dim));
        });
}

fn command(ui: &mut Ui, frame: &mut Frame<'_>, text: &str) {
    ui.horizontal_wrapped(|ui| {
        if icons::button(ui, Icon::Copy, frame.words.text("dump-copy-command")).clicked() {
            frame.ask(Request::Copy(text.to_owned()));
            frame.ask(Request::Tell(frame.words.text("dump-copied").to_owned()));
        }
        ui.label(RichText::new(text).monospace());
    });
}

/// The profile has no stacks; for some kinds that does not mean what it seems to.
pub(super) fn empty_profile(
    ui: &mut Ui,
    frame: &Frame<'_>,
    incident: &Incident,
    profile: &Profile,
) {
    let w = frame.words;
    ui.add_space(PAD);
    ui.label(RichText::new(w.text("dump-empty-title")).heading());
    let why = match profile.kind.as_ref() {
        "mutex" => w.text("dump-empty-mutex"),
        "block" => w.text("dump-empty-block"),
        "cpu" => w.text("dump-empty-cpu"),
        _ => w.text("dump-empty-other"),
    };
    ui.label(RichText::new(why).color(frame.tokens.text_dim));
    let path = format::input(incident.snapshot(), profile);
    ui.label(
        RichText::new(path)
            .monospace()
            .color(frame.tokens.text_faint),
    );
}

/// Something is being prepared, or could not be.
pub(super) fn waiting(ui: &mut Ui, frame: &Frame<'_>, failed: Option<&str>) {
    ui.add_space(PAD);
    let text = match failed {
        Some(why) => frame.words.with("dump-failed", &[("why", why.into())]),
        None => frame.words.text("dump-preparing").to_owned(),
    };
    let colour = if failed.is_some() {
        frame.tokens.error
    } else {
        frame.tokens.text_dim
    };
    ui.label(RichText::new(text).color(colour));
}
