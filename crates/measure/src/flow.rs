//! A flow whose two ends are both measured, and the hosts of a network that have such flows.

use crate::probe::{FlowProbe, Probes};
use crate::relay::Relayed;
use crate::snapshot::Snapshot;
use acklab_base::{FlowKey, Instant};

/// One end of a flow, with the methods that its measurement uses.
pub trait End: Send {
    /// Returns the counters at `now`.
    fn snapshot(&self, now: Instant) -> Snapshot;

    /// Records the decisions of the ACK policy from now on.
    fn record_decisions(&mut self);
}

/// One flow.
pub struct Flow<E: ?Sized> {
    /// The sending and the receiving end.
    pub ends: [Box<E>; 2],
    /// The probes of the flow's measured directions.
    pub probes: Probes,
    /// The flow keys of the forward and the reverse direction.
    pub keys: [FlowKey; 2],
    /// The counters of both ends at the beginning of the measurement window.
    before: [Snapshot; 2],
}

impl<E: End + ?Sized> Flow<E> {
    /// Creates a flow between `ends` before its start.
    #[must_use]
    pub fn new(ends: [Box<E>; 2], keys: [FlowKey; 2], probes: Probes) -> Self {
        let before = [ends[0].snapshot(Instant::ZERO), ends[1].snapshot(Instant::ZERO)];
        Self { ends, probes, keys, before }
    }

    /// Records the decisions of the ACK policies from now on.
    pub fn record_decisions(&mut self) {
        self.ends.iter_mut().for_each(|end| end.record_decisions());
    }

    /// Returns, for each measured direction, the probe and the names of the reasons for which the
    /// receiving end sends acknowledgments.
    pub(crate) fn directions_with_reasons(&self) -> impl Iterator<Item = (&FlowProbe, Vec<String>)> {
        let reasons = self.ends.iter().rev().map(|end| end.snapshot(Instant::ZERO).reasons());
        self.probes.directions().zip(reasons)
    }

    /// Begins the measurement window.
    pub fn open(&mut self, now: Instant) {
        self.before = [self.ends[0].snapshot(now), self.ends[1].snapshot(now)];
        self.probes.forward.open(now, self.before[0].rtt_samples);
        if let Some(reverse) = &mut self.probes.reverse {
            reverse.open(now, self.before[1].rtt_samples);
        }
    }

    /// Drops directions that carried no data in the measurement window. For an observed connection,
    /// the directions with data are not known in advance. If only the reverse direction remains, it
    /// becomes the forward direction. Returns `true` for each of the two directions that remains.
    pub fn drop_silent(&mut self, now: Instant) -> [bool; 2] {
        let has_received = |end: usize| self.ends[end].snapshot(now).received > self.before[end].received;
        let remain = [has_received(1), self.probes.reverse.is_some() && has_received(0)];
        if !remain[0]
            && remain[1]
            && let Some(reverse) = self.probes.reverse.take()
        {
            self.probes.forward = *reverse;
            self.ends.swap(0, 1);
            self.keys.swap(0, 1);
            self.before.swap(0, 1);
        } else if !remain[1] {
            self.probes.reverse = None;
        }
        remain
    }

    /// Ends the measurement window. Returns the counts of both ends in the window.
    pub(crate) fn close(&mut self, until: Instant) -> [Snapshot; 2] {
        self.probes.close(until);
        [0, 1].map(|end| self.ends[end].snapshot(until).since(&self.before[end]))
    }
}

/// Hosts whose flows are measured.
pub trait Measured {
    /// The ends of the flows.
    type End: End + ?Sized;

    /// Returns all flows.
    fn flows(&self) -> &[Flow<Self::End>];

    /// Returns all flows.
    fn flows_mut(&mut self) -> &mut [Flow<Self::End>];

    /// Returns the probes of all measured directions. For each flow, returns the forward direction,
    /// then the reverse direction if it carries data.
    fn directions<'a>(&'a self) -> impl Iterator<Item = &'a FlowProbe>
    where
        Self::End: 'a,
    {
        self.flows().iter().flat_map(|flow| flow.probes.directions())
    }

    /// Begins the measurement window.
    fn open(&mut self, now: Instant) {
        self.flows_mut().iter_mut().for_each(|flow| flow.open(now));
    }

    /// Ends the measurement window of the proxies. Returns their measurements.
    fn close_relays(&mut self, _until: Instant) -> Vec<Relayed> {
        Vec::new()
    }
}
