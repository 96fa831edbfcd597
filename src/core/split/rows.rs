//! The rows of a split that the log's buffer lines tell of.

use super::{Row, What};
use crate::core::book::Book;
use crate::core::holding::buffers::{Held, Share};
use crate::core::parse::llama::Place;

/// One row a kind and buffer type, devices first.
pub(super) fn of(peak: &Option<Held>, steady: &Option<Held>, last: &Option<Held>) -> Vec<Row> {
    let Some(peak) = peak else { return Vec::new() };
    let find = |held: &Option<Held>, share: &Share| {
        let held = held.as_ref()?;
        Some(held.sum(|s| What::of(s.kind) == What::of(share.kind) && s.name == share.name))
    };
    let mut rows: Vec<Row> = Vec::new();
    for share in &peak.shares {
        let what = What::of(share.kind);
        if rows.iter().any(|row| row.what == what && row.buffer.as_deref() == Some(&share.name)) {
            continue;
        }
        let bytes = peak.sum(|s| What::of(s.kind) == what && s.name == share.name);
        rows.push(Row {
            what,
            buffer: Some(share.name.clone()),
            place: share.place(),
            bytes: Some(bytes),
            steady_bytes: find(steady, share),
            final_bytes: find(last, share),
            count: None,
            why: pinned(&share.name),
        });
    }
    rows.sort_by_key(|row| (row.place, row.what));
    rows
}

/// Host memory of a device's own buffer type is in no device row and may be in the process's figure.
fn pinned(name: &str) -> Option<String> {
    let own = Place::of(name.as_bytes()) == Place::Host && !name.starts_with("CPU") && name != "AMX";
    own.then(|| {
        "host memory that the device sees: where that is GTT it is a part of what is not attributed"
            .to_owned()
    })
}

/// A copy of a context's state on a device. When it goes is not in the log, so it is in no sum.
pub(super) fn state_copy(book: &Book) -> Option<Row> {
    let (bytes, name) = book.holding.state_copy.as_ref()?;
    let why = format!(
        "copies of a context's state of up to {} MiB were moved there; the log does not say when they go",
        crate::core::amount::mib(*bytes)
    );
    Some(Row {
        what: What::Other,
        buffer: Some(name.clone()),
        place: Place::of(name.as_bytes()),
        bytes: None,
        steady_bytes: None,
        final_bytes: None,
        count: None,
        why: Some(why),
    })
}
