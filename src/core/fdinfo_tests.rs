//! Every published body gives the figures that its list of answers has, and no body gives more than its lines say.

use super::driver::Region;
use super::{Anomalies, Body, Key, MOST_REGIONS, Measure};
use proptest::prelude::*;

const KIB: u64 = 1 << 10;

fn data(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fdinfo/");
    std::fs::read(format!("{folder}{name}.txt")).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn all() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fdinfo");
    let names = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut all: Vec<_> = names
        .map(|p| (p.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read(&p).unwrap()))
        .collect();
    all.sort();
    assert_eq!(all.len(), 24);
    all
}

fn read(text: &[u8]) -> Body {
    let mut body = Body::default();
    body.read(text);
    body
}

/// GTT and VRAM: resident (or its alias) and total, bytes.
fn figures(body: &Body) -> [Option<u64>; 4] {
    [Region::Gtt, Region::Vram]
        .map(|r| body.memory(r))
        .map(|m| [m.best.filter(|_| m.key != Some(Key::Total)), m.total])
        .concat()
        .try_into()
        .unwrap()
}

/// One published body and its answers: driver, pdev, id, pasid when there is no id; KiB of GTT and VRAM, there and
/// allocated.
type Answer = (&'static str, &'static str, &'static str, Option<u64>, Option<u64>, [Option<u64>; 4]);

fn answers() -> Vec<Answer> {
    let some = |n: u64| Some(n);
    let no = None;
    vec![
        (
            "01-amdgpu-5.15-legacy",
            "amdgpu",
            "0000:04:00.0",
            no,
            some(32774),
            [some(6144), no, some(17196), no],
        ),
        (
            "02-amdgpu-memory-keys-only",
            "amdgpu",
            "0000:08:00.0",
            some(217),
            no,
            [some(8192), no, some(2068), no],
        ),
        (
            "03-amdgpu-2024-05-mib-and-active",
            "amdgpu",
            "0000:04:00.0",
            some(30),
            no,
            [some(22528), some(22528), some(544_428), some(544_428)],
        ),
        (
            "05-amdgpu-2024-10-doorbell-spaces",
            "amdgpu",
            "0000:04:00.0",
            some(30),
            no,
            [some(20480), some(20480), some(155_068), some(155_068)],
        ),
        (
            "07-amdgpu-rx6800-fresh-open",
            "amdgpu",
            "0000:03:00.0",
            some(544),
            no,
            [some(2048), some(2048), some(12), some(12)],
        ),
        ("10-i915-chromeos-memory-region", "i915", "0000:00:02.0", some(22), no, [no, some(104_448), no, no]),
        ("11-i915-man-pages", "i915", "0000:00:02.0", some(39), no, [some(6044), some(6044), no, no]),
        ("13-i915-fresh-open-all-zero", "i915", "0000:00:02.0", some(537), no, [some(0), some(0), no, no]),
        ("14-i915-docs-no-memory-keys", "i915", "0000:00:02.0", some(7), no, [no; 4]),
        ("15-xe-docs", "xe", "0000:03:00.0", some(3), no, [some(192), some(192), some(23992), some(23992)]),
        ("17-xe-32gib-resident-only", "xe", "0000:05:00.0", some(48), no, [no, no, some(32_677_152), no]),
        ("18-msm-glmark2-no-pdev", "msm", "", some(7), no, [no; 4]),
        ("19-panfrost-docs", "panfrost", "", some(14), no, [some(36496), some(296_960), no, no]),
        ("21-v3d-computecloth-no-memory", "v3d", "", some(44), no, [no; 4]),
        ("22-v3d-total-without-resident", "v3d", "", some(81), no, [no, some(15168), no, no]),
        (
            "90-synth-amdgpu-5.14-legacy-tabs",
            "amdgpu",
            "0000:c5:00.0",
            no,
            some(32774),
            [some(25_258_000), no, some(5348), no],
        ),
        (
            "92-synth-amdgpu-6.14-total-vram-resident-gtt",
            "amdgpu",
            "0000:c5:00.0",
            some(31),
            no,
            [some(25_257_984), some(92160), some(507_904), some(25_673_728)],
        ),
        (
            "96-synth-client-name-with-colon-and-key-text",
            "amdgpu",
            "0000:c5:00.0",
            some(34),
            no,
            [some(2048), some(2048), some(12), some(12)],
        ),
        ("97-synth-truncated-mid-line", "amdgpu", "0000:c5:00.0", some(35), no, [no, some(2048), no, no]),
    ]
}

#[test]
fn every_published_body_gives_its_figures() {
    for (name, driver, pdev, id, pasid, kib) in answers() {
        let body = read(&data(name));
        assert_eq!(body.driver().map(|w| w.shown()).as_deref(), Some(driver), "{name}");
        assert_eq!(body.pdev().map(|w| w.shown()).unwrap_or_default(), pdev, "{name}");
        assert_eq!(body.client_id(), id, "{name}");
        if id.is_none() {
            assert_eq!(body.pasid(), pasid, "{name}");
        }
        assert_eq!(figures(&body), kib.map(|k| k.map(|k| k * KIB)), "{name}");
    }
    let bare = read(&data("93-synth-bare-bytes-unaligned"));
    let odd = Some((1 << 30) + 1);
    assert_eq!(figures(&bare), [odd, odd, Some(1023), Some(1023)]);
    assert_eq!(bare.client_id(), Some(32));
}

#[test]
fn what_is_no_drm_client_is_ignored() {
    let known: Vec<String> = answers().iter().map(|a| a.0.to_owned()).collect();
    let others: Vec<_> = all().into_iter().filter(|(name, _)| !known.contains(name)).collect();
    assert_eq!(others.len(), 5, "four that are none, and the one with bare bytes");
    for (name, text) in others {
        assert_eq!(read(&text).driver().is_none(), !name.starts_with("93"), "{name}");
    }
}

#[test]
fn the_key_of_a_figure_is_chosen_by_presence() {
    let key = |name| read(&data(name)).memory(Region::Gtt).key;
    assert_eq!(key("03-amdgpu-2024-05-mib-and-active"), Some(Key::Resident));
    assert_eq!(key("13-i915-fresh-open-all-zero"), Some(Key::Resident), "0 is a figure");
    assert_eq!(key("02-amdgpu-memory-keys-only"), Some(Key::Memory));
    assert_eq!(key("90-synth-amdgpu-5.14-legacy-tabs"), Some(Key::Legacy));
    assert_eq!(key("22-v3d-total-without-resident"), Some(Key::Total));
    assert_eq!(key("14-i915-docs-no-memory-keys"), None);
    let shared = read(&data("10-i915-chromeos-memory-region")).memory(Region::Gtt);
    assert_eq!((shared.best, shared.shared), (Some(104_448 * KIB), Some(104_448 * KIB)));
}

#[test]
fn units_are_told_apart_and_others_are_rejected() {
    let gtt = |value: &str| {
        let body = read(format!("drm-driver: amdgpu\ndrm-resident-gtt: {value}\n").as_bytes());
        (body.memory(Region::Gtt).best, *body.anomalies())
    };
    let none = Anomalies::default();
    for (value, bytes) in [("7", 7), ("7 KiB", 7168), ("7 MiB", 7 << 20), ("7 kB", 7168), ("  7\tKiB ", 7168)]
    {
        assert_eq!(gtt(value), (Some(bytes), none), "{value}");
    }
    let unit = Anomalies { units: 1, ..none };
    for value in ["7 GiB", "7 kib", "7 KB", "7 Mi", "-7", "", "KiB", "7 KiB 8", "0x7", "7.5 MiB"] {
        assert_eq!(gtt(value), (None, unit), "{value}");
    }
    // 2^64 - 4096 bytes, as a counter that went below 0 is printed.
    let below = Anomalies { underflows: 1, ..none };
    for value in
        ["18446744073709547520", "18014398509481980 KiB", "17592186044415 MiB", "99999999999999999999999"]
    {
        assert_eq!(gtt(value), (None, below), "{value}");
    }
}

#[test]
fn a_resident_figure_that_cannot_be_read_is_not_replaced_by_what_is_allocated() {
    let gtt = |more: &str| {
        let text = format!("drm-driver: amdgpu\ndrm-resident-gtt: 7 GiB\ndrm-total-gtt: 90 MiB\n{more}");
        read(text.as_bytes()).memory(Region::Gtt)
    };
    assert_eq!((gtt("").best, gtt("").key, gtt("").total), (None, None, Some(90 << 20)));
    assert_eq!(gtt("drm-memory-gtt: \t5 KiB\n").best, Some(5 * KIB), "its alias is the same figure");
}

#[test]
fn a_key_that_is_there_twice_is_not_added() {
    let body = read(b"drm-driver: amdgpu\ndrm-resident-gtt: 5\ndrm-resident-gtt: 7\ndrm-resident-gtt: 6\n");
    assert_eq!((body.memory(Region::Gtt).best, body.anomalies().repeated), (Some(7), 2));
    let both = read(b"drm-driver: xe\ndrm-resident-vram0: 5\ndrm-resident-vram1: 7\n");
    assert_eq!(both.memory(Region::Vram).best, Some(12), "two regions are");
}

#[test]
fn what_counts_no_memory_is_no_region() {
    let text = b"drm-driver: xe\ndrm-total-cycles-rcs:\t99999999999999999999999\ndrm-engine-capacity-vcs:\t2\n\
        drm-maxfreq-gpu:\t800 Hz\namd-requested-gtt:\t5 KiB\namd-evicted-vram:\t5 KiB\nv3d-jobs-csd:\t5 jobs\n";
    let body = read(text);
    assert_eq!((body.slots.len(), *body.anomalies()), (0, Anomalies::default()));
}

#[test]
fn a_driver_is_a_whole_line_and_not_a_word_in_it() {
    for text in [
        &b" drm-driver: amdgpu\n"[..],
        b"x drm-driver: amdgpu\n",
        b"exp_name:\tdrm-driver: amdgpu\n",
        b"drm-client-name: drm-driver: amdgpu\n",
        b"drm-driver:\n",
        b"drm-driver: amdgp",
        b"gtt mem: 5 kB\n",
        b"",
    ] {
        assert_eq!(read(text).driver(), None, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn many_regions_and_a_long_line_stay_within_bounds() {
    let mut text = b"drm-driver: xe\n".to_vec();
    for n in 0..200 {
        text.extend_from_slice(format!("drm-resident-vram{n}: 1 KiB\n").as_bytes());
    }
    text.extend_from_slice(b"drm-resident-gtt: ");
    text.extend_from_slice(&vec![b'9'; 1 << 20]);
    text.extend_from_slice(b"\ndrm-memory-gtt: 3 KiB\ndrm-resident-");
    text.extend_from_slice(&vec![b'x'; 1 << 20]);
    text.extend_from_slice(b": 1\n");
    let mut body = read(&text);
    assert_eq!(
        (body.memory(Region::Vram).best, body.memory(Region::Gtt).best),
        (Some(200 * KIB), Some(3 * KIB))
    );
    assert_eq!((body.anomalies().underflows, body.anomalies().regions), (1, 1));
    for n in 200..2000 {
        text.extend_from_slice(format!("drm-resident-vram{n}: 1 KiB\n").as_bytes());
    }
    body.read(&text);
    assert_eq!(body.slots.len(), MOST_REGIONS);
    assert!(body.anomalies().regions > 1_000);
    let room = body.slots.capacity();
    body.read(&text);
    assert_eq!(body.slots.capacity(), room, "read again without a new allocation");
}

/// Everything that a body says, for comparison: what a region's measure is, and who it is.
fn facts(body: &Body) -> Vec<(Vec<u8>, usize, u64)> {
    let mut all = Vec::new();
    for slot in &body.slots {
        for (measure, field) in slot.fields.iter().enumerate() {
            if let super::Field::Bytes(n) = field {
                all.push((slot.region.bytes().to_vec(), measure, *n));
            }
        }
    }
    for (what, number) in [(100, body.client_id()), (101, body.pasid())] {
        all.extend(number.map(|n| (Vec::new(), what, n)));
    }
    for (what, word) in [(102, body.driver()), (103, body.pdev())] {
        all.extend(word.map(|w| (w.bytes().to_vec(), what, 0)));
    }
    all.sort();
    all
}

#[test]
fn a_cut_anywhere_gives_a_part_of_the_facts() {
    for (name, text) in all() {
        let whole = facts(&read(&text));
        for cut in 0..text.len() {
            for fact in facts(&read(&text[..cut])) {
                assert!(whole.contains(&fact), "{name} cut at {cut}: {fact:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_order_of_lines_gives_the_same_facts(file in 0usize..24, seed in any::<u64>()) {
        let (name, mut text) = all().swap_remove(file);
        // A body whose last line is cut would have another line cut.
        if text.last() != Some(&b'\n') {
            text.push(b'\n');
        }
        let mut lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
        let mut random = seed | 1;
        for n in (1..lines.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            lines.swap(n, (random >> 33) as usize % (n + 1));
        }
        let (body, shuffled) = (read(&text), read(&lines.concat()));
        prop_assert_eq!(facts(&body), facts(&shuffled), "{}", name);
        for region in [Region::Gtt, Region::Vram, Region::Cpu] {
            prop_assert_eq!(body.memory(region), shuffled.memory(region), "{}", name);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let body = read(&bytes);
        for region in [Region::Gtt, Region::Vram, Region::Cpu] {
            body.memory(region);
        }
    }

    #[test]
    fn arbitrary_lines_never_panic(lines in prop::collection::vec(
        ("(drm-)?(driver|pdev|client-id|(total|resident|memory|shared)-[a-z]{0,3}[0-9]{0,2}|gtt mem|vram mem|pasid)",
         ":?[ \t]{0,2}", "[0-9]{0,22}", "( ?[KM]iB| kB| GiB)?\n?"), 0..30)) {
        let text: String = lines.iter().map(|(a, b, c, d)| format!("{a}{b}{c}{d}")).collect();
        let body = read(text.as_bytes());
        for region in [Region::Gtt, Region::Vram, Region::Cpu] {
            let memory = body.memory(region);
            prop_assert!(memory.best.is_none_or(|n| n < 1 << 63 || body.slots.len() > 1));
            prop_assert_eq!(memory.key.is_some(), memory.best.is_some());
        }
    }
}

#[test]
fn measures_stand_in_the_order_of_keys() {
    let same = [Measure::Resident, Measure::Memory, Measure::Legacy, Measure::Total];
    assert!(Key::ALL.iter().zip(same).all(|(key, measure)| *key as usize == measure as usize));
}
