//! The GPU memory of a supervised process tree: raw samples, and what is computed from them.
//!
//! A sample is what the kernel said at one moment; peak, steady and final are computed from the samples, so that a stored
//! run gives them again. What is not known is `None`, never 0.

pub mod clients;
pub mod sample;
pub mod seen;
pub mod series;
pub mod sums;
pub mod table;
