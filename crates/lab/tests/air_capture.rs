//! Captures of the air, as tshark reads them.

use crate::common::packets::packet;
use crate::common::tshark::{frames, knows_eht, tshark};
use acklab_base::{Bytes, Duration, Ecn, Instant};
use acklab_lab::Packet;
use acklab_measure::capture::AirCapture;
use acklab_wifi::cell::ACCESS_POINT as AP;
use acklab_wifi::phy::{Band, Format, Guard, Mode, Width};
use acklab_wifi::ppdu::{Frame, Mpdu, Outcome, Ppdu, Signal};
use acklab_wire::ipv4::Extent;
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber, Timestamps};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SIFS: Duration = Duration::from_micros(16);
const MSS: u32 = 1448;
/// 24 Mbps.
const CONTROL: Mode = Mode::ofdm(4);

const fn mode(format: Format, mcs: u8, streams: u8, width: Width, guard: Guard) -> Mode {
    Mode { format, mcs, streams, width, guard }
}

const HT: Mode = mode(Format::Ht, 7, 1, Width::Mhz40, Guard::Ns400);

/// Returns segment `number` of a download, or the ACK of all segments before it.
fn segment(number: u32, is_data: bool) -> Packet {
    let segment = Segment {
        ecn: Ecn::NotEct,
        seq: SeqNumber(if is_data { 1 + number * MSS } else { 1 }),
        ack: SeqNumber(if is_data { 1 } else { 1 + number * MSS }),
        flags: Flags::ACK,
        window: 512,
        options: Options { timestamps: Some(Timestamps { value: number, echo: 0 }), ..Options::default() },
        payload: if is_data { MSS } else { 0 },
    };
    packet(segment, is_data, Instant::ZERO)
}

/// The air of a cell, written PPDU by PPDU with SIFS between them.
struct Air {
    capture: AirCapture,
    now: Instant,
}

impl Air {
    fn of(path: &Path, band: Band, extent: Extent) -> Self {
        let capture = AirCapture::create(path, "cell", AP as u32, band, Some("The air"), extent).unwrap();
        Self { capture, now: Instant::from_nanos(1_000_000_500) }
    }

    fn send(&mut self, (transmitter, receiver): (usize, usize), mode: Mode, psdu: u64, frame: Frame<Packet>) {
        let duration = mode.duration(Bytes(psdu));
        self.put(&Ppdu {
            at: self.now,
            duration,
            from: transmitter,
            to: (transmitter != receiver).then_some(receiver),
            mode,
            octets: Bytes(psdu),
            reserved: SIFS + CONTROL.duration(Bytes(14)),
            frame,
            appended: Vec::new(),
            outcome: Outcome::Received,
            signal: Some(Signal { power_dbm: -61.6, noise_dbm: -94.0 }),
        });
        self.now = self.now + duration + SIFS;
    }

    fn put(&mut self, ppdu: &Ppdu<Packet>) {
        self.capture.record_ppdu(ppdu).unwrap();
    }
}

fn mpdu(sequence: u16, packets: &[&Packet]) -> Mpdu<Packet> {
    Mpdu {
        sequence,
        tid: Some(0),
        is_retry: false,
        has_more: false,
        is_sync: false,
        octets: Bytes::ZERO,
        packets: packets.iter().copied().cloned().collect(),
        is_a_msdu: packets.len() > 1,
        is_received: true,
    }
}

fn data(mpdus: Vec<Mpdu<Packet>>) -> Frame<Packet> {
    Frame::Data(mpdus)
}

/// Returns the capture of a download to station 1. It contains an A-MPDU behind RTS and CTS of
/// which one frame is lost, and the retransmission of this frame. A TCP ACK collides with one of
/// station 2 and is repeated. A request for a Block ACK and an A-MSDU follow.
fn download(name: &str, extent: Extent) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut air = Air::of(&path, Band::Ghz5, extent);
    let (down, up) = ((AP, 1), (1, AP));
    let segments: Vec<Packet> = (0..8).map(|number| segment(number, true)).collect();
    let acks: Vec<Packet> = [4, 6].map(|number| segment(number, false)).to_vec();

    air.send(down, CONTROL, 20, Frame::Rts);
    air.send(up, CONTROL, 14, Frame::Cts);
    let mut mpdus: Vec<Mpdu<Packet>> =
        (0..4).map(|index| mpdu(4094 + index, &[&segments[usize::from(index)]])).collect();
    mpdus.iter_mut().for_each(|mpdu| mpdu.sequence %= 4096);
    mpdus[1].is_received = false;
    mpdus[3].has_more = true;
    air.send(down, HT, 4 * 1544, data(mpdus));
    air.send(up, CONTROL, 32, Frame::BlockAck { tid: 0, start: 4094, bitmap: vec![0b1101] });

    let again = Mpdu { is_retry: true, ..mpdu(4095, &[&segments[1]]) };
    air.send(down, HT, 1538, data(vec![again]));
    air.send(up, CONTROL, 14, Frame::Ack);

    for transmitter in [1, 2] {
        air.put(&Ppdu {
            at: air.now,
            duration: HT.duration(Bytes(90)),
            from: transmitter,
            to: Some(AP),
            mode: HT,
            octets: Bytes(90),
            reserved: SIFS + CONTROL.duration(Bytes(14)),
            frame: data(vec![mpdu(77, &[&acks[0]])]),
            appended: Vec::new(),
            outcome: Outcome::Collided,
            signal: None,
        });
    }
    air.now += Duration::from_micros(300);
    air.send(up, HT, 90, data(vec![Mpdu { is_retry: true, ..mpdu(77, &[&acks[0]]) }]));
    air.send(down, CONTROL, 14, Frame::Ack);

    air.send(down, CONTROL, 24, Frame::BlockAckRequest { tid: 0, start: 2 });
    let bitmap = vec![u64::MAX, 0, 1, 1 << 63];
    air.send(up, CONTROL, 56, Frame::BlockAck { tid: 0, start: 2, bitmap });

    let amsdu = vec![mpdu(2, &[&segments[4], &segments[5]]), mpdu(3, &[&segments[6], &segments[7]])];
    air.send(down, HT, 2 * 3080, data(amsdu));
    // CTS to itself, which silences the others.
    air.send((1, 1), CONTROL, 14, Frame::Cts);
    air.send(up, CONTROL, 88, data(vec![Mpdu { tid: None, ..mpdu(78, &[&acks[1]]) }]));
    air.send(down, CONTROL, 14, Frame::Ack);
    air.send(down, CONTROL, 80, Frame::Beacon { interval: Duration::from_micros(102_400) });
    air.capture.finish().unwrap();
    path
}

/// tshark's decoding of each frame, by field.
struct Frames(Vec<Vec<String>>);

impl Frames {
    const FIELDS: [&str; 15] = [
        "wlan.fc.type_subtype",
        "wlan.fc.retry",
        "wlan.fc.moredata",
        "wlan.fc.ds",
        "wlan.duration",
        "wlan.seq",
        "wlan.fcs.status",
        "radiotap.flags.badfcs",
        "radiotap.ampdu.reference",
        "radiotap.ampdu.flags.last",
        "wlan.fixed.ssc.sequence",
        "wlan.ba.bm",
        "ip.id",
        "tcp.seq_raw",
        "tcp.ack_raw",
    ];

    fn of(path: &Path) -> Option<Self> {
        let split = |line: &String| {
            line.split(' ')
                .map(str::to_owned)
                .chain(std::iter::repeat(String::new()))
                .take(Self::FIELDS.len())
                .collect()
        };
        Some(Self(tshark(path, "frame", &Self::FIELDS)?.iter().map(split).collect()))
    }

    fn column(&self, field: &str) -> Vec<&str> {
        let index = Self::FIELDS.iter().position(|known| *known == field).unwrap();
        self.0.iter().map(|frame| frame[index].as_str()).collect()
    }

    /// Returns the values of a field in the frames that have it, with the indices of these frames.
    fn filled(&self, field: &str) -> Vec<(usize, &str)> {
        self.column(field).into_iter().enumerate().filter(|(_, value)| !value.is_empty()).collect()
    }

    /// Returns the indices of the frames in which a flag is set.
    fn set(&self, field: &str) -> Vec<usize> {
        self.filled(field).into_iter().filter(|(_, value)| ["1", "True"].contains(value)).map(|(at, _)| at).collect()
    }
}

#[test]
fn nothing_is_malformed_and_only_what_is_damaged_is_wrong() {
    for (name, extent) in [("air_whole", Extent::Whole), ("air_headers", Extent::Headers)] {
        let path = download(&format!("{name}.pcapng"), extent);
        let wrong =
            "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 || _ws.expert.severity == error";
        let Some(found) = frames(&path, wrong, &["_ws.expert.message"]) else { return };
        let numbers: Vec<&str> = found.iter().map(|line| line.split(' ').next().unwrap()).collect();
        assert!(found.iter().all(|line| line.contains("Bad checksum [should be 0x")), "{name}: {found:?}");
        // A truncated frame has no FCS to check.
        let expected: &[&str] = if extent == Extent::Whole { &["4", "10", "11"] } else { &["10", "11"] };
        assert_eq!(numbers, expected, "{name}: {found:?}");
        // The link type and radiotap must give tshark all parameters: it must not assume any.
        assert_eq!(frames(&path, "_ws.expert.message contains \"assuming\"", &[]).unwrap(), [""; 0], "{name}");
    }
}

#[test]
fn the_frames_are_those_that_were_put_in() {
    let path = download("air_frames.pcapng", Extent::Whole);
    let Some(frames) = Frames::of(&path) else { return };
    let of_kind =
        |kind: &str| frames.column("wlan.fc.type_subtype").iter().filter(|known| known.ends_with(kind)).count();
    // RTS, CTS, ACK, Block ACK request, Block ACK, QoS data, data, beacon (Table 9-1).
    let counts = ["1b", "1c", "1d", "18", "19", "28", "20", "08"].map(of_kind);
    assert_eq!(counts, [1, 2, 3, 1, 2, 10, 1, 1], "{:?}", frames.column("wlan.fc.type_subtype"));

    assert_eq!(frames.set("wlan.fc.retry"), [7, 11]);
    assert_eq!(frames.set("wlan.fc.moredata"), [5]);
    assert_eq!(frames.set("radiotap.flags.badfcs"), [3, 9, 10]);
    let is_good: Vec<bool> = frames.column("wlan.fcs.status").iter().map(|status| *status == "1").collect();
    let bad: Vec<usize> = (0..is_good.len()).filter(|at| !is_good[*at]).collect();
    assert_eq!(bad, [3, 9, 10]);

    let mut mpdus: BTreeMap<&str, usize> = BTreeMap::new();
    frames
        .filled("radiotap.ampdu.reference")
        .iter()
        .for_each(|(_, reference)| *mpdus.entry(reference).or_default() += 1);
    assert_eq!(mpdus, BTreeMap::from([("0", 4), ("1", 2)]));
    assert_eq!(frames.set("radiotap.ampdu.flags.last"), [5, 16]);

    let sequences: Vec<&str> = frames.filled("wlan.seq").into_iter().map(|(_, sequence)| sequence).collect();
    assert_eq!(sequences, ["4094", "4095", "0", "1", "4095", "77", "77", "77", "2", "3", "78", "1"]);
    let bitmaps: Vec<&str> = frames.filled("wlan.ba.bm").into_iter().map(|(_, bitmap)| bitmap).collect();
    let wide = "ffffffffffffffff000000000000000001000000000000000000000000000080";
    assert_eq!(bitmaps, ["0d00000000000000", wide]);
    let starts: Vec<&str> = frames.filled("wlan.fixed.ssc.sequence").into_iter().map(|(_, start)| start).collect();
    assert_eq!(starts, ["4094", "2", "2"]);
    // The values mean: from the access point, to it, or neither (control frames).
    let directions: Vec<&str> = [2, 7, 9, 0].map(|at| frames.column("wlan.fc.ds")[at]).to_vec();
    assert_eq!(directions, ["0x02", "0x02", "0x01", "0x00"]);
    // SIFS and an ACK at 24 Mbps.
    assert!(frames.column("wlan.duration").iter().take(20).all(|duration| *duration == "44"));
}

#[test]
fn the_packets_inside_are_dissected() {
    let at = |number: u32| (1 + number * MSS).to_string();
    for (name, extent) in [("air_packets", Extent::Whole), ("air_packet_headers", Extent::Headers)] {
        let path = download(&format!("{name}.pcapng"), extent);
        let Some(frames) = Frames::of(&path) else { return };
        let numbers: Vec<&str> = frames.filled("tcp.seq_raw").into_iter().map(|(_, sequence)| sequence).collect();
        let (fourth, sixth) = (format!("{},{}", at(4), at(5)), format!("{},{}", at(6), at(7)));
        assert_eq!(numbers[..5], [at(0), at(1), at(2), at(3), at(1)], "{name}");
        assert_eq!(numbers[5..], ["1", "1", "1", &fourth, &sixth, "1"], "{name}");
        let acknowledged: Vec<&str> =
            [9, 11, 18].into_iter().map(|frame| frames.column("tcp.ack_raw")[frame]).collect();
        assert_eq!(acknowledged, [at(4), at(4), at(6)], "{name}");
        // A retransmitted frame contains the same packet; another frame does not.
        let identifications = frames.column("ip.id");
        assert_eq!(identifications[3], identifications[7], "{name}");
        assert_eq!(identifications[9], identifications[11], "{name}");
        assert_ne!(identifications[2], identifications[3], "{name}");
        assert_ne!(identifications[9], identifications[18], "{name}");
    }
}

#[test]
fn rates_and_durations_are_those_that_tshark_works_out() {
    let packet = segment(0, true);
    // Returns the rate as tshark calculates it. tshark treats a symbol of 40 MHz as two of 20 MHz,
    // and does not round VHT to symbols. For EHT, it rounds the rate of one stream before it
    // multiplies it. It shows no durations of HE and EHT.
    let at_2 =
        [(Mode::dsss(0, false), "1", true), (Mode::dsss(2, true), "5.5", true), (Mode::dsss(3, false), "11", true)];
    let at_5 = [
        (Mode::ofdm(0), "6", true),
        (Mode::ofdm(7), "54", true),
        (mode(Format::Ht, 3, 2, Width::Mhz20, Guard::Ns800), "52", true),
        (mode(Format::Ht, 7, 4, Width::Mhz20, Guard::Ns800), "260", true),
        (HT, "150", false),
        (mode(Format::Vht, 8, 1, Width::Mhz80, Guard::Ns400), "390", false),
        (mode(Format::Vht, 9, 4, Width::Mhz160, Guard::Ns800), "3120", false),
        (mode(Format::He, 11, 2, Width::Mhz80, Guard::Ns800), "1201", false),
        (mode(Format::He, 0, 1, Width::Mhz20, Guard::Ns3200), "7.3", false),
    ];
    let at_6 = [
        (mode(Format::Eht, 13, 1, Width::Mhz320, Guard::Ns800), "2882.4", false),
        (mode(Format::Eht, 13, 2, Width::Mhz320, Guard::Ns800), "5764.8", false),
        (mode(Format::Eht, 12, 1, Width::Mhz160, Guard::Ns1600), "1225", false),
        (mode(Format::Eht, 0, 1, Width::Mhz20, Guard::Ns3200), "7.3", false),
    ];
    let at_6 = if knows_eht() { &at_6[..] } else { &[] };
    for (band, modes) in [(Band::Ghz2, &at_2[..]), (Band::Ghz5, &at_5[..]), (Band::Ghz6, at_6)] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("air_modes_{band:?}.pcapng"));
        let mut air = Air::of(&path, band, Extent::Whole);
        let mut starts = Vec::new();
        for (sequence, (mode, ..)) in modes.iter().enumerate() {
            starts.push(air.now);
            air.send((AP, 1), *mode, 1538, data(vec![mpdu(sequence as u16, &[&packet])]));
        }
        air.capture.finish().unwrap();
        let fields = ["wlan_radio.data_rate", "radiotap.mactime", "radiotap.timestamp.ts", "wlan_radio.duration"];
        let Some(found) = tshark(&path, "frame", &fields) else { return };
        assert_eq!(found.len(), modes.len());
        for ((line, start), (mode, rate, has_duration)) in found.iter().zip(starts).zip(modes) {
            let words: Vec<&str> = line.split(' ').collect();
            let duration = mode.duration(Bytes(1538));
            let begun = (start + mode.preamble()).as_nanos() / 1_000;
            let ended = (start + duration).as_nanos();
            assert_eq!(words[..3], [*rate, &begun.to_string(), &ended.to_string()], "{mode:?}");
            if *has_duration {
                assert_eq!(words[3], (duration.as_nanos() / 1_000).to_string(), "{mode:?}");
            }
        }
    }
}

#[test]
fn frames_have_the_levels_that_the_model_knows() {
    let path = download("air_levels.pcapng", Extent::Headers);
    let Some(found) = tshark(&path, "frame", &["radiotap.dbm_antsignal", "radiotap.dbm_antnoise"]) else { return };
    assert_eq!(found.iter().filter(|line| line.trim().is_empty()).count(), 2, "only the two collided frames have none");
    assert!(found.iter().all(|line| line.trim().is_empty() || line == "-62 -94"), "{found:?}");
}
