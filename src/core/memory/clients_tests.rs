use super::*;

const MIB: u64 = 1 << 20;

fn body(text: &str) -> Body {
    let mut body = Body::default();
    body.read(text.as_bytes());
    body
}

fn amdgpu(pdev: &str, id: u64, mib: u64) -> Body {
    body(&format!(
        "drm-driver:\tamdgpu\ndrm-client-id:\t{id}\ndrm-pdev:\t{pdev}\ndrm-total-gtt:\t{mib} MiB\n\
         drm-resident-gtt:\t{mib} MiB\ndrm-resident-vram:\t12 KiB\n"
    ))
}

fn at(pid: i32, fd: u32) -> Holder<'static> {
    Holder { pid, fd, node: b"/dev/dri/renderD128" }
}

const CARD: &str = "0000:c5:00.0";
const OTHER: &str = "0000:03:00.0";

/// The totals of one moment.
fn moment(clients: &mut Clients, ns: u64, bodies: &[(Body, Holder<'_>)]) -> Totals {
    clients.begin(ns);
    for (body, holder) in bodies {
        clients.take(body, *holder, Limits::default());
    }
    clients.end()
}

#[test]
fn a_client_is_counted_once_however_it_is_held() {
    let mut clients = Clients::default();
    let same = || amdgpu(CARD, 7, 100);
    // dup, a second process after fork, card0 beside renderD128.
    let card0 = Holder { node: b"/dev/dri/card0", ..at(10, 9) };
    let totals = moment(
        &mut clients,
        1,
        &[(same(), at(10, 4)), (same(), at(10, 5)), (same(), at(11, 4)), (same(), card0)],
    );
    assert_eq!((totals.gtt, totals.clients), (Some(100 * MIB), 1));
    assert_eq!(clients.seen()[0].pids, [10, 11]);
    let two = moment(&mut clients, 2, &[(same(), at(10, 4)), (amdgpu(CARD, 8, 50), at(10, 5))]);
    assert_eq!((two.gtt, two.clients), (Some(150 * MIB), 2), "two behind the same node are two");
    let devices = moment(&mut clients, 3, &[(same(), at(10, 4)), (amdgpu(OTHER, 7, 5), at(10, 5))]);
    assert_eq!(
        (devices.gtt, devices.clients),
        (Some(105 * MIB), 2),
        "the same number on another device is another"
    );
    assert_eq!(clients.key().as_deref(), Some("resident"));
    assert_eq!(clients.held_by(10), Some(105 * MIB));
    assert_eq!(clients.held_by(99), None);
}

#[test]
fn of_two_reads_in_a_moment_the_larger_counts() {
    let mut clients = Clients::default();
    let locked = body(&format!("drm-driver: amdgpu\ndrm-pdev: {CARD}\ndrm-client-id: 7\n"));
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let bodies =
            [(amdgpu(CARD, 7, 100), at(1, 4)), (amdgpu(CARD, 7, 90), at(1, 5)), (locked.clone(), at(2, 4))];
        let totals = moment(&mut clients, 1, &order.map(|n| bodies[n].clone()));
        assert_eq!((totals.gtt, totals.unknown), (Some(100 * MIB), 0));
    }
    assert_eq!(
        moment(&mut clients, 2, &[(amdgpu(CARD, 7, 80), at(1, 4))]).gtt,
        Some(80 * MIB),
        "the next is new"
    );
}

#[test]
fn a_client_without_device_is_told_apart_by_its_node() {
    let mut clients = Clients::default();
    let panfrost = || body("drm-driver: panfrost\ndrm-client-id: 7\ndrm-resident-memory: 1 MiB\n");
    let second = Holder { node: b"/dev/dri/renderD129", ..at(1, 5) };
    let totals =
        moment(&mut clients, 1, &[(panfrost(), at(1, 4)), (panfrost(), at(2, 4)), (panfrost(), second)]);
    assert_eq!((totals.gtt, totals.clients), (Some(2 * MIB), 2));
    assert_eq!(clients.seen()[1].node.as_deref(), Some("/dev/dri/renderD129"));
}

#[test]
fn legacy_clients_are_told_apart_by_address_space_or_not_at_all() {
    let mut clients = Clients::default();
    let legacy = |pasid: &str| body(&format!("pdev:\t{CARD}\n{pasid}vram mem:\t5 kB\ngtt mem:\t1024 kB\n"));
    let totals = moment(
        &mut clients,
        1,
        &[
            (legacy("pasid:\t5\n"), at(1, 4)),
            (legacy("pasid:\t5\n"), at(1, 5)),
            (legacy("pasid:\t6\n"), at(1, 6)),
            (legacy(""), at(1, 7)),
            (legacy(""), at(1, 8)),
        ],
    );
    assert_eq!((totals.gtt, totals.clients), (Some(4 * MIB), 4));
    assert_eq!(clients.key().as_deref(), Some("legacy"));
}

#[test]
fn a_gap_is_unknown_and_not_0() {
    let mut clients = Clients::default();
    let locked = || body(&format!("drm-driver: amdgpu\ndrm-pdev: {CARD}\ndrm-client-id: 7\n"));
    let never = moment(&mut clients, 1, &[(locked(), at(1, 4))]);
    assert_eq!((never.gtt, never.clients, never.state(1, 0)), (None, 1, State::Unsupported));
    moment(&mut clients, 2, &[(amdgpu(CARD, 7, 100), at(1, 4))]);
    let gap = moment(&mut clients, 3, &[(locked(), at(1, 4))]);
    assert_eq!((gap.gtt, gap.gaps, gap.state(1, 0)), (None, 1, State::Partial));
    let beside = moment(&mut clients, 4, &[(locked(), at(1, 4)), (amdgpu(CARD, 8, 5), at(1, 5))]);
    assert_eq!((beside.gtt, beside.state(1, 0)), (Some(5 * MIB), State::Partial));
    let client = &clients.seen()[0];
    assert_eq!(
        (client.gtt_bytes, client.gtt_peak_bytes, client.gtt_peak_at_ns),
        (Some(100 * MIB), Some(100 * MIB), Some(2))
    );
}

#[test]
fn states_are_told_apart() {
    let none = Totals::default();
    assert_eq!(
        [none.state(0, 0), none.state(1, 0), none.state(2, 1)],
        [State::Gone, State::NoClient, State::Denied]
    );
    let one = Totals { clients: 1, gtt: Some(1), ..none };
    assert_eq!([one.state(1, 0), one.state(2, 1)], [State::Ok, State::Denied]);
    assert_eq!(Totals { clients: 2, unknown: 1, ..one }.state(2, 1), State::Partial);
    assert_eq!(Totals { rejected: 1, ..one }.state(1, 0), State::Partial);
}

#[test]
fn more_than_the_device_has_is_a_counter_below_0() {
    let mut clients = Clients::default();
    let limits = Limits { gtt: Some(1_000 * MIB), vram: Some(512 * MIB) };
    clients.begin(1);
    clients.take(&amdgpu(CARD, 7, 1_001), at(1, 4), limits);
    clients.take(&amdgpu(CARD, 8, 1_000), at(1, 5), limits);
    let totals = clients.end();
    assert_eq!((totals.gtt, totals.rejected, totals.state(1, 0)), (Some(1_000 * MIB), 1, State::Partial));
    assert_eq!(clients.anomalies().underflows, 1);
    // What is allocated with VRAM as the preferred place may be more than there is VRAM, as on an APU.
    clients.begin(2);
    let apu = body(
        "drm-driver: amdgpu\ndrm-client-id: 9\ndrm-total-vram: 900 MiB\ndrm-resident-vram: 5 MiB\ndrm-resident-gtt: 895 MiB\ndrm-total-gtt: 0\n",
    );
    clients.take(&apu, at(1, 4), limits);
    let totals = clients.end();
    assert_eq!((totals.gtt, totals.vram, totals.rejected), (Some(895 * MIB), Some(5 * MIB), 0));
    let below = body("drm-driver: amdgpu\ndrm-client-id: 9\ndrm-resident-gtt: 18446744073709547520\n");
    clients.begin(3);
    clients.take(&below, at(1, 4), Limits::default());
    assert_eq!(clients.end().state(1, 0), State::Partial);
}

#[test]
fn a_sum_never_runs_over() {
    let mut clients = Clients::default();
    let large = |id| {
        body(&format!("drm-driver: amdgpu\ndrm-client-id: {id}\ndrm-resident-gtt: 9007199254740000 KiB\n"))
    };
    let three = [1, 2, 3].map(|id| (large(id), at(1, id)));
    let totals = moment(&mut clients, 1, &three);
    assert_eq!(
        (totals.gtt, totals.rejected, totals.state(1, 0)),
        (Some(18_446_744_073_707_520_000), 1, State::Partial),
        "two fit"
    );
    assert_eq!(clients.held_by(1), None, "nobody holds as much");
}

#[test]
fn memory_does_not_grow_with_clients_that_come_and_go() {
    let mut clients = Clients::default();
    for id in 0..3 * REMEMBERED as u64 {
        moment(&mut clients, id, &[(amdgpu(CARD, id, if id == 3 { 900 } else { id % 7 }), at(1, 4))]);
    }
    assert_eq!(clients.all.len(), REMEMBERED);
    assert_eq!(clients.left_out(), 2 * REMEMBERED as u64);
    assert!(clients.seen().iter().any(|c| c.gtt_peak_bytes == Some(900 * MIB)), "the largest stays");
    let many: Vec<_> =
        (0..2 * REMEMBERED as u64).map(|id| (amdgpu(CARD, 10_000 + id, 1), at(1, 4))).collect();
    assert_eq!(
        moment(&mut clients, 9_999_999, &many).gtt,
        Some(2 * REMEMBERED as u64 * MIB),
        "all that are there count"
    );
}
