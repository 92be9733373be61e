use super::*;

const MS: u64 = 1_000_000;

/// Returns the evidence for a receiver of two segments. For the number of an ACK, `passes` returns
/// whether it passes, and the last argument how many other numbers the counter has used since the
/// previous ACK.
fn download(acks: u32, passes: impl Fn(u32) -> bool, others: impl Fn(u32) -> u16, is_linux: bool) -> Identifications {
    let mut found = Identifications::default();
    let mut identification = 700_u16;
    let packet = Numbered {
        at: 0,
        identification: if is_linux { 0 } else { identification },
        is_syn_ack: true,
        segments: 1,
        may_miss: None,
        covers: None,
        others: Between::default(),
    };
    found.packet(&packet);
    let mut covers = 0;
    for ack in 0..acks {
        identification = identification.wrapping_add(1 + others(ack));
        // At first each segment is acknowledged immediately.
        covers += if ack < 20 { 1 } else { 2 };
        if passes(ack) {
            found.packet(&Numbered {
                at: u64::from(ack) * 2 * MS,
                identification,
                is_syn_ack: false,
                may_miss: Some(covers - 1),
                covers: Some(covers),
                ..packet
            });
            covers = 0;
        }
    }
    found
}

#[test]
fn a_counter_of_the_connection_shows_what_is_missing() {
    let Evidence::Missing(share, _) = download(400, |_| true, |_| 0, true).evidence() else { panic!() };
    assert!(share.abs() < 1e-12);
    // Two of three ACKs are missing, once there are more than the return path carries.
    let Evidence::Missing(share, evidence) = download(400, |ack| ack < 40 || ack % 3 == 0, |_| 0, true).evidence()
    else {
        panic!()
    };
    assert!((share - 240.0 / 400.0).abs() < 0.01, "{share}");
    assert!(evidence.contains("explain"), "{evidence}");
}

/// The counter has 16 bits, and zero is one of its numbers: after 140,000 packets, it has reached
/// zero twice.
#[test]
fn zero_is_a_number_of_a_counter_that_comes_to_it() {
    let found = download(140_000, |_| true, |_| 0, true);
    assert_eq!((found.skipped, found.zeros), (0, 1), "the zero of the SYN-ACK is none");
}

/// The host sends 0 to 39 other packets between two ACKs: more packets than the receiver has
/// segments to acknowledge.
#[test]
fn a_counter_of_the_host_is_inconclusive() {
    for is_linux in [true, false] {
        let found = download(400, |_| true, |ack| (ack * 7 % 40) as u16, is_linux).evidence();
        assert!(matches!(&found, Evidence::Nothing(reason) if reason.contains("counted by the host")), "{found:?}");
    }
}

/// Sometimes one other packet between two ACKs, so that no step skips more numbers than there are
/// segments. Numbers are also skipped before ACKs for a single segment.
#[test]
fn a_slow_counter_of_the_host_is_inconclusive() {
    let found = download(400, |_| true, |ack| u16::from(ack % 3 == 0), false).evidence();
    assert!(matches!(&found, Evidence::Nothing(reason) if reason.contains("contiguous")), "{found:?}");
    // Without such ACKs there is neither a refutation nor a proof.
    let mut found = download(400, |_| true, |ack| u16::from(ack % 3 == 0 && ack > 20), false);
    found.controls = Controls::default();
    found.beyond = 0;
    assert!(matches!(&found.evidence(), Evidence::Nothing(reason) if reason.contains("nothing shows")), "{found:?}");
}

#[test]
fn numbers_that_other_packets_of_the_host_have_are_the_hosts() {
    let mut found = download(400, |ack| ack < 40 || ack % 3 == 0, |_| 0, true);
    (found.others, found.of_others) = (8, 5);
    assert!(matches!(&found.evidence(), Evidence::Nothing(reason) if reason.contains("other packets")));
}

/// Windows before XP: a step of one appears as 256.
#[test]
fn a_counter_in_the_other_byte_order_is_named() {
    let found = download(400, |_| true, |ack| (256 * (1 + ack % 3) - 1) as u16, false).evidence();
    assert!(matches!(&found, Evidence::Nothing(reason) if reason.contains("byte order")), "{found:?}");
}

#[test]
fn zeros_and_random_numbers_are_inconclusive() {
    let mut zeros = Identifications::default();
    let packet = Numbered {
        at: 0,
        identification: 0,
        is_syn_ack: false,
        segments: 1,
        may_miss: Some(1),
        covers: Some(2),
        others: Between::default(),
    };
    (0..400).for_each(|n| zeros.packet(&Numbered { at: n * MS, ..packet }));
    assert!(matches!(&zeros.evidence(), Evidence::Nothing(reason) if reason.contains("zero")), "{zeros:?}");
    let random = download(400, |_| true, |ack| (ack * 40_503) as u16, false).evidence();
    assert!(matches!(&random, Evidence::Nothing(reason) if reason.contains("count nothing")), "{random:?}");
}

/// Packets of three segments each take three numbers.
#[test]
fn a_packet_takes_a_number_per_segment() {
    let mut found = Identifications::default();
    for n in 0..200_u16 {
        found.packet(&Numbered {
            at: u64::from(n) * MS,
            identification: 700 + 3 * n,
            is_syn_ack: false,
            segments: 3,
            may_miss: Some(0),
            covers: None,
            others: Between::default(),
        });
    }
    assert!(matches!(found.evidence(), Evidence::Missing(share, _) if share.abs() < 1e-12), "{found:?}");
}
