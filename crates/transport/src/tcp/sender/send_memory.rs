//! The memory of a send buffer in Linux (6.18; `net/ipv4/tcp_input.c`, `tcp.c`,
//! `include/net/sock.h`; function names in parentheses).
//!
//! A segment needs more memory than its payload, and `tcp_wmem` limits the memory. The limit grows
//! with the congestion window (`tcp_sndbuf_expand`). An application that has filled the buffer may
//! write again when a third of it is free (`sk_stream_write_space`).
//!
//! Segmentation offload puts many segments into one `struct sk_buff`. It is modelled only for a
//! buffer whose size the application sets (`offload`): a small one holds few of those, so that
//! their size determines its contents.

mod offload;

use super::{Sender, announced_mss};
use crate::cc::CongestionControl;
use acklab_base::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the size of the send buffer limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SendBufferLimit {
    /// The octets that are written and not acknowledged.
    Payload,
    /// The memory that they take in Linux, where the size is the most to which the buffer grows
    /// (`tcp_wmem[2]`).
    Memory,
}

/// `SKB_DATA_ALIGN(sizeof(struct sk_buff))`.
const SK_BUFF: u64 = 256;
/// `SKB_DATA_ALIGN(sizeof(struct skb_shared_info))`.
const SHARED_INFO: u64 = 320;
/// `MAX_TCP_HEADER` of a kernel without 802.11; with `CONFIG_WLAN` it is 320.
const MAX_TCP_HEADER: u64 = 256;
/// The memory that a segment needs beside its payload, which lies in pages (`tcp_stream_alloc_skb`,
/// `SKB_TRUESIZE`): 832 octets, which `SO_MEMINFO` shows as well.
const OVERHEAD: u64 = MAX_TCP_HEADER + SK_BUFF + SHARED_INFO;
/// `TCP_INIT_CWND`: the minimum of segments in the windows that the buffer holds.
const MIN_SEGMENTS: u64 = 10;

/// The state of a send buffer that counts memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SendMemory {
    /// `sk_sndbuf`.
    limit: u64,
    /// `tcp_wmem[2]`.
    largest: u64,
    /// The memory of a segment in `tcp_sndbuf_expand`: a head whose size is a power of two.
    per_segment: u64,
    /// The application waits for room (`SOCK_NOSPACE`).
    has_waiting_writer: bool,
    /// The application has set the limit (`SOCK_SNDBUF_LOCK`).
    is_fixed: bool,
}

/// The contents of a send buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// Octets of payload.
    pub(super) payload: u64,
    /// Segments, or what offload combines them into: a `struct sk_buff` each.
    pub(super) segments: u64,
    /// Octets by which the last of those can still grow.
    pub(super) space_in_last: u64,
}

impl Held {
    /// `sk_wmem_queued`.
    const fn memory(self) -> u64 {
        self.payload + self.segments * OVERHEAD
    }
}

impl SendMemory {
    /// Creates a buffer that grows to `largest`, for a peer that announced `announced_mss`.
    fn new(largest: u64, announced_mss: u64) -> Self {
        let per_segment = (announced_mss + MAX_TCP_HEADER + SHARED_INFO).next_power_of_two() + SK_BUFF;
        Self { limit: 0, largest, per_segment, has_waiting_writer: false, is_fixed: false }
    }

    /// Returns the size for `windows` windows of `segments`, as far as the buffer may grow.
    fn size_for(&self, segments: u64, windows: u64) -> u64 {
        let wanted = windows.saturating_mul(segments.max(MIN_SEGMENTS)).saturating_mul(self.per_segment);
        wanted.min(self.largest)
    }

    /// Grows the buffer to `windows` windows of `segments` (`tcp_sndbuf_expand`).
    fn expand(&mut self, segments: u64, windows: u64) {
        self.limit = self.limit.max(self.size_for(segments, windows));
    }

    /// Returns `true` if the application waits for room.
    #[inline]
    pub(super) const fn has_waiting_writer(&self) -> bool {
        self.has_waiting_writer
    }

    /// Returns the octets that may be written in segments of `full_size` (`tcp_sendmsg_locked`): a
    /// segment begins as long as the limit is not reached.
    pub(super) const fn room(&self, held: Held, full_size: u64) -> u64 {
        if self.has_waiting_writer {
            return 0;
        }
        let free = self.limit.saturating_sub(held.memory());
        held.space_in_last + free.div_ceil(full_size + OVERHEAD) * full_size
    }

    /// Records that the application uses all the room that there is, and waits for more.
    pub(super) const fn note_full(&mut self) {
        self.has_waiting_writer = true;
    }

    /// Releases the waiting application if the free memory is half of the used
    /// (`__sk_stream_is_writeable`).
    const fn release_writer(&mut self, held: Held) {
        let taken = held.memory();
        self.has_waiting_writer = taken >= self.limit || self.limit - taken < taken / 2;
    }
}

impl Sender {
    /// Gives the buffer its first size once the connection is established
    /// (`tcp_init_buffer_space`).
    pub(super) fn begin_memory(&mut self) {
        let has_fixed = self.memory.is_some();
        if self.config.send_buffer_limit == SendBufferLimit::Memory && !has_fixed {
            let announced = announced_mss(&self.config);
            let mut memory = SendMemory::new(self.config.send_buffer.get(), u64::from(announced));
            memory.expand(self.window_segments(), self.congestion.control.controller.send_buffer_windows());
            self.memory = Some(memory);
        }
    }

    /// Returns the congestion window in whole segments.
    const fn window_segments(&self) -> u64 {
        self.congestion.control.window.cwnd / self.congestion.control.window.mss
    }

    /// Returns the octets that the memory lets the application write.
    pub(super) fn room_in(&self, memory: &SendMemory) -> u64 {
        if memory.is_fixed {
            self.room_in_fixed(memory)
        } else {
            memory.room(self.held(), self.congestion.control.window.mss)
        }
    }

    /// Returns the contents of the send buffer. SACK lets adjacent segments merge
    /// (`tcp_shift_skb_data`), so those count by their payload only.
    pub(super) fn held(&self) -> Held {
        let full_size = self.congestion.control.window.mss;
        let (written, una, nxt) = (self.buffer.written(), self.board.una(), self.board.nxt());
        let (unsent_segments, space_in_last) = self.records.segments(nxt, written, full_size);
        let outstanding = (self.board.segments() as u64).saturating_sub(u64::from(self.board.sacked_segments()));
        Held { payload: written.saturating_sub(una), segments: outstanding + unsent_segments, space_in_last }
    }

    /// Checks the buffer after an ACK, before what it permits is sent.
    ///
    /// If the application waits and the congestion window is not full, the buffer grows
    /// (`tcp_should_expand_sndbuf`). The application may write if enough of the buffer is free.
    /// Linux checks this after each new segment (`tcp_event_new_data_sent` calls
    /// `tcp_check_space`). So the window counts as not full if it is not full after the first one.
    pub(super) fn check_space(&mut self, now: Instant) {
        let Some(mut memory) = self.memory.filter(SendMemory::has_waiting_writer) else { return };
        if memory.is_fixed {
            memory.release_writer(self.held_with_offload());
        } else {
            self.expand_for_window(&mut memory);
            memory.release_writer(self.held());
        }
        self.memory = Some(memory);
        if !memory.has_waiting_writer {
            self.note_room_in_send_buffer(now);
        }
    }

    /// Grows the buffer with the window (`tcp_new_space`).
    fn expand_for_window(&self, memory: &mut SendMemory) {
        let segments = self.window_segments();
        let size = memory.size_for(segments, self.congestion.control.controller.send_buffer_windows());
        if size > memory.limit && !self.fills_window(segments) {
            memory.limit = size;
        }
    }

    /// Returns `true` if the window of `segments` is full once a segment has left.
    #[inline(never)]
    fn fills_window(&self, segments: u64) -> bool {
        // With pacing, the first segment may have to wait.
        let pushed = if self.pacing_rate().is_some() { 0 } else { self.sendable_octets() };
        (self.board.pipe() + pushed).div_ceil(self.congestion.control.window.mss) >= segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    fn segments(segments: u64) -> Held {
        Held { payload: segments * MSS, segments, space_in_last: 0 }
    }

    /// A kernel of 6.18 shows `sk_sndbuf` 46,080 once the connection stands: 2 · 10 segments of
    /// 2048 + 256 octets.
    #[test]
    fn the_first_size_holds_two_initial_windows() {
        let mut memory = SendMemory::new(4 << 20, 1460);
        memory.expand(10, 2);
        assert_eq!((memory.per_segment, memory.limit), (2304, 46_080));
        // 20 segments of 2280 octets leave 480, so one more may begin.
        assert_eq!(memory.room(segments(0), MSS), 21 * MSS);
        assert_eq!(memory.room(segments(20), MSS), MSS);
        assert_eq!(memory.room(segments(21), MSS), 0);
    }

    #[test]
    fn the_size_ends_at_the_largest() {
        let mut memory = SendMemory::new(4 << 20, 1460);
        memory.expand(5000, 2);
        assert_eq!(memory.limit, 4 << 20);
        assert_eq!(memory.room(segments(0), MSS), 1840 * MSS, "4 MiB / 2280, rounded up");
        memory.expand(10, 2);
        assert_eq!(memory.limit, 4 << 20, "it does not shrink");
    }

    /// 46,080 octets: at 13 segments 29,640 are taken and 16,440 free, which is more than half of
    /// them; at 14 it is less.
    #[test]
    fn a_waiting_application_writes_when_a_third_is_free() {
        let mut memory = SendMemory::new(4 << 20, 1460);
        memory.expand(10, 2);
        memory.note_full();
        for held in [20, 14] {
            memory.release_writer(segments(held));
            assert_eq!(memory.room(segments(held), MSS), 0, "{held}");
        }
        memory.release_writer(segments(13));
        assert_eq!(memory.room(segments(13), MSS), 8 * MSS);
    }

    #[test]
    fn the_last_segment_is_filled_first() {
        let mut memory = SendMemory::new(4 << 20, 1460);
        memory.expand(10, 2);
        let held = Held { payload: 20 * MSS + 1000, segments: 21, space_in_last: 448 };
        assert_eq!(memory.room(held, MSS), 448);
    }
}
