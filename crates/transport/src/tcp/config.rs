//! What stacks do differently.
//!
//! Everything here changes results in the literature without being named there, so it is explicit. A [`Preset`] is a whole
//! stack; each value carries its source.

use crate::{ack, cc, recovery};
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use recovery::{prr, rto};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A whole stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Linux 6.x.
    Linux,
    /// ns-3.37's `TcpSocketBase` with its defaults but for a segment of 1448 octets and buffers of 4 MiB.
    Ns3,
    /// What the RFCs say where they say it.
    Rfc,
}

/// Where round-trip times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttClock {
    /// From when each segment was sent.
    SendTimes,
    /// From the echoed timestamp, in ticks of the sender's clock (RFC 7323, §4).
    Timestamps,
}

/// One connection's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Config {
    /// Payload of a full-sized segment.
    pub mss: Bytes,
    /// Initial window.
    pub initial_window: Segments,
    /// What the application may write ahead of acknowledgment.
    pub send_buffer: Bytes,
    /// The receive window.
    pub receive_buffer: Bytes,
    /// Selective acknowledgment (RFC 2018).
    pub sack: bool,
    /// Window scale (RFC 7323, §2).
    pub window_scaling: bool,
    /// Timestamps (RFC 7323, §3): the tick of the clock, if they are used.
    pub timestamps: Option<Duration>,
    /// Where round-trip times come from.
    pub rtt_clock: RttClock,
    /// Congestion controller.
    pub congestion: cc::Algorithm,
    /// What the window grows by.
    pub growth: cc::Growth,
    /// Grow only while the window limits sending (RFC 9293 says nothing; RFC 7661, §4; Linux's `tcp_is_cwnd_limited`).
    pub validate_window: bool,
    /// What is halved on loss.
    pub halves: cc::FlightMeasure,
    /// What governs the window in a recovery.
    pub recovery: recovery::Algorithm,
    /// PRR: what the reduction is proportional to.
    pub prr_basis: prr::Basis,
    /// PRR: how far it may catch up.
    pub prr_bound: prr::Bound,
    /// New segments on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// A partial ACK sends the next lost segment whatever the window says (RFC 6582, §3.2, step 3).
    pub partial_ack_retransmits: bool,
    /// An ACK that ends a recovery also grows the window (ns-3's `ProcessAck`).
    pub grows_on_exit: bool,
    /// Retransmission timer.
    pub rto: rto::Config,
    /// When the receiver acknowledges.
    pub ack: ack::Config,
}

impl Preset {
    /// Its name, as scenarios spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Ns3 => "ns3",
            Self::Rfc => "rfc",
        }
    }

    /// The stack's settings.
    #[must_use]
    pub const fn config(self) -> Config {
        match self {
            Self::Linux => LINUX,
            Self::Ns3 => NS3,
            Self::Rfc => RFC,
        }
    }
}

/// RFC 9293 and those it names; each field's own RFC stands at the field.
const RFC: Config = Config {
    mss: Bytes(1448),
    // RFC 6928, §2.
    initial_window: Segments(10),
    send_buffer: Bytes(4 << 20),
    receive_buffer: Bytes(4 << 20),
    sack: true,
    window_scaling: true,
    timestamps: Some(Duration::from_millis(1)),
    rtt_clock: RttClock::Timestamps,
    congestion: cc::Algorithm::NewReno,
    growth: cc::Growth::ByteCounting,
    validate_window: true,
    halves: cc::FlightMeasure::FlightSize,
    recovery: recovery::Algorithm::Prr,
    prr_basis: prr::Basis::Pipe,
    prr_bound: prr::Bound::SafeAck,
    limited_transmit: true,
    partial_ack_retransmits: false,
    grows_on_exit: false,
    rto: rto::Config {
        initial: Duration::from_secs(1),
        min: Duration::from_secs(1),
        floor: rto::Floor::Timeout,
        max: Duration::from_secs(60),
        granularity: Duration::from_millis(1),
        restart: rto::Restart::EveryAck,
    },
    ack: ack::Config::Delayed { segments: 2, timer: Duration::from_millis(200) },
};

/// Linux: `net/ipv4/tcp_input.c`, `tcp_cong.c`, `tcp_timer.c`, `include/net/tcp.h`.
const LINUX: Config = Config {
    rtt_clock: RttClock::SendTimes,
    // tcp_reno_cong_avoid counts acknowledged segments.
    growth: cc::Growth::PerSegment,
    // tcp_reno_ssthresh halves snd_cwnd.
    halves: cc::FlightMeasure::Window,
    // tcp_init_cwnd_reduction: prior_cwnd.
    prr_basis: prr::Basis::Window,
    rto: rto::Config {
        // TCP_TIMEOUT_INIT, TCP_RTO_MIN, TCP_RTO_MAX.
        initial: Duration::from_secs(1),
        min: Duration::from_millis(200),
        floor: rto::Floor::Deviation,
        max: Duration::from_secs(120),
        granularity: Duration::from_millis(1),
        restart: rto::Restart::EveryAck,
    },
    ack: ack::Config::Linux {},
    ..RFC
};

/// ns-3.37: `tcp-socket-base.cc`, `tcp-congestion-ops.cc`, `tcp-prr-recovery.cc`, `tcp-tx-buffer.cc`.
const NS3: Config = Config {
    // TcpNewReno::SlowStart and CongestionAvoidance: once an ACK.
    growth: cc::Growth::PerAck,
    validate_window: false,
    // EnterRecovery: GetSsThresh(BytesInFlight()).
    halves: cc::FlightMeasure::Pipe,
    // EnterRecovery: UnAckDataCount().
    prr_basis: prr::Basis::FlightSize,
    prr_bound: prr::Bound::RetransmissionAcked,
    // ProcessAck: DoRetransmit() on a partial ACK whose head was not yet sent again.
    partial_ack_retransmits: true,
    grows_on_exit: true,
    rto: rto::Config {
        initial: Duration::from_secs(1),
        min: Duration::from_secs(1),
        floor: rto::Floor::Timeout,
        max: Duration::from_secs(60),
        granularity: Duration::from_millis(1),
        // NewAck(ackNumber, m_isFirstPartialAck).
        restart: rto::Restart::FirstPartialAck,
    },
    ..RFC
};
