//! D-SACK (RFC 2883): the receiver reports what arrived twice.

use super::super::rules::{DsackDelivery, DsackWidening};
use super::Sender;
use acklab_wire::tcp::Options;
use std::ops::Range;

impl Sender {
    /// The octets that the first SACK block reports as received twice: RFC 2883, §4, it lies below the acknowledgment number or within the
    /// second block.
    pub(super) fn duplicate_reported(&self, options: &Options, ack: u64) -> Option<Range<u64>> {
        let una = self.board.una();
        let offsets = |index: usize| {
            let block = options.sack.as_slice().get(index)?;
            Some(self.connection.offset_near(block.start, una)..self.connection.offset_near(block.end, una))
        };
        let first = offsets(0)?;
        let is_within = |outer: Range<u64>| outer.start <= first.start && first.end <= outer.end;
        (first.start < first.end && (first.end <= ack || offsets(1).is_some_and(is_within))).then_some(first)
    }

    /// A retransmission was spurious: the reordering window widens, and the reduction may be undone. Returns the octets that count as
    /// delivered by it.
    #[inline(never)]
    pub(super) fn note_dsack(&mut self, duplicate: &Range<u64>) -> u64 {
        let octets = duplicate.end - duplicate.start;
        let segments = octets.div_ceil(self.congestion.control.window.mss);
        self.loss.dsacked_segments += segments;
        // More than a window, or more duplicates than retransmissions: not of this end's making (tcp_dsack_seen).
        let is_dubious =
            octets > self.peer_window.largest() || self.loss.dsacked_segments > self.counters.retransmissions;
        if self.rules.dsack_delivery == DsackDelivery::Counted && is_dubious {
            return 0;
        }
        let is_probe = self.loss.probe.episode.is_some_and(|episode| episode.until == duplicate.end && segments == 1);
        let widens = match self.rules.dsack_widening {
            DsackWidening::Every => true,
            DsackWidening::AfterReordering => self.loss.rack.has_seen_reordering() && !is_probe,
        };
        if widens {
            self.loss.rack.on_dsack(self.board.una(), self.board.nxt());
        }
        self.congestion.undo.on_dsack(duplicate, segments);
        self.note_needless_retransmission(duplicate);
        match self.rules.dsack_delivery {
            DsackDelivery::Ignored => 0,
            DsackDelivery::Counted => octets,
        }
    }
}
