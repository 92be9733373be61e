//! The means of forwarding between two devices without a process: a bridge, or the routes of the
//! host.

use crate::netlink::{Interface, Netlink};
use std::io;

/// The name of a bridge that this process creates.
const BRIDGE: &str = "acklab%d";
/// The alias by which a later process recognises such a bridge.
const ALIAS: &str = "acklab inline";

/// The reasons why nothing can forward the traffic.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no device of this name.
    #[error("found no interface \"{0}\" in this network namespace")]
    Missing(String),
    /// Both devices are the same.
    #[error("found interface \"{0}\" twice, expected two")]
    Same(String),
    /// The device is down.
    #[error("interface \"{0}\" is down; `ip link set {0} up` brings it up")]
    Down(String),
    /// The device carries no Ethernet frames.
    #[error("interface \"{0}\" is not one of Ethernet")]
    NotEthernet(String),
    /// The devices belong to different bridges.
    #[error(
        "interfaces \"{0}\" and \"{1}\" are not ports of one bridge, and one is the port of another; expected one bridge, \
         or none, in which case acklab makes one"
    )]
    Apart(String, String),
    /// One device has an address, so the host would have to route, but it does not forward.
    #[error(
        "interface \"{0}\" has an address, so that this host routes between the two, but it forwards neither IPv4 nor IPv6; \
         `sysctl net.ipv4.ip_forward=1` and `sysctl net.ipv6.conf.all.forwarding=1` make it forward; without addresses, acklab bridges them"
    )]
    NotForwarding(String),
    /// The kernel refuses.
    #[error("cannot {what}: {source}")]
    Refused {
        /// The refused action.
        what: &'static str,
        /// The reason.
        source: io::Error,
    },
}

fn refused(what: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Refused { what, source }
}

/// How the traffic is forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A bridge that existed before.
    Bridge,
    /// A bridge of this process, or a bridge of an earlier process that was killed.
    OwnBridge,
    /// The routes of the host.
    Routes,
}

impl Kind {
    /// Returns the name for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bridge => "bridged, by the bridge that is there",
            Self::OwnBridge => "bridged, by a bridge of acklab's own",
            Self::Routes => "routed, by the routes of this host",
        }
    }
}

/// The means of forwarding between two devices. Dropping this value removes a bridge that this
/// process created. If the process is killed, the bridge remains, because traffic would stop
/// without it. A later process uses this bridge.
pub struct Forwarding {
    netlink: Netlink,
    kind: Kind,
    own_bridge: Option<u32>,
    interfaces: [Interface; 2],
}

impl Forwarding {
    /// Finds the means of forwarding between two devices. Creates a bridge if there is none.
    ///
    /// # Errors
    /// If a device is missing or down, or if the kernel refuses.
    pub fn between(names: [&str; 2]) -> Result<Self, Error> {
        let netlink = Netlink::here().map_err(refused("ask the kernel about devices"))?;
        if names[0] == names[1] {
            return Err(Error::Same(names[0].to_owned()));
        }
        let find = |name: &str| {
            let found = netlink.interface(name).map_err(refused("ask the kernel about a device"))?;
            let interface = found.ok_or_else(|| Error::Missing(name.to_owned()))?;
            if !interface.is_ethernet {
                return Err(Error::NotEthernet(name.to_owned()));
            }
            if !interface.is_up {
                return Err(Error::Down(name.to_owned()));
            }
            Ok(interface)
        };
        let interfaces = [find(names[0])?, find(names[1])?];
        let [one, other] = &interfaces;
        let apart = || Error::Apart(one.name.clone(), other.name.clone());
        let (kind, own_bridge) = match (one.master, other.master) {
            (Some(master), Some(of_other)) if master == of_other => {
                let is_own = netlink.alias_of(master).map_err(refused("ask the kernel about a bridge"))? == ALIAS;
                if is_own { (Kind::OwnBridge, Some(master)) } else { (Kind::Bridge, None) }
            }
            (None, None) => match interfaces.iter().find(|interface| !interface.addresses.is_empty()) {
                Some(interface) if !forwards() => return Err(Error::NotForwarding(interface.name.clone())),
                Some(_) => (Kind::Routes, None),
                None => (Kind::OwnBridge, Some(bridge(&netlink, [one.index, other.index])?)),
            },
            _ => return Err(apart()),
        };
        Ok(Self { netlink, kind, own_bridge, interfaces })
    }

    /// Returns the means of forwarding.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the two devices.
    #[must_use]
    pub const fn interfaces(&self) -> &[Interface; 2] {
        &self.interfaces
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        if let Some(bridge) = self.own_bridge {
            // This fails only if the bridge was removed already.
            let _ = self.netlink.remove(bridge);
        }
    }
}

/// Returns a new bridge of these devices.
fn bridge(netlink: &Netlink, ports: [u32; 2]) -> Result<u32, Error> {
    let making = "make a bridge, which takes more than to use one that is there";
    let bridge = netlink.add_bridge(BRIDGE, ALIAS).map_err(refused(making))?;
    let connect = || {
        ports.into_iter().try_for_each(|port| netlink.set_bridge(port, bridge))?;
        netlink.bring_up(bridge)
    };
    connect().map_err(|why| {
        let _ = netlink.remove(bridge);
        refused("make the devices ports of a bridge")(why)
    })?;
    Ok(bridge)
}

/// Returns `true` if the host forwards packets.
fn forwards() -> bool {
    ["ipv4/ip_forward", "ipv6/conf/all/forwarding"].iter().any(|parameter| {
        std::fs::read_to_string(format!("/proc/sys/net/{parameter}")).is_ok_and(|value| value.trim() == "1")
    })
}
