//! Captures of the air, as tshark reads them.

#[path = "common/tshark.rs"]
mod tshark;

use acklab_base::{Bytes, Duration, Ecn, FlowId, Instant};
use acklab_lab::capture::AirCapture;
use acklab_lab::capture::air::{AirPpdu, Content, Mpdu};
use acklab_wifi::phy::{Band, Format, Guard, Mode, Width};
use acklab_wire::dot11::BlockBitmap;
use acklab_wire::tcp::{Extent, Flags, Options, Segment, SeqNumber, Timestamps};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tshark::tshark;

const ACCESS_POINT: u32 = 0;
const SIFS: Duration = Duration::from_micros(16);
const MSS: u32 = 1448;
/// 24 Mbps.
const CONTROL: Mode = Mode::ofdm(4);

const fn mode(format: Format, mcs: u8, streams: u8, width: Width, guard: Guard) -> Mode {
    Mode { format, mcs, streams, width, guard }
}

const HT: Mode = mode(Format::Ht, 7, 1, Width::Mhz40, Guard::Ns400);

/// Segment `number` of a download, or the ACK of all before it.
fn segment(number: u32, is_data: bool) -> Segment {
    let flow = if is_data { FlowId::data(0) } else { FlowId::data(0).reverse() };
    Segment {
        flow,
        ecn: Ecn::NotEct,
        seq: SeqNumber(if is_data { 1 + number * MSS } else { 1 }),
        ack: SeqNumber(if is_data { 1 } else { 1 + number * MSS }),
        flags: Flags::ACK,
        window: 512,
        options: Options { timestamps: Some(Timestamps { value: number, echo: 0 }), ..Options::default() },
        payload: if is_data { MSS } else { 0 },
    }
}

/// The air of a cell, written PPDU by PPDU with SIFS between them.
struct Air {
    capture: AirCapture,
    now: Instant,
}

impl Air {
    fn of(path: &Path, band: Band, extent: Extent) -> Self {
        let capture = AirCapture::create(path, "cell", ACCESS_POINT, band, Some("The air"), extent).unwrap();
        Self { capture, now: Instant::from_nanos(1_000_000_500) }
    }

    fn send(&mut self, (transmitter, receiver): (u32, u32), mode: Mode, psdu: u64, content: Content<'_>) {
        let duration = mode.duration(Bytes(psdu));
        self.put(AirPpdu {
            start: self.now,
            duration,
            transmitter,
            receiver,
            mode,
            reserves: SIFS + CONTROL.duration(Bytes(14)),
            signal: Some(-55),
            noise: Some(-93),
            is_collided: false,
            content,
        });
        self.now = self.now + duration + SIFS;
    }

    fn put(&mut self, ppdu: AirPpdu<'_>) {
        self.capture.record_ppdu(&ppdu).unwrap();
    }
}

fn mpdu<'a>(sequence: u16, segments: &[&'a Segment]) -> Mpdu<'a> {
    Mpdu { sequence, is_retry: false, has_more_data: false, is_damaged: false, segments: segments.to_vec() }
}

fn data(mpdus: Vec<Mpdu<'_>>) -> Content<'_> {
    Content::Data { tid: Some(0), mpdus }
}

/// A download to station 1: an A-MPDU behind RTS and CTS of which one frame is lost, that frame again, a TCP ACK that collides with one
/// of station 2 and is sent again, a request for a Block ACK, and an A-MSDU.
fn download(name: &str, extent: Extent) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut air = Air::of(&path, Band::Ghz5, extent);
    let (down, up) = ((ACCESS_POINT, 1), (1, ACCESS_POINT));
    let segments: Vec<Segment> = (0..8).map(|number| segment(number, true)).collect();
    let acks: Vec<Segment> = [4, 6].map(|number| segment(number, false)).to_vec();

    air.send(down, CONTROL, 20, Content::Rts);
    air.send(up, CONTROL, 14, Content::Cts);
    let mut mpdus: Vec<Mpdu<'_>> = (0..4).map(|index| mpdu(4094 + index, &[&segments[usize::from(index)]])).collect();
    mpdus.iter_mut().for_each(|mpdu| mpdu.sequence %= 4096);
    mpdus[1].is_damaged = true;
    mpdus[3].has_more_data = true;
    air.send(down, HT, 4 * 1544, data(mpdus));
    air.send(up, CONTROL, 32, Content::BlockAck { tid: 0, start: 4094, bitmap: BlockBitmap::Of64(0b1101) });

    let again = Mpdu { is_retry: true, ..mpdu(4095, &[&segments[1]]) };
    air.send(down, HT, 1538, data(vec![again]));
    air.send(up, CONTROL, 14, Content::Ack);

    for transmitter in [1, 2] {
        air.put(AirPpdu {
            start: air.now,
            duration: HT.duration(Bytes(90)),
            transmitter,
            receiver: ACCESS_POINT,
            mode: HT,
            reserves: SIFS + CONTROL.duration(Bytes(14)),
            signal: None,
            noise: None,
            is_collided: true,
            content: data(vec![mpdu(77, &[&acks[0]])]),
        });
    }
    air.now += Duration::from_micros(300);
    air.send(up, HT, 90, data(vec![Mpdu { is_retry: true, ..mpdu(77, &[&acks[0]]) }]));
    air.send(down, CONTROL, 14, Content::Ack);

    air.send(down, CONTROL, 24, Content::BlockAckRequest { tid: 0, start: 2 });
    let bitmap = BlockBitmap::Of256([u64::MAX, 0, 1, 1 << 63]);
    air.send(up, CONTROL, 56, Content::BlockAck { tid: 0, start: 2, bitmap });

    let amsdu = vec![mpdu(2, &[&segments[4], &segments[5]]), mpdu(3, &[&segments[6], &segments[7]])];
    air.send(down, HT, 2 * 3080, data(amsdu));
    // To itself, which silences the others.
    air.send((1, 1), CONTROL, 14, Content::Cts);
    air.send(up, CONTROL, 90, Content::Data { tid: None, mpdus: vec![mpdu(78, &[&acks[1]])] });
    air.send(down, CONTROL, 14, Content::Ack);
    air.capture.finish().unwrap();
    path
}

fn count(path: &Path, filter: &str) -> Option<usize> {
    tshark(path, filter, &["frame.number"]).map(|frames| frames.len())
}

#[test]
fn nothing_is_malformed_and_only_what_was_damaged_is_wrong() {
    for (name, extent) in [("air_whole", Extent::Whole), ("air_headers", Extent::Headers)] {
        let path = download(&format!("{name}.pcapng"), extent);
        let Some(all) = tshark(&path, "frame", &["frame.protocols", "_ws.expert.message", "_ws.expert.severity"])
        else {
            return;
        };
        for line in all {
            eprintln!("{line}");
        }
    }
}
