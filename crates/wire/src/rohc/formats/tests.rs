//! Every base header, with octets derived by hand from RFC 6846, §8.2.

use super::Format;
use crate::Endpoints;
use crate::ipv4::Ipv4Fields;
use crate::rohc::Ack;
use crate::rohc::context::{References, State};
use crate::rohc::ip_id::Behavior;
use crate::rohc::octets::{Octets, Reader};
use crate::rohc::options::List;
use crate::tcp::{Flags, Options, Segment, SeqNumber};
use acklab_base::Ecn;

/// ACK number 0x12345678, MSN 0x10, with an IP-ID that is larger by 5.
fn last(behavior: Behavior) -> State {
    let segment = Segment {
        ecn: Ecn::NotEct,
        seq: SeqNumber(0x0a0b_0c0d),
        ack: SeqNumber(0x1234_5678),
        flags: Flags::ACK,
        window: 0x1000,
        options: Options::default(),
        payload: 0,
    };
    let identification = if behavior == Behavior::Zero { 0 } else { 0x15 };
    let endpoints = Endpoints::of_connection(0).reverse();
    let ack = Ack { ip: Ipv4Fields { identification, ..Ipv4Fields::default() }, ..Ack::of(segment, endpoints) };
    let list = List::default();
    let mut state = State { ack, list, msn: 0x10, behavior, ip_id_offset: 0, ecn_used: false, ack_stride: 0 };
    state.set_ip_id_offset(0x10);
    state
}

/// Returns the next header of the flow, with the next IP-ID if it is sequential.
fn next(behavior: Behavior, change: impl FnOnce(&mut State)) -> State {
    let mut next = State { msn: 0x11, ..last(behavior) };
    if behavior.is_sequential() {
        next.ack.ip.identification += 1;
    }
    change(&mut next);
    next.set_ip_id_offset(0x11);
    next
}

/// Returns the shortest base header with a CRC of all ones, and its octets, after checking that
/// they are read back.
fn shortest(behavior: Behavior, list: bool, change: impl FnOnce(&mut State)) -> (Format, Vec<u8>) {
    against(last(behavior), list, next(behavior, change))
}

fn against(old: State, list: bool, new: State) -> (Format, Vec<u8>) {
    let references = References::new(old, 1);
    let format = Format::shortest(&new, &references, list);
    let ones = if format.is_long() { 0x7f } else { 0x7 };
    let mut out = Octets::new();
    format.write(&new, &references, ones, list, &mut out);

    let mut reader = Reader(&out);
    let mut read = old;
    let base = Format::read(&mut read, &mut reader).unwrap();
    assert!(reader.0.is_empty());
    assert_eq!((base.crc, base.has_list), ((format.crc(), ones), list));
    assert_eq!(u32::from(base.msn), super::msn(&new));
    match base.ip_id {
        None if new.behavior.is_sequential() => assert_eq!(read.ip_id_offset, new.ip_id_offset),
        Some(identification) => assert_eq!(identification, new.ack.ip.identification),
        None => {}
    }
    // The rest of the header follows from the MSN and the irregular chain.
    read.ack.ip.identification = new.ack.ip.identification;
    read.msn = new.msn;
    read.set_ip_id_offset(new.msn);
    assert_eq!(format!("{read:?}"), format!("{new:?}"));
    (format, out.to_vec())
}

fn rnd(format: super::rnd::Format) -> Format {
    Format::Rnd(format)
}

fn seq(format: super::seq::Format) -> Format {
    Format::Seq(format)
}

#[test]
fn rnd_1_has_eighteen_bits_of_the_sequence_number() {
    let found = shortest(Behavior::Zero, false, |next| next.ack.segment.seq.0 = 0x0a0a_1001);
    // 101110 10 | 00010000 | 00000001 | 0001 0 111: 64524 below the last one.
    assert_eq!(found, (rnd(super::rnd::Format::One), vec![0xba, 0x10, 0x01, 0x17]));
}

#[test]
fn rnd_3_has_fifteen_bits_of_the_ack_number() {
    let found = shortest(Behavior::Random, false, |next| next.ack.segment.ack.0 = 0x1234_61c8);
    // 0 1100001 | 11001000 | 0001 0 111
    assert_eq!(found, (rnd(super::rnd::Format::Three), vec![0x61, 0xc8, 0x17]));
}

#[test]
fn rnd_4_has_four_bits_of_the_multiple() {
    let stride = |state: State| State { ack_stride: 2896, ..state };
    let new = next(Behavior::Zero, |next| {
        next.ack.segment.ack.0 += 2 * 2896;
        next.ack.segment.flags = Flags::ACK | Flags::PSH;
    });
    // 0x12345678 / 2896 = 105462, two more are 105464 = 0x19bf8: 1101 1000 | 0001 1 111
    let found = against(stride(last(Behavior::Zero)), false, stride(new));
    assert_eq!(found, (rnd(super::rnd::Format::Four), vec![0xd8, 0x1f]));
}

#[test]
fn rnd_5_has_both_numbers() {
    let found = shortest(Behavior::Zero, false, |next| {
        next.ack.segment.seq.0 = 0x0a0b_0d0d;
        next.ack.segment.ack.0 = 0x1234_61c8;
    });
    // 100 0 0001 | 111 00110 | 10000110 | 1 1100001 | 11001000: 0x0d0d has the low bits 00 1101
    // 0000 1101.
    assert_eq!(found, (rnd(super::rnd::Format::Five), vec![0x81, 0xe6, 0x86, 0xe1, 0xc8]));
}

#[test]
fn rnd_7_has_the_window() {
    let found = shortest(Behavior::Zero, false, |next| {
        next.ack.segment.ack.0 = 0x1234_61c8;
        next.ack.segment.window = 0xabcd;
    });
    // 101111 00 | 0x61c8 | 0xabcd | 0001 0 111
    assert_eq!(found, (rnd(super::rnd::Format::Seven), vec![0xbc, 0x61, 0xc8, 0xab, 0xcd, 0x17]));
    let far = shortest(Behavior::Zero, false, |next| next.ack.segment.ack.0 += 100_000);
    assert_eq!(far.0, rnd(super::rnd::Format::Seven), "an ACK number beyond the reach of 15 bits");
}

#[test]
fn rnd_8_brings_a_list_ttl_and_ecn() {
    let found = shortest(Behavior::Zero, true, |next| {
        next.ack.segment.ack.0 = 0x1234_61c8;
        next.ack.ip.time_to_live = 66;
        next.ecn_used = true;
    });
    // 10110 00 1 | 1111111 0 | 001 0 010 1 | sequence number | ACK number; 66 = …010.
    assert_eq!(found, (rnd(super::rnd::Format::Eight), vec![0xb1, 0xfe, 0x25, 0x0c, 0x0d, 0x61, 0xc8]));
}

#[test]
fn seq_1_has_the_sequence_number() {
    let found = shortest(Behavior::Sequential, false, |next| next.ack.segment.seq.0 = 0x0a0b_1c0d);
    // 1010 0101 | 0x1c0d | 0001 0 111: the IP-ID stays 5 above the MSN.
    assert_eq!(found, (seq(super::seq::Format::One), vec![0xa5, 0x1c, 0x0d, 0x17]));
}

#[test]
fn seq_3_has_sixteen_bits_of_the_ack_number() {
    let found = shortest(Behavior::Sequential, false, |next| next.ack.segment.ack.0 = 0x1234_61c8);
    assert_eq!(found, (seq(super::seq::Format::Three), vec![0x95, 0x61, 0xc8, 0x17]));
}

#[test]
fn seq_4_has_four_bits_of_the_multiple_and_three_of_the_identification() {
    let stride = |state: State| State { ack_stride: 2896, ..state };
    let new = next(Behavior::Sequential, |next| {
        next.ack.segment.ack.0 += 2 * 2896;
        next.ack.ip.identification += 1;
    });
    // 0 1000 110 | 0001 0 111: one ahead of the sequence, 6.
    let found = against(stride(last(Behavior::Sequential)), false, stride(new));
    assert_eq!(found, (seq(super::seq::Format::Four), vec![0x46, 0x17]));
}

#[test]
fn seq_5_has_both_numbers() {
    let found = shortest(Behavior::SequentialSwapped, false, |next| {
        next.ack.segment.seq.0 = 0x0a0b_0d0d;
        next.ack.segment.ack.0 = 0x1234_61c8;
        // 0x1600 in little-endian order is one more than the 0x1500 of the last one.
        next.ack.ip.identification = 0x0016;
    });
    assert_eq!(found.0, Format::CoCommon, "0x1600 − 0x11 is not near 0x1500 − 0x10");

    let swap = |mut state: State| {
        state.ack.ip.identification = state.ack.ip.identification.swap_bytes();
        let msn = state.msn;
        state.behavior = Behavior::SequentialSwapped;
        state.set_ip_id_offset(msn);
        state
    };
    let new = next(Behavior::Sequential, |next| {
        next.ack.segment.seq.0 = 0x0a0b_0d0d;
        next.ack.segment.ack.0 = 0x1234_61c8;
    });
    let found = against(swap(last(Behavior::Sequential)), false, swap(new));
    // 1000 0101 | 0x61c8 | 0x0d0d | 0001 0 111
    assert_eq!(found, (seq(super::seq::Format::Five), vec![0x85, 0x61, 0xc8, 0x0d, 0x0d, 0x17]));
}

#[test]
fn seq_7_has_fifteen_bits_of_the_window() {
    let found = shortest(Behavior::Sequential, false, |next| {
        next.ack.segment.ack.0 = 0x1234_61c8;
        next.ack.segment.window = 0x1234;
    });
    // 1100 0010 | 01000110 | 100 00101 | 0x61c8 | 0001 0 111: 0x1234 is 001 0010 0011 0100.
    assert_eq!(found, (seq(super::seq::Format::Seven), vec![0xc2, 0x46, 0x85, 0x61, 0xc8, 0x17]));
}

#[test]
fn seq_8_brings_a_list_ttl_and_ecn() {
    let found = shortest(Behavior::Sequential, true, |next| next.ack.segment.ack.0 = 0x1234_61c8);
    // 1011 0101 | 1 1111111 | 0001 0 000 | 0 1100001 | 11001000 | 00 001100 | 00001101
    assert_eq!(found, (seq(super::seq::Format::Eight), vec![0xb5, 0xff, 0x10, 0x61, 0xc8, 0x0c, 0x0d]));
}

#[test]
fn co_common_has_fields_that_no_other_format_has() {
    let (format, octets) = shortest(Behavior::Zero, false, |next| {
        next.ack.segment.ack.0 += 2896;
        next.ack_stride = 2896;
    });
    // 1111101 0 | 1 0 00 0001 | 00 10 1 0 0 0 | 0 0 0 0 0 11 0 | 1 1111111 | ACK number 0x61c8 |
    // stride 0x0b50
    assert_eq!((format, octets), (Format::CoCommon, vec![0xfa, 0x81, 0x28, 0x06, 0xff, 0x61, 0xc8, 0x0b, 0x50]));

    let (format, octets) = shortest(Behavior::Zero, true, |next| {
        next.behavior = Behavior::Sequential;
        next.ack.ip = Ipv4Fields { identification: 0x0102, dscp: 0x2e, dont_fragment: false, time_to_live: 9 };
        next.ack.segment.seq.0 += 1;
        next.ack.segment.window = 7;
        next.ack.segment.ack.0 ^= 0x8000_0000;
    });
    // 1111101 0 | 1 0 00 0001 | 01 11 0 1 1 0 | 0 0 1 1 1 00 0 | 0 1111111 | then sequence number,
    // ACK number, window, IP-ID, DSCP, TTL
    let expected =
        [0xfa, 0x81, 0x76, 0x38, 0x7f, 0x0e, 0x92, 0x34, 0x56, 0x78, 0x00, 0x07, 0x01, 0x02, 0xb8, 0x09].to_vec();
    assert_eq!((format, octets), (Format::CoCommon, expected));
}

#[test]
fn co_common_with_a_near_identification_has_an_octet_of_it() {
    let (format, octets) = shortest(Behavior::Sequential, false, |next| next.ack.ip.dscp = 1);
    assert_eq!((format, octets), (Format::CoCommon, vec![0xfa, 0x81, 0x00, 0x20, 0xff, 0x05, 0x04]));
}

#[test]
fn a_field_must_be_unambiguous_for_both_references() {
    let mut references = References::new(last(Behavior::Zero), 2);
    let later = next(Behavior::Zero, |next| next.ack.segment.window = 9);
    references.push(later);
    let same_window = State { msn: 0x12, ..later };
    assert_eq!(Format::shortest(&same_window, &references, false), rnd(super::rnd::Format::Seven));
    references.push(same_window);
    assert_eq!(Format::shortest(&same_window, &references, false), rnd(super::rnd::Format::Three));
}

#[test]
fn other_first_octets_are_refused() {
    let refused =
        |behavior, octet| Format::read(&mut last(behavior), &mut Reader(&[octet; 16])).unwrap_err().to_string();
    assert_eq!(refused(Behavior::Zero, 0xc1), "a header that begins with 0xc1 is not supported", "rnd_2");
    assert_eq!(refused(Behavior::Zero, 0xa1), "a header that begins with 0xa1 is not supported", "rnd_6");
    assert_eq!(refused(Behavior::Sequential, 0xd1), "a header that begins with 0xd1 is not supported", "seq_2");
    assert_eq!(refused(Behavior::Sequential, 0xf1), "a header that begins with 0xf1 is not supported", "feedback");
    assert_eq!(refused(Behavior::Random, 0xfb), "a header that begins with 0xfb is not supported", "outer TTL");
}
