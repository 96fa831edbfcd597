//! Chrome's trace JSON, for viewers that do not read Perfetto's protobuf. Times in it are µs by its definition.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::core::names::Catalogue;
use crate::core::run::Run;
use crate::core::timeline::{Canvas, Facts, Name, Spans, Stretch, Track};
use crate::report::timeline::{Drawing, kernel, title};

/// Writes a trace.
#[derive(Debug)]
pub struct Chrome<'a> {
    out: Vec<u8>,
    names: &'a Catalogue,
    pid: i32,
    declared: HashSet<Track>,
    first: bool,
}

impl<'a> Chrome<'a> {
    /// A trace with its head written.
    pub fn new(run: &Run, names: &'a Catalogue) -> Self {
        let out = br#"{"displayTimeUnit":"ns","traceEvents":["#.to_vec();
        let mut new = Chrome { out, names, pid: run.pid.unwrap_or(1), declared: HashSet::new(), first: true };
        new.event(&json!({"name": "process_name", "ph": "M", "pid": new.pid, "args": {"name": title(run)}}));
        new
    }

    fn event(&mut self, value: &Value) {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(b',');
        }
        self.out.push(b'\n');
        self.out.extend_from_slice(value.to_string().as_bytes());
    }

    fn declare(&mut self, track: Track) {
        if self.declared.insert(track) && !track.counts() {
            let (pid, tid) = (self.pid, track.number());
            self.event(&json!({"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": track.name()}}));
            self.event(&json!({"name": "thread_sort_index", "ph": "M", "pid": pid, "tid": tid, "args": {"sort_index": tid}}));
        }
    }
}

/// ns as µs with three digits.
fn micros(ns: u64) -> Value {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(text, "{}.{:03}", ns / 1_000, ns % 1_000);
    text.parse::<serde_json::Number>().map_or(Value::Null, Value::Number)
}

fn args(facts: &Facts) -> Value {
    let mut all = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            all.insert(name.to_owned(), value);
        }
    };
    // A string: half of the ids are larger than JavaScript's numbers are exact.
    put("kernel_id", facts.kernel_id.map(|id| id.to_string().into()));
    put("bindings", facts.bindings.map(Value::from));
    put("list", facts.place.map(|p| p.0.name().into()));
    put("list_commands", facts.place.map(|p| p.1.into()));
    put("index", facts.place.map(|p| p.2.into()));
    put("main_commands", facts.main_commands.map(Value::from));
    put("open", facts.open.then_some(Value::Bool(true)));
    put("left", facts.left.then_some(Value::Bool(true)));
    Value::Object(all)
}

impl Spans for Chrome<'_> {
    fn span(&mut self, stretch: &Stretch) {
        let Stretch { track, name, from, until, facts } = *stretch;
        self.declare(track);
        let name = match name {
            Name::Kernel(id) => kernel(id, self.names),
            other => other.words().unwrap_or_default().into_owned(),
        };
        let mut event = json!({"name": name, "pid": self.pid, "tid": track.number(), "ts": micros(from), "args": args(&facts)});
        match until {
            Some(until) => {
                event["ph"] = "X".into();
                event["dur"] = micros(until - from);
            }
            // A beginning without an end is how this format says that something was still going on.
            None => event["ph"] = "B".into(),
        }
        self.event(&event);
    }
}

impl Canvas for Chrome<'_> {
    fn mark(&mut self, track: Track, words: &str, at: u64) {
        self.declare(track);
        let (pid, tid) = (self.pid, track.number());
        self.event(&json!({"name": words, "ph": "i", "s": "p", "pid": pid, "tid": tid, "ts": micros(at)}));
    }

    fn bytes(&mut self, track: Track, at: u64, amount: u64) {
        let name = format!("{} bytes", track.name());
        self.event(
            &json!({"name": name, "ph": "C", "pid": self.pid, "ts": micros(at), "args": {"bytes": amount}}),
        );
    }
}

impl Drawing for Chrome<'_> {
    fn take(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    fn close(&mut self) {
        self.out.extend_from_slice(b"\n]}\n");
    }
}
