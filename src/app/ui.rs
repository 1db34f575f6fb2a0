//! Where the panels stand: a bar on top, causes at the left, the timeline, a drawer below it, a status line.

use egui::{CentralPanel, Margin, Panel, Ui};

use crate::app::{App, Panels};
use crate::base::clock::Stopwatch;
use crate::session::view::Drawer;
use crate::ui::frame::Frame;
use crate::ui::panels::{self, shell};
use crate::ui::request::{Request, Setting};
use crate::ui::theme;

/// The list of causes is never narrower than a title of three words, nor wider than the timeline.
const SIDE: [f32; 2] = [260.0, 720.0];
/// The drawer keeps a few rows below its head, and leaves a few lanes above it.
const DRAWER_MIN: f32 = 140.0;
const LANES_MIN: f32 = 120.0;

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.frame_clock = Stopwatch::start();
        self.drain(ctx);
        self.open_dropped(ctx);
        self.work_replay(ctx);
        self.follow_links();
        let now = ctx.input(|i| i.time);
        self.messages.retain(|told| told.until > now);
        self.autosave(ctx);
        self.measure_frame();
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        let is_first_pass = ui.current_pass_index() == 0;
        if is_first_pass {
            self.frames += 1;
        }
        let mut requests = Vec::new();
        self.shortcuts(ui, &mut requests);
        let replay = self.replay();
        let mut frame = Frame {
            // The name of a folder may say what is not known yet.
            name: match replay {
                Some(_) => self.words.text("replay-name"),
                None => &self.name,
            },
            incident: self.incident.as_ref(),
            view: &self.view,
            notes: &self.notes,
            settings: &self.settings,
            highlight: &self.highlight,
            links: self.linked.links(self.incident.as_ref()),
            progress: self.progress.as_ref(),
            tokens: &self.tokens,
            words: self.words,
            zone: &self.zone,
            second_zone: self.second_zone.as_ref(),
            sample_places: &self.sample_places,
            pool: &self.pool,
            can_undo: self.edits.can_undo(),
            can_redo: self.edits.can_redo(),
            replay,
            requests: &mut requests,
        };
        let bar = shell::Bar {
            can_undo: self.edits.can_undo(),
            can_redo: self.edits.can_redo(),
        };
        if frame.incident.is_none() {
            let panels = &mut self.panels;
            CentralPanel::default().show(ui, |ui| panels.start.ui(ui, &mut frame));
        } else {
            let status = shell::Status {
                longest_frame_ms: self
                    .keeper
                    .as_ref()
                    .and(self.longest_frame_ms)
                    .filter(|_| cfg!(debug_assertions)),
            };
            incident(ui, &mut frame, &mut self.panels, bar, status);
        }
        self.panels.files.ui(ui, &mut frame);
        self.panels.palette.ui(ui, &mut frame);
        if let Some(review) = &self.review {
            panels::replay::review::ui(ui, &mut frame, review);
        }
        panels::start::drop::ui(ui, &frame);
        let told: Vec<&str> = self.messages.iter().map(|m| m.text.as_str()).collect();
        shell::told(ui, &frame, &told);
        self.was_typing = ui.text_edit_focused();
        for request in requests {
            self.carry_out(ui, request);
        }
        self.measure_frame();
        if is_first_pass {
            self.log_frame();
        }
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        self.save_at_exit();
    }
}

fn incident(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    panels: &mut Panels,
    bar: shell::Bar,
    status: shell::Status,
) {
    let flat = egui::Frame::new()
        .fill(frame.tokens.panel)
        .inner_margin(Margin::symmetric(8, 0));
    Panel::top("bar")
        .exact_size(theme::BAR)
        .frame(flat)
        .show(ui, |ui| bar.ui(ui, frame));
    if let Some(now) = frame.replay {
        Panel::top("replay")
            .exact_size(panels::replay::HEIGHT)
            .frame(flat)
            .show(ui, |ui| panels::replay::ui(ui, frame, now));
    }
    Panel::bottom("status")
        .exact_size(theme::STATUS)
        .frame(flat)
        .show(ui, |ui| shell::status(ui, frame, status));
    let side = Panel::left("side")
        .resizable(true)
        .default_size(frame.settings.side_width)
        .size_range(SIDE[0]..=SIDE[1].min(ui.available_width() * 0.5).max(SIDE[0]))
        .frame(flat.inner_margin(Margin::same(0)))
        .show(ui, |ui| panels.findings.ui(ui, frame));
    keep_size(
        ui,
        frame,
        side.response.rect.width(),
        frame.settings.side_width,
        Setting::SideWidth,
    );
    if let Some(drawer) = frame.view.drawer {
        show_drawer(ui, frame, panels, drawer);
    } else {
        // Only its tabs: they stand where they stand when it is open, less its height.
        let look = flat.inner_margin(Margin::symmetric(8, 3));
        Panel::bottom("drawer-tabs")
            .exact_size(theme::ROW + 8.0)
            .frame(look)
            .show(ui, |ui| shell::drawer_head(ui, frame));
    }
    let ground = egui::Frame::new().fill(frame.tokens.ground);
    CentralPanel::default().frame(ground).show(ui, |ui| {
        if !frame.view.is_drawer_full {
            panels.timeline.ui(ui, frame);
        }
    });
}

fn show_drawer(ui: &mut Ui, frame: &mut Frame<'_>, panels: &mut Panels, drawer: Drawer) {
    let look = egui::Frame::new()
        .fill(frame.tokens.panel)
        .inner_margin(Margin::symmetric(8, 4));
    let room = ui.available_height();
    let panel = if frame.view.is_drawer_full {
        Panel::bottom("drawer-full").exact_size(room)
    } else {
        let most = (room - LANES_MIN).max(DRAWER_MIN);
        Panel::bottom("drawer")
            .resizable(true)
            .default_size(frame.settings.drawer_height)
            .size_range(DRAWER_MIN..=most)
    };
    let shown = panel.frame(look).show(ui, |ui| {
        shell::drawer_head(ui, frame);
        // Each view has the same room, whatever it holds: the lanes above must not jump from tab to tab.
        let room = ui.available_rect_before_wrap();
        let mut body = ui.new_child(egui::UiBuilder::new().max_rect(room));
        body.shrink_clip_rect(room);
        match drawer {
            Drawer::Trace => panels.trace.ui(&mut body, frame),
            Drawer::Dump => panels.dump.ui(&mut body, frame),
            Drawer::Table => panels.table.ui(&mut body, frame),
            Drawer::Compare => panels.compare.ui(&mut body, frame),
            Drawer::Notes => panels.notes.ui(&mut body, frame),
            Drawer::Inputs => panels.inputs.ui(&mut body, frame),
        }
        ui.advance_cursor_after_rect(room);
    });
    if !frame.view.is_drawer_full {
        let height = shown.response.rect.height();
        keep_size(
            ui,
            frame,
            height,
            frame.settings.drawer_height,
            Setting::DrawerHeight,
        );
    }
}

/// Keeps a size that a person dragged, once the drag is over.
fn keep_size(ui: &Ui, frame: &mut Frame<'_>, now: f32, known: f32, setting: fn(f32) -> Setting) {
    if (now - known).abs() > 1.0 && ui.input(|i| i.pointer.any_released()) {
        frame.ask(Request::Set(setting(now)));
    }
}
