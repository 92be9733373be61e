//! Who watches what passes.

use acklab_base::{FlowKey, Instant, PortId};
use acklab_wifi::Cell;

/// An observer of a network. It changes nothing; each method does nothing unless it is written.
pub trait Taps<D> {
    /// A datagram joins a link direction.
    fn enters_link(&mut self, _direction: usize, _now: Instant, _datagram: &D) {}

    /// A datagram leaves a link direction.
    fn leaves_link(&mut self, _direction: usize, _now: Instant, _datagram: &D) {}

    /// A datagram has come to a port.
    fn enters_port(&mut self, _port: PortId, _now: Instant, _datagram: &D) {}

    /// A datagram leaves a port.
    fn leaves_port(&mut self, _port: PortId, _now: Instant, _datagram: &D) {}

    /// A box has turned away a datagram of this flow.
    fn dropped(&mut self, _flow: FlowKey) {}

    /// A cell was woken; it may have something to tell of its air.
    fn cell_woke(&mut self, _index: usize, _cell: &mut Cell<D>) {}
}

/// Nobody watches.
impl<D> Taps<D> for () {}
