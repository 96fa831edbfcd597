//! The words of the HRX serial trace: `hrx debug serial: <event> phase=<phase>[ <key>=<value>…]`.
//!
//! Only words here; how lines that were written into each other come apart is in [`super::rejoin`].

use memchr::memmem;

/// What marks a line of the serial trace, anywhere in it.
pub const MARK: &[u8] = b"hrx debug serial: ";

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something begins.
    Begin,
    /// It ended.
    End,
    /// It failed.
    Failed,
    /// A wait for the device begins.
    SyncBegin,
    /// The device is idle.
    SyncEnd,
    /// A word of a later build.
    Other,
}

/// Where it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before a command's launch: the device is idle already.
    Pre,
    /// A command's launch.
    Launch,
    /// After a command's launch: the device works.
    Post,
    /// A command list.
    List,
    /// A command program.
    Program,
    /// A phase of the host: its place in [`HOST_PHASES`], and whether it is the side behind it.
    Host(u8, bool),
    /// A word of a later build.
    Other,
}

/// What the host does around a program's lists, in the backend's order. The trace prints `-pre` and `-post` of each.
pub const HOST_PHASES: [&str; 8] = [
    "host-staging-rebind",
    "transient-arena-acquire",
    "transient-bind",
    "constant-initialization",
    "completion-counter-initialization",
    "host-staging-upload-buffer",
    "host-staging-upload",
    "host-staging-download",
];

/// Which list a command stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum List {
    /// The program's own commands.
    #[default]
    Main,
    /// The commands that prepare it.
    Init,
    /// A word of a later build.
    Other,
}

impl List {
    /// The backend's word.
    pub fn name(self) -> &'static str {
        match self {
            List::Main => "main",
            List::Init => "init",
            List::Other => "other",
        }
    }
}

/// What kind of command it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandKind {
    /// The line does not say.
    #[default]
    Unsaid,
    /// A kernel.
    Kernel,
    /// Anything else: `Invalid`, `Unknown(n)`, a word of a later build.
    Other,
}

/// The fields of a line. Absent is absent, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// `list=`.
    pub list: Option<List>,
    /// `index=`.
    pub index: Option<u64>,
    /// `list_commands=`.
    pub list_commands: Option<u64>,
    /// `ordinal=`.
    pub ordinal: Option<u64>,
    /// `kind=`.
    pub kind: CommandKind,
    /// `kernel_id=`.
    pub kernel_id: Option<u64>,
    /// `bindings=`.
    pub bindings: Option<u64>,
    /// `main_commands=`.
    pub main_commands: Option<u64>,
    /// `init_commands=`.
    pub init_commands: Option<u64>,
    /// `value=`.
    pub value: Option<u64>,
    /// A number beyond 64 bits stands in it, which is left out.
    pub too_large: bool,
}

/// A head: event and phase, and what stands behind them in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// What happened.
    pub event: Event,
    /// The event's word.
    pub word: &'a [u8],
    /// Where.
    pub phase: Phase,
    /// The phase's word.
    pub phase_word: &'a [u8],
    /// The rest of the line.
    pub rest: &'a [u8],
}

/// The beginnings of a dispatch's lines in the backend's order: the event's length, event and phase.
const USUAL: [(&[u8], usize, Event, Phase); 6] = [
    (b"sync-begin phase=command-pre-dispatch ", 10, Event::SyncBegin, Phase::Pre),
    (b"sync-end phase=command-pre-dispatch ", 8, Event::SyncEnd, Phase::Pre),
    (b"begin phase=command-dispatch ", 5, Event::Begin, Phase::Launch),
    (b"end phase=command-dispatch ", 3, Event::End, Phase::Launch),
    (b"sync-begin phase=command-post-dispatch ", 10, Event::SyncBegin, Phase::Post),
    (b"sync-end phase=command-post-dispatch ", 8, Event::SyncEnd, Phase::Post),
];

/// Reads heads one after another, with a guess at the next one that saves reading it word by word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heads {
    next: usize,
}

impl Heads {
    /// As [`head`].
    pub fn read<'a>(&mut self, text: &'a [u8]) -> Option<Head<'a>> {
        let (usual, length, event, phase) = USUAL[self.next];
        if text.starts_with(usual) {
            self.next = (self.next + 1) % USUAL.len();
            let (begin, rest) = text.split_at(usual.len() - 1);
            let phase_word = &begin[length + " phase=".len()..];
            return Some(Head { event, word: &text[..length], phase, phase_word, rest });
        }
        let head = head(text)?;
        let place = USUAL.iter().position(|(_, _, e, p)| (*e, *p) == (head.event, head.phase));
        self.next = place.map_or(0, |at| (at + 1) % USUAL.len());
        Some(head)
    }
}

/// Reads a head behind its mark. `None`: cut, or written into before its phase was out.
pub fn head(text: &[u8]) -> Option<Head<'_>> {
    let space = text.iter().take(40).position(|b| *b == b' ')?;
    let (word, rest) = (&text[..space], text[space + 1..].strip_prefix(b"phase=")?);
    let event = match word {
        b"begin" => Event::Begin,
        b"end" => Event::End,
        b"sync-begin" => Event::SyncBegin,
        b"sync-end" => Event::SyncEnd,
        b"failed" => Event::Failed,
        other if !other.is_empty() && other.iter().all(|b| b.is_ascii_lowercase() || *b == b'-') => {
            Event::Other
        }
        _ => return None,
    };
    let (phase, length) = phase(rest)?;
    Some(Head { event, word, phase, phase_word: &rest[..length], rest: &rest[length..] })
}

/// The phase that a text begins with, and its length. Foreign text may stand right behind it.
fn phase(text: &[u8]) -> Option<(Phase, usize)> {
    let end = text.iter().position(|b| !b.is_ascii_lowercase() && *b != b'-').unwrap_or(text.len());
    let word = &text[..end];
    if let Some(known) = known_phase(word) {
        return Some((known, end));
    }
    // A word that is not known: a known one with letters right behind it is one with foreign text; one with more words
    // of its own is of a later build.
    let known = (1..end).rev().find_map(|n| known_phase(&word[..n]).map(|phase| (phase, n)));
    match known {
        Some((phase, n)) if word[n] != b'-' || !whole(&text[end..]) => Some((phase, n)),
        _ if end > 0 && whole(&text[end..]) => Some((Phase::Other, end)),
        known => known,
    }
}

/// What follows is a line's end or a detail.
fn whole(text: &[u8]) -> bool {
    text.is_empty() || is_detail(text)
}

fn known_phase(word: &[u8]) -> Option<Phase> {
    Some(match word {
        b"command-pre-dispatch" => Phase::Pre,
        b"command-dispatch" => Phase::Launch,
        b"command-post-dispatch" => Phase::Post,
        b"command-list" => Phase::List,
        b"command-program" => Phase::Program,
        _ => {
            let (name, post) = match word.strip_suffix(b"-post") {
                Some(name) => (name, true),
                None => (word.strip_suffix(b"-pre")?, false),
            };
            let place = HOST_PHASES.iter().position(|p| p.as_bytes() == name)?;
            Phase::Host(u8::try_from(place).ok()?, post)
        }
    })
}

/// Whether a text begins as a detail does, with its space.
pub fn is_detail(text: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 3] = [b" list=", b" main_commands=", b" value="];
    BEGINNINGS.iter().any(|b| text.starts_with(b)) || other_order(text)
}

/// Fields may come in another order: a known key that is none of the usual first ones.
fn other_order(text: &[u8]) -> bool {
    const KEYS: [&[u8]; 7] = [
        b" index=",
        b" list_commands=",
        b" ordinal=",
        b" kernel_id=",
        b" bindings=",
        b" init_commands=",
        b" transient_arena=",
    ];
    text.first() == Some(&b' ') && KEYS.iter().any(|k| text.starts_with(k))
}

/// Where in a text a detail begins.
pub fn find_detail(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = memchr::memchr(b' ', &text[from..]) {
        if is_detail(&text[from + at..]) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Reads a detail that begins with its space; yields it and what stands behind it. A number right before foreign text
/// cannot be trusted, since that text may begin with a digit: it is left out, and stands in what is behind.
pub fn detail(text: &[u8]) -> (Detail, &[u8]) {
    let mut detail = Detail::default();
    let (mut rest, mut first) = (text, None);
    while let Some((key, value, after)) = pair(rest) {
        if *first.get_or_insert(key) == key && rest.len() != text.len() {
            // The same field again: another detail begins.
            break;
        }
        let glued = after.first().is_some_and(|b| *b != b' ');
        let foreign = glued || !after.is_empty() && pair(after).is_none();
        if foreign && value.first().is_some_and(u8::is_ascii_digit) {
            // A clock or a count behind it may have lent it its digits; a letter has not.
            let lent = after.first().is_some_and(|b| b". :".contains(b));
            return (detail, if lent { &rest[rest.len() - after.len() - value.len()..] } else { after });
        }
        set(&mut detail, key, value);
        rest = after;
        if glued {
            break;
        }
    }
    (detail, rest)
}

/// Whether a text begins with ` key=value`.
pub fn is_field(text: &[u8]) -> bool {
    pair(text).is_some()
}

/// ` key=value` at the beginning of a text: key, value, what follows.
fn pair(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let text = text.strip_prefix(b" ")?;
    let equals = text.iter().take(32).position(|b| !b.is_ascii_lowercase() && *b != b'_')?;
    if equals == 0 || text[equals] != b'=' {
        return None;
    }
    let value = &text[equals + 1..];
    let digits = value.iter().position(|b| !b.is_ascii_digit()).unwrap_or(value.len());
    let end = if digits > 0 {
        digits
    } else {
        value.iter().position(|b| !b.is_ascii_alphanumeric() && !b"()_-".contains(b)).unwrap_or(value.len())
    };
    (end > 0).then(|| (&text[..equals], &value[..end], &value[end..]))
}

fn set(detail: &mut Detail, key: &[u8], value: &[u8]) {
    match key {
        b"list" => {
            detail.list = Some(match value {
                b"main" => List::Main,
                b"init" => List::Init,
                _ => List::Other,
            });
        }
        b"kind" => {
            let kernel = value.eq_ignore_ascii_case(b"kernel");
            detail.kind = if kernel { CommandKind::Kernel } else { CommandKind::Other };
        }
        _ => {
            let field = match key {
                b"index" => &mut detail.index,
                b"list_commands" => &mut detail.list_commands,
                b"ordinal" => &mut detail.ordinal,
                b"kernel_id" => &mut detail.kernel_id,
                b"bindings" => &mut detail.bindings,
                b"main_commands" => &mut detail.main_commands,
                b"init_commands" => &mut detail.init_commands,
                b"value" => &mut detail.value,
                // Fields of a later build are kept out of the way.
                _ => return,
            };
            *field = number(value);
            detail.too_large |= field.is_none() && value.iter().all(u8::is_ascii_digit);
        }
    }
}

/// Decimal digits as a number, checked.
fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |n, b| {
        let digit = b.is_ascii_digit().then(|| u64::from(b - b'0'))?;
        n.checked_mul(10)?.checked_add(digit)
    })
}

/// The phase and the reason of `HRX debug serial sync failed phase=<phase> <detail>: <reason>`, as llama.cpp's logger
/// prints it.
pub fn sync_failed(line: &[u8]) -> Option<&[u8]> {
    const WORDS: &[u8] = b"HRX debug serial sync failed phase=";
    memmem::find(line, WORDS).map(|at| line[at + WORDS.len()..].trim_ascii_end())
}

#[cfg(test)]
#[path = "serial_tests.rs"]
mod tests;
