//! Tests that the Wireshark dissector names each field of each type of frame.

use crate::common::tshark::tshark_with_dissector;
use acklab_base::Ecn;
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::tack::{
    ConnectionId, Crypto, EcnCounts, Extension, Frame, Loss, Packet, Parameters, PktSeq, Run, Stream, Sync, Tack,
    Timestamp,
};
use acklab_wire::{Endpoints, Pdu};
use std::path::Path;

/// Returns a capture of IPv4 packets without a link layer (LINKTYPE_RAW), in the format of libpcap.
fn pcap(packets: &[Vec<u8>]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    // Magic number, version 2.4, time zone, accuracy, longest packet, link type.
    let mut file = words(&[0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, 101]);
    for packet in packets {
        let length = packet.len() as u32;
        file.extend(words(&[0, 0, length, length]));
        file.extend(packet);
    }
    file
}

/// Names of fields without the prefix of the protocol, with their values as tshark prints them.
type Fields = Vec<(&'static str, &'static str)>;

/// Returns a frame of each type, the name of the type, and the fields that the dissector shows.
fn frames() -> Vec<(Frame, &'static str, Fields)> {
    let offered =
        Parameters { window: 70_000, streams: 100, payload: 1472, idle: 30_000, others: vec![(9, vec![1, 2])] };
    let parameters = || Box::new(offered.clone());
    let stream = |is_end| Frame::Stream(Stream { id: 6, offset: 5000, length: 9, is_end });
    let tack = Tack {
        next: PktSeq(2),
        acked: vec![Run { skip: 2, length: 3 }, Run { skip: 3, length: 1 }],
        lost: vec![Run { skip: 0, length: 2 }, Run { skip: 3, length: 3 }],
        unlisted: 11,
        late: 12,
        echo: Timestamp(13),
        delay: 1000,
        delivered: 3000,
        interval: 20_000,
    };
    vec![
        (Frame::Padding(3), "0x00", vec![]),
        (Frame::Ping, "0x01", vec![]),
        (stream(false), "0x02", vec![("stream", "6"), ("offset", "5000"), ("length", "9"), ("end", "0")]),
        (stream(true), "0x03", vec![("stream", "6"), ("offset", "5000"), ("length", "9"), ("end", "1")]),
        (
            Frame::Tack(Box::new(tack)),
            "0x04",
            vec![
                ("next", "2"),
                ("acked", "4–6, 10"),
                ("lost", "2–3, 7–9"),
                ("unlisted", "11"),
                ("late", "12"),
                ("echo", "13"),
                ("delay", "1000"),
                ("delivered", "3000"),
                ("interval", "20000"),
                ("rate", "1.2"),
            ],
        ),
        (
            Frame::Loss(Loss { after: PktSeq(5), before: PktSeq(9), arrived: 2 }),
            "0x05",
            vec![("loss.after", "5"), ("loss.before", "9"), ("loss.arrived", "2")],
        ),
        (Frame::Window { stream: 4, limit: 80_000 }, "0x06", vec![("stream", "4"), ("limit", "80000")]),
        (Frame::Blocked { stream: 4 }, "0x07", vec![("stream", "4")]),
        (
            Frame::Sync(Sync { rtt_min: 40_000, ack_loss: 655, packets: 2, beta: 4 }),
            "0x08",
            vec![("rtt_min", "40000"), ("ack_loss", "655"), ("l", "2"), ("beta", "4")],
        ),
        (Frame::Forget { below: PktSeq(77) }, "0x09", vec![("below", "77")]),
        (
            Frame::Reset { stream: 4, size: 900, code: 300 },
            "0x0a",
            vec![("stream", "4"), ("size", "900"), ("code", "300")],
        ),
        (Frame::Close { code: 70_000 }, "0x0b", vec![("code", "70000")]),
        (
            Frame::Open { source: ConnectionId(0xabc), parameters: parameters() },
            "0x0c",
            vec![
                ("source", "0x0000000000000abc"),
                ("window", "70000"),
                ("streams", "100"),
                ("payload", "1472"),
                ("idle", "30000"),
            ],
        ),
        (
            Frame::Accept { source: ConnectionId(0xabc), parameters: parameters(), echo: Timestamp(8), delay: 250 },
            "0x0d",
            vec![("source", "0x0000000000000abc"), ("streams", "100"), ("echo", "8"), ("delay", "250")],
        ),
        (Frame::EcnCounts(EcnCounts { ect0: 90, ce: 7 }), "0x0e", vec![("ecn.ect0", "90"), ("ecn.ce", "7")]),
        (Frame::Streams { limit: 150 }, "0x0f", vec![("streams", "150")]),
        (Frame::Crypto(Crypto { offset: 1000, length: 300 }), "0x10", vec![("offset", "1000"), ("length", "300")]),
        (Frame::Token([1, 2, 3].into()), "0x11", vec![("token", "010203")]),
        (Frame::Challenge(0xabc), "0x12", vec![("challenge", "0x0000000000000abc")]),
        (Frame::Response(0xabd), "0x13", vec![("challenge", "0x0000000000000abd")]),
        (Frame::Stop { stream: 4, code: 300 }, "0x14", vec![("stream", "4"), ("code", "300")]),
        (
            Frame::Extension(Box::new(Extension { kind: 0x7f, octets: vec![1, 2, 3] })),
            "0x7f",
            vec![("extension", "010203")],
        ),
        (Frame::Versions([1, 5].into()), "", vec![("versions", "0105")]),
    ]
}

#[test]
fn each_field_of_each_frame_is_named() {
    let packet = |frame: &Frame| {
        let frames = std::iter::once(frame.clone()).collect();
        // An answer to an unknown version belongs to no connection.
        let connection = ConnectionId(if matches!(frame, Frame::Versions(_)) { 0 } else { 7 });
        let ecn = Ecn::NotEct;
        let packet = Packet { ecn, connection, number: PktSeq(1), departed: Timestamp(2), frames };
        let mut octets = Vec::new();
        packet.encode(Endpoints::of_connection(0), Ipv4Fields::default(), Extent::Whole, &mut octets).unwrap();
        octets
    };
    let frames = frames();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tack_frames.pcap");
    std::fs::write(&path, pcap(&frames.iter().map(|(frame, _, _)| packet(frame)).collect::<Vec<_>>())).unwrap();
    let read = |filter: &str, fields: &[&str]| tshark_with_dissector(&path, "tack.lua", filter, fields);
    let Some(malformed) = read("_ws.malformed or _ws.lua.error or not tack", &["frame.number"]) else { return };
    assert_eq!(malformed, [""; 0]);
    let mut fields = vec!["tack.frame".to_owned()];
    fields.extend(
        frames
            .iter()
            .flat_map(|(_, _, fields_of_frame)| fields_of_frame.iter().map(|(field, _)| format!("tack.{field}"))),
    );
    fields.sort();
    fields.dedup();
    let rows = read("tack", &fields.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    assert_eq!(rows.len(), frames.len());
    for ((frame, kind, fields_of_frame), row) in frames.iter().zip(&rows) {
        // tshark omits empty fields at the end of a row.
        for (field, found) in fields.iter().zip(row.split('\t').chain(std::iter::repeat(""))) {
            let expected = match field.strip_prefix("tack.").unwrap() {
                "frame" => Some(*kind),
                field => fields_of_frame.iter().find_map(|(name, value)| (*name == field).then_some(*value)),
            };
            // Fields that are not listed above may be present or not.
            assert!(expected.is_none_or(|expected| found == expected), "{field} of {frame:?}: {found:?}");
        }
    }
}
