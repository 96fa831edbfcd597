//! Looks at fake trees, with the clock as an argument: every race, one after the other.

#[path = "look_races_tests.rs"]
mod races;

use std::os::unix::fs::symlink;

use super::*;

use crate::core::memory::sample::State;

const MIB: u64 = 1 << 20;

const CARD: &str = "0000:c5:00.0";

const NODE: &str = "/dev/dri/renderD128";

/// A fake `/proc` and `/sys`.
struct Fake(PathBuf);

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A body of amdgpu.
fn amdgpu(pdev: &str, id: u64, mib: u64) -> String {
    format!(
        "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t{id}\ndrm-pdev:\t{pdev}\ndrm-total-gtt:\t{mib} MiB\n\
         drm-resident-gtt:\t{mib} MiB\ndrm-resident-vram:\t1 MiB\n"
    )
}

impl Fake {
    fn new(name: &str) -> Fake {
        let root = std::env::temp_dir().join(format!("hrx-wrap-look-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        for folder in ["proc", "sys/bus/pci/devices"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        Fake(root)
    }

    fn proc(&self, path: &str) -> PathBuf {
        self.0.join("proc").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.proc(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn process(&self, pid: i32, parent: i32, started: u64) {
        self.stat(&format!("{pid}/stat"), pid, parent, 'S', started);
        self.write(&format!("{pid}/statm"), "900 256 10 1 0 1 0\n");
        for folder in ["fd", "fdinfo"] {
            std::fs::create_dir_all(self.proc(&format!("{pid}/{folder}"))).unwrap();
        }
        self.fd(pid, 0, "/dev/null", "pos:\t0\nflags:\t02\n");
    }

    fn stat(&self, path: &str, pid: i32, parent: i32, state: char, started: u64) {
        let line =
            format!("{pid} (a) b (c)) {state} {parent} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {started} 0\n");
        self.write(path, &line);
    }

    fn fd(&self, pid: i32, fd: u32, link: &str, body: &str) {
        self.write(&format!("{pid}/fdinfo/{fd}"), body);
        let at = self.proc(&format!("{pid}/fd/{fd}"));
        let _ = std::fs::remove_file(&at);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(link, at).unwrap();
    }

    fn close(&self, pid: i32, fd: u32) {
        for folder in ["fd", "fdinfo"] {
            std::fs::remove_file(self.proc(&format!("{pid}/{folder}/{fd}"))).unwrap();
        }
    }

    fn end(&self, pid: i32) {
        std::fs::remove_dir_all(self.proc(&pid.to_string())).unwrap();
    }

    fn device(&self, pdev: &str, used: u64, gtt: u64, vram: u64) {
        let folder = self.0.join("sys/bus/pci/devices").join(pdev);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in [("gtt_used", used), ("gtt_total", gtt), ("vram_total", vram)] {
            std::fs::write(folder.join(format!("mem_info_{name}")), format!("{bytes}\n")).unwrap();
        }
    }

    fn options(&self, driver: &str) -> Options {
        let (proc, sys) = (self.0.join("proc"), self.0.join("sys"));
        Options { interval_ns: 50 * MS, driver: driver.to_owned(), proc, sys, pss: true }
    }

    /// A look at what is below process 1.
    fn look(&self) -> Look {
        Look::new(&self.options("amdgpu"), Roots { below: vec![1], from: Vec::new() }).unwrap()
    }
}

/// GTT in MiB, clients, descriptors, state.
fn seen(sample: &Sample) -> (Option<u64>, u32, u32, State) {
    (sample.gtt_bytes.map(|b| b / MIB), sample.clients, sample.fds, sample.state)
}

#[test]
fn only_the_tree_is_read() {
    let fake = Fake::new("tree");
    fake.process(10, 1, 5);
    fake.process(11, 10, 5);
    fake.process(20, 2, 5);
    fake.fd(10, 4, NODE, &amdgpu(CARD, 7, 100));
    fake.fd(11, 4, NODE, &amdgpu(CARD, 8, 20));
    fake.fd(20, 4, NODE, &amdgpu(CARD, 9, 5));
    let mut look = fake.look();
    let sample = look.sample(S, false);
    assert_eq!(seen(&sample), (Some(120), 2, 2, State::Ok));
    assert_eq!(sample.rss_bytes, Some(2 * 256 * host::page_size()));
    assert_eq!(sample.vram_bytes, Some(2 * MIB));
    let mut named =
        Look::new(&fake.options("amdgpu"), Roots { below: Vec::new(), from: vec![11, 20] }).unwrap();
    assert_eq!(seen(&named.sample(S, false)), (Some(25), 2, 2, State::Ok));
    let clients = look.seen(false).clients;
    assert_eq!(clients.iter().map(|c| c.pids.clone()).collect::<Vec<_>>(), [vec![10], vec![11]]);
}

#[test]
fn a_client_shared_across_fork_and_dup_is_counted_once() {
    let fake = Fake::new("shared");
    fake.process(10, 1, 5);
    fake.process(11, 10, 6);
    for (pid, fd, node) in [(10, 4, NODE), (10, 5, NODE), (11, 4, NODE), (11, 9, "/dev/dri/card0")] {
        fake.fd(pid, fd, node, &amdgpu(CARD, 7, 100));
    }
    let mut look = fake.look();
    assert_eq!(seen(&look.sample(S, false)), (Some(100), 1, 4, State::Ok));
    // The first holder ends: the client lives on.
    fake.end(10);
    fake.stat("11/stat", 11, 1, 'S', 6);
    assert_eq!(seen(&look.sample(3 * S, false)), (Some(100), 1, 2, State::Ok));
}

#[test]
fn what_is_held_is_read_anew_and_lists_are_made_on_a_slower_beat() {
    let fake = Fake::new("beat");
    fake.process(10, 1, 5);
    fake.fd(10, 4, NODE, &amdgpu(CARD, 7, 100));
    let mut look = fake.look();
    look.sample(10 * S, false);
    fake.fd(10, 4, NODE, &amdgpu(CARD, 7, 150));
    fake.process(11, 10, 6);
    fake.fd(11, 4, NODE, &amdgpu(CARD, 8, 9));
    assert_eq!(seen(&look.sample(10 * S + 50 * MS, false)), (Some(150), 1, 1, State::Ok), "not listed yet");
    assert_eq!(seen(&look.sample(11 * S, false)), (Some(159), 2, 2, State::Ok));
    fake.fd(10, 5, NODE, &amdgpu(CARD, 10, 1));
    assert_eq!(seen(&look.sample(11 * S + MS, true)), (Some(160), 3, 3, State::Ok), "asked for");
}

#[test]
fn two_devices_and_two_drivers() {
    let fake = Fake::new("devices");
    let other = "0000:03:00.0";
    fake.device(CARD, 700 * MIB, 24_000 * MIB, 512 * MIB);
    fake.device(other, 50 * MIB, 8_000 * MIB, 16_000 * MIB);
    fake.process(10, 1, 5);
    fake.fd(10, 4, NODE, &amdgpu(CARD, 7, 100));
    fake.fd(10, 5, "/dev/dri/renderD129", &amdgpu(other, 7, 20));
    fake.fd(
        10,
        6,
        "/dev/dri/renderD130",
        "drm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\ndrm-resident-system0:\t3 MiB\n",
    );
    let mut look = fake.look();
    let sample = look.sample(S, false);
    assert_eq!(seen(&sample), (Some(120), 2, 2, State::Ok));
    assert_eq!(sample.device_gtt_used_bytes, Some(750 * MIB));
    let record = look.seen(false);
    assert_eq!(record.other_drivers, ["i915"]);
    assert_eq!(
        record.devices.iter().map(|d| d.gtt_total_bytes.unwrap() / MIB).collect::<Vec<_>>(),
        [24_000, 8_000]
    );
    let roots = Roots { below: vec![1], from: Vec::new() };
    let mut any = Look::new(&fake.options("any"), roots.clone()).unwrap();
    assert_eq!(seen(&any.sample(S, false)), (Some(123), 3, 3, State::Ok));
    let mut none = Look::new(&fake.options("xe"), roots).unwrap();
    assert_eq!(seen(&none.sample(S, false)), (None, 0, 0, State::NoClient));
    assert_eq!(none.seen(false).other_drivers, ["amdgpu", "i915"]);
    // More than the device has.
    fake.fd(10, 5, "/dev/dri/renderD129", &amdgpu(other, 7, 8_001));
    let sample = look.sample(S + MS, false);
    assert_eq!((seen(&sample), look.seen(false).underflows), ((Some(100), 2, 2, State::Partial), 1));
}

#[test]
fn a_device_is_found_by_its_card_too() {
    let fake = Fake::new("cards");
    let class = fake.0.join("sys/class/drm");
    let device = fake.0.join("sys/devices/pci0000:00").join(CARD);
    std::fs::create_dir_all(&device).unwrap();
    std::fs::create_dir_all(class.join("card0")).unwrap();
    std::fs::create_dir_all(class.join("card1")).unwrap();
    symlink(&device, class.join("card1/device")).unwrap();
    std::fs::write(device.join("mem_info_gtt_used"), "77\n").unwrap();
    fake.process(10, 1, 5);
    fake.fd(10, 4, NODE, &amdgpu(CARD, 7, 100));
    let sample = fake.look().sample(S, false);
    assert_eq!((sample.device_gtt_used_bytes, sample.gtt_bytes), (Some(77), Some(100 * MIB)));
}

#[test]
fn silence_is_told_apart() {
    let fake = Fake::new("silence");
    let silent = format!("drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t{CARD}\n");
    fake.process(10, 1, 5);
    let mut look = fake.look();
    assert_eq!(seen(&look.sample(S, false)), (None, 0, 0, State::NoClient));
    fake.fd(10, 4, NODE, &silent);
    assert_eq!(seen(&look.sample(2 * S, false)), (None, 1, 1, State::Unsupported));
    fake.fd(10, 4, NODE, &amdgpu(CARD, 7, 100));
    assert_eq!(seen(&look.sample(3 * S, false)), (Some(100), 1, 1, State::Ok));
    fake.fd(10, 4, NODE, &silent);
    assert_eq!(seen(&look.sample(4 * S, false)), (None, 1, 1, State::Partial));
    assert_eq!(look.seen(false).key.as_deref(), Some("resident"));
}

#[test]
fn more_processes_than_may_be_held_are_said_to_be_left_out() {
    let fake = Fake::new("many");
    for pid in 10..16 {
        fake.process(pid, 1, 5);
        fake.fd(pid, 4, NODE, &amdgpu(CARD, 7, 100));
    }
    let mut look = fake.look();
    look.most_processes = 4;
    assert_eq!(seen(&look.sample(S, false)), (Some(100), 1, 4, State::Denied));
    let record = look.seen(false);
    assert_eq!((record.processes, record.processes_left_out), (6, 2));
}

#[test]
fn the_tree_is_found_by_children_where_the_kernel_lists_them() {
    let fake = Fake::new("children");
    fake.write("1/task/1/children", "10 ");
    fake.write("1/task/2/children", "12 ");
    fake.process(10, 1, 5);
    fake.write("10/task/10/children", "11 \n");
    fake.process(11, 10, 5);
    fake.write("11/task/11/children", "");
    fake.process(12, 1, 5);
    let proc = File::open(fake.proc("")).unwrap();
    let mut pids = members(&proc, &Roots { below: vec![1], from: Vec::new() });
    pids.sort_unstable();
    assert_eq!(pids, [10, 11, 12]);
    assert_eq!(members(&proc, &Roots { below: Vec::new(), from: vec![10, 99] }), [10, 11]);
    // A ring of parents, as a snapshot that is not of one moment could hold.
    let fake = Fake::new("ring");
    fake.process(10, 11, 5);
    fake.process(11, 10, 5);
    fake.process(12, 1, 5);
    let proc = File::open(fake.proc("")).unwrap();
    assert_eq!(members(&proc, &Roots { below: vec![1], from: Vec::new() }), [12]);
}
