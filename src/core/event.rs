//! The one event model: every parser yields events, every report is made of them.

use crate::core::lines::Line;
use crate::core::parse::llama::Said;
use crate::core::parse::rejoin::Serial;

/// What the target said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// What follows is of this process, by its pid. Without this nobody knows whose a line is.
    Process(u32),
    /// An event of the HRX serial trace.
    Serial(&'a Serial<'a>),
    /// A head or a detail of the serial trace that could not be joined.
    Broken,
    /// A wait for the device failed: phase, detail and reason, in the logger's words.
    SyncFailed(&'a [u8]),
    /// A program's account of what it is: llama.cpp's `build …` line, from the word `build` on.
    Build(&'a [u8]),
    /// A line of llama.cpp's about memory or about where it is.
    Llama(Said<'a>),
    /// A line of the host-weight trace.
    HostWeights,
    /// Any other text.
    Text(&'a [u8]),
}

/// Takes what a run says, in its order. Profile, split and counters are sinks.
pub trait Sink {
    /// A line (or a part of a very long one), before its events.
    fn line(&mut self, line: &Line<'_>);
    /// An event. It may belong to an earlier line: a head whose detail came late.
    fn event(&mut self, event: &Event<'_>);
}
