//! The rows of a profile's tables, once for every format.

use crate::core::names::Catalogue;
use crate::core::profile::Profile;
use crate::core::profile::program::{Kernel, Program};
use crate::core::text::{count, printable};
use crate::report::view::{Sort, View};

/// One kernel of one program. Times in ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its id; absent when the lines name none.
    pub id: Option<u64>,
    /// Family and name, when a catalogue has them.
    pub name: Option<(String, String)>,
    /// The source file that a manifest gives.
    pub source: Option<String>,
    /// Dispatches.
    pub count: u64,
    /// Device time in all.
    pub total: u64,
    /// Of which in the program's first run.
    pub first_run: u64,
    /// Mean device time.
    pub mean: u64,
    /// Median device time.
    pub median: u64,
    /// 95th percentile.
    pub p95: u64,
    /// Shortest.
    pub least: u64,
    /// Longest.
    pub most: u64,
    /// Mean launch.
    pub launch: u64,
    /// Its mean is under twice the floor: not told apart from the instrument.
    pub near_floor: bool,
    /// Bindings of the line and of the catalogue, where they differ: the name is of a stale or wrong manifest.
    pub bindings: Option<(u64, u64)>,
}

impl Row {
    fn of(kernel: &Kernel, floor: Option<u64>, names: &Catalogue) -> Row {
        let name = kernel.id.and_then(|id| names.get(id));
        let device = &kernel.device;
        let mean = device.mean().unwrap_or(0);
        let count = device.count();
        Row {
            id: kernel.id,
            name: name.map(|n| (printable(n.family.as_bytes()), printable(n.name.as_bytes()))),
            source: name.and_then(|n| n.source.as_ref()).map(|s| printable(s.as_bytes())),
            count,
            total: device.total(),
            first_run: kernel.first_run_ns,
            mean,
            median: device.quantile(50).unwrap_or(0),
            p95: device.quantile(95).unwrap_or(0),
            least: device.least().unwrap_or(0),
            most: device.most().unwrap_or(0),
            launch: kernel.launch_ns.checked_div(count).unwrap_or(0),
            near_floor: floor.is_some_and(|f| mean < 2 * f),
            bindings: kernel
                .bindings
                .zip(name.and_then(|n| n.bindings))
                .filter(|(line, known)| line != known),
        }
    }

    /// `family:name`, or the id of a kernel that no catalogue has.
    pub fn label(&self) -> String {
        match (&self.name, self.id) {
            (Some((family, name)), _) => format!("{family}:{name}"),
            (None, Some(0)) => "uncatalogued (id 0)".to_owned(),
            (None, Some(id)) => format!("unmapped id {id}"),
            (None, None) => "no kernel named in its lines".to_owned(),
        }
    }
}

/// The rows of a program, in the order that the user chose.
pub fn rows(program: &Program, profile: &Profile, names: &Catalogue, view: View) -> Vec<Row> {
    let floor = profile.floor_ns();
    let mut rows: Vec<Row> = program.kernels.iter().map(|k| Row::of(k, floor, names)).collect();
    rows.sort_by_cached_key(|row| {
        let number = match view.sort {
            Sort::Total => row.total,
            Sort::Count => row.count,
            Sort::Mean => row.mean,
            Sort::Median => row.median,
            Sort::P95 => row.p95,
            Sort::Max => row.most,
            Sort::Launch => row.launch,
            Sort::Name => 0,
        };
        (std::cmp::Reverse(number), row.label(), row.id)
    });
    rows
}

/// How many ids no catalogue has, and their share of all device time.
pub fn unmapped(profile: &Profile, names: &Catalogue) -> (u64, u64, u64) {
    let mut ids = std::collections::BTreeSet::new();
    let (mut time, mut all) = (0, 0);
    for kernel in profile.programs().iter().flat_map(|p| &p.kernels) {
        all += kernel.device.total();
        if kernel.id.is_none_or(|id| names.get(id).is_none()) {
            ids.insert(kernel.id);
            time += kernel.device.total();
        }
    }
    (ids.len() as u64, time, all)
}

/// A program's runs: dispatches by commands; where that is no whole number, with how many were begun.
pub fn runs(program: &Program) -> String {
    let runs = program.runs();
    if runs == program.begun as f64 {
        return count(program.begun, "run");
    }
    let shown = if runs.fract() == 0.0 { format!("{runs}") } else { format!("{runs:.2}") };
    format!("{shown} runs ({} begun)", program.begun)
}
