//! The endpoints at the edges of the network (two for each flow, with their probes), and the
//! endpoints at proxies.

use crate::packet::{Packet, Pool};
use crate::socket::{Relay, Socket};
use acklab_base::{Instant, PortId};
use acklab_measure::flow::Measured;
use acklab_measure::qlog::{self, Log};
use acklab_measure::relay::Relayed;
use acklab_net::{Departure, Hosts};

/// One flow of a simulation.
pub(crate) type Flow = acklab_measure::flow::Flow<dyn Socket>;

/// All flows. Flow `i` has the ports `2i` for its sending end and `2i + 1` for its receiving end.
/// The ports of the proxies follow those of the flows.
#[derive(Default)]
pub(crate) struct Flows {
    all: Vec<Flow>,
    /// The proxies, each with the index of its flow. Proxies of one flow are in the direction of
    /// its data.
    relays: Vec<(usize, Box<dyn Relay>)>,
    pool: Pool,
}

impl Flows {
    /// Adds a flow.
    pub(crate) fn add(&mut self, make: impl FnOnce(&mut Pool) -> Flow) {
        let flow = make(&mut self.pool);
        self.all.push(flow);
    }

    /// Adds a proxy on flow `flow`. Call this after adding all flows.
    pub(crate) fn add_relay<E>(
        &mut self,
        flow: usize,
        make: impl FnOnce(&mut Pool) -> Result<Box<dyn Relay>, E>,
    ) -> Result<(), E> {
        let relay = make(&mut self.pool)?;
        self.relays.push((flow, relay));
        Ok(())
    }

    /// Calls `to` with the proxy of a port, unless the port belongs to a flow's end.
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

    /// Closes the relays. A flow over proxies is complete when its last proxy has detected that the
    /// receiver has all data.
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

/// Returns the flow of a port and the index of its end.
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

    #[inline]
    fn exchange(&mut self, port: PortId, now: Instant, packet: Packet) -> Departure<Packet> {
        let (flow, end) = end_of(port);
        match self.all.get_mut(flow) {
            Some(Flow { ends, probes, .. }) => ends[end].exchange(now, packet, &mut self.pool, probes),
            None => self.relay(port, |relay, pool| {
                relay.accept(now, packet, pool);
                relay.depart(now, pool)
            }),
        }
    }
}
