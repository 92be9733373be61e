//! The window that Linux's receive buffer would offer (`net/ipv4/tcp_input.c`, 6.18; function names in parentheses).
//!
//! It grows by what the application reads in a round trip (`tcp_rcv_space_adjust`), and the window that is offered follows it, up to
//! `receive_buffer`. Autotuning thereby limits how fast a sender can start, whatever the ACK policy. The policy is told of each segment that
//! lets the window grow; that of Linux acknowledges it at once. The application is taken to read at once. Everything
//! counts octets of window, into which the kernel converts memory by the share of payload in a segment's memory
//! (`tcp_win_from_space`).

use super::Receiver;
use crate::ack::{Arrival, FOR_EVER, RoundTrip};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What a receiver offers of its buffer while the application reads at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiveWindow {
    /// All of `receive_buffer`.
    WholeBuffer,
    /// What Linux's autotuning offers, where `receive_buffer` is the most to which the buffer grows (`tcp_rmem[2]`).
    Autotuned,
}

/// What a segment takes beside its payload in the half pages into which drivers receive: headroom, headers and `struct skb_shared_info`. A
/// `struct sk_buff` comes on top. Other drivers differ.
const OVERHEAD: u64 = 64 + 66 + 320;
const HALF_PAGE: u64 = 2048;
const SK_BUFF: u64 = 256;
/// `TCP_RMEM_TO_WIN_SCALE`: the unit of `scaling_ratio`.
const WHOLE: u64 = 256;
/// `TCP_DEFAULT_SCALING_RATIO`, before anything has arrived: half.
const DEFAULT_RATIO: u64 = WHOLE / 2;
/// `tcp_rmem[1]`: the memory of the buffer at first, 128 KiB.
const INITIAL: u64 = 128 << 10;
/// `tcp_rmem[2]`: its largest memory by default, 32 MiB since 6.16.
const LARGEST: u64 = 32 << 20;
/// `tcp_select_initial_window`: the window at first, which is not scaled.
const INITIAL_WINDOW: u64 = u16::MAX as u64;
/// `TCP_INIT_CWND`, in segments: what a round trip brings at first, unless that is more than the first window (`tcp_init_buffer_space`).
const INITIAL_SEGMENTS: u64 = 10;
/// `TCP_MSS_DEFAULT`: shorter segments are taken for part of a full-sized one (`tcp_initialize_rcv_mss`).
const SHORTEST_FULL_SIZE: u64 = 536;
/// `tcp_event_data_recv`: shorter segments do not grow the window.
const SHORTEST: u64 = 128;

/// A buffer that grows, and the round trips by which it does.
#[derive(Debug)]
pub(super) struct Autotuning {
    buffer: ReceiveBuffer,
    /// `None` if the ledger of the ACK policy has estimates.
    round_trip: Option<Box<RoundTrip>>,
}

impl Autotuning {
    /// Autotuning before the first segment, up to the kernel's default or a window of `largest`. `is_measured` says whether the ACK policy
    /// has round trips measured, which then serve both.
    pub(super) fn new(largest: u64, is_measured: bool) -> Self {
        let own = (!is_measured).then(|| Box::new(RoundTrip::new(FOR_EVER)));
        Self { buffer: ReceiveBuffer::new(largest), round_trip: own }
    }

    /// The window that is offered, in octets from rcv.nxt on.
    pub(super) fn window(&self) -> u64 {
        self.buffer.window()
    }

    /// Its own estimates, if the ledger of the ACK policy has none.
    pub(super) fn round_trip(&mut self) -> Option<&mut RoundTrip> {
        self.round_trip.as_deref_mut()
    }
}

impl Receiver {
    /// The octets `data` are in the ledger and in the stream, in which rcv.nxt has advanced by `advanced`: lets the buffer grow.
    #[inline]
    pub(super) fn autotune(&mut self, now: Instant, arrival: Arrival, data: &Range<u64>, advanced: u64) {
        let Some(autotuning) = &mut self.autotuning else { return };
        if arrival == Arrival::Duplicate {
            return;
        }
        let ledger = self.acknowledger.ledger();
        let round_trip = ledger.round_trip.as_ref().or(autotuning.round_trip.as_ref());
        let octets = data.end - data.start;
        let arrived = Arrived {
            octets,
            // Memory is counted by the packet, which may hold several segments.
            full_size: ledger.full_size.max(octets),
            advanced,
            beyond: self.stream.end() - self.stream.next(),
            round_trip: round_trip.and_then(|estimates| estimates.smoothed()),
            has_sack: self.agreed.is_some_and(|agreed| agreed.has_sack),
        };
        if autotuning.buffer.arrive(now, arrived) {
            self.tell_policy(|policy| policy.on_window_growth());
        }
    }
}

/// The state of the buffer.
#[derive(Clone, Copy, Debug)]
struct ReceiveBuffer {
    /// What a `tcp_rmem[2]` above the default allows, as window.
    largest: u64,
    /// `scaling_ratio`: of 256 octets of memory, those that are window.
    ratio: u64,
    /// `window_clamp`: what the buffer allows.
    clamp: u64,
    /// `rcv_ssthresh`: what is offered.
    offered: u64,
    /// `rcvq_space.space`: the most that the application has read in a round trip.
    per_round_trip: u64,
    /// `rcvq_space.time` and `.seq`: when the present round trip began, and where the stream stood.
    began: (Instant, u64),
    /// The octets that have arrived in order: rcv.nxt.
    next: u64,
    /// Octets held beyond gaps.
    held: u64,
}

/// A segment that brings something new.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// Its payload.
    octets: u64,
    /// Payload of a full-sized segment.
    full_size: u64,
    /// Octets by which rcv.nxt advances.
    advanced: u64,
    /// From rcv.nxt to the end of what lies beyond gaps.
    beyond: u64,
    /// The receiver's estimate of the round trip.
    round_trip: Option<Duration>,
    /// The connection has SACK.
    has_sack: bool,
}

impl ReceiveBuffer {
    const fn new(largest: u64) -> Self {
        Self {
            largest,
            ratio: DEFAULT_RATIO,
            clamp: window_of(INITIAL, DEFAULT_RATIO),
            offered: INITIAL_WINDOW,
            per_round_trip: 0,
            began: (Instant::ZERO, 0),
            next: 0,
            held: 0,
        }
    }

    /// The window that is offered (`__tcp_select_window`): `rcv_ssthresh`, as far as the buffer is free.
    fn window(&self) -> u64 {
        self.offered.min(self.free())
    }

    /// `tcp_space`: what is held beyond gaps takes room.
    const fn free(&self) -> u64 {
        self.clamp.saturating_sub(self.held)
    }

    /// Processes an arrival. Returns `true` if it lets the window grow.
    fn arrive(&mut self, now: Instant, arrived: Arrived) -> bool {
        self.held = (self.held + arrived.octets).saturating_sub(arrived.advanced);
        self.next += arrived.advanced;
        self.measure(arrived.full_size);
        let grows = self.grow_window(&arrived);
        if arrived.advanced == 0 {
            // tcp_data_queue_ofo
            self.grow_buffer(self.per_round_trip, arrived.beyond);
        } else {
            self.adjust(now, &arrived);
        }
        grows
    }

    /// `tcp_measure_rcv_mss`: full-sized segments of another size take another share of memory.
    fn measure(&mut self, full_size: u64) {
        if full_size < SHORTEST_FULL_SIZE {
            return;
        }
        let ratio = ratio_of(full_size);
        if ratio != self.ratio {
            self.clamp = self.clamp * ratio / self.ratio;
            self.ratio = ratio;
            // tcp_set_window_clamp
            self.offered = self.offered.min(self.clamp);
        }
    }

    /// `tcp_grow_window`: by two segments, as far as the buffer allows. Without SACK, not while a gap is open (`tcp_data_queue_ofo`): an ACK with another
    /// window is no duplicate.
    fn grow_window(&mut self, arrived: &Arrived) -> bool {
        let limit = self.free();
        let shows_gap = arrived.advanced == 0 && !arrived.has_sack;
        if limit <= self.offered || arrived.octets < SHORTEST || shows_gap {
            return false;
        }
        self.offered += (2 * arrived.full_size).min(limit - self.offered);
        true
    }

    /// `tcp_rcv_space_adjust`: once a round trip, the buffer follows what the application has read.
    fn adjust(&mut self, now: Instant, arrived: &Arrived) {
        let (since, from) = self.began;
        let Some(round_trip) = arrived.round_trip else { return };
        if now.since(since) < round_trip {
            return;
        }
        let copied = self.next - from;
        self.per_round_trip = self.per_round_trip.max((INITIAL_SEGMENTS * arrived.full_size).min(INITIAL_WINDOW));
        if copied > self.per_round_trip {
            self.grow_buffer(copied, arrived.beyond);
        }
        self.began = (now, self.next);
    }

    /// `tcp_rcvbuf_grow`: twice what a round trip has brought, more if it was more than before, and what lies beyond gaps.
    fn grow_buffer(&mut self, copied: u64, beyond: u64) {
        let before = std::mem::replace(&mut self.per_round_trip, copied);
        let grown = u128::from(2 * copied) * u128::from(copied - before) / u128::from(before.max(1));
        let window = u128::from(2 * copied + beyond) + 2 * grown;
        let largest = window_of(LARGEST, self.ratio).max(self.largest);
        self.clamp = self.clamp.max(window.min(u128::from(largest)) as u64);
    }
}

/// `scaling_ratio` where a full-sized segment has `full_size` octets.
const fn ratio_of(full_size: u64) -> u64 {
    full_size * WHOLE / ((full_size + OVERHEAD).next_multiple_of(HALF_PAGE) + SK_BUFF)
}

/// `tcp_win_from_space`.
const fn window_of(memory: u64, ratio: u64) -> u64 {
    memory * ratio / WHOLE
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    /// A full-sized segment in order, before the round trip is known.
    const fn in_order(octets: u64) -> Arrived {
        Arrived { octets, full_size: octets, advanced: octets, beyond: 0, round_trip: None, has_sack: true }
    }

    /// Segments in order, `per_round_trip` in each round trip of 100 ms: which of them let the window grow.
    fn growth(buffer: &mut ReceiveBuffer, from: u64, segments: u64, per_round_trip: u64) -> Vec<bool> {
        let spacing = Duration::from_millis(100) / per_round_trip;
        (from..from + segments)
            .map(|k| {
                let round_trip = Some(Duration::from_millis(100));
                let arrived = Arrived { round_trip, ..in_order(MSS) };
                buffer.arrive(Instant::ZERO + spacing * (k + 1), arrived)
            })
            .collect()
    }

    /// From 65,535 to 81,920 octets in steps of 2,896: six segments. A slow flow fills no more than the first buffer.
    #[test]
    fn a_slow_flow_never_outgrows_the_first_buffer() {
        let grows = growth(&mut ReceiveBuffer::new(0), 0, 200, 10);
        assert_eq!(grows.iter().filter(|grows| **grows).count(), 6);
        assert!(grows[..6].iter().all(|grows| *grows));
    }

    /// At 100 segments a round trip the buffer becomes more than twice 144,800 octets, and the window follows segment by segment.
    #[test]
    fn a_fast_flow_grows_the_buffer_by_what_a_round_trip_brings() {
        let mut buffer = ReceiveBuffer::new(0);
        growth(&mut buffer, 0, 2500, 100);
        assert!(buffer.clamp > 2 * 100 * MSS, "{}", buffer.clamp);
        assert_eq!(buffer.offered, buffer.clamp, "in the end all of it is offered");
        assert!(!growth(&mut buffer, 2500, 300, 100).contains(&true));
    }

    /// Ten segments of 8000 octets are more than the first window, which is then what a round trip has to bring. If it had to bring ten
    /// segments, the first buffer, of 81,920 octets at most, could never grow.
    #[test]
    fn large_segments_grow_the_buffer_as_well() {
        let mut buffer = ReceiveBuffer::new(0);
        for k in 0..200 {
            // What the window allows arrives in each round trip of 23 ms.
            let per_round_trip = buffer.window() / 8000;
            let round_trip = Duration::from_millis(23);
            let now = Instant::ZERO + round_trip * (k + 1);
            for segment in 0..per_round_trip {
                let arrived = Arrived { round_trip: Some(round_trip), ..in_order(8000) };
                buffer.arrive(now + round_trip * segment / per_round_trip, arrived);
            }
        }
        assert!(buffer.window() > 20 * 65_535, "{}", buffer.window());
    }

    /// A segment of 1000 octets takes as much memory as one of 1448, so that the first buffer is less than the first window.
    #[test]
    fn shorter_segments_leave_less_window() {
        let mut buffer = ReceiveBuffer::new(0);
        let arrived = in_order(1000);
        assert!(!buffer.arrive(Instant::ZERO, arrived));
        assert_eq!((buffer.ratio, buffer.window()), (111, 131_072 * 111 / 256));
        let long = Arrived { octets: MSS, full_size: MSS, ..arrived };
        assert!(buffer.arrive(Instant::ZERO, long));
        assert_eq!((buffer.ratio, buffer.clamp), (160, 56_832 * 160 / 111), "a longer one leaves more");
    }

    /// What is held beyond a gap takes room, so the window stands still until the gap closes.
    #[test]
    fn data_beyond_a_gap_takes_room() {
        let mut buffer = ReceiveBuffer::new(0);
        growth(&mut buffer, 0, 10, 10);
        let beyond = Arrived { advanced: 0, beyond: 2 * MSS, ..in_order(MSS) };
        assert!(!buffer.arrive(Instant::ZERO, beyond));
        assert_eq!(buffer.held, MSS);
    }

    #[test]
    fn without_sack_a_segment_beyond_a_gap_leaves_the_window() {
        for has_sack in [true, false] {
            let mut buffer = ReceiveBuffer::new(0);
            let beyond = Arrived { advanced: 0, beyond: 2 * MSS, has_sack, ..in_order(MSS) };
            assert_eq!(buffer.arrive(Instant::ZERO, beyond), has_sack);
        }
    }
}
