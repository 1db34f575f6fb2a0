//! Small things that several panels draw.
