//! Whether there is room for a run, which is looked at before anything is made: a limit that is met half-way would end a
//! target that has begun.

use anyhow::bail;

use crate::sys::{fd, host};

/// So many descriptors have to be free: a run with every file and a terminal of the target's own opens some 35, and half of
/// what is allowed is the sampler's.
const DESCRIPTORS: usize = 64;

/// Looks.
///
/// # Errors
/// A sentence that names the limit and the remedy.
pub fn check() -> anyhow::Result<()> {
    let free = fd::free(DESCRIPTORS);
    if free < DESCRIPTORS {
        let limit = host::open_files_limit();
        bail!(
            "too many open files: a run needs {DESCRIPTORS} more, and the limit of {limit} leaves {free}: \
             raise it, as with `ulimit -n 1024`"
        );
    }
    Ok(())
}
