//! Creates the namespace and the device of each host, and the routes between them.

use super::super::kernel::{self, Agreement};
use super::super::{addresses, host_error};
use super::{Cast, Host, Stage};
use crate::error::Error;
use acklab_base::NodeId;
use acklab_live::netlink::{Device, Metrics, Netlink};
use acklab_live::{Namespace, Tun};
use acklab_wire::IpVersion;
use std::collections::BTreeMap;
use std::io;

/// The name of the device in each namespace.
pub(super) const DEVICE: &str = "acklab0";
/// The index of the loopback device.
const LOOPBACK_INDEX: u32 = 1;
/// The number of packets that a device can queue. It is much larger than the number of packets that
/// arrive during a stall of the reader.
const QUEUE_LEN: u32 = 10_000;

impl Stage {
    /// Creates the host of a node.
    pub(super) fn add_host(&mut self, node: NodeId) -> Result<(), Error> {
        let name =
            self.nodes.iter().find(|(_, known)| **known == node).map_or_else(String::new, |(name, _)| name.clone());
        let namespace = Namespace::new()?;
        for (parameter, value) in kernel::PARAMETERS {
            // A kernel without IPv6 does not have all parameters.
            let _ = namespace.set(parameter, value);
        }
        let tun = Tun::new(&namespace, DEVICE)?;
        let configure = || {
            let netlink = Netlink::new(&namespace)?;
            // The device carries one segment at a time, so that TCP's own accounting also counts
            // packets.
            let device = Device { mtu: self.mtu, queue_len: QUEUE_LEN, gso_max_segs: 1 };
            netlink.configure(tun.index(), device)?;
            netlink.bring_up(LOOPBACK_INDEX)?;
            netlink.bring_up(tun.index())?;
            self.in_both_versions(|version| netlink.add_address(tun.index(), addresses::of(node, version)))
        };
        configure().map_err(host_error(format!("cannot configure the device of node \"{name}\"")))?;
        self.hosts.push(Host { name, node, namespace, device: tun.index() });
        self.tuns.push(tun);
        Ok(())
    }

    /// Sets the parameters that the flows of each node require.
    pub(super) fn set_parameters(&self) -> Result<(), Error> {
        for host in &self.hosts {
            let mut agreement = Agreement::default();
            for cast in self.casts.iter().filter(|cast| cast.ends.contains(&host.node)) {
                cast.request.iter().try_for_each(|request| agreement.add(&cast.flow, request))?;
            }
            for (parameter, value) in agreement.parameters() {
                let set = host.namespace.set(parameter, value);
                set.map_err(host_error(format!("cannot set {parameter} = {value} at node \"{}\"", host.name)))?;
            }
        }
        Ok(())
    }

    /// Adds routes from each host to each other host.
    pub(super) fn add_routes(&self) -> Result<(), Error> {
        let mut metrics: BTreeMap<(NodeId, NodeId), (Metrics, &str)> = BTreeMap::new();
        for Cast { flow, ends: [from, to], request, .. } in &self.casts {
            let Some(request) = request else { continue };
            for pair in [(*from, *to), (*to, *from)] {
                let (agreed, owner) = metrics.entry(pair).or_insert_with(|| (request.metrics.clone(), &flow.name));
                if *agreed != request.metrics {
                    return Err(Error::Kernel {
                        flow: flow.name.clone(),
                        key: "ack, initial_window or min_rto".to_owned(),
                        found: format!("{:?}", request.metrics),
                        expected: format!(
                            "{agreed:?} as for flow \"{owner}\", because flows between two nodes share a route"
                        ),
                    });
                }
            }
        }
        for host in &self.hosts {
            let routes = || {
                let netlink = Netlink::new(&host.namespace)?;
                for other in self.hosts.iter().filter(|other| other.node != host.node) {
                    let metrics = metrics.get(&(host.node, other.node)).map(|(metrics, _)| metrics.clone());
                    let metrics = metrics.unwrap_or_default();
                    self.in_both_versions(|version| {
                        netlink.add_route(host.device, addresses::of(other.node, version), &metrics)
                    })?;
                }
                Ok(())
            };
            routes().map_err(host_error(format!("cannot add the routes of node \"{}\"", host.name)))?;
        }
        Ok(())
    }

    /// Calls `set` for each version of IP. A kernel without IPv6 is an error only if the flows use
    /// IPv6.
    fn in_both_versions(&self, set: impl Fn(IpVersion) -> io::Result<()>) -> io::Result<()> {
        set(IpVersion::V4)?;
        let done = set(IpVersion::V6);
        if self.version == IpVersion::V6 { done } else { Ok(()) }
    }
}
