//! The node that connects to the networks of this machine and, through them, to the Internet. Its
//! host forwards packets whose destination is not a node. The packets pass through a pair of
//! virtual devices to the namespace of the process. Both sides translate addresses.
//!
//! Everything here is removed when the run ends. The pair of devices disappears with the namespace
//! of the node. In the namespace of the process, a process `nft` owns the nftables table. `nft`
//! reads a pipe from this process and ends when the pipe closes. The kernel removes a table with
//! the flag `owner` when its owner ends. Only the administrator decides whether the machine
//! forwards packets (`net.ipv4.ip_forward`).

use super::super::host_error;
use super::{Host, Stage};
use crate::error::Error;
use acklab_base::NodeId;
use acklab_live::Namespace;
use acklab_live::netlink::{Metrics, Netlink};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// The device of the node's host.
const INNER: &str = "acklab-out";
/// The maximum time for which `nft` may run.
const PATIENCE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(10);

/// The connection to the networks outside. It exists until this value is dropped.
pub(super) struct Internet {
    pub(super) node: NodeId,
    /// The process that owns the table in the namespace of the process. `None` if packets need no
    /// translation there.
    owner: Option<Child>,
}

impl Drop for Internet {
    fn drop(&mut self) {
        if let Some(owner) = &mut self.owner {
            drop(owner.stdin.take());
            // The process ends when its input closes.
            let _ = owner.wait();
        }
    }
}

/// Returns the addresses of the pair of devices. 100.64.0.0/10 is shared address space for
/// translators (RFC 6598). Each process uses four of its addresses.
fn addresses() -> [Ipv4Addr; 2] {
    const SHARED: u32 = 0x6440_0000;
    let block = SHARED + (std::process::id() & 0x000f_ffff) * 4;
    [block + 1, block + 2].map(Ipv4Addr::from_bits)
}

impl Stage {
    /// Connects the host of `node` to `home`, the original namespace of the process.
    pub(super) fn open_internet(&mut self, node: NodeId, home: &Namespace) -> Result<(), Error> {
        let forwards =
            home.get("net/ipv4/ip_forward").map_err(host_error("cannot read whether this machine forwards"))?;
        if forwards != "1" {
            return Err(Error::Host {
                what: "this machine does not forward packets, which a node that leads to the Internet needs".to_owned(),
                source: io::Error::other("expected net.ipv4.ip_forward = 1: `sysctl -w net.ipv4.ip_forward=1`"),
            });
        }
        let outer = format!("acklab{}", std::process::id());
        let [inside, outside] = addresses();
        let Some(host) = self.hosts.iter().find(|host| host.node == node) else { return Ok(()) };
        connect(host, home, &outer, [inside, outside])
            .map_err(host_error("cannot connect a node with this machine"))?;
        let translate = |subnet: &str, device: &str| {
            [
                "add table ip acklab { flags owner; }".to_owned(),
                "add chain ip acklab out { type nat hook postrouting priority 100 ; }".to_owned(),
                format!("add rule ip acklab out {subnet} oifname {device} masquerade"),
            ]
        };
        // The table of the host's namespace is removed with the namespace, so it needs no owner.
        let rules = translate("ip saddr 10.0.0.0/8", INNER).join("\n").replace(" { flags owner; }", "");
        host.namespace.inside(|| run(&rules)).map_err(nft_error)?;
        let table = format!("acklab_{}", std::process::id());
        let rules = translate(&format!("ip saddr {inside}"), &format!("!= {outer}")).join("\n");
        let owner =
            home.inside(|| own(&rules.replace("ip acklab", &format!("ip {table}")), &table)).map_err(nft_error)?;
        self.internet = Some(Internet { node, owner: Some(owner) });
        self.route_out(node)
    }

    /// Routes packets from every other host to addresses outside the network through `node`.
    fn route_out(&self, node: NodeId) -> Result<(), Error> {
        for host in self.hosts.iter().filter(|host| host.node != node) {
            let route = || Netlink::new(&host.namespace)?.add_default_route(host.device, None);
            route().map_err(host_error(format!("cannot add the default route of node \"{}\"", host.name)))?;
        }
        Ok(())
    }
}

fn nft_error(source: io::Error) -> Error {
    let what = "cannot translate addresses; a node that leads to the Internet needs `nft` of nftables, and root";
    Error::Host { what: what.to_owned(), source }
}

/// Creates the pair of devices, with their addresses and routes.
fn connect(host: &Host, home: &Namespace, outer: &str, [inside, outside]: [Ipv4Addr; 2]) -> io::Result<()> {
    let (here, there) = (Netlink::new(&host.namespace)?, Netlink::new(home)?);
    here.add_pair(INNER, outer, home)?;
    let metrics = Metrics::default();
    for (netlink, name, own, peer) in [(&here, INNER, inside, outside), (&there, outer, outside, inside)] {
        let index = index_of(netlink, name)?;
        netlink.bring_up(index)?;
        netlink.add_address(index, IpAddr::V4(own))?;
        netlink.add_route(index, IpAddr::V4(peer), &metrics)?;
    }
    here.add_default_route(index_of(&here, INNER)?, Some(outside))?;
    host.namespace.set("net/ipv4/ip_forward", "1")
}

fn index_of(netlink: &Netlink, name: &str) -> io::Result<u32> {
    let found = netlink.interface(name)?;
    Ok(found.ok_or_else(|| io::Error::other(format!("there is no device {name}")))?.index)
}

/// Applies nftables rules in the namespace of the thread.
fn run(rules: &str) -> io::Result<()> {
    let mut nft = Command::new("nft").args(["-f", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut input) = nft.stdin.take() {
        input.write_all(rules.as_bytes())?;
    }
    let done = nft.wait_with_output()?;
    if done.status.success() { Ok(()) } else { Err(io::Error::other(String::from_utf8_lossy(&done.stderr).trim())) }
}

/// Applies nftables rules in the namespace of the thread. A process owns `table` until its input
/// closes.
fn own(rules: &str, table: &str) -> io::Result<Child> {
    let mut command = Command::new("nft");
    // Ctrl-C must reach only the run. The run then ends the process.
    command.arg("-i").process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut owner = command.spawn()?;
    if let Some(input) = &mut owner.stdin {
        writeln!(input, "{rules}")?;
        input.flush()?;
    }
    let mut waited = Duration::ZERO;
    loop {
        let listed = Command::new("nft").args(["list", "table", "ip", table]).stderr(Stdio::null()).output()?;
        if String::from_utf8_lossy(&listed.stdout).contains("masquerade") {
            return Ok(owner);
        }
        if waited >= PATIENCE || owner.try_wait()?.is_some() {
            let _ = owner.kill();
            let _ = owner.wait();
            return Err(io::Error::other("`nft` did not take the rules of the table"));
        }
        sleep(STEP);
        waited += STEP;
    }
}
