//! The differences between TCP stacks.
//!
//! The literature does not name these differences, but they change its results. They are therefore
//! explicit settings. A [`Preset`] is a set of values for one stack, and each value has its source.
//! [`settings`](super::settings) lists the settings.

pub use super::settings::TcpConfig;

use super::ecn;
use super::kernel::Kernel;
use super::receiver::ReceiveWindow;
use super::sender::{AfterIdle, SendBufferLimit};
use crate::{ack, cc, pacing, recovery};
use acklab_base::random::Seed;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use recovery::{prr, rack, rto};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A TCP stack, whose values all settings have by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Linux 6.x.
    Linux,
    /// The defaults of ns-3.37's `TcpSocketBase`, except that a segment has 1448 bytes and each
    /// buffer 4 MiB.
    Ns3,
    /// The values of the RFCs, where an RFC specifies a value.
    Rfc,
}

/// The source of round-trip times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttClock {
    /// The departure time of each segment.
    SendTimes,
    /// The echoed timestamp, in ticks of the sender's clock (RFC 7323, §4).
    Timestamps,
}

/// The variant of loss recovery (RFC 6675, §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// The variant of the RFC.
    Rfc,
    /// The variant of Linux 6.18. [`Rules::LINUX`](super::Rules::LINUX) lists each departure from
    /// the RFC, with the function of the kernel.
    Linux,
    /// The variant of ns-3.37. [`Rules::NS3`](super::Rules::NS3) lists each departure from the RFC,
    /// with the function of ns-3.
    Ns3,
}

impl TcpConfig {
    /// Returns `true` if the receive buffer grows.
    #[must_use]
    pub fn is_autotuned(&self) -> bool {
        self.receive_window == ReceiveWindow::Autotuned
    }

    /// Returns the inputs of the controller for the flow `flow`.
    #[must_use]
    pub fn controller_start(&self, seed: Seed, flow: &str) -> cc::Start {
        let mss = self.mss.get();
        cc::Start {
            mss,
            initial_window: u64::from(self.initial_window.0) * mss,
            growth: self.growth,
            slow_start: self.slow_start,
            dialect: self.congestion_dialect,
            paced: self.pacing == pacing::PacingConfig::Always,
            burst: None,
            random: seed.stream(&format!("flow/{flow}/congestion")),
        }
    }

    /// Returns the inputs of the ACK policy for the flow `flow`.
    #[must_use]
    pub fn policy_start(&self, seed: Seed, flow: &str) -> ack::Start {
        ack::Start { mss: self.mss.get(), random: seed.stream(&format!("flow/{flow}/ack")) }
    }
}

impl Preset {
    /// Returns the preset's name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Ns3 => "ns3",
            Self::Rfc => "rfc",
        }
    }

    /// Returns the stack's settings.
    #[must_use]
    pub const fn config(self) -> TcpConfig {
        match self {
            Self::Linux => LINUX,
            Self::Ns3 => NS3,
            Self::Rfc => RFC,
        }
    }

    /// Returns the algorithm that ends slow start with this controller. It is the
    /// [standard](cc::SlowStart::standard) algorithm, unless `HyStart` is a part of CUBIC in this
    /// stack.
    #[must_use]
    pub const fn slow_start(self, congestion: &cc::ControllerConfig) -> cc::SlowStart {
        match (self, congestion) {
            (Self::Linux, cc::ControllerConfig::Cubic(_)) => cc::SlowStart::LINUX_HYSTART,
            (Self::Ns3, cc::ControllerConfig::Cubic(_)) => cc::SlowStart::NS3_HYSTART,
            _ => cc::SlowStart::standard(congestion),
        }
    }
}

/// The values of RFC 9293 and of the RFCs that it references. The comment on each setting names its
/// RFC.
const RFC: TcpConfig = TcpConfig {
    mss: Bytes(1448),
    // RFC 6928, §2.
    initial_window: Segments(10),
    send_buffer: Bytes(4 << 20),
    send_buffer_limit: SendBufferLimit::Payload,
    receive_buffer: Bytes(4 << 20),
    receive_window: ReceiveWindow::WholeBuffer,
    kernel: Kernel::V6_18,
    sack: true,
    dsack: true,
    window_scaling: true,
    timestamps: Some(Duration::from_millis(1)),
    rtt_clock: RttClock::Timestamps,
    congestion: cc::ControllerConfig::NEW_RENO,
    growth: cc::Growth::ByteCounting,
    slow_start: cc::SlowStart::Classic {},
    congestion_dialect: cc::Dialect::Reference,
    pacing: pacing::PacingConfig::Controller,
    validate_window: true,
    after_idle: AfterIdle::Restart,
    halves: cc::FlightMeasure::FlightSize,
    recovery: recovery::Algorithm::Prr,
    prr_basis: prr::Basis::Pipe,
    prr_bound: prr::Bound::SafeAck,
    detection: recovery::Detection::Rack,
    rack_rtt: rack::RoundTrip::Newest,
    tail_loss_probe: true,
    timer_slack: Duration::ZERO,
    undo: true,
    limited_transmit: true,
    dialect: Dialect::Rfc,
    // RFC 3168 and RFC 9768 specify no default. Linux accepts ECN but does not request it (tcp_ecn
    // = 2). In ns-3, UseEcn is off.
    ecn: ecn::EcnConfig::Off,
    // RFC 9768, §3.2.3: recommended.
    ecn_option: true,
    rto: rto::RtoConfig {
        initial: Duration::from_secs(1),
        min: Duration::from_secs(1),
        floor: rto::Floor::Timeout,
        max: Duration::from_secs(60),
        granularity: Duration::from_millis(1),
        restart: rto::Restart::EveryAck,
    },
    ack: ack::PolicyConfig::Delayed(ack::delayed::Delayed { segments: 2, timer: Duration::from_millis(200), quick: 0 }),
};

/// Linux: `net/ipv4/tcp_input.c`, `tcp_cong.c`, `tcp_timer.c`, `include/net/tcp.h`.
const LINUX: TcpConfig = TcpConfig {
    // tcp_wmem[2] is 4 MiB, and tcp_sndbuf_expand increases sk_sndbuf up to that value.
    send_buffer_limit: SendBufferLimit::Memory,
    // tcp_rcv_space_adjust increases sk_rcvbuf up to tcp_rmem[2], with tcp_moderate_rcvbuf = 1.
    receive_buffer: Kernel::V6_18.largest_receive_buffer(),
    receive_window: ReceiveWindow::Autotuned,
    rtt_clock: RttClock::SendTimes,
    // tcp_reno_cong_avoid counts acknowledged segments.
    growth: cc::Growth::PerSegment,
    congestion_dialect: cc::Dialect::Linux,
    // tcp_rack_advance.
    rack_rtt: rack::RoundTrip::LastEntered,
    // tcp_slow_start_after_idle = 1.
    after_idle: AfterIdle::Decay,
    // tcp_reno_ssthresh halves snd_cwnd.
    halves: cc::FlightMeasure::Window,
    // tcp_init_cwnd_reduction: prior_cwnd.
    prr_basis: prr::Basis::Window,
    // TCP_TIMEOUT_MIN_US, since 6.7.
    timer_slack: Duration::from_millis(2),
    dialect: Dialect::Linux,
    rto: rto::RtoConfig {
        // TCP_TIMEOUT_INIT, TCP_RTO_MIN, TCP_RTO_MAX.
        initial: Duration::from_secs(1),
        min: Duration::from_millis(200),
        floor: rto::Floor::Deviation,
        max: Duration::from_secs(120),
        granularity: Duration::from_millis(1),
        restart: rto::Restart::EveryAckAndHeadRetransmission,
    },
    ack: ack::PolicyConfig::Linux(ack::linux::Linux {}),
    ..RFC
};

/// ns-3.37: `tcp-socket-base.cc`, `tcp-congestion-ops.cc`, `tcp-prr-recovery.cc`,
/// `tcp-tx-buffer.cc`.
const NS3: TcpConfig = TcpConfig {
    // TcpNewReno::SlowStart and CongestionAvoidance: once per ACK.
    growth: cc::Growth::PerAck,
    congestion_dialect: cc::Dialect::Ns3,
    validate_window: false,
    after_idle: AfterIdle::Keep,
    // TcpRxBuffer sends no D-SACK.
    dsack: false,
    // EnterRecovery: GetSsThresh(BytesInFlight()).
    halves: cc::FlightMeasure::Pipe,
    // EnterRecovery: UnAckDataCount().
    prr_basis: prr::Basis::FlightSize,
    prr_bound: prr::Bound::RetransmissionAcked,
    detection: recovery::Detection::DupThresh,
    tail_loss_probe: false,
    undo: false,
    dialect: Dialect::Ns3,
    rto: rto::RtoConfig {
        initial: Duration::from_secs(1),
        min: Duration::from_secs(1),
        floor: rto::Floor::Timeout,
        max: Duration::from_secs(60),
        granularity: Duration::from_millis(1),
        // NewAck(ackNumber, m_isFirstPartialAck).
        restart: rto::Restart::FirstPartialAck,
    },
    // SetDelAckMaxCount initialises the count so that the first segment is acknowledged
    // immediately.
    ack: ack::PolicyConfig::Delayed(ack::delayed::Delayed { segments: 2, timer: Duration::from_millis(200), quick: 1 }),
    ..RFC
};
