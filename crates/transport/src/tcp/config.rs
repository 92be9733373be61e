//! What stacks do differently.
//!
//! Everything here changes results in the literature without being named there, so it is explicit. A [`Preset`] is a whole
//! stack; each value carries its source.

use super::ecn;
use super::sender::AfterIdle;
use crate::{ack, cc, pacing, recovery};
use acklab_base::random::Seed;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use recovery::{prr, rack, rto};
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

/// Whose reading of loss recovery (RFC 6675, §5) is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// The RFC's.
    Rfc,
    /// ns-3.37's, which differs in these points, all of which move its results:
    ///
    /// 1. A retransmission that SACK acknowledges stays in flight until it is acknowledged cumulatively (`TcpTxBuffer::Update`
    ///    leaves `m_retrans` alone).
    /// 2. A partial ACK sends a segment whatever the window says, unless the head was sent again already (`ProcessAck`).
    /// 3. An ACK that is partial and brings SACK news counts its delivery twice in PRR (`DupAck` and then `ProcessAck`).
    /// 4. An ACK with SACK news outside recovery neither grows the window nor restarts the timer (`ProcessAck`, `CA_DISORDER`).
    /// 5. The ACK that ends a fast recovery also grows the window; one that ends the recovery of a timeout grows it only by what
    ///    lies beyond the recovery point.
    /// 6. Each timeout lowers the threshold, also a repeated one.
    /// 7. An ACK that advances and brings SACK news does not end the count of duplicates (`ProcessAck`).
    /// 8. A recovery begins with a retransmission even if all that is lost is out again (`EnterRecovery` calls `DoRetransmit`).
    Ns3,
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
    /// The receiver reports what came twice in the first SACK block (RFC 2883).
    pub dsack: bool,
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
    /// What ends slow start before a loss does.
    pub slow_start: cc::SlowStart,
    /// Whose version of the controller is followed.
    pub congestion_dialect: cc::Dialect,
    /// Who asks for pacing.
    pub pacing: pacing::Config,
    /// Grow only while the window limits sending (RFC 9293 says nothing; RFC 7661, §4; Linux's `tcp_is_cwnd_limited`).
    pub validate_window: bool,
    /// The window after a silence longer than the retransmission timeout.
    pub after_idle: AfterIdle,
    /// What is halved on loss.
    pub halves: cc::FlightMeasure,
    /// What governs the window in a recovery.
    pub recovery: recovery::Algorithm,
    /// PRR: what the reduction is proportional to.
    pub prr_basis: prr::Basis,
    /// PRR: how far it may catch up.
    pub prr_bound: prr::Bound,
    /// What makes a segment count as lost.
    pub detection: recovery::Detection,
    /// RACK: whose round trip counts.
    pub rack_rtt: rack::RoundTrip,
    /// Probes of the tail of a flight (RFC 8985, §7).
    pub tail_loss_probe: bool,
    /// What the timers of reordering and of probes wait on top, for the granularity of a clock.
    pub timer_slack: Duration,
    /// Undo a reduction that was for nothing, as D-SACK (RFC 3708) or timestamps (RFC 3522) show.
    pub undo: bool,
    /// New segments on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// How RFC 6675, §5, is read.
    pub dialect: Dialect,
    /// Explicit congestion notification.
    pub ecn: ecn::Config,
    /// `accurate`: marked octets are told in an option as well (RFC 9768, §3.2.3).
    pub ecn_option: bool,
    /// Retransmission timer.
    pub rto: rto::Config,
    /// When the receiver acknowledges.
    pub ack: ack::Config,
}

impl Config {
    /// What the controller of the flow called `flow` is given at its birth.
    #[must_use]
    pub fn controller_start(&self, seed: Seed, flow: &str) -> cc::Start {
        let mss = self.mss.get();
        cc::Start {
            mss,
            initial_window: u64::from(self.initial_window.0) * mss,
            growth: self.growth,
            slow_start: self.slow_start,
            dialect: self.congestion_dialect,
            paced: self.pacing == pacing::Config::Always,
            random: seed.stream(&format!("flow/{flow}/congestion")),
        }
    }

    /// What the ACK policy of the flow called `flow` is given at its birth.
    #[must_use]
    pub fn policy_start(&self, seed: Seed, flow: &str) -> ack::Start {
        ack::Start { mss: self.mss.get(), random: seed.stream(&format!("flow/{flow}/ack")) }
    }
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

    /// What ends slow start with this controller: RFC 9438, §4.10, wants `HyStart++` for CUBIC, and where `HyStart` is a part of CUBIC
    /// it is that one.
    #[must_use]
    pub const fn slow_start(self, congestion: cc::Algorithm) -> cc::SlowStart {
        match (self, congestion) {
            (Self::Linux, cc::Algorithm::Cubic) => cc::SlowStart::LinuxHystart,
            (Self::Ns3, cc::Algorithm::Cubic) => cc::SlowStart::Ns3Hystart,
            (Self::Rfc, cc::Algorithm::Cubic) => cc::SlowStart::HystartPlusPlus,
            _ => cc::SlowStart::Classic,
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
    dsack: true,
    window_scaling: true,
    timestamps: Some(Duration::from_millis(1)),
    rtt_clock: RttClock::Timestamps,
    congestion: cc::Algorithm::NewReno,
    growth: cc::Growth::ByteCounting,
    slow_start: cc::SlowStart::Classic,
    congestion_dialect: cc::Dialect::Reference,
    pacing: pacing::Config::Controller,
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
    // RFC 3168 and RFC 9768 leave it to the host. Linux accepts it but does not ask for it (tcp_ecn = 2), ns-3 has UseEcn off.
    ecn: ecn::Config::Off,
    // RFC 9768, §3.2.3: recommended.
    ecn_option: true,
    rto: rto::Config {
        initial: Duration::from_secs(1),
        min: Duration::from_secs(1),
        floor: rto::Floor::Timeout,
        max: Duration::from_secs(60),
        granularity: Duration::from_millis(1),
        restart: rto::Restart::EveryAck,
    },
    ack: ack::Config::Delayed(ack::delayed::Delayed { segments: 2, timer: Duration::from_millis(200), quick: 0 }),
};

/// Linux: `net/ipv4/tcp_input.c`, `tcp_cong.c`, `tcp_timer.c`, `include/net/tcp.h`.
const LINUX: Config = Config {
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
    // TCP_TIMEOUT_MIN: two ticks, at the 250 a second of the common configuration.
    timer_slack: Duration::from_millis(8),
    rto: rto::Config {
        // TCP_TIMEOUT_INIT, TCP_RTO_MIN, TCP_RTO_MAX.
        initial: Duration::from_secs(1),
        min: Duration::from_millis(200),
        floor: rto::Floor::Deviation,
        max: Duration::from_secs(120),
        granularity: Duration::from_millis(1),
        restart: rto::Restart::EveryAckAndHeadRetransmission,
    },
    ack: ack::Config::Linux(ack::linux::Linux {}),
    ..RFC
};

/// ns-3.37: `tcp-socket-base.cc`, `tcp-congestion-ops.cc`, `tcp-prr-recovery.cc`, `tcp-tx-buffer.cc`.
const NS3: Config = Config {
    // TcpNewReno::SlowStart and CongestionAvoidance: once an ACK.
    growth: cc::Growth::PerAck,
    congestion_dialect: cc::Dialect::Ns3,
    validate_window: false,
    after_idle: AfterIdle::Keep,
    // TcpRxBuffer makes none.
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
    rto: rto::Config {
        initial: Duration::from_secs(1),
        min: Duration::from_secs(1),
        floor: rto::Floor::Timeout,
        max: Duration::from_secs(60),
        granularity: Duration::from_millis(1),
        // NewAck(ackNumber, m_isFirstPartialAck).
        restart: rto::Restart::FirstPartialAck,
    },
    // SetDelAckMaxCount presets the count, so that the first segment is acknowledged at once.
    ack: ack::Config::Delayed(ack::delayed::Delayed { segments: 2, timer: Duration::from_millis(200), quick: 1 }),
    ..RFC
};
