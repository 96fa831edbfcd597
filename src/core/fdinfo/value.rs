//! The values of a body: amounts in every unit that drivers print, and sums of them.

/// No client has so much: it is a counter that went below 0.
const UNDERFLOW: u64 = 1 << 63;

/// One value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Field {
    /// The key is not there.
    #[default]
    Absent,
    /// It is there and cannot be read.
    Rejected,
    /// Bytes.
    Bytes(u64),
}

/// Why an amount cannot be read.
pub(super) enum Bad {
    /// No unit of ours, or no number.
    Unit,
    /// It can only be a counter below 0.
    Underflow,
}

/// `22 MiB`, `22528 KiB`, `6144 kB`, `23068672`: a bare number is bytes, and so is every result.
pub(super) fn bytes(value: &[u8]) -> Result<u64, Bad> {
    let digits = value.iter().position(|b| !b.is_ascii_digit()).unwrap_or(value.len());
    let scale = match value[digits..].trim_ascii_start() {
        b"" => 1,
        // `kB` is what amdgpu called it before it used the `drm-` keys.
        b"KiB" | b"kB" => 1 << 10,
        b"MiB" => 1 << 20,
        _ => return Err(Bad::Unit),
    };
    if digits == 0 {
        return Err(Bad::Unit);
    }
    let bytes = number(&value[..digits]).and_then(|n| n.checked_mul(scale));
    bytes.filter(|n| *n < UNDERFLOW).ok_or(Bad::Underflow)
}

/// A decimal number, without a sign.
pub(super) fn number(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0_u64, |sum, b| {
        let digit = b.wrapping_sub(b'0');
        if digit < 10 { sum.checked_mul(10)?.checked_add(u64::from(digit)) } else { None }
    })
}

/// A sum that is unknown when a part of it is, or when there is no part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    sum: Option<u64>,
    spoilt: bool,
}

impl Sum {
    /// Adds a part; one that is absent is none.
    pub(super) fn add(&mut self, field: Field) {
        match field {
            Field::Absent => {}
            Field::Rejected => self.spoilt = true,
            Field::Bytes(n) => match self.sum.unwrap_or(0).checked_add(n) {
                Some(sum) => self.sum = Some(sum),
                None => self.spoilt = true,
            },
        }
    }

    /// Bytes.
    pub(super) fn value(self) -> Option<u64> {
        self.sum.filter(|_| !self.spoilt)
    }
}
