//! `errors/errorList` and `errors/errorList/groupBy` (3.x): exceptions, counted by class and path (`pinpoint.md` §9).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Reading;
use super::charts;
use super::value::{count, elements, of, plain, shared, text, time};
use crate::base::text::shorten;
use crate::base::time::Timestamp;
use crate::model::event::Event;
use crate::model::input::InputIx;

/// Exceptions of one class at one path.
struct Group {
    first: Timestamp,
    last: Timestamp,
    n: u64,
    message: String,
    at: String,
}

/// Rows of single exceptions: one event for each application, class and path, from the first to the last. An exception
/// that wraps another is told by its outermost row.
pub(super) fn rows(reading: &mut Reading<'_, '_>, value: &Value) {
    let mut groups: BTreeMap<(String, String, String), Group> = BTreeMap::new();
    for (ix, row) in elements(value).iter().enumerate() {
        let at = format!("$[{ix}]");
        let (Some(t), Some(class)) = (time(of(row, "timestamp")), text(of(row, "errorClassName")))
        else {
            let why = "an error without `timestamp` or `errorClassName`; it is left out";
            reading.log.lost("bad_row", why, at);
            continue;
        };
        if of(row, "exceptionDepth").as_u64().unwrap_or(0) > 0 {
            continue;
        }
        let key = (
            plain(of(row, "applicationName")),
            class.to_owned(),
            plain(of(row, "uriTemplate")),
        );
        let group = groups.entry(key).or_insert_with(|| Group {
            first: t,
            last: t,
            n: 0,
            message: plain(of(row, "errorMessage")),
            at,
        });
        group.first = group.first.min(t);
        group.last = group.last.max(t);
        group.n += 1;
    }
    for ((application, class, path), group) in groups {
        tell(reading, &application, &class, &path, &group);
    }
    reading.asked_window();
}

/// Groups as the server counted them, each with its chart.
pub(super) fn groups(reading: &mut Reading<'_, '_>, value: &Value) {
    let application = reading.asked.application().unwrap_or_default().to_owned();
    for (ix, one) in elements(value).iter().enumerate() {
        let at = format!("$[{ix}]");
        charts::of_3x(reading, of(one, "chart"), &format!("{at}.chart"));
        let (Some(first), Some(last)) = (
            time(of(one, "firstOccurred")),
            time(of(one, "lastOccurred")),
        ) else {
            continue;
        };
        let group = Group {
            first,
            last,
            n: count(of(one, "count")).unwrap_or(0),
            message: plain(of(one, "mostRecentErrorMessage")),
            at,
        };
        let class = plain(of(one, "mostRecentErrorClass"));
        let path = plain(of(of(one, "groupedFieldName"), "uriTemplate"));
        tell(reading, &application, &class, &path, &group);
    }
}

fn tell(reading: &mut Reading<'_, '_>, application: &str, class: &str, path: &str, group: &Group) {
    let short = class.rsplit('.').next().unwrap_or(class);
    let place = if path.is_empty() {
        String::new()
    } else {
        format!(" in {path}")
    };
    reading.out.events.push(Event {
        input: InputIx::default(),
        locator: shared(&group.at),
        t: group.first,
        end: Some(group.last),
        kind: shared("alert"),
        title: shared(&format!("{} × {short}{place}", group.n)),
        text: shared(&shorten(&group.message, 300)),
        source: shared("pinpoint"),
        attributes: shared(
            &json!({"applicationName": application, "class": class, "uri": path, "count": group.n})
                .to_string(),
        ),
    });
}
