//! Provides tools for real hosts: a server for measurements, a measurement that compares transports
//! in turns, and a proxy.
//!
//! | module | contents |
//! |---|---|
//! | [`perf`] | goodput, losses, acknowledgments, round trips and processor time of TACK, QUIC and the kernel's TCP, measured in turns |
//! | [`serve`] | the server of such measurements |
//! | [`proxy`] | TCP connections over one connection of TACK: SOCKS5, or the forwarding of a port |
//! | [`known_hosts`] | fingerprints of servers that were trusted before, stored as by ssh |
//! | [`trust`] | decides which servers a tool trusts |
//! | [`state`] | the folder in which a server keeps its certificate and its keys |
//! | `memory` | returns memory to the system after a flood of clients |
//! | `log` | the log lines of a tool |
//! | `stop` | stops a tool |
//! | `files` | files that stay complete if the process is killed |
//! | [`error`] | errors |
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

/// The default port of the tools: "TACK" on the keys of a telephone. IANA has not assigned it.
pub const PORT: u16 = 8225;
/// The timeout of a silent peer during a handshake or a set-up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Runs a tool until it is done. Ends the tool immediately when `goes_on` returns `false`.
///
/// # Errors
/// If the system permits no runtime, and the errors of the tool.
pub fn run<T, F>(mut goes_on: impl FnMut() -> bool, tool: impl FnOnce(Stop) -> F) -> Result<T, ToolError>
where
    F: Future<Output = Result<T, ToolError>>,
{
    run_until(move || u32::from(!goes_on()), Duration::ZERO, tool)
}

/// Runs a tool until it is done. `demands` counts the requests to stop. After the first request,
/// the tool begins no new work, and running work has the time `drain` to finish. The second request
/// ends the tool immediately.
///
/// # Errors
/// If the system permits no runtime, and the errors of the tool.
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
            // `heed` never returns.
            () = heed => Err(ToolError::Stopped),
        }
    })
}

/// Returns a non-blocking socket for this address. It uses only the address's version of IP.
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

/// Returns the unspecified address with a free port, in the IP version of `remote`.
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
