//! One row for each request, however many logs recorded it.
//!
//! Two records of one request come from two inputs: the JSON and the text log of one proxy, or a rotated copy. With a
//! `$request_id` they are told by it; without one, two whole files are told to be copies of each other. The richer
//! record wins, and takes from the poorer what it lacks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::time::NANOS_PER_SEC;
use crate::model::input::InputIx;
use crate::model::request::Request;

/// Records with one id in one second that are compared; a file that has one id for everything is not worth more.
const COMPARED_PER_ID: usize = 16;
/// nginx writes its durations in milliseconds; the same one read twice differs by less than this.
const SAME_DURATION_MS: f64 = 1.5;
/// Of two files without ids this share of the smaller one must be found in the other for them to be copies.
const COPY_SHARE: f64 = 0.99;
/// And this share of what was found must be lines that no other line of their file resembles: the logs of two pods
/// behind one balancer under an even load look alike line by line.
const DISTINCT_SHARE: f64 = 0.5;

/// The requests by time, each once, and how many records were a second one.
pub(super) fn merge(requests: Vec<Request>) -> (Vec<Request>, u64) {
    let (named, nameless): (Vec<Request>, Vec<Request>) =
        if requests.iter().all(|r| !r.request_id.is_empty()) {
            (requests, Vec::new())
        } else {
            requests.into_iter().partition(|r| !r.request_id.is_empty())
        };
    let (mut kept, by_id) = merge_by_id(named);
    let (mut others, by_copy) = merge_copies(nameless);
    kept.append(&mut others);
    kept.sort_by_key(|r| (r.t, r.input, r.line));
    (kept, by_id + by_copy)
}

/// A record that was kept, and the inputs that it was merged from.
struct Row {
    at: usize,
    inputs: Vec<InputIx>,
}

fn merge_by_id(mut requests: Vec<Request>) -> (Vec<Request>, u64) {
    let is_one_input = requests.windows(2).all(|w| w[0].input == w[1].input);
    if is_one_input {
        // No record is a twin of one of its own input.
        return (requests, 0);
    }
    // The text log's second is the JSON log's millisecond rounded down: both come from one clock reading.
    let second = |r: &Request| r.t.nanos().div_euclid(NANOS_PER_SEC);
    let mut order: Vec<usize> = (0..requests.len()).collect();
    let key = |at: usize| requests.get(at).map(|r| (second(r), r.request_id.as_ref()));
    order.sort_by(|a, b| key(*a).cmp(&key(*b)).then(a.cmp(b)));
    let groups: Vec<&[usize]> = order.chunk_by(|a, b| key(*a) == key(*b)).collect();
    let groups: Vec<Vec<usize>> = groups
        .into_iter()
        .filter(|group| group.len() > 1)
        .map(<[usize]>::to_vec)
        .collect();
    let mut is_twin_of_another = vec![false; requests.len()];
    let mut doubles = 0;
    for group in groups {
        let mut rows: Vec<Row> = Vec::with_capacity(group.len());
        for at in group {
            let Some(request) = requests.get(at) else {
                continue;
            };
            let input = request.input;
            let twin = rows
                .iter_mut()
                .take(COMPARED_PER_ID)
                .find(|row| is_twin(&requests, row, request));
            let Some(row) = twin else {
                let inputs = vec![input];
                rows.push(Row { at, inputs });
                continue;
            };
            doubles += 1;
            row.inputs.push(input);
            let request = request.clone();
            if let Some(known) = requests.get_mut(row.at) {
                join(known, request);
            }
            if let Some(slot) = is_twin_of_another.get_mut(at) {
                *slot = true;
            }
        }
    }
    let mut flags = is_twin_of_another.into_iter();
    requests.retain(|_| !flags.next().unwrap_or(false));
    (requests, doubles)
}

/// Whether a record is another one of the same request. An id that is handed on (`X-Request-ID`) names every hop of a
/// request, and a proxy that is passed twice; those differ in what was asked, of whom, by whom, or how long it took.
fn is_twin(requests: &[Request], row: &Row, other: &Request) -> bool {
    let Some(one) = requests.get(row.at) else {
        return false;
    };
    let agree = |a: &str, b: &str| a.is_empty() || b.is_empty() || a == b;
    let same_duration = match (one.duration_ms, other.duration_ms) {
        (Some(a), Some(b)) => (a - b).abs() < SAME_DURATION_MS,
        _ => true,
    };
    let addresses =
        |r: &Request| -> Vec<Arc<str>> { r.attempts.iter().map(|a| Arc::clone(&a.addr)).collect() };
    let has_addresses = |r: &Request| r.attempts.iter().any(|a| !a.addr.is_empty());
    !row.inputs.contains(&other.input)
        && agree(&one.method, &other.method)
        && agree(&one.path, &other.path)
        && agree(&one.client, &other.client)
        && agree(&one.instance, &other.instance)
        && (one.status.is_none() || other.status.is_none() || one.status == other.status)
        && same_duration
        && (!has_addresses(one) || !has_addresses(other) || addresses(one) == addresses(other))
}

/// Keeps the richer of two records, and gives it what only the other one knows.
fn join(known: &mut Request, mut other: Request) {
    if richness(&other) > richness(known) {
        std::mem::swap(known, &mut other);
    }
    if known.instance.is_empty() && !other.instance.is_empty() {
        known.instance = other.instance;
        known.service = other.service;
    }
    let fill = |into: &mut Arc<str>, from: Arc<str>| {
        if into.is_empty() {
            *into = from;
        }
    };
    fill(&mut known.upstream, other.upstream);
    fill(&mut known.trace_id, other.trace_id);
    fill(&mut known.client, other.client);
    fill(&mut known.method, other.method);
    fill(&mut known.path, other.path);
    known.duration_ms = known.duration_ms.or(other.duration_ms);
    known.bytes = known.bytes.or(other.bytes);
    known.is_failed = known.is_failed.or(other.is_failed);
    if known.attempts.is_empty() {
        known.attempts = other.attempts;
    }
}

/// More attempts with times, then the finer clock, then more names.
fn richness(request: &Request) -> (usize, i64, usize) {
    let times = request
        .attempts
        .iter()
        .filter(|a| a.connect_ms.is_some() || a.header_ms.is_some())
        .count();
    let names =
        usize::from(!request.instance.is_empty()) + usize::from(!request.trace_id.is_empty());
    (times, -request.t_resolution_nanos, names)
}

/// What two records of one request without an id share.
type Looks = (i64, Arc<str>, Arc<str>, Option<u16>, Option<u64>, Arc<str>);

fn looks(request: &Request) -> Looks {
    (
        request.t.nanos().div_euclid(NANOS_PER_SEC),
        Arc::clone(&request.method),
        Arc::clone(&request.path),
        request.status,
        request.bytes,
        Arc::clone(&request.client),
    )
}

/// Files without ids: of each pair that are copies of each other where they overlap, the second one's lines are joined
/// into the first one's, in order.
fn merge_copies(requests: Vec<Request>) -> (Vec<Request>, u64) {
    let inputs: BTreeSet<InputIx> = requests.iter().map(|r| r.input).collect();
    if inputs.len() < 2 {
        return (requests, 0);
    }
    let mut by_input: BTreeMap<InputIx, Vec<Request>> = BTreeMap::new();
    for request in requests {
        by_input.entry(request.input).or_default().push(request);
    }
    let mut kept: Vec<Vec<Request>> = Vec::new();
    let mut doubles = 0;
    for (_, mut file) in by_input {
        for known in &mut kept {
            if let Some(pairs) = pairs_of_copies(known, &file) {
                let mut taken = vec![false; file.len()];
                for (into, from) in &pairs {
                    if let (Some(into), Some(from)) = (known.get_mut(*into), file.get(*from)) {
                        join(into, from.clone());
                    }
                    if let Some(slot) = taken.get_mut(*from) {
                        *slot = true;
                    }
                }
                doubles += pairs.len() as u64;
                let mut taken = taken.into_iter();
                file.retain(|_| !taken.next().unwrap_or(false));
            }
        }
        kept.push(file);
    }
    (kept.into_iter().flatten().collect(), doubles)
}

/// The pairs (line of one, line of the other) when the two are copies where they overlap, else nothing.
fn pairs_of_copies(one: &[Request], other: &[Request]) -> Option<Vec<(usize, usize)>> {
    let range = |file: &[Request]| {
        let seconds = file.iter().map(|r| r.t.nanos().div_euclid(NANOS_PER_SEC));
        Some((seconds.clone().min()?, seconds.max()?))
    };
    let ((from_a, to_a), (from_b, to_b)) = (range(one)?, range(other)?);
    let overlap = from_a.max(from_b)..=to_a.min(to_b);
    let is_inside = |r: &Request| overlap.contains(&r.t.nanos().div_euclid(NANOS_PER_SEC));
    let mut places: BTreeMap<Looks, Vec<usize>> = BTreeMap::new();
    for (at, request) in one.iter().enumerate().filter(|(_, r)| is_inside(r)) {
        places.entry(looks(request)).or_default().push(at);
    }
    // From the back, so that popping gives them in order.
    for at in places.values_mut() {
        at.reverse();
    }
    let alone: BTreeSet<usize> = places
        .values()
        .filter_map(|at| match at.as_slice() {
            [one] => Some(*one),
            _ => None,
        })
        .collect();
    let (mut pairs, mut inside) = (Vec::new(), 0usize);
    for (from, request) in other.iter().enumerate().filter(|(_, r)| is_inside(r)) {
        inside += 1;
        let place = places.get_mut(&looks(request)).and_then(Vec::pop);
        let fits = |at: &usize| {
            one.get(*at).is_some_and(|known| {
                let agree = |a: &str, b: &str| a.is_empty() || b.is_empty() || a == b;
                agree(&known.instance, &request.instance)
                    && match (known.duration_ms, request.duration_ms) {
                        (Some(a), Some(b)) => (a - b).abs() < SAME_DURATION_MS,
                        _ => true,
                    }
            })
        };
        if let Some(into) = place.filter(fits) {
            pairs.push((into, from));
        }
    }
    let smaller = inside.min(one.iter().filter(|r| is_inside(r)).count()) as f64;
    let distinct = pairs
        .iter()
        .filter(|(into, _)| alone.contains(into))
        .count() as f64;
    let matched = pairs.len() as f64;
    (matched > 0.0 && matched >= COPY_SHARE * smaller && distinct >= DISTINCT_SHARE * matched)
        .then_some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::{NANOS_PER_MS, Timestamp};
    use crate::model::request::Attempt;

    fn request(input: u32, id: &str, t_ms: i64, path: &str) -> Request {
        Request {
            input: InputIx(input),
            line: 1,
            t: Timestamp::from_nanos(t_ms * NANOS_PER_MS),
            t_resolution_nanos: NANOS_PER_MS,
            is_failed: None,
            service: Arc::from("nginx"),
            instance: Arc::from(""),
            method: Arc::from("GET"),
            path: Arc::from(path),
            status: Some(200),
            duration_ms: Some(5.0),
            attempts: Vec::new(),
            upstream: Arc::from(""),
            bytes: Some(12),
            client: Arc::from("10.0.0.1"),
            request_id: Arc::from(id),
            trace_id: Arc::from(""),
        }
    }

    fn attempt(addr: &str, connect_ms: Option<f64>) -> Attempt {
        Attempt {
            addr: Arc::from(addr),
            status: Some(200),
            connect_ms,
            header_ms: None,
            response_ms: Some(4.0),
            is_new_group: false,
            is_connect_logged: connect_ms.is_some(),
        }
    }

    #[test]
    fn the_richer_record_wins_and_takes_what_it_lacks() {
        let mut text = request(0, "a", 1_000, "/x");
        text.t_resolution_nanos = NANOS_PER_SEC;
        text.upstream = Arc::from("shop-web-8080");
        text.attempts = vec![attempt("10.0.0.2:80", None)];
        let mut json = request(1, "a", 1_538, "/x");
        json.attempts = vec![attempt("10.0.0.2:80", Some(1.0))];
        let (kept, doubles) = merge(vec![text, json]);
        assert_eq!((kept.len(), doubles), (1, 1));
        assert_eq!(kept[0].t.millis(), 1_538);
        assert_eq!(kept[0].connect_ms(), Some(1.0));
        assert_eq!(kept[0].upstream.as_ref(), "shop-web-8080");
    }

    #[test]
    fn an_id_that_is_handed_on_names_several_requests() {
        let (kept, doubles) = merge(vec![
            request(0, "a", 1_000, "/page"),
            request(0, "a", 1_001, "/item"),
            request(0, "a", 1_002, "/item"),
            request(1, "a", 1_001, "/other"),
        ]);
        assert_eq!((kept.len(), doubles), (4, 0));
        let mut edge = request(0, "a", 1_000, "/x");
        edge.attempts = vec![attempt("10.0.0.2:80", Some(0.0))];
        let mut inner = request(1, "a", 1_000, "/x");
        inner.attempts = vec![attempt("10.0.0.3:80", Some(0.0))];
        assert_eq!(merge(vec![edge, inner]).0.len(), 2);
    }

    #[test]
    fn a_copy_without_ids_is_counted_once_and_two_pods_are_not_copies() {
        let file = |input: u32, shift: i64| -> Vec<Request> {
            (0..200)
                .map(|n| request(input, "", n * 37 + shift, &format!("/item/{n}")))
                .collect()
        };
        let mut all = file(0, 0);
        all.extend(file(1, 0));
        let (kept, doubles) = merge(all);
        assert_eq!((kept.len(), doubles), (200, 200));
        let even = |input: u32| -> Vec<Request> {
            (0..200).map(|n| request(input, "", n * 37, "/")).collect()
        };
        let mut all = even(0);
        all.extend(even(1));
        assert_eq!(merge(all).0.len(), 400, "nothing tells these lines apart");
        let mut all = file(0, 0);
        all.extend(file(1, 20_000));
        assert_eq!(merge(all).0.len(), 400);
    }
}
