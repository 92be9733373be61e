//! Observers of the packets that pass through a network.

use acklab_base::{FlowKey, Instant, PortId};
use acklab_wifi::Cell;

/// An observer of a network, which it does not influence. By default, each method does nothing.
pub trait Taps<D> {
    /// Returns `false` if the packets at links and ports are not observed. They are then not passed
    /// to the other methods.
    fn is_watching(&self) -> bool {
        true
    }

    /// Observes a datagram that arrives at a link direction.
    fn enters_link(&mut self, _direction: usize, _now: Instant, _datagram: &D) {}

    /// Observes a datagram that leaves a link direction at its far end.
    fn leaves_link(&mut self, _direction: usize, _now: Instant, _datagram: &D) {}

    /// Observes a datagram that arrives at a port.
    fn enters_port(&mut self, _port: PortId, _now: Instant, _datagram: &D) {}

    /// Observes a datagram that leaves a port.
    fn leaves_port(&mut self, _port: PortId, _now: Instant, _datagram: &D) {}

    /// Observes that a datagram of this flow was dropped.
    fn dropped(&mut self, _flow: FlowKey) {}

    /// Observes a cell that was woken. Its record of transmissions may have new entries.
    fn cell_woke(&mut self, _index: usize, _cell: &mut Cell<D>) {}
}

/// No observer.
impl<D> Taps<D> for () {
    fn is_watching(&self) -> bool {
        false
    }
}
