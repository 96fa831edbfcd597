//! Pure logic: bytes and numbers in, data out. No I/O, no clock, no thread, no `unsafe`.
#![forbid(unsafe_code)]

pub mod book;
pub mod compare;
pub mod duration;
pub mod escalate;
pub mod event;
pub mod fdinfo;
pub mod histogram;
pub mod kernel_id;
pub mod lines;
pub mod memory;
pub mod moments;
pub mod names;
pub mod parse;
pub mod procstat;
pub mod profile;
pub mod progress;
pub mod run;
pub mod signals;
pub mod tally;
pub mod text;
pub mod timeline;
pub mod trace;
