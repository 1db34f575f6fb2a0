//! Min–max pyramids over a column of values.
