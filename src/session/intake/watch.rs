//! Who looks on while inputs are read: told of each step, and asked whether to go on.

use crate::model::input::Input;

/// Told of each step of the reading, from any thread. All of it may be left out.
pub trait Watch: Send + Sync {
    /// One more input was found; its bytes as it lies on disk (or, in an archive, unpacked).
    fn found(&self, path: &str, bytes: u64) {
        let _ = (path, bytes);
    }

    /// An archive is unpacked from now on: its members are the inputs.
    fn opened(&self, archive: &str, bytes: u64) {
        let _ = (archive, bytes);
    }

    /// An input is read from now on; its bytes as far as they are known.
    fn started(&self, path: &str, bytes: u64) {
        let _ = (path, bytes);
    }

    /// So many more of its bytes came in.
    fn advanced(&self, path: &str, bytes: u64) {
        let _ = (path, bytes);
    }

    /// It was read, or could not be. `None` is an archive, whose members were found now.
    fn finished(&self, path: &str, input: Option<&Input>) {
        let _ = (path, input);
    }

    /// Whether nobody wants the rest. Asked between inputs, between members of archives and after each block of bytes.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Nobody looks on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// The watch over one input.
#[derive(Clone, Copy)]
pub(super) struct Desk<'a> {
    watch: &'a dyn Watch,
    path: &'a str,
}

impl<'a> Desk<'a> {
    pub(super) const fn new(watch: &'a dyn Watch, path: &'a str) -> Self {
        Self { watch, path }
    }

    /// Says that more bytes came in; whether to go on.
    pub(super) fn advanced(&self, bytes: u64) -> bool {
        self.watch.advanced(self.path, bytes);
        self.goes_on()
    }

    /// Whether to go on.
    pub(super) fn goes_on(&self) -> bool {
        !self.watch.is_cancelled()
    }
}
