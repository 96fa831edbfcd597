//! The pages in a real browser: no error, no request, nothing wider than the screen, sorting, filtering and copying work,
//! and hostile names are text. Chromium is Debian's; `tests/run --browser` installs it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use common::traces::Run;
use common::{Dir, demo, wrap};
use serde_json::{Value, json};

/// THE place that decides what happens without a browser: the tests say so, on the real stderr that the test runner does
/// not swallow, and check nothing.
fn browser() -> bool {
    let named = std::env::var_os("HRX_WRAP_CHROMIUM").is_some();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    if named || std::env::split_paths(&path).any(|p| names.iter().any(|n| p.join(n).exists())) {
        return true;
    }
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let line = format!("\nNOT CHECKED: {test}: no chromium, tests/run --browser installs it\n");
    std::io::stderr().write_all(line.as_bytes()).expect("stderr");
    false
}

/// What a browser says of a page: `values` are those of the JavaScript expressions. Nothing is ever said on its console
/// and nothing fetched, on any page.
#[track_caller]
fn seen(dir: &Dir, page: &str, options: &[&str], scripts: &[&str]) -> Value {
    let mut call = Command::new("python3");
    call.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/drive.py"))
        .arg(dir.join(page))
        .args(options);
    for script in scripts {
        call.args(["--evaluate", script]);
    }
    let out = call.output().expect("python3");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let found: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!((&found["console"], &found["requests"]), (&json!([]), &json!([])), "{page}");
    assert!(
        found["overflow"].as_i64().unwrap() <= 0,
        "{page} {options:?} is too wide: {}",
        found["overflow"]
    );
    found
}

/// The first column's texts of the first table of kernels, as they stand.
const COLUMN: &str = "[...document.querySelectorAll('.data')].at(-1).querySelectorAll('tbody tr:not([hidden])').values()\
    .map(r => r.cells[0].textContent).toArray()";

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().parse().unwrap()).collect()
}

#[test]
fn the_pages_of_a_whole_and_of_a_killed_run_open_in_every_way() {
    if !browser() {
        return;
    }
    let dir = Dir::new("open");
    let quick = ["--tokens", "3", "--commands", "12"];
    for (out, more) in [("whole", &[][..]), ("killed", &["--die-in-dispatch", "340"])] {
        wrap(demo(&["-p", "-o", out, "--echo", "none"], &[&quick[..], more].concat())).cwd(dir.path()).run();
        for options in
            [&["--width", "360", "--height", "740"][..], &["--scheme", "dark"], &["--paper", "/dev/null"]]
        {
            let scripts =
                ["getComputedStyle(document.body).backgroundColor", "document.querySelectorAll('h2').length"];
            let found = seen(&dir, &format!("{out}/report.html"), options, &scripts);
            let dark = options.contains(&"dark");
            assert_eq!(found["values"][0] == "rgb(255, 255, 255)", !dark, "{}", found["values"]);
            assert!(found["values"][1].as_u64().unwrap() >= 5);
        }
    }
}

#[test]
fn tables_sort_filter_and_copy() {
    if !browser() {
        return;
    }
    let dir = Dir::new("table");
    Run::default().write(&dir.join("t.log"));
    wrap(["parse", "t.log", "--html", "p.html", "--report", "/dev/null"]).cwd(dir.path()).run();
    let click = |n: u32| {
        format!("[...document.querySelectorAll('.data')].at(-1).querySelectorAll('th button')[{n}].click()")
    };
    let filter = "(() => { const i = [...document.querySelectorAll('.data')].at(-1).querySelector('input'); i.value = 'ID 42'; \
        i.dispatchEvent(new Event('input')); })()";
    let copied = "(async () => { let got = ''; navigator.clipboard.writeText = async (t) => { got = t; }; \
        [...document.querySelectorAll('.data')].at(-1).querySelector('button.copy').click(); \
        await new Promise(r => setTimeout(r)); return got; })()";
    let sorted = "[...document.querySelectorAll('.data')].at(-1).querySelector('th').ariaSort";
    let (first, again) = (click(0), click(0));
    let script = [COLUMN, &first, COLUMN, &again, COLUMN, sorted, filter, COLUMN, copied];
    let found = seen(&dir, "p.html", &[], &script);
    let values = found["values"].as_array().unwrap();
    // 12 runs of 10 layers: 12.013, 7.208 and 2.403 ms.
    let down = numbers(&values[0]);
    assert!(down.len() == 3 && down.is_sorted_by(|a, b| a >= b), "{down:?}");
    assert_eq!(numbers(&values[2]), down, "sorted by the number, largest first");
    assert!(numbers(&values[4]).is_sorted(), "and the other way round: {values:?}");
    assert_eq!(values[5], "ascending");
    assert_eq!(values[7].as_array().unwrap().len(), 1, "the filter leaves one row: {values:?}");
    let copied = values[8].as_str().unwrap();
    let lines: Vec<&str> = copied.lines().collect();
    assert_eq!(lines.len(), 3, "{copied}");
    assert!(
        lines[0].starts_with("| total ms | share % |") && lines[2].ends_with("| unmapped id 42 |"),
        "{copied}"
    );
}

#[test]
fn numbers_on_hover_are_those_of_the_table() {
    if !browser() {
        return;
    }
    let dir = Dir::new("hover");
    Run::default().write(&dir.join("t.log"));
    wrap(["parse", "t.log", "--html", "p.html", "--report", "/dev/null"]).cwd(dir.path()).run();
    let titles = "[...document.querySelectorAll('.bar rect.a title')].map(t => t.textContent)";
    let rows = "[...document.querySelectorAll('.data')].at(-1).querySelectorAll('tbody tr').values()\
        .map(r => [...r.cells].map(c => c.textContent)).toArray()";
    let found = seen(&dir, "p.html", &[], &[titles, rows]);
    let (titles, rows) = (found["values"][0].as_array().unwrap(), found["values"][1].as_array().unwrap());
    assert_eq!((titles.len(), rows.len()), (3, 3));
    for (title, row) in titles.iter().zip(rows) {
        let cell = |n: usize| row[n].as_str().unwrap();
        let expected = format!("{}: {} %, {} ms, mean {} µs", cell(9), cell(1), cell(0), cell(3));
        assert_eq!(title.as_str().unwrap(), expected);
    }
}

#[test]
fn hostile_names_are_text() {
    if !browser() {
        return;
    }
    let dir = Dir::new("hostile");
    let long = "x".repeat(10_000);
    let names = [
        "</script><script>document.title='owned'</script>",
        "\u{1b}[31mred\u{202e}",
        &long,
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd}",
    ];
    let exports: Vec<Value> = names
        .iter()
        .map(|n| json!({"name": n, "family": "<img src=x onerror=alert(1)>", "symbol": "s"}))
        .collect();
    std::fs::write(dir.join("m.json"), json!({"schema": "v1", "exports": exports}).to_string()).unwrap();
    let id = |n: &str| hrx_wrap::core::kernel_id::kernel_id("<img src=x onerror=alert(1)>", n);
    let label = json!("</title><script>document.title='owned'</script>\u{5d0}");
    for (file, ids) in [("a.log", [0, 1, 2]), ("b.log", [0, 1, 3])] {
        let ids = ids.map(|n: usize| id(names[n]));
        let run = Run { ids, ..Run::default() }.with("label", label.clone());
        run.with("command", json!(["</pre><script>document.title='owned'</script>", long]))
            .write(&dir.join(file));
    }
    let words = ["parse", "a.log", "--manifests", "m.json", "--html", "p.html", "--report", "/dev/null"];
    assert_eq!(wrap(words).cwd(dir.path()).run().code(), Some(0));
    let words = ["compare", "a.log", "b.log", "--manifests", "m.json", "--html", "c.html"];
    wrap(words).cwd(dir.path()).run();
    for page in ["p.html", "c.html"] {
        let scripts = [
            "document.title",
            "document.images.length",
            "document.scripts.length",
            "document.body.textContent",
        ];
        let found = seen(&dir, page, &["--width", "360"], &scripts);
        let values = found["values"].as_array().unwrap();
        assert_ne!(values[0], "owned", "{page}");
        assert_eq!((&values[1], &values[2]), (&0.into(), &1.into()), "{page}: only its own script is one");
        let text = values[3].as_str().unwrap();
        assert!(text.contains("<script>document.title='owned'</script>"), "{page} shows it as text");
        assert!(text.contains("\\u{1b}[31mred\\u{202e}"), "{page}: what cannot be printed is escaped");
    }
}
