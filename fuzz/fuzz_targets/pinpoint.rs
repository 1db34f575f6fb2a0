#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tailscope_fuzz::read("pinpoint", bytes));
