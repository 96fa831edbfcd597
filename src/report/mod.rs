//! Pure writers: a run's record and its book in, text or JSON out. They decide nothing and read nothing.
#![forbid(unsafe_code)]

pub mod compare_json;
pub mod compare_rows;
pub mod compare_text;
pub mod json;
pub mod kernels;
pub mod memory_json;
pub mod memory_text;
pub mod page;
pub mod profile_json;
pub mod profile_text;
pub mod split_json;
pub mod split_text;
pub mod tables;
pub mod text;
pub mod timeline;
pub mod view;

use crate::core::book::Book;
use crate::core::memory::seen::Seen;
use crate::core::memory::series::Series;
use crate::core::memory::sums::Sums;
use crate::core::names::Catalogue;
use crate::core::run::{Counters, Run};
use crate::core::split::Split;
use crate::core::text::count;
use view::View;

/// What a report is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The record.
    pub run: &'a Run,
    /// The sums of the lines; absent when they were lost.
    pub book: Option<&'a Book>,
    /// The samples of the memory; absent when they are not at hand.
    pub memory: Option<&'a Series>,
    /// How the facts came here.
    pub source: &'a Source,
    /// The kernels' names.
    pub names: &'a Catalogue,
    /// Where names came from, and what was wrong with them; a sentence each.
    pub naming: &'a [String],
    /// How tables are shown.
    pub view: View,
}

/// Why a trace that ends inside a line is not whole.
const CUT_INSIDE: &str = "the trace is cut: it ends inside a line";

/// How the facts of a report came to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// `live`, or what was read.
    pub made: String,
    /// The trace's last line was cut.
    pub torn: bool,
    /// Lines of the trace that are neither stamped nor ours.
    pub unstamped: u64,
    /// The run goes on at this moment.
    pub running: bool,
    /// What was wrong with the samples that were read, a sentence each.
    pub samples: Vec<String>,
}

impl Subject<'_> {
    /// Why this is not the whole story, if it is not.
    pub fn partial(&self) -> Option<String> {
        if let Some(end) = &self.run.end {
            return end.partial.clone().or_else(|| self.cut(&end.counters));
        }
        if self.source.running {
            return Some("the run is still going on".to_owned());
        }
        if self.run.pid.is_none() && !self.run.tool.name.is_empty() {
            return Some("the run was cut off before its target was known to be started".to_owned());
        }
        // A trace of another tool has no record at all: nothing says that it should have an end, but for a line's.
        let ours = !self.run.tool.name.is_empty();
        if !ours {
            return self.source.torn.then(|| CUT_INSIDE.to_owned());
        }
        Some("the run was cut off: everything was killed at once, or the trace is cut".to_owned())
    }

    /// What a trace lacks of the lines that the record has counted.
    fn cut(&self, counted: &Counters) -> Option<String> {
        let there = self.book?.tally.lines;
        let kept = counted.lines.saturating_sub(counted.log_lost_lines);
        let lines = |n| count(n, "line");
        if there == 0 && kept > 0 {
            return Some(format!("the trace is not at hand: none of its {} is in this report", lines(kept)));
        }
        if there < kept {
            return Some(format!("the trace is cut: {there} of {} are in it", lines(kept)));
        }
        if there < counted.lines {
            let lost = lines(counted.lines - there);
            return Some(format!("the trace lacks {lost} of {}: the disk did not take them", counted.lines));
        }
        self.source.torn.then(|| CUT_INSIDE.to_owned())
    }

    /// The counters: as counted while the run went on, else as far as the lines tell.
    fn counters(&self) -> Option<Counters> {
        let live = self.run.end.as_ref().map(|end| &end.counters);
        let tally = self.book.map(|book| &book.tally);
        let mut counters = live.cloned().unwrap_or_default();
        // A log that misses lines says so in the record; else the lines themselves are the better witness.
        if let Some(tally) = tally
            && counters.log_lost_lines == 0
        {
            (counters.lines, counters.bytes) = (tally.lines, tally.bytes);
            (counters.trace_lines, counters.broken) = (tally.trace_lines, tally.broken);
        }
        (live.is_some() || tally.is_some()).then_some(counters)
    }

    /// What the samples add up to: computed from them where they are at hand, else as the record has it.
    pub fn sums(&self) -> Option<Sums> {
        let noted = self.seen().map(|seen| seen.sums.clone());
        self.memory.map(|series| Sums::by_phases(series, self.book.map(|b| &b.phases))).or(noted)
    }

    /// What was seen of the memory besides its samples.
    pub fn seen(&self) -> Option<&Seen> {
        self.run.end.as_ref().and_then(|end| end.memory.as_ref())
    }

    /// Whether the dispatches are a matter of this report: asked for, traced, or the trace of another tool.
    pub fn about_dispatches(&self) -> bool {
        let traced = self.book.is_some_and(|b| b.tally.trace_lines + b.tally.broken > 0);
        self.run.profile || traced || self.run.tool.name.is_empty()
    }

    /// A trace of another tool that has dispatches or nothing else to report.
    pub fn expects_dispatches(&self) -> bool {
        let traced = self.book.is_some_and(|b| b.tally.trace_lines + b.tally.broken > 0);
        self.run.tool.name.is_empty() && (traced || !self.about_memory())
    }

    /// The split of its memory: of every run whose lines or samples tell of memory, or that was asked for it.
    pub fn split(&self) -> Option<Split> {
        let split = Split::of(self.book?, self.memory, self.run);
        (self.run.split || !split.is_empty()).then_some(split)
    }

    /// Whether the text tells of memory: asked for, in the trace of another tool, or so that `--strict` fails by it.
    pub fn about_memory(&self) -> bool {
        let bare = self.run.tool.name.is_empty();
        self.run.split || self.split().is_some_and(|split| bare || split.fails())
    }

    /// Not one dispatch was seen.
    pub fn no_dispatch(&self) -> bool {
        self.book.is_some_and(|b| !b.profile.has_dispatch())
    }

    /// Up to when what is open was open: the target's end, else the last line.
    fn open_until(&self) -> u64 {
        let last = self.book.map_or(0, |b| b.profile.last_ns());
        self.run.end.as_ref().map_or(last, |end| end.at_ns.max(last))
    }

    /// From the run's start to the target's end, ns.
    fn duration_ns(&self) -> Option<u64> {
        let end = self.run.end.as_ref()?;
        end.at_ns.checked_sub(self.run.clock.start_ns)
    }
}
