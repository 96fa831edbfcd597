//! Pure logic: bytes and numbers in, data out. No I/O, no clock, no thread, no `unsafe`.
#![forbid(unsafe_code)]

pub mod amount;
pub mod book;
pub mod compare;
pub mod duration;
pub mod escalate;
pub mod event;
pub mod fdinfo;
pub mod histogram;
pub mod history;
pub mod holding;
pub mod kernel_id;
pub mod lines;
pub mod memory;
pub mod moments;
pub mod names;
pub mod parse;
pub mod phases;
pub mod procstat;
pub mod profile;
pub mod progress;
pub mod ring_layout;
pub mod run;
pub mod shorthand;
pub mod signals;
pub mod split;
pub mod strands;
pub mod tally;
#[cfg(test)]
pub(crate) mod test_trace;
pub mod text;
pub mod timeline;
pub mod trace;
pub mod varint;
pub mod weights;
