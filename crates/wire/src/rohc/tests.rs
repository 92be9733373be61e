//! Complete packets and frames, whose octets are derived by hand.

mod hack;
mod rfc6846;

use super::*;
use crate::Endpoints;
use crate::ipv4::Ipv4Fields;
use crate::tcp::{Flags, Options, SackBlock, Segment, SeqNumber, Timestamps};
use acklab_base::Ecn;

fn ack(connection: u32) -> Ack {
    let segment = Segment {
        ecn: Ecn::NotEct,
        seq: SeqNumber(1),
        ack: SeqNumber(1),
        flags: Flags::ACK,
        window: 0x1f5,
        options: Options::default(),
        payload: 0,
    };
    Ack::of(segment, Endpoints::of_connection(connection).reverse())
}

fn advanced(ack: &Ack, octets: u32) -> Ack {
    let segment = Segment { ack: SeqNumber(ack.segment.ack.0.wrapping_add(octets)), ..ack.segment };
    Ack { segment, ..*ack }
}

fn checksum(ack: &Ack) -> [u8; 2] {
    ack.headers().unwrap()[36..38].try_into().unwrap()
}

/// A compressor and a decompressor.
#[derive(Clone)]
struct Ends {
    compressor: Compressor,
    decompressor: Decompressor,
    octets: Octets,
}

impl Ends {
    fn new(config: RohcConfig) -> Self {
        let (compressor, decompressor) = (Compressor::new(config), Decompressor::new(config));
        Self { compressor, decompressor, octets: Octets::new() }
    }

    /// Returns the octets of `ack`, and its number.
    fn compressed(&mut self, ack: &Ack) -> (u16, Vec<u8>) {
        let msn = self.compressor.compress(ack, &mut self.octets).unwrap();
        (msn, self.octets.to_vec())
    }

    /// Returns the decompressed ACKs.
    fn received(&mut self, octets: &[u8]) -> Result<Vec<Ack>, Error> {
        let mut acks = Vec::new();
        self.decompressor.decompress(octets, |_, ack| acks.push(*ack)).map(|_| acks)
    }

    fn observe(&mut self, ack: &Ack) {
        self.compressor.observe(ack);
        self.decompressor.observe(ack);
    }

    /// Checks that `ack` is restored after compression, and returns its octets.
    fn through(&mut self, ack: &Ack) -> Vec<u8> {
        let octets = self.compressed(ack).1;
        assert_eq!(self.received(&octets), Ok(vec![*ack]));
        octets
    }
}

/// Corrects the CRC of an IR with CID 0.
fn repair(octets: &mut [u8]) {
    octets[2] = 0;
    octets[2] = crc::Crc::Eight.of(octets);
}

fn once() -> RohcConfig {
    RohcConfig { references: 1, ..RohcConfig::standard() }
}

#[test]
fn an_introduction_has_all_of_the_header() {
    let mut ends = Ends::new(once());
    let mut first = ack(0);
    first.ip = Ipv4Fields { identification: 0x0102, ..first.ip };
    let octets = ends.through(&first);
    let check = checksum(&first);
    let static_chain = [0, 6, 10, 128, 0, 1, 10, 0, 0, 1, 0x00, 0x09, 0xc0, 0x00];
    // DF and sequential; no service; TTL 64; IP-ID. Urgent pointer zero; ACK; MSN; sequence and ACK
    // number; window; checksum; no options.
    let dynamic = [0x04, 0x00, 0x40, 1, 2, 0x10, 0x10, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0x01, 0xf5, check[0], check[1], 0];
    assert_eq!(octets[..2], [0xfd, 0x06]);
    assert_eq!(octets[3..17], static_chain);
    assert_eq!(octets[17..], dynamic);

    let mut wrong = octets.clone();
    wrong[20] ^= 1;
    assert!(matches!(ends.received(&wrong), Err(Error::Crc { cid: Cid(0), .. })));
    wrong = octets;
    wrong[1] = 1;
    assert_eq!(ends.received(&wrong), Err(Error::Profile { found: 1 }));
}

#[test]
fn the_second_flow_has_an_add_cid_octet() {
    let mut ends = Ends::new(once());
    ends.through(&ack(0));
    assert_eq!(ends.through(&ack(1))[..3], [0xe1, 0xfd, 0x06]);
    let second = advanced(&ack(1), 2896);
    // rnd_3 behind the Add-CID octet: ACK number 0x0b51, number 1, and the TCP checksum.
    let octets = ends.through(&second);
    assert_eq!((octets[..3].to_vec(), octets[3] >> 3), (vec![0xe1, 0x0b, 0x51], 0b0_0010));
    assert_eq!(octets[4..], checksum(&second));
}

#[test]
fn padding_is_skipped() {
    let mut ends = Ends::new(once());
    let first = ack(0);
    let mut octets = vec![0xe0, 0xe0];
    octets.extend_from_slice(&ends.compressed(&first).1);
    assert_eq!(ends.received(&octets), Ok(vec![first]));
}

#[test]
fn seventeen_flows_over_sixteen_contexts_share_the_last_one() {
    let mut ends = Ends::new(once());
    let mut irs = 0;
    for round in 1..=100 {
        for connection in 0..17 {
            let octets = ends.through(&advanced(&ack(connection), round * 2896));
            irs += usize::from(octets[0] == ir::IR || octets[1] == ir::IR);
        }
    }
    // Each flow's first header is an IR. In each later round, so are those of the two flows that
    // share a CID.
    assert_eq!(irs, 17 + 99 * 2);
}

#[test]
fn flows_that_have_ended_give_their_cids_up() {
    let mut ends = Ends::new(once());
    (0..16).for_each(|connection| {
        ends.through(&ack(connection));
    });
    // Sixteen other flows take turns, and none sends twice before the next one.
    let irs = (1..=100).flat_map(|round| (16..32).map(move |connection| (round, connection)));
    let irs = irs.filter(|&(round, connection)| {
        let octets = ends.through(&advanced(&ack(connection), round * 2896));
        octets[0] == ir::IR || octets[1] == ir::IR
    });
    let last = irs.last().expect("they begin with IRs");
    assert!(last.0 < 10, "the last IR is sent in round {}", last.0);
}

#[test]
fn a_flow_that_takes_over_a_cid_continues_its_numbers() {
    let mut ends = Ends::new(once());
    (0..16).for_each(|connection| {
        ends.through(&ack(connection));
    });
    assert_eq!(ends.compressed(&ack(16)).0, 1, "number 0 of CID 0 is that of flow 0");
    ends.compressor.forget(ack(5).endpoints);
    assert_eq!(ends.compressed(&ack(17)).0, 1, "CID 5, whose flow has ended");
    // Flow 0 evicts flow 16, whose IR has not arrived. The IR of flow 0 is not a duplicate of the
    // first one.
    let octets = ends.compressed(&ack(0)).1;
    assert_eq!(ends.received(&octets), Ok(vec![ack(0)]));
}

#[test]
fn a_constant_stride_takes_two_octets_and_the_checksum() {
    let mut ends = Ends::new(once());
    let mut next = ack(0);
    let sizes: Vec<usize> = (0..8)
        .map(|_| {
            next = advanced(&next, 2896);
            ends.through(&next).len()
        })
        .collect();
    // IR; three ACKs by rnd_3 until the stride is certain; co_common with it; then rnd_4.
    assert_eq!(sizes, [37, 5, 5, 5, 11, 4, 4, 4]);
}

#[test]
fn one_of_ten_is_lost_and_the_others_come_out() {
    let mut ends = Ends::new(RohcConfig::standard());
    let mut next = ack(0);
    for count in 0..200 {
        next = advanced(&next, 2896);
        next.segment.window += 1;
        let octets = ends.compressed(&next).1;
        if count % 10 != 9 {
            assert_eq!(ends.received(&octets), Ok(vec![next]), "{count}");
        }
    }
}

#[test]
fn too_many_lost_are_found_by_the_check_and_mended_by_seven_bits() {
    let mut ends = Ends::new(once());
    let mut next = ack(0);
    ends.through(&next);
    next = advanced(&next, 2896);
    ends.through(&next);
    next.segment.window = 7;
    ends.compressed(&next);
    next = advanced(&next, 2896);
    let octets = ends.compressed(&next).1;
    assert!(
        matches!(ends.received(&octets), Err(Error::Crc { .. } | Error::Checksum { .. })),
        "its window is not known"
    );
    next = advanced(&next, 2896);
    let octets = ends.compressed(&next).1;
    assert_eq!(ends.received(&octets), Err(Error::Damaged(Cid(0))));
    next = advanced(&next, 2896);
    next.segment.window = 0x1f5;
    next.ip.time_to_live = 9;
    let octets = ends.compressed(&next).1;
    assert_eq!(ends.received(&octets), Ok(vec![next]), "co_common, which has all that has changed");
    next = advanced(&next, 2896);
    ends.through(&next);
}

#[test]
fn a_duplicate_packet_is_recognised_by_its_number() {
    let mut ends = Ends::new(once());
    let first = ends.through(&ack(0));
    assert_eq!(ends.received(&first), Ok(vec![]));
    let second = ends.through(&advanced(&ack(0), 1448));
    assert_eq!(ends.received(&second), Ok(vec![]));
}

#[test]
fn ecn_bits_take_an_octet_while_they_change() {
    let mut ends = Ends::new(once());
    let unmarked = ack(0);
    let marked = Ack { segment: Segment { flags: Flags::ACK | Flags::ECE, ..unmarked.segment }, ..unmarked };
    ends.through(&unmarked);
    let octets = ends.through(&marked);
    // co_common with ECN in use; then not-ECT, no reserved bit, ECE; then the checksum.
    assert_eq!((octets.len(), octets[3], octets[5]), (8, 0x46, 0x01));
    let mut sizes = |count: usize, next: &Ack| (0..count).map(|_| ends.through(next).len()).collect::<Vec<_>>();
    // rnd_3 with an octet of ECN bits, until they have cost the ten octets of two changes;
    // co_common without them; then rnd_3.
    assert_eq!(sizes(12, &marked), [6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 5, 5]);
    // Zero bits are omitted immediately.
    assert_eq!(sizes(3, &unmarked), [8, 7, 5]);
    // The next mark arrives too soon after that, so the bits are carried for one header longer.
    assert_eq!((sizes(1, &marked), sizes(4, &unmarked)), (vec![8], vec![6, 6, 7, 5]));
}

#[test]
fn options_go_as_a_list_once_and_as_changes_then() {
    let mut ends = Ends::new(once());
    let mut next = ack(0);
    next.segment.options.timestamps = Some(Timestamps { value: 0x0102_0304, echo: 0x0506_0708 });
    let octets = ends.through(&next);
    // Three items NOP, NOP, timestamps with their flags, in halves of octets.
    assert_eq!(octets[octets.len() - 11..], [0x03, 0x88, 0xc0, 1, 2, 3, 4, 5, 6, 7, 8]);

    next = advanced(&next, 1448);
    next.segment.options.timestamps = Some(Timestamps { value: 0x0102_0305, echo: 0x0506_0708 });
    let octets = ends.through(&next);
    assert_eq!(octets[5..], [0x05, 0xc6, 0x07, 0x08], "seven bits of what went up, twenty-one of what did not");

    let (start, end) = (SeqNumber(next.segment.ack.0 + 1448), SeqNumber(next.segment.ack.0 + 2 * 1448));
    next.segment.options.sack = [SackBlock { start, end }].into_iter().collect();
    let octets = ends.through(&next);
    // co_common without ACK number, six items; SACK in the list, the timestamps behind the
    // checksum.
    let list: &[u8] = &[0x06, 0x88, 0x48, 0x8e, 1, 0x05, 0xa8, 0x05, 0xa8];
    let check = checksum(&next);
    assert_eq!(octets[5..], [list, &check, &[0xc2, 0x03, 0x05, 0xc6, 0x07, 0x08]].concat());

    let octets = ends.through(&next);
    assert_eq!(octets[octets.len() - 1], 0, "SACK as it was");
}

#[test]
fn a_foreign_order_of_options_is_refused() {
    let mut ends = Ends::new(once());
    let mut first = ack(0);
    first.segment.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    let mut octets = ends.compressed(&first).1;
    let list = octets.len() - 10;
    // Timestamps before the two NOPs.
    octets[list..list + 2].copy_from_slice(&[0xc8, 0x80]);
    repair(&mut octets);
    let refused = ends.received(&octets).unwrap_err().to_string();
    assert!(refused.starts_with("layout of options"), "{refused}");
}

#[test]
fn packets_other_than_pure_acks_are_not_compressed() {
    let mut ends = Ends::new(once());
    let with = |change: fn(&mut Segment)| {
        let mut other = ack(0);
        change(&mut other.segment);
        other
    };
    let others = [
        with(|segment| segment.payload = 1),
        with(|segment| segment.flags = Flags::ACK | Flags::FIN),
        with(|segment| segment.flags = Flags::NONE),
        with(|segment| segment.options.mss = Some(1460)),
        with(|segment| segment.options.sack = [SackBlock::default(); 4].into_iter().collect()),
    ];
    for (place, other) in others.iter().enumerate() {
        let crowded = Options { timestamps: Some(Timestamps { value: 1, echo: 1 }), ..other.segment.options };
        let other = Ack { segment: Segment { options: crowded, ..other.segment }, ..*other };
        assert_eq!(ends.compressor.compress(&other, &mut ends.octets), None, "{place}");
        assert!(ends.octets.is_empty());
    }
}
