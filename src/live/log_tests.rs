use super::*;

fn file(name: &str) -> (std::path::PathBuf, File) {
    let path = std::env::temp_dir().join(format!("hrx-wrap-log-{}-{name}", std::process::id()));
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    (path, file)
}

#[test]
fn a_successor_cuts_off_what_was_not_saved() {
    let (path, file) = file("resume");
    let mut log = LogFile::resume(file.try_clone().unwrap(), "log".into(), 0);
    log.append(b"1 a\n2 b");
    let saved = log.offset();
    log.append(b"\n3 half written");
    let mut next = LogFile::resume(file, "log".into(), saved);
    assert!(next.in_line());
    next.append(b"\n3 c\n");
    assert_eq!(std::fs::read(&path).unwrap(), b"1 a\n2 b\n3 c\n");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_full_device_loses_exactly_what_it_says() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut log = LogFile::resume(full, "/dev/full".into(), 0);
    log.append(b"# hrx-wrap/1 pid 7\n");
    log.append(b"1 a\n2 b");
    log.append(b"#b\n3 c\n");
    assert_eq!(log.lost(), Gap { lines: 3, bytes: 14 }, "the line of ours is no line of the target's");
    let trouble = log.take_trouble().unwrap();
    assert!(trouble.contains("cannot write /dev/full: No space left"), "{trouble}");
    assert_eq!(log.take_trouble(), None, "said once");
}

#[test]
fn of_a_line_of_ours_that_is_cut_nothing_is_counted_wherever_the_cut_is() {
    let text = b"# hrx-wrap/1 writer 8\n1 a\n# hrx-wrap/1 writer 9\n2 b\n";
    let error = io::Error::from_raw_os_error(28);
    for cut in 0..text.len() {
        let (path, file) = file("cut");
        let mut log = LogFile::resume(file.try_clone().unwrap(), "log".into(), 0);
        assert!(log.append(&text[..cut]));
        log.lose(&text[cut..], &error);
        // While nothing is taken, each batch begins with a word of whose it is.
        log.lose(b"# hrx-wrap/1 writer 8\n3 c\n", &error);
        let mut log = LogFile::resume(file, "log".into(), log.offset()).with_state(log.state());
        assert!(log.append(b"# hrx-wrap/1 writer 9\n4 d\n"));
        let left = std::fs::read_to_string(&path).unwrap();
        let theirs = |line: &&str| ["1 a", "2 b", "4 d"].contains(line);
        assert_eq!(left.lines().filter(theirs).count() as u64 + log.lost().lines, 4, "{cut}: {left}");
        let torn = left.lines().find(|line| ["1", "1 ", "2", "2 "].contains(line)).map_or(0, str::len);
        let there = 4 * left.lines().filter(theirs).count() + torn;
        assert_eq!(there as u64 + log.lost().bytes, 16, "{cut}: {left}");
        let note = json!({"lines": log.lost().lines, "bytes": log.lost().bytes});
        assert!(left.contains(&format!("# hrx-wrap/1 lost {note}\n")), "{cut}: {left}");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_header_that_was_cut_takes_no_line_of_the_target_with_it() {
    let (path, file) = file("header");
    std::fs::write(&path, "# hrx-wrap/1 too").unwrap();
    let mut log = LogFile::resume(file, "log".into(), 16);
    log.lose(b"l 1\n", &io::Error::from_raw_os_error(28));
    assert!(log.with_state([0; STATE]).append(b"1 a\n"));
    assert_eq!(std::fs::read(&path).unwrap(), b"# hrx-wrap/1 too\n1 a\n");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn behind_a_gap_stands_a_note_and_then_whole_lines() {
    let (path, file) = file("gap");
    let mut log = LogFile::resume(file, "log".into(), 0);
    log.append(b"1 a\n2 b");
    // As if the disk had refused the rest of line 2 and the beginning of line 3.
    log.lose(b"b\n3 ", &io::Error::from_raw_os_error(28));
    log.append(b"c");
    log.append(b"c\n4 d\n5 e");
    log.append(b"e\n");
    let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(text, "1 a\n2 b\n# hrx-wrap/1 lost {\"bytes\":7,\"lines\":2}\n4 d\n5 ee\n");
    assert_eq!(log.lost(), Gap { lines: 2, bytes: 7 });
    std::fs::remove_file(path).unwrap();
}
