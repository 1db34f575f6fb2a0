//! Protobuf on the wire, read by hand so that of a cut message every whole field is kept.
//! Form: <https://protobuf.dev/programming-guides/encoding/>.

/// Protobuf's wire format (and snappy's integers).
#[derive(Clone, Copy)]
pub(super) struct Wire<'a>(pub(super) &'a [u8]);

/// The value of a field.
pub(super) enum Field<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Fixed64(u64),
    /// Wire type 2.
    Bytes(&'a [u8]),
    /// Anything else.
    Other,
}

impl<'a> Wire<'a> {
    /// The next byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// A number of so many bytes, the lowest first.
    pub(super) fn little(&mut self, bytes: usize) -> Option<usize> {
        let mut value = 0;
        for shift in 0..bytes {
            value |= usize::from(self.byte()?) << (8 * shift);
        }
        Some(value)
    }

    /// A number of seven bits a byte, the lowest first.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// The next field; of bytes that are cut, what there is, with `false`.
    pub(super) fn field(&mut self) -> Option<(u64, Field<'a>, bool)> {
        let key = self.varint()?;
        let field = match key & 7 {
            0 => Field::Varint(self.varint()?),
            1 => {
                let (bytes, rest) = self.0.split_first_chunk::<8>()?;
                self.0 = rest;
                Field::Fixed64(u64::from_le_bytes(*bytes))
            }
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                let take = len.min(self.0.len());
                let (bytes, rest) = self.0.split_at_checked(take)?;
                self.0 = rest;
                return Some((key >> 3, Field::Bytes(bytes), take == len));
            }
            5 => {
                self.0 = self.0.get(4..)?;
                Field::Other
            }
            _ => return None,
        };
        Some((key >> 3, field, true))
    }
}
