//! Tests the echo of congestion marks for any pattern of marks and any ACK policy. The marks that a
//! sender infers from the echo equal the pattern.

use acklab_base::random::Seed;
use acklab_base::{Duration, Ecn, Instant, Machine};
use acklab_transport::ack;
use acklab_transport::tcp::{Preset, Receiver, TcpConfig, ecn};
use acklab_wire::tcp::{AccurateEcn, Flags, Options, Segment, SeqNumber};
use proptest::collection::vec;
use proptest::prelude::*;

const MSS: u32 = 1000;
const FIRST: SeqNumber = SeqNumber(77);

fn segment(flags: Flags, offset: u64, payload: u32, codepoint: Ecn) -> Segment {
    Segment {
        ecn: codepoint,
        seq: SeqNumber::at(FIRST, offset),
        ack: SeqNumber(0),
        flags,
        window: u16::MAX,
        options: Options { sack_permitted: flags.contains(Flags::SYN), ..Options::default() },
        payload,
    }
}

/// Returns the ACKs of segments in order, a millisecond apart, marked or not.
fn acks(agreed: ecn::EcnConfig, policy: ack::PolicyConfig, marks: &[bool]) -> Vec<Segment> {
    let config = TcpConfig { ecn: agreed, ack: policy, timestamps: None, ..Preset::Rfc.config() };
    let policy = ack::Policy::new(config.ack).expect("it is built in");
    let mut receiver = Receiver::new(config, policy, Seed(1), "echo");
    let offer = match agreed {
        ecn::EcnConfig::Off => Flags::NONE,
        ecn::EcnConfig::Classic | ecn::EcnConfig::Dctcp => Flags::ECE | Flags::CWR,
        ecn::EcnConfig::Accurate => Flags::AE | Flags::ECE | Flags::CWR,
    };
    let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
    receiver.accept(at(0), segment(Flags::SYN | offer, 0, 0, Ecn::NotEct));
    let mut acks = Vec::new();
    let poll = |receiver: &mut Receiver, now, acks: &mut Vec<Segment>| {
        while let Some(ack) = receiver.poll(now) {
            acks.push(ack);
        }
    };
    poll(&mut receiver, at(0), &mut acks);
    acks.clear();
    for (index, is_marked) in (0_u64..).zip(marks) {
        let now = at(1 + index);
        let codepoint = if *is_marked { Ecn::Ce } else { Ecn::Ect0 };
        receiver.wake(now);
        poll(&mut receiver, now, &mut acks);
        receiver.accept(now, segment(Flags::ACK, 1 + index * u64::from(MSS), MSS, codepoint));
        poll(&mut receiver, now, &mut acks);
    }
    if let Some(last) = receiver.deadline() {
        receiver.wake(last);
        poll(&mut receiver, last, &mut acks);
    }
    acks
}

/// Returns the number of bytes that each ACK acknowledges.
fn advances(acks: &[Segment]) -> Vec<u64> {
    let mut next = 0;
    acks.iter()
        .map(|ack| {
            let end = ack.ack.offset_near(SeqNumber::at(FIRST, 1), next);
            let advance = end - next;
            next = end;
            advance
        })
        .collect()
}

fn policies() -> impl Strategy<Value = ack::PolicyConfig> {
    prop_oneof![
        Just(ack::per_packet::PerPacket {}.into()),
        Just(ack::linux::Linux {}.into()),
        (1u32..40, 1u64..50).prop_map(|(segments, ms)| {
            let timer = Duration::from_millis(ms);
            ack::delayed::Delayed { segments, timer, quick: 0 }.into()
        }),
    ]
}

proptest! {
    /// RFC 8257, §3.3: all bytes of an ACK with ECE are considered marked, all bytes of an ACK
    /// without ECE unmarked.
    #[test]
    fn dctcp_tells_exactly_what_was_marked(policy in policies(), marks in vec(any::<bool>(), 1..200)) {
        let acks = acks(ecn::EcnConfig::Dctcp, policy, &marks);
        let mut told = Vec::new();
        for (ack, advance) in acks.iter().zip(advances(&acks)) {
            let segments = advance / u64::from(MSS);
            told.extend((0..segments).map(|_| ack.flags.contains(Flags::ECE)));
        }
        prop_assert_eq!(told, marks, "segment by segment");
    }

    /// RFC 9768, §3.2.2.5.1: at most two marks between ACKs, so the count is never ambiguous, and
    /// the option agrees with it.
    #[test]
    fn an_accurate_count_never_goes_round_between_acks(policy in policies(), marks in vec(any::<bool>(), 1..200)) {
        let acks = acks(ecn::EcnConfig::Accurate, policy, &marks);
        let (mut count, mut octets, mut acknowledged) = (5_u64, 0_u64, 0_usize);
        for (ack, advance) in acks.iter().zip(advances(&acks)) {
            let step = u64::from(ack.flags.ace()).wrapping_sub(count) % 8;
            prop_assert!(step <= 2);
            count += step;
            let told = ack.options.accurate_ecn.as_ref().and_then(AccurateEcn::marked).map(u64::from);
            octets += step * u64::from(MSS);
            prop_assert_eq!(told, Some(octets));
            acknowledged += (advance / u64::from(MSS)) as usize;
            let truth = marks[..acknowledged].iter().filter(|mark| **mark).count() as u64;
            prop_assert_eq!(count - 5, truth);
        }
        prop_assert_eq!(acknowledged, marks.len());
    }

    /// RFC 3168, §6.1.3: the echo continues after the first mark, because no CWR arrives.
    #[test]
    fn a_classic_echo_never_ends_by_itself(policy in policies(), marks in vec(any::<bool>(), 1..100)) {
        let acks = acks(ecn::EcnConfig::Classic, policy, &marks);
        let first = marks.iter().position(|mark| *mark).unwrap_or(marks.len());
        let mut acknowledged = 0;
        for (ack, advance) in acks.iter().zip(advances(&acks)) {
            acknowledged += (advance / u64::from(MSS)) as usize;
            prop_assert_eq!(ack.flags.contains(Flags::ECE), acknowledged > first);
        }
    }
}
