//! Where the panels stand: a bar on top, causes at the left, the timeline, a drawer below it, a status line.

use crate::app::App;
use crate::session::view::Drawer;
use crate::ui::frame::Frame;
use crate::ui::panels;
use crate::ui::theme;

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.drain(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        if ui.current_pass_index() == 0 {
            self.frames += 1;
        }
        let mut requests = Vec::new();
        self.shortcuts(ui, &mut requests);
        let mut frame = Frame {
            incident: self.incident.as_ref(),
            view: &self.view,
            notes: &self.notes,
            settings: &self.settings,
            highlight: &self.highlight,
            progress: self.progress.as_ref(),
            tokens: &self.tokens,
            words: &self.words,
            zone: &self.zone,
            second_zone: self.second_zone.as_ref(),
            pool: &self.pool,
            can_undo: self.edits.can_undo(),
            can_redo: self.edits.can_redo(),
            requests: &mut requests,
        };
        let panels = &mut self.panels;
        if frame.incident.is_none() {
            egui::CentralPanel::default().show(ui, |ui| panels.start.ui(ui, &mut frame));
        } else {
            egui::Panel::top("bar")
                .exact_size(theme::BAR)
                .show(ui, |ui| {
                    ui.horizontal_centered(|ui| ui.label("Tailscope"));
                });
            egui::Panel::bottom("status")
                .exact_size(theme::STATUS)
                .show(ui, |ui| {
                    let n = frame.incident.map_or(0, |i| i.snapshot().inputs.len());
                    let text = frame.words.with("status-inputs", &[("n", n.into())]);
                    ui.label(text);
                });
            egui::Panel::left("side")
                .default_size(frame.settings.side_width)
                .show(ui, |ui| panels.findings.ui(ui, &mut frame));
            if let Some(drawer) = frame.view.drawer {
                egui::Panel::bottom("drawer")
                    .resizable(true)
                    .default_size(frame.settings.drawer_height)
                    .show(ui, |ui| match drawer {
                        Drawer::Trace => panels.trace.ui(ui, &mut frame),
                        Drawer::Dump => panels.dump.ui(ui, &mut frame),
                        Drawer::Table => panels.table.ui(ui, &mut frame),
                        Drawer::Compare => panels.compare.ui(ui, &mut frame),
                        Drawer::Notes => panels.notes.ui(ui, &mut frame),
                        Drawer::Inputs => panels.inputs.ui(ui, &mut frame),
                    });
            }
            egui::CentralPanel::default().show(ui, |ui| panels.timeline.ui(ui, &mut frame));
        }
        panels.files.ui(ui, &mut frame);
        panels.palette.ui(ui, &mut frame);
        panels::start::drop::ui(ui, &mut frame);
        self.was_typing = ui.text_edit_focused();
        for request in requests {
            self.carry_out(ui, request);
        }
    }
}
