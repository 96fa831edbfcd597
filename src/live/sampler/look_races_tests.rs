use super::*;

#[test]
fn a_sign_of_new_processes_brings_the_list_forward() {
    let fake = Fake::new("loads");
    fake.write("loadavg", "0.00 0.01 0.05 1/84 10\n");
    fake.process(10, 1, 5);
    fake.fd(10, 4, NODE, &amdgpu(CARD, 7, 100));
    let mut look = fake.look();
    look.sample(10 * S, false);
    fake.process(11, 10, 6);
    fake.fd(11, 4, NODE, &amdgpu(CARD, 8, 9));
    assert_eq!(look.sample(10 * S + 550 * MS, false).clients, 1);
    fake.write("loadavg", "0.00 0.01 0.05 2/85 11\n");
    assert_eq!(look.sample(10 * S + 600 * MS, false).clients, 2);
}

#[test]
fn a_descriptor_that_vanishes_spoils_nothing_else() {
    for budget in [256, 0] {
        let fake = Fake::new(&format!("vanish-{budget}"));
        fake.process(10, 1, 5);
        fake.fd(10, 4, NODE, &amdgpu(CARD, 7, 100));
        fake.fd(10, 5, NODE, &amdgpu(CARD, 8, 20));
        fake.fd(10, 6, NODE, &amdgpu(CARD, 9, 3));
        let mut look = fake.look();
        look.common.budget.0 = budget;
        assert_eq!(seen(&look.sample(S, false)), (Some(123), 3, 3, State::Ok));
        fake.close(10, 5);
        fake.fd(10, 7, NODE, &amdgpu(CARD, 10, 4));
        // Without a held file it is seen at once; a removed file that is held still reads, unlike the kernel's.
        let at_once = if budget == 0 { S + 50 * MS } else { 2 * S };
        assert_eq!(
            seen(&look.sample(at_once, false)),
            (Some(107), 3, 3, State::Ok),
            "and the new one is found"
        );
        assert_eq!(look.common.failed_reads, 0);
        fake.end(10);
        assert_eq!(seen(&look.sample(9 * S, false)), (None, 0, 0, State::Gone));
        assert_eq!(look.common.budget.0, budget, "everything held was given back");
    }
}

#[test]
fn a_number_that_is_used_again_is_another_client() {
    let fake = Fake::new("reused-fd");
    fake.process(10, 1, 5);
    fake.fd(10, 4, NODE, &amdgpu(CARD, 7, 100));
    fake.fd(10, 5, NODE, &amdgpu(CARD, 8, 1));
    let mut look = fake.look();
    look.sample(S, false);
    // The held file shows the new one.
    fake.write("10/fdinfo/4", &amdgpu(CARD, 70, 30));
    assert_eq!(seen(&look.sample(S + 50 * MS, false)), (Some(31), 2, 2, State::Ok));
    let clients = look.seen(false).clients;
    let peaks: Vec<_> =
        clients.iter().map(|c| (c.client_id.clone().unwrap(), c.gtt_peak_bytes.unwrap() / MIB)).collect();
    assert_eq!(peaks, [("7".to_owned(), 100), ("8".to_owned(), 1), ("70".to_owned(), 30)]);
    // A file that is none of DRM took the number.
    fake.write("10/fdinfo/4", "pos:\t0\nexp_name:\tdrm\n");
    fake.write("10/fdinfo/5", "");
    assert_eq!(seen(&look.sample(S + 100 * MS, false)), (None, 0, 0, State::NoClient));
}

#[test]
fn a_pid_that_is_used_again_is_another_process() {
    let fake = Fake::new("reused-pid");
    fake.process(10, 1, 5);
    fake.fd(10, 4, NODE, &amdgpu(CARD, 7, 100));
    let mut look = fake.look();
    look.sample(S, false);
    let old = fake.proc("10");
    std::fs::rename(&old, fake.proc("old")).unwrap();
    fake.process(10, 1, 99);
    fake.fd(10, 4, NODE, &amdgpu(CARD, 8, 20));
    assert_eq!(seen(&look.sample(2 * S, false)), (Some(20), 1, 1, State::Ok));
    // Used again by a stranger: it is no longer of the tree.
    std::fs::rename(&old, fake.proc("old2")).unwrap();
    fake.process(10, 2, 100);
    fake.fd(10, 4, NODE, &amdgpu(CARD, 9, 999));
    assert_eq!(seen(&look.sample(3 * S, false)), (None, 0, 0, State::Gone));
}

#[test]
fn a_first_thread_that_is_gone_is_stood_in_for_by_another() {
    let fake = Fake::new("leader");
    fake.process(10, 1, 5);
    fake.stat("10/stat", 10, 1, 'Z', 5);
    fake.write("10/statm", "0 0 0 0 0 0 0\n");
    std::fs::remove_dir_all(fake.proc("10/fdinfo")).unwrap();
    fake.stat("10/task/10/stat", 10, 1, 'Z', 5);
    fake.stat("10/task/12/stat", 12, 1, 'S', 6);
    fake.write("10/task/12/statm", "900 512 10 1 0 1 0\n");
    fake.write("10/task/12/fdinfo/4", &amdgpu(CARD, 7, 100));
    let mut look = fake.look();
    let sample = look.sample(S, false);
    assert_eq!(seen(&sample), (Some(100), 1, 1, State::Ok));
    assert_eq!(sample.rss_bytes, Some(512 * host::page_size()));
    // The last thread ends: what is left is a zombie, which holds nothing.
    fake.stat("10/task/12/stat", 12, 1, 'Z', 6);
    assert_eq!(seen(&look.sample(2 * S, false)), (None, 0, 0, State::Gone));
}

#[test]
fn a_first_client_is_found_soon() {
    let fake = Fake::new("soon");
    fake.process(10, 1, 5);
    let mut look = fake.look();
    look.sample(10 * S, false);
    fake.fd(10, 0, NODE, &amdgpu(CARD, 7, 100));
    assert_eq!(seen(&look.sample(10 * S + 550 * MS, false)).0, Some(100));
}

#[test]
fn a_real_process_that_ends_is_gone() {
    let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let pid = child.id().cast_signed();
    let options = Options {
        interval_ns: MS,
        driver: "any".into(),
        proc: "/proc".into(),
        sys: "/sys".into(),
        pss: true,
    };
    let mut look = Look::new(&options, Roots { below: Vec::new(), from: vec![pid] }).unwrap();
    let sample = look.sample(S, false);
    assert!(sample.rss_bytes > Some(0) && sample.state == State::NoClient, "{sample:?}");
    assert!(look.seen(false).pss_peak_bytes.is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    let sample = look.sample(S + MS, false);
    assert_eq!(
        (sample.rss_bytes, sample.state),
        (None, State::Gone),
        "by its held folder, before any list is made"
    );
}
