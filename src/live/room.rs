//! Whether there is room for a run, which is looked at before anything is made: a limit that is met half-way would end a
//! target that has begun.

use anyhow::bail;

use crate::sys::{fd, host};

/// So many descriptors have to be free: a run with every file and a terminal of the target's own opens some 35; the
/// sampler holds more where there are more.
const DESCRIPTORS: usize = 48;
/// Standard streams, and a few that a library may hold.
const BESIDE: usize = 8;

/// Looks. `open`: how many descriptors the caller left us, standard streams not counted.
///
/// # Errors
/// A sentence that names the limit and the remedy.
pub fn check(open: usize) -> anyhow::Result<()> {
    let limit = host::open_files_limit();
    // Far from the limit, as nearly always, counting is enough.
    if limit >= (open + BESIDE + DESCRIPTORS) as u64 {
        return Ok(());
    }
    let free = fd::free(DESCRIPTORS);
    if free < DESCRIPTORS {
        bail!(
            "too many open files: a run needs {DESCRIPTORS} more, and the limit of {limit} leaves {free}: \
             raise it, as with `ulimit -n 1024`"
        );
    }
    Ok(())
}
