//! Processes D-SACK (RFC 2883), with which the receiver reports duplicate bytes.

use super::super::rules::{DsackDelivery, DsackMatch, DsackWidening};
use super::Sender;
use acklab_wire::tcp::Options;
use std::ops::Range;

/// The report of a D-SACK.
#[derive(Clone, Debug)]
pub(super) struct Duplicate {
    /// The bytes that arrived twice.
    range: Range<u64>,
    /// The number of retransmissions that the D-SACK reports.
    retransmissions: u64,
}

/// The consequences of a D-SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spurious {
    /// The bytes of the D-SACK that are counted as delivered.
    pub(super) delivered: u64,
    /// `true` if the D-SACK reports the tail loss probe in flight (RFC 8985, §7.4.2).
    pub(super) is_probe: bool,
}

impl Sender {
    /// Returns the bytes that the first SACK block reports as received twice. That block lies below
    /// the acknowledgment number or within the second block (RFC 2883, §4). Called before the ACK
    /// advances snd.una.
    pub(super) fn duplicate_reported(&mut self, options: &Options, ack: u64) -> Option<Duplicate> {
        let una = self.board.una();
        let offsets = |index: usize| {
            let block = options.sack.as_slice().get(index)?;
            Some(self.connection.offset_near(block.start, una)..self.connection.offset_near(block.end, una))
        };
        let first = offsets(0)?;
        let is_within = |outer: Range<u64>| outer.start <= first.start && first.end <= outer.end;
        let is_duplicate = first.start < first.end && (first.end <= ack || offsets(1).is_some_and(is_within));
        is_duplicate.then(|| Duplicate { retransmissions: self.retransmissions_reported(&first), range: first })
    }

    /// Returns the number of retransmissions that a D-SACK of `range` reports.
    #[inline(never)]
    fn retransmissions_reported(&mut self, range: &Range<u64>) -> u64 {
        match self.rules.dsack_match {
            DsackMatch::Retransmitted => self.loss.retransmitted.report(range),
            DsackMatch::BelowUna if range.end <= self.board.una() || self.board.was_retransmitted(range.start) => {
                self.segments_of(range)
            }
            DsackMatch::BelowUna => 0,
        }
    }

    fn segments_of(&self, range: &Range<u64>) -> u64 {
        (range.end - range.start).div_ceil(self.congestion.control.window.mss)
    }

    /// Processes a spurious retransmission. The reordering window widens, and the reduction of the
    /// congestion window may be undone. A D-SACK of a copy that the network made has no effect.
    #[inline(never)]
    pub(super) fn note_dsack(&mut self, duplicate: &Duplicate) -> Spurious {
        let Duplicate { range, retransmissions } = duplicate;
        let (octets, segments) = (range.end - range.start, self.segments_of(range));
        self.loss.dsacked_segments += segments;
        // The D-SACK is dubious if it reports more than a window of duplicates, or more duplicates
        // than retransmissions. This end cannot have caused these duplicates (tcp_dsack_seen). RFC
        // 3708, §3, rejects D-SACK if the network duplicates packets.
        let is_dubious =
            octets > self.peer_window.largest() || self.loss.dsacked_segments > self.counters.retransmissions;
        let is_of_network = self.rules.dsack_match == DsackMatch::Retransmitted && *retransmissions == 0;
        if is_dubious || is_of_network {
            return Spurious::default();
        }
        let is_probe = self.loss.probe.episode.is_some_and(|episode| episode.until == range.end && segments == 1);
        let widens = match self.rules.dsack_widening {
            DsackWidening::Every => true,
            DsackWidening::AfterReordering => self.loss.rack.has_seen_reordering() && !is_probe,
        };
        if widens {
            self.loss.rack.on_dsack(self.board.una(), self.board.nxt());
        }
        self.congestion.undo.on_dsack(range, *retransmissions);
        self.note_needless_retransmission(range);
        let delivered = match self.rules.dsack_delivery {
            DsackDelivery::Ignored => 0,
            DsackDelivery::Counted => octets,
        };
        Spurious { delivered, is_probe }
    }

    /// Records that `segment` is retransmitted. A receiver reports a duplicate immediately, and at
    /// most a window of data is acknowledged in the meantime.
    #[inline]
    pub(super) fn remember_retransmission(&mut self, segment: Range<u64>) {
        if self.rules.dsack_match == DsackMatch::Retransmitted {
            let oldest = self.board.una().saturating_sub(self.peer_window.largest());
            self.loss.retransmitted.on_retransmission(segment, oldest);
        }
    }
}
