//! Frames of TCP/HACK.

use super::{Ends, ack, advanced};
use crate::ipv4::Ipv4Fields;
use crate::rohc::*;

#[test]
fn hack_needs_an_uncompressed_ack_first() {
    let mut ends = Ends::new(RohcConfig::hack());
    assert_eq!(ends.compressor.compress(&ack(0), &mut ends.octets), None);
    ends.observe(&ack(0));
    let cid = Cid::of(ack(0).endpoints).0;
    let (msn, octets) = ends.compressed(&advanced(&ack(0), 2896));
    assert_eq!((msn, &octets[..3], octets[3] >> 3), (0, &[cid, 0x0b, 0x51] as &[u8], 0), "CID and rnd_3");
    assert_eq!(octets.len(), 4, "no checksum");
}

#[test]
fn a_frame_that_comes_again_with_more_is_taken_from_where_it_was() {
    let mut ends = Ends::new(RohcConfig::hack());
    ends.observe(&ack(0));
    ends.observe(&ack(7));
    let acks = [
        advanced(&ack(0), 1448),
        advanced(&ack(7), 99),
        Ack { ip: Ipv4Fields { identification: 5, ..ack(0).ip }, ..advanced(&ack(0), 2896) },
        advanced(&ack(7), 198),
    ];
    let kept: Vec<_> = acks.iter().map(|ack| ends.compressed(ack)).collect();
    let frame = |range: std::ops::Range<usize>| {
        let mut frame = Vec::new();
        let octets: Vec<u8> = kept[range.clone()].iter().flat_map(|(_, octets)| octets.iter().copied()).collect();
        write_frame(Numbers::Eight, kept[range.start].0, &octets, &mut frame);
        frame
    };
    assert_eq!(ends.received(&frame(0..3)), Ok(acks[..3].to_vec()));
    let mut out = Vec::new();
    let again = ends.decompressor.decompress(&frame(0..4), |_, ack| out.push(*ack));
    assert_eq!(
        again,
        Ok(Decompressed { acks: 1, duplicates: 3 }),
        "the first would not be read in the context of the third"
    );
    assert_eq!(out, acks[3..]);
}

#[test]
fn two_hundred_acks_thrown_away_are_not_missed() {
    let mut ends = Ends::new(RohcConfig::hack());
    let mut next = ack(0);
    ends.observe(&next);
    for round in 0..20 {
        for _ in 0..10 {
            next = advanced(&next, 2896);
            ends.compressed(&next);
        }
        ends.compressor.discard(next.endpoints);
        assert_eq!(ends.compressor.compress(&next, &mut ends.octets), None);
        ends.observe(&next);
        next = advanced(&next, 2896);
        let (msn, octets) = ends.compressed(&next);
        let mut frame = Vec::new();
        write_frame(Numbers::Eight, msn, &octets, &mut frame);
        assert_eq!(ends.received(&frame), Ok(vec![next]), "{round}");
    }
}

#[test]
fn frames_that_cannot_be_are_refused() {
    let mut ends = Ends::new(RohcConfig::hack());
    ends.observe(&ack(0));
    let cid = Cid::of(ack(0).endpoints);
    assert_eq!(ends.received(&[]), Err(Error::Truncated { wanted: 1, left: 0 }));
    assert_eq!(ends.received(&[0]), Ok(vec![]));
    assert_eq!(ends.received(&[0xff, 1]), Err(Error::Late(u16::MAX)));
    assert_eq!(ends.received(&[0, cid.0 ^ 1, 2, 3, 4]), Err(Error::NoContext(Cid(cid.0 ^ 1))));
    assert_eq!(ends.received(&[3, cid.0, 0, 0, 0x10]), Err(Error::Msn { cid, expected: 3, found: 1 }));
    assert_eq!(ends.received(&[0, cid.0, 0xd0, 0]), Err(Error::NoStride(cid)));
    assert_eq!(ends.received(&[0, cid.0, 0]), Err(Error::Truncated { wanted: 3, left: 1 }));
}

#[test]
fn of_two_flows_with_one_cid_the_first_keeps_it() {
    let of = |connection: u32| Cid::of(ack(connection).endpoints);
    let other = (1..).find(|connection| of(*connection) == of(0)).unwrap();
    let mut ends = Ends::new(RohcConfig::hack());
    ends.observe(&ack(0));
    ends.observe(&ack(other));
    assert_eq!(ends.compressor.compress(&ack(other), &mut ends.octets), None);
    let (msn, octets) = ends.compressed(&advanced(&ack(0), 5));
    let mut frame = Vec::new();
    write_frame(Numbers::Eight, msn, &octets, &mut frame);
    assert_eq!(ends.received(&frame), Ok(vec![advanced(&ack(0), 5)]));

    ends.compressor.forget(ack(0).endpoints);
    ends.decompressor.forget(ack(0).endpoints);
    ends.observe(&ack(other));
    assert!(ends.compressor.compress(&ack(other), &mut ends.octets).is_some());
}
