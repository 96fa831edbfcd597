//! The second source: llama.cpp's own table of its memory beside what its lines say.

use crate::core::amount::MIB;
use crate::core::holding::Table;
use crate::core::holding::buffers::Share;
use crate::core::parse::llama::{Kind, Place};

/// A line about a buffer is rounded to 0.01 MiB.
const ROUNDING: u64 = MIB / 200 + 1;

/// One cell: bytes by the lines, MiB by the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The sum of the lines, bytes.
    pub lines: u64,
    /// The table's cell, whole MiB.
    pub table_mib: u64,
    /// They are the same within the rounding of both.
    pub agree: bool,
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Device, `Host`, or a buffer type of its own.
    pub name: String,
    /// Weights.
    pub model: Pair,
    /// Keys, values, state, output.
    pub context: Pair,
    /// Work space.
    pub compute: Pair,
}

impl Row {
    /// Its cells, with their names.
    pub fn cells(&self) -> [(&'static str, Pair); 3] {
        [("model", self.model), ("context", self.context), ("compute", self.compute)]
    }
}

/// The table's rows, each beside the lines of the same place.
pub fn rows(table: &Table) -> Vec<Row> {
    let own = |name: &str| table.rows.iter().any(|(row, _)| row == name);
    let belongs = |row: &str, share: &Share| match share.place() {
        Place::Host => row == share.name || row == "Host" && !own(&share.name),
        Place::Device => of_device(row, &share.name),
    };
    let pair = |row: &str, kinds: &[Kind], table_mib: u64| {
        let theirs = |s: &&Share| belongs(row, s) && kinds.contains(&s.kind);
        let (mut lines, mut slack) = (0_u64, MIB);
        for share in table.lines.shares.iter().filter(theirs) {
            lines = lines.saturating_add(share.bytes);
            slack += ROUNDING;
        }
        Pair { lines, table_mib, agree: lines.abs_diff(table_mib.saturating_mul(MIB)) < slack }
    };
    table
        .rows
        .iter()
        .map(|(name, cells)| Row {
            name: name.clone(),
            model: pair(name, &[Kind::Model], cells.model),
            context: pair(name, &[Kind::Kv, Kind::Rs, Kind::Output], cells.context),
            compute: pair(name, &[Kind::Compute], cells.compute),
        })
        .collect()
}

/// `HRX0` has `HRX0`, `HRX0_Split` and `HRX0[…]`, and not `HRX01`.
fn of_device(device: &str, buffer: &str) -> bool {
    buffer.strip_prefix(device).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::holding::buffers::Held;
    use crate::core::parse::llama::Cells;

    fn table(rows: &[(&str, [u64; 3])], lines: &[(Kind, &str, u64)]) -> Vec<Row> {
        let mut held = Held::default();
        for (kind, name, bytes) in lines {
            held.add(*kind, name, *bytes);
        }
        let rows = rows.iter().map(|(name, [model, context, compute])| {
            ((*name).to_owned(), Cells { model: *model, context: *context, compute: *compute })
        });
        super::rows(&Table { ns: 0, rows: rows.collect(), lines: held })
    }

    #[test]
    fn cells_are_compared_within_their_rounding() {
        let lines = [
            (Kind::Model, "HRX0", 5 * MIB / 2),
            (Kind::Model, "HRX0_Split", MIB),
            (Kind::Model, "HRX01", 90 * MIB),
            (Kind::Kv, "HRX0", 4 * MIB),
            (Kind::Compute, "HRX0_HOST", 9 * MIB),
            (Kind::Model, "CPU_Mapped", MIB),
            (Kind::Model, "CPU_REPACK", 7 * MIB),
        ];
        let rows = table(&[("HRX0", [3, 4, 0]), ("Host", [1, 0, 9]), ("CPU_REPACK", [7, 0, 0])], &lines);
        let agree: Vec<bool> = rows.iter().flat_map(|r| r.cells()).map(|(_, p)| p.agree).collect();
        assert_eq!(agree, [true; 9]);
        assert_eq!(rows[0].model.lines, 7 * MIB / 2);
        let off = table(&[("HRX0", [2, 4, 0])], &lines);
        assert_eq!((off[0].model.agree, off[0].context.agree), (false, true));
    }
}
