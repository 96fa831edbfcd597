use super::*;
use crate::core::memory::sample::State;

/// A sampler of nothing: its `/proc` is an empty folder.
fn sampler(name: &str, interval_ns: u64, table: Option<LogFile>) -> (PathBuf, Sampler) {
    let proc = std::env::temp_dir().join(format!("hrx-wrap-sampler-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&proc).unwrap();
    let options =
        Options { interval_ns, driver: "amdgpu".into(), proc: proc.clone(), sys: "/sys".into(), pss: true };
    (proc, Sampler::start(&options, 1, table).unwrap())
}

fn wait(mut condition: impl FnMut() -> bool) {
    let since = Instant::now();
    while !condition() {
        assert!(since.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn samples_are_taken_on_time_and_when_asked_for() {
    let (proc, sampler) = sampler("asked", u64::MAX, None);
    let taken = || sampler.shared.lock().series.whole().samples;
    assert_eq!(taken(), 1, "the first is taken at once");
    let nudge = sampler.nudge();
    nudge.first();
    assert_eq!(taken(), 2, "before it returns");
    nudge.now();
    wait(|| taken() == 3);
    let left = sampler.finish(Duration::from_secs(60));
    assert_eq!(left.series.whole().samples, 3);
    assert_eq!(left.series.whole().states[State::Gone as usize], 3);
    std::fs::remove_dir_all(proc).unwrap();
}

#[test]
fn deadlines_are_absolute() {
    let interval = 5_000_000;
    let since = monotonic_ns();
    let (proc, sampler) = sampler("deadlines", interval, None);
    wait(|| sampler.shared.lock().series.whole().samples > 20);
    let whole = sampler.finish(Duration::from_secs(60)).series.whole().clone();
    // Late ones may come between, and none before its time.
    let most = (monotonic_ns() - since) / interval + 1;
    assert!(whole.samples <= most, "{} samples where there is time for {most}", whole.samples);
    std::fs::remove_dir_all(proc).unwrap();
}

#[test]
fn a_disk_that_does_not_answer_loses_rows_and_no_sample() {
    // A pipe that nobody reads takes no more once it is full.
    let (from, to) = fd::pipe().unwrap();
    let full = vec![b'#'; 64 << 10];
    fd::write(to.as_fd(), &full).unwrap();
    let table = LogFile::resume(to.into(), "table".into(), 0);
    let (proc, sampler) = sampler("stuck", 1_000_000, Some(table));
    let before = sampler.shared.lock().series.whole().samples;
    // The thread hangs in its first write; who asks is still served.
    sampler.nudge().first();
    sampler.nudge().first();
    let left = sampler.finish(Duration::from_millis(50));
    assert!(left.series.whole().samples >= before + 2);
    assert!(left.trouble.is_some_and(|text| text.contains("in time")));
    drop(from);
    std::fs::remove_dir_all(proc).unwrap();
}
