//! Event tests of a driver, with a peer that decompresses the appended octets.

#[path = "../../../tests/common/typed.rs"]
#[allow(dead_code, reason = "the tests of cells use the rest")]
mod typed;

use super::*;
use acklab_base::{Duration, Ecn};
use acklab_wire::rohc::{Decompressed, Decompressor};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber};
use typed::Typed;

const A: Endpoints = Endpoints::of_connection(0).reverse();
const B: Endpoints = Endpoints::of_connection(1).reverse();
const NOW: Instant = Instant::ZERO;

fn key(endpoints: Endpoints) -> FlowKey {
    endpoints.flow_key(6)
}

fn of(sent: &Typed) -> Ack {
    Ack::of(sent.segment, sent.endpoints)
}

fn ack(endpoints: Endpoints, number: u32) -> Typed {
    let segment = Segment {
        ecn: Ecn::NotEct,
        seq: SeqNumber(1),
        ack: SeqNumber(1 + number * 1448),
        flags: Flags::ACK,
        window: 512,
        options: Options::default(),
        payload: 0,
    };
    Typed::new(endpoints, 0, 0, segment)
}

/// Returns a PPDU with a single frame of this number. No earlier response frame is missing.
fn single(sequence: u64) -> ReceivedPpdu {
    ReceivedPpdu { single: Some(sequence), is_sync: false }
}

const AGGREGATE: ReceivedPpdu = ReceivedPpdu { single: None, is_sync: false };
const SYNC: ReceivedPpdu = ReceivedPpdu { single: None, is_sync: true };

/// A driver and its peer, which have seen a plain ACK of each flow.
struct Ends {
    driver: Driver<Typed>,
    decompressor: Decompressor,
}

impl Ends {
    fn new(config: HackConfig) -> Self {
        let decompressor = Decompressor::new(config.compression(Numbers::Eight));
        let mut ends = Self { driver: Driver::new(config, Numbers::Eight), decompressor };
        [A, B].into_iter().for_each(|flow| ends.goes_plain(ack(flow, 0)));
        ends
    }

    fn goes_plain(&mut self, sent: Typed) {
        let ack = of(&sent);
        self.driver.arrived(&ack);
        self.decompressor.observe(&ack);
    }

    /// Holds these ACKs for a response frame.
    fn hold(&mut self, acks: &[Typed]) {
        for ack in acks {
            assert_eq!(self.driver.compress(NOW, *ack), Ok(()));
        }
    }

    fn append_to_response(&mut self, single: Option<u64>) -> Vec<u8> {
        let mut out = Vec::new();
        self.driver.append_to_response(NOW, single, None, &mut out);
        out
    }

    /// Returns the number of octets of a response frame with the first `count` retained ACKs.
    fn octets_of(&self, count: usize) -> Bytes {
        let mut driver = self.driver.clone();
        driver.nic.truncate(count);
        let mut out = Vec::new();
        driver.nic.append(NOW, None, 0, &mut out);
        Bytes(out.len() as u64)
    }

    /// Delivers a response to the peer. Returns the ACKs that are new to it, and the number of
    /// duplicates.
    fn arrives(&mut self, octets: &[u8]) -> (Vec<Typed>, usize) {
        let mut acks = Vec::new();
        let done = self.decompressor.decompress(octets, |msn, ack| {
            let sent = Typed::new(ack.endpoints, 0, 0, ack.segment);
            assert_eq!(self.driver.retained(msn), Some(&sent));
            acks.push(sent);
        });
        let Decompressed { acks: count, duplicates } = done.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(count, acks.len());
        (acks, duplicates)
    }
}

#[test]
fn an_ack_waits_while_more_is_to_come_or_always_or_never() {
    let of = |variant| Driver::<Typed>::new(HackConfig { variant, ..HackConfig::default() }, Numbers::Eight);
    for (variant, expected) in
        [(Variant::MoreData, [false, true, false]), (Variant::Timer, [true; 3]), (Variant::Opportunistic, [false; 3])]
    {
        let mut driver = of(variant);
        let before = driver.holds_acks();
        let holds = [true, false].map(|has_more| {
            driver.latch(has_more);
            driver.holds_acks()
        });
        assert_eq!([before, holds[0], holds[1]], expected, "{variant:?}");
    }
}

#[test]
fn a_flow_begins_with_a_plain_ack() {
    let mut driver: Driver<Typed> = Driver::new(HackConfig::default(), Numbers::Eight);
    assert!(!driver.can_compress(&ack(A, 1)));
    assert_eq!(driver.compress(NOW, ack(A, 1)), Err(ack(A, 1)));
    driver.arrived(&of(&ack(A, 1)));
    assert!(driver.can_compress(&ack(A, 2)) && !driver.can_compress(&ack(B, 2)));
    let mut data = ack(A, 2);
    data.segment.payload = 1448;
    assert_eq!(driver.compress(NOW, data), Err(data));
}

#[test]
fn acks_of_a_response_are_retained_until_a_ppdu_confirms_it() {
    for (answered, heard, is_confirmed) in [
        (Some(7), single(7), false),
        (Some(7), single(8), true),
        (Some(7), AGGREGATE, true),
        (None, AGGREGATE, true),
        (None, single(7), true),
        (None, SYNC, false),
        (Some(7), ReceivedPpdu { is_sync: true, ..single(8) }, false),
    ] {
        let mut ends = Ends::new(HackConfig::default());
        ends.hold(&[ack(A, 1), ack(A, 2)]);
        ends.append_to_response(answered);
        ends.hold(&[ack(A, 3)]);
        assert!(ends.driver.ppdu_received(heard).is_empty());
        let octets = ends.append_to_response(None);
        let expected: &[u32] = if is_confirmed { &[3] } else { &[1, 2, 3] };
        let retained: Vec<Typed> = expected.iter().map(|number| ack(A, *number)).collect();
        let numbers = if is_confirmed { 2..3 } else { 0..3 };
        assert_eq!(numbers.map(|msn| ends.driver.retained(msn).copied()).collect::<Option<Vec<_>>>(), Some(retained));
        if !is_confirmed {
            assert_eq!(ends.arrives(&octets).0.len(), 3, "after {answered:?}, {heard:?}");
        }
    }
}

/// The request confirms nothing (Figure 6): the peer recognizes the first two by their MSNs.
#[test]
fn a_request_elicits_all_retained_acks() {
    let mut ends = Ends::new(HackConfig::default());
    ends.hold(&[ack(A, 1), ack(A, 2)]);
    let first = ends.append_to_response(None);
    assert_eq!(ends.arrives(&first), (vec![ack(A, 1), ack(A, 2)], 0));
    ends.hold(&[ack(A, 3)]);
    assert!(ends.driver.request_received().is_empty());
    let again = ends.append_to_response(None);
    assert_eq!(again[..first.len()], first);
    assert_eq!(ends.arrives(&again), (vec![ack(A, 3)], 2));
}

#[test]
fn acks_that_no_response_carried_are_released_and_their_msns_reused() {
    let mut ends = Ends::new(HackConfig::default());
    ends.hold(&[ack(A, 1)]);
    let octets = ends.append_to_response(None);
    ends.arrives(&octets);
    ends.hold(&[ack(A, 2), ack(B, 1), ack(A, 3)]);
    assert!(ends.driver.holds_any_of(key(A)) && ends.driver.holds_any_of(key(B)));
    assert_eq!(ends.driver.release(), [ack(A, 2), ack(B, 1), ack(A, 3)]);
    assert!(!ends.driver.holds_any_of(key(A)) && ends.driver.held_since().is_none());
    assert_eq!(ends.driver.retained(0), Some(&ack(A, 1)), "its outcome is open");

    // Both contexts have advanced without effect, and restart with plain ACKs. The MSNs have not
    // advanced.
    assert!(!ends.driver.can_compress(&ack(A, 4)) && !ends.driver.can_compress(&ack(B, 2)));
    ends.goes_plain(ack(A, 3));
    assert!(ends.driver.can_compress(&ack(A, 4)) && !ends.driver.can_compress(&ack(B, 2)));
    ends.hold(&[ack(A, 4)]);
    let octets = ends.append_to_response(None);
    assert_eq!(ends.arrives(&octets), (vec![ack(A, 4)], 1));
    assert_eq!(ends.driver.retained(1), Some(&ack(A, 4)));
}

/// Figure 7: unconfirmed ACKs are cleared, and the gap in the MSNs does no harm.
#[test]
fn a_plain_ack_clears_those_that_it_supersedes() {
    let mut ends = Ends::new(HackConfig::default());
    ends.hold(&[ack(A, 1), ack(A, 2)]);
    ends.append_to_response(None);
    assert_eq!(ends.driver.overtakes(key(A)), (2, Vec::new()));
    assert_eq!(ends.driver.overtakes(key(A)), (0, Vec::new()));
    assert!(!ends.driver.can_compress(&ack(A, 4)));
    assert!(ends.append_to_response(None).is_empty());
    ends.goes_plain(ack(A, 3));
    ends.hold(&[ack(A, 4)]);
    let octets = ends.append_to_response(None);
    assert_eq!(octets[0], 2, "the numbers 0 and 1 are not used again");
    assert_eq!(ends.arrives(&octets), (vec![ack(A, 4)], 0));
}

#[test]
fn an_ack_of_another_flow_is_deferred_until_it_is_confirmed() {
    let overtaken = || {
        let mut ends = Ends::new(HackConfig::default());
        ends.hold(&[ack(B, 1), ack(B, 2), ack(A, 1)]);
        ends.append_to_response(Some(7));
        assert_eq!(ends.driver.overtakes(key(A)), (3, Vec::new()));
        ends
    };
    assert!(overtaken().driver.ppdu_received(single(8)).is_empty(), "it has arrived");
    // The newest supersedes the others.
    assert_eq!(overtaken().driver.ppdu_received(SYNC), [ack(B, 2)]);
    assert_eq!(overtaken().driver.ppdu_received(single(7)), [ack(B, 2)], "the response was lost");
    assert_eq!(overtaken().driver.request_received(), [ack(B, 2)]);
    let mut ends = overtaken();
    ends.driver.overtakes(key(B));
    assert!(ends.driver.request_received().is_empty(), "a plain one superseded it");
}

#[test]
fn a_deferred_ack_that_the_last_response_did_not_repeat_goes_plain() {
    let mut ends = Ends::new(HackConfig::default());
    ends.hold(&[ack(A, 1), ack(B, 1), ack(A, 2)]);
    ends.append_to_response(None);
    ends.driver.ppdu_received(SYNC);
    // The next response frame has room for one ACK.
    let first = ends.octets_of(1);
    ends.driver.append_to_response(NOW, None, Some(first), &mut Vec::new());
    assert_eq!(ends.driver.overtakes(key(A)), (3, Vec::new()));
    assert_eq!(ends.driver.ppdu_received(AGGREGATE), [ack(B, 1)]);
}

/// The second of B was compressed against the first, which may not arrive.
#[test]
fn an_ack_compressed_against_a_cleared_one_is_cleared() {
    let mut ends = Ends::new(HackConfig::default());
    ends.hold(&[ack(B, 1), ack(A, 1), ack(B, 2)]);
    ends.append_to_response(None);
    assert_eq!(ends.driver.overtakes(key(A)), (3, Vec::new()));
    assert_eq!(ends.driver.request_received(), [ack(B, 2)]);
}

#[test]
fn an_ack_compressed_against_a_cleared_one_goes_plain_if_no_response_carried_it() {
    let mut ends = Ends::new(HackConfig::default());
    ends.hold(&[ack(B, 1), ack(A, 1)]);
    ends.append_to_response(None);
    ends.hold(&[ack(B, 2)]);
    assert_eq!(ends.driver.overtakes(key(A)), (2, vec![ack(B, 2)]));
    assert!(ends.driver.request_received().is_empty(), "the second supersedes the first");
}

#[test]
fn numbers_run_out_at_128_and_come_back() {
    let mut ends = Ends::new(HackConfig::default());
    let acks: Vec<Typed> = (1..=128).map(|number| ack(A, number)).collect();
    ends.hold(&acks);
    assert_eq!(ends.driver.msns_left(), 0);
    assert_eq!(ends.driver.compress(NOW, ack(A, 129)), Err(ack(A, 129)));
    let octets = ends.append_to_response(None);
    assert_eq!(ends.arrives(&octets), (acks, 0));
    assert_eq!(ends.driver.msns_left(), 0);
    ends.driver.ppdu_received(AGGREGATE);
    assert_eq!(ends.driver.msns_left(), 128);
    for number in 129..600 {
        ends.hold(&[ack(A, number)]);
        let octets = ends.append_to_response(None);
        assert_eq!(ends.arrives(&octets), (vec![ack(A, number)], 0));
        ends.driver.ppdu_received(AGGREGATE);
    }
}

#[test]
fn cleared_unconfirmed_msns_halve_the_space_for_others() {
    let mut ends = Ends::new(HackConfig::default());
    let left: Vec<u16> = (0..4)
        .map(|_| {
            let left = ends.driver.msns_left();
            let acks: Vec<Typed> = (1..=u32::from(left.min(64))).map(|number| ack(A, number)).collect();
            ends.hold(&acks);
            ends.append_to_response(None);
            ends.driver.overtakes(key(A));
            ends.driver.ppdu_received(SYNC);
            ends.goes_plain(ack(A, 65));
            left
        })
        .collect();
    assert_eq!(left, [128, 32, 16, 8]);
    ends.hold(&[ack(A, 66)]);
    let octets = ends.append_to_response(None);
    assert_eq!(ends.arrives(&octets), (vec![ack(A, 66)], 0));
    ends.driver.ppdu_received(AGGREGATE);
    assert_eq!(ends.driver.msns_left(), 128);
}

#[test]
fn a_response_is_cut_where_its_room_ends() {
    let mut ends = Ends::new(HackConfig { split: true, ..HackConfig::default() });
    ends.hold(&[ack(A, 1), ack(A, 2), ack(A, 3)]);
    let two = ends.octets_of(2);
    let mut out = Vec::new();
    let carried = ends.driver.append_to_response(NOW, None, Some(two), &mut out);
    assert_eq!((carried.acks, carried.fresh, Bytes(out.len() as u64)), (2, 2, two));
    assert_eq!(carried.fresh_octets, out.len() - 1, "a frame begins with an octet of its own");
    assert_eq!(ends.arrives(&out), (vec![ack(A, 1), ack(A, 2)], 0));
    ends.driver.ppdu_received(AGGREGATE);
    let octets = ends.append_to_response(None);
    assert_eq!(ends.arrives(&octets), (vec![ack(A, 3)], 0));
}

/// §3.3.1: an ACK that the NIC does not have when the PPDU begins is appended to the next response
/// frame.
#[test]
fn a_descriptor_that_is_late_waits_for_the_next_response() {
    let delay = Duration::from_micros(30);
    let mut ends = Ends::new(HackConfig { delay, ..HackConfig::default() });
    ends.hold(&[ack(A, 1)]);
    assert_eq!(ends.driver.compress(NOW + delay, ack(A, 2)), Ok(()));
    assert_eq!(ends.driver.held_since(), Some(NOW));
    let mut carried = |began| ends.driver.append_to_response(began, None, None, &mut Vec::new()).acks;
    assert_eq!([carried(NOW), carried(NOW + delay), carried(NOW + delay * 2)], [0, 1, 2]);
    assert_eq!(ends.driver.held_since(), None);
}
