//! The lane as a whole, from series to readings.
