//! Small things that several panels draw.

pub mod brief;
pub mod caps;
pub mod rows;
pub mod text;
