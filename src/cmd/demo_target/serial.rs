//! Command programs as the backend executes them, with their lines in its order when the serial trace is on.

use super::args::{DieAt, Trouble};
use super::device::{FILL, Kernel, Sequence};
use super::lines::{Lines, write_text};
use super::odd::die_of;
use super::stderr::Stderr;
use super::switches::Switches;
use super::timing::{Busy, Timing};
use crate::core::signals::KILL;

/// A program: what the backend made of a graph.
#[derive(Debug)]
pub struct Program {
    /// Its kernels in their order.
    pub sequence: &'static Sequence,
    /// Commands of its main list.
    pub commands: usize,
    /// Commands of its init list.
    pub init_commands: usize,
    /// Its transient arena, bytes; in practice never 0.
    pub transient_arena: u64,
    /// Host buffers that are uploaded before it runs: value and length in bytes.
    pub uploads: &'static [(u32, u64)],
}

/// The end of a run by a failure of the backend.
#[derive(Debug, PartialEq, Eq)]
pub struct Failed;

/// The pretended backend of one llama.cpp context after another.
pub struct Backend<S> {
    /// Where the lines go.
    pub lines: Lines<S>,
    /// What the environment asked for.
    pub switches: Switches,
    /// How long things take.
    timing: Timing,
    /// Where to die or fail.
    trouble: Trouble,
    /// Dispatches begun since the start.
    dispatches: u64,
}

/// One command of a list, and whether its lines carry a detail.
struct Command<'a> {
    kernel: &'a Kernel,
    detail: Vec<u8>,
    traced: bool,
}

/// The device waits before the lists of a program; its host transfers follow.
const BEFORE: [&str; 10] = [
    "host-staging-rebind-pre",
    "host-staging-rebind-post",
    "transient-arena-acquire-pre",
    "transient-arena-acquire-post",
    "transient-bind-pre",
    "transient-bind-post",
    "constant-initialization-pre",
    "constant-initialization-post",
    "completion-counter-initialization-pre",
    "completion-counter-initialization-post",
];

impl<S: Stderr> Backend<S> {
    /// A backend that has done nothing yet.
    pub fn new(lines: Lines<S>, switches: Switches, timing: Timing, trouble: &Trouble) -> Self {
        Self { lines, switches, timing, trouble: trouble.clone(), dispatches: 0 }
    }

    /// Runs a program as a first run does, with kernels to compile, and goes back to the usual times.
    pub fn warm_up(&mut self, program: &Program) -> Result<(), Failed> {
        let usual = self.timing;
        self.timing = usual.compiling();
        let result = self.run(program);
        self.timing = usual;
        result
    }

    /// Runs a program to its end.
    pub fn run(&mut self, program: &Program) -> Result<(), Failed> {
        if !self.switches.serial {
            return self.replay(program);
        }
        let short = format!("main_commands={} init_commands={}", program.commands, program.init_commands);
        let full = format!("{short} transient_arena={}", program.transient_arena);
        self.lines.line("begin", "command-program", full.as_bytes());
        for phase in BEFORE {
            self.sync(phase, full.as_bytes());
        }
        let result = self.execute(program, short.as_bytes());
        let event = if result.is_ok() { "end" } else { "failed" };
        self.lines.line(event, "command-program", full.as_bytes());
        result
    }

    /// Uploads, the two lists, the download.
    fn execute(&mut self, program: &Program, detail: &[u8]) -> Result<(), Failed> {
        self.sync("host-staging-upload-pre", detail);
        for (value, length) in program.uploads {
            let buffer = format!("value={value} length={length}");
            self.sync("host-staging-upload-buffer-pre", buffer.as_bytes());
            self.sync("host-staging-upload-buffer-post", buffer.as_bytes());
        }
        self.sync("host-staging-upload-post", detail);
        self.list(program, "init", program.init_commands, |_| &FILL)?;
        self.list(program, "main", program.commands, |index| {
            program.sequence.kernel(index, program.commands)
        })?;
        self.sync("host-staging-download-pre", detail);
        self.sync("host-staging-download-post", detail);
        Ok(())
    }

    /// One list. An empty one has its two lines as well.
    fn list(
        &mut self,
        program: &Program,
        list: &str,
        commands: usize,
        kernel: impl Fn(usize) -> &'static Kernel,
    ) -> Result<(), Failed> {
        let traced = self.switches.traces_program(program.commands);
        let detail = format!("list={list} list_commands={commands} main_commands={}", program.commands);
        if traced {
            self.lines.line("begin", "command-list", detail.as_bytes());
        }
        for index in 0..commands {
            let mut command = Command {
                kernel: kernel(index),
                detail: Vec::new(),
                traced: self.switches.traces_command(program.commands, index),
            };
            if command.traced {
                command.describe(list, index, commands);
            }
            self.dispatch(&command)?;
        }
        if traced {
            self.lines.line("end", "command-list", detail.as_bytes());
        }
        Ok(())
    }

    /// One command: six lines with its detail when it is traced, else its two waits, four lines without one.
    fn dispatch(&mut self, command: &Command<'_>) -> Result<(), Failed> {
        self.dispatches += 1;
        let device_ns = self.timing.device_ns(command.kernel);
        self.sync("command-pre-dispatch", &command.detail);
        if command.traced {
            self.lines.line("begin", "command-dispatch", &command.detail);
        }
        self.die_if(DieAt::Launch, Busy::IDLE);
        let busy = self.timing.launch(device_ns);
        if command.traced {
            self.die_if(DieAt::Line, busy);
            self.lines.line("end", "command-dispatch", &command.detail);
        }
        let phase = "command-post-dispatch";
        self.lines.line("sync-begin", phase, &command.detail);
        self.die_if(DieAt::Device, busy);
        self.timing.wait(busy);
        if self.trouble.fail_sync == Some(self.dispatches) {
            self.sync_failed(phase, &command.detail);
            return Err(Failed);
        }
        self.lines.line("sync-end", phase, &command.detail);
        Ok(())
    }

    /// A wait for a device that is idle.
    fn sync(&mut self, phase: &str, detail: &[u8]) {
        self.lines.line("sync-begin", phase, detail);
        self.lines.line("sync-end", phase, detail);
    }

    /// What llama.cpp's logger prints for a wait that fails.
    fn sync_failed(&mut self, phase: &str, detail: &[u8]) {
        let mut text = Vec::new();
        write_text(&mut text, format_args!("HRX debug serial sync failed phase={phase} "));
        text.extend_from_slice(detail);
        text.extend_from_slice(b": device lost\n");
        self.lines.out.print(&text);
    }

    /// Without the trace: a recorded graph, launched as one and waited for once.
    fn replay(&mut self, program: &Program) -> Result<(), Failed> {
        let kernels = (0..program.commands).map(|index| program.sequence.kernel(index, program.commands));
        let device_ns = kernels.map(|kernel| self.timing.device_ns(kernel)).sum();
        let busy = self.timing.launch(device_ns);
        let before = self.dispatches;
        self.dispatches += program.commands as u64;
        let within = |at: Option<u64>| at.is_some_and(|k| before < k && k <= self.dispatches);
        if within(self.trouble.die_in_dispatch) {
            self.die(busy);
        }
        self.timing.wait(busy);
        if within(self.trouble.fail_sync) {
            return Err(Failed);
        }
        Ok(())
    }

    /// Dies if this is the dispatch and the point to die at.
    fn die_if(&mut self, at: DieAt, busy: Busy) {
        if self.trouble.die_in_dispatch == Some(self.dispatches) && self.trouble.die_at == at {
            if at == DieAt::Line {
                self.lines.head("end", "command-dispatch");
            }
            self.die(busy);
        }
    }

    /// Dies in the middle of the device's work.
    fn die(&self, busy: Busy) {
        self.timing.wait_half(busy);
        die_of(self.trouble.die_signal.unwrap_or(KILL));
    }
}

impl Command<'_> {
    /// Fills in the detail. The ordinal is the index: what the backend's scheduler gives a list without barriers.
    fn describe(&mut self, list: &str, index: usize, commands: usize) {
        let Kernel { bindings, .. } = self.kernel;
        let id = self.kernel.id();
        write_text(
            &mut self.detail,
            format_args!(
                "list={list} index={index} list_commands={commands} ordinal={index} kind=Kernel \
                 kernel_id={id} bindings={bindings}"
            ),
        );
    }
}

#[cfg(test)]
#[path = "serial_tests.rs"]
mod tests;
