//! `hrx-wrap`: an exec supervisor for llama.cpp on AMD GPUs.
//!
//! Layers, imports point down only (`tests/layers.rs` checks it):
//!
//! ```text
//! main → cmd → report → core     core: pure, bytes and numbers in, data out
//!        cmd → live   → sys → core     sys: the only unsafe/libc/nix code
//! ```
//!
//! The straight way of a line: the target's stderr → [`live::reader`] (stamps at read) → [`live::ring`]
//! → [`live::consumer`] → the kept trace, the echo and [`core`]'s sinks → [`report`].

pub mod cli;
pub mod cmd;
pub mod core;
pub mod live;
pub mod report;
pub mod sys;
