//! The settings of a connection, used in scenarios and by the connection.

use super::amplification::MIN_PACKET;
use super::lists::Lists;
use super::rate::RateSource;
use super::timing::Timing;
use crate::ack::tack::Law;
use crate::fault::{Fault, above_zero};
use crate::{ack, cc, pacing};
use acklab_base::random::Seed;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use acklab_wire::tack::{Frame, OVERHEAD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum receive window, as for TCP (RFC 7323, §2.2).
const LARGEST_BUFFER: u64 = 1 << 30;

/// One end's settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Congestion controller.
    pub congestion: cc::ControllerConfig,
    /// The policy that decides when TACKs are sent. IACKs are independent of the policy.
    pub ack: ack::PolicyConfig,
    /// Maximum size of an IP packet, including headers. The minimum is 1228 bytes over IPv4 and
    /// 1248 over IPv6, because datagrams have 1200 bytes (RFC 9000, §14).
    #[schemars(example = "1500B")]
    pub packet: Bytes,
    /// Start with packets of the minimum size, which the handshake validates. Search for the
    /// largest size that the path carries, up to `packet` (RFC 8899).
    pub mtu_discovery: bool,
    /// Initial congestion window (RFC 6928).
    pub initial_window: Segments,
    /// Send buffer: maximum data of a stream that are written but not acknowledged.
    #[schemars(example = "4MiB")]
    pub send_buffer: Bytes,
    /// Receive buffer: maximum data of a stream that the peer may send before the application reads
    /// them, at most 1 GiB.
    #[schemars(example = "4MiB")]
    pub receive_buffer: Bytes,
    /// Maximum number of streams that the peer may have open at a time, in addition to stream 0.
    #[schemars(range(min = 1))]
    pub streams: u32,
    /// The number of blocks in the unacked list of a TACK.
    pub lists: Lists,
    /// The packet to which the times in a TACK refer.
    pub timing: Timing,
    /// The end that measures the delivery rate for congestion control.
    pub rate: RateSource,
    /// The settling time before a gap is declared lost, relative to RTTmin. The default is a
    /// quarter (Li et al., SIGCOMM 2020, §7; RFC 8985, §6.2).
    #[schemars(range(min = 0.0, max = 8.0))]
    pub settling: f64,
    /// Widen the settling time when a packet arrives after it was reported lost.
    pub adaptive_settling: bool,
    /// Report losses by IACKs immediately. Without IACKs, the next TACK lists the losses (the
    /// comparison of Li et al., SIGCOMM 2020, Figure 5).
    pub loss_iacks: bool,
    /// The burst that pacing permits, for senders with coarse timers or with many packets per call.
    /// Without this setting, pacing spaces each packet, as in the paper (Li et al., ToN 2021,
    /// §VI-D).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<pacing::Burst>,
    /// Send data as ECN-capable, and react to a mark as to a loss, once per round trip (RFC 9000,
    /// §13.4; RFC 9002, §7.1). A controller that requires marks always enables this.
    pub ecn: bool,
    /// The time for which a minimum round-trip time is valid: τ, at most 10 s (Li et al., SIGCOMM
    /// 2020, §5.4).
    #[schemars(example = "10s")]
    pub rtt_window: Duration,
    /// Idle timeout: the connection ends if no packet of the peer arrives for this time; 0 s
    /// disables it (RFC 9000, §10.1). Middleboxes should keep the state of a flow for five minutes
    /// (RFC 4787, REQ-5).
    #[schemars(example = "30s")]
    pub idle_timeout: Duration,
    /// Keep-alive: this end sends a keep-alive if no packet of the peer arrives for this time; 0 s
    /// disables it (RFC 9000, §10.1.2).
    #[schemars(example = "15s")]
    pub keep_alive: Duration,
    /// Skip some packet numbers to detect a receiver that acknowledges packets before they arrive
    /// (RFC 9000, §21.4).
    pub skip_numbers: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            congestion: cc::ControllerConfig::BbrTack(cc::bbr_tack::Config::PUBLISHED),
            // Per-packet ACKs in Startup: Li et al., ToN 2021, §VI-D.
            ack: ack::PolicyConfig::Tack(ack::tack::Tack { per_packet_startup: true, ..ack::tack::Tack::default() }),
            packet: Bytes(1500),
            mtu_discovery: false,
            initial_window: Segments(10),
            send_buffer: Bytes(4 << 20),
            receive_buffer: Bytes(4 << 20),
            streams: 100,
            lists: Lists::Rich,
            timing: Timing::MinimumDelay,
            rate: RateSource::Receiver,
            settling: 0.25,
            adaptive_settling: true,
            burst: None,
            ecn: false,
            loss_iacks: true,
            rtt_window: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(300),
            keep_alive: Duration::ZERO,
            skip_numbers: false,
        }
    }
}

impl Settings {
    /// Returns the bytes of stream data in a full-sized packet.
    #[must_use]
    pub const fn mss(&self) -> u64 {
        self.packet.get() - self.headers()
    }

    /// Returns the overhead of a full-sized packet: all bytes that are not stream data, including
    /// the headers of IPv4 and UDP.
    #[must_use]
    pub const fn headers(&self) -> u64 {
        OVERHEAD + Frame::stream_header(0)
    }

    /// Returns the packet size that the handshake validates.
    pub(super) fn base_packet(&self) -> u64 {
        if self.mtu_discovery { MIN_PACKET } else { self.packet.get() }
    }

    /// Returns these settings for an IP header that is `longer` bytes longer than an IPv4 header.
    /// The maximum packet size does not change.
    #[must_use]
    pub const fn behind(self, longer: u64) -> Self {
        Self { packet: Bytes(self.packet.get().saturating_sub(longer)), ..self }
    }

    /// Returns the parameters of TACK's law: L and β.
    #[must_use]
    pub fn law(&self) -> Law {
        match self.ack {
            ack::PolicyConfig::Tack(tack) => tack.law(),
            _ => Law::default(),
        }
    }

    /// Returns `true` if data are sent as ECN-capable.
    #[must_use]
    pub fn uses_ecn(&self) -> bool {
        self.ecn || self.congestion.counts_marks()
    }

    /// Checks the constraints that the schema cannot express.
    ///
    /// # Errors
    /// Returns the first invalid setting.
    pub fn check(&self) -> Result<(), Fault> {
        self.check_behind(0)
    }

    /// Checks the settings for an IP header that is `longer` bytes longer than an IPv4 header.
    ///
    /// # Errors
    /// Returns the first invalid setting.
    pub fn check_behind(&self, longer: u64) -> Result<(), Fault> {
        self.congestion.check().map_err(|fault| fault.within("congestion"))?;
        if self.congestion.is_scalable() {
            // A TACK counts ECT(0) and CE, but not ECT(1).
            let found = self.congestion.name();
            return Err(Fault::misplaced("congestion", format!("\"{found}\" is for L4S, and TACK sends no ECT(1)")));
        }
        self.ack.check().map_err(|fault| fault.within("ack"))?;
        above_zero("rtt_window", self.rtt_window)?;
        let least = MIN_PACKET + longer;
        if !(least..=u64::from(u16::MAX)).contains(&self.packet.get()) {
            return Err(Fault::expected("packet", format!("{least}B to {}B", u16::MAX)));
        }
        if self.initial_window.0 == 0 {
            return Err(Fault::expected("initial_window", "one packet at least"));
        }
        if let Some(burst) = self.burst {
            burst.check().map_err(|fault| fault.within("burst"))?;
        }
        for (key, buffer) in [("send_buffer", self.send_buffer), ("receive_buffer", self.receive_buffer)] {
            if !(self.mss()..=LARGEST_BUFFER).contains(&buffer.get()) {
                return Err(Fault::expected(key, format!("{}B, which a packet carries, to 1GiB", self.mss())));
            }
        }
        Ok(())
    }

    /// Returns the inputs of the controller for the flow `flow`.
    #[must_use]
    pub fn controller_start(&self, seed: Seed, flow: &str) -> cc::Start {
        cc::Start {
            mss: self.mss(),
            initial_window: u64::from(self.initial_window.0) * self.mss(),
            // A TACK acknowledges many packets. The window therefore grows per segment, and pacing
            // prevents a burst.
            growth: cc::Growth::PerSegment,
            slow_start: cc::SlowStart::standard(&self.congestion),
            dialect: cc::Dialect::Reference,
            paced: true,
            burst: self.burst,
            random: seed.stream(&format!("flow/{flow}/congestion")),
        }
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
    fn the_defaults_make_sense() {
        assert_eq!(Settings::default().check(), Ok(()));
        assert_eq!(Settings::default().law(), Law { packets: 2, beta: 4 });
        assert_eq!(
            Settings::default().mss(),
            1427,
            "1500 less 20, 8, 17 and 16 of headers and tag, and 12 of the frame"
        );
    }

    /// The rule is the same as in Linux (`tcp_ca_needs_ecn`), and as for TCP and QUIC here.
    #[test]
    fn a_controller_that_counts_marks_asks_for_them() {
        let congestion = cc::ControllerConfig::named("dctcp").expect("it is built in");
        assert!(!Settings::default().uses_ecn());
        assert!(Settings { congestion, ..Settings::default() }.uses_ecn());
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let refused = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.check().map_err(|fault| fault.path).unwrap_err()
        };
        assert_eq!(refused(|settings| settings.packet = Bytes(1227)), "packet");
        assert_eq!(refused(|settings| settings.packet = Bytes(65_536)), "packet");
        let small = Settings { packet: Bytes(1247), ..Settings::default() };
        assert_eq!((small.check(), small.check_behind(20).map_err(|fault| fault.path)), (Ok(()), Err("packet".into())));
        assert_eq!(refused(|settings| settings.receive_buffer = Bytes(1426)), "receive_buffer");
        assert_eq!(refused(|settings| settings.initial_window = Segments(0)), "initial_window");
        assert_eq!(refused(|settings| settings.rtt_window = Duration::ZERO), "rtt_window");
    }
}
