//! Lines of several writers at once, each put together by itself.
//!
//! A writer's line may be made of several prints, with other writers' prints between them. Here every writer's open line
//! is held until it ends, so that what comes out is one line after another, each with the stamp of its first piece, in the
//! order of their ends. A line that is too long to hold has the **floor** instead: it comes out as it grows, and is cut
//! when another line has to come out before it ends. With nothing held, which is right for a single writer, each line has
//! the floor from its first byte on.

use memchr::memchr;

use crate::core::lines::Fragment;

/// So many open lines are held at most; for one more, the oldest goes.
const MOST: usize = 256;
/// So many bytes of open lines are held at most.
const MOST_BYTES: usize = 192 << 10;
/// Bytes of one held line in [`Strands::save`] besides its text.
const SAVED_HEAD: usize = 8 + 8 + 4 + 4;
/// [`Strands::save`] never gives more than this.
pub const MOST_SAVED: usize = MOST_BYTES + MOST * SAVED_HEAD;

/// A writer: a number that no other writer has at the same time.
pub type Writer = u64;

/// An open line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strand {
    /// Whose.
    pub writer: Writer,
    /// Stamp of its first piece, ns.
    pub ns: u64,
    /// Stamp of its last piece, ns; of a line that was taken over, of its first.
    pub last_ns: u64,
    /// How much of it was shown already.
    pub shown: usize,
    /// What there is of it.
    pub text: Vec<u8>,
}

/// What comes out: a fragment, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out<'a> {
    /// The fragment; they come as of one writer, line by line.
    pub fragment: Fragment<'a>,
    /// Whose.
    pub writer: Writer,
    /// How much of its line was shown before it came out.
    pub shown: usize,
}

/// The open lines of all writers.
#[derive(Debug, Default)]
pub struct Strands {
    /// A line is held up to this length; 0 = never.
    hold: usize,
    floor: Option<(Writer, u64)>,
    held: Vec<Strand>,
    bytes: usize,
    spare: Vec<Vec<u8>>,
    /// Lines that were ended where their writer had not ended them.
    pub cut: u64,
}

impl Strands {
    /// Of one writer, or with lines up to `hold` bytes held.
    pub fn new(hold: usize) -> Self {
        Strands { hold, ..Strands::default() }
    }

    /// Goes on where another one was: with the line that had the floor, and the lines that [`Self::save`] gave.
    pub fn resume(&mut self, floor: Option<(Writer, u64)>, saved: &[u8], cut: u64) {
        (self.floor, self.cut) = (floor, cut);
        self.held = load(saved).unwrap_or_default();
        self.bytes = self.held.iter().map(|s| s.text.len()).sum();
    }

    /// The line that comes out as it grows.
    pub fn floor(&self) -> Option<(Writer, u64)> {
        self.floor
    }

    /// The lines that are held.
    pub fn held(&mut self) -> &mut [Strand] {
        &mut self.held
    }

    /// Takes what a writer wrote at `ns`.
    pub fn feed(&mut self, writer: Writer, ns: u64, mut bytes: &[u8], mut each: impl FnMut(Out<'_>)) {
        while !bytes.is_empty() {
            let end = memchr(b'\n', bytes);
            let (part, rest) = match end {
                Some(at) => (&bytes[..at], &bytes[at + 1..]),
                None => (bytes, &bytes[..0]),
            };
            self.part(writer, ns, part, end.is_some(), &mut each);
            bytes = rest;
        }
    }

    fn part(&mut self, writer: Writer, ns: u64, part: &[u8], ends: bool, each: &mut impl FnMut(Out<'_>)) {
        if let Some((owner, since)) = self.floor
            && owner == writer
        {
            each(out(writer, Fragment { ns: since, bytes: part, starts: false, ends }, 0));
            if ends {
                self.floor = None;
            }
            return;
        }
        let place = self.held.iter().position(|s| s.writer == writer);
        if place.is_none() && (ends || part.len() >= self.hold) {
            self.clear_floor(each);
            each(out(writer, Fragment { ns, bytes: part, starts: true, ends }, 0));
            self.floor = (!ends).then_some((writer, ns));
            return;
        }
        let place = place.unwrap_or_else(|| {
            let text = self.spare.pop().unwrap_or_default();
            self.held.push(Strand { writer, ns, last_ns: ns, shown: 0, text });
            self.held.len() - 1
        });
        self.held[place].text.extend_from_slice(part);
        self.held[place].last_ns = ns;
        self.bytes += part.len();
        if ends || self.held[place].text.len() >= self.hold {
            self.release(place, ends, each);
        }
        while self.bytes > MOST_BYTES || self.held.len() > MOST {
            self.release(0, false, each);
        }
    }

    /// A held line comes out, whole or to go on with the floor.
    fn release(&mut self, place: usize, ends: bool, each: &mut impl FnMut(Out<'_>)) {
        self.clear_floor(each);
        // In the order of their beginnings, so that the oldest stays first.
        let Strand { writer, ns, shown, mut text, .. } = self.held.remove(place);
        self.bytes -= text.len();
        each(out(writer, Fragment { ns, bytes: &text, starts: true, ends }, shown));
        self.floor = (!ends).then_some((writer, ns));
        if self.spare.len() < 8 {
            text.clear();
            self.spare.push(text);
        }
    }

    /// Another line comes: one that has the floor is ended here, and its rest will be a line of its own.
    fn clear_floor(&mut self, each: &mut impl FnMut(Out<'_>)) {
        if let Some((writer, ns)) = self.floor.take() {
            self.cut += 1;
            each(out(writer, Fragment { ns, bytes: b"", starts: false, ends: true }, 0));
        }
    }

    /// The end of all input: what is held comes out, the oldest first; the last of it keeps the floor, unended.
    pub fn finish(&mut self, mut each: impl FnMut(Out<'_>)) {
        while !self.held.is_empty() {
            self.release(0, false, &mut each);
        }
    }

    /// The held lines as bytes, for a successor.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for strand in &self.held {
            bytes.extend(strand.writer.to_ne_bytes());
            bytes.extend(strand.ns.to_ne_bytes());
            bytes.extend((strand.shown as u32).to_ne_bytes());
            bytes.extend((strand.text.len() as u32).to_ne_bytes());
            bytes.extend_from_slice(&strand.text);
        }
        bytes
    }
}

fn out(writer: Writer, fragment: Fragment<'_>, shown: usize) -> Out<'_> {
    Out { fragment, writer, shown }
}

/// Held lines from [`Strands::save`]; nothing when they are not whole.
fn load(mut bytes: &[u8]) -> Option<Vec<Strand>> {
    let mut held = Vec::new();
    while !bytes.is_empty() {
        let (head, rest) = bytes.split_at_checked(SAVED_HEAD)?;
        let long = |at: usize| Some(u64::from_ne_bytes(head.get(at..at + 8)?.try_into().ok()?));
        let short = |at: usize| Some(u32::from_ne_bytes(head.get(at..at + 4)?.try_into().ok()?) as usize);
        let (text, rest) = rest.split_at_checked(short(20)?)?;
        let ns = long(8)?;
        held.push(Strand { writer: long(0)?, ns, last_ns: ns, shown: short(16)?, text: text.to_vec() });
        bytes = rest;
    }
    Some(held)
}

#[cfg(test)]
#[path = "strands_tests.rs"]
mod tests;
