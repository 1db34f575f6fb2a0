//! Snapshot → Polars tables.
