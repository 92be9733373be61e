//! Connects the far side to a target.

use super::allow::Allow;
use super::relay::Unfinished;
use super::socks::Reply;
use super::target::{Host, Target};
use crate::tools::PATIENCE;
use acklab_live::netlink::Netlink;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6};
use tokio::net::TcpStream;

/// The reason why a target is unreachable: the reply to the program, and the text of the log line.
pub(super) type Failure = (Reply, String);

/// Connects over TCP to the first allowed address of the target that answers. The name is resolved
/// once. Each address is checked before the connection and again afterwards, because this host's
/// addresses may have changed meanwhile.
pub(super) async fn dial(target: &Target, allow: &[Allow]) -> Result<Unfinished, Failure> {
    let mut failure = not_allowed();
    for address in addresses(target).await?.into_iter().map(without_zone) {
        if !allows(allow, target, address)? {
            continue;
        }
        failure = match tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => match Unfinished::new(stream) {
                Ok(stream) if allows(allow, target, address)? => return Ok(stream),
                Ok(_) => not_allowed(),
                Err(error) => (Reply::FAILURE, error.to_string()),
            },
            Ok(Err(error)) => (Reply::of(&error), error.to_string()),
            Err(_) => (Reply::HOST_UNREACHABLE, "no answer".to_owned()),
        };
    }
    Err(failure)
}

/// Checks that the addresses of this host can be listed, if a rule excludes them.
pub(super) fn check_lookup(allow: &[Allow]) -> io::Result<()> {
    if allow.iter().any(Allow::excludes_this_host) {
        Netlink::here()?.leads_here((Ipv4Addr::LOCALHOST, 0).into())?;
    }
    Ok(())
}

fn not_allowed() -> Failure {
    (Reply::NOT_ALLOWED, "not allowed".to_owned())
}

async fn addresses(target: &Target) -> Result<Vec<SocketAddr>, Failure> {
    let name = match &target.host {
        Host::Address(address) => return Ok(vec![SocketAddr::new(*address, target.port)]),
        Host::Name(name) => name,
    };
    let found = tokio::time::timeout(PATIENCE, tokio::net::lookup_host((name.as_str(), target.port))).await;
    let found = found.map_err(|_| (Reply::HOST_UNREACHABLE, "no answer of the name server".to_owned()))?;
    Ok(found.map_err(|error| (Reply::HOST_UNREACHABLE, error.to_string()))?.collect())
}

/// Returns the address without its zone, unless the address is link-local.
fn without_zone(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V6(v6) if !v6.ip().is_unicast_link_local() => SocketAddrV6::new(*v6.ip(), v6.port(), 0, 0).into(),
        address => address,
    }
}

/// Returns `true` if a rule allows a connection to this address now.
fn allows(allow: &[Allow], target: &Target, address: SocketAddr) -> Result<bool, Failure> {
    let leads_here = |ip: IpAddr| Netlink::here()?.leads_here(SocketAddr::new(ip, address.port()));
    for rule in allow {
        match rule.allows(target, address.ip(), leads_here) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(error) => {
                return Err((Reply::FAILURE, format!("cannot find out whether {address} is this host: {error}")));
            }
        }
    }
    Ok(false)
}
