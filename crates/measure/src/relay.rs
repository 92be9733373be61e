//! The measurements of a proxy between two connections of a flow (RFC 3135, §2.4).

use crate::probe::FlowProbe;
use crate::snapshot::Snapshot;
use crate::statistics::OverTime;

/// The measurements of a proxy in the window.
#[derive(Clone, Debug)]
pub struct Relayed {
    /// The counters of the end that receives from the connection before the proxy.
    pub arriving: Snapshot,
    /// The counters of the end that sends on the connection behind the proxy.
    pub leaving: Snapshot,
    /// The probe of the connection before the proxy.
    pub arriving_probe: FlowProbe,
    /// The probe of the connection behind the proxy.
    pub leaving_probe: FlowProbe,
    /// Octets that have arrived, but are not yet acknowledged behind the proxy.
    pub held: OverTime,
    /// The maximum of these octets.
    pub most_held: u64,
}
