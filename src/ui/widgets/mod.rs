//! Small things that several panels draw.

pub mod caps;
pub mod rows;
pub mod text;
