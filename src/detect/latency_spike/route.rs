//! Paths as routes: without the query, with ids in them replaced.

/// `/order/8d3f…/items?x=1` → `/order/*/items`; a method before it and a scheme with a host are taken off. Numbers,
/// hexadecimal words of eight or more digits, UUIDs and very long segments are ids.
pub(in crate::detect) fn route_of(path: &str) -> String {
    let path = path.trim();
    let path = match path.split_once(' ') {
        Some((method, rest)) if method.bytes().all(|b| b.is_ascii_uppercase()) => rest.trim(),
        _ => path,
    };
    let path = match path.split_once("://") {
        Some((_, rest)) => rest
            .find('/')
            .map_or("/", |at| rest.get(at..).unwrap_or("/")),
        None => path,
    };
    let path = path.split(['?', '#', ';']).next().unwrap_or("");
    let segments: Vec<&str> = path
        .split('/')
        .map(|segment| if is_id(segment) { "*" } else { segment })
        .collect();
    let route = segments.join("/");
    if route.len() > 1 {
        route.trim_end_matches('/').to_owned()
    } else {
        route
    }
}

fn is_id(segment: &str) -> bool {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let is_hex = segment.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let is_number = digits > 0 && segment.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_number || (is_hex && digits > 0 && segment.len() >= 8) || segment.len() > 48
}

/// Whether two routes may be one, as a proxy and the service behind it name it: equal, one of them unknown, or one the
/// end of the other (`/prezipage/page` at the proxy is `/page` at the service).
pub(super) fn are_one(a: &str, b: &str) -> bool {
    let is_end = |long: &str, short: &str| short.starts_with('/') && long.ends_with(short);
    a.is_empty() || b.is_empty() || a == b || is_end(a, b) || is_end(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_queries_are_no_part_of_a_route() {
        assert_eq!(route_of("/prezipage/page?n=4&ms=244"), "/prezipage/page");
        assert_eq!(
            route_of("GET http://a.example/order/8d3f0c21aa/items/17/"),
            "/order/*/items/*"
        );
        assert_eq!(route_of("/"), "/");
        assert_eq!(route_of("/facade/feedback"), "/facade/feedback");
        assert!(are_one("/prezipage/page", "/page"));
        assert!(!are_one("/prezipage/page", "/item"));
    }
}
