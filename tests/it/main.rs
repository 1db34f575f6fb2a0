//! The integration tests, in one binary: linking Polars once is enough.

mod cli;
mod hostile;
mod support;
