use super::*;
use acklab_base::NodeId;

const SECOND: u64 = 1_000_000_000;

/// Returns an IPv4 fragment of the datagram `identification`, with octets that count up from
/// `start`.
fn v4(identification: u8, start: usize, length: usize, has_more: bool) -> Vec<u8> {
    let [high, low] = ((start / 8) as u16 | if has_more { 0x2000 } else { 0 }).to_be_bytes();
    let [long, short] = ((20 + length) as u16).to_be_bytes();
    let mut octets = vec![0x45, 0, long, short, 0, identification, high, low, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    octets.extend((start..start + length).map(|place| place as u8));
    octets
}

/// Returns the same fragment of IPv6, behind a hop-by-hop header.
fn v6(start: usize, length: usize, has_more: bool) -> Vec<u8> {
    let mut octets = vec![0; 40];
    octets[0] = 0x60;
    octets[4..6].copy_from_slice(&((16 + length) as u16).to_be_bytes());
    octets.extend([44, 0, 0, 0, 0, 0, 0, 0]);
    octets.extend([6, 0]);
    octets.extend((start as u16 | u16::from(has_more)).to_be_bytes());
    octets.extend([0, 0, 0, 7]);
    octets.extend((start..start + length).map(|place| place as u8));
    octets
}

#[derive(Default)]
struct Reassembly {
    fragments: Fragments,
    unopened: Unopened,
}

impl Reassembly {
    fn accept(&mut self, at: u64, octets: &[u8]) -> Option<(Vec<u8>, usize)> {
        self.accept_cut(at, octets, octets.len())
    }

    /// Adds a fragment of which `present` octets were captured.
    fn accept_cut(&mut self, at: u64, octets: &[u8], present: usize) -> Option<(Vec<u8>, usize)> {
        let frame = Frame::new(&octets[..present], octets.len());
        let head = octets[..present.min(HEADERS)].to_vec();
        let packet = IpPacket::parse(head, |_| NodeId::NOWHERE).unwrap();
        assert_eq!(packet.protocol(), None, "a fragment");
        self.fragments.accept(at, &packet, frame, &mut self.unopened)
    }
}

#[test]
fn a_datagram_is_complete_with_its_last_missing_fragment() {
    let fragments = [v4(1, 0, 24, true), v4(1, 24, 16, true), v4(1, 40, 5, false)];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.accept(0, &fragments[order[0]]), None);
        assert_eq!(reassembly.accept(1, &fragments[order[1]]), None);
        let (packet, length) = reassembly.accept(2, &fragments[order[2]]).unwrap();
        assert_eq!(length, 65);
        assert_eq!(packet[2..8], [0, 65, 0, 1, 0, 0], "the length of the whole, and no fragment");
        assert_eq!(packet[20..], (0..45).collect::<Vec<u8>>());
        assert_eq!(reassembly.fragments.pending(), 0);
    }
}

#[test]
fn a_reassembled_packet_of_ipv6_has_no_fragment_header() {
    let mut reassembly = Reassembly::default();
    assert_eq!(reassembly.accept(0, &v6(0, 32, true)), None);
    let (packet, length) = reassembly.accept(1, &v6(32, 9, false)).unwrap();
    assert_eq!(length, 40 + 8 + 41);
    let packet = IpPacket::parse(packet, |_| NodeId::NOWHERE).unwrap();
    assert_eq!((packet.protocol(), packet.headers()), (Some(6), 48));
    assert_eq!(packet.octets()[48..], (0..41).collect::<Vec<u8>>());

    // Without another extension, the IPv6 header itself announces the next one.
    let plain = |mut octets: Vec<u8>| {
        octets[5] -= 8;
        octets[6] = 44;
        octets.drain(40..48);
        octets
    };
    assert_eq!(reassembly.accept(0, &plain(v6(0, 32, true))), None);
    let (packet, _) = reassembly.accept(1, &plain(v6(32, 9, false))).unwrap();
    let packet = IpPacket::parse(packet, |_| NodeId::NOWHERE).unwrap();
    assert_eq!((packet.protocol(), packet.headers()), (Some(6), 40));
}

#[test]
fn identifications_distinguish_datagrams() {
    let mut reassembly = Reassembly::default();
    assert_eq!(reassembly.accept(0, &v4(1, 0, 24, true)), None);
    assert_eq!(reassembly.accept(0, &v4(2, 24, 16, false)), None);
    assert!(reassembly.accept(0, &v4(1, 24, 16, false)).is_some());
    assert_eq!(reassembly.fragments.pending(), 1);
}

#[test]
fn octets_that_arrive_last_replace_others_in_ipv4() {
    let mut reassembly = Reassembly::default();
    let mut late = v4(1, 8, 24, true);
    late[20..].fill(0xee);
    assert_eq!(reassembly.accept(0, &v4(1, 0, 24, true)), None);
    assert_eq!(reassembly.accept(0, &late), None);
    let (packet, length) = reassembly.accept(0, &v4(1, 32, 8, false)).unwrap();
    assert_eq!(length, 60);
    assert_eq!(packet[20..28], [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(packet[28..52], [0xee; 24]);
}

#[test]
fn an_overlap_discards_a_datagram_of_ipv6_and_what_follows() {
    let mut reassembly = Reassembly::default();
    assert_eq!(reassembly.accept(0, &v6(0, 32, true)), None);
    assert_eq!(reassembly.accept(0, &v6(24, 16, true)), None);
    assert_eq!(reassembly.accept(0, &v6(0, 32, true)), None);
    assert_eq!(reassembly.accept(0, &v6(32, 8, false)), None);
    assert_eq!(reassembly.fragments.pending(), 4);
}

#[test]
fn a_fragment_that_comes_twice_is_no_overlap() {
    let mut reassembly = Reassembly::default();
    assert_eq!(reassembly.accept(0, &v6(0, 32, true)), None);
    assert_eq!(reassembly.accept(0, &v6(0, 32, true)), None);
    assert!(reassembly.accept(0, &v6(32, 8, false)).is_some());
}

#[test]
fn fragments_wait_for_60_seconds() {
    let mut reassembly = Reassembly::default();
    assert_eq!(reassembly.accept(0, &v4(1, 0, 24, true)), None);
    assert!(reassembly.accept(60 * SECOND, &v4(1, 24, 8, false)).is_some());
    assert_eq!(reassembly.accept(0, &v4(1, 0, 24, true)), None);
    assert_eq!(reassembly.accept(61 * SECOND, &v4(1, 24, 8, false)), None);
    assert_eq!(reassembly.unopened.closed["incomplete IP fragments"], 1);
    assert_eq!(reassembly.fragments.pending(), 1);
}

#[test]
fn only_what_was_captured_of_the_first_fragment_is_present() {
    let mut reassembly = Reassembly::default();
    // 33 octets of payload are present, and four whole units of them are stored.
    assert_eq!(reassembly.accept_cut(0, &v4(1, 0, 1480, true), 53), None);
    let (packet, length) = reassembly.accept_cut(0, &v4(1, 1480, 100, false), 53).unwrap();
    assert_eq!((packet.len(), length), (52, 1600));
}

#[test]
fn tiny_fragments_hold_a_header_together() {
    let mut reassembly = Reassembly::default();
    for start in (0..40).step_by(8) {
        assert_eq!(reassembly.accept(0, &v4(1, start, 8, true)), None);
    }
    let (packet, length) = reassembly.accept(0, &v4(1, 40, 3, false)).unwrap();
    assert_eq!(length, 63);
    assert_eq!(packet[20..], (0..43).collect::<Vec<u8>>());
}

#[test]
fn what_no_fragment_can_be_is_damaged() {
    let mut reassembly = Reassembly::default();
    assert_eq!(reassembly.accept(0, &v4(1, 0, 9, true)), None);
    assert_eq!(reassembly.unopened.damaged, [(NAME, 1)].into());
    assert_eq!(reassembly.fragments.pending(), 0);
}

#[test]
fn a_datagram_beyond_65535_octets_is_damaged() {
    // A header of 20 octets leaves room for 65,515.
    for (last, is_whole) in [(19, true), (20, false)] {
        let mut reassembly = Reassembly::default();
        for start in (0..65_496).step_by(1310 * 8) {
            let length = (65_496 - start).min(1310 * 8);
            assert_eq!(reassembly.accept(0, &v4(1, start, length, true)), None);
        }
        let whole = reassembly.accept(0, &v4(1, 65_496, last, false));
        assert_eq!(whole.is_some(), is_whole, "{last}");
        assert_eq!(reassembly.unopened.damaged.is_empty(), is_whole);
    }
}

#[test]
fn the_number_of_datagrams_and_fragments_is_bounded() {
    let mut reassembly = Reassembly::default();
    for identification in 0..=255 {
        assert_eq!(reassembly.accept(identification.into(), &v4(identification, 0, 24, true)), None);
    }
    let mut other = v4(0, 0, 24, true);
    other[9] = 17;
    assert_eq!(reassembly.accept(1000, &other), None);
    assert_eq!(reassembly.fragments.datagrams.len(), MAX_DATAGRAMS);
    assert_eq!(reassembly.unopened.closed["incomplete IP fragments"], 1);

    let mut reassembly = Reassembly::default();
    for place in 0..=MAX_FRAGMENTS {
        assert_eq!(reassembly.accept(0, &v4(1, place * 16, 8, true)), None);
    }
    let datagram = reassembly.fragments.datagrams.values().next().unwrap();
    assert!(datagram.is_discarded && datagram.ranges.is_empty());
}
