//! Rows → report.
