//! P2 of `design.md` §6: one frame of the real window while the time moves, on the CPU alone: `logic`, `ui` and tessellation.
//!
//! An incident is written to a folder, opened through the real road, and panned and zoomed a frame at a time. Three cases: 100 series
//! of 11,000 samples in one lane, one series of 10 million, a million requests as dots. Given a word, only the cases that hold it run.
//! With `--bench` (as `cargo bench` does it) the sizes are whole and times are printed; without, everything is tiny and runs once.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench ends where something is wrong, and prints what it measured"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use egui::{Pos2, RawInput, Rect, vec2};
use tailscope::app::{App, Start};
use tailscope::base::time::TimeRange;
use tailscope::engine::load::Opening;
use tailscope::session::view::{LaneRow, LaneSpec};
use tailscope::ui::lanes;
use tailscope::ui::request::{LaneEdit, Request};

/// When the data begin, in seconds since the epoch.
const ORIGIN: i64 = 1_790_000_000;
/// Frames that are measured for each way of moving.
const FRAMES: usize = 240;

/// How much there is.
#[derive(Debug, Clone, Copy)]
struct Size {
    series: usize,
    samples: usize,
    long: usize,
    dots: usize,
    frames: usize,
}

const WHOLE: Size = Size {
    series: 100,
    samples: 11_000,
    long: 10_000_000,
    dots: 1_000_000,
    frames: FRAMES,
};

const TINY: Size = Size {
    series: 4,
    samples: 200,
    long: 3_000,
    dots: 500,
    frames: 4,
};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_measured = words.iter().any(|w| w == "--bench");
    let size = if is_measured { WHOLE } else { TINY };
    let only: Vec<&String> = words.iter().filter(|w| !w.starts_with('-')).collect();
    let cases: [(&str, f64, f64, fn(Size, &Path)); 3] = [
        ("100 series x 11,000", 16.0, 8.0, write_many),
        ("1 series x 10 M", 8.0, 4.0, write_long),
        ("1 M dots", 16.0, 8.0, write_dots),
    ];
    for (name, floor, aim, write) in cases {
        if !only.is_empty() && !only.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        write(size, folder.path());
        let mut window = Window::open(folder.path());
        window.show_one_lane(name);
        for (way, moving) in [
            ("pan", Way::Pan),
            ("zoom", Way::Zoom),
            ("still", Way::Still),
        ] {
            let times = window.run(moving, size.frames);
            if is_measured {
                let at =
                    |q: f64| times[((times.len() - 1) as f64 * q) as usize].as_secs_f64() * 1e3;
                println!(
                    "{name:<20} {way:<5} p50 {:6.2} ms  p95 {:6.2} ms  max {:6.2} ms  (floor {floor} ms, aim {aim} ms)",
                    at(0.5),
                    at(0.95),
                    at(1.0)
                );
            }
        }
    }
}

/// How the time moves.
#[derive(Debug, Clone, Copy)]
enum Way {
    Pan,
    Zoom,
    Still,
}

/// The real window without a display.
struct Window {
    ctx: egui::Context,
    frame: eframe::Frame,
    app: App,
    time: f64,
}

impl Window {
    fn open(folder: &Path) -> Self {
        let ctx = egui::Context::default();
        let start = Start {
            opening: Opening {
                paths: vec![folder.to_owned()],
                ..Opening::default()
            },
            ..Start::default()
        };
        let app = App::new(&ctx, start).unwrap();
        let frame = eframe::Frame::_new_kittest();
        let mut window = Self {
            ctx,
            frame,
            app,
            time: 0.0,
        };
        window.settle();
        window
    }

    /// One frame: what a person's machine does on its CPU.
    fn step(&mut self) -> Duration {
        self.time += 1.0 / 60.0;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 800.0))),
            time: Some(self.time),
            ..RawInput::default()
        };
        let (app, frame) = (&mut self.app, &mut self.frame);
        let began = now();
        let output = self.ctx.run_ui(input, |ui| {
            let ctx = ui.ctx().clone();
            eframe::App::logic(app, &ctx, frame);
            eframe::App::ui(app, ui, frame);
        });
        let mut output = output;
        let shapes = std::mem::take(&mut output.shapes);
        let meshes = self.ctx.tessellate(shapes, output.pixels_per_point);
        let took = began.elapsed();
        std::hint::black_box(meshes);
        output.drop_without_applying_deltas();
        took
    }

    fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < 5 {
            self.step();
            if self.app.is_settled() {
                quiet += 1;
            } else {
                quiet = 0;
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Leaves one lane, as tall as the window allows.
    fn show_one_lane(&mut self, name: &str) {
        let incident = self.app.incident().unwrap().clone();
        let spec = if name.contains("dots") {
            let offers = lanes::by_id("scatter").unwrap().offers(&incident);
            offers.first().unwrap().spec.clone()
        } else {
            let all = incident.snapshot().series.iter();
            LaneSpec {
                kind: "metric".to_owned(),
                key: "load".to_owned(),
                series: all.map(|s| s.selector()).collect(),
            }
        };
        let mut row = LaneRow::new(spec);
        row.height = Some(560);
        let ctx = self.ctx.clone();
        self.app.ask(&ctx, Request::Lanes(LaneEdit::All(vec![row])));
        self.app.ask(&ctx, Request::Range(incident.document.window));
        self.settle();
    }

    /// Moves a frame at a time and gives the sorted times.
    fn run(&mut self, way: Way, frames: usize) -> Vec<Duration> {
        let window = self.app.incident().unwrap().document.window;
        let ctx = self.ctx.clone();
        self.app.ask(&ctx, Request::Range(window));
        self.settle();
        let mut times = Vec::with_capacity(frames);
        for k in 0..frames {
            // There and back, so that all of it is seen.
            let share = (k as f64 / frames as f64 * std::f64::consts::TAU).sin();
            let whole = window.nanos() as f64;
            let range = match way {
                Way::Still => window,
                Way::Pan => {
                    let by = (share * 0.3 * whole) as i64;
                    TimeRange::new(window.start.plus_nanos(by), window.end.plus_nanos(by))
                }
                Way::Zoom => {
                    let cut = ((0.5 + share * 0.48) * 0.5 * whole) as i64;
                    TimeRange::new(window.start.plus_nanos(cut), window.end.plus_nanos(-cut))
                }
            };
            if !matches!(way, Way::Still) {
                self.app.ask(&ctx, Request::Glide(range));
            }
            times.push(self.step());
        }
        times.sort();
        times
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures")]
fn now() -> Instant {
    Instant::now()
}

/// A walk by a linear congruential generator: no two alike, the same on every machine.
struct Walk(u64, f64);

impl Walk {
    fn share(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }

    fn next(&mut self) -> f64 {
        self.1 += self.share() - 0.5;
        self.1
    }
}

/// An answer of Prometheus with stored samples.
fn write_matrix(folder: &Path, series: usize, samples: usize, step_s: i64) {
    let mut text = String::with_capacity(series * samples * 26);
    text.push_str(r#"{"status":"success","data":{"resultType":"matrix","result":["#);
    for n in 0..series {
        let comma = if n == 0 { "" } else { "," };
        write!(
            text,
            r#"{comma}{{"metric":{{"__name__":"load","instance":"i{n}"}},"values":["#
        )
        .unwrap();
        let mut walk = Walk(n as u64 + 1, n as f64 * 10.0);
        for k in 0..samples {
            let comma = if k == 0 { "" } else { "," };
            let t = ORIGIN + k as i64 * step_s;
            write!(text, r#"{comma}[{t},"{:.3}"]"#, walk.next()).unwrap();
        }
        text.push_str("]}");
    }
    text.push_str("]}}");
    let end = ORIGIN + samples as i64 * step_s;
    let span = samples as i64 * step_s;
    let asked = format!(
        r#"{{"load.json":{{"method":"GET","path":"/api/v1/query?query=load[{span}s]&time={end}","http":200,"at":{end}}}}}"#
    );
    put(&folder.join("load.json"), text.as_bytes());
    put(&folder.join("requests.json"), asked.as_bytes());
}

fn write_many(size: Size, folder: &Path) {
    write_matrix(folder, size.series, size.samples, 15);
}

fn write_long(size: Size, folder: &Path) {
    write_matrix(folder, 1, size.long, 1);
}

/// An access log in JSON lines.
fn write_dots(size: Size, folder: &Path) {
    let mut walk = Walk(9, 0.0);
    let mut text = String::with_capacity(size.dots * 200);
    for k in 0..size.dots {
        let t = ORIGIN as f64 + k as f64 * 0.01;
        // Log-normal by a sum of shares, now and then far out.
        let bulk: f64 = (0..4).map(|_| walk.share()).sum::<f64>() - 2.0;
        let far = if walk.share() < 0.002 { 20.0 } else { 1.0 };
        let secs = 0.05 * (bulk * 1.5).exp() * far;
        let status = if walk.share() < 0.01 { 502 } else { 200 };
        writeln!(
            text,
            r#"{{"msec":{t:.3},"remote_addr":"10.0.0.1","method":"GET","uri":"/item","status":{status},"bytes":83,"request_time":{secs:.3},"upstream":"item","upstream_addr":"10.0.0.2:80","upstream_status":"{status}","upstream_connect_time":"0.001","upstream_response_time":"{secs:.3}","request_id":"{k:032x}"}}"#
        )
        .unwrap();
    }
    put(&folder.join("gateway.access.json.log"), text.as_bytes());
}

fn put(path: &Path, bytes: &[u8]) {
    tailscope::base::fs::write_atomic(path, bytes).unwrap();
}
