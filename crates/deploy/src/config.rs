//! The configuration of an endpoint.

use acklab_base::{Bytes, Duration};
use acklab_measure::RecorderOptions;
use acklab_measure::qlog::Schema;
use acklab_secure::reset::ResetKey;
use acklab_transport::pacing::Burst;
use acklab_transport::tack::Settings;
use std::path::PathBuf;
use std::sync::Arc;

/// The time that determines the packets per system call. They are the initial window, or what the
/// pacing rate sends in this time, since hosts' timers are coarser than the spacing of packets. RFC
/// 9002, §7.7, allows the initial window of ten packets. The time is that of Linux's TCP, which
/// sizes segments to what the rate sends in 2⁻¹⁰ s (`sk_pacing_shift` 10, `tcp_tso_autosize`).
const BURST: Burst = Burst { packets: 10, time: Duration::from_millis(1), catches_up: true };

/// The largest IP packet that path MTU discovery tries: a usual jumbo frame. An interface with a
/// smaller MTU lowers it.
const JUMBO: Bytes = Bytes(9000);

/// Returns settings of the transport for real hosts. They equal those of a scenario with path MTU
/// discovery, batched delivery of packets, ECN, and checks of receivers' reports.
#[must_use]
pub fn settings() -> Settings {
    Settings {
        packet: JUMBO,
        mtu_discovery: true,
        burst: Some(BURST),
        skip_numbers: true,
        ecn: true,
        // A rate of 1 Gbps over 100 ms.
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
    /// The maximum number of unauthenticated connections without address validation. Beyond it,
    /// each further client must first validate its address.
    pub strangers: usize,
    /// The maximum number of connections of one validated address (one /64 of IPv6).
    pub per_address: usize,
    /// The maximum number of unauthenticated connections in total. A new one replaces the oldest.
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
    /// The key of stateless resets. It should be the same after a restart.
    pub reset_key: ResetKey,
    /// Limits of the state that unauthenticated clients may create.
    pub limits: Limits,
    /// `true` if every client must validate its address, which costs a round trip.
    pub always_retry: bool,
}

/// The records kept of each connection.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The series, and how they are sampled.
    pub options: RecorderOptions,
    /// The folder for one log per connection, named after the connection id; qvis reads them.
    pub qlog: Option<PathBuf>,
    /// The version of the logs.
    pub schema: Schema,
}

/// The configuration of an endpoint.
#[derive(Clone, Debug)]
pub struct Config {
    /// The transport. Server and client may differ: each end chooses its window, controller and ACK
    /// policy.
    pub transport: Settings,
    /// Decides which servers a client trusts: see [`identity`](acklab_secure::identity).
    pub client: Option<Arc<rustls::ClientConfig>>,
    /// Set if the endpoint accepts connections.
    pub server: Option<Server>,
    /// The records kept of each connection; none if `None`.
    pub recording: Option<Recording>,
    /// The keys of a connection are replaced after this many packets, or earlier if the cipher
    /// demands it.
    pub update_keys_after: Option<u64>,
}

impl Config {
    /// Creates a configuration with the [usual settings](settings) that neither connects nor
    /// accepts connections.
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
