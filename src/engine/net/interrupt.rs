//! Ctrl-C: the first one stops a pull and keeps what arrived, the second one ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::cancel::Cancel;

/// Exit status of a process that an interrupt ended (128 + SIGINT).
const INTERRUPTED: i32 = 130;

/// While it lives, an interrupt cancels; after that it ends the process, as it does without us.
#[derive(Debug)]
pub struct Interrupts {
    is_over: Arc<AtomicBool>,
}

impl Interrupts {
    /// Begins to listen. Where no thread can be had, an interrupt ends the process as ever.
    pub fn cancelling(cancel: Cancel) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let listening = std::thread::Builder::new()
            .name("tailscope-interrupt".to_owned())
            .spawn(move || listen(&cancel, &over));
        drop(listening);
        Self { is_over }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
    }
}

#[expect(
    clippy::exit,
    reason = "the second interrupt ends the process at once, as the person wants it"
)]
fn listen(cancel: &Cancel, is_over: &AtomicBool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        while tokio::signal::ctrl_c().await.is_ok() {
            if cancel.is_cancelled() || is_over.load(Ordering::Acquire) {
                std::process::exit(INTERRUPTED);
            }
            cancel.cancel();
        }
    });
}
