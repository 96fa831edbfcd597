//! A serial trace under construction, with times of the test's choice.

use crate::core::book::Book;
use crate::core::lines::Line;
use crate::core::profile::Profile;

/// The fields of a kernel's lines.
pub fn fields(index: u64, commands: u64, kernel: u64, bindings: u64) -> String {
    format!(
        "list=main index={index} list_commands={commands} ordinal={index} kind=Kernel kernel_id={kernel} \
         bindings={bindings}"
    )
}

/// Stamped lines.
pub struct Trace {
    pub lines: Vec<(u64, String)>,
    pub now: u64,
    /// Before the wait of a dispatch, in it, and from there to the launch, ns.
    pub pace: [u64; 3],
    pub bindings: u64,
}

impl Default for Trace {
    fn default() -> Self {
        Trace { lines: Vec::new(), now: 0, pace: [10, 5, 3], bindings: 2 }
    }
}

impl Trace {
    /// A line of the serial trace, so many ns after the last one.
    pub fn line(&mut self, after: u64, text: &str) {
        self.now += after;
        self.lines.push((self.now, format!("hrx debug serial: {text}")));
    }

    /// A dispatch up to its launch.
    pub fn begin(&mut self, fields: &str) {
        let [before, wait, host] = self.pace;
        self.line(before, &format!("sync-begin phase=command-pre-dispatch {fields}"));
        self.line(wait, &format!("sync-end phase=command-pre-dispatch {fields}"));
        self.line(host, &format!("begin phase=command-dispatch {fields}"));
    }

    /// The rest of it.
    pub fn end(&mut self, fields: &str, launch: u64, device: u64) {
        self.line(launch, &format!("end phase=command-dispatch {fields}"));
        self.line(0, &format!("sync-begin phase=command-post-dispatch {fields}"));
        self.line(device, &format!("sync-end phase=command-post-dispatch {fields}"));
    }

    /// A whole dispatch.
    pub fn dispatch(&mut self, index: u64, commands: u64, kernel: u64, launch: u64, device: u64) {
        let fields = fields(index, commands, kernel, self.bindings);
        self.begin(&fields);
        self.end(&fields, launch, device);
    }

    /// A program with a host phase of 7 ns: a dispatch for each of the devices' times, of kernels with numbers that follow
    /// each other.
    pub fn program(&mut self, kernel: u64, launch: u64, devices: &[u64]) {
        let commands = devices.len() as u64;
        let own = format!("main_commands={commands} init_commands=0");
        self.line(10, &format!("begin phase=command-program {own}"));
        self.line(1, &format!("sync-begin phase=transient-bind-pre {own}"));
        self.line(1, &format!("sync-end phase=transient-bind-pre {own}"));
        self.line(7, &format!("sync-begin phase=transient-bind-post {own}"));
        self.line(1, &format!("sync-end phase=transient-bind-post {own}"));
        for (index, device) in (0..).zip(devices) {
            self.dispatch(index, commands, kernel + index, launch, *device);
        }
        self.line(1, &format!("end phase=command-program {own}"));
    }

    /// Hands on its lines.
    pub fn each(&self, mut take: impl FnMut(&Line<'_>)) {
        for (ns, text) in &self.lines {
            take(&line(*ns, text));
        }
    }

    /// What it adds up to.
    pub fn profile(&self) -> Profile {
        let mut book = Book::default();
        self.each(|line| book.take(line, |_, _| {}));
        book.finish();
        book.profile
    }
}

/// A whole line.
pub fn line(ns: u64, text: &str) -> Line<'_> {
    Line { ns, bytes: text.as_bytes(), first: true, last: true, terminated: true }
}
