//! The kernels of a program that is compared: paired by id, or as renamed, and their change split.

use super::facts::KernelFacts;
use super::matching::Pair;
use super::noise::{Value, median};
use super::{KernelRow, Kind, kind, twice};

/// A kernel in the runs of both sides.
struct Both<'a> {
    base: Vec<&'a KernelFacts>,
    new: Vec<&'a KernelFacts>,
}

/// The kernels of a program, the one that changed most first.
pub(super) fn rows(pair: &Pair<'_>, threshold: f64) -> Vec<KernelRow> {
    let mut all: Vec<Both<'_>> = Vec::new();
    for (new, side) in [(false, &pair.base), (true, &pair.new)] {
        for kernel in side.iter().flat_map(|p| &p.kernels) {
            let known = all.iter().position(|b| b.base.iter().chain(&b.new).any(|k| k.id == kernel.id));
            let place = known.unwrap_or_else(|| {
                all.push(Both { base: Vec::new(), new: Vec::new() });
                all.len() - 1
            });
            if new { &mut all[place].new } else { &mut all[place].base }.push(kernel);
        }
    }
    join_renamed(&mut all);
    let mut rows: Vec<KernelRow> = all.iter().map(|both| row(both, threshold)).collect();
    rows.sort_by(|a, b| {
        b.change_ns().abs().total_cmp(&a.change_ns().abs()).then_with(|| a.label.cmp(&b.label))
    });
    rows
}

/// A kernel that vanished and a new one are one when they are the only ones of their source file that did so.
fn join_renamed(all: &mut Vec<Both<'_>>) {
    let source = |kernels: &[&KernelFacts]| kernels.first().and_then(|k| k.source.clone());
    let mut gone: Vec<(String, usize)> = Vec::new();
    let mut come: Vec<(String, usize)> = Vec::new();
    for (place, both) in all.iter().enumerate() {
        if both.new.is_empty() {
            gone.extend(source(&both.base).map(|s| (s, place)));
        } else if both.base.is_empty() {
            come.extend(source(&both.new).map(|s| (s, place)));
        }
    }
    let alone = |list: &[(String, usize)], source: &str| {
        let mut of_it = list.iter().filter(|(s, _)| s == source);
        of_it.next().filter(|_| of_it.next().is_none()).map(|(_, place)| *place)
    };
    let mut joined = Vec::new();
    for (source, _) in &gone {
        if let (Some(old), Some(new)) = (alone(&gone, source), alone(&come, source)) {
            all[old].new = std::mem::take(&mut all[new].new);
            joined.push(new);
        }
    }
    let mut place = 0;
    all.retain(|_| {
        place += 1;
        !joined.contains(&(place - 1))
    });
}

fn row(both: &Both<'_>, threshold: f64) -> KernelRow {
    let times = |side: &[&KernelFacts]| side.iter().map(|k| k.time).collect::<Vec<Value>>();
    let calls = |side: &[&KernelFacts]| {
        let all: Vec<Value> = side.iter().map(|k| Value::exact(k.calls)).collect();
        median(&all).unwrap_or(0.0)
    };
    // Of calls: how often it is called shows in the time alone.
    let medians = |side: &[&KernelFacts]| {
        side.iter().filter_map(|k| k.call.filter(|_| k.calls > 0.0)).collect::<Vec<Value>>()
    };
    let (base, new) = (times(&both.base), times(&both.new));
    let (c0, c1) = (calls(&both.base), calls(&both.new));
    let (t0, t1) = (median(&base).unwrap_or(0.0), median(&new).unwrap_or(0.0));
    // A kernel that is new was called more; one that vanished, less.
    let called_more = if c0 > 0.0 { (c1 - c0) * (t0 / c0) } else { t1 };
    let shown = both.new.first().or(both.base.first());
    let mut kind = kind(!both.base.is_empty(), !both.new.is_empty());
    if let (Some(old), Some(now)) = (both.base.first(), both.new.first())
        && old.id != now.id
    {
        kind = Kind::Renamed(old.label());
    }
    KernelRow {
        id: shown.and_then(|k| k.id),
        label: shown.map(|k| k.label()).unwrap_or_default(),
        kind,
        calls: (c0, c1),
        time_ns: (t0, t1),
        called_more_ns: called_more,
        each_slower_ns: t1 - t0 - called_more,
        judged: twice(&base, &new, &medians(&both.base), &medians(&both.new), threshold),
    }
}
