//! GPU memory over time.

use std::fmt::Write as _;

use crate::core::memory::sample::Sample;
use crate::core::memory::series::Series;
use crate::report::page::axes::ticks;
use crate::report::page::charts::mib;
use crate::report::page::markup::escaped;

/// Size of the drawing, and its margins: left, right, top, bottom.
const SIZE: (f64, f64) = (960.0, 300.0);
const MARGIN: (f64, f64, f64, f64) = (84.0, 12.0, 22.0, 40.0);
/// Marks that are nearer to each other than this are one to the eye.
const TOGETHER: f64 = 8.0;
/// Bytes and ns of the axes' units.
const MIB: f64 = (1 << 20) as f64;
const SECOND: f64 = 1e9;
/// Points of a curve: a long run has more samples than a screen has dots.
const POINTS: usize = 1_200;

/// A moment to mark: when (ns) and what.
pub type Mark = (u64, String);

/// The curve of GTT, with peak and steady marked; `None` when not one sample knows it.
pub fn curve(series: &Series, from: u64, until: u64, steady: Option<u64>, marks: &[Mark]) -> Option<String> {
    let peak = series.peak_between(0, u64::MAX)?;
    let top = (peak.gtt_bytes? as f64 * 1.08).max(1.0);
    let last = series.samples().next_back().map_or(until, |s| s.ns);
    let until = until.max(last).max(from + 1);
    let (l, r, t, b) = MARGIN;
    let x = |ns: u64| l + (ns.saturating_sub(from)) as f64 / (until - from) as f64 * (SIZE.0 - l - r);
    let y = |bytes: f64| SIZE.1 - b - bytes / top * (SIZE.1 - t - b);
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"GTT over time\"><svg class=\"over\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"GTT over time\">",
        SIZE.0, SIZE.1
    );
    axes(&mut out, top, until - from, &x, &y, from);
    let inside = marks.iter().filter(|(at, _)| (from..=until).contains(at));
    moments(&mut out, inside, &x);
    let _ = write!(out, "<path class=\"curve\" d=\"{}\"/>", path(series, &x, &y));
    if let Some(steady) = steady {
        level(&mut out, steady, y(steady as f64));
    }
    let bytes = peak.gtt_bytes?;
    let end = if x(peak.ns) > SIZE.0 * 0.7 { "end" } else { "start" };
    let _ = writeln!(
        out,
        "<circle class=\"peak\" cx=\"{0:.1}\" cy=\"{1:.1}\" r=\"4\"><title>peak {2}</title></circle><text x=\"{0:.1}\" \
         y=\"{3:.1}\" text-anchor=\"{end}\">peak {2}</text></svg></div>",
        x(peak.ns),
        y(bytes as f64),
        mib(bytes),
        y(bytes as f64) - 8.0
    );
    Some(out)
}

/// What happened, above the curve, by time. Of marks that fall together the last one has the words: what it begins is what
/// can be seen behind it.
fn moments<'a>(out: &mut String, marks: impl Iterator<Item = &'a Mark>, x: &impl Fn(u64) -> f64) {
    let (_, _, t, b) = MARGIN;
    let all: Vec<(f64, &str)> = marks.map(|(at, what)| (x(*at), what.as_str())).collect();
    let mut free = 0.0;
    for (n, (at, what)) in all.iter().enumerate() {
        let side = if *at > SIZE.0 * 0.92 { "end" } else { "start" };
        let covered = all.get(n + 1).is_some_and(|(next, _)| next - at < TOGETHER);
        let width = 8.0 * what.chars().count() as f64;
        let (left, anchor) = if side == "end" { (at - 3.0 - width, at - 3.0) } else { (at + 3.0, at + 3.0) };
        // Words that would stand on the ones before them are left to the hover.
        let words = if covered || left < free { String::new() } else { escaped(what) };
        if !words.is_empty() {
            free = left + width;
        }
        let _ = write!(
            out,
            "<path class=\"mark\" d=\"M{at:.1} {t}V{}\"><title>{}</title></path><text class=\"dim\" x=\"{anchor:.1}\" y=\"{}\" text-anchor=\"{side}\">{words}</text>",
            SIZE.1 - b,
            escaped(what),
            t - 8.0
        );
    }
}

/// The steady amount, bytes, as a line across at `y`.
fn level(out: &mut String, steady: u64, y: f64) {
    let (l, r, ..) = MARGIN;
    let _ = write!(
        out,
        "<path class=\"steady\" d=\"M{l} {0:.1}H{1}\"><title>steady {2}</title></path><text x=\"{3}\" y=\"{4:.1}\" \
         text-anchor=\"end\">steady {2}</text>",
        y,
        SIZE.0 - r,
        mib(steady),
        SIZE.0 - r,
        y + 14.0
    );
}

/// The curve's path: of each column of the drawing the most, so that no peak is missing; it breaks where the amount is
/// not known.
fn path(series: &Series, x: &impl Fn(u64) -> f64, y: &impl Fn(f64) -> f64) -> String {
    let all: Vec<&Sample> = series.samples().collect();
    let mut out = String::new();
    let mut pen_up = true;
    for piece in all.chunks(all.len().div_ceil(POINTS).max(1)) {
        match piece.iter().filter(|s| s.gtt_bytes.is_some()).max_by_key(|s| s.gtt_bytes) {
            Some(sample) => {
                let word = if pen_up { 'M' } else { 'L' };
                let _ =
                    write!(out, "{word}{:.1} {:.1}", x(sample.ns), y(sample.gtt_bytes.unwrap_or(0) as f64));
                pen_up = false;
            }
            None => pen_up = true,
        }
    }
    out
}

/// Lines at round amounts, and round times since the start.
fn axes(
    out: &mut String,
    top: f64,
    length: u64,
    x: &impl Fn(u64) -> f64,
    y: &impl Fn(f64) -> f64,
    from: u64,
) {
    let (l, r, _, b) = MARGIN;
    let (amounts, digits) = ticks(top / MIB, 5);
    for amount in amounts {
        let _ = write!(
            out,
            "<path class=\"axis\" d=\"M{l} {0:.1}H{1}\"/><text class=\"dim\" x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{amount:.digits$} MiB</text>",
            y(amount * MIB),
            SIZE.0 - r,
            l - 6.0,
            y(amount * MIB) + 4.0,
        );
    }
    let (times, digits) = ticks(length as f64 / SECOND, 7);
    for (n, time) in times.into_iter().enumerate() {
        let at = x(from + (time * SECOND) as u64);
        let anchor = match at {
            _ if n == 0 => "start",
            at if at > SIZE.0 - r - 20.0 => "end",
            _ => "middle",
        };
        let _ = write!(
            out,
            "<text class=\"dim\" x=\"{at:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{time:.digits$} s</text>",
            SIZE.1 - b + 18.0,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that stand above a curve of 1000 ns, with those of all marks on hover.
    fn words(marks: &[(u64, &str)]) -> Vec<String> {
        let marks: Vec<Mark> = marks.iter().map(|(at, what)| (*at, (*what).to_owned())).collect();
        let mut out = String::new();
        moments(&mut out, marks.iter(), &|ns| ns as f64 * SIZE.0 / 1000.0);
        assert_eq!(out.matches("<title>").count(), marks.len(), "each is there on hover");
        let texts = out.split("<text").skip(1).filter_map(|t| t.split_once('>')?.1.split_once('<'));
        texts.map(|(words, _)| words.to_owned()).filter(|words| !words.is_empty()).collect()
    }

    #[test]
    fn what_lasts_has_its_words_and_no_words_stand_on_others() {
        let all = [
            (10, "load"),
            (400, "context"),
            (401, "run"),
            (600, "tear-down"),
            (601, "context"),
            (603, "run"),
        ];
        assert_eq!(words(&all), ["load", "run", "run"]);
        assert_eq!(words(&[(10, "tear-down"), (60, "run"), (200, "end")]), ["tear-down", "end"], "no room");
        assert_eq!(words(&[(850, "tear-down"), (960, "end")]), ["tear-down", "end"]);
        assert_eq!(
            words(&[(900, "tear-down"), (960, "the end")]),
            ["tear-down"],
            "to its left there is no room"
        );
    }
}
