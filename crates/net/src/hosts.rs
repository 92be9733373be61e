//! The endpoints behind the ports of a network.

use acklab_base::{Instant, PortId};

/// The next departure from a port at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure<D> {
    /// A datagram leaves; more may follow.
    One(D),
    /// The last datagram of this instant leaves. The second field is the deadline of the port after
    /// it.
    Last(D, Option<Instant>),
    /// No datagram leaves. The field is the deadline of the port.
    None(Option<Instant>),
}

/// Endpoints behind ports: those of a simulation, or the stack of a real host behind a device. The
/// verbs are those of [`Machine`](acklab_base::Machine), in the same order.
pub trait Hosts<D> {
    /// A datagram of the port's flow has arrived at the node of `port`.
    fn accept(&mut self, port: PortId, now: Instant, datagram: D);

    /// The deadline of `port` has come.
    fn wake(&mut self, port: PortId, now: Instant);

    /// The next departure from `port`.
    fn depart(&mut self, port: PortId, now: Instant) -> Departure<D>;

    /// A datagram [arrives](Self::accept). Returns the first [departure](Self::depart) that
    /// follows.
    #[inline]
    fn exchange(&mut self, port: PortId, now: Instant, datagram: D) -> Departure<D> {
        self.accept(port, now, datagram);
        self.depart(port, now)
    }
}
