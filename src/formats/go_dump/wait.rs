//! What a goroutine waits for, and whose frames its stack holds (`profiles.md` §6).
//!
//! The frames decide before the printed state does: `semacquire` covers mutexes and wait groups alike, and a
//! goroutine that hands a lock over is called `runnable`.

use crate::model::profile::{Frame, Profile, StackView, WaitClass};

/// What a stack (leaf first) with this printed state (empty when none was) waits for.
pub fn class_of<'a>(frames: impl Into<StackView<'a>>, state: &str) -> WaitClass {
    let frames = frames.into();
    let mut shown = frames.iter();
    let mut hidden = 0;
    let first = loop {
        match shown.next() {
            Some(frame) if is_runtime(&frame.function) => hidden += 1,
            other => break other.map_or("", |f| f.function.as_ref()),
        }
    };
    let caller = shown.next().map_or("", |f| f.function.as_ref());
    let by_frames = class_of_first(first, caller);
    if by_frames != WaitClass::Other {
        return by_frames;
    }
    let by_state = class_of_state(state);
    if by_state != WaitClass::Other {
        return by_state;
    }
    class_of_runtime(frames, hidden)
}

/// The table of `profiles.md` §6, on the first frame outside the runtime.
fn class_of_first(first: &str, caller: &str) -> WaitClass {
    if let Some(primitive) = first
        .strip_prefix("sync.")
        .or_else(|| first.strip_prefix("internal/sync."))
    {
        return class_of_primitive(primitive, caller);
    }
    if first.starts_with("internal/poll.runtime_pollWait") {
        WaitClass::Io
    } else if first == "time.Sleep" {
        WaitClass::Sleep
    } else if first.starts_with("syscall.")
        || first.starts_with("internal/runtime/syscall.")
        || package_of(first) == "golang.org/x/sys/unix"
    {
        WaitClass::Syscall
    } else if first == "database/sql.(*DB).conn" {
        WaitClass::Pool
    } else {
        WaitClass::Other
    }
}

/// A function of package `sync` at the leaf; who called it tells mutexes from wait groups.
fn class_of_primitive(primitive: &str, caller: &str) -> WaitClass {
    let caller = caller.strip_prefix("internal/").unwrap_or(caller);
    let is_lock = caller.starts_with("sync.(*Mutex).") || caller.starts_with("sync.(*RWMutex).");
    match primitive {
        "runtime_SemacquireMutex" | "runtime_SemacquireRWMutex" | "runtime_SemacquireRWMutexR" => {
            WaitClass::Lock
        }
        "runtime_SemacquireWaitGroup" => WaitClass::WaitGroup,
        "runtime_Semacquire" if is_lock => WaitClass::Lock,
        "runtime_Semacquire" if caller.starts_with("sync.(*WaitGroup).") => WaitClass::WaitGroup,
        "runtime_Semrelease" if is_lock => WaitClass::LockHandoff,
        "runtime_notifyListWait" | "(*Cond).Wait" => WaitClass::Condition,
        _ => WaitClass::Other,
    }
}

/// The state between the brackets of a header, for what the frames do not tell: channels and selects.
fn class_of_state(state: &str) -> WaitClass {
    let starts = |word: &str| state.starts_with(word);
    match state {
        "running" | "runnable" | "preempted" | "copystack" => WaitClass::Running,
        "syscall" | "waiting for cgo callback" => WaitClass::Syscall,
        "IO wait" => WaitClass::Io,
        "sleep" => WaitClass::Sleep,
        "sync.Mutex.Lock" | "sync.RWMutex.RLock" | "sync.RWMutex.Lock" => WaitClass::Lock,
        "sync.WaitGroup.Wait" => WaitClass::WaitGroup,
        "sync.Cond.Wait" => WaitClass::Condition,
        _ if starts("chan receive") || starts("chan send") => WaitClass::Channel,
        _ if starts("select") => WaitClass::Select,
        _ => WaitClass::Other,
    }
}

/// Runtime frames at the leaf, which protobuf dumps hold: the last of them is the operation.
fn class_of_runtime(frames: StackView<'_>, hidden: usize) -> WaitClass {
    let runtime: Vec<&Frame> = frames.iter().take(hidden).collect();
    for frame in runtime.iter().rev() {
        match frame.function.as_ref() {
            "runtime.chanrecv1" | "runtime.chanrecv2" | "runtime.chansend1"
            | "runtime.chanrecv" | "runtime.chansend" => return WaitClass::Channel,
            "runtime.selectgo" | "runtime.block" => return WaitClass::Select,
            "runtime.gopark" => return WaitClass::Other,
            _ => {}
        }
    }
    WaitClass::Other
}

/// Whether a function belongs to the runtime itself (`runtime/pprof` and `runtime/debug` do not).
pub fn is_runtime(function: &str) -> bool {
    function.starts_with("runtime.")
        || (function.starts_with("internal/runtime/")
            && !function.starts_with("internal/runtime/syscall."))
}

/// Whether a function takes a lock and its first argument is the lock's address.
pub fn takes_lock(function: &str) -> bool {
    let name = function.strip_prefix("internal/").unwrap_or(function);
    let Some(method) = name
        .strip_prefix("sync.(*Mutex).")
        .or_else(|| name.strip_prefix("sync.(*RWMutex)."))
    else {
        return false;
    };
    matches!(method, "lockSlow" | "Lock" | "RLock" | "rLockSlow")
}

/// Whether the stack is that of the profiler: the handler that wrote the dump, or the writer of a CPU profile. Code
/// that runs under `pprof.Do` is not.
pub fn is_profiler<'a>(frames: impl Into<StackView<'a>>) -> bool {
    frames.into().iter().any(|f| {
        let name = f.function.as_ref();
        name.starts_with("net/http/pprof.")
            || (name.starts_with("runtime/pprof.") && !name.starts_with("runtime/pprof.Do"))
    })
}

/// Frames of goroutines that wait because nothing is to be done: idle connections, accept loops, openers of pools.
/// Their number follows load and is no leak (`profiles.md` §10).
const IDLE: [&str; 8] = [
    "net/http.(*persistConn).readLoop",
    "net/http.(*persistConn).writeLoop",
    "net/http.(*connReader).backgroundRead",
    "net/http.(*Server).Serve",
    "net/http.(*http2clientConnReadLoop).run",
    "database/sql.(*DB).connectionOpener",
    "database/sql.(*DB).connectionCleaner",
    "database/sql.(*DB).connectionResetter",
];

/// Whether a stack is one that idles by design.
pub fn is_idle<'a>(frames: impl Into<StackView<'a>>) -> bool {
    let frames = frames.into();
    let has = |name: &str| frames.iter().any(|f| f.function.as_ref() == name);
    IDLE.iter().any(|name| has(name))
        || (has("bufio.(*Reader).Peek") && has("net/http.(*conn).serve"))
}

/// The import path of a function's package: `github.com/x/y/z.(*T).m` → `github.com/x/y/z`; what a `vendor` folder
/// holds goes by its own name.
pub fn package_of(function: &str) -> &str {
    let plain = function.split_once('[').map_or(function, |(name, _)| name);
    let from = plain.rfind('/').map_or(0, |at| at + 1);
    let dot = plain.get(from..).and_then(|last| last.find('.'));
    let package = dot.and_then(|at| plain.get(..from + at)).unwrap_or(plain);
    package
        .rfind("/vendor/")
        .and_then(|at| package.get(at + "/vendor/".len()..))
        .unwrap_or(package)
}

/// The top folders of the standard library (`go list std`, Go 1.25); a program's own path has a dot in its first
/// element or another word there.
const STD: [&str; 46] = [
    "archive",
    "bufio",
    "bytes",
    "cmp",
    "compress",
    "container",
    "context",
    "crypto",
    "database",
    "debug",
    "embed",
    "encoding",
    "errors",
    "expvar",
    "flag",
    "fmt",
    "go",
    "hash",
    "html",
    "image",
    "index",
    "internal",
    "io",
    "iter",
    "log",
    "maps",
    "math",
    "mime",
    "net",
    "os",
    "path",
    "plugin",
    "reflect",
    "regexp",
    "runtime",
    "slices",
    "sort",
    "strconv",
    "strings",
    "structs",
    "sync",
    "syscall",
    "testing",
    "text",
    "time",
    "unicode",
];

/// Whether a package is of the standard library.
pub fn is_std(package: &str) -> bool {
    let first = package.split_once('/').map_or(package, |(first, _)| first);
    STD.contains(&first) || matches!(first, "unique" | "unsafe" | "vendor" | "weak")
}

/// The module of a package as far as its path tells: three elements at the public hosts that have owners, two at other
/// hosts, else the first element.
pub fn module_of(package: &str) -> &str {
    let first = package.split_once('/').map_or(package, |(first, _)| first);
    let elements = match first {
        "github.com" | "gitlab.com" | "bitbucket.org" | "golang.org" => 3,
        host if host.contains('.') => 2,
        _ => 1,
    };
    let mut end = package.len();
    for (count, (at, _)) in package.match_indices('/').enumerate() {
        if count + 1 == elements {
            end = at;
            break;
        }
    }
    package.get(..end).unwrap_or(package)
}

/// Whether frames of a package only carry a wait and are never its place.
fn is_plumbing(package: &str) -> bool {
    let under = |root: &str| {
        package
            .strip_prefix(root)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    matches!(
        package,
        "time" | "syscall" | "net" | "net/http" | "database/sql" | "context"
    ) || under("runtime")
        || under("sync")
        || under("internal")
        || under("golang.org/x/sync")
}

/// The frame that takes the lock or waits.
///
/// It is the first one outside the runtime, its lock library and the plumbing of the standard library. Where there is none, the first one outside runtime and `sync`, else the leaf.
pub fn library_frame<'a>(frames: impl Into<StackView<'a>>) -> Option<&'a Frame> {
    let frames = frames.into();
    let outside = |skip: fn(&str) -> bool| frames.iter().find(|f| !skip(package_of(&f.function)));
    outside(is_plumbing)
        .or_else(|| outside(|p| matches!(p, "runtime" | "sync" | "internal/sync")))
        .or_else(|| frames.first())
}

/// The first frame of the program's own code.
///
/// Its package is `main` or belongs to the module of `main` (`own`, when known); else of the module of the outermost frame that is not the standard library's; else the library frame.
pub fn user_frame<'a>(frames: impl Into<StackView<'a>>, own: Option<&str>) -> Option<&'a Frame> {
    let frames = frames.into();
    let is_own = |f: &&Frame| {
        let package = package_of(&f.function);
        package == "main" || own == Some(module_of(package))
    };
    if let Some(frame) = frames.iter().find(is_own) {
        return Some(frame);
    }
    let outermost = frames
        .iter()
        .rev()
        .map(|f| package_of(&f.function))
        .find(|package| !is_std(package));
    let Some(module) = outermost.map(module_of) else {
        return library_frame(frames);
    };
    frames
        .iter()
        .find(|f| module_of(package_of(&f.function)) == module)
}

/// The module of the program that a dump is of.
///
/// It is told by the file of its `main` package where its path names it: built with
/// `-trimpath` (`ingresslab/cmd/controller/main.go`) or in a GOPATH (`…/src/k8s.io/ingress-nginx/cmd/nginx/main.go`).
pub fn own_module(profile: &Profile) -> Option<String> {
    profile
        .groups
        .iter()
        .flat_map(|g| &g.frames)
        .filter(|f| f.function.starts_with("main."))
        .find_map(|f| {
            let file = f.file.as_ref();
            let path = match file.rsplit_once("/src/") {
                Some((_, path)) => path,
                None if file.starts_with('/') || file.contains(":/") => return None,
                None => file,
            };
            let (folder, _) = path.rsplit_once('/')?;
            let module = module_of(folder);
            Some(module.split_once('@').map_or(module, |(m, _)| m).to_owned())
        })
}

/// The receiver type of a method, with its package: `main.(*Ledger).Add` → `main.(*Ledger)`; closures inside it too.
pub fn receiver_of(function: &str) -> Option<&str> {
    let open = function.find(".(*")?;
    let close = function.get(open..)?.find(')')?;
    function.get(..=open + close)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn stack(names: &[&str]) -> Vec<Frame> {
        names
            .iter()
            .map(|name| Frame {
                function: Arc::from(*name),
                file: Arc::from(""),
                line: 0,
            })
            .collect()
    }

    #[test]
    fn the_table_of_waits() {
        for (names, state, class) in [
            (
                &["sync.runtime_SemacquireMutex", "sync.(*Mutex).lockSlow"][..],
                "semacquire",
                WaitClass::Lock,
            ),
            (
                &["sync.runtime_SemacquireMutex", "sync.(*Mutex).lockSlow"],
                "runnable",
                WaitClass::Lock,
            ),
            (
                &[
                    "internal/sync.runtime_SemacquireMutex",
                    "internal/sync.(*Mutex).lockSlow",
                ],
                "sync.Mutex.Lock",
                WaitClass::Lock,
            ),
            (
                &["sync.runtime_SemacquireRWMutexR", "sync.(*RWMutex).RLock"],
                "",
                WaitClass::Lock,
            ),
            (
                &["sync.runtime_Semacquire", "sync.(*RWMutex).RLock"],
                "semacquire",
                WaitClass::Lock,
            ),
            (
                &["sync.runtime_Semacquire", "sync.(*Mutex).Lock"],
                "semacquire",
                WaitClass::Lock,
            ),
            (
                &["sync.runtime_Semacquire", "sync.(*WaitGroup).Wait"],
                "semacquire",
                WaitClass::WaitGroup,
            ),
            (
                &["sync.runtime_SemacquireWaitGroup", "sync.(*WaitGroup).Wait"],
                "sync.WaitGroup.Wait",
                WaitClass::WaitGroup,
            ),
            (
                &["sync.runtime_Semrelease", "sync.(*Mutex).unlockSlow"],
                "runnable",
                WaitClass::LockHandoff,
            ),
            (
                &[
                    "internal/sync.runtime_Semrelease",
                    "internal/sync.(*Mutex).unlockSlow",
                ],
                "runnable",
                WaitClass::LockHandoff,
            ),
            (
                &["sync.runtime_Semrelease", "sync.(*WaitGroup).Add"],
                "runnable",
                WaitClass::Running,
            ),
            (
                &["sync.runtime_notifyListWait", "sync.(*Cond).Wait"],
                "",
                WaitClass::Condition,
            ),
            (
                &[
                    "runtime.gopark",
                    "runtime.netpollblock",
                    "internal/poll.runtime_pollWait",
                ],
                "",
                WaitClass::Io,
            ),
            (&["time.Sleep", "main.f"], "sleep", WaitClass::Sleep),
            (
                &["syscall.Syscall6", "main.f"],
                "syscall",
                WaitClass::Syscall,
            ),
            (
                &["internal/runtime/syscall.Syscall6", "syscall.RawSyscall6"],
                "",
                WaitClass::Syscall,
            ),
            (
                &["database/sql.(*DB).conn", "main.f"],
                "select",
                WaitClass::Pool,
            ),
            (&["main.f"], "chan receive (nil chan)", WaitClass::Channel),
            (&["main.f"], "select (no cases)", WaitClass::Select),
            (
                &[
                    "runtime.gopark",
                    "runtime.chanrecv",
                    "runtime.chanrecv1",
                    "main.f",
                ],
                "",
                WaitClass::Channel,
            ),
            (
                &["runtime.gopark", "runtime.selectgo", "main.f"],
                "",
                WaitClass::Select,
            ),
            (&["main.f"], "runnable", WaitClass::Running),
            (&["main.f"], "", WaitClass::Other),
            (
                &["runtime.gopark", "runtime.gcBgMarkWorker"],
                "GC worker (idle)",
                WaitClass::Other,
            ),
            (&[], "", WaitClass::Other),
        ] {
            assert_eq!(class_of(&stack(names), state), class, "{names:?} [{state}]");
        }
    }

    #[test]
    fn packages_and_modules() {
        for (function, package, module) in [
            ("main.(*T).m", "main", "main"),
            (
                "github.com/prometheus/client_golang/prometheus.(*summary).Observe",
                "github.com/prometheus/client_golang/prometheus",
                "github.com/prometheus/client_golang",
            ),
            (
                "ingresslab/internal/ingress/metric/collectors.handleMessages",
                "ingresslab/internal/ingress/metric/collectors",
                "ingresslab",
            ),
            (
                "k8s.io/ingress-nginx/vendor/gopkg.in/fsnotify/fsnotify%2ev1.(*Watcher).readEvents",
                "gopkg.in/fsnotify/fsnotify%2ev1",
                "gopkg.in/fsnotify",
            ),
            (
                "k8s.io/ingress-nginx/internal/watch.F",
                "k8s.io/ingress-nginx/internal/watch",
                "k8s.io/ingress-nginx",
            ),
            ("main.F[github.com/a/b.C]", "main", "main"),
            ("net/http.(*conn).serve", "net/http", "net"),
        ] {
            assert_eq!(package_of(function), package);
            assert_eq!(module_of(package), module);
        }
        assert!(
            is_std("net/http")
                && is_std("internal/poll")
                && !is_std("main")
                && !is_std("ingresslab/internal")
        );
        assert_eq!(
            receiver_of("main.(*Ledger).holdWhileSlow.func1"),
            Some("main.(*Ledger)")
        );
        assert_eq!(receiver_of("main.f"), None);
    }

    #[test]
    fn library_and_user_frames() {
        let frames = stack(&[
            "sync.runtime_SemacquireMutex",
            "sync.(*Mutex).lockSlow",
            "sync.(*Mutex).Lock",
            "github.com/prometheus/client_golang/prometheus.(*summary).Observe",
            "ingresslab/internal/collectors.(*SocketCollector).handleMessage",
            "ingresslab/internal/collectors.handleMessages",
        ]);
        assert_eq!(
            library_frame(&frames).unwrap().function.as_ref(),
            "github.com/prometheus/client_golang/prometheus.(*summary).Observe"
        );
        assert_eq!(
            user_frame(&frames, None).unwrap().function.as_ref(),
            "ingresslab/internal/collectors.(*SocketCollector).handleMessage"
        );
        let scrape = stack(&[
            "sync.(*Mutex).Lock",
            "github.com/prometheus/client_golang/prometheus.(*summary).Write",
            "github.com/prometheus/client_golang/prometheus/promhttp.HandlerFor.func1",
            "net/http.(*conn).serve",
        ]);
        assert_eq!(
            user_frame(&scrape, Some("ingresslab")),
            library_frame(&scrape)
        );
        // A framework calls the program, and is not it.
        let handler = stack(&[
            "sync.(*Mutex).Lock",
            "a.b/store.(*DB).Get",
            "main.handle",
            "github.com/gin-gonic/gin.(*Context).Next",
            "net/http.(*conn).serve",
        ]);
        assert_eq!(
            user_frame(&handler, None).unwrap().function.as_ref(),
            "main.handle"
        );
    }

    #[test]
    fn the_profiler_is_known_and_labelled_code_is_not_it() {
        assert!(is_profiler(&stack(&[
            "runtime/pprof.writeGoroutineStacks",
            "net/http/pprof.Index"
        ])));
        assert!(!is_profiler(&stack(&[
            "main.handleOrder",
            "runtime/pprof.Do"
        ])));
        assert!(is_idle(&stack(&["net/http.(*persistConn).writeLoop"])));
        assert!(!is_idle(&stack(&["main.waitForReply"])));
    }
}
