//! The fields behind a head of the serial trace: ` key=value` each.

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
    /// `kind=`.
    pub kind: CommandKind,
    /// `kernel_id=`.
    pub kernel_id: Option<u64>,
    /// `bindings=`.
    pub bindings: Option<u64>,
    /// `main_commands=`.
    pub main_commands: Option<u64>,
    /// `value=`.
    pub value: Option<u64>,
    /// A number beyond 64 bits stands in it, which is left out.
    pub too_large: bool,
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
    if let Some(usual) = usual(text) {
        return (usual, b"");
    }
    let mut detail = Detail::default();
    let (mut rest, mut first, mut next) = (text, None, pair(text));
    while let Some((key, value, after)) = next {
        next = pair(after);
        if *first.get_or_insert(key) == key && rest.len() != text.len() {
            // The same field again: another detail begins.
            break;
        }
        let glued = after.first().is_some_and(|b| *b != b' ');
        let foreign = glued || !after.is_empty() && next.is_none();
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

/// A kernel's detail as the backend writes it, to the end of the text: the way of all but a few, without looking for words.
fn usual(text: &[u8]) -> Option<Detail> {
    let text = text.strip_prefix(b" list=main")?;
    let (index, text) = digits(text.strip_prefix(b" index=")?)?;
    let (list_commands, text) = digits(text.strip_prefix(b" list_commands=")?)?;
    let (_, text) = digits(text.strip_prefix(b" ordinal=")?)?;
    let (kernel_id, text) = digits(text.strip_prefix(b" kind=Kernel kernel_id=")?)?;
    let (bindings, text) = digits(text.strip_prefix(b" bindings=")?)?;
    text.is_empty().then(|| Detail {
        list: Some(List::Main),
        index: Some(index),
        list_commands: Some(list_commands),
        kind: CommandKind::Kernel,
        kernel_id: Some(kernel_id),
        bindings: Some(bindings),
        ..Detail::default()
    })
}

/// The number that a text begins with, and what follows; `None` without one, or beyond 64 bits.
fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(length);
    (length > 0).then(|| number(digits)).flatten().map(|n| (n, rest))
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
            let mut unused = None;
            let field = match key {
                b"index" => &mut detail.index,
                b"list_commands" => &mut detail.list_commands,
                b"ordinal" | b"init_commands" => &mut unused,
                b"kernel_id" => &mut detail.kernel_id,
                b"bindings" => &mut detail.bindings,
                b"main_commands" => &mut detail.main_commands,
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
