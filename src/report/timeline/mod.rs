//! A timeline as a file: Perfetto's protobuf, or Chrome's trace JSON. Pure: both write into a buffer that the caller
//! empties as it goes.
//!
//! The protobuf is written by hand: ten messages of a few fields each. A crate with Perfetto's whole schema would bring a
//! compiler for it along, and would build a tree for every packet that is written once and forgotten.

mod bodies;
mod chrome;
mod perfetto;
mod proto;

pub use chrome::Chrome;
pub use perfetto::Perfetto;

use crate::core::names::Catalogue;
use crate::core::run::Run;
use crate::core::text::printable;
use crate::core::timeline::{Canvas, Track};

/// A writer of timelines.
pub trait Drawing: Canvas {
    /// What was written since the last time.
    fn take(&mut self) -> &mut Vec<u8>;
    /// Closes the file.
    fn close(&mut self);
}

/// The tracks that are declared in the file, by their numbers.
#[derive(Debug, Default)]
struct Declared(Vec<bool>);

impl Declared {
    /// Whether a track comes for the first time.
    fn first(&mut self, track: Track) -> bool {
        let place = track.number() as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, false);
        }
        !std::mem::replace(&mut self.0[place], true)
    }
}

/// The name of the process whose tracks these are.
fn title(run: &Run) -> String {
    let command = run.command.first().map_or("", |c| c.rsplit('/').next().unwrap_or(c));
    match (&run.label, command) {
        (Some(label), command) => format!("{label}: {command}"),
        (None, "") => "trace".to_owned(),
        (None, command) => command.to_owned(),
    }
}

/// The name of a kernel.
fn kernel(id: Option<u64>, names: &Catalogue) -> String {
    match (id.and_then(|id| names.get(id)), id) {
        (Some(name), _) => name.label(),
        (None, Some(id)) => printable(format!("unmapped id {id}").as_bytes()),
        (None, None) => "no kernel named in its lines".to_owned(),
    }
}
