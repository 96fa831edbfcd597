//! Chrome's trace JSON, for viewers that do not read Perfetto's protobuf. Times in it are µs by its definition.

use std::io::Write as _;

use serde_json::{Map, Value, json};

use crate::core::names::Catalogue;
use crate::core::run::Run;
use crate::core::timeline::{Canvas, Facts, Name, Spans, Stretch, Track};
use crate::report::timeline::bodies::Bodies;
use crate::report::timeline::{Declared, Drawing, kernel, title};

/// Writes a trace.
#[derive(Debug)]
pub struct Chrome<'a> {
    out: Vec<u8>,
    names: &'a Catalogue,
    pid: i32,
    declared: Declared,
    bodies: Bodies,
    first: bool,
}

impl<'a> Chrome<'a> {
    /// A trace with its head written.
    pub fn new(run: &Run, names: &'a Catalogue) -> Self {
        let out = br#"{"displayTimeUnit":"ns","traceEvents":["#.to_vec();
        let mut new = Chrome {
            out,
            names,
            pid: run.pid.unwrap_or(1),
            declared: Declared::default(),
            bodies: Bodies::default(),
            first: true,
        };
        new.event(
            &json!({"name": "process_name", "ph": "M", "pid": new.pid, "args": {"name": title(run)}}),
            &[],
        );
        new
    }

    /// An event of this, and of times in ns.
    fn event(&mut self, said: &Value, times: &[(&str, u64)]) {
        begin(&mut self.out, &mut self.first);
        self.out.extend_from_slice(open(said).as_bytes());
        end(&mut self.out, times);
    }

    fn declare(&mut self, track: Track) {
        if self.declared.first(track) && !track.counts() {
            let (pid, tid) = (self.pid, track.number());
            self.event(&json!({"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": track.name()}}), &[]);
            self.event(&json!({"name": "thread_sort_index", "ph": "M", "pid": pid, "tid": tid, "args": {"sort_index": tid}}), &[]);
        }
    }
}

/// Separates an event from the one before.
fn begin(out: &mut Vec<u8>, first: &mut bool) {
    if !std::mem::replace(first, false) {
        out.push(b',');
    }
    out.push(b'\n');
}

/// An object's text without its closing brace.
fn open(said: &Value) -> String {
    let mut text = said.to_string();
    text.pop();
    text
}

/// The times of an event, and its closing brace: ns as µs with three digits, exactly.
fn end(out: &mut Vec<u8>, times: &[(&str, u64)]) {
    for (field, ns) in times {
        // Writing to a Vec cannot fail.
        let _ = write!(out, ",\"{field}\":{}.{:03}", ns / 1_000, ns % 1_000);
    }
    out.push(b'}');
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
        let Chrome { out, names, pid, bodies, first, .. } = self;
        begin(out, first);
        out.extend_from_slice(bodies.of(stretch, |body| {
            let name = match name {
                Name::Kernel(id) => kernel(id, names),
                other => other.words().unwrap_or_default().into_owned(),
            };
            let said = json!({"name": name, "pid": pid, "tid": track.number(), "args": args(&facts)});
            body.extend_from_slice(open(&said).as_bytes());
        }));
        match until {
            Some(until) => {
                out.extend_from_slice(br#","ph":"X""#);
                end(out, &[("ts", from), ("dur", until - from)]);
            }
            None => {
                // A beginning without an end is how this format says that something was still going on.
                out.extend_from_slice(br#","ph":"B""#);
                end(out, &[("ts", from)]);
            }
        }
    }
}

impl Canvas for Chrome<'_> {
    fn mark(&mut self, track: Track, words: &str, at: u64) {
        self.declare(track);
        let (pid, tid) = (self.pid, track.number());
        self.event(&json!({"name": words, "ph": "i", "s": "p", "pid": pid, "tid": tid}), &[("ts", at)]);
    }

    fn bytes(&mut self, track: Track, at: u64, amount: u64) {
        let name = format!("{} bytes", track.name());
        let said = json!({"name": name, "ph": "C", "pid": self.pid, "args": {"bytes": amount}});
        self.event(&said, &[("ts", at)]);
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
