//! How tables are shown: the order of their rows, how many, in which unit.

/// The column that rows are sorted by, largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Time on the device in all.
    #[default]
    Total,
    /// Dispatches.
    Count,
    /// Mean device time.
    Mean,
    /// Median device time.
    Median,
    /// 95th percentile of the device time.
    P95,
    /// Longest device time.
    Max,
    /// Mean launch.
    Launch,
    /// Name, in the alphabet's order.
    Name,
}

/// The unit of a dispatch's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    #[default]
    Us,
    /// Milliseconds.
    Ms,
}

impl Unit {
    /// Its sign.
    pub fn sign(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::Us => "µs",
            Unit::Ms => "ms",
        }
    }

    /// A time in it, with the digits that fit.
    pub fn show(self, ns: u64) -> String {
        match self {
            Unit::Ns => ns.to_string(),
            Unit::Us => fixed(ns, 1_000, 2),
            Unit::Ms => fixed(ns, 1_000_000, 4),
        }
    }
}

/// `ns / scale` with a number of digits behind the point, rounded to the nearest; in integers, so that it is the same
/// everywhere.
pub fn fixed(ns: u64, scale: u64, digits: u32) -> String {
    let tens = 10_u128.pow(digits);
    let scaled = (u128::from(ns) * tens + u128::from(scale) / 2) / u128::from(scale);
    format!("{}.{:0width$}", scaled / tens, scaled % tens, width = digits as usize)
}

/// A part of a whole in percent with one digit; `–` for a part of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let tenths = (u128::from(part) * 1_000 + u128::from(whole) / 2) / u128::from(whole);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// What a user chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The order of rows.
    pub sort: Sort,
    /// Rows a table; the others are summed up in a `rest` row.
    pub top: usize,
    /// The unit of a dispatch's times.
    pub unit: Unit,
}

impl Default for View {
    fn default() -> Self {
        View { sort: Sort::default(), top: 20, unit: Unit::default() }
    }
}

/// Columns of text: numbers to the right, words to the left.
pub fn columns(head: &[&str], rows: &[Vec<String>], words_from: usize) -> String {
    let width = |n: usize| {
        let cells = rows.iter().filter_map(|r| r.get(n)).map(|c| c.chars().count());
        cells.chain([head[n].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let mut text = String::new();
        for (n, cell) in cells.iter().enumerate() {
            let pad = " ".repeat(widths[n].saturating_sub(cell.chars().count()));
            let parts = if n >= words_from { [*cell, &pad] } else { [pad.as_str(), *cell] };
            text.push_str(&parts.concat());
            text.push_str("  ");
        }
        format!("  {}\n", text.trim_end())
    };
    let mut all = line(head);
    for row in rows {
        all.push_str(&line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_in_integers() {
        assert_eq!(fixed(1_234_567, 1_000_000, 3), "1.235");
        assert_eq!(fixed(9_999_999, 1_000_000, 2), "10.00");
        assert_eq!(fixed(u64::MAX, 1_000, 2), "18446744073709551.62");
        assert_eq!((percent(1, 3), percent(2, 3), percent(1, 0)), ("33.3".into(), "66.7".into(), "–".into()));
        assert_eq!(
            (Unit::Ns.show(1_234), Unit::Us.show(1_234), Unit::Ms.show(1_234)),
            ("1234".into(), "1.23".into(), "0.0012".into())
        );
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["1".into(), "a".into()], vec!["100".into(), "µs".into()]];
        assert_eq!(columns(&["n", "word"], &rows, 1), "    n  word\n    1  a\n  100  µs\n");
    }
}
