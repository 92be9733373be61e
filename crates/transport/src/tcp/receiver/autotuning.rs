//! The window that Linux's receive buffer would offer (`net/ipv4/tcp_input.c`, 6.12 or 6.18;
//! function names in parentheses).
//!
//! The buffer grows by the bytes that the application reads per round trip
//! (`tcp_rcv_space_adjust`). Its memory grows up to `receive_buffer`, and the offered window grows
//! with the memory. With any ACK policy, autotuning therefore limits how fast a sender can start.
//! The policy receives a report of each segment that makes the window grow. Linux's policy
//! acknowledges such a segment immediately. Unread data and data beyond gaps occupy the buffer. The
//! kernel converts memory into bytes of window by the fraction of payload in a segment's memory
//! (`tcp_win_from_space`).

use super::super::kernel::Kernel;
use super::Receiver;
use super::full_size::SHORTEST_FULL_SIZE;
use super::unread::{Unread, memory_of};
use crate::ack::{Arrival, FOR_EVER, RoundTrip};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The part of its buffer that a receiver offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiveWindow {
    /// The whole of `receive_buffer` minus unread data.
    WholeBuffer,
    /// The window that Linux's autotuning offers. `receive_buffer` is then the maximum memory of
    /// the buffer (`tcp_rmem[2]`), which grows from 128 KiB. The window never exceeds
    /// `receive_buffer`.
    Autotuned,
}

/// `TCP_RMEM_TO_WIN_SCALE`: the unit of `scaling_ratio`.
const WHOLE: u64 = 256;
/// `TCP_DEFAULT_SCALING_RATIO`: a half, used before the first segment.
const DEFAULT_RATIO: u64 = WHOLE / 2;
/// `tcp_rmem[1]`: the initial memory of the buffer, 128 KiB.
const INITIAL: u64 = 128 << 10;
/// `tcp_rcv_space_adjust` of 6.12: the number of segments added to the data of a round trip.
const CUSHION: u64 = 16;
/// `tcp_select_initial_window`: the initial window is not scaled (RFC 7323, §2.2).
const MAX_INITIAL_WINDOW: u64 = u16::MAX as u64;
/// `TCP_INIT_CWND`, in segments: the initial estimate of the data in a round trip. The estimate is
/// limited to the first window (`tcp_init_buffer_space`).
const INITIAL_SEGMENTS: u64 = 10;
/// `tcp_event_data_recv`: the minimum size of segments that make the window grow.
const SHORTEST: u64 = 128;

/// A growing buffer, and the round trips that control its growth.
#[derive(Debug)]
pub(super) struct Autotuning {
    buffer: ReceiveBuffer,
    /// The round-trip estimates; `None` if the ledger of the ACK policy has estimates.
    round_trip: Option<Box<RoundTrip>>,
}

impl Autotuning {
    /// Creates the state before the handshake. The memory grows up to `largest`. `is_measured` is
    /// `true` if the ACK policy measures round-trip times, which autotuning then uses.
    pub(super) fn new(kernel: Kernel, largest: u64, is_measured: bool) -> Self {
        let own = (!is_measured).then(|| Box::new(RoundTrip::new(FOR_EVER)));
        Self { buffer: ReceiveBuffer::new(kernel, largest), round_trip: own }
    }

    /// Returns the window of a SYN: the number of whole segments of `full_size` bytes that fit into
    /// the buffer, in bytes (`tcp_select_initial_window`).
    pub(super) fn initial_window(&self, full_size: u64) -> u64 {
        let window = window_of(self.buffer.memory, DEFAULT_RATIO).min(MAX_INITIAL_WINDOW);
        if window > full_size { window / full_size * full_size } else { window }
    }

    /// Applies the window that the handshake has `offered`, for segments of `full_size` bytes.
    pub(super) fn open(&mut self, offered: u64, full_size: u64) {
        self.buffer.open(offered, full_size);
    }

    /// Begins the first round trip with the first segment after the handshake
    /// (`tcp_init_buffer_space`).
    #[inline]
    pub(super) fn begin(&mut self, now: Instant) {
        self.buffer.began.get_or_insert((now, 0));
    }

    /// Returns the window that an ACK would offer now.
    pub(super) fn selected(&self) -> Selected {
        Selected { window: self.buffer.window(), is_short: self.buffer.is_short() }
    }

    /// Returns the estimates of autotuning, or `None` if the ledger of the ACK policy has
    /// estimates.
    pub(super) fn round_trip(&mut self) -> Option<&mut RoundTrip> {
        self.round_trip.as_deref_mut()
    }
}

/// The window that Linux selects for an ACK (`__tcp_select_window`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected {
    /// The window, in bytes from rcv.nxt on.
    pub(super) window: u64,
    /// `true` if less than half of the buffer is free.
    pub(super) is_short: bool,
}

impl Receiver {
    /// Grows the buffer after an arrival. The `data` are already in the ledger and in the stream,
    /// and advanced rcv.nxt by `advanced` bytes.
    #[inline]
    pub(super) fn autotune(&mut self, now: Instant, arrival: Arrival, data: &Range<u64>, advanced: u64) {
        if arrival == Arrival::Duplicate {
            return;
        }
        let Some((buffer, mut flow)) = self.tuned() else { return };
        let octets = data.end - data.start;
        // The kernel counts memory per packet, and a packet may contain several segments.
        flow.full_size = flow.full_size.max(octets);
        if buffer.arrive(now, &Arrived { octets, advanced, flow }) {
            self.tell_policy(|policy| policy.on_window_growth());
        }
    }

    /// Grows the buffer after the application has read `octets` bytes.
    pub(super) fn autotune_read(&mut self, now: Instant, octets: u64) {
        if let Some((buffer, flow)) = self.tuned() {
            buffer.read(now, octets, &flow);
        }
    }

    /// Returns the buffer and the flow, or `None` without autotuning.
    fn tuned(&mut self) -> Option<(&mut ReceiveBuffer, Flow)> {
        let autotuning = self.autotuning.as_mut()?;
        let ledger = self.acknowledger.ledger();
        let round_trip = ledger.round_trip.as_ref().or(autotuning.round_trip.as_ref());
        let flow = Flow {
            full_size: ledger.full_size,
            beyond: self.stream.end() - self.stream.next(),
            round_trip: round_trip.and_then(|estimates| estimates.smoothed()),
            has_sack: self.agreed.is_some_and(|agreed| agreed.has_sack),
            is_read_at_once: self.window.is_read_at_once(),
        };
        Some((&mut autotuning.buffer, flow))
    }
}

/// The state of the buffer.
#[derive(Clone, Debug)]
struct ReceiveBuffer {
    kernel: Kernel,
    /// `tcp_rmem[2]`: the maximum memory of the buffer. Also the maximum window, if it is less than
    /// the initial memory.
    largest: u64,
    /// `scaling_ratio`: the bytes of window per 256 bytes of memory.
    ratio: u64,
    /// `sk_rcvbuf`: the memory that the buffer may use now.
    memory: u64,
    /// `window_clamp`: the maximum window.
    clamp: u64,
    /// `rcv_ssthresh`: the window that is offered while the buffer is free.
    offered: u64,
    /// `rcvq_space.space`: the maximum number of bytes that the application has read in a round
    /// trip.
    per_round_trip: u64,
    /// `rcvq_space.time` and `.seq`: the start time of the present round trip, and the offset of
    /// the stream at that time.
    began: Option<(Instant, u64)>,
    /// The number of bytes that have arrived in order: rcv.nxt.
    next: u64,
    /// The bytes below rcv.nxt that the application has not read.
    unread: Unread,
    /// Number of bytes beyond gaps.
    held: u64,
    /// `rcv_mss`: payload of a full-sized segment.
    full_size: u64,
}

/// A segment with new data.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// Payload of the segment, in bytes.
    octets: u64,
    /// Bytes by which rcv.nxt advances.
    advanced: u64,
    flow: Flow,
}

/// The receiver's view of the flow.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Payload of a full-sized segment.
    full_size: u64,
    /// The distance from rcv.nxt to the end of the data beyond gaps.
    beyond: u64,
    /// The receiver's estimate of the round-trip time.
    round_trip: Option<Duration>,
    /// `true` if the connection uses SACK.
    has_sack: bool,
    /// `true` if the application reads arriving data immediately.
    is_read_at_once: bool,
}

impl ReceiveBuffer {
    const fn new(kernel: Kernel, largest: u64) -> Self {
        Self {
            kernel,
            largest,
            ratio: DEFAULT_RATIO,
            memory: INITIAL,
            clamp: window_of(INITIAL, DEFAULT_RATIO),
            offered: 0,
            per_round_trip: 0,
            began: None,
            next: 0,
            unread: Unread::new(),
            held: 0,
            full_size: 0,
        }
    }

    /// Applies the window that the handshake has `offered` (`tcp_init_buffer_space`). 6.12 reserves
    /// a segment of `full_size` bytes, 6.18 does not.
    fn open(&mut self, offered: u64, full_size: u64) {
        self.offered = match self.kernel {
            Kernel::V6_12 if self.clamp > 2 * full_size => offered.min(self.clamp - full_size),
            _ => offered.min(self.clamp),
        };
        self.per_round_trip = self.offered.min(INITIAL_SEGMENTS * full_size);
    }

    /// Returns the offered window (`__tcp_select_window`): `rcv_ssthresh`, limited to the free
    /// bytes of the buffer. Returns zero if few bytes are free.
    fn window(&self) -> u64 {
        let free = self.free();
        let is_little = free < window_of(self.memory, self.ratio) >> 4 || free < self.full_size;
        if self.is_short() && is_little { 0 } else { self.offered.min(free) }
    }

    /// Returns the free memory (`tcp_space`). Unread data and data beyond gaps occupy memory.
    const fn free(&self) -> u64 {
        window_of(self.memory.saturating_sub(self.unread.memory()), self.ratio).saturating_sub(self.held)
    }

    /// Returns `true` if less than half of the buffer is free.
    fn is_short(&self) -> bool {
        self.free() < self.clamp >> 1
    }

    /// Processes an arrival. Returns `true` if it makes the window grow.
    fn arrive(&mut self, now: Instant, arrived: &Arrived) -> bool {
        let flow = &arrived.flow;
        self.make_room();
        self.full_size = flow.full_size;
        self.measure(flow.full_size);
        let grows = self.grow_window(arrived);
        self.held = (self.held + arrived.octets).saturating_sub(arrived.advanced);
        let before = self.next;
        self.next += arrived.advanced;
        if !flow.is_read_at_once {
            self.unread.queue(arrived.advanced, arrived.octets, flow.full_size);
        }
        if arrived.advanced == 0 {
            if self.kernel == Kernel::V6_18 {
                // tcp_data_queue_ofo
                self.grow_buffer(self.per_round_trip, flow);
            }
        } else if flow.is_read_at_once {
            // The application reads this segment first, and then the segments after the gap that it
            // fills.
            let first = arrived.octets.min(arrived.advanced);
            self.adjust(now, flow, before + first);
        }
        grows
    }

    /// Processes a read of `octets` bytes. The kernel adjusts the buffer with each segment that it
    /// returns to the application (`tcp_recvmsg_locked`), so that the first segment ends a round
    /// trip.
    fn read(&mut self, now: Instant, octets: u64, flow: &Flow) {
        let first = octets.min(self.unread.first());
        self.unread.take(first);
        self.adjust(now, flow, self.next - self.unread.octets());
        self.unread.take(octets - first);
    }

    /// Grows an overcommitted buffer to the size of its contents. The window does not grow
    /// (`tcp_clamp_window`).
    fn make_room(&mut self) {
        let taken = self.unread.memory() + memory_for(self.held, self.ratio);
        self.memory = self.memory.max(taken.min(self.largest));
    }

    /// Adapts the ratio to the full size (`tcp_measure_rcv_mss`), because the fraction of payload
    /// depends on the size of segments.
    fn measure(&mut self, full_size: u64) {
        if full_size < SHORTEST_FULL_SIZE {
            return;
        }
        let ratio = ratio_of(full_size);
        if ratio != self.ratio {
            self.ratio = ratio;
            self.clamp = window_of(self.memory, ratio);
            match self.kernel {
                Kernel::V6_12 => self.per_round_trip = self.per_round_trip.min(self.clamp),
                // tcp_set_window_clamp
                Kernel::V6_18 => self.offered = self.offered.min(self.clamp),
            }
        }
    }

    /// Grows the window by two segments if the buffer permits it (`tcp_grow_window`). Without SACK,
    /// the window does not grow while a gap is open (`tcp_data_queue_ofo`), because an ACK with
    /// another window is not a duplicate ACK. The segment itself occupies memory, and so do
    /// segments after the gap that it fills.
    fn grow_window(&mut self, arrived: &Arrived) -> bool {
        let taken = self.unread.memory() + memory_of(arrived.octets);
        let free = window_of(self.memory.saturating_sub(taken), self.ratio).saturating_sub(self.held);
        let limit = free.min(self.clamp).min(self.largest);
        let shows_gap = arrived.advanced == 0 && !arrived.flow.has_sack;
        if limit <= self.offered || arrived.octets < SHORTEST || shows_gap {
            return false;
        }
        self.offered += (2 * arrived.flow.full_size).min(limit - self.offered);
        true
    }

    /// Adapts the buffer once per round trip to the bytes that the application has read, minus the
    /// bytes left (`tcp_rcv_space_adjust`). The application has read `read` bytes in total.
    fn adjust(&mut self, now: Instant, flow: &Flow, read: u64) {
        let (since, from) = *self.began.get_or_insert((now, 0));
        let Some(round_trip) = flow.round_trip else { return };
        if now.since(since) < round_trip {
            return;
        }
        let copied = (read - from).saturating_sub(self.next - read);
        if copied > self.per_round_trip {
            self.grow_buffer(copied, flow);
        }
        self.began = Some((now, read));
    }

    /// Grows the buffer to twice the data of a round trip, and more if the amount has increased.
    /// Linux 6.12 adds a cushion (`tcp_rcv_space_adjust`), 6.18 the data beyond gaps
    /// (`tcp_rcvbuf_grow`).
    fn grow_buffer(&mut self, copied: u64, flow: &Flow) {
        let before = std::mem::replace(&mut self.per_round_trip, copied);
        let (cushion, beyond) = match self.kernel {
            Kernel::V6_12 => (CUSHION * flow.full_size, 0),
            Kernel::V6_18 => (0, flow.beyond),
        };
        let steady = 2 * copied + cushion;
        let grown = u128::from(steady) * u128::from(copied - before) / u128::from(before.max(1));
        let window = u128::from(steady + beyond) + 2 * grown;
        let memory = memory_for(window.min(u128::from(u64::MAX / WHOLE)) as u64, self.ratio).min(self.largest);
        if memory > self.memory {
            self.memory = memory;
            self.clamp = window_of(memory, self.ratio);
        }
    }
}

/// Returns `scaling_ratio` for full-sized segments of `full_size` bytes.
const fn ratio_of(full_size: u64) -> u64 {
    full_size * WHOLE / memory_of(full_size)
}

/// Converts memory into window, as `tcp_win_from_space` does.
const fn window_of(memory: u64, ratio: u64) -> u64 {
    memory * ratio / WHOLE
}

/// Converts window into memory, as `tcp_space_from_win` does.
const fn memory_for(window: u64, ratio: u64) -> u64 {
    window * WHOLE / ratio
}

#[cfg(test)]
mod tests;
