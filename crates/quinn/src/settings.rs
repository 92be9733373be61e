//! The settings of a connection in a scenario.

use crate::time::std_duration;
use acklab_base::random::Seed;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use acklab_transport::ack::ack_frequency::AckFrequency;
use acklab_transport::fault::{Fault, LONGEST_TIME, above_zero};
use acklab_transport::{ack, cc};
use acklab_wire::ipv4::IPV4_HEADER;
use acklab_wire::udp::UDP_HEADER;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{AckFrequencyConfig, IdleTimeout, MtuDiscoveryConfig, TransportConfig, VarInt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The bytes of the IPv4 and UDP headers.
const BELOW: u64 = IPV4_HEADER + UDP_HEADER;
/// The minimum size of a datagram that every QUIC path must carry (RFC 9000, §14).
const MIN_DATAGRAM: u64 = 1200;
/// The maximum size of a datagram that discovery tries: the payload of an Ethernet frame without
/// lower headers.
const DISCOVERED: u64 = 1500 - BELOW;
/// The maximum window, as for the other transports (RFC 7323, §2.2).
const LARGEST_WINDOW: u64 = 1 << 30;
/// The number of bytes of a full-sized 1-RTT packet that are not stream data: first octet,
/// connection ID, packet number of two octets, tag (RFC 9000, §17.3.1; RFC 9001, §5.3); type, ID
/// and offset of the stream frame (RFC 9000, §19.8).
const HEADERS: u64 = 1 + 8 + 2 + 16 + 1 + 1 + 4;

/// The implementation of the congestion controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Controllers {
    /// acklab's controllers, which all transports share.
    Acklab,
    /// quinn's own controllers, `cubic` or `newreno`.
    Quinn,
}

/// The settings of both ends. Defaults are those of quinn-proto 0.11 where it has them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Congestion controller.
    pub congestion: cc::ControllerConfig,
    /// The implementation of the controller.
    pub controllers: Controllers,
    /// Undo spurious reductions. quinn-proto never undoes reductions, and its own controllers
    /// cannot.
    pub undo: bool,
    /// The ACK frequency that the sender of data requests from its receiver
    /// (draft-ietf-quic-ack-frequency). Without it, the receiver acknowledges every second packet,
    /// within 25 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<AckFrequency>,
    /// The maximum size of an IPv4 packet, including headers.
    #[schemars(example = "1228B")]
    pub packet: Bytes,
    /// Search for a larger packet size, up to 1500 B (RFC 8899).
    pub mtu_discovery: bool,
    /// Initial window in packets (RFC 9002, §7.2).
    pub initial_window: Segments,
    /// The maximum number of unacknowledged bytes that the application may write.
    #[schemars(example = "4MiB")]
    pub send_buffer: Bytes,
    /// The maximum number of bytes that the peer may send on a stream before its application reads
    /// them, at most 1 GiB.
    #[schemars(example = "1250000B")]
    pub stream_window: Bytes,
    /// The same maximum for all streams together.
    #[schemars(example = "1GiB")]
    pub connection_window: Bytes,
    /// The RTT used before the first sample (RFC 9002, §6.2.2).
    #[schemars(example = "333ms")]
    pub initial_rtt: Duration,
    /// A packet is considered lost if an acknowledged packet has a number larger by this (RFC 9002,
    /// §6.1.1).
    #[schemars(range(min = 1))]
    pub packet_threshold: u32,
    /// A packet that was sent before an acknowledged one is considered lost after this number of
    /// RTTs (RFC 9002, §6.1.2).
    #[schemars(range(min = 1.0, max = 8.0))]
    pub time_threshold: f64,
    /// The idle timeout, after which the connection is closed.
    #[schemars(example = "30s")]
    pub idle_timeout: Duration,
    /// Send packets as ECN-capable, and validate the path (RFC 9000, §13.4).
    pub ecn: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            congestion: cc::ControllerConfig::named("cubic").unwrap_or(cc::ControllerConfig::NEW_RENO),
            controllers: Controllers::Acklab,
            undo: false,
            ack: None,
            packet: Bytes(MIN_DATAGRAM + BELOW),
            mtu_discovery: false,
            initial_window: Segments(10),
            send_buffer: Bytes(4 << 20),
            stream_window: Bytes(1_250_000),
            connection_window: Bytes(LARGEST_WINDOW),
            initial_rtt: Duration::from_millis(333),
            packet_threshold: 3,
            time_threshold: 1.125,
            idle_timeout: Duration::from_secs(30),
            ecn: true,
        }
    }
}

impl Settings {
    /// Returns the number of bytes of a full-sized UDP datagram.
    #[must_use]
    pub const fn datagram(&self) -> u64 {
        self.packet.get() - BELOW
    }

    /// Returns the number of stream bytes in a full-sized packet.
    #[must_use]
    pub const fn payload(&self) -> u64 {
        self.datagram() - HEADERS
    }

    /// Returns the number of bytes of a full-sized packet that are not stream bytes.
    #[must_use]
    pub const fn headers(&self) -> u64 {
        BELOW + HEADERS
    }

    /// Returns the name of the controller in tables.
    #[must_use]
    pub fn controller_name(&self) -> String {
        let name = self.congestion.name();
        if self.controllers == Controllers::Quinn { format!("quinn-{name}") } else { name.to_owned() }
    }

    /// Returns the name of the receiver's rule in tables.
    #[must_use]
    pub fn ack_name(&self) -> String {
        match &self.ack {
            Some(ack) => ack::PolicyConfig::AckFrequency(*ack).name().to_owned(),
            None => "quinn".to_owned(),
        }
    }

    /// Checks constraints that the schema cannot express.
    ///
    /// # Errors
    /// If a setting is invalid; the error names the first invalid setting.
    pub fn check(&self) -> Result<(), Fault> {
        self.congestion.check().map_err(|fault| fault.within("congestion"))?;
        if self.controllers == Controllers::Quinn && self.own_controller().is_none() {
            let reason = "quinn has `cubic` and `newreno`, without settings; its BBR draws random numbers that cannot be seeded; \
                          expected one of these, or controllers = \"acklab\"";
            return Err(Fault::misplaced("congestion", reason));
        }
        if self.undo && self.controllers == Controllers::Quinn {
            let reason = "quinn's own controllers undo no reduction; expected false, or controllers = \"acklab\"";
            return Err(Fault::misplaced("undo", reason));
        }
        if let Some(ack) = &self.ack {
            // The receiver rounds to microseconds and refuses less than its timer granularity
            // (quinn-proto's TIMER_GRANULARITY, 1 ms).
            if ack.requested_max_ack_delay < Duration::from_millis(1) {
                return Err(Fault::expected("ack.requested_max_ack_delay", "at least 1ms"));
            }
            above_zero("ack.requested_max_ack_delay", ack.requested_max_ack_delay)?;
        }
        for (key, time) in [("initial_rtt", self.initial_rtt), ("idle_timeout", self.idle_timeout)] {
            above_zero(key, time)?;
        }
        if !(MIN_DATAGRAM + BELOW..=u64::from(u16::MAX)).contains(&self.packet.get()) {
            return Err(Fault::expected("packet", format!("{}B to {}B", MIN_DATAGRAM + BELOW, u16::MAX)));
        }
        if self.initial_window.0 == 0 {
            return Err(Fault::expected("initial_window", "at least one packet"));
        }
        let buffers = [
            ("send_buffer", self.send_buffer),
            ("stream_window", self.stream_window),
            ("connection_window", self.connection_window),
        ];
        for (key, buffer) in buffers {
            if !(self.payload()..=LARGEST_WINDOW).contains(&buffer.get()) {
                return Err(Fault::expected(key, format!("{}B, which a packet carries, to 1GiB", self.payload())));
            }
        }
        Ok(())
    }

    /// Returns the inputs of the controller of the flow called `flow`. Its window counts bytes of
    /// datagrams, as in RFC 9002.
    #[must_use]
    pub fn controller_start(&self, seed: Seed, flow: &str) -> cc::Start {
        cc::Start {
            mss: self.datagram(),
            initial_window: self.initial_window_octets(),
            growth: cc::Growth::PerSegment,
            // quinn-proto's controllers support no other slow start.
            slow_start: cc::SlowStart::Classic {},
            dialect: cc::Dialect::Reference,
            paced: true,
            burst: None,
            random: seed.stream(&format!("flow/{flow}/congestion")),
        }
    }

    pub(crate) fn initial_window_octets(&self) -> u64 {
        u64::from(self.initial_window.0) * self.datagram()
    }

    /// Returns quinn's controller, if it is selected and quinn implements it.
    pub(crate) fn own_controller(&self) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
        if self.controllers != Controllers::Quinn {
            return None;
        }
        let window = self.initial_window_octets();
        if Some(self.congestion) == cc::ControllerConfig::named("cubic") {
            let mut cubic = CubicConfig::default();
            cubic.initial_window(window);
            return Some(Arc::new(cubic));
        }
        let mut newreno = NewRenoConfig::default();
        newreno.initial_window(window);
        (self.congestion == cc::ControllerConfig::NEW_RENO).then(|| Arc::new(newreno) as _)
    }

    /// Returns the same settings for quinn-proto.
    pub(crate) fn transport(&self, controllers: Arc<dyn ControllerFactory + Send + Sync>) -> TransportConfig {
        let mut config = TransportConfig::default();
        config
            .congestion_controller_factory(controllers)
            .initial_mtu(self.datagram() as u16)
            .mtu_discovery_config(self.mtu_discovery.then(|| {
                let mut discovery = MtuDiscoveryConfig::default();
                discovery.upper_bound(DISCOVERED.max(self.datagram()) as u16);
                discovery
            }))
            .send_window(2 * LARGEST_WINDOW)
            .stream_receive_window(varint(self.stream_window.get()))
            .receive_window(varint(self.connection_window.get()))
            .initial_rtt(std_duration(self.initial_rtt))
            .packet_threshold(self.packet_threshold)
            .time_threshold(self.time_threshold as f32)
            .max_idle_timeout(Some(IdleTimeout::from(varint(self.idle_timeout.min(LONGEST_TIME).as_millis()))))
            .enable_segmentation_offload(false)
            .ack_frequency_config(self.ack.map(|ack| {
                let mut config = AckFrequencyConfig::default();
                config
                    .ack_eliciting_threshold(ack.ack_eliciting_threshold.into())
                    .max_ack_delay(Some(std_duration(ack.requested_max_ack_delay)))
                    .reordering_threshold(ack.reordering_threshold.into());
                config
            }));
        config
    }
}

/// Returns `value` as a variable-length integer, which can represent 62 bits.
pub(crate) fn varint(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_make_sense() {
        assert_eq!(Settings::default().check(), Ok(()));
        assert_eq!(Settings::default().payload() + Settings::default().headers(), 1228);
    }

    #[test]
    fn senseless_settings_are_refused() {
        let refused = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.check().map_err(|fault| fault.path).unwrap_err()
        };
        assert_eq!(refused(|settings| settings.packet = Bytes(1227)), "packet");
        assert_eq!(refused(|settings| settings.stream_window = Bytes(1000)), "stream_window");
        assert_eq!(refused(|settings| settings.idle_timeout = Duration::ZERO), "idle_timeout");
        assert_eq!(refused(|settings| settings.initial_window = Segments(0)), "initial_window");
        let bbr_of_quinn = |settings: &mut Settings| {
            settings.controllers = Controllers::Quinn;
            settings.congestion = cc::ControllerConfig::named("bbr").unwrap();
        };
        assert_eq!(refused(bbr_of_quinn), "congestion");
        assert_eq!(refused(|settings| (settings.controllers, settings.undo) = (Controllers::Quinn, true)), "undo");
        let hasty = |settings: &mut Settings| {
            settings.ack = Some(AckFrequency { requested_max_ack_delay: Duration::ZERO, ..AckFrequency::default() });
        };
        assert_eq!(refused(hasty), "ack.requested_max_ack_delay");
    }
}
