//! Finds where the application of a sender may have paused.
//!
//! A segment that is not full, or that has PSH, may end a write of the application (RFC 9293,
//! §3.8.6.2.1 and §3.9.1.2). The data after it may have been sent at the next write, so their
//! distance is not that of the path. If nothing was outstanding at that time, the application has
//! paused (after T-RAT's flows limited by their application: Zhang et al., *On the Characteristics
//! and Origins of Internet Flow Rates*, SIGCOMM 2002, §4). Otherwise it may have continued
//! immediately: Linux pushes each packet of a TLS stream that fills its buffer.

use std::collections::VecDeque;

/// The minimum share of a full payload for a full segment: variable options (SACK, 36 bytes of
/// 1448) use some of it.
const FULL: f64 = 0.9;
/// The minimum payload of a full-sized segment: the default MSS of IPv4 (RFC 9293, §3.7.1). A
/// smaller maximum payload indicates messages.
const MIN_FULL: u32 = 536;
/// QUIC datagrams up to this length carry no data. An ACK frame with a connection ID, a packet
/// number and a tag takes 30 to 80 bytes (RFC 9000, §19.3).
const MAX_CONTROL: u32 = 100;
/// The maximum number of ends of writes that are stored until they are acknowledged.
const MAX_ENDS: usize = 1 << 12;

/// Returns `true` if a segment with `length` bytes is full. `mss` is the payload of a full-sized
/// one.
#[inline]
pub(crate) fn is_full(length: u32, mss: u32) -> bool {
    mss >= MIN_FULL && f64::from(length) >= FULL * f64::from(mss)
}

/// Returns `true` if a segment with `length` bytes may end a write.
#[inline]
pub(crate) fn ends_write(length: u32, mss: u32, is_pushed: bool) -> bool {
    is_pushed || !is_full(length, mss)
}

/// Returns `true` if a datagram of QUIC carries no data.
#[inline]
pub(crate) const fn is_control(length: u32) -> bool {
    length <= MAX_CONTROL
}

/// Like [`ends_write`], for the datagram of a transport whose segments cannot be read.
#[inline]
pub(crate) fn datagram_ends_write(length: u32, mss: u32) -> bool {
    !is_control(length) && !is_full(length, mss)
}

/// The certainty of a pause of the application between the data of one ACK and the data of the
/// next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pause {
    /// The sender had more data to send.
    #[default]
    None,
    /// A write may have ended.
    Possible,
    /// A write ended, and no data were outstanding when the next write began.
    Certain,
    /// The clock of the capture has stepped, so times are unknown.
    Step,
}

/// The ends of writes in one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writes {
    /// `true` if the newest segment is within a write, so that the sender has more to send.
    has_more: bool,
    /// Offsets after segments that end a write and are not acknowledged yet.
    ends: VecDeque<u64>,
    /// The pause before the data that are not acknowledged.
    pending: Pause,
}

impl Writes {
    /// Records that new data up to `end` were sent, with or without outstanding data.
    #[inline]
    pub(crate) fn send(&mut self, end: u64, ends_write: bool, is_outstanding: bool) {
        if !is_outstanding && self.pending == Pause::Possible {
            self.pending = Pause::Certain;
        }
        self.has_more = !ends_write;
        if ends_write {
            if self.ends.len() == MAX_ENDS {
                self.ends.pop_front();
            }
            self.ends.push_back(end);
        }
    }

    /// Returns `true` if the newest segment is within a write.
    pub(crate) const fn has_more(&self) -> bool {
        self.has_more
    }

    /// Returns the pause between the data that the previous ACK acknowledged and the data below
    /// `ack`.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u64) -> Pause {
        let mut pause = std::mem::take(&mut self.pending);
        while let Some(end) = self.ends.pop_front_if(|end| *end <= ack) {
            pause = pause.max(Pause::Possible);
            if end == ack {
                self.pending = Pause::Possible;
            }
        }
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_pushed_segments_end_a_write() {
        assert!(!ends_write(1448, 1448, false) && !ends_write(1412, 1448, false), "36 bytes of SACK");
        assert!(ends_write(1448, 1448, true) && ends_write(700, 1448, false));
        assert!(ends_write(200, 200, false), "messages of 200 bytes are no full-sized segments");
        assert!(!datagram_ends_write(40, 1252) && datagram_ends_write(700, 1252), "40 bytes are an ACK");
    }

    /// ACKs for each second of eight segments of 1000 bytes, the fourth of which ends a write.
    #[test]
    fn the_distances_on_both_sides_of_an_end_are_spoiled() {
        let mut writes = Writes::default();
        (1..=8).for_each(|segment| writes.send(segment * 1000, segment == 4, true));
        let pauses = [2000, 4000, 6000, 8000].map(|ack| writes.acknowledge(ack));
        assert_eq!(pauses, [Pause::None, Pause::Possible, Pause::Possible, Pause::None]);
    }

    #[test]
    fn an_ack_beyond_an_end_spoils_its_own_distance_only() {
        let mut writes = Writes::default();
        (1..=6).for_each(|segment| writes.send(segment * 1000, segment == 3, true));
        let pauses = [2000, 4000, 6000].map(|ack| writes.acknowledge(ack));
        assert_eq!(pauses, [Pause::None, Pause::Possible, Pause::None]);
    }

    #[test]
    fn a_pause_is_certain_if_nothing_was_outstanding() {
        let mut writes = Writes::default();
        writes.send(1000, true, false);
        assert_eq!(writes.acknowledge(1000), Pause::Possible, "the end itself");
        writes.send(2000, true, false);
        assert_eq!(writes.acknowledge(2000), Pause::Certain);
    }
}
