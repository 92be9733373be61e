//! Acknowledges packets of application data (RFC 9000, §13.2; draft-ietf-quic-ack-frequency).
//!
//! An [ACK policy](crate::ack) decides for every ack-eliciting packet, in order of packet numbers,
//! when an ACK is due. An `ACK_FREQUENCY` frame of the peer replaces the policy by the rules of the
//! draft. With any policy, an ACK is sent within the `max_ack_delay` that this end announced or the
//! peer requested.

use super::settings::ConnectionConfig;
use crate::ack::ack_frequency::AckFrequency as Rules;
use crate::ack::{self, Acknowledger, Arrival, Packet, Policy, Ranges, Reason};
use acklab_base::{Duration, Ecn, Instant};
use acklab_wire::quic::{AckFrequency, TransportError};

/// The maximum number of packets that elicit no ACK, since the last ACK. The next packet after that
/// carries an ACK (quinn-proto's `LAZY_ACK_THRESHOLD`).
const MAX_SILENT: u64 = 10;
/// The maximum delay in a frame. The encoding permits integers of 62 bits. Longer delays are
/// reduced to this value, about 12 days, which overflows no clock of a run.
pub(super) const MAX_MICROSECONDS: u64 = 1 << 40;
/// The bound of `max_ack_delay`, in the announcement (less than 2¹⁴ ms: RFC 9000, §18.2) and in a
/// request (draft-ietf-quic-ack-frequency, §4).
pub(super) const MAX_ACK_DELAY_BOUND: Duration = Duration::from_millis(1 << 14);

/// The counters of one receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Ack-eliciting packets of application data that arrived for the first time.
    pub(super) packets: u64,
    /// Ack-eliciting packets of application data that arrived for the first time, after a packet
    /// with a larger number.
    pub(super) reordered: u64,
    /// Packets that arrived with a CE mark.
    pub(super) marked: u64,
    /// `ACK_FREQUENCY` frames that arrived.
    pub(super) requests: u64,
    /// `IMMEDIATE_ACK` frames that arrived.
    pub(super) demands: u64,
}

#[derive(Debug)]
pub(super) struct Acks {
    pub(super) acknowledger: Acknowledger,
    /// The `min_ack_delay` that this end announces.
    least_delay: Duration,
    /// The `max_ack_delay` in force: announced by this end, or requested by the peer.
    most_delay: Duration,
    /// The `ACK_FREQUENCY` frame in force.
    request: Option<AckFrequency>,
    /// The rules that stay in force when the peer requests another ACK frequency.
    habits: Rules,
    /// `true` if only the first of consecutive marks is acknowledged immediately, as in Google's
    /// quiche (`changed_to_ce_marked_`).
    tells_first_mark_only: bool,
    last_was_marked: bool,
    /// The number of packets that elicit no ACK, since the last ACK.
    silent: u64,
    pub(super) counters: Counters,
}

impl Acks {
    pub(super) fn new(policy: Policy, config: &ConnectionConfig) -> Self {
        Self {
            acknowledger: Acknowledger::new(policy),
            least_delay: config.min_ack_delay.unwrap_or(Duration::ZERO),
            most_delay: config.max_ack_delay,
            request: None,
            habits: habits(&config.ack),
            tells_first_mark_only: matches!(config.ack, ack::PolicyConfig::Chrome(_)),
            last_was_marked: false,
            silent: 0,
            counters: Counters::default(),
        }
    }

    /// Records the first arrival of an ack-eliciting packet of `octets` bytes. `numbers` already
    /// contain its number. `octets` includes headers, because the length of the offset field
    /// determines how many bytes of a full-sized packet are stream data.
    #[inline]
    pub(super) fn on_packet(
        &mut self,
        now: Instant,
        number: u64,
        octets: u64,
        arrival: Arrival,
        numbers: &Ranges,
        ecn: Ecn,
    ) {
        self.counters.packets += 1;
        self.counters.reordered += u64::from(matches!(arrival, Arrival::FillsGap { .. }));
        self.acknowledger.enter(now, Packet::numbered(number, octets));
        self.acknowledger.measure_delivery(now);
        self.acknowledger.decide(now, arrival, numbers.held(true));
        // RFC 9000, §13.2.1: every ack-eliciting packet is acknowledged within the advertised
        // max_ack_delay.
        self.acknowledger.oblige(now, now + self.most_delay);
        let is_marked = ecn == Ecn::Ce;
        let first_only = self.tells_first_mark_only || self.request.is_some_and(|request| request.threshold > 1);
        if is_marked && !(self.last_was_marked && first_only) {
            // Every mark is acknowledged immediately (RFC 9000, §13.2.1). If the peer requested few
            // ACKs, only the first of consecutive marks is (draft-ietf-quic-ack-frequency, §6.4).
            self.acknowledger.demand(now, Reason::MarkChange);
        }
        (self.last_was_marked, self.counters.marked) = (is_marked, self.counters.marked + u64::from(is_marked));
        // The policy may schedule an ACK for the present time.
        self.acknowledger.wake(now);
    }

    /// Records the first arrival of a packet that elicits no ACK.
    pub(super) const fn on_silent_packet(&mut self) {
        self.silent += 1;
    }

    /// Returns `true` if the next packet should carry an ACK: a packet waits for an ACK, or many
    /// packets have arrived that elicit no ACK. Otherwise, the ACKs of a peer that sends no data
    /// would never be acknowledged. Such a peer would list all its gaps in every ACK (RFC 9000,
    /// §13.2.1 and §13.2.4).
    pub(super) const fn joins_others(&self) -> bool {
        self.acknowledger.has_unreported() || self.silent > MAX_SILENT
    }

    /// Records that an ACK is sent for `reason`.
    pub(super) fn on_sent(&mut self, now: Instant, reason: Reason) {
        self.silent = 0;
        self.acknowledger.sent(now, reason);
    }

    /// Handles the peer's request for an immediate ACK.
    pub(super) fn on_demand(&mut self, now: Instant) {
        self.counters.demands += 1;
        self.acknowledger.demand(now, Reason::Asked);
    }

    /// Applies the ACK frequency that the peer requests.
    pub(super) fn on_request(&mut self, request: &AckFrequency) -> Result<(), TransportError> {
        let delay = Duration::from_micros(request.max_ack_delay.min(MAX_MICROSECONDS));
        if delay < self.least_delay || delay >= MAX_ACK_DELAY_BOUND {
            return Err(TransportError::ProtocolViolation);
        }
        self.counters.requests += 1;
        if self.request.is_some_and(|newest| newest.sequence >= request.sequence) {
            return Ok(());
        }
        self.request = Some(*request);
        self.most_delay = delay;
        let rules = Rules {
            ack_eliciting_threshold: u32::try_from(request.threshold).unwrap_or(u32::MAX),
            requested_max_ack_delay: delay,
            reordering_threshold: u32::try_from(request.reordering).unwrap_or(u32::MAX),
            ..self.habits
        };
        if let Some(policy) = Policy::new(ack::PolicyConfig::AckFrequency(rules)) {
            *self.acknowledger.policy() = policy;
        }
        Ok(())
    }
}

/// Returns the rules of a policy that the peer's requests do not change: for the start of a
/// connection and for the time after an idle period.
fn habits(policy: &ack::PolicyConfig) -> Rules {
    let (after, after_round_trip) = match *policy {
        ack::PolicyConfig::Quic(quic) => (quic.after, quic.after_round_trip),
        ack::PolicyConfig::AckFrequency(rules) => (rules.after, rules.after_round_trip),
        _ => (0, false),
    };
    Rules { after, after_round_trip, ..Rules::default() }
}
