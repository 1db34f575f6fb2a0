//! Percent-encoding of URLs and forms (RFC 3986 §2.1, WHATWG URL §5).

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Percent-encodes one path segment or query value: all but RFC 3986's unreserved characters.
pub fn encode(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    encode_into(&mut text, value);
    text
}

/// [`encode`], at the end of a text.
pub fn encode_into(text: &mut String, value: &str) {
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            _ => {
                text.push('%');
                for half in [byte >> 4, byte & 15] {
                    text.push(
                        DIGITS
                            .get(usize::from(half))
                            .copied()
                            .map_or('0', char::from),
                    );
                }
            }
        }
    }
}

/// Undoes [`encode`]. A `+` is a space, as in forms; what is no escape stays; bytes that are no UTF-8 become U+FFFD.
pub fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => break,
            [b'%', high, low, after @ ..] if let Some(byte) = escaped(*high, *low) => {
                bytes.push(byte);
                after
            }
            [b'+', after @ ..] => {
                bytes.push(b' ');
                after
            }
            [byte, after @ ..] => {
                bytes.push(*byte);
                after
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn escaped(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_escape_stays() {
        for (text, plain) in [
            ("a%20b+c", "a b c"),
            ("100%", "100%"),
            ("%2", "%2"),
            ("%+1%-1%zz", "% 1%-1%zz"),
            ("%ED%95%9C", "한"),
            ("%ff", "\u{fffd}"),
        ] {
            assert_eq!(decode(text), plain, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text in ".*") {
            let coded = encode(&text);
            prop_assert!(coded.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~%".contains(&b)));
            prop_assert_eq!(decode(&coded), text);
        }
    }
}
