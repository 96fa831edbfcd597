//! The program: everything is in the library, where tests reach it. Only the end is here.

use std::process::ExitCode;

use hrx_wrap::live::plan::Verdict;
use hrx_wrap::sys::{process, signal};

fn main() -> ExitCode {
    let verdict = hrx_wrap::cmd::main();
    if let Verdict::Die(signal) = verdict {
        // The target's death is ours; a second core file would be of the wrong process.
        process::no_core_file();
        signal::raise_default(signal);
    }
    // PID 1, and whom the signal did not end, say it as a shell does.
    ExitCode::from(u8::try_from(verdict.status()).unwrap_or(u8::MAX))
}
