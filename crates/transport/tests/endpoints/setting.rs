//! Chooses any settings of a connection.

use super::octets::Octets;
use acklab_app::Traffic;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration, Instant, Rate};
use acklab_transport::cc::{self, Dialect, FlightMeasure, Growth, SlowStart};
use acklab_transport::reading::Reading;
use acklab_transport::recovery::{self, Detection, prr, rto};
use acklab_transport::tcp::config::{Preset, RttClock, TcpConfig};
use acklab_transport::tcp::ecn;
use acklab_transport::tcp::receiver::ReceiveWindow;
use acklab_transport::tcp::sender::{AfterIdle, SendBufferLimit};
use acklab_transport::{ack, pacing};

/// The settings of the two endpoints.
pub(crate) struct Setting {
    pub(crate) config: TcpConfig,
    pub(crate) traffic: Traffic,
    pub(crate) stop: Option<Instant>,
    pub(crate) reading: Reading,
    pub(crate) seed: u64,
}

impl Setting {
    pub(crate) fn of(octets: &mut Octets<'_>) -> Self {
        let seed = u64::from(octets.word());
        let mut config = octets.one_of(&[Preset::Linux, Preset::Rfc, Preset::Ns3]).config();
        let mss = octets.one_of(&[100, 1, 2, 7, 40, 1448]);
        config.mss = Bytes(mss);
        config.initial_window = Segments(1 + octets.below(20) as u32);
        let window = match octets.below(8) {
            0 => 1 + octets.below(mss),
            1 => mss,
            2 => 2 * mss + octets.below(mss),
            3 => 70_000 + octets.below(3),
            _ => mss * (3 + octets.below(60)),
        };
        config.receive_buffer = Bytes(window);
        config.send_buffer = Bytes(if octets.once_in(4) { mss * (1 + octets.below(30)) } else { 4 << 20 });
        switches(octets, &mut config);
        policies(octets, &mut config);
        timers(octets, &mut config);
        // The source writes at most the amount that takes some hundred round trips.
        let most = mss.min(window) * (1 + octets.below(150));
        let stop = Instant::ZERO + Duration::from_millis(1 + 5 * octets.below(256)).min(longest_greedy(window, mss));
        let write = Bytes(1 + octets.below(3 * mss));
        let rate = Rate::from_bits_per_second(write.get() * 8 * (1 + octets.below(400))).unwrap_or(Rate::from_mbps(1));
        let (traffic, stop) = match octets.below(8) {
            0 => (Traffic::Greedy {}, Some(stop)),
            1 => (Traffic::Constant { rate, write }, Some(stop)),
            2 => (Traffic::Poisson { rate, write }, Some(stop)),
            3 => (Traffic::Fixed { size: Bytes(1 + octets.below(most)) }, Some(stop)),
            _ => (Traffic::Fixed { size: Bytes(1 + octets.below(most)) }, None),
        };
        let reading = if octets.once_in(3) { Reading::OnDemand } else { Reading::AtOnce };
        Self { config, traffic, stop, reading, seed }
    }
}

impl Setting {
    /// One-byte segments in the largest window, from a source that writes as fast as it can for the
    /// maximum time.
    #[allow(dead_code, reason = "the fuzz target has inputs instead")]
    pub(crate) fn slowest() -> Self {
        let (window, mss) = (70_002, 1);
        let config = TcpConfig { mss: Bytes(mss), receive_buffer: Bytes(window), ..Preset::Linux.config() };
        let stop = Some(Instant::ZERO + longest_greedy(window, mss));
        Self { config, traffic: Traffic::Greedy {}, stop, reading: Reading::AtOnce, seed: 1 }
    }
}

/// The maximum number of segments of a source that writes as fast as it can.
const MAX_GREEDY_SEGMENTS: u64 = 100_000;

/// Returns the maximum writing time of a greedy source. The network has no rate, so a window is
/// sent immediately in each round trip, which takes at least 20 ms.
fn longest_greedy(window: u64, mss: u64) -> Duration {
    Duration::from_millis(20) * MAX_GREEDY_SEGMENTS.div_ceil(window.div_ceil(mss))
}

/// Inverts each switch in one setting of four.
fn switches(octets: &mut Octets<'_>, config: &mut TcpConfig) {
    let flips = octets.word() & octets.word();
    let flags = [
        &mut config.sack,
        &mut config.dsack,
        &mut config.window_scaling,
        &mut config.validate_window,
        &mut config.tail_loss_probe,
        &mut config.undo,
        &mut config.limited_transmit,
        &mut config.ecn_option,
    ];
    flags.into_iter().enumerate().for_each(|(bit, flag)| *flag ^= flips >> bit & 1 == 1);
    if flips >> 30 & 1 == 1 {
        config.timestamps = None;
        config.rtt_clock = RttClock::SendTimes;
    }
    if flips >> 31 == 1 {
        config.rtt_clock = RttClock::SendTimes;
    }
}

fn policies(octets: &mut Octets<'_>, config: &mut TcpConfig) {
    let controllers: Vec<cc::ControllerConfig> = cc::ControllerConfig::built_in().collect();
    config.congestion = octets.one_of(&controllers);
    config.slow_start = octets.one_of(&[
        SlowStart::Classic {},
        SlowStart::HYSTART_PLUS_PLUS,
        SlowStart::LINUX_HYSTART,
        SlowStart::NS3_HYSTART,
    ]);
    config.congestion_dialect = octets.one_of(&[Dialect::Reference, Dialect::Linux, Dialect::Ns3]);
    config.ecn =
        octets.one_of(&[ecn::EcnConfig::Off, ecn::EcnConfig::Classic, ecn::EcnConfig::Dctcp, ecn::EcnConfig::Accurate]);
    if octets.once_in(3) {
        config.growth = octets.one_of(&[Growth::PerAck, Growth::PerSegment, Growth::ByteCounting]);
        config.halves = octets.one_of(&[FlightMeasure::FlightSize, FlightMeasure::Pipe, FlightMeasure::Window]);
        config.recovery = octets.one_of(&[
            recovery::Algorithm::Prr,
            recovery::Algorithm::Classic,
            recovery::Algorithm::Reno,
            recovery::Algorithm::Tahoe,
        ]);
        config.prr_basis = octets.one_of(&[prr::Basis::FlightSize, prr::Basis::Pipe, prr::Basis::Window]);
        config.prr_bound = octets.one_of(&[prr::Bound::SafeAck, prr::Bound::RetransmissionAcked]);
        config.detection = octets.one_of(&[Detection::DupThresh, Detection::Rack]);
        config.after_idle = octets.one_of(&[AfterIdle::Keep, AfterIdle::Restart, AfterIdle::Decay]);
        config.send_buffer_limit = octets.one_of(&[SendBufferLimit::Payload, SendBufferLimit::Memory]);
        config.receive_window = octets.one_of(&[ReceiveWindow::WholeBuffer, ReceiveWindow::Autotuned]);
        config.pacing = octets.one_of(&[
            pacing::PacingConfig::Controller,
            pacing::PacingConfig::Always,
            pacing::PacingConfig::Never,
        ]);
    }
    config.ack = acknowledgments(octets, config.ack);
}

/// Chooses any built-in policy with any settings. A policy that this function does not know has its
/// defaults.
fn acknowledgments(octets: &mut Octets<'_>, preset: ack::PolicyConfig) -> ack::PolicyConfig {
    if octets.once_in(4) {
        return preset;
    }
    let segments = 1 + octets.below(12) as u32;
    let timer = Duration::from_millis(1 + octets.below(300));
    let built_in: Vec<ack::PolicyConfig> = ack::PolicyConfig::built_in().collect();
    let mut drawn = octets.one_of(&built_in);
    match &mut drawn {
        ack::PolicyConfig::Delayed(policy) => {
            (policy.segments, policy.timer, policy.quick) = (segments, timer, segments % 3)
        }
        ack::PolicyConfig::ByteCounting(policy) => (policy.segments, policy.timer) = (segments, Some(timer)),
        ack::PolicyConfig::Daass(policy) => (policy.segments, policy.timer) = (segments, timer),
        ack::PolicyConfig::Chrome(policy) => {
            (policy.packets, policy.max_ack_delay) = (segments, timer);
            (policy.after, policy.rtt_divisor) = (octets.below(150) as u32, 1 + octets.below(8) as u32);
        }
        ack::PolicyConfig::Quic(policy) => (policy.packets, policy.max_ack_delay) = (segments, timer),
        ack::PolicyConfig::AckFrequency(policy) => {
            (policy.ack_eliciting_threshold, policy.requested_max_ack_delay) = (segments - 1, timer);
            policy.reordering_threshold = octets.below(5) as u32;
        }
        ack::PolicyConfig::Tack(policy) => {
            (policy.segments, policy.beta) = (segments, 2 + octets.below(8) as u32);
            policy.bandwidth_window = 1 + octets.below(12) as u32;
            policy.rtt_window = Duration::from_secs(1 + octets.below(10));
            policy.per_packet_startup = octets.once_in(2);
        }
        ack::PolicyConfig::AckCongestionControl(policy) => policy.timer = timer,
        _ => {}
    }
    drawn
}

fn timers(octets: &mut Octets<'_>, config: &mut TcpConfig) {
    if octets.once_in(3) {
        config.rto.min = Duration::from_millis(octets.one_of(&[1, 10, 200, 1000]));
        config.rto.max = Duration::from_secs(octets.one_of(&[2, 60, 120]));
        config.rto.floor = octets.one_of(&[rto::Floor::Timeout, rto::Floor::Deviation]);
        config.rto.restart = octets.one_of(&[
            rto::Restart::EveryAck,
            rto::Restart::EveryAckAndHeadRetransmission,
            rto::Restart::FirstPartialAck,
        ]);
        config.timer_slack = Duration::from_millis(octets.one_of(&[0, 8]));
    }
}
