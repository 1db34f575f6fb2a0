//! The protobuf wire format, read by hand: `profile.proto` needs four wire types, and a reader of its own keeps the
//! place of every fault and takes packed and unpacked numbers alike.

/// Why bytes are not protobuf, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WireError {
    /// Byte in the message that was being read.
    pub(super) at: usize,
    /// What was wrong.
    pub(super) what: &'static str,
}

/// The value of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A varint, or a fixed number.
    Number(u64),
    /// Bytes: text, a message or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(super) fn number(self) -> Option<u64> {
        match self {
            Value::Number(n) => Some(n),
            Value::Bytes(_) => None,
        }
    }

    pub(super) fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            Value::Number(_) => None,
        }
    }

    /// Calls `each` with every number of a repeated field; `None` when packed bytes are cut.
    pub(super) fn numbers(self, mut each: impl FnMut(u64)) -> Option<()> {
        match self {
            Value::Number(n) => each(n),
            Value::Bytes(bytes) => {
                let mut at = 0;
                while at < bytes.len() {
                    each(varint(bytes, &mut at)?);
                }
            }
        }
        Some(())
    }
}

/// The fields of a message, in order.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn field(&mut self) -> Result<(u64, Value<'a>), WireError> {
        let start = self.at;
        let fault = |what| WireError { at: start, what };
        let cut = fault("a field that is cut off");
        let tag = varint(self.bytes, &mut self.at).ok_or(cut)?;
        let mut take = |length: u64| {
            let end = usize::try_from(length)
                .ok()
                .and_then(|l| self.at.checked_add(l));
            let bytes = end.and_then(|end| self.bytes.get(self.at..end));
            self.at += bytes.map_or(0, <[u8]>::len);
            bytes.ok_or(cut)
        };
        let value = match tag & 7 {
            0 => Value::Number(varint(self.bytes, &mut self.at).ok_or(cut)?),
            1 => Value::Number(little_endian(take(8)?)),
            5 => Value::Number(little_endian(take(4)?)),
            2 => {
                let length = varint(self.bytes, &mut self.at).ok_or(cut)?;
                let end = usize::try_from(length)
                    .ok()
                    .and_then(|l| self.at.checked_add(l));
                let bytes = end
                    .and_then(|end| self.bytes.get(self.at..end))
                    .ok_or(cut)?;
                self.at += bytes.len();
                Value::Bytes(bytes)
            }
            _ => return Err(fault("a wire type that protobuf 3 does not have")),
        };
        match tag >> 3 {
            0 => Err(fault("a field with the number 0")),
            number => Ok((number, value)),
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.at = self.bytes.len();
        }
        Some(field)
    }
}

/// At most ten bytes of seven bits; `None` when they are cut or too many. Most have one or two.
#[inline]
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let rest = bytes.get(*at..)?;
    match rest {
        [a, ..] if *a < 0x80 => {
            *at += 1;
            Some(u64::from(*a))
        }
        [a, b, ..] if *b < 0x80 => {
            *at += 2;
            Some(u64::from(*a & 0x7f) | u64::from(*b) << 7)
        }
        _ => long_varint(rest, at),
    }
}

fn long_varint(rest: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for (byte, shift) in rest.iter().zip((0..70).step_by(7)) {
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        *at += 1;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_and_unpacked_numbers_are_alike() {
        let mut fields = Fields::new(b"\x08\x96\x01\x12\x03\x01\xac\x02");
        let (number, value) = fields.next().unwrap().unwrap();
        assert_eq!((number, value.number()), (1, Some(150)));
        let (number, value) = fields.next().unwrap().unwrap();
        let mut found = Vec::new();
        assert_eq!((number, value.numbers(|n| found.push(n))), (2, Some(())));
        assert_eq!(found, [1, 300]);
        assert_eq!(fields.next(), None);
    }

    #[test]
    fn cut_fields_are_errors_and_end_the_reading() {
        for bytes in [
            &b"\x12\x05ab"[..],
            b"\x08",
            b"\x0b",
            b"\x00\x01",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            let mut fields = Fields::new(bytes);
            assert!(fields.next().unwrap().is_err());
            assert_eq!(fields.next(), None);
        }
    }
}
