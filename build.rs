//! Notes the commit that the program is built from, where that is known, and builds the object that a target is given to
//! stamp its own lines (`preload/stamp.rs` and its modules).

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The only systems whose C library's streams the object knows.
const STAMPS: [&str; 1] = ["x86_64-unknown-linux-gnu"];

fn main() -> Result<(), String> {
    for path in [".git/HEAD", ".git/logs/HEAD"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let described = Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=12"]).output();
    if let Ok(out) = described
        && out.status.success()
    {
        println!("cargo::rustc-env=HRX_WRAP_COMMIT={}", String::from_utf8_lossy(&out.stdout).trim());
    }
    let object = PathBuf::from(variable("OUT_DIR")?).join("stamp.so");
    stamping_object(&PathBuf::from(variable("CARGO_MANIFEST_DIR")?), &object)?;
    println!("cargo::rustc-env=HRX_WRAP_STAMP_OBJECT={}", object.display());
    Ok(())
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|e| format!("{name}, which cargo sets: {e}"))
}

/// The object, or an empty file where there is none for the system that is built for.
fn stamping_object(root: &Path, object: &Path) -> Result<(), String> {
    let source = root.join("preload/stamp.rs");
    println!("cargo::rerun-if-changed={}", root.join("preload").display());
    println!("cargo::rerun-if-changed={}", root.join("src/core/ring_layout.rs").display());
    let target = variable("TARGET")?;
    if !STAMPS.contains(&target.as_str()) {
        return std::fs::write(object, b"").map_err(|e| format!("{}: {e}", object.display()));
    }
    let mut rustc = Command::new(variable("RUSTC")?);
    rustc.args(["--edition=2024", "--crate-name=stamp", "--crate-type=cdylib", "--target", &target]);
    rustc.args(["-Dwarnings", "-Cpanic=abort", "-Copt-level=3", "-Ccodegen-units=1", "-Cstrip=symbols"]);
    // No library behind it, so that nothing is missing in a process that has another; `-z defs` keeps it so.
    rustc.arg(
        "-Clink-args=-nostdlib -nostartfiles -Wl,--build-id=none -Wl,-z,defs -Wl,-soname,hrx-wrap-stamp.so",
    );
    // The same bytes wherever it is built.
    rustc.arg(format!("--remap-path-prefix={}=.", root.display()));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let done = rustc.arg("-o").arg(object).arg(&source).status();
    match done {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{} could not be built: {status}: {rustc:?}", source.display())),
        Err(error) => Err(format!("{rustc:?}: {error}")),
    }
}
