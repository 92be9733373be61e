//! Tools for real hosts: a server to measure against, a measurement of transports in turns, and a proxy.
//!
//! | module | contents |
//! |---|---|
//! | [`perf`] | goodput, losses, acknowledgments, round trips and processor time of TACK, QUIC and the kernel's TCP, measured in turns |
//! | [`serve`] | the far end of such measurements |
//! | [`proxy`] | TCP connections over one connection of TACK: SOCKS5, or the forwarding of a port |
//! | [`known_hosts`] | fingerprints of servers that were believed before, as ssh keeps them |
//! | [`trust`] | whom a tool believes |
//! | [`state`] | the folder in which a server keeps its certificate and its keys |
//! | [`error`] | what can go wrong |
//!
//! Futures here run on the runtime of [`run`], which has one thread besides those of the endpoints.

pub mod error;
pub mod known_hosts;
pub mod perf;
pub mod proxy;
pub mod serve;
pub mod state;
pub mod trust;

pub use error::ToolError;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, sockopt};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::watch;

/// The port of the tools if none is given: "TACK" on the keys of a telephone. IANA has not assigned it.
pub const PORT: u16 = 8225;
/// A peer that says nothing for so long during a handshake or a set-up is given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How often a tool looks whether it should stop.
const CHECK: Duration = Duration::from_millis(50);

/// Set once a tool should stop. Clones see the same.
pub type Stop = watch::Receiver<bool>;

/// Runs a tool, which is given what tells it to stop: that is so once `goes_on` returns `false`. The tool then ends by itself.
///
/// # Errors
/// If the system has no runtime for it, and those of the tool.
pub fn run<T, F>(mut goes_on: impl FnMut() -> bool, tool: impl FnOnce(Stop) -> F) -> Result<T, ToolError>
where
    F: Future<Output = Result<T, ToolError>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ToolError::failed("runtime", error))?;
    runtime.block_on(async {
        let (stop, stopped) = watch::channel(false);
        let look = async {
            while goes_on() {
                tokio::time::sleep(CHECK).await;
            }
            stop.send_replace(true);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            done = tool(stopped) => done,
            // It never ends.
            () = look => Err(ToolError::Stopped),
        }
    })
}

/// Waits until the tool should stop.
pub(crate) async fn stopped(mut stop: Stop) {
    // It fails if nobody can set it any more, and then the runtime is about to end.
    _ = stop.wait_for(|stops| *stops).await;
}

/// A socket of this address and no other version of IP, without blocking.
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

/// The address of any interface, with a free port, of the version of IP that `remote` has.
pub(crate) fn any_like(remote: SocketAddr) -> SocketAddr {
    if remote.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() }
}

/// The addresses of a host.
pub(crate) async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, ToolError> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let found = tokio::net::lookup_host((bare, port)).await.map_err(|error| ToolError::failed(host, error))?;
    let addresses: Vec<_> = found.collect();
    if addresses.is_empty() { Err(ToolError::failed(host, "it has no address")) } else { Ok(addresses) }
}
