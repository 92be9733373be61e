//! Captures as tshark and a pcapng reader decode them.

use crate::common::packets::packet;
use crate::common::tshark::{frames, tshark};
use acklab_base::{Duration, Ecn, Instant};
use acklab_lab::Packet;
use acklab_measure::capture::{Capture, Error};
use acklab_wire::ipv4::Extent;
use acklab_wire::tcp::{Flags, Options, SackBlock, Segment, SeqNumber, Timestamps};
use acklab_wire::udp::UserDatagram;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionOption, InterfaceTsResolution};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::blocks::section_header::SectionHeaderOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use std::fs::File;
use std::path::{Path, PathBuf};

const DELAY: Duration = Duration::from_nanos(7_500_001);
const MSS: u64 = 1448;

/// A packet of a conversation: its sender, its time, and whether it arrives.
struct Sent {
    leaves: Instant,
    is_from_client: bool,
    segment: Segment,
    lost: bool,
}

/// Returns a conversation: a handshake, five segments of which the second is lost, its
/// retransmission, and the end of both directions.
fn conversation() -> Vec<Sent> {
    let client = |offset: u64| SeqNumber::at(SeqNumber(u32::MAX - 2000), offset);
    let server = |offset: u64| SeqNumber::at(SeqNumber(7_000_000), offset);
    let timestamps = |at: Instant| Timestamps { value: (at.as_nanos() / 1_000_000) as u32, echo: 0 };
    let segment = |at, seq, ack, flags, payload| Segment {
        // Data packets are ECN-capable, and one segment is marked.
        ecn: if payload == 0 { Ecn::NotEct } else { Ecn::Ect0 },
        seq,
        ack,
        flags,
        window: 512,
        options: Options { timestamps: Some(timestamps(at)), ..Options::default() },
        payload,
    };
    let syn = |mut segment: Segment| {
        segment.window = 65535;
        segment.options.mss = Some(1460);
        segment.options.window_scale = Some(7);
        segment.options.sack_permitted = true;
        segment
    };

    let mut packets = Vec::new();
    let mut send = |leaves, is_from_client, segment, lost| packets.push(Sent { leaves, is_from_client, segment, lost });
    let start = Instant::ZERO;
    send(start, true, syn(segment(start, client(0), SeqNumber(0), Flags::SYN, 0)), false);
    let answer = start + DELAY;
    send(answer, false, syn(segment(answer, server(0), client(1), Flags::SYN | Flags::ACK, 0)), false);
    let open = answer + DELAY;
    send(open, true, segment(open, client(1), server(1), Flags::ACK, 0), false);

    let octet = |number: u64| 1 + number * MSS;
    let (from_client, from_server) = (
        |at, number, payload, flags| segment(at, client(octet(number)), server(1), flags, payload),
        |at, number| segment(at, server(1), client(octet(number)), Flags::ACK, 0),
    );
    let mut last_ack_arrives = open;
    for number in 0..5 {
        let leaves = open + Duration::from_nanos(726_000 * number + 1);
        let lost = number == 1;
        send(leaves, true, from_client(leaves, number, MSS as u32, Flags::ACK), lost);
        if !lost {
            let mut ack = from_server(leaves + DELAY, 1);
            if number > 1 {
                let block = SackBlock { start: client(octet(2)), end: client(octet(number + 1)) };
                ack.options.sack = [block].into_iter().collect();
            }
            send(leaves + DELAY, false, ack, false);
            last_ack_arrives = leaves + DELAY + DELAY;
        }
    }
    let again = last_ack_arrives;
    send(again, true, from_client(again, 1, MSS as u32, Flags::ACK), false);
    send(again + DELAY, false, from_server(again + DELAY, 5), false);

    let end = again + DELAY + DELAY;
    send(end, true, from_client(end, 5, 0, Flags::FIN | Flags::ACK), false);
    let (seq, ack) = (server(1), client(octet(5) + 1));
    let answer = end + DELAY;
    send(answer, false, segment(answer, seq, ack, Flags::FIN | Flags::ACK, 0), false);
    let closed = answer + DELAY;
    send(closed, true, segment(closed, ack, server(2), Flags::ACK, 0), false);
    packets
}

/// Returns a capture of the conversation in a file called `name`, taken at the sender of data
/// (`at_sender`) or at its receiver.
fn capture(name: &str, at_sender: bool, extent: Extent) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut seen: Vec<(Instant, Packet)> = conversation()
        .iter()
        .filter(|sent| sent.is_from_client == at_sender || !sent.lost)
        .map(|sent| {
            let is_own = sent.is_from_client == at_sender;
            let at = if is_own { sent.leaves } else { sent.leaves + DELAY };
            (at, packet(sent.segment, sent.is_from_client, at))
        })
        .collect();
    seen.sort_by_key(|(at, _)| *at);
    let point = if at_sender { "src_0" } else { "dst_0" };
    let mut capture = Capture::create(&path, point, Some("A conversation"), extent).unwrap();
    for (at, packet) in seen {
        capture.record(at, &packet).unwrap();
    }
    capture.finish().unwrap();
    path
}

#[test]
fn tshark_sees_what_the_sender_saw() {
    let path = capture("sender.pcapng", true, Extent::Headers);
    let Some(analysed) = frames(&path, "tcp.analysis.flags", &[]) else { return };
    assert_eq!(analysed, ["10", "11", "12", "13"]);
    let duplicates =
        frames(&path, "tcp.analysis.duplicate_ack", &["tcp.analysis.duplicate_ack_num", "tcp.options.sack_re"]);
    assert_eq!(duplicates.unwrap(), ["10 1 4345", "11 2 5793", "12 3 7241"]);
    let again = frames(&path, "tcp.analysis.fast_retransmission", &["tcp.seq", "tcp.len"]);
    assert_eq!(again.unwrap(), ["13 1449 1448"]);
}

#[test]
fn tshark_sees_what_the_receiver_saw() {
    let path = capture("receiver.pcapng", false, Extent::Headers);
    let Some(gaps) = frames(&path, "tcp.analysis.lost_segment", &["tcp.seq"]) else { return };
    assert_eq!(gaps, ["6 2897"], "the segment before was lost, and no other");
    assert_eq!(frames(&path, "tcp.analysis.duplicate_ack", &[]).unwrap(), ["7", "9", "11"]);
    assert_eq!(frames(&path, "tcp.analysis.fast_retransmission", &["tcp.seq"]).unwrap(), ["12 1449"]);
    assert_eq!(frames(&path, "tcp.analysis.flags", &[]).unwrap(), ["6", "7", "9", "11", "12"]);
}

#[test]
fn tshark_finds_nothing_wrong() {
    let wrong = "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 || tcp.analysis.ack_lost_segment \
                 || _ws.expert.severity == error";
    for extent in [Extent::Headers, Extent::Whole] {
        for at_sender in [true, false] {
            let path = capture(&format!("right_{extent:?}_{at_sender}.pcapng"), at_sender, extent);
            let Some(found) = tshark(&path, wrong, &["frame.number", "_ws.expert.message"]) else { return };
            assert_eq!(found, [""; 0], "{extent:?}, at the sender: {at_sender}");
            let verified = frames(&path, "ip.checksum.status == 1 && tcp.checksum.status == 1", &[]).unwrap();
            let verifiable = if extent == Extent::Whole { "ip" } else { "ip && tcp.len == 0" };
            assert_eq!(verified, frames(&path, verifiable, &[]).unwrap());
            assert!(!verified.is_empty());
        }
    }
}

#[test]
fn tshark_verifies_datagrams() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("datagrams.pcapng");
    let mut capture = Capture::create(&path, "src_0", None, Extent::Whole).unwrap();
    for number in 1..=200 {
        let sent_at = Instant::ZERO + DELAY * number;
        let datagram = UserDatagram { ecn: Ecn::NotEct, number, sent_at, payload: 15 + number as u32 };
        capture.record(sent_at, &packet(datagram, true, sent_at)).unwrap();
    }
    capture.finish().unwrap();
    let right = "ip.checksum.status == 1 && udp.checksum.status == 1 && !_ws.malformed";
    let Some(verified) = frames(&path, right, &["udp.length"]) else { return };
    let expected: Vec<String> = (1..=200).map(|number| format!("{number} {}", number + 23)).collect();
    assert_eq!(verified, expected);
}

#[test]
fn tshark_reads_times_names_and_lengths() {
    let path = capture("fields.pcapng", true, Extent::Headers);
    let fields =
        ["frame.time_epoch", "frame.interface_name", "ip.src", "ip.id", "frame.len", "frame.cap_len", "tcp.len"];
    let Some(read) = tshark(&path, "frame.number <= 5", &fields) else { return };
    assert_eq!(
        read,
        [
            "0.000000000 src_0 10.0.0.1 0x0000 60 60 0",
            "0.015000002 src_0 10.128.0.1 0x0000 60 60 0",
            "0.015000002 src_0 10.0.0.1 0x0001 52 52 0",
            "0.015000003 src_0 10.0.0.1 0x0002 1500 52 1448",
            "0.015726003 src_0 10.0.0.1 0x0003 1500 52 1448",
        ]
    );
    let options = ["tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.timestamp.tsval"];
    assert_eq!(tshark(&path, "tcp.options.sack_perm", &options).unwrap(), ["1460 7 0", "1460 7 7"]);
    assert_eq!(frames(&path, "frame.number == 3", &["tcp.window_size"]).unwrap(), ["3 65536"], "512 scaled by 2⁷");
}

#[test]
fn the_head_of_the_file_names_program_scenario_and_point() {
    let path = capture("head.pcapng", true, Extent::Headers);
    let mut reader = PcapNgReader::new(File::open(&path).unwrap()).unwrap();
    assert_eq!(
        reader.section().options,
        [
            SectionHeaderOption::Common(CommonOption::Comment("A conversation".into())),
            SectionHeaderOption::UserApplication(concat!("acklab ", env!("CARGO_PKG_VERSION")).into()),
        ]
    );
    let (Block::InterfaceDescription(interface), _) = reader.next_block().unwrap().unwrap() else { panic!() };
    assert_eq!(
        interface.options,
        [
            InterfaceDescriptionOption::IfName("src_0".into()),
            InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO),
        ]
    );
}

#[test]
fn the_same_conversation_gives_the_same_octets() {
    let octets = |name| std::fs::read(capture(name, true, Extent::Whole)).unwrap();
    assert_eq!(octets("once.pcapng"), octets("again.pcapng"));
}

#[test]
fn a_file_that_cannot_be_made_is_named() {
    let under_a_file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml/src_0.pcapng");
    let error = Capture::create(&under_a_file, "src_0", None, Extent::Headers).map(|_| ()).unwrap_err();
    let expected = format!("cannot create the capture {}: Not a directory", under_a_file.display());
    assert!(error.to_string().starts_with(&expected), "{error}");

    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("title.pcapng");
    let endless = "la".repeat(40_000);
    let error = Capture::create(&path, "src_0", Some(&endless), Extent::Headers).map(|_| ()).unwrap_err();
    assert!(error.to_string().ends_with("title.pcapng: Option content doesn't fit on a u16: 80000B"), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported_when_the_buffer_is_full_and_at_the_end() {
    let full = Path::new("/dev/full");
    let open = || Capture::create(full, "src_0", None, Extent::Headers).unwrap();
    let is_full =
        |error: &Error| error.to_string().starts_with("cannot write the capture /dev/full: No space left on device");
    assert!(is_full(&open().finish().unwrap_err()));

    let syn = packet(conversation()[0].segment, true, Instant::ZERO);
    let mut capture = open();
    let error = (0..1000).find_map(|nanos| capture.record(Instant::from_nanos(nanos), &syn).err());
    assert!(is_full(&error.expect("1000 packets fill any buffer")));
}

#[test]
fn a_segment_that_is_no_packet_is_refused_and_the_capture_goes_on() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("long.pcapng");
    let mut capture = Capture::create(&path, "src_0", None, Extent::Headers).unwrap();
    let syn = conversation()[0].segment;
    let long = Segment { payload: 100_000, ..syn };
    let error = capture.record(Instant::ZERO, &packet(long, true, Instant::ZERO)).unwrap_err();
    assert!(
        error.to_string().ends_with("long.pcapng: a packet of 100060 octets is longer than the 65535 that IPv4 allows")
    );
    capture.record(Instant::from_nanos(u64::MAX), &packet(syn, true, Instant::ZERO)).unwrap();
    capture.finish().unwrap();
    let mut reader = PcapNgReader::new(File::open(&path).unwrap()).unwrap();
    reader.next_block().unwrap().unwrap();
    let (Block::EnhancedPacket(packet), _) = reader.next_block().unwrap().unwrap() else { panic!() };
    assert_eq!(packet.timestamp, std::time::Duration::from_nanos(u64::MAX));
    assert!(reader.next_block().is_none());
}
