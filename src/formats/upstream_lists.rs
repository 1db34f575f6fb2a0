//! The `$upstream_*` lists (`logs.md` §1.3): `value (", " value)* (" : " value (", " value)*)*`, zipped by position.
//! Access logs write them, and proxies put them on spans.

/// The elements of a list, each with whether it opens a new group (stands behind ` : `). Addresses of IPv6 and unix
/// sockets hold `:` without spaces, so only the separators with their spaces count.
pub(super) fn elements(list: &str) -> impl Iterator<Item = (&str, bool)> {
    // Nearly every list has one element; setting up a search for strings costs more than looking for a blank.
    let (one, many) = if list.bytes().any(|b| b == b' ') {
        (None, Some(list))
    } else {
        (Some((list.trim(), false)), None)
    };
    one.into_iter().chain(many.into_iter().flat_map(split))
}

fn split(list: &str) -> impl Iterator<Item = (&str, bool)> {
    list.split(" : ").enumerate().flat_map(|(group, members)| {
        members
            .split(", ")
            .enumerate()
            .map(move |(at, element)| (element.trim(), group > 0 && at == 0))
    })
}

/// How far a list reaches in `text` when a blank ends it: a blank that belongs to `, ` or ` : ` does not.
pub(super) fn list_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(blank) = bytes.get(at..).and_then(|rest| memchr::memchr(b' ', rest)) {
        let blank = at + blank;
        let after_comma = blank > 0 && bytes.get(blank - 1) == Some(&b',');
        let is_colon = bytes.get(blank..blank + 3) == Some(b" : ");
        if after_comma {
            at = blank + 1;
        } else if is_colon {
            at = blank + 3;
        } else {
            return blank;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_groups_first() {
        let split: Vec<_> = elements("[2001:db8::7]:5000, unix:/run/a.sock : b").collect();
        assert_eq!(
            split,
            [
                ("[2001:db8::7]:5000", false),
                ("unix:/run/a.sock", false),
                ("b", true)
            ]
        );
    }

    #[test]
    fn a_list_ends_at_a_blank_of_its_own() {
        for (text, list) in [
            ("0.000, - : 0.000 200", "0.000, - : 0.000"),
            ("- -", "-"),
            ("10.0.0.1:80, 10.0.0.2:80 12", "10.0.0.1:80, 10.0.0.2:80"),
            ("0.001", "0.001"),
        ] {
            assert_eq!(text.get(..list_len(text)), Some(list));
        }
    }
}
