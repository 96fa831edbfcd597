//! A terminal for tests: a pseudo-terminal with a session of its own on it.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::Stdio;

use nix::sys::termios::{OutputFlags, SetArg, tcgetattr, tcsetattr};

use super::{Collected, Running, through, wait_until};
use hrx_wrap::sys::term::{self, WindowSize};

/// A terminal with a shell on it, as a user sits at one.
pub struct Terminal {
    keys: File,
    /// What the terminal shows.
    pub screen: Collected,
    /// The shell.
    pub shell: Running,
}

impl Terminal {
    /// A terminal with an interactive bash, working in `dir`.
    pub fn with_shell(dir: &Path) -> Terminal {
        let terminal = Terminal::with(&["bash", "--norc", "--noprofile", "--noediting", "-i"], dir);
        terminal.type_line("PS1='READY'; PS2=");
        wait_until("the shell's prompt", || terminal.screen.text().matches("READY").count() >= 2);
        terminal
    }

    /// A terminal with a command as the leader of its session.
    pub fn with(command: &[&str], dir: &Path) -> Terminal {
        let size = WindowSize { rows: 24, columns: 200, pixels: (0, 0) };
        let pty = term::open_pty(Some(size)).expect("a pseudo-terminal");
        // As a user's terminal is: LF becomes CR LF.
        let mut settings = tcgetattr(&pty.follower).expect("a terminal");
        settings.output_flags.insert(OutputFlags::OPOST | OutputFlags::ONLCR);
        tcsetattr(&pty.follower, SetArg::TCSANOW, &settings).expect("a terminal");
        let side = || Stdio::from(pty.follower.try_clone().expect("dup"));
        // `setsid -c` makes its stdin the controlling terminal of a new session.
        let words = ["-c"].iter().chain(command);
        let start = through("setsid", words).cwd(dir).env("TERM", "dumb");
        let shell = start.stdin(side()).stdout(side()).stderr(side()).start();
        let keys = File::from(pty.leader.try_clone().expect("dup"));
        Terminal { keys, screen: Collected::of(pty.leader), shell }
    }

    /// Types.
    pub fn keys(&self, keys: &[u8]) {
        (&self.keys).write_all(keys).expect("typing");
    }

    /// Types a line.
    pub fn type_line(&self, line: &str) {
        self.keys(format!("{line}\n").as_bytes());
    }

    /// Waits until the terminal shows a text.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        let since = std::time::Instant::now();
        while !self.screen.text().contains(text) {
            assert!(
                since.elapsed() < super::PATIENCE,
                "the terminal does not show {text:?}:\n{}",
                self.screen.text()
            );
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    /// The process group in the foreground.
    pub fn foreground(&self) -> Option<i32> {
        term::foreground(self.keys.as_fd())
    }

    /// Makes the window another size.
    pub fn resize(&self, rows: u16, columns: u16) {
        term::set_window_size(self.keys.as_fd(), WindowSize { rows, columns, pixels: (0, 0) });
    }

    /// Another handle of our side.
    pub fn leader(&self) -> OwnedFd {
        self.keys.as_fd().try_clone_to_owned().expect("dup")
    }
}
