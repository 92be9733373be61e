//! The configuration of an endpoint.

use acklab_base::{Bytes, Duration};
use acklab_measure::RecorderOptions;
use acklab_measure::qlog::Schema;
use acklab_secure::reset::ResetKey;
use acklab_transport::pacing::Burst;
use acklab_transport::tack::Settings;
use std::path::PathBuf;
use std::sync::Arc;

/// The size of a burst: the packets per system call. It is the initial window, or the packets that
/// the pacing rate sends in this time, because timers of hosts are coarser than the spacing of
/// packets. RFC 9002, §7.7, permits the initial window of ten packets. The time equals the time of
/// Linux's TCP, which sizes segments to the data that the rate sends in 2⁻¹⁰ s (`sk_pacing_shift`
/// 10, `tcp_tso_autosize`).
const BURST: Burst = Burst { packets: 10, time: Duration::from_millis(1), catches_up: true };

/// The maximum IP packet that path MTU discovery tries: a usual jumbo frame. An interface with a
/// smaller MTU reduces it.
const JUMBO: Bytes = Bytes(9000);

/// Returns settings of the transport for real hosts. They equal the settings of a scenario with
/// path MTU discovery, batched delivery of packets, ECN, and checks of receivers' reports.
#[must_use]
pub fn settings() -> Settings {
    Settings {
        packet: JUMBO,
        mtu_discovery: true,
        burst: Some(BURST),
        skip_numbers: true,
        ecn: true,
        // Sufficient for 1 Gbps over a round-trip time of 100 ms.
        send_buffer: Bytes(16 << 20),
        receive_buffer: Bytes(16 << 20),
        idle_timeout: Duration::from_secs(30),
        ..Settings::default()
    }
}

/// Limits of the state that unauthenticated clients may create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of connections.
    pub connections: usize,
    /// The maximum number of unauthenticated connections without address validation. If it is
    /// reached, each further client must first validate its address.
    pub strangers: usize,
    /// The maximum number of connections of one validated address (for IPv6, of one /64).
    pub per_address: usize,
    /// The maximum total number of unauthenticated connections. If it is reached, a new connection
    /// replaces the oldest.
    pub handshakes: usize,
    /// The timeout of a handshake.
    pub handshake: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 100_000,
            strangers: 64,
            per_address: 10_000,
            handshakes: 1000,
            handshake: Duration::from_secs(10),
        }
    }
}

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Server {
    /// The certificate: see [`identity`](acklab_secure::identity).
    pub tls: Arc<rustls::ServerConfig>,
    /// The key of stateless resets. It should remain the same after a restart.
    pub reset_key: ResetKey,
    /// Limits of the state that unauthenticated clients may create.
    pub limits: Limits,
    /// `true` if every client must validate its address. This costs a round trip.
    pub always_retry: bool,
}

/// The recording of each connection.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The series, and how they are sampled.
    pub options: RecorderOptions,
    /// The folder for one log per connection, named after the connection id. The viewer qvis reads
    /// the logs.
    pub qlog: Option<PathBuf>,
    /// The qlog version of the logs.
    pub schema: Schema,
}

/// The configuration of an endpoint.
#[derive(Clone, Debug)]
pub struct Config {
    /// The settings of the transport. Server and client may have different settings: each end
    /// chooses its window, controller and ACK policy.
    pub transport: Settings,
    /// The servers that a client trusts: see [`identity`](acklab_secure::identity). `None` if the
    /// endpoint opens no connections.
    pub client: Option<Arc<rustls::ClientConfig>>,
    /// The configuration of the server. `None` if the endpoint accepts no connections.
    pub server: Option<Server>,
    /// The recording of each connection. If `None`, nothing is recorded.
    pub recording: Option<Recording>,
    /// The number of packets after which the keys of a connection are replaced. They are replaced
    /// earlier if the cipher requires it.
    pub update_keys_after: Option<u64>,
}

impl Config {
    /// Creates a configuration with the [usual settings](settings). It neither opens nor accepts
    /// connections.
    #[must_use]
    pub fn new() -> Self {
        Self { transport: settings(), client: None, server: None, recording: None, update_keys_after: None }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}
