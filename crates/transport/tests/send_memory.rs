//! Tests when an application may write with Linux's send buffer (`SendBufferLimit::Memory`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use acklab_base::random::Seed;
use acklab_base::{Duration, Ecn, Instant, Machine, StreamPort};
use acklab_transport::cc::Controller;
use acklab_transport::tcp::{Preset, Sender};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber};

const MSS: u64 = 1448;
const PEER: SeqNumber = SeqNumber(77);

/// An ACK of `segments` segments, without timestamps, so that round-trip times come from send
/// times.
fn ack(syn: &Segment, segments: u64, flags: Flags) -> Segment {
    let is_syn = flags.contains(Flags::SYN);
    let options = if is_syn { Options { sack_permitted: true, ..syn.options } } else { Options::default() };
    Segment {
        ecn: Ecn::NotEct,
        seq: if is_syn { PEER } else { SeqNumber::at(PEER, 1) },
        ack: SeqNumber::at(syn.seq, 1 + segments * MSS),
        flags: Flags::ACK | flags,
        window: u16::MAX,
        options,
        payload: 0,
    }
}

/// Returns the number of segments written so far, after each write of an application that always
/// fills the buffer. Each ACK covers one segment.
fn writes(acks: u64) -> Vec<u64> {
    let (config, seed) = (Preset::Linux.config(), Seed(1));
    let controller = Controller::new(&config.congestion, &config.controller_start(seed, "f")).unwrap();
    let mut sender = Sender::new(config, controller, seed, "f");
    let mut now = Instant::ZERO;
    sender.open(now);
    let syn = sender.poll(now).unwrap();
    now += Duration::from_millis(20);
    sender.accept(now, ack(&syn, 0, Flags::SYN));
    let (mut written, mut all) = (0, Vec::new());
    for acked in 0..=acks {
        if acked > 0 {
            now += Duration::from_millis(6);
            sender.accept(now, ack(&syn, acked, Flags::NONE));
        }
        let room = sender.room();
        if room > 0 {
            written += sender.write(now, room);
            all.push(written / MSS);
        }
        while sender.poll(now).is_some() {}
    }
    all
}

/// A kernel of 6.18 marks the end of each write with PSH. In slow start, with an ACK per segment,
/// an application that fills its socket writes up to these segments. The buffer grows with each ACK
/// that releases two segments, since the window is not full between them (`tcp_event_new_data_sent`
/// calls `tcp_check_space`). If it grew only when the window is not full afterwards, the second
/// write would follow six ACKs instead of four, and reach segment 39.
#[test]
fn the_buffer_grows_as_that_of_linux() {
    assert_eq!(writes(15), [21, 33, 48, 66]);
}
