//! What kind of work a method row is, by the type of its API, its class and its title (`pinpoint.md` §4, "what it looks
//! like").

use super::tree::Row;
use crate::model::span::SpanKind;

/// A part that a waterfall shows by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Waiting for a connection of a pool.
    Pool,
    /// Waiting for a lock, in this process or in another.
    Lock,
    /// Making a connection.
    Connect,
    /// A statement of a database.
    Sql,
    /// A call of a cache or key-value store.
    Cache,
    /// A call over HTTP or another protocol between programs.
    Call,
    /// Putting a message somewhere.
    Message,
    /// Anything else.
    Own,
}

impl Part {
    /// The word in the span's attributes; empty for what is nothing special.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Pool => "pool_wait",
            Self::Lock => "lock",
            Self::Connect => "connect",
            Self::Sql => "sql",
            Self::Cache => "cache",
            Self::Call => "call",
            Self::Message => "message",
            Self::Own => "",
        }
    }

    /// The role of its span.
    pub(super) const fn kind(self) -> SpanKind {
        match self {
            Self::Connect | Self::Sql | Self::Cache | Self::Call => SpanKind::Client,
            Self::Message => SpanKind::Producer,
            Self::Pool | Self::Lock | Self::Own => SpanKind::Internal,
        }
    }

    /// Whether its time is spent waiting for a turn.
    pub(super) const fn is_wait(self) -> bool {
        matches!(self, Self::Pool | Self::Lock)
    }
}

/// Descriptions of connection pools (service types 6050 to 6070).
const POOLS: &[&str] = &[
    "HIKARICP",
    "DBCP",
    "DBCP2",
    "DRUID",
    "TOMCAT_JDBC",
    "C3P0",
    "VIBUR",
];
/// Descriptions of clients of other programs, without their `_INTERNAL` twins, which run inside one.
const CALLS: &[&str] = &[
    "HTTP_CLIENT",
    "OK_HTTP",
    "JDK_HTTP",
    "GOOGLE_HTTP",
    "NING_ASYNC",
    "ASYNC_HTTP",
    "REST_TEMPLATE",
    "SPRING_WEBFLUX",
    "WEBCLIENT",
    "RESTTEMPLATE",
    "VERTX_HTTP_CLIENT",
    "AKKA_HTTP_CLIENT",
    "GRPC",
    "DUBBO_CONSUMER",
    "THRIFT_CLIENT",
    "JDK_HTTPCONNECTOR",
    "REACTOR_NETTY",
];
/// Descriptions of caches (8000 to 8299).
const CACHES: &[&str] = &["REDIS", "MEMCACHED", "ARCUS", "EHCACHE", "HAZELCAST"];
/// Descriptions of queues (8300 to 8799).
const QUEUES: &[&str] = &["KAFKA", "RABBITMQ", "ACTIVEMQ", "ROCKETMQ", "PULSAR", "JMS"];
/// Databases whose description may come without the schema in brackets.
const DATABASES: &[&str] = &[
    "MYSQL",
    "MARIADB",
    "ORACLE",
    "MSSQL",
    "POSTGRESQL",
    "CUBRID",
    "CASSANDRA",
    "MONGO",
    "H2",
    "CLICKHOUSE",
    "INFORMIX",
    "JTDS",
    "DAMENG",
    "SQLITE",
];

/// What a method row is.
pub(super) fn of(row: &Row<'_>) -> Part {
    let api = row.api_type.to_ascii_uppercase();
    let starts = |words: &[&str]| words.iter().any(|word| api.starts_with(word));
    let method = row
        .title
        .split('(')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let is_database = starts(DATABASES) && !starts(POOLS);
    let class = row.class.to_ascii_lowercase();
    let is_pool = starts(POOLS) || class.contains("pool") || class.ends_with("datasource");
    if is_pool
        && matches!(
            method.as_str(),
            "getconnection" | "borrowobject" | "acquire" | "take"
        )
    {
        return Part::Pool;
    }
    if is_lock(&method, &class) {
        return Part::Lock;
    }
    let is_client = starts(CALLS) || api.contains("NETTY");
    if (is_database || is_client || starts(CACHES))
        && (method.starts_with("connect") || method == "open")
    {
        return Part::Connect;
    }
    if is_database {
        Part::Sql
    } else if starts(CACHES) {
        Part::Cache
    } else if starts(QUEUES) {
        Part::Message
    } else if is_client && !api.contains("INTERNAL") {
        Part::Call
    } else {
        Part::Own
    }
}

/// Taking a lock: `tryLock`, `lock`, `lockInterruptibly` of a class that is one. Giving it back is no wait.
fn is_lock(method: &str, class: &str) -> bool {
    let takes = matches!(
        method,
        "lock" | "trylock" | "lockinterruptibly" | "lockasync" | "trylockasync" | "acquire"
    );
    let is_one = ["lock", "mutex", "semaphore"]
        .iter()
        .any(|word| class.contains(word));
    takes && (is_one || method != "acquire")
}

/// Whom a row talks to: the address or the schema.
pub(super) fn peer(row: &Row<'_>, part: Part) -> Option<String> {
    let arguments = row.arguments;
    match part {
        Part::Sql => row
            .api_type
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(')'))
            .map(|(schema, _)| schema.to_owned())
            .filter(|schema| !schema.is_empty()),
        Part::Call | Part::Connect | Part::Pool => host(arguments),
        Part::Lock | Part::Cache | Part::Message | Part::Own => None,
    }
}

/// The host with its port of a URL or an address: `pay.local/charge`, `jdbc:mysql://db.local:3306/shop`, `10.0.0.1:6379`.
fn host(text: &str) -> Option<String> {
    let first = text.split([' ', ',']).next()?;
    let rest = first.split_once("://").map_or(first, |(_, rest)| rest);
    let host = rest.split(['/', '?', ';']).next()?;
    let host = host.rsplit('@').next()?;
    (host.contains(['.', ':']) || (!host.is_empty() && rest.len() > host.len()))
        .then(|| host.to_owned())
}
