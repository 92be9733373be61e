//! Counts the memory of a send buffer as Linux does (6.18; `net/ipv4/tcp_input.c`, `tcp.c`,
//! `include/net/sock.h`; function names in parentheses).
//!
//! A segment needs more memory than its payload, and `tcp_wmem` limits the memory. The limit grows
//! with the congestion window (`tcp_sndbuf_expand`). An application that has filled the buffer may
//! write again when a third of the buffer is free (`sk_stream_write_space`).
//!
//! Segmentation offload combines many segments into one `struct sk_buff`. Offload is modelled only
//! for a buffer whose size the application sets (`offload`). A small buffer contains few such
//! structures, so their size determines its contents.

mod offload;

use super::{Sender, announced_mss};
use crate::cc::CongestionControl;
use acklab_base::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The quantity that the size of the send buffer limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SendBufferLimit {
    /// The bytes that are written but not acknowledged.
    Payload,
    /// The memory of these bytes in Linux. The size is then the maximum to which the buffer grows
    /// (`tcp_wmem[2]`).
    Memory,
}

/// `SKB_DATA_ALIGN(sizeof(struct sk_buff))`.
const SK_BUFF: u64 = 256;
/// `SKB_DATA_ALIGN(sizeof(struct skb_shared_info))`.
const SHARED_INFO: u64 = 320;
/// `MAX_TCP_HEADER` of a kernel without 802.11; with `CONFIG_WLAN` it is 320.
const MAX_TCP_HEADER: u64 = 256;
/// The memory of a segment in addition to its payload, which is in pages (`tcp_stream_alloc_skb`,
/// `SKB_TRUESIZE`): 832 bytes, as `SO_MEMINFO` confirms.
const OVERHEAD: u64 = MAX_TCP_HEADER + SK_BUFF + SHARED_INFO;
/// `TCP_INIT_CWND`: the buffer is sized for windows of at least this number of segments.
const MIN_SEGMENTS: u64 = 10;

/// The state of a send buffer that memory limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SendMemory {
    /// `sk_sndbuf`.
    limit: u64,
    /// `tcp_wmem[2]`.
    largest: u64,
    /// The memory of a segment in `tcp_sndbuf_expand`: a head whose size is a power of two.
    per_segment: u64,
    /// `true` if the application waits until the buffer has room (`SOCK_NOSPACE`).
    has_waiting_writer: bool,
    /// `true` if the application has set the limit (`SOCK_SNDBUF_LOCK`).
    is_fixed: bool,
}

/// The contents of a send buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// Bytes of payload.
    pub(super) payload: u64,
    /// The number of `struct sk_buff`: segments, or the combinations of segments by offload.
    pub(super) segments: u64,
    /// The bytes by which the last `struct sk_buff` can still grow.
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

    /// Returns the size for `windows` windows of `segments`, limited to the maximum of the buffer.
    fn size_for(&self, segments: u64, windows: u64) -> u64 {
        let wanted = windows.saturating_mul(segments.max(MIN_SEGMENTS)).saturating_mul(self.per_segment);
        wanted.min(self.largest)
    }

    /// Grows the buffer to `windows` windows of `segments` (`tcp_sndbuf_expand`).
    fn expand(&mut self, segments: u64, windows: u64) {
        self.limit = self.limit.max(self.size_for(segments, windows));
    }

    /// Returns `true` if the application waits until the buffer has room.
    #[inline]
    pub(super) const fn has_waiting_writer(&self) -> bool {
        self.has_waiting_writer
    }

    /// Returns the bytes that may be written in segments of `full_size` (`tcp_sendmsg_locked`). A
    /// segment may start until the limit is reached.
    pub(super) const fn room(&self, held: Held, full_size: u64) -> u64 {
        if self.has_waiting_writer {
            return 0;
        }
        let free = self.limit.saturating_sub(held.memory());
        held.space_in_last + free.div_ceil(full_size + OVERHEAD) * full_size
    }

    /// Records that the application has filled the buffer and waits.
    pub(super) const fn note_full(&mut self) {
        self.has_waiting_writer = true;
    }

    /// Releases the waiting application if the free memory is at least half of the used memory
    /// (`__sk_stream_is_writeable`).
    const fn release_writer(&mut self, held: Held) {
        let taken = held.memory();
        self.has_waiting_writer = taken >= self.limit || self.limit - taken < taken / 2;
    }
}

impl Sender {
    /// Sets the initial size of the buffer once the connection is established
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

    /// Returns the bytes that the memory permits the application to write.
    pub(super) fn room_in(&self, memory: &SendMemory) -> u64 {
        if memory.is_fixed {
            self.room_in_fixed(memory)
        } else {
            memory.room(self.held(), self.congestion.control.window.mss)
        }
    }

    /// Returns the contents of the send buffer. SACK merges adjacent segments
    /// (`tcp_shift_skb_data`), so that only the payload of merged segments is counted.
    pub(super) fn held(&self) -> Held {
        let full_size = self.congestion.control.window.mss;
        let (written, una, nxt) = (self.buffer.written(), self.board.una(), self.board.nxt());
        let (unsent_segments, space_in_last) = self.records.segments(nxt, written, full_size);
        let outstanding = (self.board.segments() as u64).saturating_sub(u64::from(self.board.sacked_segments()));
        Held { payload: written.saturating_sub(una), segments: outstanding + unsent_segments, space_in_last }
    }

    /// Checks the buffer after an ACK, before the data that the ACK permits are sent.
    ///
    /// If the application waits and the congestion window is not full, the buffer grows
    /// (`tcp_should_expand_sndbuf`). The application may write once enough of the buffer is free.
    /// Linux makes this check after each new segment (`tcp_event_new_data_sent` calls
    /// `tcp_check_space`). The check therefore uses the window after the first new segment.
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

    /// Returns `true` if the window of `segments` is full after one more segment.
    #[inline(never)]
    fn fills_window(&self, segments: u64) -> bool {
        // With pacing, the first segment may be delayed.
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

    /// Linux 6.18 reports `sk_sndbuf` 46,080 once the connection is established: 2 · 10 segments of
    /// 2048 + 256 bytes.
    #[test]
    fn the_first_size_holds_two_initial_windows() {
        let mut memory = SendMemory::new(4 << 20, 1460);
        memory.expand(10, 2);
        assert_eq!((memory.per_segment, memory.limit), (2304, 46_080));
        // 20 segments of 2280 bytes leave 480 bytes, so one more segment may start.
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

    /// Of 46,080 bytes, 13 segments use 29,640. The free 16,440 bytes are more than half of that.
    /// With 14 segments, the free bytes are less than half.
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
