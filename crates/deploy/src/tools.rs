//! Tools for real hosts: a server to measure against, a measurement of transports in turns, and a
//! proxy.
//!
//! | module | contents |
//! |---|---|
//! | [`perf`] | goodput, losses, acknowledgments, round trips and processor time of TACK, QUIC and the kernel's TCP, measured in turns |
//! | [`serve`] | the far end of such measurements |
//! | [`proxy`] | TCP connections over one connection of TACK: SOCKS5, or the forwarding of a port |
//! | [`known_hosts`] | fingerprints of servers that were trusted before, as ssh keeps them |
//! | [`trust`] | which servers a tool trusts |
//! | [`state`] | the folder in which a server keeps its certificate and its keys |
//! | `memory` | memory that a flood of clients has taken |
//! | `log` | lines for the person who runs a tool |
//! | `stop` | how a tool is stopped |
//! | `files` | files that are whole after any end of the process |
//! | [`error`] | what can go wrong |
//!
//! Futures here run on the runtime of [`run`], which has one thread besides those of the endpoints.

pub mod error;
mod files;
pub mod known_hosts;
mod log;
mod memory;
pub mod perf;
pub mod proxy;
pub mod serve;
pub mod state;
mod stop;
pub mod trust;

pub use error::ToolError;
pub use stop::Stop;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, sockopt};
use std::net::SocketAddr;
use std::time::Duration;
use stop::Stopper;

/// The port of the tools if none is given: "TACK" on the keys of a telephone. IANA has not assigned
/// it.
pub const PORT: u16 = 8225;
/// The time after which a peer that is silent during a handshake or a set-up is given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Runs a tool until it is done, or `goes_on` returns `false`: then it ends at once.
///
/// # Errors
/// If the system has no runtime for it, and those of the tool.
pub fn run<T, F>(mut goes_on: impl FnMut() -> bool, tool: impl FnOnce(Stop) -> F) -> Result<T, ToolError>
where
    F: Future<Output = Result<T, ToolError>>,
{
    run_until(move || u32::from(!goes_on()), Duration::ZERO, tool)
}

/// Runs a tool until it is done, or `demands`, which counts the demands to stop, returns more than
/// zero. After the first one, the tool begins nothing new, and what is unfinished has `drain`; the
/// second one ends it at once.
///
/// # Errors
/// If the system has no runtime for it, and those of the tool.
pub fn run_until<T, F>(
    demands: impl FnMut() -> u32,
    drain: Duration,
    tool: impl FnOnce(Stop) -> F,
) -> Result<T, ToolError>
where
    F: Future<Output = Result<T, ToolError>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ToolError::failed("runtime", error))?;
    runtime.block_on(async {
        let (stopper, stop) = Stopper::new(drain);
        let heed = async {
            stopper.heed(drain, demands).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            done = tool(stop) => done,
            // It never ends.
            () = heed => Err(ToolError::Stopped),
        }
    })
}

/// Returns a socket of this address and no other version of IP, without blocking.
pub(crate) fn socket(address: SocketAddr, kind: SocketType) -> std::io::Result<std::os::fd::OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, kind, flags, None)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    if kind == SocketType::STREAM {
        sockopt::set_socket_reuseaddr(&socket, true)?;
    }
    bind(&socket, &address)?;
    Ok(socket)
}

/// Returns the address of any interface, with a free port, of the version of IP that `remote` has.
pub(crate) fn any_like(remote: SocketAddr) -> SocketAddr {
    if remote.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() }
}

/// Returns the addresses of a host.
pub(crate) async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, ToolError> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let found = tokio::net::lookup_host((bare, port)).await.map_err(|error| ToolError::failed(host, error))?;
    let addresses: Vec<_> = found.collect();
    if addresses.is_empty() { Err(ToolError::failed(host, "it has no address")) } else { Ok(addresses) }
}
