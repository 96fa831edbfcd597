//! The host-weight trace: the packed second copies of weights that the backend makes before a graph's first run.
//!
//! The backend's own words are not public; these have what every wording must have, the name of the cache,
//! `resident=` and a count. The amounts are those of a recorded run of a 4B model.

use super::stderr::Stderr;

/// Packed weights of a decode graph.
const WEIGHTS: u64 = 38;
/// Resident after the first of them, the output layer's, in tenths of a MiB.
const FIRST: u64 = 3043;
/// Resident after the last, in tenths of a MiB.
const LAST: u64 = 7958;
/// Resident after an eviction, in tenths of a MiB.
const KEPT: u64 = 5120;

/// The lines before a graph's first run: one a weight, of which a prompt's graph packs the first alone. `holds` is told what
/// is resident, in tenths of a MiB.
pub fn prepare(out: &mut impl Stderr, decodes: bool, mut holds: impl FnMut(u64)) {
    for weights in 1..=if decodes { WEIGHTS } else { 1 } {
        let tenths = FIRST + (LAST - FIRST) * (weights - 1) / (WEIGHTS - 1);
        holds(tenths);
        resident(out, "", tenths, weights);
    }
}

/// The line of an eviction.
pub fn evict(out: &mut impl Stderr, mut holds: impl FnMut(u64)) {
    holds(KEPT);
    resident(out, "evicted blk.35.ffn_down.weight ", KEPT, 16);
}

fn resident(out: &mut impl Stderr, what: &str, tenths: u64, weights: u64) {
    let (whole, tenth) = (tenths / 10, tenths % 10);
    let line = format!("HRX host weight cache: {what}resident={whole}.{tenth} MiB weights={weights}\n");
    out.print(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::stderr::Prints;
    use super::*;

    #[test]
    fn grows_to_the_recorded_amounts() {
        let mut out = Prints::default();
        let mut told = Vec::new();
        prepare(&mut out, true, |tenths| told.push(tenths));
        evict(&mut out, |tenths| told.push(tenths));
        assert_eq!((told[0], told[37], told[38]), (3043, 7958, 5120));
        assert_eq!(out.0.len(), 39);
        assert_eq!(out.0[0], "HRX host weight cache: resident=304.3 MiB weights=1\n");
        assert_eq!(out.0[37], "HRX host weight cache: resident=795.8 MiB weights=38\n");
        assert!(out.0[38].ends_with(" resident=512.0 MiB weights=16\n"));
    }
}
