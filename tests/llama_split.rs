//! The split of real llama.cpp: host buffers here, a device where the RPC tools are built (a stand-in for a GPU).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use common::llama_cpp::{driver, llama, model, tool};
use common::{Dir, Done, wait_until, wrap};
use serde_json::Value;

const MIB: f64 = 1_048_576.0;

/// Runs a command with `-s`, kept in `run`. llama.cpp's programs find their libraries wherever they were copied to.
fn split_of(dir: &Dir, words: &[String]) -> (Done, Value) {
    let done = wrap(behind(words)).env("LD_LIBRARY_PATH", &libraries()).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let report = dir.json("run/report.json");
    let again = wrap(["parse", "--json", "-", "run"]).cwd(dir.path()).run();
    let again: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(again["split"], report["split"], "a parse gives the same");
    (done, report["split"].clone())
}

fn behind(words: &[String]) -> Vec<String> {
    let options = ["-s", "-o", "run", "--echo", "none", "--"].map(str::to_owned);
    options.into_iter().chain(words.iter().cloned()).collect()
}

fn libraries() -> String {
    llama().join("tools/build/bin").display().to_string()
}

/// The sum of the rows of a kind at a place, MiB.
fn mib(split: &Value, kind: &str, place: &str) -> f64 {
    let rows = split["rows"].as_array().expect("rows").iter();
    let bytes = rows.filter(|r| r["kind"] == kind && r["place"] == place).filter_map(|r| r["bytes"].as_u64());
    bytes.sum::<u64>() as f64 / MIB
}

fn phases(split: &Value) -> Vec<&str> {
    split["phases"].as_array().expect("phases").iter().map(|p| p["phase"].as_str().expect("a name")).collect()
}

/// Every cell of llama.cpp's own table agrees with its lines; and there is a row of the name.
#[track_caller]
fn agrees(split: &Value, name: &str) {
    let rows = split["second_source"].as_array().expect("a table");
    assert!(rows.iter().any(|row| row["name"] == name), "{split}");
    for cell in rows.iter().flat_map(|row| ["model", "context", "compute"].map(|cell| &row[cell])) {
        assert_eq!(cell["agree"], true, "{split}");
    }
}

/// Nothing of the GPU is known here: unknown, with a reason, and no 0.
#[track_caller]
fn no_gpu(split: &Value, done: &Done) {
    assert_eq!(split["unattributed_bytes"], Value::Null);
    assert!(split["process"]["why"].is_string(), "{split}");
    let packed = split["rows"].as_array().unwrap().iter().find(|r| r["kind"] == "packed").unwrap();
    assert!(
        packed["bytes"].is_null() && packed["why"].as_str().unwrap().contains("HRX is not seen"),
        "{packed}"
    );
    assert!(done.err().contains("process unknown: "), "{}", done.err());
}

#[test]
fn cyllama_lists_its_host_buffers() {
    let dir = Dir::new("split-cyllama");
    let (done, split) = split_of(&dir, &driver("cyllama", &model("tiny"), 8, &[]));
    assert!((3.0..5.0).contains(&mib(&split, "model", "host")), "{split}");
    assert!(mib(&split, "kv", "host") > 0.0 && mib(&split, "compute", "host") > 0.0, "{split}");
    assert_eq!(mib(&split, "model", "device"), 0.0);
    assert_eq!(phases(&split)[..2], ["load", "context"], "{split}");
    no_gpu(&split, &done);
}

/// Its log is at level 4 with a fit before the load, and it may lose its last lines.
fn through_xllamacpp(name: &str) -> Value {
    let dir = Dir::new("split-xllamacpp");
    let (done, split) = split_of(&dir, &driver("xllamacpp", &model(name), 8, &[]));
    no_gpu(&split, &done);
    if split["second_source"].as_array().is_some_and(|rows| !rows.is_empty()) {
        agrees(&split, "Host");
    }
    split
}

#[test]
fn a_fit_pass_of_xllamacpps_server_is_not_held() {
    let split = through_xllamacpp("tiny");
    assert!((3.0..5.0).contains(&mib(&split, "model", "host")), "one model, not the fit's too: {split}");
    assert_eq!(phases(&split)[..4], ["fit", "load", "context", "warm-up"], "{split}");
}

#[test]
fn a_sliding_window_has_two_caches_in_one_row() {
    let split = through_xllamacpp("tiny-gemma3");
    assert!(mib(&split, "kv", "host") > 0.2, "{split}");
}

#[test]
fn llama_bench_is_asked_by_an_argument() {
    let Some(bench) = tool("llama-bench") else { return };
    let dir = Dir::new("split-bench");
    let model = model("tiny");
    let words = [&bench, "-m", &model, "-t", "1", "-p", "32", "-n", "8", "-r", "1"].map(str::to_owned);
    let (done, split) = split_of(&dir, &words);
    assert!(done.fact("changed").ends_with("appended -v"), "{}", done.err());
    assert!((3.0..5.0).contains(&mib(&split, "model", "host")), "{split}");
    assert_eq!(phases(&split), ["load", "context", "warm-up", "run", "tear-down"], "{split}");
    assert_eq!(split["phases"][1]["times"], 2, "two tests, two contexts: {split}");
}

#[test]
fn llama_completion_is_asked_by_the_variable() {
    let Some(completion) = tool("llama-completion") else { return };
    let dir = Dir::new("split-completion");
    let (done, split) = split_of(&dir, &words_of(&completion, &model("tiny"), ""));
    assert!(!done.fact("changed").contains("appended"), "{}", done.err());
    assert!((3.0..5.0).contains(&mib(&split, "model", "host")), "{split}");
}

fn words_of(completion: &str, model: &str, more: &str) -> Vec<String> {
    let options = format!("-m {model} -t 1 --simple-io -s 1 -no-cnv --ignore-eos -n 4 {more} -p hello");
    [completion].into_iter().chain(options.split_whitespace()).map(str::to_owned).collect()
}

/// llama.cpp's RPC server: a device that is not the CPU.
struct Device {
    child: Child,
    address: String,
}

impl Device {
    /// Starts one, where it is built.
    fn start() -> Option<Device> {
        let server = tool("ggml-rpc-server")?;
        // A port that was free a moment ago; a server of another test may be quicker.
        for _ in 0..20 {
            let port =
                TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number").port();
            let mut child = Command::new(&server)
                .args(["-H", "127.0.0.1", "-p", &port.to_string()])
                .env("LD_LIBRARY_PATH", libraries())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the RPC server");
            let address = format!("127.0.0.1:{port}");
            let mut ended = false;
            wait_until("the RPC server", || {
                ended = child.try_wait().expect("wait").is_some();
                ended || TcpStream::connect(&address).is_ok()
            });
            if !ended {
                return Some(Device { child, address });
            }
        }
        panic!("no port is free for the RPC server");
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A split of llama-completion whose layers lie on the device.
fn on_the_device(name: &str, more: &str) -> Option<Value> {
    let (completion, device) = (tool("llama-completion")?, Device::start()?);
    let more = format!("--rpc {} -ngl 99 {more}", device.address);
    for _ in 0..20 {
        let dir = Dir::new("split-device");
        let (_, split) = split_of(&dir, &words_of(&completion, &model(name), &more));
        // Its logger loses its last lines in one end out of five, and the table is among them.
        if split["second_source"].as_array().is_some_and(|rows| rows.len() > 1) {
            agrees(&split, "RPC0");
            return Some(split);
        }
    }
    panic!("llama-completion never printed its whole table");
}

#[test]
fn on_a_device_the_rows_agree_with_llama_cpps_own_table() {
    let Some(split) = on_the_device("tiny", "") else { return };
    assert!(mib(&split, "model", "device") > 2.0, "{split}");
    assert!(mib(&split, "kv", "device") > 0.0 && mib(&split, "compute", "device") > 0.0, "{split}");
}

#[test]
fn on_a_device_a_sliding_window_agrees() {
    let Some(split) = on_the_device("tiny-gemma3", "") else { return };
    assert!(mib(&split, "kv", "device") > 0.0, "{split}");
}

#[test]
fn on_a_device_a_hybrid_agrees() {
    let Some(split) = on_the_device("tiny-jamba", "") else { return };
    assert!(mib(&split, "kv", "device") > 0.0 && mib(&split, "rs", "device") > 0.0, "{split}");
}

#[test]
fn on_a_device_an_adapter_is_a_row_and_a_second_reserve_is_none() {
    let lora = model("tiny-lora");
    let (Some(with), Some(without)) =
        (on_the_device("tiny", &format!("--lora {lora}")), on_the_device("tiny", ""))
    else {
        return;
    };
    assert!(mib(&with, "lora", "device") > 0.0, "{with}");
    let compute = |split: &Value| mib(split, "compute", "device");
    assert!((compute(&with) - compute(&without)).abs() < 0.5, "{with}");
}

#[test]
fn on_a_device_llama_bench_agrees_with_the_files_size() {
    let (Some(bench), Some(device)) = (tool("llama-bench"), Device::start()) else { return };
    let dir = Dir::new("split-bench-device");
    let model = model("tiny");
    let words = [
        &bench,
        "-m",
        &model,
        "--rpc",
        &device.address,
        "-ngl",
        "99",
        "-t",
        "1",
        "-p",
        "32",
        "-n",
        "8",
        "-r",
        "1",
    ]
    .map(str::to_owned);
    let (_, split) = split_of(&dir, &words);
    // The embedding stays on the host, so it is a little less than the file.
    let file = std::fs::metadata(&model).unwrap().len() as f64 / MIB;
    let on_device = mib(&split, "model", "device");
    assert!(on_device > file * 0.8 && on_device < file, "{on_device} of {file}: {split}");
    assert!(mib(&split, "kv", "device") > 0.0 && mib(&split, "compute", "device") > 0.0, "{split}");
}

#[test]
fn on_a_device_a_draft_model_adds() {
    let (Some(server), Some(device)) = (tool("llama-server"), Device::start()) else { return };
    let dir = Dir::new("split-draft");
    let options = format!(
        "-m {} -md {} --spec-type draft-simple --rpc {} -ngl 99 -ngld 99 -t 1 -c 256 -np 1 -fit off --host 127.0.0.1 --port 0",
        model("tiny"),
        model("tiny-draft"),
        device.address
    );
    let words: Vec<String> =
        [server.as_str()].into_iter().chain(options.split_whitespace()).map(str::to_owned).collect();
    let mut command = behind(&words);
    command.retain(|word| word != "--echo" && word != "none");
    let running = wrap(command).env("LD_LIBRARY_PATH", &libraries()).cwd(dir.path()).start();
    wait_until("the server", || running.err().contains("listening on http://127.0.0.1:"));
    ask(&running.err());
    running.signal(15);
    let done = running.finish();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let split = &dir.json("run/report.json")["split"];
    let file = |name: &str| std::fs::metadata(model(name)).unwrap().len() as f64 / MIB;
    let models = mib(split, "model", "device") + mib(split, "model", "host");
    assert!((models - file("tiny") - file("tiny-draft")).abs() < 0.3, "both are held: {split}");
    assert!(done.err().contains("not attributed"), "{}", done.err());
}

/// One short completion.
fn ask(log: &str) {
    let port = log.split("listening on http://127.0.0.1:").nth(1).expect("an address");
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    let body = r#"{"prompt":"hello the man","n_predict":4,"temperature":0}"#;
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("the server");
    let head = format!(
        "POST /completion HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).expect("a request");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
