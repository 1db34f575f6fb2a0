//! Formats that are known by name and not read.
//!
//! By content only, with the marks of `profiles.md` §1, `xray.md` §4 and `logs.md`. What comes first is what is surest.

use crate::formats::Head;

/// The name of what begins like this, with what to do instead; `None` when nobody knows it.
pub fn name_of(head: &Head<'_>) -> Option<String> {
    let (name, advice) = by_magic(head.bytes).or_else(|| by_json(head)).or_else(|| {
        // A log line may begin with a bracket, too: JSON has keys.
        let is_json = head
            .json
            .as_ref()
            .is_some_and(|json| !json.paths.is_empty());
        (head.is_text && !is_json).then(|| by_text(head)).flatten()
    })?;
    Some(format!(
        "looks like {name}, which this version does not read{}{advice}",
        if advice.is_empty() { "" } else { "; " }
    ))
}

/// A name, and what to do instead (or nothing).
type Known = (&'static str, &'static str);

/// First bytes that nothing else has.
fn by_magic(bytes: &[u8]) -> Option<Known> {
    const MAGICS: &[(&[u8], Known)] = &[
        (b"FLR\0", ("a Java Flight Recorder file", "")),
        (
            b"PERFILE2",
            (
                "perf.data",
                "give the output of `perf script`, once it is read",
            ),
        ),
        (b"\x7fELF", ("a program", "")),
        (b"SQLite format 3\0", ("an SQLite database", "")),
        (b"PAR1", ("a Parquet file", "")),
        (b"\x0a\x0d\x0d\x0a", ("a packet capture (pcapng)", "")),
        (b"\xd4\xc3\xb2\xa1", ("a packet capture (pcap)", "")),
        (b"\x89PNG", ("a picture", "")),
        (b"%PDF", ("a PDF", "")),
        (b"JAVA PROFILE 1.0", ("a Java heap dump (hprof)", "")),
        (b"BZh", ("a bzip2 archive", "unpack it first")),
        (b"\xfd7zXZ\0", ("an xz archive", "unpack it first")),
        (b"7z\xbc\xaf", ("a 7z archive", "unpack it first")),
    ];
    if let Some((_, known)) = MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(*known);
    }
    // `go 1.22 trace\0\0\0` (`profiles.md` §1).
    let is_go_trace = bytes.starts_with(b"go 1.")
        && bytes
            .get(..16)
            .is_some_and(|head| memchr::memmem::find(head, b" trace\0").is_some());
    if is_go_trace {
        return Some((
            "a Go execution trace",
            "it is no profile; give a CPU, mutex or block profile",
        ));
    }
    // Eight zero bytes, then 3 as a machine word.
    if bytes.get(..16) == Some(&[0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]) {
        return Some((
            "a CPU profile of the old binary kind",
            "convert it with `pprof -proto`",
        ));
    }
    None
}

/// Keys of JSON, all of which must be there.
fn by_json(head: &Head<'_>) -> Option<Known> {
    const SHAPES: &[(&[&str], Known)] = &[
        (&["resourceSpans"], ("OpenTelemetry traces (OTLP JSON)", "")),
        (
            &["resourceMetrics"],
            ("OpenTelemetry metrics (OTLP JSON)", ""),
        ),
        (&["resourceLogs"], ("OpenTelemetry logs (OTLP JSON)", "")),
        (
            &["resourceProfiles"],
            ("OpenTelemetry profiles (OTLP JSON)", ""),
        ),
        (&["batches[].scopeSpans"], ("a Tempo trace", "")),
        (
            &["batches[].instrumentationLibrarySpans"],
            ("a Tempo trace", ""),
        ),
        (&["trace.resourceSpans"], ("a Tempo trace", "")),
        (&["result.resourceSpans"], ("Jaeger traces (v3 API)", "")),
        (&["traces[].rootServiceName"], ("a Tempo search answer", "")),
        (
            &["summaries[].rootServiceName"],
            ("Jaeger trace summaries (v3 API)", ""),
        ),
        (&["data[].traceID"], ("Jaeger traces", "")),
        (&["data.traceID"], ("a Jaeger trace", "")),
        (&["traceID", "spans"], ("a Jaeger trace", "")),
        (&["[].traceId", "[].id"], ("Zipkin spans", "")),
        (&["[][].traceId", "[][].id"], ("Zipkin traces", "")),
        (&["shared.frames"], ("a speedscope profile", "")),
        (&["threadDump"], ("a Java thread dump in JSON", "")),
        (&["traceEvents"], ("a Chrome trace", "")),
        (&["[].ph", "[].ts"], ("a Chrome trace", "")),
        (&["[].thread_id", "[].frames"], ("a py-spy dump", "")),
        (&["meta", "threads", "libs"], ("a Firefox profile", "")),
        (&["__REALTIME_TIMESTAMP"], ("a systemd journal in JSON", "")),
        (&["status.operationState"], ("an Argo CD application", "")),
        (&["[].revision", "[].app_version"], ("a Helm history", "")),
        (&["services[].deployments"], ("an answer of Amazon ECS", "")),
        (&["AlarmHistoryItems"], ("a CloudWatch alarm history", "")),
        (&["detail-type", "detail"], ("an EventBridge event", "")),
        (&["panels", "schemaVersion"], ("a Grafana dashboard", "")),
        (
            &["response_flags", "upstream_cluster"],
            ("an access log of Envoy", ""),
        ),
        (
            &["log", "stream", "time"],
            (
                "a Docker container log",
                "take the `log` member out of each line",
            ),
        ),
        (&["kernel.TcpExtTCPSynRetrans"], ("counters of nstat", "")),
    ];
    SHAPES
        .iter()
        .find(|(paths, _)| paths.iter().all(|path| head.has(path)))
        .map(|(_, known)| *known)
}

/// Marks of text.
fn by_text(head: &Head<'_>) -> Option<Known> {
    let text = head.text.as_ref();
    let first = head.lines().next().unwrap_or("").trim();
    let lines: Vec<&str> = head.lines().take(40).collect();
    let most = |is: &dyn Fn(&str) -> bool| {
        !lines.is_empty() && lines.iter().filter(|l| is(l)).count() * 5 >= lines.len() * 4
    };
    let any = |is: &dyn Fn(&str) -> bool| lines.iter().any(|l| is(l));
    let lower = first.to_ascii_lowercase();
    if lower.starts_with("<!doctype html") || lower.starts_with("<html") {
        return Some((
            "an HTML page",
            "an error page in place of the answer, perhaps: ask again",
        ));
    }
    if lower.starts_with("<?xml") || lower.starts_with("<testresults") {
        let is_jtl = any(&|l| l.contains("<testResults"));
        return Some((
            if is_jtl {
                "a JMeter result (XML)"
            } else {
                "XML"
            },
            "",
        ));
    }
    by_dump(text, first, &most, &any)
        .or_else(|| by_log(first, &most, &any))
        .or_else(|| by_table(first, &any))
}

type Test<'t> = dyn Fn(&dyn Fn(&str) -> bool) -> bool + 't;

fn by_dump(text: &str, first: &str, most: &Test<'_>, any: &Test<'_>) -> Option<Known> {
    if text.contains("Full thread dump")
        || any(&|l| l.starts_with('"') && (l.contains(" nid=") || l.contains("tid=")))
        || any(&|l| l.starts_with("Thread ") && l.contains(": (state = "))
    {
        return Some(("a Java thread dump", ""));
    }
    if first.starts_with("heap profile: ") {
        return Some(("a heap profile in text", "ask for it without `debug=1`"));
    }
    if first.starts_with("--- contention") || first.starts_with("--- mutex") {
        return Some((
            "a contention profile in text",
            "ask for it without `debug=1`",
        ));
    }
    if first.starts_with("--- threadz") {
        return Some(("a thread dump of gperftools", ""));
    }
    if any(&|l| l.starts_with("Thread ") && (l.contains("(Thread 0x") || l.contains("(LWP "))) {
        return Some(("backtraces of gdb", ""));
    }
    if first.starts_with("Process ")
        && any(&|l| l.starts_with("Thread ") && l.contains("(idle)") || l.contains("(active"))
    {
        return Some(("a py-spy dump", ""));
    }
    let is_frame = |l: &str| {
        let bare = l.trim_start();
        bare.len() < l.len()
            && bare
                .split(' ')
                .next()
                .is_some_and(|word| word.len() >= 6 && word.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    if !first.is_empty() && first.ends_with(':') && any(&is_frame) {
        return Some(("the output of perf script", ""));
    }
    let is_folded = |l: &str| {
        l.rsplit_once(' ').is_some_and(|(stack, n)| {
            stack.contains(';') && !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())
        })
    };
    most(&is_folded).then_some(("folded stacks", ""))
}

fn by_log(first: &str, most: &Test<'_>, any: &Test<'_>) -> Option<Known> {
    // `2026/11/30 14:02:34 [error] 12#12: *3 connect() failed …` (`logs.md` §1.4).
    let is_nginx_error = |l: &str| {
        l.as_bytes().get(4) == Some(&b'/')
            && l.get(19..21) == Some(" [")
            && l.contains("] ")
            && l.contains('#')
    };
    if any(&is_nginx_error) {
        return Some(("an nginx error log", ""));
    }
    let is_directive = |l: &str| {
        let l = l.trim();
        l.ends_with([';', '{', '}']) || l.starts_with('#')
    };
    let names_nginx = |l: &str| {
        let l = l.trim_start();
        [
            "log_format ",
            "worker_processes ",
            "http {",
            "server {",
            "proxy_pass ",
            "upstream ",
        ]
        .iter()
        .any(|word| l.starts_with(word))
    };
    if any(&names_nginx) && most(&|l| is_directive(l) || l.trim_start().starts_with(['\'', '"'])) {
        return Some((
            "an nginx configuration",
            "its log formats are used for the logs beside it",
        ));
    }
    let is_haproxy = |l: &str| l.contains("haproxy[") && l.contains(" [") && l.contains('/');
    if any(&is_haproxy) {
        return Some(("a log of HAProxy", ""));
    }
    let is_gc = |l: &str| {
        l.contains("[gc")
            || l.contains(": [GC (")
            || l.contains(": [Full GC")
            || l.contains("HotSpot(TM)")
            || l.starts_with("CommandLine flags: -XX")
            || l.contains("[GC pause")
            || l.contains("[safepoint")
    };
    if any(&is_gc) {
        return Some(("a GC log of a JVM", ""));
    }
    if first.starts_with("[20") && first.contains("HTTP/") && first.contains("\" ") {
        return Some(("an access log of Envoy", ""));
    }
    if first.starts_with("# Server") || any(&|l| l.starts_with("redis_version:")) {
        return Some(("the INFO of Redis", ""));
    }
    if any(&|l| l.starts_with("__CURSOR=")) {
        return Some(("a systemd journal in its export format", ""));
    }
    // The time stands first in a classic load balancer's line, behind the type in an application load balancer's.
    let is_time = |word: &str| word.contains('T') && word.ends_with('Z');
    let has_time = first.split(' ').take(2).any(is_time);
    if first.split(' ').count() >= 12 && has_time && first.contains("HTTP/") {
        return Some(("an access log of AWS load balancers", ""));
    }
    // `Nov 30 14:09:12 host ident[12]: …`.
    let is_syslog = |l: &str| {
        let clock = l.get(7..15).unwrap_or("").as_bytes();
        clock.get(2) == Some(&b':') && clock.get(5) == Some(&b':') && l.contains("]: ")
    };
    most(&is_syslog).then_some(("a syslog or journal in text", ""))
}

fn by_table(first: &str, any: &Test<'_>) -> Option<Known> {
    let header = first.to_ascii_lowercase();
    if header.contains("mean_test_time") && header.contains("tps") {
        return Some(("an nGrinder result", ""));
    }
    if header.starts_with("timestamp,elapsed,label") {
        return Some(("a JMeter result (JTL)", ""));
    }
    if header.starts_with("timestamp,user count,") || header.starts_with("type,name,request count")
    {
        return Some(("a result of Locust", ""));
    }
    if header.starts_with("tcpext: ") || header.starts_with("ip: forwarding") {
        return Some(("/proc/net/netstat or snmp", ""));
    }
    if header.starts_with("entries ") && header.contains("insert_failed") {
        return Some(("/proc/net/stat/nf_conntrack", ""));
    }
    if header.starts_with("cpu=") && header.contains("insert_failed=") {
        return Some(("the output of conntrack -S", ""));
    }
    if header.starts_with("[journal]") || any(&|l| l.starts_with("RateLimit")) {
        return Some(("a journald configuration", ""));
    }
    // `LAST SEEN   TYPE   REASON   OBJECT   MESSAGE`, with `NAMESPACE` before it for all namespaces.
    let is_kubectl = header.contains("last seen") && header.contains("reason");
    let is_yaml = any(&|l| {
        l.trim_start_matches(['-', ' '])
            .starts_with("involvedObject:")
    });
    if is_kubectl || is_yaml {
        return Some((
            "Kubernetes events as a table or YAML",
            "save them with `kubectl get events -A -o json`",
        ));
    }
    if header.starts_with("begin:vcalendar") {
        return Some(("a calendar", ""));
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(text: &[u8]) -> String {
        name_of(&Head::new(text)).unwrap_or_default()
    }

    #[test]
    fn well_known_files_have_names() {
        for (text, expected) in [
            ("FLR\0abc", "Flight Recorder"),
            ("go 1.22 trace\0\0\0", "Go execution trace"),
            ("<!DOCTYPE html><html>", "HTML"),
            (r#"{"resourceSpans":[]}"#, "OTLP"),
            (r#"[{"traceId":"a","id":"b"}]"#, "Zipkin"),
            (r#"{"data":[{"traceID":"a","spans":[]}]}"#, "Jaeger"),
            (
                "2026-11-30 14:00:00\nFull thread dump OpenJDK\n",
                "Java thread dump",
            ),
            ("a;b;c 12\na;b 3\n", "folded stacks"),
            (
                "2026/11/30 14:02:34 [error] 12#12: *3 connect() failed (111: Connection refused)\n",
                "nginx error log",
            ),
            (
                "log_format a '$status';\nserver {\n}\n",
                "nginx configuration",
            ),
            (
                "<134>Nov 30 13:35:19 haproxy[12]: 10.0.0.1:1 [30/Nov/2026:13:35:19.123] fe be/s 0/0/1/2/3 200 5 - - ---- 1/1/0/0/0 0/0 \"GET / HTTP/1.1\"\n",
                "HAProxy",
            ),
            ("[0.014s][info][gc] Using G1\n", "GC log"),
            ("# Server\r\nredis_version:7.0.15\r\n", "Redis"),
            (
                "DateTime,vuser,Tests,Errors,Mean_Test_Time_(ms),TPS\n2026-11-30 14:51:27,1,2,0,3,4\n",
                "nGrinder",
            ),
            ("timeStamp,elapsed,label\n1,2,x\n", "JMeter"),
            (
                "LAST SEEN   TYPE      REASON    OBJECT      MESSAGE\n5m          Warning   BackOff   pod/web-0   Back-off\n",
                "Kubernetes events as a table",
            ),
            (
                "apiVersion: v1\nitems:\n- apiVersion: v1\n  involvedObject:\n    kind: Pod\n",
                "Kubernetes events as a table or YAML",
            ),
        ] {
            let name = name(text.as_bytes());
            assert!(name.contains(expected), "{text:?} gave {name:?}");
            assert!(name.contains("does not read"), "{name}");
        }
        assert_eq!(name(b"some words\n"), "");
        assert_eq!(name(b""), "");
    }

    #[test]
    fn recorded_files_are_named_right() {
        let cases = [
            ("public/logs/haproxy_httplog_small.log", "HAProxy"),
            ("public/logs/gc_unified_g1.log", "GC log"),
            ("public/logs/gc_jdk8_332.log", "GC log"),
            ("public/logs/journald_lnav.json", "journal"),
            ("public/logs/jmeter_jtl_with_connect.csv", "JMeter"),
            ("public/logs/ngrinder_output_v3.0_columns.csv", "nGrinder"),
            ("public/logs/locust_stats_history_grpc_head.csv", "Locust"),
            ("public/logs/proc_net_netstat.txt", "netstat"),
            ("public/logs/proc_net_stat_nf_conntrack.txt", "nf_conntrack"),
            ("public/logs/aws_classic_elb_elastic.log", "AWS load"),
            ("logs/nginx-multivalue/nginx-error.log", "nginx error log"),
            ("logs/nginx-multivalue/nginx.conf", "nginx configuration"),
            ("logs/snat-1s3s/input/haproxy.log", "HAProxy"),
        ];
        for (path, expected) in cases {
            let Some(path) = crate::base::testing::shared_data(path) else {
                continue;
            };
            let name = name(&crate::base::fs::read(&path).unwrap());
            assert!(name.contains(expected), "{} gave {name:?}", path.display());
        }
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _name = name(&bytes);
        }
    }
}
