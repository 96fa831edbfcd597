use std::fs::File;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::live::echo::Mode;
use crate::live::ring::Producer;
use crate::live::source::Source;
use crate::sys::fd;

/// A log, both rings, and consumers that are killed and go on.
struct Run {
    ring: Arc<Ring>,
    source: Source,
    path: PathBuf,
    file: File,
}

impl Run {
    fn new(name: &str) -> Run {
        let path = std::env::temp_dir().join(format!("hrx-wrap-consumer-{}-{name}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        let source = Source::create(b"", &[std::env::temp_dir()]).unwrap();
        Run { ring: Arc::new(Ring::create(1 << 16, 77).unwrap()), source, path, file }
    }

    /// One that goes on where the last one saved.
    fn consumer(&self) -> Consumer {
        let log = LogFile::resume(self.file.try_clone().unwrap(), "log".into(), self.ring.saved()[1]);
        let echo = Echo::start(fd::duplicate(2).unwrap(), true);
        Consumer::new(Arc::clone(&self.ring), Some(&self.source), Some(log), echo, Mode::None)
    }

    /// A print of a thread of process 8 or 9, or for thread 0 something that was read.
    fn print(&self, thread: i32, ns: u64, bytes: &[u8]) {
        let (ring, way) = if thread == 0 { (&self.ring, Way::Read) } else { (&self.source.ring, Way::Print) };
        assert!(ring.push(Producer { pid: 8 + thread % 2, thread, source: way }, ns, bytes));
    }

    /// What is in the log, stamps and all.
    fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.path).unwrap()).into_owned()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Before the lines of another process.
const WROTE: &str = "# hrx-wrap/1 writer";

fn take_all(consumer: &mut Consumer) {
    while consumer.step() {}
}

#[test]
fn a_successor_has_the_lines_that_had_begun_and_the_one_that_was_too_long_to_hold() {
    let run = Run::new("begun");
    let long = "z".repeat(HOLD + 10);
    let mut first = run.consumer();
    run.print(1, 10, b"head");
    run.print(2, 11, long.as_bytes());
    run.print(0, 12, b"rea");
    take_all(&mut first);
    first.flush();
    // Taken, and not saved: it comes once more.
    run.print(1, 13, b" detail");
    take_all(&mut first);
    drop(first);
    let mut second = run.consumer();
    run.print(2, 14, b"z\n");
    run.print(1, 15, b"\n");
    run.print(0, 16, b"d\n");
    second.drain();
    let left = second.finish();
    assert_eq!(run.log(), format!("{WROTE} 8\n11 {long}z\n{WROTE} 9\n10 head detail\n12 read\n"));
    assert_eq!(left.stamps, Stamps { source_lines: 2, cut_lines: 0, damaged: false });
    assert_eq!((left.book.tally.lines, run.source.ring.used(), run.ring.used()), (3, 0, 0));
}

#[test]
fn behind_a_loss_it_is_said_anew_whose_a_line_is() {
    let run = Run::new("loss");
    let mut consumer = run.consumer();
    let full = File::options().write(true).open("/dev/full").unwrap();
    consumer.log = Some(LogFile::resume(full, "full".into(), 0));
    let serial = format!("{}begin phase=command-list list=main\n", String::from_utf8_lossy(MARK));
    // The word of the print is lost with it, so what is read behind it must not seem to be the print's before it.
    run.print(1, 1, b"lost\n");
    take_all(&mut consumer);
    consumer.flush();
    assert_eq!(consumer.process, None);
    for thread in [0, 1] {
        run.print(thread, 2, serial.as_bytes());
        take_all(&mut consumer);
    }
    let text = String::from_utf8_lossy(&consumer.text).into_owned();
    assert_eq!(text, format!("{WROTE} 0\n2 {serial}{WROTE} 9\n2 {serial}"));
}

#[test]
fn last_words_of_several_are_all_in_the_log_and_the_last_is_marked() {
    let run = Run::new("words");
    let mut consumer = run.consumer();
    run.print(1, 5, b"one");
    run.print(2, 6, b"two");
    take_all(&mut consumer);
    let left = consumer.finish();
    assert_eq!(run.log(), format!("{WROTE} 9\n5 one\n{WROTE} 8\n6 two\n# hrx-wrap/1 no-newline true\n"));
    assert_eq!((left.stamps.cut_lines, left.book.tally.unterminated), (1, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn no_line_is_missing_or_doubled_however_often_a_consumer_is_killed(
        pieces in prop::collection::vec((0i32..4, 0usize..4, any::<bool>(), 0u32..8), 1..80),
    ) {
        let run = Run::new("killed");
        let mut consumer = run.consumer();
        let (mut said, mut number) = (vec![Vec::<String>::new(); 4], 0);
        let mut open = [false; 4];
        for (thread, len, ends, what) in pieces {
            number += 1;
            let end = if ends { "\n" } else { "" };
            let text = format!("{thread}.{number}{}{end}", "-".repeat(len));
            let at = thread as usize;
            if !open[at] {
                said[at].push(String::new());
            }
            said[at].last_mut().unwrap().push_str(text.trim_end());
            open[at] = !ends;
            run.print(thread, number, text.as_bytes());
            match what {
                0 => take_all(&mut consumer),
                1 => { take_all(&mut consumer); consumer.flush(); }
                2 => consumer = run.consumer(),
                3 => { take_all(&mut consumer); consumer = run.consumer(); }
                _ => {}
            }
        }
        consumer.drain();
        let left = consumer.finish();
        let log = run.log();
        let lines: Vec<&str> = log.lines().filter(|l| !l.starts_with('#')).map(|l| l.split_once(' ').unwrap().1).collect();
        for (thread, wanted) in said.iter().enumerate() {
            let got: Vec<&str> = lines.iter().copied().filter(|l| l.starts_with(&format!("{thread}."))).collect();
            prop_assert_eq!(&got, wanted);
        }
        // Each print stands behind the word of whose it is.
        let mut writer = 0;
        for line in log.lines() {
            match line.strip_prefix(WROTE) {
                Some(pid) => writer = pid.trim().parse().unwrap(),
                None if line.starts_with('#') => {}
                None => {
                    let thread: i32 = line.split_once(' ').unwrap().1.split('.').next().unwrap().parse().unwrap();
                    prop_assert!(thread == 0 || writer == 8 + thread % 2, "{}", log);
                }
            }
        }
        let printed: usize = said[1..].iter().map(Vec::len).sum();
        prop_assert_eq!(left.stamps.source_lines, printed as u64);
        prop_assert_eq!(left.book.tally.lines, lines.len() as u64);
    }
}
