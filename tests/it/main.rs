//! The integration tests, in one binary: linking Polars once is enough.

mod cli;
mod compliance;
mod fixtures;
mod floors;
mod hostile;
mod prom_cases;
mod support;
