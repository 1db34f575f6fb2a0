//! Korean particles: which form follows depends on how the word before ends. Messages write both forms, `을(를)`, and the one
//! that fits is chosen once the words are filled in.

/// Both forms as messages write them; after a closed syllable, after an open one. The third of `(으)로` treats ㄹ as open.
const PAIRS: &[(&str, &str, &str)] = &[
    ("이(가)", "이", "가"),
    ("을(를)", "을", "를"),
    ("은(는)", "은", "는"),
    ("(으)로", "으로", "로"),
    ("과(와)", "과", "와"),
];

/// How a word ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Open,
    Closed,
    /// On ㄹ: closed for all but `(으)로`.
    Rieul,
}

/// Chooses the forms.
pub(super) fn chosen(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let next = PAIRS
            .iter()
            .filter_map(|pair| Some((rest.find(pair.0)?, pair)))
            .min_by_key(|(at, _)| *at);
        let Some((at, (both, closed, open))) = next else {
            out.push_str(rest);
            return out;
        };
        let Some((before, tail)) = rest.split_at_checked(at) else {
            out.push_str(rest);
            return out;
        };
        out.push_str(before);
        let is_open = match ending(&out) {
            Ending::Open => true,
            Ending::Rieul => *both == "(으)로",
            Ending::Closed => false,
        };
        out.push_str(if is_open { open } else { closed });
        rest = tail.strip_prefix(both).unwrap_or("");
    }
}

/// By the last letter or digit as it is read aloud; what stands in brackets or quotes behind it is not looked at.
fn ending(text: &str) -> Ending {
    let Some(last) = text
        .chars()
        .rev()
        .find(|c| c.is_alphanumeric() || *c == '%')
    else {
        return Ending::Open;
    };
    match last {
        '가'..='힣' => match (u32::from(last) - 0xac00) % 28 {
            0 => Ending::Open,
            8 => Ending::Rieul,
            _ => Ending::Closed,
        },
        '1' | '7' | '8' | 'l' | 'L' | 'r' | 'R' => Ending::Rieul,
        '0' | '3' | '6' | 'm' | 'M' | 'n' | 'N' => Ending::Closed,
        _ => Ending::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particles_follow_the_end_of_the_word() {
        for (text, wanted) in [
            ("메모리이(가) 9에서 4,389(으)로", "메모리가 9에서 4,389로"),
            ("파일이(가) 10(으)로", "파일이 10으로"),
            ("서울(으)로, 7(으)로, 3(으)로", "서울로, 7로, 3으로"),
            ("937 MiB(으)로", "937 MiB로"),
            ("p99을(를) 1.23 s(으)로", "p99를 1.23 s로"),
            ("gw-main을(를)", "gw-main을"),
            ("Observe()이(가)", "Observe()가"),
            ("없음", "없음"),
            ("(으)로", "로"),
        ] {
            assert_eq!(chosen(text), wanted);
        }
    }
}
