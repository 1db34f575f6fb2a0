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
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"])
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
        let id = screen.tool(&["search", "--onlyvisible", "--name", "Tailscope"]).unwrap();
        screen.tool(&["windowfocus", id.lines().next().unwrap()]).unwrap();
        window
    }

    /// Waits until `what` is there.
    fn until<T>(&mut self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(found) = look() {
                return found;
            }
            let ended = self.program.try_wait().unwrap();
            assert!(ended.is_none(), "the program ended ({ended:?}) before {what}");
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
