//! Matches one packet of a script with several segments. With segmentation offload, the kernel
//! passes a packet of several MSS to its device. acklab's TCP sends each segment separately.
//! `verify_outbound_live_packet` of packetdrill's `run_packet.c` also joins segments if the packets
//! cross a real network.

use super::Player;
use crate::script::Packet;
use acklab_base::{Duration, Instant};
use acklab_wire::tcp::{Flags, Segment};

/// The maximum time between segments that are considered back to back.
const BURST: Duration = Duration::from_millis(1);

impl Player<'_> {
    /// Returns the oldest sent packet in the numbers of the script, with its time. If `expected` is
    /// longer, the following segments are joined with it.
    pub(super) fn gather(&mut self, expected: &Packet) -> Option<(Instant, Packet)> {
        let (at, first) = self.left.pop_front()?;
        let mut whole = first;
        while !self.command_line.is_strict && whole.payload > 0 && whole.payload < expected.payload {
            if self.left.is_empty() {
                let mut left = crate::stack::Departures::new();
                self.stack.pass(at + BURST, &mut left);
                self.left.append(&mut left);
            }
            let Some((_, next)) =
                self.left.front().filter(|(then, next)| then.since(at) <= BURST && continues(&whole, next))
            else {
                break;
            };
            whole = joined(&whole, next);
            self.left.pop_front();
        }
        let mut packet = self.numbers.left(&whole, Some(expected));
        if whole.payload > first.payload || !self.ends_write(&packet) {
            // Linux sets PSH on a packet of several segments, to end their coalescing at the
            // receiver (`__tcp_transmit_skb`). It does not set PSH on several packets that the
            // script joins, as in a script of retransmissions. Offload then leaves PSH on the last
            // segment. So PSH is not compared here.
            packet.flags = packet.flags.with(Flags::PSH, expected.flags.contains(Flags::PSH));
        }
        Some((at, packet))
    }

    /// Returns `false` if `packet` contains data from the middle of a write, unless the script
    /// requires each segment to be exact. A packet without data is not part of a write.
    fn ends_write(&self, packet: &Packet) -> bool {
        let start = u64::from(packet.seq.wrapping_sub(1));
        let end = start + u64::from(packet.payload);
        self.command_line.is_strict || start == end || self.writes.range(start + 1..=end).next().is_some()
    }
}

/// Returns `true` if `next` continues `first` and is otherwise equal. Only the last segment of a
/// packet carries FIN, and only the first one carries CWR. PSH may be on each segment: offload
/// keeps one flag for all.
fn continues(first: &Segment, next: &Segment) -> bool {
    let kept = |flags: Flags| flags.with(Flags::PSH | Flags::FIN | Flags::CWR, false);
    let has_cwr = |segment: &Segment| segment.flags.contains(Flags::CWR);
    next.payload > 0
        && next.seq.0 == first.seq.0.wrapping_add(first.payload)
        && !first.flags.contains(Flags::FIN)
        && kept(next.flags) == kept(first.flags)
        && (has_cwr(first) || !has_cwr(next))
        && (next.ack, next.ecn) == (first.ack, first.ecn)
        && first.options.timestamps.is_some() == next.options.timestamps.is_some()
}

/// Returns both as one packet.
fn joined(first: &Segment, next: &Segment) -> Segment {
    let flags = first.flags | next.flags;
    Segment { flags, payload: first.payload + next.payload, ..*first }
}
