//! nginx access logs in lines of a `log_format`: the presets, and what the person or a configuration gave.

use crate::base::reporter::Reporter;
use crate::formats::nginx::field::Fields;
use crate::formats::nginx::lines::{self, Line};
use crate::formats::nginx::presets;
use crate::formats::nginx::row::{self, Rows, UnitGuess};
use crate::formats::nginx::template::{Mismatch, Template, key_values};
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// How many lines decide which format a file has, and in which unit its durations are.
const SAMPLE_LINES: usize = 500;
/// How many lines of the head decide whether a file is a log at all.
const SNIFF_LINES: usize = 20;

/// nginx access log.
pub struct NginxLine;

impl Format for NginxLine {
    fn id(&self) -> &'static str {
        "nginx-line"
    }

    fn title(&self) -> &'static str {
        "nginx access log"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if !head.is_text || head.json.is_some() {
            return Sniff::NOT_AT_ALL;
        }
        let (best, seen) = best_of(&presets::presets(), head.lines().take(SNIFF_LINES));
        match best {
            Some(best) if best.matched * 5 >= seen * 3 => {
                // `combined` is what Apache and others write, too: a format given by hand comes before it.
                let is_own = best.exact * 2 > best.matched && best.name.starts_with("upstreaminfo");
                Sniff::Yes(if is_own { 90 } else { 75 })
            }
            Some(best) if best.matched > 0 => Sniff::refused(
                50,
                format!(
                    "only {} of its first {seen} lines match `{}`; give the format with --log-format",
                    best.matched, best.name
                ),
            ),
            _ => Sniff::NOT_AT_ALL,
        }
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let bytes = lines::as_utf8(bytes);
        let mut templates = presets::given(hints.log_formats);
        templates.extend(presets::presets());
        let is_in_millis = choose(&bytes, &mut templates);
        let mut rows = Rows::new(hints.name, hints.zone, is_in_millis);
        let before = out.requests.len();
        let mut first_error = None;
        let mut unread_tails = 0u64;
        lines::for_each(&bytes, log, |line, log| {
            match read_line(line, &templates, &mut rows) {
                Ok((request, is_tail_read)) => {
                    unread_tails += u64::from(!is_tail_read);
                    out.requests.push(request);
                }
                Err(reason) => {
                    row::lost(log, line.place(), &reason, line.is_open);
                    first_error.get_or_insert_with(|| (line.place(), reason));
                }
            }
        });
        rows.report(log);
        if unread_tails > 0 {
            let text = format!(
                "{unread_tails} lines go on behind the format that was taken; give the whole format with --log-format to have the rest"
            );
            log.note("line_tail", text, None);
        }
        if out.requests.len() > before {
            return Ok(());
        }
        let (at, what) = first_error.unwrap_or_else(|| (String::new(), "no line in it".to_owned()));
        Err(FormatError::new(
            "no_requests",
            Some(at).filter(|a| !a.is_empty()),
            what,
            "lines of an nginx log_format",
            "give the format with --log-format NAME=FORMAT",
        ))
    }
}

/// Whether the lines match a format that was given by hand.
pub fn matches_given_format(head: &Head<'_>, hints: &Hints<'_>) -> bool {
    if !head.is_text || hints.log_formats.is_empty() {
        return false;
    }
    let given = presets::given(hints.log_formats);
    let (best, seen) = best_of(&given, head.lines().take(SNIFF_LINES));
    best.is_some_and(|best| best.matched * 5 >= seen * 3)
}

/// How well a format fits.
struct Fit {
    index: usize,
    name: String,
    matched: usize,
    exact: usize,
    score: usize,
}

/// The format that fits best, of equals the first, and the number of lines.
fn best_of<'l>(
    templates: &[Template],
    sample: impl Iterator<Item = &'l str>,
) -> (Option<Fit>, usize) {
    let sample: Vec<&str> = sample.collect();
    let mut best: Option<Fit> = None;
    for (index, template) in templates.iter().enumerate() {
        let mut fit = Fit {
            index,
            name: template.name.clone(),
            matched: 0,
            exact: 0,
            score: 0,
        };
        for line in &sample {
            let mut fields = Fields::new();
            let line = lines::without_cri_prefix(line).trim_end();
            if let Ok(tail) = matched(template, line, &mut fields) {
                fit.matched += 1;
                fit.exact += usize::from(tail == Tail::None);
                fit.score += match tail {
                    Tail::None => 3,
                    Tail::Pairs => 2,
                    Tail::Unread => 1,
                };
            }
        }
        if best.as_ref().is_none_or(|known| fit.score > known.score) {
            best = Some(fit);
        }
    }
    (best, sample.len())
}

/// Puts the format that fits best first, and says whether its durations are in milliseconds.
fn choose(bytes: &[u8], templates: &mut [Template]) -> bool {
    let mut sample: Vec<String> = Vec::new();
    let head = bytes.get(..4 * lines::MAX_LINE_BYTES).unwrap_or(bytes);
    // What is wrong with these lines is said when they are read for good.
    lines::for_each(head, &mut Reporter::new(), |line, _| {
        if sample.len() < SAMPLE_LINES {
            sample.push(line.text.clone().into_owned());
        }
    });
    let (best, _) = best_of(templates, sample.iter().map(String::as_str));
    let Some(best) = best else {
        return false;
    };
    if let Some(front) = templates.get_mut(..=best.index) {
        front.rotate_right(1);
    }
    let mut guess = UnitGuess::default();
    if let Some(template) = templates.first() {
        for line in &sample {
            let mut fields = Fields::new();
            let line = lines::without_cri_prefix(line).trim_end();
            if matched(template, line, &mut fields).is_ok() {
                guess.see(&fields);
            }
        }
    }
    guess.is_in_millis()
}

/// What stands behind a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    None,
    Pairs,
    Unread,
}

fn matched<'a>(
    template: &Template,
    line: &'a str,
    fields: &mut Fields<'a>,
) -> Result<Tail, Mismatch> {
    let rest = template.match_line(line, fields)?;
    if rest.trim().is_empty() {
        return Ok(Tail::None);
    }
    if !rest.starts_with([' ', '\t']) {
        return Err(Mismatch {
            at: line.len() - rest.len(),
            expected: "the end of the line, or a blank".to_owned(),
        });
    }
    Ok(if key_values(rest, fields) > 0 {
        Tail::Pairs
    } else {
        Tail::Unread
    })
}

fn read_line(
    line: &Line<'_>,
    templates: &[Template],
    rows: &mut Rows<'_>,
) -> Result<(crate::model::request::Request, bool), String> {
    let text = lines::without_cri_prefix(&line.text).trim_end();
    let mut first: Option<(&str, Mismatch)> = None;
    for template in templates {
        let mut fields = Fields::new();
        match matched(template, text, &mut fields) {
            Ok(tail) => {
                let request = rows.request(&fields, template.escape, line.number)?;
                return Ok((request, tail != Tail::Unread));
            }
            Err(mismatch) => {
                first.get_or_insert((&template.name, mismatch));
            }
        }
    }
    Err(match first {
        Some((name, mismatch)) => format!(
            "at column {} expected {} of the format `{name}`",
            mismatch.at + 1,
            mismatch.expected
        ),
        None => "no log format is known".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::time::{NANOS_PER_SEC, Zone};
    use crate::formats::NamedLogFormat;
    use crate::model::request::Request;

    fn read_with(
        text: &[u8],
        name: &str,
        formats: &[NamedLogFormat],
    ) -> (Result<Vec<Request>, FormatError>, Reporter) {
        let zone = Zone::utc();
        let hints = Hints {
            name,
            request: None,
            zone: &zone,
            log_formats: formats,
        };
        let (mut out, mut log) = (Batch::default(), Reporter::new());
        let result = NginxLine.read(text, &hints, &mut out, &mut log);
        (result.map(|()| out.requests), log)
    }

    fn read(text: &str) -> Vec<Request> {
        read_with(text.as_bytes(), "access.log", &[]).0.unwrap()
    }

    const INGRESS: &str = r#"192.168.64.1 - - [07/Feb/2020:11:48:51 +0000] "POST /products HTTP/1.1" 200 59 "-" "curl/7.54.0" 89 0.001 [default-web-8080] [] 172.17.0.5:8080 59 0.002 200 529a007902362a5f51385a5fa7049884
192.168.64.1 - - [07/Feb/2020:11:49:50 +0000] "PATCHp /products/42 HTTP/1.1" 400 163 "-" "-" 0 0.000 [] [] - - - - 4c7d2079340e68353c7d0dfff00b904b
"#;

    #[test]
    fn ingress_nginx_by_default() {
        assert_eq!(
            NginxLine.sniff(&Head::new(INGRESS.as_bytes())),
            Sniff::Yes(90)
        );
        let requests = read(INGRESS);
        let first = &requests[0];
        assert_eq!(first.t.nanos(), 1_581_076_131 * NANOS_PER_SEC);
        assert_eq!(first.t_resolution_nanos, NANOS_PER_SEC);
        assert_eq!(first.duration_ms, Some(1.0));
        assert_eq!(first.upstream.as_ref(), "default-web-8080");
        assert_eq!(first.attempts.len(), 1);
        assert_eq!(first.attempts[0].response_ms, Some(2.0));
        assert_eq!(first.method.as_ref(), "POST");
        assert_eq!(first.path.as_ref(), "/products");
        assert_eq!(first.service.as_ref(), "nginx");
        assert!(requests[1].attempts.is_empty());
        assert_eq!(requests[1].upstream.as_ref(), "");
        assert_eq!(requests[1].status, Some(400));
    }

    #[test]
    fn additions_behind_a_preset_are_read_by_their_names() {
        let line = INGRESS.lines().next().unwrap();
        let requests = read(&format!("{line} uct=-, 1.009 uht=-, 1.024\n"));
        assert_eq!(requests[0].attempts.len(), 2);
        assert_eq!(requests[0].attempts[1].connect_ms, Some(1_009.0));
        assert_eq!(requests[0].attempts[1].header_ms, Some(1_024.0));
        assert_eq!(
            requests[0].request_id.as_ref(),
            "529a007902362a5f51385a5fa7049884"
        );
    }

    #[test]
    fn the_timed_shape_needs_no_format() {
        let requests = read(
            "127.0.0.1 - - [30/Nov/2026:14:02:34 +0000] \"GET /bad\\x22quote HTTP/1.1\" 200 12 \"-\" \"lab \\x22client\\x22\\x5Cx\" rt=1.006 uct=\"-, 0.000\" uht=\"-, 0.005\" urt=\"1.001, 0.005\" ua=\"198.18.80.2:8099, 198.18.80.3:8080\" us=\"504, 200\" rid=7d8116d539f2a91a8f0eaeebd155e6bb\n",
        );
        let request = &requests[0];
        assert_eq!(request.path.as_ref(), "/bad\"quote");
        assert_eq!(request.duration_ms, Some(1_006.0));
        assert!(request.attempts[0].connect_failed());
        assert_eq!(request.connect_ms(), Some(1_001.0));
        assert_eq!(request.attempts[1].addr.as_ref(), "198.18.80.3:8080");
    }

    #[test]
    fn a_read_time_out_is_no_failed_connect_where_connects_are_not_logged() {
        let line = r#"10.0.0.1 - - [07/Feb/2020:11:48:51 +0000] "GET / HTTP/1.1" 504 0 "-" "-" 89 60.001 [a-b-80] [] 10.0.0.5:80 0 60.001 504 x"#;
        let request = &read(line)[0];
        assert!(!request.attempts[0].connect_failed());
        assert_eq!(request.connect_ms(), None);
    }

    #[test]
    fn formats_of_every_escape_can_be_given() {
        let given = |format: &str, escape: &str| {
            vec![NamedLogFormat {
                name: "own".to_owned(),
                format: format.to_owned(),
                escape: escape.to_owned(),
            }]
        };
        let own = given(
            "$msec|$pod|$request_method|$request_uri|$upstream_connect_time",
            "default",
        );
        let text = b"1796045759.538|gw-6d5c9f7b8-hx2wq|GET|/a\\x22|0.001, 1.003\n";
        let zone = Zone::utc();
        let hints = Hints {
            name: "x.log",
            request: None,
            zone: &zone,
            log_formats: &own,
        };
        assert!(matches_given_format(&Head::new(text), &hints));
        let requests = read_with(text, "x.log", &own).0.unwrap();
        assert_eq!(requests[0].t_resolution_nanos, 1_000_000);
        assert_eq!(requests[0].path.as_ref(), "/a\"");
        assert_eq!(requests[0].service.as_ref(), "gw");
        assert_eq!(requests[0].attempts.len(), 2);
        let json = given(
            r#"{"w":"$time_iso8601","p":"$request_uri","c":"$upstream_connect_time"}"#,
            "json",
        );
        let text = br#"{"w":"2026-11-30T13:35:59+00:00","p":"/a\"b","c":""}"#;
        let requests = read_with(text, "x.log", &json).0.unwrap();
        assert_eq!(requests[0].path.as_ref(), "/a\"b");
        assert!(requests[0].attempts.is_empty());
    }

    #[test]
    fn a_bracketed_variable_of_another_name_is_the_group() {
        let formats = crate::formats::nginx::log_formats_of(
            "log_format up '$remote_addr [$time_local] \"$request\" $status $request_time [$up_full] [] $upstream_addr uct=$upstream_connect_time';",
        );
        let text = b"10.0.0.1 [30/Nov/2026:13:35:59 +0000] \"GET / HTTP/1.1\" 200 0.002 [default-web-8080] [] 10.0.0.2:80 uct=0.001\n";
        let requests = read_with(text, "x.log", &formats).0.unwrap();
        assert_eq!(requests[0].upstream.as_ref(), "default-web-8080");
        assert_eq!(requests[0].attempts[0].connect_ms, Some(1.0));
    }

    #[test]
    fn milliseconds_where_seconds_were_due_are_said() {
        let text = "10.0.0.1 - - [30/Nov/2026:13:35:59 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"-\" rt=23 uct=\"1\" urt=\"20\"\n";
        let (requests, log) = read_with(text.as_bytes(), "a.log", &[]);
        assert_eq!(requests.unwrap()[0].duration_ms, Some(23.0));
        assert!(log.into_warnings().iter().any(|w| w.code == "times_in_ms"));
    }

    #[test]
    fn bad_lines_are_named_and_the_rest_is_kept() {
        let text = format!("{INGRESS}what is this\n{}", INGRESS.get(..60).unwrap());
        let (requests, log) = read_with(text.as_bytes(), "a.log", &[]);
        assert_eq!(requests.unwrap().len(), 2);
        assert!(log.is_lossy());
        let warnings = log.into_warnings();
        let of = |code: &str| warnings.iter().find(|w| w.code == code).unwrap();
        assert_eq!(of("bad_line").at.as_deref(), Some("line 3"));
        assert!(
            of("bad_line").text.contains("expected"),
            "{}",
            of("bad_line").text
        );
        assert_eq!(of("truncated").at.as_deref(), Some("line 4"));
        let far = INGRESS.replace("2020", "1971");
        let (requests, _) = read_with(far.as_bytes(), "a.log", &[]);
        assert!(requests.unwrap_err().what.contains("far off"));
    }

    #[test]
    fn other_texts_are_refused() {
        assert_eq!(
            NginxLine.sniff(&Head::new(b"a b c\nd e f\n")),
            Sniff::NOT_AT_ALL
        );
        let mixed = format!("{INGRESS}x\ny\nz\nw\n");
        assert!(matches!(
            NginxLine.sniff(&Head::new(mixed.as_bytes())),
            Sniff::No { near: 50, .. }
        ));
    }

    #[test]
    fn every_shape_of_nginx_multivalue() {
        let Some(folder) = crate::base::testing::shared_data("logs/nginx-multivalue") else {
            return;
        };
        for name in ["access.timed.log", "access.upstreaminfo.log"] {
            let bytes = crate::base::fs::read(&folder.join(name)).unwrap();
            let (requests, log) = read_with(&bytes, name, &[]);
            assert!(!log.is_lossy());
            let requests = requests.unwrap();
            assert_eq!(requests.len(), 48);
            for request in &requests {
                let expected = match request.path.as_ref() {
                    "/refused" | "/blackhole" | "/dead" | "/readtimeout" | "/f503" | "/accel"
                    | "/errpage" | "/lateconnect" => Some(2),
                    "/static" => Some(0),
                    path if path.starts_with("/bad\"quote") => Some(0),
                    "/ok" | "/ka" | "/withauth" | "/abort" => Some(1),
                    _ => None,
                };
                if let Some(expected) = expected {
                    assert_eq!(request.attempts.len(), expected, "{}", request.path);
                }
            }
        }
    }

    #[test]
    fn the_public_ingress_log_is_read_whole() {
        let Some(path) =
            crate::base::testing::shared_data("public/logs/nginx_ingress_access_elastic.log")
        else {
            return;
        };
        let bytes = crate::base::fs::read(&path).unwrap();
        assert!(matches!(NginxLine.sniff(&Head::new(&bytes)), Sniff::Yes(_)));
        let (requests, log) = read_with(&bytes, "a.log", &[]);
        assert!(!log.is_lossy());
        assert_eq!(requests.unwrap().len(), 9);
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _outcome = read_with(&bytes, "a.log", &[]);
        }

        #[test]
        fn never_panics_near_a_line(cut in 0usize..330, junk in "[\\x00-\\x7fé]{0,12}") {
            let mut text = INGRESS.get(..cut.min(INGRESS.len())).unwrap_or("").to_owned();
            text.push_str(&junk);
            text.push_str(INGRESS.get(cut..).unwrap_or(""));
            let _outcome = read_with(text.as_bytes(), "a.log", &[]);
        }
    }
}
