//! The look: every colour and measure has a name here and is nowhere else written as a number.
//!
//! Colours of series and severities are told apart by lightness as well as by hue, so that they hold for colour-blind readers and
//! in print; the tests hold it by simulation.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one place where colours are written as numbers"
)]

use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, Visuals};

use crate::model::finding::Severity;
use crate::session::settings::Theme;

#[cfg(test)]
mod tests;

/// Colours and measures of one theme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Which theme.
    pub theme: Theme,
    /// Behind everything.
    pub ground: Color32,
    /// Of panels beside the timeline.
    pub panel: Color32,
    /// Of what lies on a panel: fields, cards, the picked row.
    pub raised: Color32,
    /// Under the pointer.
    pub hover: Color32,
    /// Of the picked thing.
    pub selected: Color32,
    /// Lines between panels and lanes.
    pub line: Color32,
    /// Grid of lanes: fainter than lines.
    pub grid: Color32,
    /// Text.
    pub text: Color32,
    /// Text of second rank.
    pub text_dim: Color32,
    /// Text that only labels; still 4.5 to 1.
    pub text_faint: Color32,
    /// What acts: links, the focus ring, the primary button.
    pub accent: Color32,
    /// Text on `accent`.
    pub on_accent: Color32,
    /// The cursor that reads all lanes.
    pub cursor: Color32,
    /// What the picked finding points at.
    pub highlight: Color32,
    /// A wash over the range of the picked finding.
    pub wash: Color32,
    /// A wash over the measured range.
    pub measure: Color32,
    /// Hatching where data are missing.
    pub gap: Color32,
    /// Something is wrong.
    pub error: Color32,
    /// Something needs care.
    pub warning: Color32,
    /// Something is well.
    pub good: Color32,
    /// Severity, from info to critical.
    pub severity: [Color32; 4],
    /// Series, in order.
    pub series: [Color32; 8],
    /// Of everything beyond the last series colour.
    pub others: Color32,
    /// Less in the second of two things that are compared. Text can be read on it.
    pub diff_less: Color32,
    /// More in the second of two things that are compared. Text can be read on it.
    pub diff_more: Color32,
    /// Equal in both. Text can be read on it.
    pub diff_same: Color32,
}

/// Space between things that belong together, in points.
pub const GAP: f32 = 6.0;
/// Space around a group.
pub const PAD: f32 = 10.0;
/// Height of a row of a list.
pub const ROW: f32 = 24.0;
/// Height of the bar on top.
pub const BAR: f32 = 34.0;
/// Height of the bar at the bottom.
pub const STATUS: f32 = 24.0;
/// Width of the labels left of the lanes.
pub const GUTTER: f32 = 188.0;
/// Size of ordinary text, in points.
pub const BODY: f32 = 13.0;
/// Size of small text.
pub const SMALL: f32 = 11.5;
/// Size of titles.
pub const TITLE: f32 = 15.5;

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// Premultiplied by hand: `from_rgba_unmultiplied` is not const.
const fn washed(hex: u32, alpha: u8) -> Color32 {
    let a = alpha as u32;
    Color32::from_rgba_premultiplied(
        ((hex >> 16 & 0xff) * a / 255) as u8,
        ((hex >> 8 & 0xff) * a / 255) as u8,
        ((hex & 0xff) * a / 255) as u8,
        alpha,
    )
}

impl Tokens {
    /// Those of a theme.
    pub fn of(theme: Theme) -> Self {
        match theme {
            Theme::Dark => dark(),
            Theme::Light => light(),
            Theme::Contrast => contrast(),
        }
    }

    /// The colour of a severity.
    pub const fn severity(&self, severity: Severity) -> Color32 {
        self.severity[severity as usize]
    }

    /// The colour of the series at that place in its lane.
    pub fn series(&self, at: usize) -> Color32 {
        self.series.get(at).copied().unwrap_or(self.others)
    }

    /// From −1 (all less) over 0 (equal) to 1 (all more).
    pub fn diff(&self, lean: f32) -> Color32 {
        let end = if lean < 0.0 {
            self.diff_less
        } else {
            self.diff_more
        };
        self.diff_same.lerp_to_gamma(end, lean.abs().min(1.0))
    }

    /// A quiet fill of one kind of many: the hue of a series on the ground, so that text can be read on it.
    pub fn fill(&self, at: usize) -> Color32 {
        // The last of the series is a grey, which is for what has no kind of its own.
        let hues = self.series.split_last().map_or(&[][..], |(_, hues)| hues);
        let hue = hues.get(at % hues.len().max(1)).unwrap_or(&self.others);
        self.panel.lerp_to_gamma(*hue, 0.3)
    }

    /// Whether the ground is dark.
    pub const fn is_dark(&self) -> bool {
        !matches!(self.theme, Theme::Light)
    }

    /// Gives egui this look.
    pub fn apply(&self, ctx: &egui::Context) {
        ctx.set_theme(if self.is_dark() {
            egui::ThemePreference::Dark
        } else {
            egui::ThemePreference::Light
        });
        let visuals = self.visuals();
        ctx.all_styles_mut(|style| {
            style.visuals = visuals.clone();
            style.spacing.item_spacing = egui::vec2(GAP, 4.0);
            style.spacing.button_padding = egui::vec2(8.0, 3.0);
            style.spacing.interact_size.y = ROW;
            style.spacing.window_margin = Margin::same(12);
            style.spacing.menu_margin = Margin::same(6);
            style.spacing.scroll = egui::style::ScrollStyle::thin();
            style.interaction.tooltip_delay = 0.4;
            for (text, size, family) in [
                (TextStyle::Body, BODY, FontFamily::Proportional),
                (TextStyle::Button, BODY, FontFamily::Proportional),
                (TextStyle::Small, SMALL, FontFamily::Proportional),
                (TextStyle::Heading, TITLE, FontFamily::Proportional),
                (TextStyle::Monospace, 12.0, FontFamily::Monospace),
            ] {
                style.text_styles.insert(text, FontId::new(size, family));
            }
        });
    }

    fn visuals(&self) -> Visuals {
        let mut v = if self.is_dark() {
            Visuals::dark()
        } else {
            Visuals::light()
        };
        v.override_text_color = None;
        v.panel_fill = self.panel;
        v.window_fill = self.raised;
        v.window_stroke = Stroke::new(1.0, self.line);
        v.window_corner_radius = CornerRadius::same(6);
        v.menu_corner_radius = CornerRadius::same(6);
        v.extreme_bg_color = self.ground;
        v.faint_bg_color = self.hover;
        v.code_bg_color = self.raised;
        v.hyperlink_color = self.accent;
        v.warn_fg_color = self.warning;
        v.error_fg_color = self.error;
        v.selection.bg_fill = self.selected;
        v.selection.stroke = Stroke::new(1.0, self.text);
        v.widgets.noninteractive.bg_stroke = Stroke::new(1.0, self.line);
        v.widgets.noninteractive.fg_stroke = Stroke::new(1.0, self.text);
        v.weak_text_color = Some(self.text_dim);
        for (widget, fill) in [
            (&mut v.widgets.inactive, self.raised),
            (&mut v.widgets.hovered, self.hover),
            (&mut v.widgets.active, self.selected),
            (&mut v.widgets.open, self.hover),
        ] {
            widget.bg_fill = fill;
            widget.weak_bg_fill = fill;
            widget.fg_stroke = Stroke::new(1.0, self.text);
            widget.bg_stroke = Stroke::new(1.0, self.line);
            widget.corner_radius = CornerRadius::same(4);
            widget.expansion = 0.0;
        }
        v.widgets.hovered.bg_stroke = Stroke::new(1.0, self.text_faint);
        v.widgets.active.bg_stroke = Stroke::new(1.5, self.accent);
        v
    }
}

fn dark() -> Tokens {
    Tokens {
        theme: Theme::Dark,
        ground: rgb(0x0f_1216),
        panel: rgb(0x16_1a20),
        raised: rgb(0x20_262e),
        hover: rgb(0x2a_313b),
        selected: rgb(0x26_4261),
        line: rgb(0x2e_3641),
        grid: rgb(0x1e_242b),
        text: rgb(0xe6_e9ee),
        text_dim: rgb(0xae_b6c2),
        text_faint: rgb(0x8a_94a3),
        accent: rgb(0x6c_b2ff),
        on_accent: rgb(0x08_121d),
        cursor: rgb(0xf2_f5f9),
        highlight: rgb(0xff_d166),
        wash: washed(0xff_d166, 22),
        measure: washed(0x6c_b2ff, 36),
        gap: rgb(0x5a_4650),
        error: rgb(0xff_7a6b),
        warning: rgb(0xf2_b84b),
        good: rgb(0x5c_c99a),
        severity: [
            rgb(0x8f_a3ba),
            rgb(0xed_d56f),
            rgb(0xf3_9332),
            rgb(0xff_5e7a),
        ],
        series: [
            rgb(0x68_b2eb),
            rgb(0xf1_a93a),
            rgb(0x47_d0a1),
            rgb(0xdf_7eae),
            rgb(0xf1_e562),
            rgb(0x7d_88ec),
            rgb(0xe2_6a3c),
            rgb(0xb9_c9db),
        ],
        others: rgb(0x6a_7482),
        diff_less: rgb(0x1f_6b9e),
        diff_more: rgb(0xa8_4a16),
        diff_same: rgb(0x34_3c47),
    }
}

fn light() -> Tokens {
    Tokens {
        theme: Theme::Light,
        ground: rgb(0xff_ffff),
        panel: rgb(0xf5_f7f9),
        raised: rgb(0xff_ffff),
        hover: rgb(0xe9_edf2),
        selected: rgb(0xcf_e3fa),
        line: rgb(0xcd_d4dd),
        grid: rgb(0xea_eef2),
        text: rgb(0x17_1c23),
        text_dim: rgb(0x47_515e),
        text_faint: rgb(0x5f_6b79),
        accent: rgb(0x0b_5cb5),
        on_accent: rgb(0xff_ffff),
        cursor: rgb(0x17_1c23),
        highlight: rgb(0xa8_6500),
        wash: washed(0xe0_9a00, 30),
        measure: washed(0x0b_5cb5, 28),
        gap: rgb(0xd9_c4c9),
        error: rgb(0xb8_2318),
        warning: rgb(0x8f_5b00),
        good: rgb(0x0f_7048),
        severity: [
            rgb(0x5e_6f82),
            rgb(0x72_5e00),
            rgb(0xdf_711d),
            rgb(0xb7_1440),
        ],
        series: [
            rgb(0x23_62aa),
            rgb(0xbc_6c05),
            rgb(0x18_805b),
            rgb(0xaf_3678),
            rgb(0x86_7c37),
            rgb(0x5c_48c2),
            rgb(0x9d_3811),
            rgb(0x65_7a9c),
        ],
        others: rgb(0x8b_95a1),
        diff_less: rgb(0x4f_94c9),
        diff_more: rgb(0xd3_7a45),
        diff_same: rgb(0xdd_e2e8),
    }
}

fn contrast() -> Tokens {
    Tokens {
        theme: Theme::Contrast,
        ground: rgb(0x00_0000),
        panel: rgb(0x00_0000),
        raised: rgb(0x12_1212),
        hover: rgb(0x2b_2b2b),
        selected: rgb(0x00_3f8a),
        line: rgb(0x8c_8c8c),
        grid: rgb(0x33_3333),
        text: rgb(0xff_ffff),
        text_dim: rgb(0xe4_e4e4),
        text_faint: rgb(0xcf_cfcf),
        accent: rgb(0x7f_d0ff),
        on_accent: rgb(0x00_0000),
        cursor: rgb(0xff_ffff),
        highlight: rgb(0xff_e45e),
        wash: washed(0xff_e45e, 40),
        measure: washed(0x7f_d0ff, 60),
        gap: rgb(0x8a_5a68),
        error: rgb(0xff_8f80),
        warning: rgb(0xff_cf5c),
        good: rgb(0x6f_f0b5),
        severity: [
            rgb(0xc5_d3e1),
            rgb(0xff_ec80),
            rgb(0xf9_a746),
            rgb(0xff_6f90),
        ],
        series: [
            rgb(0x70_bff0),
            rgb(0xf5_b142),
            rgb(0x5c_e4b1),
            rgb(0xef_8cbd),
            rgb(0xff_f36b),
            rgb(0x90_a4ff),
            rgb(0xfd_7c51),
            rgb(0xe9_f2f8),
        ],
        others: rgb(0xa0_a0a0),
        diff_less: rgb(0x10_6cb0),
        diff_more: rgb(0xb0_4e10),
        diff_same: rgb(0x3a_3a3a),
    }
}

/// Gives egui the fonts: Ubuntu Light for words, Hack for code and for the arrows and boxes that Ubuntu lacks.
pub fn fonts(ctx: &egui::Context) {
    let mut fonts = egui::FontDefinitions::default();
    if let Some(proportional) = fonts.families.get_mut(&FontFamily::Proportional) {
        proportional.push("Hack".to_owned());
    }
    ctx.set_fonts(fonts);
}
