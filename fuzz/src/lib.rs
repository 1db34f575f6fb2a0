//! What every fuzz target does: recognise and read bytes as one format, whatever they are.

use tailscope::base::reporter::Reporter;
use tailscope::base::time::Zone;
use tailscope::formats::{ALL, Head, Hints};
use tailscope::model::batch::Batch;

/// Reads `bytes` as the format of that id; only a panic or an endless loop is a failure.
pub fn read(id: &str, bytes: &[u8]) {
    let zone = Zone::utc();
    let hints = Hints { name: "fuzz", request: None, zone: &zone, log_formats: &[] };
    for format in ALL.iter().filter(|f| f.id() == id) {
        drop(format.sniff(&Head::new(bytes)));
        drop(format.read(bytes, &hints, &mut Batch::default(), &mut Reporter::new()));
    }
}
