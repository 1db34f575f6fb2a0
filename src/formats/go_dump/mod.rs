//! Go goroutine dumps and text profiles, and what the stacks of Go say.
//!
//! [`debug1`] reads the aggregated text of `net/http/pprof`, [`debug2`] full stack dumps, panics and SIGQUIT output.
//! [`wait`] says what a stack waits for and whose frames are in it, [`origin`] when and of whom a dump was taken. The
//! protobuf form is read in [`crate::formats::pprof`], with the same rules.

pub mod debug1;
pub mod debug2;
mod labels;
pub(crate) mod origin;
mod stacks;
#[cfg(test)]
pub(crate) mod tests;
pub mod wait;

/// The text after the `[` of a header that is closed by the last `]:` of its line, and what stands before it.
/// Label values may hold `]` and `]:`, so the last one counts (`profiles.md` §5).
fn bracket(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = memchr::memchr(b'[', line)?;
    let (before, rest) = line.split_at_checked(open)?;
    let inner = rest.strip_prefix(b"[")?.strip_suffix(b"]:")?;
    Some((before, inner))
}
