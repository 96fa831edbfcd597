//! Kept traces with times of our choice, so that what comes out of them is known to the nanosecond.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

/// A decode program of so many layers, three kernels each: ids 41 (matrix product), 42 (attention) and 43 (norm).
pub struct Run {
    /// Runs of the program.
    pub tokens: u64,
    /// Layers of it.
    pub layers: u64,
    /// Device times of the three kernels, ns.
    pub device: [u64; 3],
    /// Ids of the three kernels.
    pub ids: [u64; 3],
    /// By how much a program run is slower than the one before, at most, percent: the run's own spread.
    pub jitter: u64,
    /// By how much the first run is slower than the others, percent.
    pub first: u64,
    /// The indices of the commands that are traced.
    pub traced: std::ops::Range<u64>,
    /// Fields of the header that are other than usual.
    pub header: Vec<(&'static str, Value)>,
    /// Lines of the log before the first program.
    pub log: Vec<&'static str>,
    /// The target was killed in the middle of the last program.
    pub killed: bool,
}

impl Default for Run {
    fn default() -> Run {
        Run {
            tokens: 12,
            layers: 10,
            device: [100_000, 60_000, 20_000],
            ids: [41, 42, 43],
            jitter: 1,
            first: 0,
            traced: 0..u64::MAX,
            header: Vec::new(),
            log: Vec::new(),
            killed: false,
        }
    }
}

impl Run {
    /// With a kernel that takes so many percent more.
    pub fn slower(mut self, kernel: usize, percent: u64) -> Run {
        self.device[kernel] += self.device[kernel] * percent / 100;
        self
    }

    /// With a field of the header.
    pub fn with(mut self, key: &'static str, value: Value) -> Run {
        self.header.push((key, value));
        self
    }

    /// As a kept trace.
    pub fn text(&self) -> String {
        let mut out = Writer { text: String::new(), now: 1_000_000_000 };
        for (key, value) in self.fields() {
            writeln!(out.text, "# hrx-wrap/1 {key} {value}").unwrap();
        }
        out.line(100, "build: 7 (abc) with cc");
        for line in &self.log {
            out.line(1_000_000, line);
        }
        for token in 0..self.tokens {
            // 0, 1, 2 hundredths of the jitter, over and over: known, and not all the same.
            let more = token % 3 * self.jitter + if token == 0 { self.first * 10 } else { 0 };
            self.program(&mut out, more, self.killed && token + 1 == self.tokens);
        }
        if !self.killed {
            let exit = json!({"code": 0, "signal": null, "cause": "exited"});
            let end = json!({"at_ns": out.now + 1_000, "exit": exit, "status": 0});
            writeln!(out.text, "# hrx-wrap/1 end {end}").unwrap();
        }
        out.text
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        let mut all = vec![
            ("schema", json!("hrx-wrap/1")),
            ("tool", json!({"name": "hrx-wrap", "version": "0.1.0"})),
            ("command", json!(["llama-bench", "-m", "m.gguf"])),
            ("profile", json!(true)),
            ("stamped", json!("read")),
            ("stdio", json!("pipe")),
            (
                "clock",
                json!({"name": "CLOCK_MONOTONIC", "resolution_ns": 1, "start_ns": 1_000_000_000_u64,
                             "start_utc": "2026-11-29T20:00:00Z"}),
            ),
            ("pid", json!(7)),
        ];
        for (key, value) in &self.header {
            all.retain(|(known, _)| known != key);
            all.push((key, value.clone()));
        }
        all
    }

    fn program(&self, out: &mut Writer, more: u64, cut: bool) {
        let commands = self.layers * 3;
        let detail = format!("main_commands={commands} init_commands=0");
        out.trace(20_000, &format!("begin phase=command-program {detail}"));
        let list = format!("list=main list_commands={commands} main_commands={commands}");
        out.trace(1_000, &format!("begin phase=command-list {list}"));
        for index in (0..commands).filter(|index| self.traced.contains(index)) {
            let kind = (index % 3) as usize;
            let device = self.device[kind] * (1_000 + more) / 1_000;
            let stop = cut && index == commands / 2;
            out.dispatch(index, commands, self.ids[kind], device, stop);
            if stop {
                return;
            }
        }
        out.trace(1_000, &format!("end phase=command-list {list}"));
        out.trace(1_000, &format!("end phase=command-program {detail}"));
    }

    /// As a run's folder with samples: GTT in MiB at equal times from the start to the end.
    pub fn folder(&self, path: &Path, gtt_mib: &[Option<u64>]) {
        let text = self.text();
        std::fs::create_dir_all(path).expect("a folder");
        std::fs::write(path.join("trace.log"), &text).expect("a trace");
        let last = text
            .lines()
            .filter_map(|l| l.split(' ').next()?.parse::<u64>().ok())
            .next_back()
            .expect("a line");
        let mut table = "ns\tgtt_bytes\tgtt_total_bytes\tvram_bytes\trss_bytes\tdevice_gtt_used_bytes\tclients\tfds\tstate\n".to_owned();
        for (n, mib) in (0..).zip(gtt_mib) {
            let ns = 1_000_000_000 + (last - 1_000_000_000) * n / gtt_mib.len() as u64;
            let bytes = mib.map_or(String::new(), |mib| (mib << 20).to_string());
            let state = if mib.is_some() { "ok" } else { "partial" };
            writeln!(table, "{ns}\t{bytes}\t\t\t{}\t\t1\t1\t{state}", (n + 1) << 20).unwrap();
        }
        std::fs::write(path.join("gtt.tsv"), table).expect("samples");
    }

    /// As a kept trace in a file.
    pub fn write(&self, path: &Path) {
        std::fs::write(path, self.text()).expect("a trace");
    }
}

struct Writer {
    text: String,
    now: u64,
}

impl Writer {
    fn line(&mut self, after: u64, text: &str) {
        self.now += after;
        writeln!(self.text, "{} {text}", self.now).unwrap();
    }

    fn trace(&mut self, after: u64, text: &str) {
        self.line(after, &format!("hrx debug serial: {text}"));
    }

    fn dispatch(&mut self, index: u64, commands: u64, kernel: u64, device: u64, stop: bool) {
        let d = format!(
            "list=main index={index} list_commands={commands} ordinal={index} kind=Kernel kernel_id={kernel} bindings=4"
        );
        for (after, head) in [
            (1_000, "sync-begin phase=command-pre-dispatch"),
            (9_000, "sync-end phase=command-pre-dispatch"),
            (500, "begin phase=command-dispatch"),
            (4_000, "end phase=command-dispatch"),
            (200, "sync-begin phase=command-post-dispatch"),
        ] {
            self.trace(after, &format!("{head} {d}"));
        }
        if !stop {
            self.trace(device - 200, &format!("sync-end phase=command-post-dispatch {d}"));
        }
    }
}
