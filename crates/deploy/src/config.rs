//! The configuration of an endpoint.

use acklab_base::{Bytes, Duration};
use acklab_measure::RecorderOptions;
use acklab_measure::qlog::Schema;
use acklab_secure::reset::ResetKey;
use acklab_transport::pacing::Burst;
use acklab_transport::tack::Settings;
use std::path::PathBuf;
use std::sync::Arc;

/// The packets that leave in one system call, or what the pacing rate sends in this time: timers of
/// hosts are coarser than the spacing of packets at high rates. RFC 9002, §7.7, allows the initial
/// window of ten packets; the time is that of Linux's TCP, whose autosized segments hold what the
/// rate sends in 2⁻¹⁰ s (`sk_pacing_shift` 10, `tcp_tso_autosize`).
const BURST: Burst = Burst { packets: 10, time: Duration::from_millis(1), catches_up: true };

/// The largest IP packet that is searched for: a jumbo frame, as interfaces usually have it. What
/// an interface takes less counts.
const JUMBO: Bytes = Bytes(9000);

/// Returns settings of the transport that suit real hosts. They are those of a scenario with path
/// MTU discovery, packets delivered in batches, ECN, and checks of what receivers report.
#[must_use]
pub fn settings() -> Settings {
    Settings {
        packet: JUMBO,
        mtu_discovery: true,
        burst: Some(BURST),
        skip_numbers: true,
        ecn: true,
        // A gigabit per second over 100 ms.
        send_buffer: Bytes(16 << 20),
        receive_buffer: Bytes(16 << 20),
        idle_timeout: Duration::from_secs(30),
        ..Settings::default()
    }
}

/// Limits of the state that strangers get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time.
    pub connections: usize,
    /// Connections whose client is not authenticated yet, before each further one has to show that
    /// it receives at its address.
    pub strangers: usize,
    /// Connections at a time of one address (one /64 of IPv6) whose client has shown so.
    pub per_address: usize,
    /// Connections whose client is not authenticated yet, in all. The oldest makes room for
    /// another.
    pub handshakes: usize,
    /// A handshake that takes longer is given up.
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

/// The configuration that makes an endpoint a server.
#[derive(Clone, Debug)]
pub struct Server {
    /// Its certificate: see [`identity`](acklab_secure::identity).
    pub tls: Arc<rustls::ServerConfig>,
    /// The key of its stateless resets, which should outlive the process.
    pub reset_key: ResetKey,
    /// Limits of the state that strangers get.
    pub limits: Limits,
    /// Every client has to show that it receives at its address, which costs a round trip.
    pub always_retry: bool,
}

/// The records kept of each connection.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The series, and how they are sampled.
    pub options: RecorderOptions,
    /// The folder for a log of each connection that qvis reads, named after the connection id.
    pub qlog: Option<PathBuf>,
    /// The version of the logs.
    pub schema: Schema,
}

/// An endpoint.
#[derive(Clone, Debug)]
pub struct Config {
    /// The transport. Server and client may differ: each decides on its own window, its controller
    /// and its ACK policy.
    pub transport: Settings,
    /// Decides which servers a client trusts: see [`identity`](acklab_secure::identity).
    pub client: Option<Arc<rustls::ClientConfig>>,
    /// Set if others may connect to this endpoint.
    pub server: Option<Server>,
    /// The records kept of each connection; none if `None`.
    pub recording: Option<Recording>,
    /// The keys of a connection are replaced after this many packets, or earlier if the cipher
    /// demands it.
    pub update_keys_after: Option<u64>,
}

impl Config {
    /// Creates an endpoint with the [usual settings](settings) that neither connects nor is
    /// connected to.
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
