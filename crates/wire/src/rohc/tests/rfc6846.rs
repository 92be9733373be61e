//! Rules of RFC 6846 for a decompressor that the compressor here does not exercise.

use super::{Ends, ack, advanced, checksum, once, repair};
use crate::rohc::crc::Crc;
use crate::rohc::*;
use crate::tcp::{AccurateEcn, FieldOrder, Flags, Timestamps};

/// Returns both ends after the IR of the first header, and its octets.
fn established(first: &Ack) -> (Ends, Vec<u8>) {
    let mut ends = Ends::new(once());
    let octets = ends.through(first);
    (ends, octets)
}

/// Returns `rnd_8` of `ack` with this number, the list, and the octets after it.
fn rnd_8(ack: &Ack, msn: u8, list: &[u8], irregular: &[u8]) -> Vec<u8> {
    let crc = Crc::Seven.of(&ack.headers().unwrap());
    let push = u8::from(ack.segment.flags.contains(Flags::PSH));
    let ([seq, number], ttl) =
        ([ack.segment.seq.0, ack.segment.ack.0].map(|word| word.to_be_bytes()), ack.ip.time_to_live);
    let base =
        [0b1011_0001, crc << 1 | msn >> 3, msn << 5 | push << 4 | (ttl & 7) << 1, seq[2], seq[3], number[2], number[3]];
    [&base, list, &checksum(ack), irregular].concat()
}

#[test]
fn the_offset_of_the_ip_id_refers_to_the_behavior_of_the_last_header() {
    let mut ends = Ends::new(once());
    let mut next = ack(0);
    for identification in [0x0100, 0x0200] {
        next.ip.identification = identification;
        ends.through(&advanced(&next, 0));
    }
    next.ip.identification = 0x0300;
    let octets = ends.through(&next);
    // The third misfit changes the behavior to swapped. The low octet of 0x0003 − 2 would be in the
    // interval of 0x0002 − 1, but the last offset is 0x0200 − 1: the IP-ID is sent in full.
    assert_eq!((octets[0], octets[2] & 0b10, &octets[5..7]), (0xfa, 0b10, [3u8, 0].as_slice()), "{octets:02x?}");
}

/// A random IP-ID sets the offset, as librohc's compressor assumes when the IP-ID becomes
/// sequential.
#[test]
fn a_random_ip_id_sets_the_offset() {
    let (mut ends, _) = established(&ack(0));
    let mut next = ack(0);
    for identification in [0x1000, 0x5000, 0x9000, 0x2000, 0x7000] {
        next.ip.identification = identification;
        ends.through(&next);
    }
    next.ip.identification = 0x7001;
    let msn = 6_u8;
    let crc = Crc::Seven.of(&next.headers().unwrap()) | u8::from(next.ip.dont_fragment) << 7;
    // co_common with only the behavior, and eight bits of the offset.
    let base = [0xfa, 0x80 | msn, 0, 0, crc, 0x01_u8.wrapping_sub(msn)];
    assert_eq!(ends.received(&[&base, &checksum(&next)[..]].concat()), Ok(vec![next]));
}

#[test]
fn an_item_of_the_table_is_referred_to_after_headers_without_it() {
    let mut first = ack(0);
    first.segment.options.timestamps = Some(Timestamps { value: 100, echo: 200 });
    let (mut ends, _) = established(&first);
    let mut next = ack(0);
    (1..8).for_each(|count| {
        ends.through(&advanced(&next, count));
    });
    next.segment.options.timestamps = Some(Timestamps { value: 110, echo: 205 });
    // NOP, NOP and timestamps without an item; seven bits of 110, and of 205 = 128 + 77.
    let list = [0x03, 0x88, 0x40];
    let octets = rnd_8(&next, 8, &list, &[110, 77]);
    assert_eq!(ends.clone().received(&octets), Ok(vec![next]));
    let octets = ends.through(&next);
    assert!(octets.ends_with(&[&list, &checksum(&next)[..], &[110, 77]].concat()), "the compressor refers to it, too");

    let (mut ends, _) = established(&ack(0));
    let octets = rnd_8(&next, 1, &list, &[110, 77]);
    let unknown = Error::Options { what: "unknown item", found: 4 };
    assert_eq!(ends.received(&octets), Err(unknown));
}

#[test]
fn any_generic_index_may_stand_for_any_option() {
    let mut first = ack(0);
    first.segment.options.accurate_ecn = Some(AccurateEcn::new(FieldOrder::Ect1First, &[0x01f5a2, 0x4a0388, 0xf0ae02]));
    let (_, octets) = established(&first);
    let list = octets.len() - 13;
    assert_eq!(octets[list..list + 4], [0x02, 0x8f, 174, 11], "NOP, and index 7 in four bits");
    // The same with index 15, which takes eight bits.
    let mut wide = [&octets[..list], &[0x12, 0x80, 0x8f], &octets[list + 2..]].concat();
    repair(&mut wide);
    let mut decompressor = Decompressor::new(once());
    let mut out = None;
    decompressor.decompress(&wide, |_, ack| out = Some(*ack)).unwrap();
    assert_eq!(out, Some(first));

    // Only the number changes. The irregular chain has an octet for the option.
    let next = rnd_8(&first, 1, &[0x12, 0x80, 0x0f], &[0xff]);
    assert_eq!(decompressor.decompress(&next, |_, ack| out = Some(*ack)), Ok(Decompressed { acks: 1, duplicates: 0 }));
    assert_eq!(out, Some(first));
}

#[test]
fn a_static_option_has_no_irregular_item() {
    let mut first = ack(0);
    first.segment.options.ack_ratio = Some(4);
    let mut ends = Ends::new(once());
    let mut octets = ends.compressed(&first).1;
    let length = octets.len() - 4;
    assert_eq!(octets[length - 1..], [253, 5, 0x56, 0x90, 4]);
    octets[length] |= 0x80;
    repair(&mut octets);
    assert_eq!(ends.received(&octets), Ok(vec![first]));

    let next = advanced(&first, 1448);
    let octets = ends.compressed(&next).1;
    let (irregular, header) = octets.split_last().unwrap();
    assert_eq!((*irregular, ends.received(header)), (0xff, Ok(vec![next])));
}

#[test]
fn reserved_bits_and_padding_must_be_zero() {
    let mut first = ack(0);
    first.segment.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    let (ends, octets) = established(&first);
    let list = octets.len() - 11;
    assert_eq!(octets[list..list + 3], [0x03, 0x88, 0xc0]);
    let refused = |found| Err(Error::Options { what: "reserved bits", found });
    for (at, bit) in [(list, 0x20), (list, 0x80), (list + 2, 0x01)] {
        let mut wrong = octets.clone();
        wrong[at] |= bit;
        repair(&mut wrong);
        assert_eq!(ends.clone().received(&wrong), refused(wrong[at]), "octet {at}");
    }
    let mut wide = [&octets[..list], &[0x13, 0x80, 0x80, 0x84], &octets[list + 3..]].concat();
    repair(&mut wide);
    assert_eq!(ends.clone().received(&wide), Ok(vec![]), "the same in eight bits: a duplicate");
    wide[list + 2] |= 0x10;
    repair(&mut wide);
    assert_eq!(ends.clone().received(&wide), refused(0x90));

    let mut ends = ends;
    let mut next = first;
    next.ip.dscp = 1;
    let mut octets = ends.compressed(&next).1;
    // co_common of five octets, the DSCP and its padding.
    assert_eq!(octets[5], 0x04);
    octets[5] |= 1;
    assert_eq!(ends.received(&octets), Err(Error::Chain { what: "the padding of the DSCP", found: 0x05 }));
}

/// Returns an IR-CR of `ack` with this CID and number, which replicates the context of flow 0 with
/// CID 0.
fn ir_cr(ack: &Ack, cid: u8, fields: &[u8]) -> Vec<u8> {
    let crc = Crc::Seven.of(&ack.headers().unwrap());
    let mut octets = [&[0xe0 | cid, 0xfc, 6, 0, 0x80 | crc, 0], fields].concat();
    octets[3] = Crc::Eight.of(&octets);
    octets
}

#[test]
fn a_context_is_replicated() {
    let (mut ends, _) = established(&ack(0));
    // Another connection between the same hosts. Its ports are encoded by low bits (49155 after
    // 49152 is …03) and in full.
    let mut other = advanced(&ack(0), 0x1_0000);
    other.endpoints.destination.set_port(49_155);
    other.endpoints.source.set_port(80);
    other.segment.window = 0x1234;
    other.segment.flags = Flags::ACK | Flags::PSH;
    let check = checksum(&other);
    // ipv4_innermost_replicate: zero IP-ID, DF. tcp_replicate: window, the two ports, the ACK
    // number; ACK and PSH; MSN 7; then sequence number, ports, window, ACK number and checksum.
    let fields = [
        [0b0000_1101, 0, 0b0101_0010, 0b1001_1000, 0, 7].as_slice(),
        &[0, 0, 0, 1, 0, 80, 3, 0x12, 0x34, 0, 1, 0, 1],
        &check,
    ]
    .concat();
    let octets = ir_cr(&other, 3, &fields);
    assert_eq!(ends.received(&octets), Ok(vec![other]));

    // The new context is complete, and the base context is unchanged.
    let next = advanced(&other, 1448);
    assert_eq!(ends.received(&[&[0xe3], &rnd_8(&next, 8, &[0], &[])[..]].concat()), Ok(vec![next]));
    ends.through(&advanced(&ack(0), 1448));

    let mut wrong = octets.clone();
    wrong[5] |= 0x10;
    assert_eq!(ends.received(&wrong), Err(Error::Chain { what: "the base CID", found: 0x10 }));
    wrong[5] = 9;
    assert_eq!(ends.received(&wrong), Err(Error::NoContext(Cid(9))));
    wrong[5] = 0;
    wrong[12] ^= 1;
    assert!(matches!(ends.received(&wrong), Err(Error::Crc { .. })), "the CRC of eight bits");
    wrong[3] = 0;
    wrong[3] = Crc::Eight.of(&wrong);
    assert!(matches!(ends.received(&wrong), Err(Error::Crc { .. })), "the CRC of seven bits");
}
