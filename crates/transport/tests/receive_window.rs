//! Tests that the receive window is a rule of TCP's receiver: the ACK policy decides when a window
//! is offered, but not the size of the window.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, Ecn, Instant, Machine};
use acklab_transport::ack::{self, per_packet::PerPacket};
use acklab_transport::tcp::receiver::ReceiveWindow;
use acklab_transport::tcp::{Preset, Receiver, TcpConfig};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber, Timestamps};
use std::collections::BTreeMap;

const MSS: u32 = 1448;
const FIRST: SeqNumber = SeqNumber(77);
/// The round-trip time in milliseconds. Fewer bytes than the first window are delivered in it, so
/// that no whole window arrives in less time.
const ROUND_TRIP: u32 = 20;
const SEGMENTS: u64 = 2000;
const BUFFER: u64 = 4 << 20;
/// The unit of the window field, which scales 65,535 to at least the buffer.
const UNIT: u64 = 128;

/// Returns a segment that is sent at `value` by the sender's clock, and echoes `echo` of the
/// receiver's clock.
fn segment(flags: Flags, [value, echo]: [u32; 2], offset: u64, payload: u32) -> Segment {
    let is_syn = flags.contains(Flags::SYN);
    let timestamps = Timestamps { value, echo };
    let options = Options {
        sack_permitted: is_syn,
        window_scale: is_syn.then_some(7),
        timestamps: Some(timestamps),
        ..Options::default()
    };
    Segment {
        ecn: Ecn::NotEct,
        seq: SeqNumber::at(FIRST, offset),
        ack: SeqNumber(0),
        flags,
        window: u16::MAX,
        options,
        payload,
    }
}

/// Returns the windows that a receiver with this configuration offers, in bytes, by acknowledgment
/// number. A segment arrives each millisecond.
fn windows(config: TcpConfig) -> BTreeMap<u64, u64> {
    let mut receiver = Receiver::new(config, ack::Policy::new(config.ack).unwrap(), Seed(1), "window");
    let at = |ms: u32| Instant::ZERO + Duration::from_millis(u64::from(ms));
    let mut windows = BTreeMap::new();
    receiver.accept(at(0), segment(Flags::SYN, [0, 0], 0, 0));
    let began = receiver.poll(at(0)).unwrap().options.timestamps.unwrap().value;
    for k in 0..SEGMENTS {
        let ms = ROUND_TRIP + k as u32;
        let now = at(ms);
        receiver.wake(now);
        let mut offer = |receiver: &mut Receiver| {
            while let Some(ack) = receiver.poll(now) {
                windows.insert(ack.ack.offset_near(FIRST, k * u64::from(MSS)), u64::from(ack.window) * UNIT);
            }
        };
        offer(&mut receiver);
        // The receiver's timestamp one round-trip time ago.
        let echo = began.wrapping_add(ms - ROUND_TRIP);
        receiver.accept(now, segment(Flags::ACK, [ms, echo], 1 + k * u64::from(MSS), MSS));
        offer(&mut receiver);
    }
    windows
}

fn config(preset: Preset, policy: ack::PolicyConfig) -> TcpConfig {
    TcpConfig { ack: policy, receive_buffer: Bytes(BUFFER), ..preset.config() }
}

/// Every policy offers the same window with an ACK of the same bytes. The window begins with 65,535
/// bytes, and autotuning raises it above the 81,920 bytes that Linux's first buffer permits.
#[test]
fn autotuning_does_not_depend_on_the_policy() {
    let of_each = windows(config(Preset::Linux, ack::PolicyConfig::PerPacket(PerPacket {})));
    let (first, last) = (*of_each.values().next().unwrap(), *of_each.values().last().unwrap());
    assert!((65_536 - UNIT..70_000).contains(&first), "{first} octets at first");
    assert!(last > 81_920, "{last} octets in the end");
    for policy in ack::PolicyConfig::built_in() {
        let of_some = windows(config(Preset::Linux, policy));
        assert!(of_some.len() > 20, "{}: {} ACKs", policy.name(), of_some.len());
        for (next, window) in of_some {
            assert_eq!(window, of_each[&next], "{}: ACK of {next} octets", policy.name());
        }
    }
}

/// Linux's policy does not determine the window.
#[test]
fn a_whole_buffer_is_offered_whatever_the_policy() {
    for policy in ack::PolicyConfig::built_in() {
        let fixed = TcpConfig { receive_window: ReceiveWindow::WholeBuffer, ..config(Preset::Linux, policy) };
        for config in [fixed, config(Preset::Rfc, policy), config(Preset::Ns3, policy)] {
            let windows = windows(config);
            assert!(windows.values().all(|window| *window == BUFFER), "{}: {windows:?}", policy.name());
        }
    }
}
