//! A running wrap.
//!
//! ```text
//! front ── forks ─▶ supervisor ── forks ─▶ target
//!   │  channel  ◀─────▶ │  reader ─▶ ring ─▶ consumer ─▶ log, echo, book
//!   │                   │    target's prints ─▶ ring ─┘
//!   └ takeover when the supervisor dies      └ goes on when the front dies
//! ```
#![forbid(unsafe_code)]

pub mod channel;
pub mod consumer;
pub mod doze;
pub mod echo;
pub mod ending;
pub mod front;
pub mod intake;
pub mod left;
pub mod log;
pub mod outcome;
pub mod plan;
pub mod proc;
pub mod read_port;
pub mod reader;
pub mod ring;
pub mod room;
pub mod sampler;
pub mod shelf;
pub mod signalling;
pub mod source;
pub mod status;
pub mod supervise;
pub mod supervisor;
pub mod takeover;
pub mod target;
pub mod tree;
pub mod wires;
pub mod working;
