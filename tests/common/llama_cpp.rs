//! Where real llama.cpp is: `tests/llama/README.md` says what it is. It stands in `target/llama`, or where
//! `HRX_WRAP_LLAMA` says.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The repository.
const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// The folder with venv and models. Made when it is not there, so that `cargo test` alone works on a fresh clone.
pub fn llama() -> &'static Path {
    static READY: LazyLock<PathBuf> = LazyLock::new(|| {
        let given = std::env::var_os("HRX_WRAP_LLAMA").map(PathBuf::from);
        let folder = given.unwrap_or_else(|| Path::new(TOP).join("target/llama"));
        let ready = || {
            let wanted = ["venv.stamp", "models.stamp", "kinds.stamp", "venv/bin/python"];
            wanted.iter().all(|name| folder.join(name).exists())
        };
        if !ready() {
            let mut setup = Command::new("python3");
            setup.arg(Path::new(TOP).join("tests/llama/setup.py"));
            // It works in a folder `llama` below this one; cargo's own may be another, and not for us.
            setup.env("CARGO_TARGET_DIR", folder.parent().expect("a folder below another"));
            let status = setup.status().expect("python3, for tests/llama/setup.py");
            assert!(status.success() && ready(), "tests/llama/setup.py did not make {}", folder.display());
        }
        folder
    });
    &READY
}

/// One of llama.cpp's own programs. THE place that decides what happens where they are not built: the tests on them
/// say so, on the real stderr that the test runner does not swallow, and check nothing.
pub fn tool(name: &str) -> Option<String> {
    let path = llama().join("tools/build/bin").join(name);
    // The stamp is the last thing that tools.py writes: a build that goes on at this moment is not one.
    if llama().join("tools.stamp").exists() && path.exists() {
        return Some(path.display().to_string());
    }
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let line = format!("\nNOT CHECKED: {test}: {name} is not built, see tests/llama/tools.py\n");
    std::io::stderr().write_all(line.as_bytes()).expect("stderr");
    None
}

pub fn model(name: &str) -> String {
    llama().join(format!("models/{name}.gguf")).display().to_string()
}

pub fn driver(name: &str, model: &str, tokens: u32, more: &[&str]) -> Vec<String> {
    let python = llama().join("venv/bin/python").display().to_string();
    let script = Path::new(TOP).join(format!("tests/llama/drive_{name}.py")).display().to_string();
    let mut words = vec![python, script, model.to_owned(), "--tokens".to_owned(), tokens.to_string()];
    words.extend(more.iter().map(|w| (*w).to_owned()));
    words
}
