//! The sender's requests for ACKs, in an option of a data segment. The option contains the ACK
//! Ratio of RFC 5690 or the rate of TARR.
//!
//! A new number is sent on one segment of new data and on its retransmissions. The number is in use
//! once that segment is acknowledged. Only then may the next number follow (RFC 5690, §4.2 and
//! §4.5).

use super::super::config::TcpConfig;
use super::Sender;
use super::ack_rate::AckRate;
use super::ack_ratio::AckRatio;
use crate::ack;
use crate::recovery::CongestionState;
use acklab_wire::tcp::{self, Options, Segment};

/// The ACK requests that an end offers on its SYN. The sending half may send them, and the
/// receiving half complies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp) struct Offer {
    /// ACK Congestion Control Permitted (RFC 5690, §4.1).
    pub(in crate::tcp) ack_congestion_control: bool,
    /// The TARR option on the SYN, if this end supports TARR.
    pub(in crate::tcp) ack_rate: Option<tcp::AckRate>,
}

/// The request on a segment with data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Requests {
    pub(super) ack_ratio: Option<u8>,
    pub(super) ack_rate: Option<tcp::AckRate>,
}

/// Size of each option, in bytes, in a segment without SACK.
const OPTION_OCTETS: u64 = 8;

/// A number that the sender requests from the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requested {
    in_use: u64,
    pending: Option<Pending>,
}

/// A request whose segment is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    number: u64,
    /// The offset of the segment with the request, once the segment has been sent.
    at: Option<u64>,
}

impl Requested {
    /// Creates the state for a receiver that starts with the number `initial`.
    pub(super) const fn new(initial: u64) -> Self {
        Self { in_use: initial, pending: None }
    }

    /// Returns the number that is confirmed to be in use at the receiver.
    pub(super) const fn in_use(&self) -> u64 {
        self.in_use
    }

    /// Returns the number that is requested but not confirmed to be in use.
    pub(super) fn pending(&self) -> Option<u64> {
        self.pending.map(|pending| pending.number)
    }

    /// Requests this number, unless the number is in use or another request is pending.
    pub(super) const fn ask(&mut self, number: u64) {
        if number != self.in_use && self.pending.is_none() {
            self.pending = Some(Pending { number, at: None });
        }
    }

    /// Processes an ACK of all data below the offset `ack`. Returns `true` if a new number is now
    /// in use.
    pub(super) fn confirm(&mut self, ack: u64) -> bool {
        let confirmed = self.pending.take_if(|pending| pending.at.is_some_and(|at| ack > at));
        self.in_use = confirmed.map_or(self.in_use, |pending| pending.number);
        confirmed.is_some()
    }

    /// Returns `true` if the next segment of new data must carry a number.
    fn is_due(&self) -> bool {
        self.pending.is_some_and(|pending| pending.at.is_none())
    }

    /// Assigns the due number to the segment of new data at this offset.
    pub(super) fn load(&mut self, start: u64) {
        if let Some(pending) = &mut self.pending {
            pending.at.get_or_insert(start);
        }
    }

    /// Returns the number on the segment at this offset, which is the same in all transmissions.
    fn carried(&self, start: u64) -> Option<u8> {
        self.pending.filter(|pending| pending.at == Some(start)).map(|pending| pending.number as u8)
    }
}

/// The sender's state before an ACK. All values except `mss`, `cwnd` and `window` are offsets.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) ack: u64,
    pub(super) una: u64,
    pub(super) nxt: u64,
    pub(super) cwnd: u64,
    /// The peer's receive window.
    pub(super) window: u64,
    pub(super) mss: u64,
    /// `true` if no data are known to be missing.
    pub(super) in_order: bool,
}

/// The mechanism that both ends support.
#[derive(Clone, Debug)]
pub(super) enum AckRequest {
    /// ACK congestion control.
    Ratio(AckRatio),
    /// TARR.
    Rate(AckRate),
}

impl AckRequest {
    /// Returns the number that the receiver uses.
    pub(super) const fn in_use(&self) -> u64 {
        self.requested().in_use()
    }

    const fn requested(&self) -> &Requested {
        match self {
            Self::Ratio(ratio) => &ratio.requested,
            Self::Rate(rate) => &rate.requested,
        }
    }

    const fn requested_mut(&mut self) -> &mut Requested {
        match self {
            Self::Ratio(ratio) => &mut ratio.requested,
            Self::Rate(rate) => &mut rate.requested,
        }
    }
}

impl Offer {
    /// Returns the offer of an end with these settings.
    pub(in crate::tcp) const fn of(config: &TcpConfig) -> Self {
        let (ack_congestion_control, ack_rate) = match config.ack {
            ack::PolicyConfig::AckCongestionControl(_) => (true, None),
            ack::PolicyConfig::AckRateRequest(_) => (false, Some(tcp::AckRate::Supported)),
            _ => (false, None),
        };
        Self { ack_congestion_control, ack_rate }
    }

    /// Returns the requests in `self` that the peer's SYN or SYN-ACK with these options also
    /// offers.
    pub(in crate::tcp) fn agreed(self, theirs: &Options) -> Self {
        Self {
            ack_congestion_control: self.ack_congestion_control && theirs.ack_congestion_control,
            ack_rate: self.ack_rate.filter(|rate| theirs.ack_rate == Some(*rate)),
        }
    }
}

impl Sender {
    /// Processes the peer's SYN or SYN-ACK (RFC 5690, §4.1).
    pub(super) fn negotiate_ack_request(&mut self, syn: &Segment) {
        let agreed = Offer::of(&self.config).agreed(&syn.options);
        self.ack_request = match self.config.ack {
            ack::PolicyConfig::AckRateRequest(settings) if agreed.ack_rate.is_some() => {
                Some(AckRequest::Rate(AckRate::new(settings)))
            }
            _ => agreed.ack_congestion_control.then(|| AckRequest::Ratio(AckRatio::new())),
        };
    }

    /// Examines an ACK of all data below `ack`. Call this before other processing of the ACK.
    pub(super) fn watch_acks(&mut self, ack: u64, segment: &Segment) {
        let (una, nxt) = (self.board.una(), self.board.nxt());
        if let Some(request) = self.ack_request.as_mut().filter(|_| ack <= nxt) {
            let nothing_is_missing = matches!(self.congestion.state, CongestionState::Open | CongestionState::Reduced);
            let in_order = nothing_is_missing && segment.options.sack.is_empty();
            let (cwnd, mss) = (self.congestion.control.window.cwnd, self.congestion.control.window.mss);
            let view = View { ack, una, nxt, cwnd, window: self.peer_window.largest(), mss, in_order };
            match request {
                AckRequest::Ratio(ratio) => ratio.on_ack(view),
                AckRequest::Rate(rate) => rate.on_ack(view),
            }
        }
    }

    /// Returns the payload of a full-sized new segment. The payload is smaller if the segment
    /// carries a request, the AccECN option or SACK blocks (RFC 6691, §3).
    #[inline]
    pub(super) fn full_payload(&self) -> u64 {
        let options = self.marks.report.reserve() + self.transmission.options_beside;
        let payload = self.congestion.control.window.mss.saturating_sub(options).max(1);
        match &self.ack_request {
            None => payload,
            Some(request) => self.payload_beside(request, payload),
        }
    }

    /// Sets the bytes of options that the receiving half of the connection adds to a new segment.
    #[inline]
    pub(in crate::tcp) const fn leave_room(&mut self, octets: u64) {
        self.transmission.options_beside = octets;
    }

    /// Returns the part of `payload` that remains if the segment carries a due `request`.
    #[inline(never)]
    fn payload_beside(&self, request: &AckRequest, payload: u64) -> u64 {
        let window = &self.congestion.control.window;
        let is_due = request.requested().is_due()
            || matches!(request, AckRequest::Rate(rate) if rate.outlasts(window.cwnd, window.mss));
        if is_due { payload.saturating_sub(OPTION_OCTETS).max(1) } else { payload }
    }

    /// Adds the due request, if any, to the segment of new data at `start`.
    pub(super) fn load_request(&mut self, start: u64) {
        if let Some(request) = &mut self.ack_request {
            request.requested_mut().load(start);
        }
    }

    /// Returns the request on the segment at `start` with `payload` bytes. `is_new` is `true` if
    /// the segment is sent for the first time.
    #[inline]
    pub(super) fn requests(&self, start: u64, payload: u64, is_new: bool) -> Requests {
        match &self.ack_request {
            None => Requests::default(),
            Some(AckRequest::Ratio(ratio)) => Requests { ack_ratio: ratio.requested.carried(start), ack_rate: None },
            Some(AckRequest::Rate(rate)) => {
                Requests { ack_ratio: None, ack_rate: self.carried_rate(rate, start, payload, is_new) }
            }
        }
    }

    #[inline(never)]
    fn carried_rate(&self, rate: &AckRate, start: u64, payload: u64, is_new: bool) -> Option<tcp::AckRate> {
        let carried = rate.requested.carried(start).or_else(|| {
            let window = &self.congestion.control.window;
            let has_room = payload > 0 && payload + OPTION_OCTETS + self.marks.report.reserve() <= window.mss;
            let is_last = self.unsent_with_fin() == 0
                || (rate.outlasts(window.cwnd, window.mss) && self.congestion.room(self.board.pipe()) < window.mss);
            (is_new && has_room && is_last && rate.requests_at_once()).then_some(0)
        });
        carried.map(tcp::AckRate::Every)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_in_use_once_its_segment_is_acknowledged() {
        let mut requested = Requested::new(2);
        requested.ask(2);
        assert_eq!(requested.pending(), None, "it is in use");
        requested.ask(8);
        assert!(requested.is_due() && !requested.confirm(u64::MAX), "it has not left");
        requested.load(1000);
        requested.load(2000);
        requested.ask(16);
        assert_eq!((requested.is_due(), requested.carried(1000), requested.carried(2000)), (false, Some(8), None));
        assert!(!requested.confirm(1000));
        assert!(requested.confirm(1001));
        assert_eq!((requested.in_use(), requested.pending(), requested.carried(1000)), (8, None, None));
    }
}
