//! The events of the serial trace in a twentieth of their text, in order: what a timeline is drawn from once the sums of the
//! whole run are known, without reading the trace again.
//!
//! A record is a byte that says what it is, and of an event of the trace what its line said: a byte of marks, the time as the
//! difference to that of the record before, and the fields unless they are the last ones again, which five of a dispatch's
//! six lines have. Words that no rule knows are left out. It is for the process that wrote it and for nobody else.

use crate::core::event::{Event, Sink};
use crate::core::lines::Line;
use crate::core::parse::rejoin::Serial;
use crate::core::parse::serial::{self, CommandKind, Detail, List, Phase};
use crate::core::varint::{fold, put, take, unfold};

/// Where an event of the trace has its phase, these two say that it is another.
const PROCESS: u8 = 30;
const BROKEN: u8 = 31;
/// The phase's bits of a record's first byte; above them the event's.
const PHASE_BITS: u8 = 5;

/// Marks of an event: its time is its own, it has fields, and they are the last ones.
const EXACT: u8 = 1;
const FIELDS: u8 = 2;
const SAME: u8 = 4;

const EVENTS: [serial::Event; 6] = [
    serial::Event::Begin,
    serial::Event::End,
    serial::Event::Failed,
    serial::Event::SyncBegin,
    serial::Event::SyncEnd,
    serial::Event::Other,
];
const LISTS: [List; 3] = [List::Main, List::Init, List::Other];
const KINDS: [CommandKind; 3] = [CommandKind::Unsaid, CommandKind::Kernel, CommandKind::Other];

/// Writes events in short.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
    ns: u64,
    last: Option<Detail>,
}

impl Sink for Writer {
    fn line(&mut self, _: &Line<'_>) {}

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Serial(serial) => self.serial(serial),
            Event::Process(pid) => {
                self.out.push(PROCESS);
                put(&mut self.out, u64::from(*pid));
            }
            Event::Broken => self.out.push(BROKEN),
            Event::SyncFailed(_)
            | Event::Build(_)
            | Event::Llama(_)
            | Event::HostWeights
            | Event::Text(_) => {}
        }
    }
}

impl Writer {
    /// What was written since the last time, whole records, for the caller to take away.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    fn serial(&mut self, serial: &Serial<'_>) {
        self.out.push(phase_number(serial.phase) | (serial.event as u8) << PHASE_BITS);
        let same = serial.detail.is_some() && serial.detail == self.last;
        let mark = |is: bool, mark: u8| if is { mark } else { 0 };
        self.out.push(mark(serial.exact, EXACT) | mark(serial.detail.is_some(), FIELDS) | mark(same, SAME));
        put(&mut self.out, fold(serial.ns.wrapping_sub(self.ns) as i64));
        self.ns = serial.ns;
        if let (Some(detail), false) = (serial.detail, same) {
            write_fields(&mut self.out, &detail);
            self.last = Some(detail);
        }
    }
}

/// Reads what [`Writer`] wrote, in pieces of whole records.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    ns: u64,
    last: Option<Detail>,
}

impl Reader {
    /// Reads the next records. `None` when they are none.
    pub fn read(&mut self, mut bytes: &[u8], mut each: impl FnMut(&Event<'_>)) -> Option<()> {
        while let Some((first, rest)) = bytes.split_first() {
            bytes = rest;
            match first & ((1 << PHASE_BITS) - 1) {
                PROCESS => each(&Event::Process(u32::try_from(take(&mut bytes)?).ok()?)),
                BROKEN => each(&Event::Broken),
                number => {
                    let event = *EVENTS.get(usize::from(first >> PHASE_BITS))?;
                    each(&Event::Serial(&self.serial(event, phase(number)?, &mut bytes)?));
                }
            }
        }
        Some(())
    }

    fn serial(&mut self, event: serial::Event, phase: Phase, bytes: &mut &[u8]) -> Option<Serial<'static>> {
        let (marks, rest) = bytes.split_first()?;
        *bytes = rest;
        self.ns = self.ns.wrapping_add(unfold(take(bytes)?) as u64);
        if marks & (FIELDS | SAME) == FIELDS {
            self.last = Some(read_fields(bytes)?);
        }
        let detail = self.last.filter(|_| marks & FIELDS != 0);
        Some(Serial { ns: self.ns, exact: marks & EXACT != 0, event, phase, words: (b"", b""), detail })
    }
}

fn phase_number(phase: Phase) -> u8 {
    match phase {
        Phase::Pre => 0,
        Phase::Launch => 1,
        Phase::Post => 2,
        Phase::List => 3,
        Phase::Program => 4,
        Phase::Other => 5,
        Phase::Host(place, post) => 6 + 2 * place + u8::from(post),
    }
}

fn phase(number: u8) -> Option<Phase> {
    Some(match number {
        0 => Phase::Pre,
        1 => Phase::Launch,
        2 => Phase::Post,
        3 => Phase::List,
        4 => Phase::Program,
        5 => Phase::Other,
        host if host < PROCESS => Phase::Host((host - 6) / 2, host % 2 == 1),
        _ => return None,
    })
}

/// What the first byte of the fields holds beside one that says which numbers there are.
const LIST_BITS: u8 = 2;
const KIND_BITS: u8 = 2;
const TOO_LARGE: u8 = 1 << (LIST_BITS + KIND_BITS);

fn numbers(detail: &Detail) -> [Option<u64>; 6] {
    let Detail { index, list_commands, kernel_id, bindings, main_commands, value, .. } = *detail;
    [index, list_commands, kernel_id, bindings, main_commands, value]
}

fn write_fields(out: &mut Vec<u8>, detail: &Detail) {
    let list = detail.list.map_or(0, |list| list as u8 + 1);
    out.push(list | (detail.kind as u8) << LIST_BITS | if detail.too_large { TOO_LARGE } else { 0 });
    let numbers = numbers(detail);
    let there = numbers.iter().rev().fold(0, |bits, n| bits << 1 | u8::from(n.is_some()));
    out.push(there);
    for n in numbers.into_iter().flatten() {
        put(out, n);
    }
}

fn read_fields(bytes: &mut &[u8]) -> Option<Detail> {
    let ([first, there], rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    let mut numbers = [None; 6];
    for (place, n) in numbers.iter_mut().enumerate() {
        if there >> place & 1 == 1 {
            *n = Some(take(bytes)?);
        }
    }
    let [index, list_commands, kernel_id, bindings, main_commands, value] = numbers;
    let list = match first & ((1 << LIST_BITS) - 1) {
        0 => None,
        known => Some(*LISTS.get(usize::from(known - 1))?),
    };
    let kind = *KINDS.get(usize::from(first >> LIST_BITS & ((1 << KIND_BITS) - 1)))?;
    let too_large = first & TOO_LARGE != 0;
    Some(Detail { list, index, list_commands, kind, kernel_id, bindings, main_commands, value, too_large })
}

#[cfg(test)]
#[path = "shorthand_tests.rs"]
mod tests;
