//! The endpoints behind the ports of a network.

use acklab_base::{Instant, PortId};

/// The result of polling a port at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure<D> {
    /// The port sends a datagram. More datagrams may follow.
    One(D),
    /// The port sends its last datagram of this instant. The second field is the deadline of the
    /// port afterwards.
    Last(D, Option<Instant>),
    /// The port sends no datagram. The field is the deadline of the port.
    None(Option<Instant>),
}

/// Endpoints behind ports: endpoints of a simulation, or the stack of a real host behind a network
/// device. The methods correspond to those of [`Machine`](acklab_base::Machine), in the same order.
pub trait Hosts<D> {
    /// Accepts a datagram of the port's flow that has arrived at the node of `port`.
    fn accept(&mut self, port: PortId, now: Instant, datagram: D);

    /// Handles the deadline of `port`.
    fn wake(&mut self, port: PortId, now: Instant);

    /// Returns the next departure from `port`.
    fn depart(&mut self, port: PortId, now: Instant) -> Departure<D>;

    /// Accepts a datagram like [`accept`](Self::accept). Returns the first
    /// [departure](Self::depart) after it.
    #[inline]
    fn exchange(&mut self, port: PortId, now: Instant, datagram: D) -> Departure<D> {
        self.accept(port, now, datagram);
        self.depart(port, now)
    }
}
