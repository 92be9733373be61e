//! What lies at the edges of the network: the two endpoints of each flow, and what is measured of it.

use crate::packet::{Packet, Pool};
use crate::probe::{FlowProbe, Probes};
use crate::socket::{Socket, Tally};
use acklab_base::{FlowKey, Instant, PortId};
use acklab_net::{Departure, Hosts};

/// One flow.
pub(crate) struct Flow {
    /// The end that sends its data, and the end that receives them.
    ends: [Box<dyn Socket>; 2],
    pub(crate) probes: Probes,
    /// The keys of its data and of what comes back.
    pub(crate) keys: [FlowKey; 2],
    /// What both ends had counted when the window of measurement opened.
    before: [Tally; 2],
}

impl Flow {
    pub(crate) fn new(ends: [Box<dyn Socket>; 2], keys: [FlowKey; 2], probes: Probes) -> Self {
        let before = [ends[0].tally(), ends[1].tally()];
        Self { ends, probes, keys, before }
    }

    /// From now on, keep the decisions of its ACK policy.
    pub(crate) fn keep_decisions(&mut self) {
        self.ends.iter_mut().for_each(|end| end.keep_decisions());
    }

    /// By direction, what is measured, and the names of the reasons for which the end that takes its data acknowledges.
    pub(crate) fn directions_with_reasons(&self) -> impl Iterator<Item = (&FlowProbe, Vec<String>)> {
        let reasons = self.ends.iter().rev().map(|end| {
            let acknowledgments = end.tally().acknowledgments.into_iter();
            acknowledgments.map(|(reason, _)| reason).collect()
        });
        self.probes.directions().zip(reasons)
    }

    /// Begin to measure.
    fn open(&mut self, now: Instant) {
        self.before = [self.ends[0].tally(), self.ends[1].tally()];
        self.probes.there.open(now, self.before[0].rtt_samples);
        if let Some(back) = &mut self.probes.back {
            back.open(now, self.before[1].rtt_samples);
        }
    }

    /// The window ends at `until`. What both ends have counted in it.
    pub(crate) fn close(&mut self, until: Instant) -> [Tally; 2] {
        self.probes.there.close(until);
        if let Some(back) = &mut self.probes.back {
            back.close(until);
        }
        [0, 1].map(|end| self.ends[end].tally().since(&self.before[end]))
    }
}

/// All flows. Flow `i` has the ports `2i` and `2i + 1`: its sender and its receiver.
#[derive(Default)]
pub(crate) struct Flows {
    pub(crate) all: Vec<Flow>,
    pool: Pool,
}

impl Flows {
    /// One more flow.
    pub(crate) fn add(&mut self, make: impl FnOnce(&mut Pool) -> Flow) {
        let flow = make(&mut self.pool);
        self.all.push(flow);
    }

    /// What is measured, direction by direction: of each flow its data, then what comes back, if it is measured.
    pub(crate) fn directions(&self) -> impl Iterator<Item = &FlowProbe> {
        self.all.iter().flat_map(|flow| flow.probes.directions())
    }

    /// Begin to measure.
    pub(crate) fn open(&mut self, now: Instant) {
        self.all.iter_mut().for_each(|flow| flow.open(now));
    }
}

/// The flow of a port, and which of its ends it is.
#[inline]
const fn end_of(port: PortId) -> (usize, usize) {
    (port.index() / 2, port.index() % 2)
}

impl Hosts<Packet> for Flows {
    #[inline]
    fn accept(&mut self, port: PortId, now: Instant, packet: Packet) {
        let (flow, end) = end_of(port);
        let Flow { ends, probes, .. } = &mut self.all[flow];
        ends[end].accept(now, packet, &mut self.pool, probes);
    }

    #[inline]
    fn wake(&mut self, port: PortId, now: Instant) {
        let (flow, end) = end_of(port);
        let Flow { ends, probes, .. } = &mut self.all[flow];
        ends[end].wake(now, probes);
    }

    #[inline]
    fn depart(&mut self, port: PortId, now: Instant) -> Departure<Packet> {
        let (flow, end) = end_of(port);
        let Flow { ends, probes, .. } = &mut self.all[flow];
        ends[end].depart(now, &mut self.pool, probes)
    }
}
