//! A send buffer whose size the application sets (`SO_SNDBUF`), in a kernel with segmentation
//! offload.
//!
//! A `struct sk_buff` contains as many segments as offload permits (`tcp_xmit_size_goal`). The
//! limit is checked only before a new `struct sk_buff` is started. The buffer may therefore exceed
//! its size by nearly one `struct sk_buff`.

use super::{Held, OVERHEAD, SendMemory};
use crate::tcp::sender::Sender;

/// `sysctl_wmem_max`, since Linux 6.17: the maximum that the application can request.
const MOST: u64 = 4 << 20;
/// `SOCK_MIN_SNDBUF` on a 64-bit machine: twice `TCP_SKB_MIN_TRUESIZE`.
const LEAST: u64 = 4608;
/// `sk_gso_max_size`: `GSO_LEGACY_MAX_SIZE` minus `MAX_TCP_HEADER` minus one (`sk_setup_caps`).
const OFFLOADED: u64 = 65_536 - super::MAX_TCP_HEADER - 1;
/// `TCP_MSS_DEFAULT`: for windows up to this size, a segment may exceed half the window.
const SMALL_WINDOW: u64 = 536;

impl SendMemory {
    /// Returns the buffer for a size that the application requests. The kernel doubles the size,
    /// because the size limits memory (`__sock_set_sndbuf`).
    fn fixed(size: u64) -> Self {
        let limit = (2 * size.min(MOST)).max(LEAST);
        Self { limit, largest: limit, per_segment: 0, has_waiting_writer: false, is_fixed: true }
    }

    /// Returns the bytes that may be written into buffers of `full_size`. `leaving` bytes may be
    /// sent immediately. They make room in the buffer that is being filled, without another check
    /// of the limit (`tcp_push_one`).
    fn room_with_offload(&self, held: Held, full_size: u64, mut leaving: u64) -> u64 {
        if self.has_waiting_writer {
            return 0;
        }
        let (mut room, mut memory) = (held.space_in_last, held.memory() + held.space_in_last);
        while memory < self.limit {
            let mut payload = full_size;
            if leaving < full_size {
                payload += leaving;
                memory += if leaving > 0 { OVERHEAD } else { 0 };
            }
            leaving = leaving.saturating_sub(full_size);
            room += payload;
            memory += payload + OVERHEAD;
        }
        room
    }
}

impl Sender {
    /// Sets the size of the send buffer in bytes of payload and overhead: half of the kernel's
    /// limit (`SO_SNDBUF`). The size no longer depends on the congestion window.
    pub(in crate::tcp) fn set_send_buffer(&mut self, size: u64) {
        let has_waiting_writer = self.memory.as_ref().is_some_and(SendMemory::has_waiting_writer);
        self.memory = Some(SendMemory { has_waiting_writer, ..SendMemory::fixed(size) });
    }

    /// Returns the memory that the send buffer may use, if memory limits the buffer (`sk_sndbuf`,
    /// which `SO_SNDBUF` reads).
    #[must_use]
    pub fn send_buffer(&self) -> Option<u64> {
        self.memory.as_ref().map(|memory| memory.limit)
    }

    pub(super) fn room_in_fixed(&self, memory: &SendMemory) -> u64 {
        memory.room_with_offload(self.held_with_offload(), self.offloaded_size(), self.leaving_at_once())
    }

    /// Returns the size of a `struct sk_buff` with offload (`tcp_xmit_size_goal`): whole segments,
    /// of at most half the largest window that the peer has offered (`tcp_bound_to_half_wnd`).
    fn offloaded_size(&self) -> u64 {
        let (mss, window) = (self.congestion.control.window.mss, self.peer_window.largest());
        let bound = if window > SMALL_WINDOW { window / 2 } else { window };
        (OFFLOADED.min(bound) / mss).max(1) * mss
    }

    /// Returns the contents of the buffer, in `struct sk_buff` of the size with offload.
    pub(super) fn held_with_offload(&self) -> Held {
        let full_size = self.offloaded_size();
        let (written, una, nxt) = (self.buffer.written(), self.board.una(), self.board.nxt());
        let (unsent, space_in_last) = self.records.segments(nxt, written, full_size);
        let outstanding = nxt.min(written).saturating_sub(una).div_ceil(full_size);
        Held { payload: written.saturating_sub(una), segments: outstanding + unsent, space_in_last }
    }

    /// Returns the bytes in whole segments that both windows permit now, in addition to the written
    /// data.
    fn leaving_at_once(&self) -> u64 {
        let room = self.congestion.room(self.board.pipe()).min(self.peer_window.room(self.board.nxt()));
        let mss = self.congestion.control.window.mss;
        (room / mss * mss).saturating_sub(self.unsent_with_fin())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Held = Held { payload: 0, segments: 0, space_in_last: 0 };

    #[test]
    fn the_kernel_doubles_what_it_is_given() {
        assert_eq!([0, 10_000, 1 << 40].map(|size| SendMemory::fixed(size).limit), [LEAST, 20_000, 8 << 20]);
    }

    /// 42,000 bytes of memory in `struct sk_buff` of 25,000 bytes. A second one starts at 25,832
    /// bytes, or at 36,664 bytes if 10,000 bytes of the first were sent.
    #[test]
    fn what_leaves_while_it_is_written_makes_room() {
        let memory = SendMemory::fixed(21_000);
        assert_eq!(memory.room_with_offload(NOTHING, 25_000, 0), 50_000);
        assert_eq!(memory.room_with_offload(NOTHING, 25_000, 10_000), 60_000);
        assert_eq!(memory.room_with_offload(NOTHING, 25_000, 25_000), 50_000, "the first one leaves as a whole");
        assert_eq!(memory.room_with_offload(NOTHING, 25_000, 40_000), 65_000, "15,000 of the second one");
        let held = Held { payload: 45_000, segments: 2, space_in_last: 5000 };
        assert_eq!(memory.room_with_offload(held, 25_000, 0), 5000);
    }

    #[test]
    fn a_waiting_application_has_no_room() {
        let mut memory = SendMemory::fixed(21_000);
        memory.note_full();
        assert_eq!(memory.room_with_offload(NOTHING, 25_000, 0), 0);
        // Two thirds of 42,000 may be used.
        memory.release_writer(Held { payload: 27_500, segments: 1, space_in_last: 0 });
        assert!(memory.has_waiting_writer);
        memory.release_writer(Held { payload: 27_000, segments: 1, space_in_last: 0 });
        assert!(!memory.has_waiting_writer);
    }
}
