//! Counters and logs inside the window of measurement.

use crate::airtime::{Airtime, Use};
use crate::counters::Counters;
use crate::hack;
use crate::originator::Mpdu;
use crate::ppdu::Ppdu;
use acklab_base::{Duration, FlowKey, Instant};
use std::ops::Range;

/// Counters and logs of a cell. They do not influence the cell.
#[derive(Clone, Debug)]
pub(super) struct Measurement<D> {
    pub(super) window: Range<Instant>,
    pub(super) airtime: Airtime,
    /// The counters of each node.
    pub(super) counters: Vec<Counters>,
    /// The TCP/HACK counters of each node.
    pub(super) hack: Vec<hack::Counters>,
    /// The flows of dropped packets that have not been reported yet.
    pub(super) dropped_flows: Vec<FlowKey>,
    /// All PPDUs, if logging is enabled.
    pub(super) log: Option<Vec<Ppdu<D>>>,
}

impl<D> Measurement<D> {
    pub(super) fn new(nodes: usize, has_hack: bool) -> Self {
        Self {
            window: Instant::ZERO..Instant::FAR_FUTURE,
            airtime: Airtime::new(nodes),
            counters: vec![Counters::default(); nodes],
            hack: if has_hack { vec![hack::Counters::default(); nodes] } else { Vec::new() },
            dropped_flows: Vec::new(),
            log: None,
        }
    }

    /// Returns `true` if `now` is inside the window.
    #[inline]
    pub(super) fn is_on(&self, now: Instant) -> bool {
        self.window.contains(&now)
    }

    /// Returns the counters of `node`, if `now` is inside the window.
    #[inline]
    pub(super) fn of(&mut self, now: Instant, node: usize) -> Option<&mut Counters> {
        if self.window.contains(&now) { Some(&mut self.counters[node]) } else { None }
    }

    /// Counts a frame that the peer of `node` has received for the first time.
    #[inline]
    pub(super) fn count_delivery(&mut self, now: Instant, node: usize, frame: &Mpdu<D>) {
        if let Some(counters) = self.of(now, node) {
            counters.first_successes += u64::from(frame.failures == 0);
            counters.delivered += u64::from(frame.packet_count);
            counters.delivered_bytes += frame.bytes.get();
            counters.delay += now.since(frame.arrived) * u64::from(frame.packet_count);
        }
    }

    /// Returns the TCP/HACK counters of `node`, if `now` is inside the window.
    #[inline]
    pub(super) fn hack_of(&mut self, now: Instant, node: usize) -> Option<&mut hack::Counters> {
        if self.window.contains(&now) { Some(&mut self.hack[node]) } else { None }
    }

    /// Accounts for the time between the last transmission and the transmission of `node` that
    /// begins now. The time is idle until an EDCAF waited, then interframe space, then backoff.
    pub(super) fn book_gap(&mut self, now: Instant, node: usize, space: Duration, since: Instant) {
        let waits_from = self.airtime.booked().max(since);
        let space_ends = self.airtime.booked() + space;
        self.airtime.book(super::ACCESS_POINT, Use::Idle, waits_from.min(now));
        self.airtime.book(node, Use::Interframe, space_ends.min(now));
        self.airtime.book(node, Use::Backoff, now);
    }
}
