//! What is open, and how it is shown: the title and the tools above the content.

use egui::{RichText, TextEdit, Ui};

use crate::base::units;
use crate::model::profile::Profile;
use crate::session::incident::Incident;
use crate::store::stacks::groups::Grouping;
use crate::store::stacks::tree::Scale;
use crate::store::stacks::{Likeness, likeness};
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::dump::paint::choices;
use crate::ui::panels::dump::{Dump, Mode, Open, format};
use crate::ui::request::{FocusEdit, Request};
use crate::ui::theme::SMALL;
use crate::words::warnings;

/// Says which profile is open, or which two, when each was taken, and what is to know of them.
pub(super) fn title(ui: &mut Ui, frame: &mut Frame<'_>, incident: &Incident, open: Open) {
    let snapshot = incident.snapshot();
    let Some(a) = snapshot.profiles.get(open.a) else {
        return;
    };
    let b = open.b.and_then(|b| snapshot.profiles.get(b));
    ui.horizontal(|ui| {
        ui.set_height(24.0);
        let Some(b) = b else {
            let text = one(frame, incident, a);
            ui.add(egui::Label::new(RichText::new(&text)).truncate())
                .on_hover_text(format::input(snapshot, a));
            notes(ui, frame, incident, a);
            return;
        };
        // The buttons stand at the right, so that a long title leaves them.
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let w = frame.words;
            if icons::button(ui, Icon::Close, w.text("dump-compare-end")).clicked() {
                frame.ask(Request::Focus(FocusEdit::CompareProfile(None)));
            }
            if ui
                .button(w.text("dump-swap"))
                .on_hover_text(w.text("dump-swap-hint"))
                .clicked()
            {
                frame.ask(Request::Focus(FocusEdit::Profile(open.b)));
                frame.ask(Request::Focus(FocusEdit::CompareProfile(Some(open.a))));
            }
            notes(ui, frame, incident, b);
            notes(ui, frame, incident, a);
            if likeness(snapshot, a, b) == Likeness::OtherForm {
                warn(ui, frame, frame.words.text("dump-like-other"));
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                let text = two(frame, incident, a, b);
                ui.add(egui::Label::new(RichText::new(&text)).truncate())
                    .on_hover_text(format!(
                        "A: {}\nB: {}",
                        format::input(snapshot, a),
                        format::input(snapshot, b)
                    ));
            });
        });
    });
}

fn one(frame: &Frame<'_>, incident: &Incident, profile: &Profile) -> String {
    let snapshot = incident.snapshot();
    frame.words.with(
        "dump-title-one",
        &[
            ("kind", profile.kind.as_ref().into()),
            ("form", format::form(snapshot, profile).into()),
            (
                "time",
                (&format::taken(frame.words, frame.zone, profile)).into(),
            ),
            (
                "total",
                (&format::value(frame.words, profile.total, &profile.unit)).into(),
            ),
            (
                "process",
                format::process(frame.words, snapshot, profile).into(),
            ),
        ],
    )
}

fn two(frame: &Frame<'_>, incident: &Incident, a: &Profile, b: &Profile) -> String {
    let time = |p: &Profile| format::taken(frame.words, frame.zone, p);
    let total = |p: &Profile| format::value(frame.words, p.total, &p.unit);
    let snapshot = incident.snapshot();
    let ratio = if a.total > 0.0 {
        format!("×{}", units::number(units::round_to(b.total / a.total, 2)))
    } else {
        format::change(frame.words, b.total - a.total, &a.unit)
    };
    frame.words.with(
        "dump-title-two",
        &[
            ("kind", a.kind.as_ref().into()),
            ("process", format::process(frame.words, snapshot, a).into()),
            ("time_a", (&time(a)).into()),
            ("total_a", (&total(a)).into()),
            ("time_b", (&time(b)).into()),
            ("total_b", (&total(b)).into()),
            ("ratio", (&ratio).into()),
        ],
    )
}

/// What is to know of a profile: a time that is only assumed, and what its input lacks.
fn notes(ui: &mut Ui, frame: &Frame<'_>, incident: &Incident, profile: &Profile) {
    let mut texts: Vec<String> = Vec::new();
    match profile.t_source {
        "file_name" => texts.push(frame.words.text("dump-time-assumed").to_owned()),
        _ if profile.t.is_none() => texts.push(frame.words.text("dump-time-unknown").to_owned()),
        _ => {}
    }
    let input = incident.snapshot().inputs.get(profile.input.0 as usize);
    let all = input.map_or(&[][..], |i| &i.warnings);
    texts.extend(all.iter().map(|w| warnings::text(frame.words, w)));
    if texts.is_empty() {
        return;
    }
    let text = texts.join("\n");
    if all.is_empty() {
        sign(ui, Icon::Info, frame.tokens.text_faint, &text);
    } else {
        warn(ui, frame, &text);
    }
}

fn warn(ui: &mut Ui, frame: &Frame<'_>, text: &str) {
    sign(ui, Icon::Warning, frame.tokens.warning, text);
}

fn sign(ui: &mut Ui, icon: Icon, colour: egui::Color32, text: &str) {
    let (rect, response) = ui.allocate_exact_size(
        egui::Vec2::splat(16.0),
        egui::Sense::focusable_noninteractive(),
    );
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, text));
    icons::paint(ui.painter(), icon, rect, egui::Stroke::new(1.3, colour));
    response.on_hover_text(text);
}

/// Ways to show it; gives the one that is taken.
pub(super) fn tools(
    ui: &mut Ui,
    frame: &Frame<'_>,
    dump: &mut Dump,
    open: Open,
    (mut mode, can_group): (Mode, bool),
) -> Mode {
    let w = frame.words;
    ui.horizontal(|ui| {
        let all = [
            (Mode::Groups, w.text("dump-mode-groups")),
            (Mode::Flame, w.text("dump-mode-flame")),
            (Mode::Functions, w.text("dump-mode-functions")),
        ];
        let shown = if can_group { &all[..] } else { &all[1..] };
        if let Some(taken) = choices(ui, w.text("dump-mode"), mode, shown) {
            mode = taken;
            dump.mode = taken;
        }
        ui.separator();
        match mode {
            Mode::Groups => {
                let all: Vec<(Grouping, &str)> = Grouping::ALL
                    .into_iter()
                    .map(|g| (g, grouping_word(frame, g)))
                    .collect();
                let name = w.text("dump-grouping");
                ui.label(
                    RichText::new(name)
                        .size(SMALL)
                        .color(frame.tokens.text_faint),
                );
                // Where there is little room the choices fold into a list.
                if ui.available_width() > 520.0 {
                    if let Some(grouping) = choices(ui, name, dump.grouping, &all) {
                        dump.grouping = grouping;
                    }
                } else {
                    egui::ComboBox::from_id_salt("grouping")
                        .selected_text(grouping_word(frame, dump.grouping))
                        .width(110.0)
                        .show_ui(ui, |ui| {
                            for (grouping, text) in &all {
                                ui.selectable_value(&mut dump.grouping, *grouping, *text);
                            }
                        })
                        .response
                        .on_hover_text(name);
                }
                field(ui, &mut dump.filter, w.text("dump-filter"));
            }
            Mode::Flame | Mode::Functions => {
                if open.b.is_some() {
                    let all = [
                        (Scale::Share, w.text("dump-scale-share")),
                        (Scale::Absolute, w.text("dump-scale-absolute")),
                    ];
                    if let Some(scale) = choices(ui, w.text("dump-scale"), dump.scale, &all) {
                        dump.scale = scale;
                    }
                    ui.separator();
                }
                field(ui, &mut dump.search, w.text("dump-search"));
                if mode == Mode::Flame {
                    dump.flame.matches(ui, frame, dump.scale, &dump.search);
                }
            }
        }
    });
    mode
}

fn grouping_word<'a>(frame: &Frame<'a>, grouping: Grouping) -> &'a str {
    let w = frame.words;
    match grouping {
        Grouping::Stack => w.text("dump-by-stack"),
        Grouping::State => w.text("dump-by-state"),
        Grouping::Lock => w.text("dump-by-lock"),
        Grouping::User => w.text("dump-by-user"),
        Grouping::Creator => w.text("dump-by-creator"),
    }
}

fn field(ui: &mut Ui, text: &mut String, hint: &str) {
    let wide = ui.available_width().clamp(80.0, 220.0);
    let response = ui.add(
        TextEdit::singleline(text)
            .hint_text(hint)
            .desired_width(wide),
    );
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, hint));
    response.on_hover_text(hint);
}
