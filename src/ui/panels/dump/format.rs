//! Values, times and names as this panel writes them.

use crate::base::time::{Timestamp, Zone};
use crate::base::units;
use crate::model::profile::{Profile, StackGroup, WaitClass};
use crate::store::Snapshot;
use crate::store::stacks::{encoding, process_key};
use crate::ui::words::Words;

/// A value in the unit of its profile.
pub(super) fn value(words: &Words, value: f64, unit: &str) -> String {
    match unit {
        "nanoseconds" | "ns" => words.units().ms(value / 1e6),
        "microseconds" | "us" => words.units().ms(value / 1e3),
        "objects" | "samples" | "count" => units::number(value),
        _ => words.units().with_unit(value, unit),
    }
}

/// A change of a value, with its sign.
pub(super) fn change(words: &Words, by: f64, unit: &str) -> String {
    sign(by, &value(words, by.abs(), unit))
}

/// A change of a share, in percentage points.
pub(super) fn points(words: &Words, by: f64) -> String {
    let percent = words.units().share_near(by.abs());
    let number = percent.trim_end_matches(words.units().percent.as_ref());
    sign(by, &words.with("dump-points", &[("n", number.into())]))
}

fn sign(by: f64, text: &str) -> String {
    match by.total_cmp(&0.0) {
        _ if by == 0.0 => "±0".to_owned(),
        std::cmp::Ordering::Greater => format!("+{text}"),
        _ => format!("-{text}"),
    }
}

/// The wall time of an instant, to the second.
pub(super) fn clock(zone: &Zone, t: Timestamp) -> String {
    zone.civil(t).clock(0)
}

/// When a profile was taken, or that nothing says it.
pub(super) fn taken(words: &Words, zone: &Zone, profile: &Profile) -> String {
    profile
        .t
        .map_or_else(|| words.text("dump-no-time").to_owned(), |t| clock(zone, t))
}

/// How a dump was written down, as those who ask for one say it.
pub(super) fn form<'a>(snapshot: &'a Snapshot, profile: &Profile) -> &'a str {
    match encoding(snapshot, profile) {
        "go-profile-text" => "debug=1",
        "go-stack-dump" => "debug=2",
        "pprof" => "protobuf",
        other => other,
    }
}

/// The process of a profile, or its folder, or that nothing names it.
pub(super) fn process<'a>(
    words: &'a Words,
    snapshot: &'a Snapshot,
    profile: &'a Profile,
) -> &'a str {
    match process_key(snapshot, profile).1 {
        "" => words.text("dump-no-process"),
        name => name,
    }
}

/// The path of the input of a profile.
pub(super) fn input<'a>(snapshot: &'a Snapshot, profile: &Profile) -> &'a str {
    snapshot
        .inputs
        .get(profile.input.0 as usize)
        .map_or("", |i| i.path.as_str())
}

/// A path without its folders.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// What is waited for, as the dump prints it, or else in words.
pub(super) fn state(words: &Words, state: &str, class: WaitClass) -> String {
    if state.is_empty() {
        class_word(words, class).to_owned()
    } else {
        state.to_owned()
    }
}

fn class_word(words: &Words, class: WaitClass) -> &str {
    match class {
        WaitClass::Lock => words.text("dump-class-lock"),
        WaitClass::LockHandoff => words.text("dump-class-handoff"),
        WaitClass::WaitGroup => words.text("dump-class-wait-group"),
        WaitClass::Condition => words.text("dump-class-condition"),
        WaitClass::Channel => words.text("dump-class-channel"),
        WaitClass::Select => words.text("dump-class-select"),
        WaitClass::Io => words.text("dump-class-io"),
        WaitClass::Syscall => words.text("dump-class-syscall"),
        WaitClass::Sleep => words.text("dump-class-sleep"),
        WaitClass::Pool => words.text("dump-class-pool"),
        WaitClass::Running => words.text("dump-class-running"),
        WaitClass::Other => words.text("dump-class-other"),
    }
}

/// A function in two parts: its package with the sign behind it, and its own name. What has no package has only a name.
pub(super) fn parts(function: &str) -> (&str, &str) {
    let plain = function.find('[').unwrap_or(function.len());
    let head = function.get(..plain).unwrap_or(function);
    let at = if let Some(at) = head.rfind("::") {
        at + 2
    } else {
        let from = head.rfind('/').map_or(0, |at| at + 1);
        let name = head.get(from..).unwrap_or(head);
        let is_java = from == 0 && !name.contains('(') && name.matches('.').count() > 2;
        let dot = if is_java {
            name.rfind('.').and_then(|at| name.get(..at)?.rfind('.'))
        } else {
            name.find('.')
        };
        dot.map_or(from, |at| from + at + 1)
    };
    function.split_at_checked(at).unwrap_or(("", function))
}

/// A function without the folders of its package: `prometheus.(*summary).Observe`.
pub(super) fn short(function: &str) -> &str {
    let (package, _) = parts(function);
    let from = package.rfind('/').map_or(0, |at| at + 1);
    function.get(from..).unwrap_or(function)
}

/// Where a frame stands in its file, the file without its folders.
pub(super) fn place(file: &str, line: u32) -> String {
    match (file_name(file), line) {
        ("", _) => String::new(),
        (name, 0) => name.to_owned(),
        (name, line) => format!("{name}:{line}"),
    }
}

/// A stack as text, as a dump prints it.
pub(super) fn stack(group: &StackGroup) -> String {
    let mut text = String::new();
    for frame in &group.frames {
        text.push_str(&frame.function);
        if !frame.file.is_empty() {
            text.push_str("\n\t");
            text.push_str(&frame.file);
            if frame.line > 0 {
                text.push(':');
                text.push_str(&frame.line.to_string());
            }
        }
        text.push('\n');
    }
    if !group.created_by.is_empty() {
        text.push_str("created by ");
        text.push_str(&group.created_by);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_fall_apart_into_package_and_name() {
        for (function, package, name) in [
            ("main.(*Ledger).Add", "main.", "(*Ledger).Add"),
            (
                "github.com/prometheus/client_golang/prometheus.(*summary).Observe",
                "github.com/prometheus/client_golang/prometheus.",
                "(*summary).Observe",
            ),
            (
                "gopkg.in/yaml%2ev3.Marshal",
                "gopkg.in/yaml%2ev3.",
                "Marshal",
            ),
            ("main.F[go.shape.int]", "main.", "F[go.shape.int]"),
            ("tokio::runtime::park", "tokio::runtime::", "park"),
            (
                "java.util.concurrent.locks.LockSupport.park",
                "java.util.concurrent.locks.",
                "LockSupport.park",
            ),
            ("malloc", "", "malloc"),
            ("", "", ""),
        ] {
            assert_eq!(parts(function), (package, name), "{function}");
        }
        assert_eq!(short("a.b/c/d.(*T).m"), "d.(*T).m");
    }

    #[test]
    fn a_change_has_a_sign() {
        assert_eq!(
            change(Words::of(crate::words::Lang::En), 2_574.0, "count"),
            "+2,574"
        );
        assert_eq!(
            change(Words::of(crate::words::Lang::En), -1.0, "count"),
            "-1"
        );
        assert_eq!(
            change(Words::of(crate::words::Lang::En), 0.0, "count"),
            "±0"
        );
        assert_eq!(
            change(
                Words::of(crate::words::Lang::En),
                2_000_000.0,
                "nanoseconds"
            ),
            "+2 ms"
        );
        assert_eq!(
            change(Words::of(crate::words::Lang::En), -1024.0, "bytes"),
            "-1 KiB"
        );
    }
}
