//! Reports for people and programs.
