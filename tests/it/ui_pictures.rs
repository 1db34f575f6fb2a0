//! Pictures of the window, held against those in `tests/snapshots`. `UPDATE_SNAPSHOTS=1` draws them anew; look at each before it is
//! committed.

use std::path::Path;

use egui_kittest::SnapshotOptions;
use tailscope::app::Start;
use tailscope::app::shot::{self, Shot};
use tailscope::engine::load::Opening;
use tailscope::session::settings::{Lang, Settings, Theme};
use tailscope::session::view::Drawer;
use tailscope::ui::request::Request;

const INGRESS: &str = "fixtures/ingress-metrics-lock/input";
const SNAT: &str = "fixtures/snat-connect-ladder/input";

/// One picture.
struct Picture {
    name: &'static str,
    input: Option<&'static str>,
    drawer: Option<Drawer>,
    theme: Theme,
    lang: Lang,
    is_picked: bool,
    is_full: bool,
}

const fn picture(name: &'static str, input: &'static str) -> Picture {
    Picture {
        name,
        input: Some(input),
        drawer: None,
        theme: Theme::Dark,
        lang: Lang::En,
        is_picked: true,
        is_full: false,
    }
}

impl Picture {
    const fn drawer(mut self, drawer: Drawer) -> Self {
        self.drawer = Some(drawer);
        self
    }

    const fn full(mut self, drawer: Drawer) -> Self {
        self.drawer = Some(drawer);
        self.is_full = true;
        self
    }

    const fn theme(mut self, theme: Theme) -> Self {
        self.theme = theme;
        self
    }

    const fn plain(mut self) -> Self {
        self.is_picked = false;
        self
    }
}

const PICTURES: &[Picture] = &[
    Picture {
        input: None,
        ..picture("start", SNAT)
    },
    picture("snat-timeline", SNAT),
    picture("snat-timeline-light", SNAT).theme(Theme::Light),
    picture("snat-opened", SNAT).plain(),
    picture("snat-trace", SNAT).drawer(Drawer::Trace),
    picture("snat-trace-full", SNAT)
        .full(Drawer::Trace)
        .theme(Theme::Light),
    picture("snat-table", SNAT).drawer(Drawer::Table),
    picture("snat-notes", SNAT)
        .full(Drawer::Notes)
        .theme(Theme::Light),
    picture("ingress-timeline", INGRESS),
    picture("ingress-timeline-light", INGRESS).theme(Theme::Light),
    picture("ingress-timeline-contrast", INGRESS).theme(Theme::Contrast),
    picture("ingress-dump", INGRESS).drawer(Drawer::Dump),
    picture("ingress-dump-full", INGRESS)
        .full(Drawer::Dump)
        .theme(Theme::Light),
    picture("ingress-compare", INGRESS).drawer(Drawer::Compare),
    picture("ingress-inputs", INGRESS).full(Drawer::Inputs),
];

fn hold(picture: &Picture) {
    if picture.drawer == Some(Drawer::Table) && cfg!(not(feature = "sql")) {
        eprintln!(
            "skipped: {} shows the SQL box, which this build has not",
            picture.name
        );
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut window = shot::harness(&Shot {
        start: Start {
            opening: Opening {
                paths: picture.input.iter().map(|p| root.join(p)).collect(),
                ..Opening::default()
            },
            settings: Settings {
                theme: picture.theme,
                lang: picture.lang,
                ..Settings::default()
            },
            ..Start::default()
        },
        size: [1280.0, 800.0],
        pixels_per_point: 1.0,
        drawer: None,
        select: None,
    });
    shot::settle(&mut window);
    let ctx = window.ctx.clone();
    if picture.input.is_some() && picture.is_picked {
        assert!(window.state_mut().pick(&ctx, "first"));
        shot::settle(&mut window);
    }
    if let Some(drawer) = picture.drawer {
        window.state_mut().open_drawer(&ctx, drawer);
        window
            .state_mut()
            .ask(&ctx, Request::DrawerFull(picture.is_full));
        shot::settle(&mut window);
    }
    // Mesa's versions round edges differently; a moved label changes thousands of pixels.
    let options = SnapshotOptions::default()
        .threshold(1.0)
        .max_failed_pixels(400);
    window.snapshot_options(picture.name, &options);
}

macro_rules! pictures {
    ($($test:ident $at:literal)*) => {
        $(#[test]
        fn $test() {
            hold(&PICTURES[$at]);
        })*

        #[test]
        fn every_picture_is_held() {
            assert_eq!(PICTURES.len(), [$($at),*].len());
        }
    };
}

pictures! {
    start 0 snat_timeline 1 snat_timeline_light 2 snat_opened 3 snat_trace 4 snat_trace_full 5 snat_table 6 snat_notes 7
    ingress_timeline 8 ingress_timeline_light 9 ingress_timeline_contrast 10 ingress_dump 11 ingress_dump_full 12
    ingress_compare 13 ingress_inputs 14
}
