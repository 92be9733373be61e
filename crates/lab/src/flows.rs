//! The endpoints at the edges of the network: two for each flow, with their probes, and those at proxies.

use crate::packet::{Packet, Pool};
use crate::probe::{FlowProbe, Probes};
use crate::qlog::{self, Log};
use crate::socket::{End, Relay, Relayed, Snapshot, Socket};
use acklab_base::{FlowKey, Instant, PortId};
use acklab_net::{Departure, Hosts};

/// One flow.
pub(crate) struct Flow<E: ?Sized = dyn Socket> {
    /// The sending and the receiving end.
    pub(crate) ends: [Box<E>; 2],
    pub(crate) probes: Probes,
    /// The keys of the forward and the reverse direction.
    pub(crate) keys: [FlowKey; 2],
    /// The counters of both ends at the beginning of the window of measurement.
    before: [Snapshot; 2],
}

impl Flow {
    /// Writes a log at each end, which `log` makes by its index.
    pub(crate) fn keep_logs(&mut self, log: impl Fn(usize) -> Log) {
        for (index, end) in self.ends.iter_mut().enumerate() {
            end.keep_log(log(index));
        }
    }
}

impl<E: End + ?Sized> Flow<E> {
    pub(crate) fn new(ends: [Box<E>; 2], keys: [FlowKey; 2], probes: Probes) -> Self {
        let before = [ends[0].snapshot(Instant::ZERO), ends[1].snapshot(Instant::ZERO)];
        Self { ends, probes, keys, before }
    }

    /// Records the decisions of the ACK policies from now on.
    pub(crate) fn record_decisions(&mut self) {
        self.ends.iter_mut().for_each(|end| end.record_decisions());
    }

    /// By measured direction, the probe and the names of the reasons for which the receiving end sends acknowledgments.
    pub(crate) fn directions_with_reasons(&self) -> impl Iterator<Item = (&FlowProbe, Vec<String>)> {
        let reasons = self.ends.iter().rev().map(|end| {
            let acknowledgments = end.snapshot(Instant::ZERO).acknowledgments.into_iter();
            acknowledgments.map(|(reason, _)| reason.unwrap_or_default()).collect()
        });
        self.probes.directions().zip(reasons)
    }

    /// Begins the window of measurement.
    fn open(&mut self, now: Instant) {
        self.before = [self.ends[0].snapshot(now), self.ends[1].snapshot(now)];
        self.probes.forward.open(now, self.before[0].rtt_samples);
        if let Some(reverse) = &mut self.probes.reverse {
            reverse.open(now, self.before[1].rtt_samples);
        }
    }

    /// Ends the window of measurement, and returns what both ends have counted in it.
    pub(crate) fn close(&mut self, until: Instant) -> [Snapshot; 2] {
        self.probes.forward.close(until);
        if let Some(reverse) = &mut self.probes.reverse {
            reverse.close(until);
        }
        [0, 1].map(|end| self.ends[end].snapshot(until).since(&self.before[end]))
    }
}

/// Hosts whose flows are measured.
pub(crate) trait Measured {
    /// The ends of the flows.
    type End: End + ?Sized;

    /// All flows.
    fn flows(&self) -> &[Flow<Self::End>];

    /// All flows.
    fn flows_mut(&mut self) -> &mut [Flow<Self::End>];

    /// The probes of all measured directions: of each flow the forward direction, then the reverse one if it carries data.
    fn directions<'a>(&'a self) -> impl Iterator<Item = &'a FlowProbe>
    where
        Self::End: 'a,
    {
        self.flows().iter().flat_map(|flow| flow.probes.directions())
    }

    /// Begins the window of measurement.
    fn open(&mut self, now: Instant) {
        self.flows_mut().iter_mut().for_each(|flow| flow.open(now));
    }

    /// Ends the window of measurement of the proxies, and returns what they have measured.
    fn close_relays(&mut self, _until: Instant) -> Vec<Relayed> {
        Vec::new()
    }
}

/// All flows. Flow `i` has the ports `2i` for its sending end and `2i + 1` for its receiving end. The ports of the proxies follow those of
/// the flows.
#[derive(Default)]
pub(crate) struct Flows {
    all: Vec<Flow>,
    /// The proxies, each with the index of its flow; those of one flow in the direction of its data.
    relays: Vec<(usize, Box<dyn Relay>)>,
    pool: Pool,
}

impl Flows {
    /// Adds a flow.
    pub(crate) fn add(&mut self, make: impl FnOnce(&mut Pool) -> Flow) {
        let flow = make(&mut self.pool);
        self.all.push(flow);
    }

    /// Adds a proxy on flow `flow`, after all flows.
    pub(crate) fn add_relay<E>(
        &mut self,
        flow: usize,
        make: impl FnOnce(&mut Pool) -> Result<Box<dyn Relay>, E>,
    ) -> Result<(), E> {
        let relay = make(&mut self.pool)?;
        self.relays.push((flow, relay));
        Ok(())
    }

    /// Calls `to` with the proxy of a port that is not one of a flow.
    #[inline(never)]
    fn relay<T>(&mut self, port: PortId, to: impl FnOnce(&mut dyn Relay, &mut Pool) -> T) -> T {
        let (_, relay) = &mut self.relays[port.index() - 2 * self.all.len()];
        to(&mut **relay, &mut self.pool)
    }
}

impl Flows {
    /// Returns the first failure of a log as an error.
    pub(crate) fn check_logs(&mut self) -> Result<(), qlog::Error> {
        self.logs().try_for_each(Log::check)
    }

    /// Finishes all logs.
    pub(crate) fn finish_logs(&mut self) -> Result<(), qlog::Error> {
        self.logs().try_for_each(Log::finish)
    }

    fn logs(&mut self) -> impl Iterator<Item = &mut Log> {
        self.all.iter_mut().flat_map(|flow| &mut flow.ends).filter_map(|end| end.log())
    }
}

impl Measured for Flows {
    type End = dyn Socket;

    fn flows(&self) -> &[Flow] {
        &self.all
    }

    fn flows_mut(&mut self) -> &mut [Flow] {
        &mut self.all
    }

    fn open(&mut self, now: Instant) {
        self.all.iter_mut().for_each(|flow| flow.open(now));
        self.relays.iter_mut().for_each(|(_, relay)| relay.open(now));
    }

    /// A flow over proxies is complete when the last of them knows that its receiver has everything.
    fn close_relays(&mut self, until: Instant) -> Vec<Relayed> {
        let mut closed = Vec::new();
        for (flow, relay) in &mut self.relays {
            let relayed = relay.close(until);
            self.all[*flow].probes.forward.completed = relayed.leaving_probe.completed;
            closed.push(relayed);
        }
        closed
    }
}

/// The flow of a port and the index of its end.
#[inline]
const fn end_of(port: PortId) -> (usize, usize) {
    (port.index() / 2, port.index() % 2)
}

impl Hosts<Packet> for Flows {
    #[inline]
    fn accept(&mut self, port: PortId, now: Instant, packet: Packet) {
        let (flow, end) = end_of(port);
        match self.all.get_mut(flow) {
            Some(Flow { ends, probes, .. }) => ends[end].accept(now, packet, &mut self.pool, probes),
            None => self.relay(port, |relay, pool| relay.accept(now, packet, pool)),
        }
    }

    #[inline]
    fn wake(&mut self, port: PortId, now: Instant) {
        let (flow, end) = end_of(port);
        match self.all.get_mut(flow) {
            Some(Flow { ends, probes, .. }) => ends[end].wake(now, probes),
            None => self.relay(port, |relay, _| relay.wake(now)),
        }
    }

    #[inline]
    fn depart(&mut self, port: PortId, now: Instant) -> Departure<Packet> {
        let (flow, end) = end_of(port);
        match self.all.get_mut(flow) {
            Some(Flow { ends, probes, .. }) => ends[end].depart(now, &mut self.pool, probes),
            None => self.relay(port, |relay, pool| relay.depart(now, pool)),
        }
    }
}
