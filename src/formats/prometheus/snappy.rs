//! A snappy block, also a cut one: what comes before the cut is given.

use super::wire::Wire;

/// What a block gives, up to `most` bytes, and whether that is all of it. `None` when it is no snappy block.
///
/// The format: <https://github.com/google/snappy/blob/main/format_description.txt>.
pub(super) fn unpack(block: &[u8], most: usize) -> Option<(Vec<u8>, bool)> {
    let mut wire = Wire(block);
    let total = usize::try_from(wire.varint()?).ok()?;
    // A copy of 3 bytes makes at most 64, so that a block never grows more than 22-fold. A header that claims more lies
    // or belongs to a cut block; then nothing is set aside for it.
    let is_plausible = total <= block.len().saturating_mul(22).saturating_add(64);
    if most >= total
        && is_plausible
        && let Ok(whole) = snap::raw::Decoder::new().decompress_vec(block)
    {
        return Some((whole, true));
    }
    let limit = total.min(most);
    let mut out: Vec<u8> = Vec::new();
    while out.len() < limit {
        let Some(tag) = wire.byte() else { break };
        let done = match tag & 3 {
            0 => literal(tag, &mut wire, &mut out, limit),
            1 => wire.byte().and_then(|low| {
                let offset = usize::from(tag >> 5) << 8 | usize::from(low);
                copy(offset, usize::from(tag >> 2 & 7) + 4, &mut out)
            }),
            2 => wire
                .little(2)
                .and_then(|offset| copy(offset, usize::from(tag >> 2) + 1, &mut out)),
            _ => wire
                .little(4)
                .and_then(|offset| copy(offset, usize::from(tag >> 2) + 1, &mut out)),
        };
        if done.is_none() {
            break;
        }
    }
    out.truncate(limit);
    (!out.is_empty() || total == 0).then(|| {
        let is_whole = out.len() == total;
        (out, is_whole)
    })
}

fn literal(tag: u8, wire: &mut Wire<'_>, out: &mut Vec<u8>, limit: usize) -> Option<()> {
    let short = usize::from(tag >> 2);
    let len = if short < 60 {
        short
    } else {
        wire.little(short - 59)?
    } + 1;
    let take = len.min(wire.0.len());
    let (bytes, rest) = wire.0.split_at_checked(take)?;
    wire.0 = rest;
    out.extend(bytes.iter().take(limit.saturating_sub(out.len())));
    (take == len).then_some(())
}

fn copy(offset: usize, len: usize, out: &mut Vec<u8>) -> Option<()> {
    let from = out.len().checked_sub(offset).filter(|_| offset > 0)?;
    for at in from..from + len {
        let byte = *out.get(at)?;
        out.push(byte);
    }
    Some(())
}
