//! `hrx-wrap mem`: what running processes hold now, counted as in a run, and clear words where there is nothing to count.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use common::{BIN, Dir, Done, fact, through, wait_until, wrap};
use serde_json::{Value, json};

/// A fake `/proc` with these processes (pid, parent), each with the bodies of its descriptors.
fn fake(name: &str, processes: &[(i32, i32, &[&str])]) -> Dir {
    let dir = Dir::new(name);
    for (pid, parent, bodies) in processes {
        let at = dir.join(&format!("proc/{pid}"));
        std::fs::create_dir_all(at.join("fdinfo")).unwrap();
        let stat = format!("{pid} (llama server)) S {parent} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0\n");
        std::fs::write(at.join("stat"), stat).unwrap();
        std::fs::write(at.join("statm"), "900 256 10 1 0 1 0\n").unwrap();
        for (fd, body) in (3..).zip(*bodies) {
            std::fs::write(at.join(format!("fdinfo/{fd}")), body).unwrap();
        }
    }
    dir
}

fn body(file: &str) -> String {
    let path = format!("{}/tests/data/fdinfo/{file}.txt", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn mem(dir: &Dir, words: &[&str]) -> Done {
    wrap(["mem", "--proc", "proc"].iter().chain(words)).cwd(dir.path()).run()
}

fn json_of(dir: &Dir, words: &[&str]) -> (Option<i32>, Value) {
    let mut all = vec!["--json"];
    all.extend(words);
    let done = mem(dir, &all);
    (
        done.code(),
        serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", done.out(), done.err())),
    )
}

#[test]
fn a_tree_is_summed_and_each_client_counted_once() {
    let apu = body("92-synth-amdgpu-6.14-total-vram-resident-gtt");
    let small = body("96-synth-client-name-with-colon-and-key-text");
    let i915 = body("11-i915-man-pages");
    let dir = fake("tree", &[(10, 1, &[&apu, &apu, &i915]), (11, 10, &[&apu, &small]), (20, 1, &[&small])]);
    let (code, found) = json_of(&dir, &["--pid", "10"]);
    assert_eq!(code, Some(0));
    let kib = |n: u64| json!(n << 10);
    assert_eq!(found["gtt_bytes"], kib(25_257_984 + 2_048));
    assert_eq!(
        found["gtt_total_bytes"],
        kib(92_160 + 2_048),
        "what is allocated stands beside what is there"
    );
    assert_eq!(found["vram_bytes"], kib(507_904 + 12));
    assert_eq!(found["rss_bytes"], 2 * 256 * hrx_wrap::sys::host::page_size());
    let clients = found["clients"].as_array().unwrap();
    assert_eq!(clients.len(), 2, "{found}");
    assert_eq!(
        (&clients[0]["driver"], &clients[0]["pdev"], &clients[0]["client_id"], &clients[0]["gtt_bytes"]),
        (&json!("amdgpu"), &json!("0000:c5:00.0"), &json!("31"), &kib(25_257_984))
    );
    assert_eq!(clients[0]["pids"], json!([10, 11]));
    assert_eq!(found["processes"], json!([{"pid": 10, "state": "ok"}, {"pid": 11, "state": "ok"}]));
    assert_eq!((&found["key"], &found["other_drivers"]), (&json!("resident"), &json!(["i915"])));
    let (_, both) = json_of(&dir, &["--pid", "11", "--pid", "20"]);
    assert_eq!(both["gtt_bytes"], found["gtt_bytes"], "the small one is in both, and is one");
    let (_, any) = json_of(&dir, &["--driver", "any", "--pid", "10"]);
    assert_eq!(any["gtt_bytes"], kib(25_257_984 + 2_048 + 6_044));
    let text = mem(&dir, &["--pid", "10"]);
    assert_eq!(fact(&text.out(), "GTT"), "24668.0 MiB (resident)");
    assert!(text.out().contains(
        "client        amdgpu 0000:c5:00.0 client 31: GTT 24666.0 MiB, VRAM 496.0 MiB, held by pid 10, 11\n"
    ));
}

#[test]
fn no_client_is_1_with_the_reason_and_without_a_figure() {
    let i915 = body("11-i915-man-pages");
    let dir = fake("none", &[(10, 1, &[&i915])]);
    let done = mem(&dir, &["--pid", "10"]);
    assert_eq!(done.code(), Some(1));
    assert!(
        done.complaint().contains("no amdgpu client in 1 process (but of i915: --driver any counts them)"),
        "{}",
        done.err()
    );
    assert_eq!((fact(&done.out(), "GTT"), fact(&done.out(), "RSS")), ("unknown".into(), "1.0 MiB".into()));
    let (code, found) = json_of(&dir, &["--pid", "10"]);
    assert_eq!(
        (code, &found["state"], &found["processes"][0]["state"]),
        (Some(1), &json!("no-client"), &json!("no-client"))
    );
    for unknown in ["gtt_bytes", "gtt_total_bytes", "vram_bytes"] {
        assert!(found[unknown].is_null(), "{unknown}: {found}");
    }
}

#[test]
fn a_client_that_says_nothing_is_unknown() {
    let silent = "drm-driver:\tamdgpu\ndrm-client-id:\t5\ndrm-pdev:\t0000:c5:00.0\n";
    let dir = fake("silent", &[(10, 1, &[silent])]);
    let (code, found) = json_of(&dir, &["--pid", "10"]);
    assert_eq!((code, &found["state"]), (Some(0), &json!("unsupported")));
    assert!(found["gtt_bytes"].is_null() && found["clients"][0]["gtt_bytes"].is_null(), "{found}");
}

#[test]
fn a_process_that_is_not_there_is_2_and_named() {
    let small = body("96-synth-client-name-with-colon-and-key-text");
    let dir = fake("absent", &[(10, 1, &[&small])]);
    let done = mem(&dir, &["--pid", "11"]);
    assert_eq!(done.code(), Some(2));
    assert!(done.complaint().contains("no such process: pid 11"), "{}", done.err());
    let (code, found) = json_of(&dir, &["--pid", "10", "11"]);
    assert_eq!(code, Some(0));
    assert_eq!(found["processes"], json!([{"pid": 10, "state": "ok"}, {"pid": 11, "state": "gone"}]));
    for (words, holds) in [(vec![], "--pid"), (vec!["--pid", "0"], "0"), (vec!["--pid", "x"], "x")] {
        let done = mem(&dir, &words);
        assert_eq!(done.code(), Some(2), "{words:?}");
        assert!(done.complaint().contains(holds), "{}", done.err());
    }
    let no_proc = wrap(["mem", "--proc", "/nonexistent", "--pid", "1"]).run();
    assert_eq!(no_proc.code(), Some(2));
    assert!(no_proc.complaint().contains("/nonexistent"), "{}", no_proc.err());
}

#[test]
fn a_process_that_may_not_be_read_is_said_so() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root {
        // Process 1 is root's; what is below it may be our own, and is then looked into.
        let done = wrap(["mem", "--pid", "1"]).run();
        let said = done.err().contains("not permitted to read")
            || done.out().contains("1: not permitted to read it");
        assert!(said, "{}{}", done.out(), done.err());
        return;
    }
    // Root may read everything, so another user asks.
    let dir = Dir::new("denied");
    std::fs::copy(BIN, dir.join("hrx-wrap")).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let (program, pid) = (dir.join("hrx-wrap").display().to_string(), child.id().to_string());
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let words: Vec<&str> = user.into_iter().chain([program.as_str(), "mem", "--pid", &pid]).collect();
    let done = through("setpriv", words).run();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((done.code(), done.out().as_str()), (Some(2), ""), "no figure, and no 0");
    let wanted = format!("not permitted to read pid {pid}: run as the user of that process, or as root");
    assert!(done.complaint().contains(&wanted), "{}", done.err());
}

#[test]
fn watching_goes_on_until_the_process_ends() {
    let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let pid = child.id().to_string();
    let watching = wrap(["mem", "--watch", "5ms", "--json", "--pid", &pid]).start();
    wait_until("three looks", || watching.out().lines().count() >= 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let done = watching.finish();
    assert_eq!(done.code(), Some(1), "it never had a client");
    let looks: Vec<Value> = done.out().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(looks[0]["rss_bytes"].as_u64() > Some(0));
    assert_eq!((&looks[looks.len() - 1]["state"], &looks[0]["state"]), (&json!("gone"), &json!("no-client")));
    assert_eq!(looks[looks.len() - 1]["processes"], json!([{"pid": child.id(), "state": "gone"}]));
}

#[test]
fn watching_sees_what_changes() {
    let of = |mib: u64| {
        format!(
            "drm-driver:\tamdgpu\ndrm-client-id:\t5\ndrm-pdev:\t0000:c5:00.0\ndrm-resident-gtt:\t{mib:9} MiB\n"
        )
    };
    let dir = fake("changes", &[(10, 1, &[&of(100)])]);
    let watching = wrap(["mem", "--proc", "proc", "--watch", "5ms", "--pid", "10"]).cwd(dir.path()).start();
    watching.wait_out("GTT 100.0 MiB");
    // In place and of one length: a reader never sees a part of it.
    use std::os::unix::fs::FileExt as _;
    let file = std::fs::File::options().write(true).open(dir.join("proc/10/fdinfo/3")).unwrap();
    file.write_all_at(of(350).as_bytes(), 0).unwrap();
    watching.wait_out("GTT 350.0 MiB");
    std::fs::rename(dir.join("proc/10"), dir.join("proc/ended")).unwrap();
    let done = watching.finish();
    assert_eq!(done.code(), Some(0), "it had one");
    assert!(done.out().ends_with("0 clients, gone\n"), "{}", done.out());
}
