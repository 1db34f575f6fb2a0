//! Formats that are known by name and not read.

use crate::formats::Head;

/// The name of what begins like this, with what to do instead; `None` when nobody knows it.
pub fn name_of(_head: &Head<'_>) -> Option<String> {
    None
}
