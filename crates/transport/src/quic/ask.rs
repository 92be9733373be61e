//! Requests ACKs: the sender of data controls its peer's ACKs by `ACK_FREQUENCY` frames
//! (draft-ietf-quic-ack-frequency, §4).
//!
//! After each ACK, a rule returns the request that fits the path best. If this request differs
//! enough from the last request, an `ACK_FREQUENCY` frame is sent. At most one frame is outstanding
//! at a time.
//!
//! | rule | requests |
//! |---|---|
//! | `none` | no request: the peer acknowledges by its policy |
//! | [`fixed`] | the same values from the start |
//! | [`neqo`] | a fixed number of ACKs per round trip |
//! | [`picoquic`] | four ACKs per round trip, with bounds that depend on rate and round-trip time |
//! | [`quicly`] | an ACK per fraction of the window |
//! | [`tack`] | TACK's law, the formula for the frequency of ACKs |
//! | [`round_trip`] | a number of ACKs per round trip, without bounds |
//! | [`bbr`] | the ACKs that BBR needs in its present phase |
//! | [`ack_congestion`] | fewer ACKs while the path loses ACKs |
//!
//! A user-defined rule implements [`AskRule`].

pub mod ack_congestion;
pub mod bbr;
pub mod fixed;
pub mod neqo;
pub mod picoquic;
pub mod quicly;
pub mod round_trip;
pub mod tack;

use crate::ack::Delivery;
use crate::cc::Phase;
use crate::custom::{Custom, Name};
use crate::fault::Fault;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant};
use acklab_wire::quic::AckFrequency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum delay of a request: 2¹⁴ ms (draft-ietf-quic-ack-frequency, §4).
const LONGEST_DELAY: Duration = Duration::from_millis((1 << 14) - 1);

/// A rule and its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AskConfig {
    /// Sends no requests.
    #[default]
    None,
    /// Sends one request.
    Fixed(fixed::Fixed),
    /// The rule of Firefox.
    Neqo(neqo::Neqo),
    /// The rule of picoquic.
    Picoquic(picoquic::Picoquic),
    /// The rule of quicly, where the rule is optional.
    Quicly(quicly::Quicly),
    /// TACK's law, the formula for the frequency of ACKs.
    Tack(tack::Tack),
    /// A number of ACKs per round trip.
    RoundTrip(round_trip::RoundTrip),
    /// ACKs per round trip that depend on the phase of BBR.
    Bbr(bbr::Bbr),
    /// Fewer ACKs while the path loses ACKs, after RFC 5690.
    AckCongestion(ack_congestion::AckCongestion),
    /// A user-defined rule, which must be added to the run.
    Custom {
        /// The rule's name in the run.
        #[schemars(length(max = 32), example = &"mine")]
        name: Name,
    },
}

/// The inputs from which a rule is created.
#[derive(Debug)]
pub struct Start {
    /// Size of a full-sized packet in bytes, as congestion control uses it.
    pub mss: u64,
    /// The random stream of this rule.
    pub random: Stream,
}

/// A rule for requests of ACKs. Each end of a flow has one instance.
pub trait AskRule {
    /// Returns the best request at `now`, after the arrival of an ACK, or `None` for no change. The
    /// delay is raised to the peer's `min_ack_delay`. A frame is sent only if the request differs
    /// [enough](Request) from the last request.
    fn request(&mut self, now: Instant, path: &Path) -> Option<Request>;
}

impl AskConfig {
    /// Returns the rule's name as scenarios spell it. For a user-defined rule, this is the user's
    /// name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::None => "none",
            Self::Fixed(_) => "fixed",
            Self::Neqo(_) => "neqo",
            Self::Picoquic(_) => "picoquic",
            Self::Quicly(_) => "quicly",
            Self::Tack(_) => "tack",
            Self::RoundTrip(_) => "round-trip",
            Self::Bbr(_) => "bbr",
            Self::AckCongestion(_) => "ack-congestion",
            Self::Custom { name } => name.as_str(),
        }
    }

    /// Checks the constraints that the schema cannot express.
    ///
    /// # Errors
    /// If a delay is too long.
    pub fn check(&self) -> Result<(), Fault> {
        match self {
            Self::Fixed(fixed) if fixed.max_ack_delay > LONGEST_DELAY => {
                Err(Fault::expected("max_ack_delay", format!("at most {LONGEST_DELAY}")))
            }
            _ => Ok(()),
        }
    }
}

/// The state of the path at the sender of data. Sizes are bytes.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The size of a full-sized packet.
    pub mss: u64,
    /// The congestion window.
    pub cwnd: u64,
    /// `true` if the window is below the slow-start threshold.
    pub in_slow_start: bool,
    /// `true` if the controller is NewReno.
    pub is_reno: bool,
    /// The phase of the controller that determines the feedback it needs, if it has phases.
    pub phase: Option<Phase>,
    /// Smoothed round-trip time.
    pub srtt: Duration,
    /// Minimum round-trip time.
    pub min_rtt: Duration,
    /// Delivery rate in bytes per second, over the last round trips.
    pub rate: Option<u64>,
    /// Number of recoveries in this connection.
    pub recoveries: u64,
    /// Number of the peer's packets that were lost in this connection.
    pub lost_acks: u64,
}

impl Path {
    /// Returns the window in full-sized packets.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.cwnd / self.mss
    }
}

/// A request to the peer. Two requests are equal if their delays differ by at most a quarter, and
/// nothing else differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The peer acknowledges when more than this number of packets are unacknowledged.
    pub threshold: u64,
    /// The peer acknowledges a packet at the latest after this time.
    pub max_ack_delay: Duration,
    /// Reordering Threshold (draft-ietf-quic-ack-frequency, §4): the distance in packets at which a
    /// gap is reported immediately. Zero disables such reports.
    pub reordering: u64,
}

impl Request {
    /// Returns a request for an ACK after `packets` packets, at least one, or after a delay,
    /// whichever is earlier.
    #[must_use]
    pub const fn after(packets: u64, max_ack_delay: Duration) -> Self {
        Self { threshold: packets.saturating_sub(1), max_ack_delay, reordering: 1 }
    }

    /// Returns `true` if this request should replace `other`. Delays follow the round-trip time and
    /// may differ by a quarter (neqo's `AckRate::needs_update`).
    fn differs(&self, other: &Self) -> bool {
        let (shorter, longer) =
            (self.max_ack_delay.min(other.max_ack_delay), self.max_ack_delay.max(other.max_ack_delay));
        self.threshold != other.threshold || self.reordering != other.reordering || longer > shorter + shorter / 4
    }
}

/// The state of a rule.
#[derive(Debug)]
enum Rule {
    None,
    Fixed(fixed::Fixed),
    Neqo(neqo::Neqo),
    Picoquic(picoquic::State),
    Quicly(quicly::Quicly),
    Tack(tack::Tack),
    RoundTrip(round_trip::RoundTrip),
    Bbr(bbr::Bbr),
    AckCongestion(ack_congestion::State),
    Custom(Custom<dyn AskRule + Send>),
}

impl Rule {
    fn request(&mut self, now: Instant, path: &Path) -> Option<Request> {
        match self {
            Self::None => None,
            Self::Fixed(fixed) => Some(fixed.request()),
            Self::Neqo(neqo) => Some(neqo.request(path)),
            Self::Picoquic(picoquic) => Some(picoquic.request(path)),
            Self::Quicly(quicly) => quicly.request(path),
            Self::Tack(tack) => Some(tack.request(path)),
            Self::RoundTrip(rule) => Some(rule.request(path)),
            Self::Bbr(bbr) => Some(bbr.request(path)),
            Self::AckCongestion(state) => Some(state.request(now, path)),
            Self::Custom(rule) => rule.request(now, path),
        }
    }
}

/// Sends requests to the peer, and tracks which request may be in force.
#[derive(Debug)]
pub(super) struct Requester {
    rule: Rule,
    /// The peer's `min_ack_delay`, if the peer supports the extension.
    least_delay: Option<Duration>,
    /// The request that is in force at the peer, as far as this end can determine.
    current: Request,
    /// The request that should be in force.
    target: Request,
    /// The outstanding frame: its sequence number and its request.
    under_way: Option<(u64, Request)>,
    next_sequence: u64,
    /// Requests an immediate ACK at the end of each flight.
    demands_acks: bool,
    /// Delivery rate, which some rules use.
    delivery: Delivery,
    /// Frames sent.
    pub(super) sent: u64,
}

impl Requester {
    /// Creates the state before the first request, when the peer's rules are unknown.
    pub(super) fn new(config: &AskConfig) -> Self {
        let rule = match *config {
            // A user-defined rule is set later.
            AskConfig::None | AskConfig::Custom { .. } => Rule::None,
            AskConfig::Fixed(fixed) => Rule::Fixed(fixed),
            AskConfig::Neqo(neqo) => Rule::Neqo(neqo),
            AskConfig::Picoquic(_) => Rule::Picoquic(picoquic::State::new()),
            AskConfig::Quicly(quicly) => Rule::Quicly(quicly),
            AskConfig::Tack(tack) => Rule::Tack(tack),
            AskConfig::RoundTrip(rule) => Rule::RoundTrip(rule),
            AskConfig::Bbr(bbr) => Rule::Bbr(bbr),
            AskConfig::AckCongestion(settings) => Rule::AckCongestion(ack_congestion::State::new(settings)),
        };
        let unknown = Request { threshold: 1, max_ack_delay: Duration::ZERO, reordering: 1 };
        Self {
            rule,
            least_delay: None,
            current: unknown,
            target: unknown,
            under_way: None,
            next_sequence: 0,
            demands_acks: false,
            delivery: Delivery::new(1, 10),
            sent: 0,
        }
    }

    /// Sets a user-defined rule.
    pub(super) fn set_rule(&mut self, rule: Custom<dyn AskRule + Send>) {
        self.rule = Rule::Custom(rule);
    }

    /// Applies the peer's transport parameters.
    pub(super) const fn on_parameters(&mut self, max_ack_delay: Duration, min_ack_delay: Option<Duration>) {
        (self.current.max_ack_delay, self.target.max_ack_delay) = (max_ack_delay, max_ack_delay);
        self.least_delay = min_ack_delay;
    }

    /// Returns the delivery rate at `now`, with `delivered` bytes delivered in total.
    pub(super) fn rate(&mut self, now: Instant, delivered: u64, srtt: Duration) -> Option<u64> {
        self.delivery.on_data(now, delivered, Some(srtt));
        self.delivery.rate()
    }

    /// Handles an ACK. If the `packet_threshold` of loss detection adapts, the Reordering Threshold
    /// is set to it, unless zero was requested (draft-ietf-quic-ack-frequency, section on the value
    /// of the Reordering Threshold).
    pub(super) fn update(&mut self, now: Instant, path: &Path, packet_threshold: Option<u64>) {
        let Some(least) = self.least_delay else { return };
        self.demands_acks = matches!(self.rule, Rule::Bbr(_)) && path.phase == Some(Phase::ProbesRtt);
        if let Some(request) = self.rule.request(now, path) {
            let max_ack_delay = request.max_ack_delay.max(least).min(LONGEST_DELAY);
            let reordering = packet_threshold.filter(|_| request.reordering > 0).unwrap_or(request.reordering);
            self.target = Request { max_ack_delay, reordering, ..request };
        }
    }

    /// Returns `true` if the last packet of each flight should carry `IMMEDIATE_ACK`.
    pub(super) const fn demands_acks(&self) -> bool {
        self.demands_acks
    }

    /// Returns `true` if the peer supports the extension.
    pub(super) const fn is_supported(&self) -> bool {
        self.least_delay.is_some()
    }

    /// Returns `true` if a rule sends requests to the peer.
    pub(super) const fn is_active(&self) -> bool {
        self.is_supported() && !matches!(self.rule, Rule::None)
    }

    /// Returns `true` if an ACK_FREQUENCY frame is due.
    pub(super) fn is_due(&self) -> bool {
        self.is_active() && self.under_way.is_none() && self.target.differs(&self.current)
    }

    /// Returns the frame that is sent now.
    pub(super) fn take(&mut self) -> Option<AckFrequency> {
        if !self.is_due() {
            return None;
        }
        let (sequence, Request { threshold, max_ack_delay, reordering }) = (self.next_sequence, self.target);
        self.next_sequence += 1;
        self.sent += 1;
        self.under_way = Some((sequence, self.target));
        Some(AckFrequency { sequence, threshold, max_ack_delay: max_ack_delay.as_nanos() / 1000, reordering })
    }

    /// Handles the acknowledgment of the frame.
    pub(super) fn on_acked(&mut self, sequence: u64) {
        if let Some((_, request)) = self.under_way.take_if(|(under_way, _)| *under_way == sequence) {
            self.current = request;
        }
    }

    /// Handles the loss of the frame.
    pub(super) fn on_lost(&mut self, sequence: u64) {
        let _ = self.under_way.take_if(|(under_way, _)| *under_way == sequence);
    }

    /// Returns the peer's maximum ACK delay: the value in force or the outstanding value, whichever
    /// is larger (§6.3 of the draft).
    pub(super) fn max_ack_delay(&self) -> Duration {
        let under_way = self.under_way.map_or(Duration::ZERO, |(_, request)| request.max_ack_delay);
        self.current.max_ack_delay.max(under_way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    pub(super) fn path(cwnd_packets: u64, rtt_ms: u64) -> Path {
        Path {
            mss: 1000,
            cwnd: cwnd_packets * 1000,
            in_slow_start: false,
            is_reno: true,
            phase: None,
            srtt: MS * rtt_ms,
            min_rtt: MS * rtt_ms,
            rate: Some(cwnd_packets * 1_000_000 / rtt_ms),
            recoveries: 0,
            lost_acks: 0,
        }
    }

    fn requester(config: AskConfig, least: Option<u64>) -> Requester {
        let mut requester = Requester::new(&config);
        requester.on_parameters(MS * 25, least.map(|ms| MS * ms));
        requester
    }

    #[test]
    fn one_frame_is_under_way_at_a_time_and_a_lost_one_is_replaced() {
        let mut requester = requester(AskConfig::Neqo(neqo::Neqo::default()), Some(1));
        requester.update(Instant::ZERO, &path(40, 100), None);
        let first = requester.take().unwrap();
        assert_eq!((first.sequence, first.threshold, first.max_ack_delay), (0, 9, 25_000));
        requester.update(Instant::ZERO, &path(80, 200), None);
        assert!(requester.take().is_none());
        assert_eq!(requester.max_ack_delay(), MS * 25);
        requester.on_lost(0);
        let second = requester.take().unwrap();
        assert_eq!((second.sequence, second.threshold, second.max_ack_delay), (1, 19, 50_000));
        assert_eq!(requester.max_ack_delay(), MS * 50, "it may be in force already");
        requester.on_acked(1);
        assert!(requester.take().is_none());
        requester.update(Instant::ZERO, &path(80, 190), None);
        assert!(!requester.is_due(), "a delay that differs little");
    }

    /// Requests an ACK per window.
    struct EachWindow;

    impl AskRule for EachWindow {
        fn request(&mut self, _now: Instant, path: &Path) -> Option<Request> {
            (!path.in_slow_start).then(|| Request::after(path.packets(), path.srtt))
        }
    }

    #[test]
    fn a_rule_of_the_user_asks_as_it_likes() {
        let name = Name::from("mine").unwrap();
        let mut requester = requester(AskConfig::Custom { name }, Some(1));
        requester.set_rule(Custom::new(name, Box::new(EachWindow)));
        requester.update(Instant::ZERO, &Path { in_slow_start: true, ..path(40, 100) }, None);
        assert!(requester.take().is_none(), "the peer is left as it is");
        requester.update(Instant::ZERO, &path(40, 100), None);
        let frame = requester.take().unwrap();
        assert_eq!((frame.threshold, frame.max_ack_delay, frame.reordering), (39, 100_000, 1));
    }

    #[test]
    fn a_packet_threshold_that_adapts_is_what_gaps_are_reported_by() {
        let mut requester = requester(AskConfig::Neqo(neqo::Neqo::default()), Some(1));
        requester.update(Instant::ZERO, &path(40, 100), Some(3));
        assert_eq!(requester.take().unwrap().reordering, 3);
        requester.on_acked(0);
        requester.update(Instant::ZERO, &path(40, 100), Some(9));
        assert_eq!(requester.take().unwrap().reordering, 9, "the peer learns of a change");
        let never = fixed::Fixed { reordering_threshold: 0, ..fixed::Fixed::default() };
        let mut requester = super::tests::requester(AskConfig::Fixed(never), Some(1));
        requester.update(Instant::ZERO, &path(40, 100), Some(9));
        assert_eq!(requester.take().unwrap().reordering, 0, "never stays never");
    }

    #[test]
    fn nothing_is_asked_of_a_peer_without_the_extension() {
        let mut requester = requester(AskConfig::Fixed(fixed::Fixed::default()), None);
        requester.update(Instant::ZERO, &path(40, 100), None);
        assert!(requester.take().is_none());
    }

    #[test]
    fn the_least_delay_of_the_peer_bounds_what_is_asked() {
        let mut requester = requester(AskConfig::Picoquic(picoquic::Picoquic::default()), Some(5));
        requester.update(Instant::ZERO, &path(40, 8), None);
        assert_eq!(requester.take().unwrap().max_ack_delay, 5000);
    }
}
