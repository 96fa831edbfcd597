//! Parsers of what a target prints. On bytes, unanchored, and none of them can fail.

pub mod detail;
pub mod llama;
pub mod rejoin;
pub mod serial;
