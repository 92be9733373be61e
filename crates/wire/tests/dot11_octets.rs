//! Frames of 802.11 and radiotap headers, octet by octet.

use acklab_wire::dot11::msdu::{self, MsduError, Subframe};
use acklab_wire::dot11::radiotap::{self, Ampdu, Channel, Eht, He, Header, Ht, Modulation, Vht};
use acklab_wire::dot11::{
    AckPolicy, Beacon, BlockAck, BlockAckRequest, BlockBitmap, Data, DecodeError, DistributionSystem, Frame,
    MacAddress, Qos, Response, Rts, decode, decode_without_fcs, encode,
};

const STATION: MacAddress = MacAddress([0x02, 0, 0, 0, 0, 0x0a]);
const ACCESS_POINT: MacAddress = MacAddress([0x02, 0, 0, 0, 0, 0x01]);

fn data(body: &[u8]) -> Data<'_> {
    Data {
        duration: 44,
        distribution_system: DistributionSystem::To,
        is_retry: false,
        has_more_fragments: false,
        has_more_data: false,
        is_sync: false,
        receiver: ACCESS_POINT,
        transmitter: STATION,
        address_3: ACCESS_POINT,
        sequence: 0x123,
        fragment: 0,
        qos: None,
        body,
    }
}

fn octets_of(frame: &Frame<'_>) -> Vec<u8> {
    let mut octets = vec![1, 2, 3];
    encode(frame, &mut octets);
    octets
}

/// Returns the CRC-32 of IEEE 802.3, bit by bit as in its 3.2.9.
fn fcs(octets: &[u8]) -> [u8; 4] {
    let mut register = u32::MAX;
    for octet in octets {
        register ^= u32::from(*octet);
        for _ in 0..8 {
            register = register >> 1 ^ if register & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    (!register).to_le_bytes()
}

/// Checks that the frame encodes to these octets and their FCS, and decodes from them. The octets
/// are hexadecimal, in the order of the standard's figures.
#[track_caller]
fn is(frame: &Frame<'_>, hexadecimal: &str) {
    let mut expected: Vec<u8> =
        hexadecimal.split_whitespace().map(|octet| u8::from_str_radix(octet, 16).unwrap()).collect();
    expected.extend_from_slice(&fcs(&expected));
    assert_eq!(octets_of(frame), expected);
    assert_eq!(decode(&expected), Ok(*frame));
}

#[test]
fn the_check_sequence_is_that_of_the_standard() {
    // The check value of this CRC: that of the digits 1 to 9.
    assert_eq!(fcs(b"123456789"), 0xcbf4_3926_u32.to_le_bytes());
}

#[test]
fn control_frames_look_as_in_9_3_1() {
    is(
        &Frame::Rts(Rts { duration: 0x0102, receiver: ACCESS_POINT, transmitter: STATION }),
        "b4 00  02 01  02 00 00 00 00 01  02 00 00 00 00 0a",
    );
    is(&Frame::Cts(Response { duration: 44, receiver: STATION }), "c4 00  2c 00  02 00 00 00 00 0a");
    is(&Frame::Ack(Response { duration: 0, receiver: STATION }), "d4 00  00 00  02 00 00 00 00 0a");
}

#[test]
fn block_acks_look_as_in_9_3_1_7_and_9_3_1_8() {
    let request = BlockAckRequest { duration: 32, receiver: ACCESS_POINT, transmitter: STATION, tid: 5, start: 0xabc };
    is(&Frame::BlockAckRequest(request), "84 00  20 00  02 00 00 00 00 01  02 00 00 00 00 0a  04 50  c0 ab");
    let block_ack = BlockAck {
        duration: 0,
        receiver: STATION,
        transmitter: ACCESS_POINT,
        tid: 0,
        start: 4095,
        bitmap: BlockBitmap::Of64(0x8000_0000_0000_0105),
    };
    is(
        &Frame::BlockAck(block_ack),
        "94 00  00 00  02 00 00 00 00 0a  02 00 00 00 00 01  04 00  f0 ff  05 01 00 00 00 00 00 80",
    );
    let wide = BlockAck { bitmap: BlockBitmap::Of256([1, 2, 3, 1 << 63]), ..block_ack };
    is(
        &Frame::BlockAck(wide),
        "94 00  00 00  02 00 00 00 00 0a  02 00 00 00 00 01  04 00  f4 ff \
         01 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00  03 00 00 00 00 00 00 00  00 00 00 00 00 00 00 80",
    );
    let sizes = [Frame::BlockAckRequest(request), Frame::BlockAck(block_ack), Frame::BlockAck(wide)];
    assert_eq!(sizes.map(|frame| octets_of(&frame).len()), [24, 32, 56]);
    // 64 and 128 octets between EHT stations; the Fragment Number is 8 and 10.
    let mut words = [0; 16];
    (words[0], words[7], words[15]) = (1, 2, 1 << 63);
    let of_1024 = octets_of(&Frame::BlockAck(BlockAck { bitmap: BlockBitmap::Of1024(words), ..block_ack }));
    let of_512 = BlockAck { bitmap: BlockBitmap::holding(&words[..8]), ..block_ack };
    let of_512 = octets_of(&Frame::BlockAck(of_512));
    assert_eq!((of_512.len(), of_1024.len()), (88, 152));
    assert_eq!((of_512[18], of_1024[18], of_1024[19]), (0xf8, 0xfa, 0xff));
    assert_eq!((of_1024[20], of_1024[76], of_1024[147]), (1, 2, 0x80), "the first octet and the last of the bitmap");
    for octets in [of_512, of_1024] {
        let Ok(Frame::BlockAck(decoded)) = decode(&octets) else { panic!("no Block ACK: {octets:?}") };
        assert_eq!(decoded.bitmap.words()[..8], words[..8]);
    }
    assert_eq!(BlockBitmap::holding(&[7]), BlockBitmap::Of64(7));
    assert_eq!(BlockBitmap::holding(&[7, 8]), BlockBitmap::Of256([7, 8, 0, 0]));
}

#[test]
fn data_looks_as_in_9_3_2_1() {
    is(
        &Frame::Data(data(&[0xde, 0xad])),
        "08 01  2c 00  02 00 00 00 00 01  02 00 00 00 00 0a  02 00 00 00 00 01  30 12  de ad",
    );
    let down = Data {
        distribution_system: DistributionSystem::From,
        is_retry: true,
        has_more_data: true,
        is_sync: true,
        receiver: STATION,
        transmitter: ACCESS_POINT,
        qos: Some(Qos { tid: 6, ack_policy: AckPolicy::Normal, is_amsdu: false }),
        ..data(&[0xde, 0xad])
    };
    is(
        &Frame::Data(down),
        "88 2a  2c 00  02 00 00 00 00 0a  02 00 00 00 00 01  02 00 00 00 00 01  30 12  16 00  de ad",
    );
    let other = Data {
        distribution_system: DistributionSystem::Apart,
        has_more_fragments: true,
        fragment: 3,
        qos: Some(Qos { tid: 0, ack_policy: AckPolicy::Block, is_amsdu: true }),
        ..data(&[])
    };
    is(&Frame::Data(other), "88 04  2c 00  02 00 00 00 00 01  02 00 00 00 00 0a  02 00 00 00 00 01  33 12  e0 00");
    let between = Data {
        distribution_system: DistributionSystem::Between { address_4: STATION },
        qos: Some(Qos { tid: 1, ack_policy: AckPolicy::Normal, is_amsdu: false }),
        ..data(&[0xde, 0xad])
    };
    is(
        &Frame::Data(between),
        "88 03  2c 00  02 00 00 00 00 01  02 00 00 00 00 0a  02 00 00 00 00 01  30 12  02 00 00 00 00 0a  01 00  de ad",
    );
}

#[test]
fn a_beacon_looks_as_in_9_3_3_2() {
    let beacon = Beacon {
        transmitter: ACCESS_POINT,
        sequence: 0x456,
        timestamp: 0x0102_0304,
        interval: 100,
        capabilities: 0x0401,
        elements: &[0, 1, b'a'],
    };
    is(
        &Frame::Beacon(beacon),
        "80 00  00 00  ff ff ff ff ff ff  02 00 00 00 00 01  02 00 00 00 00 01  60 45 \
         04 03 02 01 00 00 00 00  64 00  01 04  00 01 61",
    );
}

#[test]
fn an_msdu_begins_with_llc_and_snap() {
    let mut octets = Vec::new();
    msdu::append(msdu::IPV4, &[0x45], &mut octets);
    assert_eq!(octets, [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00, 0x45]);
    assert_eq!(msdu::packet(&octets), Ok((msdu::IPV4, &[0x45][..])));
    assert_eq!(msdu::packet(&octets[..7]), Err(MsduError::NoSnap));
    assert_eq!(msdu::packet(&[0xaa; 8]), Err(MsduError::NoSnap));
}

#[test]
fn all_but_the_last_subframe_are_padded() {
    let subframe = |msdu| Subframe { destination: ACCESS_POINT, source: STATION, msdu };
    let mut octets = Vec::new();
    subframe(&[1, 2, 3]).append(&mut octets);
    subframe(&[4]).append(&mut octets);
    let header = |len| [2, 0, 0, 0, 0, 0x01, 2, 0, 0, 0, 0, 0x0a, 0, len];
    assert_eq!(octets, [&header(3)[..], &[1, 2, 3, 0, 0, 0], &header(1), &[4]].concat());
    let read: Result<Vec<Subframe<'_>>, MsduError> = msdu::subframes(&octets).collect();
    assert_eq!(read, Ok(vec![subframe(&[1, 2, 3]), subframe(&[4])]));
    let cut: Vec<_> = msdu::subframes(&octets[..octets.len() - 1]).collect();
    assert_eq!(cut, [Ok(subframe(&[1, 2, 3])), Err(MsduError::Cut { missing: 1 })]);
}

#[test]
fn other_frames_are_refused() {
    let whole = octets_of(&Frame::Data(data(&[1, 2, 3])));
    let mut damaged = whole.clone();
    damaged[24] ^= 1;
    assert_eq!(decode(&damaged), Err(DecodeError::Fcs));
    assert_eq!(decode(&whole[..2]), Err(DecodeError::Cut { missing: 2 }));
    assert_eq!(decode_without_fcs(&whole[..20]), Err(DecodeError::Cut { missing: 2 }));

    let changed = |place: usize, octet: u8, octets: &[u8]| {
        let mut octets = octets[..octets.len() - 4].to_vec();
        octets[place] = octet;
        decode_without_fcs(&octets).map(|_| ())
    };
    assert_eq!(changed(0, 0x40, &whole), Err(DecodeError::Kind(0x40)), "a probe request");
    assert_eq!(changed(0, 0x09, &whole), Err(DecodeError::Kind(0x09)), "version 1");
    assert_eq!(changed(1, 0x41, &whole), Err(DecodeError::Protected));
    let block_ack = BlockAck {
        duration: 0,
        receiver: STATION,
        transmitter: ACCESS_POINT,
        tid: 0,
        start: 0,
        bitmap: BlockBitmap::Of64(0),
    };
    let octets = octets_of(&Frame::BlockAck(block_ack));
    assert_eq!(changed(16, 0x06, &octets), Err(DecodeError::BlockAckType(3)));
    assert_eq!(changed(18, 0x02, &octets), Err(DecodeError::BitmapSize(2)));
}

#[test]
fn the_ht_control_field_is_passed_over() {
    let with_qos = Data { qos: Some(Qos { tid: 1, ack_policy: AckPolicy::None, is_amsdu: false }), ..data(&[7, 8]) };
    let mut octets = octets_of(&Frame::Data(with_qos));
    octets.truncate(octets.len() - 4);
    octets[1] |= 0x80;
    octets.splice(26..26, [0; 4]);
    assert_eq!(decode_without_fcs(&octets), Ok(Frame::Data(with_qos)));
}

fn hexadecimal(header: &Header) -> String {
    let mut octets = Vec::new();
    radiotap::append(header, &mut octets);
    assert_eq!(radiotap::decode(&octets), Ok((*header, &[][..])));
    octets.iter().map(|octet| format!("{octet:02x}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn radiotap_fields_are_aligned() {
    let channel = Some(Channel { frequency: 2412, flags: Channel::GHZ_2 | Channel::CCK });
    let legacy = Header {
        tsft: Some(0x0102),
        has_short_preamble: true,
        has_fcs: true,
        is_damaged: true,
        channel,
        signal: Some(-50),
        noise: Some(-94),
        modulation: Some(Modulation::Legacy(22)),
        ..Header::default()
    };
    // Version, padding, length, presence of bits 0, 1, 2, 3, 5, 6; TSFT; flags, rate, channel;
    // signal, noise.
    let expected = "00 00 18 00 6f 00 00 00 02 01 00 00 00 00 00 00 52 16 6c 09 a0 00 ce a2";
    assert_eq!(hexadecimal(&legacy), expected);

    let ampdu = Some(Ampdu { reference: 7, is_last: Some(true), is_single: Some(false) });
    let ht = Ht { mcs: 15, width: Some(40), guard: Some(400), is_ldpc: Some(false), stbc: Some(0), extension: Some(0) };
    let ht = Header { has_fcs: true, modulation: Some(Modulation::Ht(ht)), ampdu, ..Header::default() };
    // Flags at 8, MCS from 9, A-MPDU status from 12.
    assert_eq!(hexadecimal(&ht), "00 00 14 00 02 00 18 00 10 7f 05 0f 07 00 00 00 8c 00 00 00");

    let vht = Vht { mcs: 9, streams: 2, width: Some(80), guard: Some(800), is_ldpc: false, is_stbc: None };
    let vht = Header { has_fcs: true, modulation: Some(Modulation::Vht(vht)), end: Some(5_000), ..Header::default() };
    // Flags at 8, VHT from 10, timestamp from 24.
    let expected = "00 00 24 00 02 00 60 00 10 00 44 00 00 04 92 00 00 00 00 00 00 00 \
                    00 00 88 13 00 00 00 00 00 00 00 00 22 00";
    assert_eq!(hexadecimal(&vht), expected);

    let he = He {
        mcs: 11,
        streams: 1,
        width: Some(160),
        guard: Some(3200),
        training: Some(4),
        is_ldpc: Some(true),
        is_stbc: Some(false),
    };
    let he = Header { has_fcs: true, modulation: Some(Modulation::He(he)), ..Header::default() };
    // data1 to data6 from 10.
    assert_eq!(hexadecimal(&he), "00 00 16 00 02 00 80 00 10 00 a0 42 02 00 00 2b 00 00 e3 00 01 00");

    let eht = Eht { mcs: 13, streams: 2, width: Some(320), guard: Some(1600), training: Some(2), is_ldpc: Some(true) };
    let eht = Header { has_fcs: true, modulation: Some(Modulation::Eht(eht)), ..Header::default() };
    // A list of items from 12 on: U-SIG of 12 octets, which announces a single user at 320 MHz, and
    // EHT of 44 octets. Its fields are zero except the known fields, guard interval and training,
    // and the user.
    let expected = "00 00 4c 00 02 00 00 10 10 00 00 00 \
                    21 00 0c 00 03 00 02 00 40 00 00 00 c0 00 00 00 \
                    22 00 2c 00 0c 00 00 00 80 04 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 \
                    00 00 00 00 00 00 00 00 00 00 00 00 96 00 d8 01";
    assert_eq!(hexadecimal(&eht), expected);
}

#[test]
fn radiotap_of_others_is_read_around_what_is_not_known_here() {
    // As written by a Linux driver: two presence words (antenna 0 has its own signal), TSFT, flags,
    // rate, channel, signal, antenna.
    let octets = [
        &[0, 0, 35, 0][..],
        &[0x2f, 0x40, 0, 0xa0],
        &[0x20, 0x08, 0, 0],
        &[0; 4],
        &[9, 0, 0, 0, 0, 0, 0, 0],
        &[0x10, 12, 0x3c, 0x14, 0x40, 0x01, 0xd0, 0, 0, 0, 0xcf],
        &[0xb4, 0x00],
    ]
    .concat();
    let (header, frame) = radiotap::decode(&octets).unwrap();
    assert_eq!((header.tsft, header.modulation, header.signal), (Some(9), Some(Modulation::Legacy(12)), Some(-48)));
    assert_eq!(header.channel.map(|channel| channel.frequency), Some(5180));
    assert_eq!(frame, [0xb4, 0x00]);
    assert_eq!(radiotap::decode(&octets[..30]), Err(radiotap::DecodeError::Cut { missing: 5 }));
    assert_eq!(radiotap::decode(&[1, 0, 8, 0]), Err(radiotap::DecodeError::Version(1)));
}

#[test]
fn items_of_radiotap_that_are_not_known_here_are_skipped() {
    // Octets that an item omits are zero: EHT without any user has no rate.
    let octets = [
        &[0, 0, 32, 0, 0, 0, 0, 0x10][..],
        &[27, 0, 5, 0, 1, 2, 3, 4, 5, 0, 0, 0],
        &[34, 0, 2, 0, 0xff, 0xff, 0, 0],
        &[28, 0, 0, 0],
    ]
    .concat();
    assert_eq!(radiotap::decode(&octets), Ok((Header::default(), &[][..])));
    assert_eq!(
        radiotap::decode(&[0, 0, 14, 0, 0, 0, 0, 0x10, 34, 0, 9, 0, 0, 0]),
        Err(radiotap::DecodeError::Cut { missing: 7 })
    );
}
