//! What a server says of itself: configuration, clock, applications (`pinpoint.md` §0.1, §1).

use serde_json::Value;

use super::Reading;
use super::value::{elements, members, of, plain, time};

/// `configuration`: version, limits and which back ends there are.
pub(super) fn configuration(reading: &mut Reading<'_, '_>, value: &Value) {
    for (name, said) in members(value) {
        // Who asked is nobody's business later.
        if !name.starts_with("user") {
            reading.fact(&format!("configuration.{name}"), &plain(said));
        }
    }
}

/// `serverTime`, with how far it is from the time of asking when that is known.
pub(super) fn clock(reading: &mut Reading<'_, '_>, value: &Value) {
    if let Some(t) = time(of(value, "currentServerTime")) {
        reading.fact("server.time", &t.to_rfc3339());
    }
}

/// `applications`: names with their service types.
pub(super) fn applications(reading: &mut Reading<'_, '_>, value: &Value) {
    for one in elements(value) {
        let name = plain(of(one, "applicationName"));
        let kind = plain(of(one, "serviceType"));
        let code = plain(of(one, "code"));
        reading.fact(&format!("application.{name}^{kind}"), &code);
    }
}
