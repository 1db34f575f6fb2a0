//! The index page: which profiles there are, and how many entries each has (`profiles.md` §3).

use crate::base::percent::decode;

/// One line of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// Name of the profile.
    pub(super) name: String,
    /// Its count, when the page says one.
    pub(super) count: Option<u64>,
}

/// The handlers of the page that are no profiles.
const SPECIALS: &[&str] = &["profile", "trace", "cmdline", "symbol"];

/// Reads `<td>COUNT</td><td><a href='NAME?debug=1'>…`, as Go writes it since 1.8; the quotes may be of either kind. `None`
/// for a page that links to no profile.
pub(super) fn read(page: &[u8]) -> Option<Vec<Listed>> {
    let page = String::from_utf8_lossy(page);
    let mut found: Vec<Listed> = Vec::new();
    let mut rest: &str = &page;
    while let Some((before, after)) = rest.split_once("href=") {
        rest = after;
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
            continue;
        };
        let mut parts = after.splitn(3, quote);
        let link = parts.nth(1).unwrap_or_default();
        let Some((name, query)) = link.split_once('?') else {
            continue;
        };
        let name = decode(name);
        let name = name
            .rsplit_once("/debug/pprof/")
            .map_or(name.as_str(), |(_, last)| last);
        let is_known = SPECIALS.contains(&name) || found.iter().any(|l| l.name == name);
        let is_name = !name.is_empty() && !name.starts_with('/') && !name.contains(':');
        if !query.starts_with("debug=") || !is_name || is_known {
            continue;
        }
        let name = name.to_owned();
        found.push(Listed {
            name,
            count: count_before(before),
        });
    }
    (!found.is_empty()).then_some(found)
}

/// `…<td>12</td><td><a `, `…<td align=right>12<td><a ` of old Go.
fn count_before(text: &str) -> Option<u64> {
    let cell = text.rsplit_once("<td><a").map(|(before, _)| before)?;
    let cell = cell.strip_suffix("</td>").unwrap_or(cell);
    let digits = cell.rsplit_once('>').map(|(_, digits)| digits)?;
    digits.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Go 1.19 writes it.
    const PAGE: &str = "<html>\n<head>\n<title>/debug/pprof/</title>\n</head><body>/debug/pprof/<br>\n<table>\n<thead><td>Count</td><td>Profile</td></thead>\n<tr><td>14</td><td><a href='allocs?debug=1'>allocs</a></td></tr>\n<tr><td>0</td><td><a href='cmdline?debug=1'>cmdline</a></td></tr>\n<tr><td>4309</td><td><a href='goroutine?debug=1'>goroutine</a></td></tr>\n<tr><td>0</td><td><a href='profile?debug=1'>profile</a></td></tr>\n<tr><td>2</td><td><a href='example.com%2Fshop.orders?debug=1'>x</a></td></tr>\n</table>\n<a href=\"goroutine?debug=2\">full goroutine stack dump</a><br>";

    #[test]
    fn the_page_of_go() {
        let found = read(PAGE.as_bytes()).unwrap();
        let found: Vec<(&str, Option<u64>)> =
            found.iter().map(|l| (l.name.as_str(), l.count)).collect();
        assert_eq!(
            found,
            [
                ("allocs", Some(14)),
                ("goroutine", Some(4309)),
                ("example.com/shop.orders", Some(2)),
            ]
        );
    }

    #[test]
    fn another_page_is_no_index() {
        for page in [
            "",
            "404 page not found\n",
            "<html><a href='/login?next=1'>log in</a><a href=x>y</a><a href='",
            "<a href='https://x/y?debug=1'>",
        ] {
            assert_eq!(read(page.as_bytes()), None, "{page}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200), at in 0usize..700) {
            let mut page = PAGE.as_bytes().to_vec();
            let at = at.min(page.len());
            page.splice(at..at, bytes);
            let _found = read(&page);
        }
    }
}
