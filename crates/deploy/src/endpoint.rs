//! A socket with its connections, in the idiom of tokio.
//!
//! Futures wait for the [thread](crate::driver) of the endpoint. They therefore run on any
//! executor.

use crate::config::Config;
use crate::connection::Connection;
use crate::driver::Driver;
use crate::error::ConnectError;
use crate::hub::{Handle, HubCounters};
use acklab_live::udp::UdpPort;
use acklab_secure::RefusedCounts;
use acklab_transport::tack::Settings;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;

/// A socket with its connections.
///
/// Clones refer to the same endpoint. When all clones and all connections are dropped, the thread
/// of the endpoint notifies the peers and ends.
#[derive(Clone, Debug)]
pub struct Endpoint {
    driver: Arc<Driver>,
}

impl Endpoint {
    /// Creates an endpoint whose socket is bound to `address`.
    ///
    /// # Errors
    /// If the system refuses the socket, or the settings are invalid.
    pub fn bind(address: SocketAddr, config: Config) -> Result<Self, ConnectError> {
        Self::new(UdpPort::bind(address)?, config)
    }

    /// Creates an endpoint with this socket.
    ///
    /// # Errors
    /// If the system refuses the thread, or the settings are invalid.
    pub fn new(port: UdpPort, config: Config) -> Result<Self, ConnectError> {
        Ok(Self { driver: Arc::new(Driver::start(port, config)?) })
    }

    /// Returns the address to which the socket is bound.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.driver.address
    }

    /// Opens a connection to the server `name` at `remote`. Waits until both ends are
    /// authenticated.
    ///
    /// # Errors
    /// If the configuration does not allow it, or the handshake fails.
    pub async fn connect(&self, remote: SocketAddr, name: &str) -> Result<Connection, ConnectError> {
        let handle = {
            let mut hub = self.driver.shared.lock();
            hub.connect(self.driver.shared.now(), remote, name)?
        };
        self.driver.shared.stir();
        // If the future is dropped, the connection is also closed.
        let connection = Connection::new(Arc::<Driver>::clone(&self.driver), handle);
        connection.established().await?;
        Ok(connection)
    }

    /// Returns the next authenticated connection of a client. Returns `None` if the endpoint is not
    /// a server.
    pub async fn accept(&self) -> Option<Connection> {
        let shared = &self.driver.shared;
        let handle = poll_fn(|context| {
            let mut hub = shared.lock();
            match hub.accept() {
                Some(handle) => Poll::Ready(Some(handle)),
                None if !hub.is_server() => Poll::Ready(None),
                None => {
                    hub.wake_on_accept(context.waker().clone());
                    Poll::Pending
                }
            }
        });
        let handle: Handle = handle.await?;
        Some(Connection::new(Arc::<Driver>::clone(&self.driver), handle))
    }

    /// Sets the settings of future connections.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn set_transport(&self, settings: Settings) -> Result<(), ConnectError> {
        self.driver.shared.lock().set_transport(settings)
    }

    /// Returns the number of connections. Includes connections that are opening or ending.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.driver.shared.lock().connections()
    }

    /// Returns the counters of the endpoint, and the counts of refused datagrams without a
    /// connection.
    #[must_use]
    pub fn counters(&self) -> (HubCounters, RefusedCounts) {
        let hub = self.driver.shared.lock();
        (*hub.counters(), *hub.refused())
    }
}
