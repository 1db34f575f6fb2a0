//! SQL over the tables.
