//! The settings of a connection, as written in a scenario ([`Settings`]) and as used by a
//! connection ([`ConnectionConfig`]).

use super::ask;
use super::flow::FlowControl;
use super::handshake::Tls;
use super::preset::Preset;
use super::receive_times::Timestamps;
use crate::congestion::careful_resume::Saved;
use crate::fault::{Fault, above_zero};
use crate::recovery::packets::Thresholds;
use crate::{ack, cc, pacing};
use acklab_base::random::Seed;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration, Ecn};
use acklab_wire::quic::{Frame, MIN_INITIAL, OUTER_HEADERS, TAG};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of the connection IDs of both ends.
pub const CONNECTION_ID: u64 = 8;
/// Minimum size of an IPv4 packet that every path must carry without fragmentation (RFC 9000, §14).
const MIN_PACKET: u64 = MIN_INITIAL + OUTER_HEADERS;
/// Maximum size of an IPv4 packet. The Length field of a long header has two octets here, so the
/// size is below 2¹⁴ bytes.
const MAX_PACKET: u64 = 16_000;
/// Maximum send buffer, as for TCP (RFC 7323, §2.2).
const LARGEST_BUFFER: u64 = 1 << 30;
/// Maximum `max_ack_delay`: less than 2¹⁴ ms (RFC 9000, §18.2).
const LONGEST_ACK_DELAY: Duration = Duration::from_millis((1 << 14) - 1);
/// The initial window that RFC 9002, §7.2, recommends: ten packets, limited to the larger of this
/// size and two packets.
const INITIAL_PACKETS: u64 = 10;
const MAX_INITIAL_WINDOW: u64 = 14_720;
/// A typical packet number and stream offset. Their encoded lengths determine the payload of a
/// full-sized packet.
const TYPICAL_NUMBER: u64 = 2;
const TYPICAL_OFFSET: u64 = 1 << 20;

/// A scenario's settings of both ends. The preset determines omitted settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The implementation whose defaults replace omitted settings.
    pub preset: Preset,
    /// Congestion controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<cc::ControllerConfig>,
    /// The algorithm that ends slow start before a loss. Default: the algorithm of the preset's
    /// implementation, for every controller. With `rfc`, HyStart++ for CUBIC (RFC 9438, §4.10), and
    /// none for other controllers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<cc::SlowStart>,
    /// The policy that decides when a receiver acknowledges packets of application data. The peer's
    /// requests replace the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<ack::PolicyConfig>,
    /// Requests by which a sender of data controls its peer's ACKs (draft-ietf-quic-ack-frequency).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<ask::AskConfig>,
    /// The `max_ack_delay` that is announced (RFC 9000, §18.2), within which every packet is
    /// acknowledged (§13.2.1). Default: the value of the preset or of the ACK policy, or 25 ms
    /// without either.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "25ms")]
    pub max_ack_delay: Option<Duration>,
    /// The `min_ack_delay` that is announced (draft-ietf-quic-ack-frequency, §3). Zero disables the
    /// extension.
    #[schemars(example = "1ms")]
    pub min_ack_delay: Duration,
    /// Maximum number of ranges in an ACK frame (RFC 9000, §13.2.3). Default: the value of the
    /// preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub ack_ranges: Option<u32>,
    /// Receive timestamps that an end requests in the ACK frames of its peer
    /// (draft-ietf-quic-receive-ts). Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_timestamps: Option<Timestamps>,
    /// Maximum size of an IPv4 packet, including headers. Default: the value of the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1500B")]
    pub packet: Option<Bytes>,
    /// Start with packets of 1228 bytes. Search for the largest size that the path carries, up to
    /// `packet` (RFC 9000, §14.3; RFC 8899). Without a search, the path is assumed to carry
    /// `packet`.
    pub mtu_discovery: bool,
    /// Initial congestion window. Default: the value of the preset, or ten packets, limited to the
    /// larger of 14720 bytes and two packets (RFC 9002, §7.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<Segments>,
    /// Measurements of the path by an earlier connection, which shorten slow start
    /// (draft-ietf-tsvwg-careful-resume). Controllers that set the window themselves, such as BBR,
    /// ignore the measurements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub careful_resume: Option<Saved>,
    /// Packet threshold: a packet is lost if a packet whose number is larger by this distance is
    /// acknowledged (RFC 9002, §6.1.1). Default: the value of the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packet_threshold: Option<u32>,
    /// Raise the packet threshold when a packet declared lost is acknowledged later, so that the
    /// threshold tolerates such reordering. If the peer's ACKs are [controlled](Self::ask), the
    /// peer receives the same Reordering Threshold (draft-ietf-quic-ack-frequency, section on its
    /// value). Default: the value of the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive_packet_threshold: Option<bool>,
    /// Widen the time threshold when a packet declared lost is acknowledged later. The first
    /// widening is to a round trip and a quarter of the minimum round-trip time. Each later round
    /// trip with such a packet adds a quarter. The widening lasts for 16 recoveries (RFC 8985,
    /// §6.2, step 4).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub adaptive_time_threshold: bool,
    /// Time threshold: a packet is lost this number of round trips after its departure, if a later
    /// packet is acknowledged (RFC 9002, §6.1.2). Default: the value of the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 8.0))]
    pub time_threshold: Option<f64>,
    /// The round-trip time before the first sample (RFC 9002, §6.2.2). Default: the value of the
    /// preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "333ms")]
    pub initial_rtt: Option<Duration>,
    /// Send buffer: maximum data of a stream that are written but not acknowledged.
    #[schemars(example = "4MiB")]
    pub send_buffer: Bytes,
    /// The windows that each end announces. Default: the windows of the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_control: Option<FlowControl>,
    /// The number of `MAX_DATA` and `MAX_STREAM_DATA` updates while a full window is read (RFC
    /// 9000, §4.2). Default: the value of the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub updates_per_window: Option<u32>,
    /// Maximum number of streams that the peer may have open at a time.
    #[schemars(range(min = 1))]
    pub streams: u32,
    /// The controllers that are paced (RFC 9002, §7.7). Default: the value of the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<pacing::PacingConfig>,
    /// The maximum burst (RFC 9002, §7.7). Default: the value of the preset. Without a burst,
    /// pacing spaces each packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<pacing::Burst>,
    /// Send ECT(0) and react to marks (RFC 9000, §13.4). A controller that requires marks always
    /// enables this.
    pub ecn: bool,
    /// Enable the spin bit, from which an observer of the packets can measure round-trip times (RFC
    /// 9000, §17.4). Both ends must enable it. Default: the value of the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spin_bit: Option<bool>,
    /// Undo a reduction of the window if every packet that was declared lost is acknowledged later.
    /// RFC 9002 does not specify this.
    pub undo: bool,
    /// `max_idle_timeout` (RFC 9000, §10.1). Zero disables the timeout.
    #[schemars(example = "30s")]
    pub idle_timeout: Duration,
    /// Sizes of the messages of TLS.
    pub tls: Tls,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            preset: Preset::default(),
            congestion: None,
            slow_start: None,
            ack: None,
            ask: None,
            max_ack_delay: None,
            // quinn's `TIMER_GRANULARITY`, picoquic's `PICOQUIC_ACK_DELAY_MIN`.
            min_ack_delay: Duration::from_millis(1),
            ack_ranges: None,
            receive_timestamps: None,
            packet: None,
            mtu_discovery: false,
            initial_window: None,
            careful_resume: None,
            packet_threshold: None,
            adaptive_packet_threshold: None,
            adaptive_time_threshold: false,
            time_threshold: None,
            initial_rtt: None,
            send_buffer: Bytes(4 << 20),
            flow_control: None,
            updates_per_window: None,
            streams: 100,
            pacing: None,
            burst: None,
            ecn: false,
            spin_bit: None,
            undo: false,
            idle_timeout: Duration::ZERO,
            tls: Tls::default(),
        }
    }
}

/// The settings of a connection, with all defaults resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionConfig {
    /// Congestion controller.
    pub congestion: cc::ControllerConfig,
    /// The algorithm that ends slow start before a loss.
    pub slow_start: cc::SlowStart,
    /// ACK policy.
    pub ack: ack::PolicyConfig,
    /// Requests that control the peer's ACKs.
    pub ask: ask::AskConfig,
    /// The `max_ack_delay` that is announced.
    pub max_ack_delay: Duration,
    /// The `min_ack_delay` that is announced, if the extension is supported.
    pub min_ack_delay: Option<Duration>,
    /// Maximum number of ranges in an ACK frame.
    pub ack_ranges: usize,
    /// Receive timestamps that are requested, if any.
    pub receive_timestamps: Option<Timestamps>,
    /// Maximum size of a datagram: the payload of UDP, in bytes. Congestion control uses it as the
    /// packet size.
    pub datagram: u64,
    /// `true` if the end searches for the largest packet size that the path carries.
    pub mtu_discovery: bool,
    /// Initial congestion window, in bytes.
    pub initial_window: u64,
    /// Measurements of the path by an earlier connection.
    pub careful_resume: Option<Saved>,
    /// Thresholds of loss detection, and the round-trip time before the first sample.
    pub thresholds: Thresholds,
    /// The value of `Settings::adaptive_packet_threshold`.
    pub adaptive_packet_threshold: bool,
    /// The value of `Settings::adaptive_time_threshold`.
    pub adaptive_time_threshold: bool,
    /// Send buffer of a stream, in bytes.
    pub send_buffer: Bytes,
    /// The windows that this end announces.
    pub flow_control: FlowControl,
    /// The number of window announcements while a full window is read.
    pub updates_per_window: u64,
    /// Maximum number of streams that the peer may have open at a time.
    pub streams: u32,
    /// The controllers that are paced.
    pub pacing: pacing::PacingConfig,
    /// The maximum burst, or `None` if pacing spaces each packet.
    pub burst: Option<pacing::Burst>,
    /// `true` if probes request an immediate ACK.
    pub probes_demand_acks: bool,
    /// `true` if packets are ECN-capable.
    pub ecn: bool,
    /// `true` if the spin bit is enabled.
    pub spin_bit: bool,
    /// `true` if spurious reductions are undone.
    pub undo: bool,
    /// The `max_idle_timeout` that is announced, if enabled.
    pub idle_timeout: Option<Duration>,
    /// Sizes of the messages of TLS.
    pub tls: Tls,
}

impl Settings {
    /// Returns the settings with all defaults resolved.
    #[must_use]
    pub fn config(&self) -> ConnectionConfig {
        let stack = self.preset.stack();
        let ack = self.ack.unwrap_or(stack.ack);
        let congestion = self.congestion.unwrap_or(stack.congestion);
        let datagram = self.packet.unwrap_or(stack.packet).get().saturating_sub(OUTER_HEADERS);
        let first = if self.mtu_discovery { MIN_INITIAL } else { datagram };
        let recommended = (INITIAL_PACKETS * first).min(MAX_INITIAL_WINDOW.max(2 * first));
        let initial_window = self.initial_window.or(stack.initial_window);
        // An announced delay also limits the ACK policy.
        let announced = self.max_ack_delay.or(stack.max_ack_delay.filter(|_| self.ack.is_none()));
        let some = |time: Duration| (!time.is_zero()).then_some(time);
        ConnectionConfig {
            congestion,
            slow_start: self.slow_start.unwrap_or_else(|| self.preset.slow_start(&congestion)),
            ack,
            ask: self.ask.unwrap_or(stack.ask),
            max_ack_delay: announced.or(ack.longest_delay()).unwrap_or(ack::quic::MAX_ACK_DELAY),
            min_ack_delay: some(self.min_ack_delay),
            ack_ranges: self.ack_ranges.unwrap_or(stack.ack_ranges) as usize,
            receive_timestamps: self.receive_timestamps,
            datagram,
            mtu_discovery: self.mtu_discovery,
            initial_window: initial_window.map_or(recommended, |Segments(packets)| u64::from(packets) * first),
            careful_resume: self.careful_resume,
            thresholds: Thresholds {
                packets: self.packet_threshold.map_or(stack.thresholds.packets, u64::from),
                time: self.time_threshold.unwrap_or(stack.thresholds.time),
                initial_rtt: self.initial_rtt.unwrap_or(stack.thresholds.initial_rtt),
                steps: 0,
            },
            adaptive_time_threshold: self.adaptive_time_threshold,
            adaptive_packet_threshold: self.adaptive_packet_threshold.unwrap_or(stack.adaptive_packet_threshold),
            send_buffer: self.send_buffer,
            flow_control: self.flow_control.unwrap_or(stack.flow_control),
            updates_per_window: self.updates_per_window.unwrap_or(stack.updates_per_window).into(),
            streams: self.streams,
            pacing: self.pacing.unwrap_or(stack.pacing),
            burst: self.burst.or(stack.burst),
            probes_demand_acks: stack.probes_demand_acks,
            // Controllers that count marks need ECN.
            ecn: self.ecn || congestion.counts_marks(),
            spin_bit: self.spin_bit.unwrap_or(stack.spin_bit),
            undo: self.undo,
            idle_timeout: some(self.idle_timeout),
            tls: self.tls,
        }
    }

    /// Returns the same settings, with the values of the preset for omitted settings.
    #[must_use]
    pub fn in_full(&self) -> Self {
        let (config, stack) = (self.config(), self.preset.stack());
        let Thresholds { time, initial_rtt, .. } = config.thresholds;
        Self {
            congestion: Some(config.congestion),
            slow_start: Some(config.slow_start),
            ack: Some(config.ack),
            ask: Some(config.ask),
            max_ack_delay: Some(config.max_ack_delay),
            ack_ranges: self.ack_ranges.or(Some(stack.ack_ranges)),
            packet: self.packet.or(Some(stack.packet)),
            // The recommendation depends on the packet size, so it stays omitted.
            initial_window: self.initial_window.or(stack.initial_window),
            packet_threshold: self.packet_threshold.or(u32::try_from(stack.thresholds.packets).ok()),
            adaptive_packet_threshold: Some(config.adaptive_packet_threshold),
            time_threshold: Some(time),
            initial_rtt: Some(initial_rtt),
            flow_control: Some(config.flow_control),
            updates_per_window: self.updates_per_window.or(Some(stack.updates_per_window)),
            pacing: Some(config.pacing),
            burst: config.burst,
            spin_bit: Some(config.spin_bit),
            ..*self
        }
    }

    /// Checks the constraints that the schema cannot express.
    ///
    /// # Errors
    /// Returns the first invalid setting.
    pub fn check(&self) -> Result<(), Fault> {
        let config = self.config();
        config.congestion.check().map_err(|fault| fault.within("congestion"))?;
        config.slow_start.check().map_err(|fault| fault.within("slow_start"))?;
        config.ack.check().map_err(|fault| fault.within("ack"))?;
        config.ask.check().map_err(|fault| fault.within("ask"))?;
        above_zero("max_ack_delay", config.max_ack_delay)?;
        above_zero("initial_rtt", config.thresholds.initial_rtt)?;
        for (key, delay) in [("max_ack_delay", config.max_ack_delay), ("idle_timeout", self.idle_timeout)] {
            let most = if key == "max_ack_delay" { LONGEST_ACK_DELAY } else { crate::fault::LONGEST_TIME };
            if delay > most {
                return Err(Fault::expected(key, format!("at most {most}")));
            }
        }
        if self.min_ack_delay > config.max_ack_delay {
            return Err(Fault::expected("min_ack_delay", format!("at most max_ack_delay, {}", config.max_ack_delay)));
        }
        if self.packet.is_some_and(|packet| !(MIN_PACKET..=MAX_PACKET).contains(&packet.get())) {
            return Err(Fault::expected("packet", format!("{MIN_PACKET}B to {MAX_PACKET}B")));
        }
        if let Some(saved) = &config.careful_resume {
            above_zero("rtt", saved.rtt).map_err(|fault| fault.within("careful_resume"))?;
        }
        if let Some(burst) = config.burst {
            burst.check().map_err(|fault| fault.within("burst"))?;
        }
        if config.initial_window == 0 {
            return Err(Fault::expected("initial_window", "one packet at least"));
        }
        if !(config.mss()..=LARGEST_BUFFER).contains(&self.send_buffer.get()) {
            return Err(Fault::expected("send_buffer", format!("{}B, which a packet carries, to 1GiB", config.mss())));
        }
        config.flow_control.check(config.mss()).map_err(|fault| fault.within("flow_control"))?;
        self.tls.check().map_err(|fault| fault.within("tls"))
    }
}

impl ConnectionConfig {
    /// Returns the codepoint of outgoing packets (RFC 9000, §13.4; RFC 9331, §4.1).
    #[must_use]
    pub fn codepoint(&self) -> Ecn {
        match (self.ecn, self.congestion.is_scalable()) {
            (false, _) => Ecn::NotEct,
            (true, false) => Ecn::Ect0,
            (true, true) => Ecn::Ect1,
        }
    }

    /// Returns the bytes of stream data in a full-sized packet, at a large offset.
    #[must_use]
    pub const fn mss(&self) -> u64 {
        self.datagram - Self::packet_headers()
    }

    /// Returns the initial size of datagrams.
    #[must_use]
    pub const fn first_datagram(&self) -> u64 {
        if self.mtu_discovery { MIN_INITIAL } else { self.datagram }
    }

    /// Returns the overhead of a full-sized packet: all bytes that are not stream data, including
    /// IPv4 and UDP headers.
    #[must_use]
    pub const fn headers(&self) -> u64 {
        OUTER_HEADERS + Self::packet_headers()
    }

    const fn packet_headers() -> u64 {
        1 + CONNECTION_ID + TYPICAL_NUMBER + Frame::stream_header(0, TYPICAL_OFFSET) + TAG
    }

    /// Returns the inputs of the controller for the flow `flow`.
    #[must_use]
    pub fn controller_start(&self, seed: Seed, flow: &str) -> cc::Start {
        cc::Start {
            mss: self.first_datagram(),
            initial_window: self.initial_window,
            // Growth depends on the acknowledged bytes (RFC 9002, §7.3).
            growth: cc::Growth::PerSegment,
            slow_start: self.slow_start,
            dialect: cc::Dialect::Reference,
            paced: self.pacing == pacing::PacingConfig::Always,
            burst: self.burst,
            random: seed.stream(&format!("flow/{flow}/congestion")),
        }
    }

    /// Returns the inputs of the rule for ACK requests, for the flow `flow`.
    #[must_use]
    pub fn ask_start(&self, seed: Seed, flow: &str) -> ask::Start {
        ask::Start { mss: self.first_datagram(), random: seed.stream(&format!("flow/{flow}/ask")) }
    }

    /// Returns the inputs of the ACK policy for the flow `flow`.
    #[must_use]
    pub fn policy_start(&self, seed: Seed, flow: &str) -> ack::Start {
        ack::Start { mss: self.mss(), random: seed.stream(&format!("flow/{flow}/ack")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_of_every_preset_make_sense() {
        for preset in Preset::ALL {
            assert_eq!(Settings { preset, ..Settings::default() }.check(), Ok(()), "{preset:?}");
        }
        let config = Settings::default().config();
        assert_eq!((config.datagram, config.initial_window), (1472, 14_720));
        assert_eq!(config.mss(), 1439, "1472 less 9 and 2 of the header, 6 of the frame and 16 of the tag");
        let chrome = Settings { preset: Preset::Chrome, ..Settings::default() }.config();
        assert_eq!(chrome.controller_start(Seed(1), "f").slow_start.name(), "quiche-hystart");
    }

    #[test]
    fn the_announced_delay_is_that_of_the_policy() {
        let ack = |ack| Settings { ack: Some(ack), ..Settings::default() }.config().max_ack_delay;
        let ms = Duration::from_millis;
        let quic = ack::quic::Quic { max_ack_delay: ms(40), ..Default::default() };
        assert_eq!(ack(quic.into()), ms(40));
        assert_eq!(ack(ack::delayed::Delayed::default().into()), ms(200));
        assert_eq!(ack(ack::per_packet::PerPacket::default().into()), ms(25));
    }

    /// RFC 9002, §7.2: "ten times the maximum datagram size, while limiting the window to the
    /// larger of 14,720 bytes or twice the maximum datagram size". The limit does not apply to a
    /// window that a scenario sets.
    #[test]
    fn the_initial_window_is_what_is_asked_for_or_recommended() {
        let window = |packet, packets: Option<u32>| {
            let (packet, initial_window) = (Some(Bytes(packet)), packets.map(Segments));
            Settings { packet, initial_window, ..Settings::default() }.config().initial_window
        };
        assert_eq!([window(1308, None), window(1500, None), window(9028, None)], [12_800, 14_720, 18_000]);
        assert_eq!([window(1500, Some(32)), window(1500, Some(1))], [47_104, 1472]);
    }

    #[test]
    fn what_is_written_out_is_the_same_connection() {
        for preset in Preset::ALL {
            let settings = Settings { preset, ..Settings::default() };
            assert_eq!(settings.in_full().config(), settings.config(), "{preset:?}");
        }
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let refused = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.check().map_err(|fault| fault.path).unwrap_err()
        };
        assert_eq!(refused(|settings| settings.packet = Some(Bytes(1227))), "packet");
        assert_eq!(refused(|settings| settings.packet = Some(Bytes(16_001))), "packet");
        assert_eq!(refused(|settings| settings.send_buffer = Bytes(1438)), "send_buffer");
        assert_eq!(refused(|settings| settings.initial_window = Some(Segments(0))), "initial_window");
        assert_eq!(refused(|settings| settings.initial_rtt = Some(Duration::ZERO)), "initial_rtt");
        assert_eq!(refused(|settings| settings.min_ack_delay = Duration::from_millis(26)), "min_ack_delay");
        let small = FlowControl::Fixed { stream: Bytes(4000), connection: Bytes(1000) };
        assert_eq!(
            Settings { flow_control: Some(small), ..Settings::default() }.check().unwrap_err().path,
            "flow_control.connection"
        );
    }
}
