//! The real binary in a real window: Xvfb for a screen, xdotool for hands. Skipped with a word where either is missing; `scripts/test`
//! installs both.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A screen of its own on a free number; ends with its owner.
struct Screen {
    server: Child,
    name: String,
}

impl Screen {
    /// `None` where Xvfb or xdotool is missing.
    fn new() -> Option<Self> {
        let has = |tool: &str| {
            Command::new(tool)
                .arg("-version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .and_then(|mut c| c.wait())
                .is_ok()
        };
        if !has("xdotool") {
            eprintln!("skipped: xdotool is not installed");
            return None;
        }
        let server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1280x800x24",
                "-nolisten",
                "tcp",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            eprintln!("skipped: Xvfb is not installed");
            return None;
        };
        let mut number = String::new();
        let mut output = server.stdout.take().unwrap();
        let mut byte = [0];
        while output.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
            number.push(char::from(byte[0]));
        }
        Some(Self {
            server,
            name: format!(":{number}"),
        })
    }

    fn tool(&self, args: &[&str]) -> Option<String> {
        let output = Command::new("xdotool")
            .args(args)
            .env("DISPLAY", &self.name)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    }

    fn key(&self, key: &str) {
        self.tool(&["key", "--clearmodifiers", key]).unwrap();
        std::thread::sleep(Duration::from_millis(150));
    }

    /// What a key opens is made beside the window; a person waits as long.
    fn wait() {
        std::thread::sleep(Duration::from_millis(1500));
    }

    fn write(&self, text: &str) {
        self.tool(&["type", "--delay", "15", text]).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

/// The program in its window.
struct Window {
    program: Child,
    frames: PathBuf,
}

impl Window {
    fn open(screen: &Screen, state: &Path, input: &str) -> Self {
        let frames = state.join("frames.log");
        let program = Command::new(env!("CARGO_BIN_EXE_tailscope"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(input))
            .env("DISPLAY", &screen.name)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_STATE_HOME", state)
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("TAILSCOPE_FRAME_LOG", &frames)
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut window = Self { program, frames };
        window.until("its window", || {
            screen.tool(&["search", "--onlyvisible", "--name", "Tailscope"])
        });
        let id = screen
            .tool(&["search", "--onlyvisible", "--name", "Tailscope"])
            .unwrap();
        screen
            .tool(&["windowfocus", id.lines().next().unwrap()])
            .unwrap();
        window
    }

    /// Waits until `what` is there.
    fn until<T>(&mut self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            if let Some(found) = look() {
                return found;
            }
            let ended = self.program.try_wait().unwrap();
            assert!(
                ended.is_none(),
                "the program ended ({ended:?}) before {what}"
            );
            assert!(Instant::now() < end, "no {what} after a minute");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn frames(&self) -> usize {
        std::fs::read_to_string(&self.frames).map_or(0, |t| t.lines().count())
    }

    /// Waits until no frame is drawn for a second.
    fn rest(&mut self) {
        let (mut last, mut quiet) = (0, 0);
        let path = self.frames.clone();
        self.until("rest", || {
            let now = std::fs::read_to_string(&path).map_or(0, |t| t.lines().count());
            quiet = if now == last && now > 0 { quiet + 1 } else { 0 };
            last = now;
            (quiet >= 10).then_some(())
        });
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.program.kill().ok();
        self.program.wait().ok();
    }
}

#[test]
fn the_window_opens_and_an_idle_one_draws_nothing() {
    let Some(screen) = Screen::new() else { return };
    let state = tempfile::tempdir().unwrap();
    let mut window = Window::open(&screen, state.path(), "fixtures/snat-connect-ladder/input");
    window.rest();
    let before = window.frames();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(window.frames(), before, "an idle window draws");
    screen.key("f");
    let frames = window.frames.clone();
    window.until("a frame for a key", || {
        let drawn = std::fs::read_to_string(&frames).map_or(0, |t| t.lines().count());
        (drawn > before).then_some(())
    });
}

#[test]
fn by_keys_alone_from_the_window_to_an_exported_timeline() {
    let Some(screen) = Screen::new() else { return };
    let state = tempfile::tempdir().unwrap();
    let mut window = Window::open(&screen, state.path(), "fixtures/ingress-metrics-lock/input");
    window.rest();
    // The cause is picked and judged, an event is put at the cursor, and the timeline is written. While a text field has the focus
    // its cursor blinks, so there the hands just wait.
    screen.key("j");
    window.rest();
    screen.key("ctrl+k");
    Screen::wait();
    screen.write("confirm");
    Screen::wait();
    screen.key("Return");
    window.rest();
    screen.key("e");
    Screen::wait();
    screen.write("paged the platform team");
    screen.key("Return");
    Screen::wait();
    screen.key("Escape");
    screen.key("Escape");
    screen.key("ctrl+e");
    Screen::wait();
    let written = state.path().join("timeline.md");
    screen.key("ctrl+a");
    screen.write(&written.display().to_string());
    screen.key("Return");
    let text = window.until("the exported timeline", || {
        std::fs::read_to_string(&written).ok()
    });
    assert!(text.contains("paged the platform team"), "{text}");
    assert!(text.contains("Lock contention"), "{text}");
    // What was said is found again at the next start: the window saves as it is closed.
    Screen::wait();
    screen.key("Escape");
    screen.key("ctrl+q");
    let ended = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        window.program.try_wait().unwrap()
    });
    assert!(
        ended.is_some_and(|e| e.success()),
        "it did not end well: {ended:?}"
    );
    let mut again = Window::open(&screen, state.path(), "fixtures/ingress-metrics-lock/input");
    again.rest();
    screen.key("ctrl+e");
    Screen::wait();
    let second = state.path().join("again.md");
    screen.key("ctrl+a");
    screen.write(&second.display().to_string());
    screen.key("Return");
    let text = again.until("the second export", || {
        std::fs::read_to_string(&second).ok()
    });
    assert!(text.contains("paged the platform team"), "{text}");
}

#[test]
fn a_window_that_the_display_takes_away_ends_the_program_with_words() {
    let Some(screen) = Screen::new() else { return };
    let state = tempfile::tempdir().unwrap();
    let mut window = Window::open(&screen, state.path(), "fixtures/snat-connect-ladder/input");
    window.rest();
    let id = screen.tool(&["search", "--onlyvisible", "--name", "Tailscope"]);
    screen.tool(&["windowclose", id.unwrap().lines().next().unwrap()]);
    let end = Instant::now() + Duration::from_mins(1);
    let ended = loop {
        // A window that is at rest learns of it with the next thing that happens to it.
        screen.key("f");
        if let Some(ended) = window.program.try_wait().unwrap() {
            break ended;
        }
        assert!(Instant::now() < end, "it goes on without a window");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(
        matches!(ended.code(), Some(0 | 6)),
        "{ended:?} is no way to end"
    );
}
