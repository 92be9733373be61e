//! The capacity of a cell: the mean cycle of one saturated sender if no other node sends and no
//! errors occur.

use super::exchange::Response;
use super::{ACCESS_POINT, Cell, TxqId};
use crate::access::{Category, Control, Parameters};
use crate::frame;
use crate::packet::Packet;
use crate::phy::Mode;
use acklab_base::{Bytes, Duration};

/// A mean cycle of channel access: AIFS, backoff, and the frame exchanges of a transmission
/// opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Octets of the packets that are delivered in one cycle.
    pub octets: Bytes,
    /// The duration of the cycle. If the access point relays the packets, the sum of the times of
    /// both hops.
    pub time: Duration,
}

impl Cycle {
    /// Returns the capacity in bits per second.
    #[must_use]
    pub fn rate(self) -> f64 {
        self.octets.get() as f64 * 8.0 / self.time.as_secs_f64()
    }
}

impl<D: Packet> Cell<D> {
    /// Returns the mean cycle of `from` if it always has packets of `packet` octets for `to`.
    /// Adaptive rate control is assumed to use its fastest mode. Returns `None` if
    /// [`carry`](Self::carry) was not called for this direction and category.
    #[must_use]
    pub fn cycle(&self, from: usize, to: usize, category: Category, packet: Bytes) -> Option<Cycle> {
        let category = if self.rules.has_qos { category } else { Category::BestEffort };
        let hop = |from, to| Some(self.mean_cycle(self.distribution.queue(from, to, category)?, packet));
        if from == ACCESS_POINT || to == ACCESS_POINT {
            return hop(from, to);
        }
        let (up, down) = (hop(from, ACCESS_POINT)?, hop(ACCESS_POINT, to)?);
        let relayed = down.time.as_nanos() as f64 * up.octets.get() as f64 / down.octets.get() as f64;
        Some(Cycle { octets: up.octets, time: up.time + Duration::from_nanos(relayed.round() as u64) })
    }

    fn mean_cycle(&self, id: TxqId, packet: Bytes) -> Cycle {
        let txq = &self.backlog.txqs[id];
        let parameters = &self.backlog.edcafs[txq.edcaf].parameters;
        let fastest = || self.capabilities().modes().last().copied();
        let Some(mode) = txq.rate.only_mode().or_else(fastest) else { unreachable!("rate control without a mode") };
        let sifs = self.rules.timing.sifs;
        let limit = Some(parameters.txop_limit).filter(|limit| !limit.is_zero());
        let (mut packets, mut used) = (0, Duration::ZERO);
        // The transmission opportunity continues SIFS after an exchange if another exchange fits
        // (10.23.2.9).
        loop {
            let ahead = if packets == 0 { Duration::ZERO } else { sifs };
            let left =
                limit.map(|limit| Duration::from_nanos(limit.as_nanos().saturating_sub((used + ahead).as_nanos())));
            let Some(next) = self.full_exchange(mode, packet, left, packets == 0) else { break };
            packets += next.packets;
            used += ahead + next.time;
            if limit.is_none() {
                break;
            }
        }
        let access = self.rules.timing.aifs(parameters.aifsn) + self.mean_backoff(parameters);
        Cycle { octets: Bytes(packets * packet.get()), time: access + used }
    }

    fn mean_backoff(&self, parameters: &Parameters) -> Duration {
        // No transmission fails, so `mimd` halves the window to its lower limit.
        let window = match parameters.cw_control {
            Control::Standard => parameters.cw_min,
            Control::Mimd => parameters.floor(),
        };
        self.rules.timing.slot * (self.rules.backoffs(window) - 1) / 2
    }

    /// Returns the exchange with the most frames that takes at most `left`. The first exchange of a
    /// transmission opportunity may exceed `left` with a single frame.
    fn full_exchange(&self, mode: Mode, packet: Bytes, left: Option<Duration>, is_first: bool) -> Option<FullExchange> {
        let rules = &self.rules;
        let (packets_of_mpdu, mpdu) = self.full_mpdu(packet);
        let response_mode = self.response_mode(mode);
        let (frames, octets) = match rules.max_aggregate {
            None => (1, mpdu),
            Some(maximum) => self.full_aggregate(mpdu, maximum.min(self.octets_within(mode, false, left)), is_first)?,
        };
        let (psdu, response) = match frames {
            1 if rules.always_delimits => (frame::a_mpdu_subframe(mpdu), Response::Ack),
            1 => (mpdu, Response::Ack),
            _ => (octets, Response::BlockAck),
        };
        let is_protected = rules.protection.is_some() || rules.rts_threshold.is_some_and(|threshold| psdu > threshold);
        let protection = if is_protected { self.protection_time(mode, true) } else { Duration::ZERO };
        let answer = rules.response_space + rules.response_time(response, response_mode);
        let time = protection + super::airtime(rules, mode, psdu) + answer;
        let fits = is_first || left.is_none_or(|left| time <= left);
        fits.then_some(FullExchange { packets: frames * packets_of_mpdu, time })
    }

    /// Returns the number of packets of an MPDU, and its octets.
    fn full_mpdu(&self, packet: Bytes) -> (u64, Bytes) {
        let subframe = frame::a_msdu_subframe(packet);
        let (mut packets, mut octets) = (1, subframe);
        while frame::padded(octets) + subframe <= self.rules.a_msdu {
            octets = frame::padded(octets) + subframe;
            packets += 1;
        }
        (packets, if packets == 1 { self.rules.mpdu(packet) } else { frame::a_msdu(octets) })
    }

    /// Returns the number of frames of an A-MPDU of at most `maximum` octets, and its octets.
    fn full_aggregate(&self, mpdu: Bytes, maximum: Bytes, is_first: bool) -> Option<(u64, Bytes)> {
        let subframe = frame::a_mpdu_subframe(mpdu);
        let (mut frames, mut octets) = (0, Bytes::ZERO);
        while frames < self.rules.max_frames
            && (frame::padded(octets) + subframe <= maximum || (frames == 0 && is_first))
        {
            octets = frame::padded(octets) + subframe;
            frames += 1;
        }
        (frames > 0).then_some((frames, octets))
    }
}

/// A frame exchange with as much data as fits.
struct FullExchange {
    packets: u64,
    time: Duration,
}
