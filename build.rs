//! Notes the commit that the program is built from, where that is known.

use std::process::Command;

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
}
