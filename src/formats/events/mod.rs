//! Change events: what people and machines did, in CSV or JSON, with whatever columns the list has.
//!
//! A list of events has a time and a text that people wrote. Tables of measurements, load tests and logs have times too:
//! [`columns`] tells them apart and says why it refuses.

mod columns;
pub mod csv;
pub mod jsonl;
mod table;
