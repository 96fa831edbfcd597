//! The memory of a run: sampled by default, on disk as it comes, the same live and parsed, there after every kind of end.
//!
//! There is no GPU: the target enters itself into a fake `/proc`, and waits for the table of samples itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use std::path::Path;

use common::{Dir, Running, fact, supervisor_of, wait_until, words, wrap};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

fn target() -> String {
    format!("{}/tests/targets/gtt.py", env!("CARGO_MANIFEST_DIR"))
}

/// A run of the fake client with `options`; its folder is `run`.
fn start(dir: &Dir, options: &[&str], steps: &[&str]) -> Running {
    std::fs::create_dir_all(dir.join("proc")).unwrap();
    std::fs::create_dir_all(dir.join("sys/bus/pci/devices/0000:c5:00.0")).unwrap();
    for (name, bytes) in [("gtt_used", 900 * MIB), ("gtt_total", 24_000 * MIB), ("vram_total", 512 * MIB)] {
        let path = format!("sys/bus/pci/devices/0000:c5:00.0/mem_info_{name}");
        std::fs::write(dir.join(&path), format!("{bytes}\n")).unwrap();
    }
    let mut all = vec!["--proc", "proc", "--sys", "sys"];
    all.extend(options);
    let program = target();
    let mut command = vec!["python3", &program, "proc", "run/gtt.tsv"];
    command.extend(steps);
    wrap(words(&all, &command)).cwd(dir.path()).start()
}

/// A report without its word on how it was made.
fn same(report: &str) -> String {
    report.split_inclusive('\n').filter(|l| !l.starts_with("hrx-wrap ")).collect()
}

fn parse(dir: &Dir, words: &[&str]) -> common::Done {
    wrap(["parse"].iter().chain(words)).cwd(dir.path()).run()
}

fn memory_of(dir: &Dir) -> Value {
    dir.json("run/report.json")["memory"].clone()
}

/// MiB of a column.
fn gtt(memory: &Value, column: &str) -> Option<u64> {
    memory[column]["gtt_bytes"].as_u64().map(|bytes| bytes / MIB)
}

#[test]
fn peak_steady_and_final_of_a_client_come_out_live_and_parsed() {
    let dir = Dir::new("memory");
    let done =
        start(&dir, &["-o", "run", "--interval", "5ms"], &["100", "700", "none", "300", "exit5"]).finish();
    assert_eq!(done.code(), Some(5), "{}", done.err());
    let memory = memory_of(&dir);
    assert_eq!((gtt(&memory, "peak"), gtt(&memory, "final")), (Some(700), Some(300)));
    assert_eq!(memory["peak"]["gtt_total_bytes"], 701 * MIB);
    assert_eq!(memory["final"]["vram_bytes"], 512 << 10);
    assert_eq!(memory["final"]["rss_bytes"], 256 * hrx_wrap::sys::host::page_size());
    assert_eq!(memory["peak"]["device_gtt_used_bytes"], 900 * MIB);
    assert_eq!((&memory["key"], &memory["interval_ns"]), (&json!("resident"), &json!(5_000_000)));
    assert!(memory["samples_by_state"]["partial"].as_u64() >= Some(1), "{memory}");
    let between = |column: &str| memory[column]["at_ns"].as_u64().unwrap();
    assert!(between("peak") < between("final"));
    let clients = memory["clients"].as_array().unwrap();
    assert_eq!(clients.len(), 1);
    assert_eq!((&clients[0]["client_id"], &clients[0]["pdev"]), (&json!("31"), &json!("0000:c5:00.0")));
    assert_eq!(
        (&clients[0]["gtt_peak_bytes"], &clients[0]["gtt_shared_bytes"]),
        (&json!(700 * MIB), &json!(MIB))
    );
    assert_eq!(memory["devices"][0]["gtt_total_bytes"], 24_000 * MIB);

    let live = dir.text("run/report.txt");
    for holds in [
        "resident (drm-resident-*)",
        "amdgpu 0000:c5:00.0 client 31: GTT peak 700.0 MiB at ",
        "at most 1.0 MiB of GTT are counted more than once",
        "what lasts less than 5.000 ms can be missed",
        "steady is the median over all samples",
        "the figures are from proc in place of /proc and sys in place of /sys",
    ] {
        assert!(live.contains(holds), "no {holds:?} in:\n{live}");
    }
    assert!(fact(&live, "  GTT   ").starts_with("700.0 "), "{live}");
    assert_eq!(same(&parse(&dir, &["run"]).out()), same(&live));
    assert_eq!(same(&parse(&dir, &["run/trace.log"]).out()), same(&live), "from what the record holds");
    let json = parse(&dir, &["--json", "-", "run"]);
    let parsed: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(parsed["memory"], memory);
    assert_eq!((&memory["proc"], &memory["sys"]), (&json!("proc"), &json!("sys")));
    assert!(dir.text("run/report.html").contains("GPU memory: the figures are from proc in place of /proc"));
    let record = dir.json("run/run.json");
    assert_eq!(
        record["sampling"],
        json!({"interval_ns": 5_000_000, "driver": "amdgpu", "proc": "proc", "sys": "sys"})
    );
}

#[test]
fn the_table_has_a_header_and_a_row_a_sample() {
    let dir = Dir::new("table");
    start(&dir, &["-o", "run", "--interval", "5ms"], &["100", "exit0"]).finish();
    let text = dir.text("run/gtt.tsv");
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some(
            "ns\tgtt_bytes\tgtt_total_bytes\tvram_bytes\trss_bytes\tdevice_gtt_used_bytes\tclients\tfds\tstate"
        )
    );
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split('\t').collect()).collect();
    assert_eq!(memory_of(&dir)["samples"], rows.len());
    assert!(rows.iter().all(|r| r.len() == 9 && r[0].parse::<u64>().is_ok()), "{text}");
    let page = hrx_wrap::sys::host::page_size() * 256;
    let row: [String; 8] = [100 * MIB, 101 * MIB, 512 << 10, page, 900 * MIB, 1, 1]
        .map(|n| n.to_string())
        .into_iter()
        .chain(["ok".to_owned()])
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    assert!(rows.iter().any(|r| r[1..] == row), "no {row:?} in\n{text}");
}

#[test]
fn a_sample_comes_before_a_signal_and_before_a_timeout() {
    for (options, ends) in [(vec![], true), (vec!["-t", "3s"], false)] {
        let dir = Dir::new("before");
        let mut all = vec!["-o", "run", "--interval", "1h"];
        all.extend(&options);
        let running = start(&dir, &all, &["=444", "idle"]);
        if ends {
            running.wait_out("ready");
            running.signal(15);
        }
        let done = running.finish();
        assert_eq!(done.code(), Some(if ends { 0 } else { 124 }), "{}", done.err());
        let memory = memory_of(&dir);
        assert_eq!(
            (gtt(&memory, "final"), gtt(&memory, "peak")),
            (Some(444), Some(444)),
            "{options:?}: {memory}"
        );
    }
}

#[test]
fn the_recorded_split_comes_out_of_a_live_run() {
    let dir = Dir::new("recorded");
    let steps = [
        "say:llama_model_loader: loaded meta data with 20 key-value pairs",
        "say:load_tensors:   CPU_Mapped model buffer size =   304.28 MiB",
        "say:load_tensors:         HRX0 model buffer size =  2375.91 MiB",
        "2421",
        "say:llama_context: constructing llama_context",
        "say:llama_kv_cache:       HRX0 KV buffer size =    36.00 MiB",
        "say:sched_reserve:       HRX0 compute buffer size =    43.20 MiB",
        "say:sched_reserve: reserve took 24.31 ms, sched copies = 1",
        "say:set_n_threads: n_threads = 4, n_threads_batch = 4",
        "say:HRX host weight cache: resident=304.3 MiB weights=1",
        "say:HRX host weight cache: resident=795.8 MiB weights=38",
        "3925",
        "say:HRX host weight cache: evicted blk.35.ffn_down.weight resident=512.0 MiB weights=16",
        "3613",
        "say:llama_perf_context_print:        load time =     812.40 ms",
        "87",
        "exit0",
    ];
    let done = start(&dir, &["-s", "-o", "run", "--interval", "5ms", "--echo", "none"], &steps).finish();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let live = dir.text("run/report.txt");
    let row = |name: &str| {
        let line = live.lines().find(|l| l.ends_with(&format!("  {name}")));
        let line = line.unwrap_or_else(|| panic!("no row {name:?} in:\n{live}"));
        line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        [
            "process",
            "loader's model buffer",
            "packed copies (38 weights)",
            "KV + recurrent state",
            "compute + output",
            "not attributed"
        ]
        .map(row),
        ["3925.0 100.0", "2375.9 60.5", "795.8 20.3", "36.0 0.9", "43.2 1.1", "674.1 17.2"]
    );
    assert!(live.contains("duplicate: packed copies are 33.5 % of the loader's model buffer"), "{live}");
    let memory = memory_of(&dir);
    assert_eq!((gtt(&memory, "peak"), gtt(&memory, "final")), (Some(3_925), Some(87)));
    let steady = gtt(&memory, "steady").unwrap();
    assert!([3_925, 3_613, 2_421].contains(&steady), "{memory}");
    assert!(live.contains("  steady is the median from the end of load at "), "{live}");
    assert_eq!(same(&parse(&dir, &["run"]).out()), same(&live));
}

#[test]
fn a_new_phase_of_the_run_is_sampled_at_once() {
    let dir = Dir::new("phase");
    // Without a sample of its own for the line the target would wait for ever.
    let script = "echo 'llama_model_load_from_file_impl: loading model, no_alloc = 0' >&2; \
        echo 'load_tensors: loading model tensors, this can take a while... (mmap = true)' >&2; \
        until [ $(wc -l < run/gtt.tsv) -ge 3 ]; do sleep 0.01; done";
    let options = ["-o", "run", "--interval", "1h", "-t", "50s"];
    let done = wrap(words(&options, &["sh", "-c", script])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
}

#[test]
fn the_first_line_of_a_phase_brings_a_sample() {
    let dir = Dir::new("phase");
    let load = "+llama_model_loader: loaded meta data with 30 key-value pairs and 291 tensors from m.gguf";
    let context = "+llama_context: constructing llama_context";
    let steps = ["=100", load, "100", "=222", context, "222"];
    let done = start(&dir, &["-o", "run", "--interval", "1h"], &steps).finish();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let phases = dir.json("run/report.json")["split"]["phases"].clone();
    let peaks: Vec<_> = phases.as_array().unwrap().iter().map(|p| p["peak_gtt_bytes"].as_u64()).collect();
    assert_eq!(peaks[..2], [Some(100 * MIB), Some(222 * MIB)], "{phases}");
}

#[test]
fn what_a_killed_supervisor_sampled_is_on_disk() {
    let dir = Dir::new("killed");
    let running = start(&dir, &["-o", "run", "--interval", "5ms"], &["100", "700", "300", "idle"]);
    running.wait_out("ready");
    common::kill(supervisor_of(running.pid()), 9);
    let done = running.finish();
    assert_eq!(done.code(), Some(125));
    let memory = memory_of(&dir);
    assert_eq!((gtt(&memory, "peak"), gtt(&memory, "final")), (Some(700), Some(300)), "{memory}");
    assert!(
        done.err().contains("clients and keys are unknown: only the table of samples is left"),
        "{}",
        done.err()
    );
    assert_eq!(same(&parse(&dir, &["run"]).out()), same(&dir.text("run/report.txt")));
    let json: Value = serde_json::from_slice(&parse(&dir, &["--json", "-", "run"]).stdout).unwrap();
    assert_eq!(json["memory"], memory);
}

#[test]
fn without_a_table_they_are_lost_with_it_and_that_is_said() {
    let running = wrap(words(&[], &["sh", "-c", "echo ready; exec sleep 600"])).start();
    running.wait_out("ready");
    common::kill(supervisor_of(running.pid()), 9);
    let done = running.finish();
    assert!(done.err().contains("MEMORY: unknown, the samples were lost"), "{}", done.err());
}

#[test]
fn a_killed_front_loses_nothing() {
    let dir = Dir::new("front");
    let mut running = start(&dir, &["-o", "run", "--interval", "1h"], &["=444", "idle"]);
    running.wait_out("ready");
    running.child.kill().unwrap();
    let mark = running.mark().to_owned();
    running.finish();
    wait_until("the end of every process", || common::marked(&mark).is_empty());
    let memory = memory_of(&dir);
    assert_eq!((gtt(&memory, "peak"), memory["clients"].as_array().map(Vec::len)), (Some(444), Some(1)));
}

#[test]
fn a_run_that_goes_on_or_was_cut_off_is_read_from_its_table() {
    let dir = Dir::new("going");
    let running = start(&dir, &["-o", "run", "--interval", "5ms"], &["100", "700", "idle"]);
    running.wait_out("ready");
    let done = parse(&dir, &["run"]);
    assert!(fact(&done.out(), "  GTT   ").starts_with("700.0 "), "{}", done.out());
    assert!(done.out().contains("clients and keys are known when the run has ended"), "{}", done.out());
    running.signal(15);
    running.finish();
    // As if everything had been killed at once, in the middle of a row.
    let table = dir.text("run/gtt.tsv");
    std::fs::write(dir.join("run/gtt.tsv"), &table[..table.len() - 3]).unwrap();
    let mut record = dir.json("run/run.json");
    record.as_object_mut().unwrap().remove("end");
    std::fs::write(dir.join("run/run.json"), record.to_string()).unwrap();
    let done = parse(&dir, &["run"]);
    assert!(fact(&done.out(), "  GTT   ").starts_with("700.0 "), "{}", done.out());
    assert!(done.out().contains("the samples end inside a row"), "{}", done.out());
}

#[test]
fn every_run_is_sampled_and_no_client_is_said_so() {
    let done = wrap(words(&["--interval", "10ms"], &["sh", "-c", "sleep 0.1"])).run();
    assert_eq!(done.code(), Some(0));
    let err = done.err();
    assert!(err.contains("\nMEMORY: no amdgpu client was seen ("), "{err}");
    assert!(fact(&err, "  RSS").contains("resident memory of the processes"), "{err}");
    assert!(!err.contains("  GTT"), "no figure for what was not seen:\n{err}");
    assert!(fact(&err, "samples").contains(" of the memory, longest gap "), "{err}");
}

#[test]
fn a_process_of_the_tree_that_comes_later_is_sampled() {
    let dir = Dir::new("later");
    std::fs::create_dir(dir.join("proc")).unwrap();
    // The client is a grandchild, which the parent waits for.
    let script = format!("python3 {} proc run/gtt.tsv 250 exit0; exit 3", target());
    let fake =
        "mkdir proc/$$; echo \"$$ (sh) S $PPID 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0\" > proc/$$/stat; ";
    let words = words(
        &["--proc", "proc", "-o", "run", "--interval", "5ms"],
        &["sh", "-c", &format!("{fake}{script}")],
    );
    let done = wrap(words).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(3), "{}", done.err());
    assert_eq!(gtt(&memory_of(&dir), "peak"), Some(250));
}

#[test]
fn a_proc_of_an_outer_namespace_is_read_by_its_own_numbers() {
    let dir = Dir::new("outer");
    // There this process is 77, and what is below 77 is the tree.
    let write = |path: &str, text: &str| {
        std::fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
        std::fs::write(dir.join(path), text).unwrap();
    };
    for (pid, parent) in [(78, 77), (79, 78), (90, 1)] {
        write(
            &format!("proc/{pid}/stat"),
            &format!("{pid} (x) S {parent} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0\n"),
        );
        let body = format!(
            "drm-driver:\tamdgpu\ndrm-client-id:\t{pid}\ndrm-pdev:\t0000:c5:00.0\ndrm-resident-gtt:\t10 MiB\n"
        );
        write(&format!("proc/{pid}/fdinfo/4"), &body);
    }
    std::os::unix::fs::symlink("77", dir.join("proc/self")).unwrap();
    let done = wrap(words(&["--proc", "proc", "-o", "run"], &["true"])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    assert_eq!(gtt(&memory_of(&dir), "peak"), Some(20));
}

#[test]
fn what_outlives_the_target_is_named_with_what_it_holds() {
    let dir = Dir::new("outlives");
    std::fs::create_dir(dir.join("proc")).unwrap();
    let script = format!(
        "python3 {} proc run/gtt.tsv 250 idle > said & until grep -q ready said; do sleep 0.01; done; exit 6",
        target()
    );
    let words = words(&["--proc", "proc", "-o", "run", "--interval", "5ms"], &["sh", "-c", &script]);
    let done = wrap(words).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(6), "{}", done.err());
    assert!(done.fact("left over").ends_with(", state S, GTT 250.0 MiB: ended"), "{}", done.err());
    assert_eq!(dir.json("run/report.json")["events"]["leftovers"][0]["gtt_bytes"], 250 * MIB);
    assert_eq!(same(&parse(&dir, &["run"]).out()), same(&dir.text("run/report.txt")));
}

#[test]
fn samples_go_to_a_file_of_the_users() {
    let dir = Dir::new("file");
    let done = wrap(words(&["--samples", "mine.tsv", "--interval", "5ms"], &["sh", "-c", "sleep 0.05"]))
        .cwd(dir.path())
        .run();
    assert_eq!(done.code(), Some(0));
    assert!(
        dir.text("mine.tsv").starts_with("ns\tgtt_bytes\t") && dir.text("mine.tsv").contains("\tno-client\n")
    );
    let parsed = parse(&dir, &["--samples", "mine.tsv"]);
    assert_eq!(parsed.code(), Some(0), "{}", parsed.err());
    assert!(parsed.out().starts_with("samples without a trace, report of mine.tsv\n"), "{}", parsed.out());
    let refused = wrap(words(&["--samples", "gone"], &["/nonexistent/program"])).cwd(dir.path()).run();
    assert_eq!(refused.code(), Some(127));
    assert!(!dir.join("gone").exists(), "nothing stays of a run that was not started");
}

#[test]
fn a_full_disk_costs_rows_and_nothing_else() {
    let done =
        wrap(words(&["--samples", "/dev/full", "--interval", "5ms"], &["sh", "-c", "sleep 0.1; exit 4"]))
            .run();
    assert_eq!(done.code(), Some(4));
    assert!(done.err().contains("note        cannot write /dev/full: No space left"), "{}", done.err());
    assert!(done.err().contains("missing in the table: the disk did not take"), "{}", done.err());
    assert!(done.err().contains("MEMORY: no amdgpu client was seen"), "the samples themselves are known");
}

#[test]
fn a_bare_list_of_times_and_kib_is_read() {
    let dir = Dir::new("pairs");
    std::fs::write(dir.join("old"), "100.05 1024\n100.10 4019200\n100.20 2048\n").unwrap();
    let json = parse(&dir, &["--samples", "old", "--json", "-"]);
    assert_eq!(json.code(), Some(0), "{}", json.err());
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    let memory = &report["memory"];
    assert_eq!(memory["peak"]["gtt_bytes"], 4_019_200_u64 << 10);
    assert_eq!(memory["peak"]["at_ns"], 100_100_000_000_u64);
    assert_eq!(
        (&memory["steady"]["gtt_bytes"], &memory["final"]["gtt_bytes"]),
        (&json!(2 * MIB), &json!(2 * MIB))
    );
    assert_eq!((&memory["longest_gap_ns"], &memory["samples"]), (&json!(100_000_000), &json!(3)));
    for unknown in ["key", "driver", "clients"] {
        assert!(memory[unknown].is_null(), "{unknown} is not unknown: {memory}");
    }
    assert!(fact(&parse(&dir, &["--samples", "old"]).out(), "  GTT   ").starts_with("3925.0 "));
}

#[test]
fn what_makes_no_sense_is_named() {
    let dir = Dir::new("senseless");
    std::fs::write(dir.join("prose"), "no samples in here, really\n").unwrap();
    let nothing = parse(&dir, &["--samples", "prose"]);
    assert_eq!(nothing.code(), Some(1));
    assert!(nothing.complaint().contains("is it a gtt.tsv?"), "{}", nothing.err());
    let absent = parse(&dir, &["--samples", "absent"]);
    assert_eq!(absent.code(), Some(2));
    assert!(absent.complaint().contains("cannot read absent"), "{}", absent.err());
    let unnamed = parse(&dir, &[]);
    assert_eq!(unnamed.code(), Some(2));
    assert!(unnamed.complaint().contains("PATH"), "{}", unnamed.err());
    for (options, holds) in [
        (vec!["--interval", "0"], "'0' is too short: 1ms or more"),
        (vec!["--interval", "x"], "is not a duration"),
        (vec!["--driver", "a b"], "'a b' is no driver's name"),
        (vec!["--proc", "/nonexistent"], "--proc /nonexistent: there is no such folder"),
        (vec!["--samples", "-"], "--samples -: it needs a file of its own"),
        (vec!["--log", "x", "--samples", "x"], "--samples x: --log goes there; it needs a file of its own"),
    ] {
        let done = wrap(words(&options, &["true"])).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(125), "{options:?}");
        assert!(done.complaint().contains(holds), "{options:?}: {}", done.err());
    }
    assert!(!Path::new(&dir.join("x")).exists());
}
