//! The measurements of a proxy between two connections of a flow (RFC 3135, §2.4).

use crate::probe::FlowProbe;
use crate::snapshot::Snapshot;
use crate::statistics::OverTime;

/// The measurements of a proxy in the window.
#[derive(Clone, Debug)]
pub struct Relayed {
    /// The counters of the proxy's end on the connection before the proxy.
    pub arriving: Snapshot,
    /// The counters of the proxy's end on the connection after the proxy.
    pub leaving: Snapshot,
    /// The probe of the connection before the proxy.
    pub arriving_probe: FlowProbe,
    /// The probe of the connection after the proxy.
    pub leaving_probe: FlowProbe,
    /// The number of octets that have arrived at the proxy, but that the receiver after it has not
    /// acknowledged yet.
    pub held: OverTime,
    /// The maximum number of these octets.
    pub most_held: u64,
}
