//! What lies behind the ports of a network.

use acklab_base::{Instant, PortId};

/// What leaves a port at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure<D> {
    /// A datagram, and there may be more.
    One(D),
    /// A datagram, and none follows it now; with when the port wants to be woken.
    Last(D, Option<Instant>),
    /// None; with when the port wants to be woken.
    None(Option<Instant>),
}

/// Endpoints behind ports: of a simulation, or the stack of a real host behind a device. The verbs are those of
/// [`Machine`](acklab_base::Machine), in the same order.
pub trait Hosts<D> {
    /// A datagram has come to the node of `port`, and its flow is that of the port.
    fn accept(&mut self, port: PortId, now: Instant, datagram: D);

    /// The deadline of `port` has come.
    fn wake(&mut self, port: PortId, now: Instant);

    /// What leaves `port` next.
    fn depart(&mut self, port: PortId, now: Instant) -> Departure<D>;
}
