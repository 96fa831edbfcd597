//! Notes the commit that the program is built from, where that is known, and builds the object that a target is given to
//! stamp its own lines (`preload/stamp.rs`).

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The only systems whose C library's streams the object knows.
const STAMPS: [&str; 1] = ["x86_64-unknown-linux-gnu"];

fn main() {
    for path in [".git/HEAD", ".git/logs/HEAD"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let described = Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=12"]).output();
    if let Ok(out) = described
        && out.status.success()
    {
        println!("cargo::rustc-env=HRX_WRAP_COMMIT={}", String::from_utf8_lossy(&out.stdout).trim());
    }
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let object = PathBuf::from(variable("OUT_DIR")).join("stamp.so");
    stamping_object(&root, &object);
    println!("cargo::rustc-env=HRX_WRAP_STAMP_OBJECT={}", object.display());
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|e| panic!("{name}, which cargo sets: {e}"))
}

/// The object, or an empty file where there is none for the system that is built for.
fn stamping_object(root: &Path, object: &Path) {
    let source = root.join("preload/stamp.rs");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed={}", root.join("src/core/ring_layout.rs").display());
    let target = variable("TARGET");
    if !STAMPS.contains(&target.as_str()) {
        std::fs::write(object, b"").unwrap_or_else(|e| panic!("{}: {e}", object.display()));
        return;
    }
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args(["--edition=2024", "--crate-name=stamp", "--crate-type=cdylib", "--target", &target]);
    rustc.args(["-Dwarnings", "-Cpanic=abort", "-Copt-level=3", "-Ccodegen-units=1", "-Cstrip=symbols"]);
    // No library behind it, so that nothing is missing in a process that has another; the same bytes wherever it is built.
    rustc.args(["-Clink-args=-nostdlib -nostartfiles -Wl,--build-id=none -Wl,-z,defs -Wl,-soname,hrx-wrap-stamp.so"]);
    rustc.arg(format!("--remap-path-prefix={}=.", root.display()));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let done = rustc.arg("-o").arg(object).arg(&source).status();
    assert!(done.is_ok_and(|s| s.success()), "{} could not be built: {rustc:?}", source.display());
}
