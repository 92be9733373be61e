//! The default settings of QUIC implementations.
//!
//! | preset | acknowledges | requests | controller | source |
//! |---|---|---|---|---|
//! | `rfc` | every second packet, 25 ms | – | NewReno | RFC 9000, §13.2; RFC 9002, §7 |
//! | `chrome` | every second of the first 100 packets, then every tenth or a quarter of RTTmin | – | CUBIC | Google's quiche, `quic_received_packet_manager.cc` |
//! | `neqo` | every second packet, 20 ms; the first packet after a silent round trip immediately |
//! 4 ACKs per round trip | CUBIC | neqo, `tracking.rs`, `ackrate.rs` |
//! | `picoquic` | every second packet, 10 ms | 4 ACKs per round trip, within bounds | NewReno | picoquic, `frames.c` |
//! | `quicly` | every second packet, 25 ms, whatever the order | – | NewReno, not paced | quicly of November 2019, `quicly.c`, `cc-reno.c` |
//! | `msquic` | every second packet, 25 ms | – | CUBIC | msquic, `quicdef.h` |
//! | `quinn` | every second packet, 25 ms | – | CUBIC | quinn-proto, `config/transport.rs` |
//! | `mvfst` | every tenth packet, a quarter of the round trip, at most 25 ms | – | CUBIC, not paced | mvfst, `QuicConstants.h` |
//! | `s2n-quic` | every tenth packet, 25 ms | – | CUBIC | s2n-quic, `ack_manager.rs` |
//! | `quic-go` | every second packet, 25 ms | – | NewReno | quic-go, `received_packet_tracker.go` |

use super::ask;
use super::flow::{FlowControl, Growth};
use crate::ack::{self, quic::Quic};
use crate::cc::slow_start::quiche;
use crate::recovery::packets::Thresholds;
use crate::{cc, pacing};
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use acklab_wire::quic::OUTER_HEADERS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MS: Duration = Duration::from_millis(1);
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The implementation whose defaults are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// RFC 9000 and RFC 9002.
    #[default]
    Rfc,
    /// Chrome.
    Chrome,
    /// Firefox.
    Neqo,
    /// picoquic.
    Picoquic,
    /// quicly of November 2019.
    Quicly,
    /// msquic.
    Msquic,
    /// quinn.
    Quinn,
    /// mvfst.
    Mvfst,
    /// s2n-quic.
    #[serde(rename = "s2n-quic")]
    S2nQuic,
    /// quic-go.
    QuicGo,
}

/// The defaults of an implementation. A scenario may override each of them. The settings with the
/// same names document the values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stack {
    pub(super) ack: ack::PolicyConfig,
    pub(super) ask: ask::AskConfig,
    /// Set if the value differs from the ACK policy's maximum delay.
    pub(super) max_ack_delay: Option<Duration>,
    pub(super) ack_ranges: u32,
    pub(super) congestion: cc::ControllerConfig,
    /// The algorithm that ends slow start, with every controller.
    pub(super) slow_start: cc::SlowStart,
    /// Set if the value differs from RFC 9002, §7.2.
    pub(super) initial_window: Option<Segments>,
    pub(super) packet: Bytes,
    pub(super) pacing: pacing::PacingConfig,
    pub(super) burst: Option<pacing::Burst>,
    /// `true` if probes request an immediate ACK. The request is sent only if the peer supports
    /// `IMMEDIATE_ACK`.
    pub(super) probes_demand_acks: bool,
    pub(super) thresholds: Thresholds,
    /// `true` if the packet threshold rises with reordering.
    pub(super) adaptive_packet_threshold: bool,
    pub(super) flow_control: FlowControl,
    pub(super) updates_per_window: u32,
    /// `true` if the latency spin bit is enabled.
    pub(super) spin_bit: bool,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 10] = [
        Self::Rfc,
        Self::Chrome,
        Self::Neqo,
        Self::Picoquic,
        Self::Quicly,
        Self::Msquic,
        Self::Quinn,
        Self::Mvfst,
        Self::S2nQuic,
        Self::QuicGo,
    ];

    /// Returns the preset's name as scenarios spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rfc => "rfc",
            Self::Chrome => "chrome",
            Self::Neqo => "neqo",
            Self::Picoquic => "picoquic",
            Self::Quicly => "quicly",
            Self::Msquic => "msquic",
            Self::Quinn => "quinn",
            Self::Mvfst => "mvfst",
            Self::S2nQuic => "s2n-quic",
            Self::QuicGo => "quic-go",
        }
    }

    pub(super) fn stack(self) -> Stack {
        match self {
            Self::Rfc => rfc(),
            Self::Chrome => chrome(),
            Self::Neqo => neqo(),
            Self::Picoquic => picoquic(),
            Self::Quicly => quicly(),
            Self::Msquic => msquic(),
            Self::Quinn => quinn(),
            Self::Mvfst => mvfst(),
            Self::S2nQuic => s2n_quic(),
            Self::QuicGo => quic_go(),
        }
    }

    /// Returns the algorithm that ends slow start with this controller. For CUBIC, RFC 9438, §4.10,
    /// recommends `HyStart++`. Presets of implementations use the algorithm of the implementation.
    pub(super) fn slow_start(self, congestion: &cc::ControllerConfig) -> cc::SlowStart {
        match self {
            Self::Rfc => cc::SlowStart::standard(congestion),
            _ => self.stack().slow_start,
        }
    }
}

fn rfc() -> Stack {
    Stack {
        ack: Quic::default().into(),
        ask: ask::AskConfig::None,
        max_ack_delay: None,
        ack_ranges: 32,
        congestion: cc::ControllerConfig::NEW_RENO,
        slow_start: cc::SlowStart::Classic {},
        initial_window: None,
        packet: Bytes(1500),
        pacing: pacing::PacingConfig::Always,
        burst: None,
        probes_demand_acks: false,
        thresholds: Thresholds::RFC,
        adaptive_packet_threshold: false,
        // No RFC specifies a number. quiche and quicly announce a window once half of it is read.
        flow_control: fixed(4 * MIB, 6 * MIB),
        updates_per_window: 2,
        // The spin bit is optional (RFC 9000, §17.4).
        spin_bit: false,
    }
}

/// Google's quiche with the constants of Chromium's network stack.
fn chrome() -> Stack {
    Stack {
        ack: ack::chrome::Chrome::default().into(),
        // `set_max_ack_ranges` in `quic_connection.cc`.
        ack_ranges: 255,
        congestion: cubic(),
        // `tcp_cubic_sender_bytes.cc`, `hybrid_slow_start.cc`.
        slow_start: cc::SlowStart::QuicheHystart(quiche::Config::PUBLISHED),
        // `kInitialCongestionWindow`.
        initial_window: Some(Segments(32)),
        // `kDefaultPacketReorderingThreshold`; `kDefaultLossDelayShift`, which adds a quarter;
        // `kInitialRttMs`.
        thresholds: Thresholds { time: 1.25, initial_rtt: MS * 100, ..Thresholds::RFC },
        // `use_adaptive_reordering_threshold_` of `GeneralLossAlgorithm`.
        adaptive_packet_threshold: true,
        // `kQuicStreamMaxRecvWindowSize` and `kQuicSessionMaxRecvWindowSize` (Chromium,
        // `net/quic/quic_context.cc`); `kStreamReceiveWindowLimit` and
        // `kSessionReceiveWindowLimit`.
        flow_control: auto(Growth::Quiche, [6 * MIB, 15 * MIB], [16 * MIB, 24 * MIB]),
        // `QuicFlowController::WindowUpdateThreshold`.
        updates_per_window: 2,
        ..rfc()
    }
}

fn neqo() -> Stack {
    Stack {
        // `DEFAULT_LOCAL_ACK_DELAY`; `RecvdPackets::ack_now`.
        ack: Quic { max_ack_delay: MS * 20, after_round_trip: true, ..Quic::default() }.into(),
        ask: ask::AskConfig::Neqo(ask::neqo::Neqo::default()),
        // `MAX_ACKS_PER_FRAME`.
        ack_ranges: 32,
        // `ConnectionParameters::default`, with `SlowStart::Classic`.
        congestion: cubic(),
        // `recovery/mod.rs`, `PACKET_THRESHOLD`; `rtt.rs`, `loss_delay` and `DEFAULT_INITIAL_RTT`.
        thresholds: Thresholds { initial_rtt: MS * 100, ..Thresholds::RFC },
        // `INITIAL_LOCAL_MAX_STREAM_DATA`, `CONNECTION_FACTOR`, `MAX_LOCAL_MAX_STREAM_DATA`,
        // `MAX_LOCAL_MAX_DATA`.
        flow_control: auto(Growth::Neqo, [MIB, 2 * MIB], [10 * MIB, 20 * MIB]),
        // `WINDOW_UPDATE_FRACTION`.
        updates_per_window: 4,
        ..rfc()
    }
}

fn picoquic() -> Stack {
    Stack {
        // `PICOQUIC_ACK_DELAY_MAX`; `picoquic_ack_gap_override_if_needed`.
        ack: Quic { max_ack_delay: MS * 10, after: 128, ..Quic::default() }.into(),
        ask: ask::AskConfig::Picoquic(ask::picoquic::Picoquic::default()),
        // `PICOQUIC_INITIAL_RTT`.
        thresholds: Thresholds { initial_rtt: MS * 250, ..Thresholds::RFC },
        // `picoquic_init_transport_parameters`: `initial_max_stream_data_bidi_local`,
        // `initial_max_data`. The windows grow without a maximum.
        flow_control: auto(Growth::Picoquic, [2 * MIB, MIB], [FlowControl::LARGEST; 2]),
        // `picoquic_format_required_max_stream_data_frames`.
        updates_per_window: 2,
        // `picoquic_spinbit_basic`, the first of `picoquic_spinbit_version_enum`.
        spin_bit: true,
        ..rfc()
    }
}

/// quicly at commit f8dc5179, of November 2019. Custura, Jones and Fairhurst measured this version
/// (IETF 106).
fn quicly() -> Stack {
    Stack {
        // `record_receipt` counts all packets, including packets out of order.
        ack: Quic { reordering_threshold: 0, ..Quic::default() }.into(),
        // quicly's ACK frames have fewer ranges than `QUICLY_ENCODE_ACK_MAX_BLOCKS`.
        ack_ranges: 62,
        // `QUICLY_RENO_BETA`.
        congestion: cc::ControllerConfig::NewReno(cc::newreno::Config { beta: 0.7, ..cc::newreno::Config::default() }),
        // `QUICLY_INITIAL_WINDOW`.
        initial_window: Some(Segments(10)),
        // `QUICLY_MAX_PACKET_SIZE`, which is the size of the UDP payload.
        packet: Bytes(1280 + OUTER_HEADERS),
        // quicly has no pacer. Controllers that compute a pacing rate need pacing.
        pacing: pacing::PacingConfig::Controller,
        // `QUICLY_DEFAULT_INITIAL_RTT`. `QUICLY_LOSS_DEFAULT_TIME_REORDERING_PERCENTILE` adds an
        // eighth.
        thresholds: Thresholds { initial_rtt: MS * 100, ..Thresholds::RFC },
        // `defaults.c`.
        flow_control: fixed(MIB, 16 * MIB),
        // `should_send_max_stream_data`: at 512/1024 of the window.
        updates_per_window: 2,
        ..rfc()
    }
}

fn msquic() -> Stack {
    Stack {
        // `QUIC_MIN_ACK_SEND_NUMBER`, `QUIC_TP_MAX_ACK_DELAY_DEFAULT`;
        // `QUIC_DEFAULT_HYSTART_ENABLED` is false.
        congestion: cubic(),
        // `QUIC_INITIAL_WINDOW_PACKETS`.
        initial_window: Some(Segments(10)),
        // A stream's window grows up to the window of the connection. The constants are
        // `QUIC_DEFAULT_STREAM_FC_WINDOW_SIZE` and `QUIC_DEFAULT_CONN_FLOW_CONTROL_WINDOW`.
        flow_control: auto(Growth::Msquic, [64 * KIB, 16 * MIB], [16 * MIB, 16 * MIB]),
        // `QUIC_RECV_BUFFER_DRAIN_RATIO`.
        updates_per_window: 4,
        ..rfc()
    }
}

fn quinn() -> Stack {
    Stack {
        // `MAX_ACK_BLOCKS`.
        ack_ranges: 64,
        congestion: cubic(),
        burst: Some(pacing::Burst::QUINN),
        // `PacketSpace::maybe_queue_probe`.
        probes_demand_acks: true,
        // `TransportConfig::default`: `STREAM_RWND` for a stream, the largest integer for the
        // connection.
        flow_control: fixed(1_250_000, FlowControl::LARGEST),
        // `streams/recv.rs`, `max_stream_data`; `streams/state.rs`, `queue_max_data`.
        updates_per_window: 8,
        // `TransportConfig::allow_spin`.
        spin_bit: true,
        ..rfc()
    }
}

fn mvfst() -> Stack {
    Stack {
        // `kDefaultRxPacketsBeforeAckBeforeInit`, `kDefaultRxPacketsBeforeAckAfterInit`;
        // `kAckTimerFactor`, `kMaxAckTimeout`.
        ack: Quic { packets: 10, rtt_divisor: Some(4), ..Quic::default() }.into(),
        congestion: cubic(),
        // `QuicCubic.cpp`, `onPacketAckedInHystart`, without ACK trains.
        slow_start: cc::SlowStart::QuicheHystart(quiche::Config::AGAINST_LAST_ROUND),
        // `kInitCwndInMss`.
        initial_window: Some(Segments(10)),
        // `kDefaultUDPSendPacketLen`.
        packet: Bytes(1232 + OUTER_HEADERS),
        // `TransportSettings::pacingEnabled` is false. Without pacing, `setCongestionControl`
        // refuses BBR, so a connection with BBR is paced.
        pacing: pacing::PacingConfig::Controller,
        // `kReorderingThreshold`; `kDefaultTimeReorderingThreshDividend` divided by `Divisor`;
        // `kDefaultInitialRtt`.
        thresholds: Thresholds { time: 1.25, initial_rtt: MS * 50, ..Thresholds::RFC },
        // `kDefaultStreamFlowControlWindow`, `kDefaultConnectionFlowControlWindow`; auto-tuning is
        // off.
        flow_control: fixed(65 * KIB, MIB),
        // `flowControlWindowFrequency`.
        updates_per_window: 2,
        ..rfc()
    }
}

fn s2n_quic() -> Stack {
    Stack {
        // `ack_manager.rs`, `packet_tolerance`; `MaxAckDelay::RECOMMENDED`.
        ack: Quic { packets: 10, ..Quic::default() }.into(),
        // `RECOMMENDED_RANGES_LIMIT`.
        ack_ranges: 10,
        congestion: cubic(),
        // `hybrid_slow_start.rs`.
        slow_start: cc::SlowStart::QuicheHystart(quiche::Config::AGAINST_LAST_ROUND),
        // Twice the result of `compute_data_window` for 150 Mbps and 100 ms.
        flow_control: fixed(3_750_000, 3_750_000),
        // `receive_stream.rs`, `incoming_connection_flow_controller.rs`.
        updates_per_window: 10,
        ..rfc()
    }
}

fn quic_go() -> Stack {
    Stack {
        // `MaxAckDelayInclGranularity`.
        max_ack_delay: Some(MS * 26),
        // `MaxNumAckRanges`.
        ack_ranges: 64,
        // `sent_packet_handler.go` calls `NewCubicSender` with `reno`. The factor is `renoBeta` in
        // `cubic_sender.go`.
        congestion: cc::ControllerConfig::NewReno(cc::newreno::Config { beta: 0.7, ..cc::newreno::Config::default() }),
        // `hybrid_slow_start.go`.
        slow_start: cc::SlowStart::QuicheHystart(quiche::Config::PUBLISHED),
        // `initialCongestionWindow`.
        initial_window: Some(Segments(32)),
        // `DefaultInitialRTT`.
        thresholds: Thresholds { initial_rtt: MS * 100, ..Thresholds::RFC },
        // `DefaultInitialMaxStreamData`, `DefaultInitialMaxData` and the two
        // `DefaultMaxReceive…Window`.
        flow_control: auto(Growth::QuicGo, [512 * KIB, 768 * KIB], [6 * MIB, 15 * MIB]),
        // `WindowUpdateThreshold`.
        updates_per_window: 4,
        ..rfc()
    }
}

fn cubic() -> cc::ControllerConfig {
    cc::ControllerConfig::Cubic(cc::cubic::Config::default())
}

const fn fixed(stream: u64, connection: u64) -> FlowControl {
    FlowControl::Fixed { stream: Bytes(stream), connection: Bytes(connection) }
}

/// Returns the initial and maximum windows of a stream and of the connection.
const fn auto(growth: Growth, first: [u64; 2], largest: [u64; 2]) -> FlowControl {
    let ([stream, connection], [largest_stream, largest_connection]) = (first, largest);
    FlowControl::Auto {
        stream: Bytes(stream),
        connection: Bytes(connection),
        largest_stream: Bytes(largest_stream),
        largest_connection: Bytes(largest_connection),
        growth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// neqo uses `SlowStart::Classic`, and msquic disables `QUIC_DEFAULT_HYSTART_ENABLED`. quinn
    /// and quicly have no other algorithm.
    #[test]
    fn slow_start_ends_as_in_the_stack_whatever_the_controller() {
        for congestion in [cc::ControllerConfig::NEW_RENO, cubic()] {
            let name = |preset: Preset| preset.slow_start(&congestion).name();
            for preset in [Preset::Neqo, Preset::Msquic, Preset::Quinn, Preset::Quicly, Preset::Picoquic] {
                assert_eq!(name(preset), "classic", "{preset:?}");
            }
            for preset in [Preset::Chrome, Preset::QuicGo, Preset::S2nQuic, Preset::Mvfst] {
                assert_eq!(name(preset), "quiche-hystart", "{preset:?}");
            }
        }
        assert_eq!(Preset::Rfc.slow_start(&cubic()).name(), "hystart-plus-plus", "RFC 9438, §4.10");
        assert_eq!(Preset::Rfc.slow_start(&cc::ControllerConfig::NEW_RENO).name(), "classic");
    }

    /// Without pacing, BBR sends its window of two bandwidth-delay products as one burst, which
    /// overflows a short queue.
    #[test]
    fn every_stack_paces_a_controller_that_computes_a_rate() {
        for preset in Preset::ALL {
            assert_ne!(preset.stack().pacing, pacing::PacingConfig::Never, "{preset:?}");
        }
    }
}
