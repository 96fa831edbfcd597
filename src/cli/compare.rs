//! The options of `compare`.

use std::path::PathBuf;

use clap::Args;

use super::UnitArg;

/// The options of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Run folders or kept traces: the base, and what is compared with it (each one by itself when there are several).
    #[arg(value_name = "RUN", required = true, value_hint = clap::ValueHint::AnyPath)]
    pub runs: Vec<PathBuf>,
    /// The runs before it are the base's, those behind it the new ones: medians, spread and a verdict a row.
    #[arg(long, value_name = "RUN", num_args = 1.., value_hint = clap::ValueHint::AnyPath, conflicts_with = "label")]
    pub vs: Vec<PathBuf>,
    /// Given twice: the runs with the first label are the base's, those with the second the new ones.
    #[arg(long, value_name = "TEXT")]
    pub label: Vec<String>,
    /// A change of more than this is a regression, percent.
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = percent)]
    pub threshold: f64,
    /// Compare what is not comparable; the report still says why it is not.
    #[arg(long)]
    pub force: bool,
    /// Kernel manifests, as for parse; may be given again.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::AnyPath)]
    pub manifests: Vec<PathBuf>,
    /// Rows a table.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// The unit of kernels' times.
    #[arg(long, value_enum, value_name = "UNIT", default_value = "us")]
    pub unit: UnitArg,
    /// The comparison as JSON in this file (- = stdout, then without the text).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// The comparison as Markdown in this file (- = stdout, then without the text).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// The comparison as a page in this file (- = stdout, then without the text).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub html: Option<PathBuf>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    number.map(|n| n / 100.0).ok_or_else(|| format!("'{text}' is not a percentage: write 5 or 2.5"))
}
