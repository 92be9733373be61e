//! The settings of a connection, as a scenario says them ([`Settings`]) and as a connection holds them ([`Config`]).

use super::ask;
use super::flow::FlowControl;
use super::handshake::Tls;
use super::preset::Preset;
use crate::fault::{Fault, above_zero};
use crate::{ack, cc, pacing, tcp};
use acklab_base::random::Seed;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use acklab_wire::quic::{Frame, LEAST_INITIAL, OUTER_HEADERS, TAG};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Octets of the connection ids of both ends.
pub const CONNECTION_ID: u64 = 8;
/// The least IPv4 packet that must get through without being cut up (RFC 9000, §14).
const LEAST_PACKET: u64 = LEAST_INITIAL + OUTER_HEADERS;
/// The largest IPv4 packet: the Length field of a long header takes two octets here, so packets stay below 2¹⁴ octets.
const MOST_PACKET: u64 = 16_000;
/// The largest buffer, as for TCP (RFC 7323, §2.2).
const LARGEST_BUFFER: u64 = 1 << 30;
/// `max_ack_delay` is less than 2¹⁴ ms (RFC 9000, §18.2).
const LONGEST_ACK_DELAY: Duration = Duration::from_millis((1 << 14) - 1);
/// Initial windows are at most this, or two packets if those are more (RFC 9002, §7.2).
const MOST_INITIAL_WINDOW: u64 = 14_720;
/// Octets of the packet number and of the offset of a stream that a full-sized packet is reckoned with.
const TYPICAL_NUMBER: u64 = 2;
const TYPICAL_OFFSET: u64 = 1 << 20;

/// What a scenario says of both ends. What it leaves out follows from the preset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whose defaults the settings left out are.
    pub preset: Preset,
    /// Congestion controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<cc::Config>,
    /// When a receiver acknowledges packets of application data, unless its peer asks for something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<ack::Config>,
    /// What a sender of data asks of its peer's ACKs (draft-ietf-quic-ack-frequency).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<ask::Config>,
    /// The `max_ack_delay` that is announced (RFC 9000, §18.2). Default: that of the ACK policy, or 25 ms if the policy has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "25ms")]
    pub max_ack_delay: Option<Duration>,
    /// The `min_ack_delay` that is announced (draft-ietf-quic-ack-frequency, §3). Zero: the extension is not supported.
    #[schemars(example = "1ms")]
    pub min_ack_delay: Duration,
    /// The ranges that an ACK frame lists, at most (RFC 9000, §13.2.3).
    #[schemars(range(min = 1, max = 256))]
    pub ack_ranges: u32,
    /// The largest IPv4 packet, headers included.
    #[schemars(example = "1500B")]
    pub packet: Bytes,
    /// Initial window, at most 14720 octets (RFC 9002, §7.2).
    pub initial_window: Segments,
    /// What the application may write to a stream ahead of acknowledgement.
    #[schemars(example = "4MiB")]
    pub send_buffer: Bytes,
    /// The windows that each end offers.
    pub flow_control: FlowControl,
    /// How many streams the peer may have open at a time.
    #[schemars(range(min = 1))]
    pub streams: u32,
    /// Who is paced (RFC 9002, §7.7).
    pub pacing: pacing::Config,
    /// What may leave at once (RFC 9002, §7.7). Default: that of the preset; without one, packets are spaced one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<pacing::Burst>,
    /// Send ECT(0) and react to marks (RFC 9000, §13.4). A controller that needs to know how much was marked asks for it by itself.
    pub ecn: bool,
    /// Undo a reduction of the window if every packet that was lost then is acknowledged after all. RFC 9002 does not.
    pub undo: bool,
    /// `max_idle_timeout` (RFC 9000, §10.1). Zero: none.
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
            ack: None,
            ask: None,
            max_ack_delay: None,
            // quinn's `TIMER_GRANULARITY`, picoquic's `PICOQUIC_ACK_DELAY_MIN`.
            min_ack_delay: Duration::from_millis(1),
            // neqo's `MAX_ACKS_PER_FRAME`, quic-go's `MaxNumAckRanges`.
            ack_ranges: 32,
            packet: Bytes(1500),
            initial_window: Segments(10),
            send_buffer: Bytes(4 << 20),
            flow_control: FlowControl::Fixed { stream: Bytes(4 << 20), connection: Bytes(6 << 20) },
            streams: 100,
            pacing: pacing::Config::Always,
            burst: None,
            ecn: false,
            undo: false,
            idle_timeout: Duration::ZERO,
            tls: Tls::default(),
        }
    }
}

/// The settings of a connection, with nothing left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Congestion controller.
    pub congestion: cc::Config,
    /// ACK policy.
    pub ack: ack::Config,
    /// What is asked of the peer's ACKs.
    pub ask: ask::Config,
    /// `max_ack_delay`.
    pub max_ack_delay: Duration,
    /// `min_ack_delay`, if the extension is supported.
    pub min_ack_delay: Option<Duration>,
    /// Ranges of an ACK frame, at most.
    pub ack_ranges: usize,
    /// The largest datagram: the payload of UDP, in octets. Congestion control counts in it.
    pub datagram: u64,
    /// Initial window, in octets.
    pub initial_window: u64,
    /// Send buffer of a stream.
    pub send_buffer: Bytes,
    /// Windows offered.
    pub flow_control: FlowControl,
    /// Streams that the peer may have open.
    pub streams: u32,
    /// Who is paced.
    pub pacing: pacing::Config,
    /// What may leave at once, if packets are not spaced one by one.
    pub burst: Option<pacing::Burst>,
    /// Is ECT(0) sent?
    pub ecn: bool,
    /// Are spurious reductions undone?
    pub undo: bool,
    /// `max_idle_timeout`, if there is one.
    pub idle_timeout: Option<Duration>,
    /// Sizes of the messages of TLS.
    pub tls: Tls,
}

impl Settings {
    /// The settings with nothing left out.
    #[must_use]
    pub fn config(&self) -> Config {
        let ack = self.ack.unwrap_or_else(|| self.preset.ack());
        let congestion = self.congestion.unwrap_or_else(|| self.preset.congestion());
        let datagram = self.packet.get().saturating_sub(OUTER_HEADERS);
        let most = MOST_INITIAL_WINDOW.max(2 * datagram);
        let some = |time: Duration| (!time.is_zero()).then_some(time);
        Config {
            congestion,
            ack,
            ask: self.ask.unwrap_or_else(|| self.preset.ask()),
            max_ack_delay: self.max_ack_delay.or(ack.longest_delay()).unwrap_or(ack::quic::MAX_ACK_DELAY),
            min_ack_delay: some(self.min_ack_delay),
            ack_ranges: self.ack_ranges as usize,
            datagram,
            initial_window: (u64::from(self.initial_window.0) * datagram).min(most),
            send_buffer: self.send_buffer,
            flow_control: self.flow_control,
            streams: self.streams,
            pacing: self.pacing,
            burst: self.burst.or(self.preset.burst()),
            // Controllers that count marks need them.
            ecn: self.ecn || congestion.counts_marks(),
            undo: self.undo,
            idle_timeout: some(self.idle_timeout),
            tls: self.tls,
        }
    }

    /// The same settings with what the preset says written out.
    #[must_use]
    pub fn in_full(&self) -> Self {
        let config = self.config();
        Self {
            congestion: Some(config.congestion),
            ack: Some(config.ack),
            ask: Some(config.ask),
            max_ack_delay: Some(config.max_ack_delay),
            burst: config.burst,
            ..*self
        }
    }

    /// Checks what the schema cannot say.
    ///
    /// # Errors
    /// If a setting makes no sense: the first one.
    pub fn check(&self) -> Result<(), Fault> {
        let config = self.config();
        config.congestion.check().map_err(|fault| fault.within("congestion"))?;
        config.ack.check().map_err(|fault| fault.within("ack"))?;
        config.ask.check().map_err(|fault| fault.within("ask"))?;
        above_zero("max_ack_delay", config.max_ack_delay)?;
        for (key, delay) in [("max_ack_delay", config.max_ack_delay), ("idle_timeout", self.idle_timeout)] {
            let most = if key == "max_ack_delay" { LONGEST_ACK_DELAY } else { crate::fault::LONGEST_TIME };
            if delay > most {
                return Err(Fault::expected(key, format!("at most {most}")));
            }
        }
        if self.min_ack_delay > config.max_ack_delay {
            return Err(Fault::expected("min_ack_delay", format!("at most max_ack_delay, {}", config.max_ack_delay)));
        }
        if !(LEAST_PACKET..=MOST_PACKET).contains(&self.packet.get()) {
            return Err(Fault::expected("packet", format!("{LEAST_PACKET}B to {MOST_PACKET}B")));
        }
        if let Some(burst) = config.burst
            && !(1..=pacing::Burst::MOST_PACKETS).contains(&burst.packets.into())
        {
            return Err(Fault::expected("burst.packets", format!("1 to {}", pacing::Burst::MOST_PACKETS)));
        }
        if self.initial_window.0 == 0 {
            return Err(Fault::expected("initial_window", "one packet at least"));
        }
        if !(config.mss()..=LARGEST_BUFFER).contains(&self.send_buffer.get()) {
            return Err(Fault::expected("send_buffer", format!("{}B, which a packet carries, to 1GiB", config.mss())));
        }
        self.flow_control.check(config.mss()).map_err(|fault| fault.within("flow_control"))?;
        self.tls.check().map_err(|fault| fault.within("tls"))
    }
}

impl Config {
    /// Octets of a stream in a full-sized packet, far into the stream.
    #[must_use]
    pub const fn mss(&self) -> u64 {
        self.datagram - Self::packet_headers()
    }

    /// Octets of a full-sized packet that are none of a stream, those of IPv4 and UDP among them.
    #[must_use]
    pub const fn headers(&self) -> u64 {
        OUTER_HEADERS + Self::packet_headers()
    }

    const fn packet_headers() -> u64 {
        1 + CONNECTION_ID + TYPICAL_NUMBER + Frame::stream_header(0, TYPICAL_OFFSET) + TAG
    }

    /// What the controller of the flow called `flow` is given at its birth.
    #[must_use]
    pub fn controller_start(&self, seed: Seed, flow: &str) -> cc::Start {
        cc::Start {
            mss: self.datagram,
            initial_window: self.initial_window,
            // RFC 9002, §7.3: by the octets that are acknowledged.
            growth: cc::Growth::PerSegment,
            slow_start: tcp::Preset::Rfc.slow_start(&self.congestion),
            dialect: cc::Dialect::Reference,
            paced: self.pacing == pacing::Config::Always,
            random: seed.stream(&format!("flow/{flow}/congestion")),
        }
    }

    /// What the ACK policy of the flow called `flow` is given at its birth.
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

    #[test]
    fn what_has_no_room_is_refused() {
        let refused = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.check().map_err(|fault| fault.path).unwrap_err()
        };
        assert_eq!(refused(|settings| settings.packet = Bytes(1227)), "packet");
        assert_eq!(refused(|settings| settings.packet = Bytes(16_001)), "packet");
        assert_eq!(refused(|settings| settings.send_buffer = Bytes(1438)), "send_buffer");
        assert_eq!(refused(|settings| settings.initial_window = Segments(0)), "initial_window");
        assert_eq!(refused(|settings| settings.min_ack_delay = Duration::from_millis(26)), "min_ack_delay");
        let small = FlowControl::Fixed { stream: Bytes(4000), connection: Bytes(1000) };
        assert_eq!(
            Settings { flow_control: small, ..Settings::default() }.check().unwrap_err().path,
            "flow_control.connection"
        );
    }
}
