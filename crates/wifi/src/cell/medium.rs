//! The medium: what is on the air, who senses it, and what reaches whom.

use super::rules::Rules;
use super::transmit::{Exchange, Phase};
use crate::access::{Contention, PREAMBLE_DETECTION};
use crate::reception::{Kind, Link, Other, Reception};
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant};
use std::ops::Range;

/// Exchanges under way, and how the nodes sense and receive them.
#[derive(Clone, Debug)]
pub(super) struct Medium {
    pub(super) contention: Contention,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) reception: Reception,
    nodes: usize,
    /// Does everybody hear everybody, so that one view of the medium is that of all?
    pub(super) has_one_view: bool,
    /// What else was in the air beside an exchange's frame, by the frame's number.
    overlaps: Vec<(u64, Other)>,
    /// Frames that have gone on the air.
    frames: u64,
    errors: Stream,
}

impl Medium {
    pub(super) fn new(nodes: usize, rules: &Rules, reception: Reception, errors: Stream) -> Self {
        let has_one_view = (0..nodes).all(|at| (0..nodes).all(|of| at == of || reception.hears(at, of)));
        let views = if has_one_view { 1 } else { nodes };
        Self {
            contention: Contention::new(rules.timing.slot, rules.has_qos, views),
            exchanges: Vec::new(),
            reception,
            nodes,
            has_one_view,
            overlaps: Vec::new(),
            frames: 0,
            errors,
        }
    }

    /// When a PPDU, an MPDU or the space before a PPDU next ends, or a backoff.
    #[inline]
    pub(super) fn due(&self) -> Option<Instant> {
        let ends = self.exchanges.iter().map(|exchange| exchange.ends.min(exchange.arrived.next)).min();
        [ends, self.contention.due()].into_iter().flatten().min()
    }

    /// The view of the medium that a node has.
    pub(super) const fn view_of(&self, node: usize) -> usize {
        if self.has_one_view { 0 } else { node }
    }

    /// The views of the medium.
    const fn views(&self) -> Range<usize> {
        0..if self.has_one_view { 1 } else { self.nodes }
    }

    /// Does what `node` sends reach `view`? Its own always does.
    fn reaches(&self, node: usize, view: usize) -> bool {
        self.has_one_view || view == node || self.reception.hears(view, node)
    }

    /// Does `receiver` hear what `interferer` sends?
    fn disturbs(&self, interferer: usize, receiver: Option<usize>) -> bool {
        receiver.is_none_or(|receiver| receiver == interferer || self.reception.hears(receiver, interferer))
    }

    /// Has something of this node begun before it could be sensed?
    pub(super) fn is_sending(&self, node: usize) -> bool {
        self.exchanges.iter().any(|exchange| exchange.sender == node)
    }

    /// Has `node` just received what it will respond to after SIFS?
    pub(super) fn is_about_to_answer(&self, now: Instant, node: usize) -> bool {
        self.exchanges.iter().any(|exchange| {
            exchange.sender == node
                && now < exchange.begins
                && matches!(exchange.phase, Phase::BeforeAnswer | Phase::Answer)
        })
    }

    /// What `exchange` says is on the air begins. Those that it overlaps with are lost to those that hear both.
    pub(super) fn go_on_air(&mut self, mut exchange: Exchange) -> Exchange {
        let (begins, sender) = (exchange.begins, exchange.sender);
        self.frames += 1;
        exchange.number = self.frames;
        (exchange.has_collided, exchange.is_undetected) = (false, false);
        for index in 0..self.exchanges.len() {
            let other = self.exchanges[index];
            if !matches!(other.phase, Phase::Frame | Phase::Answer)
                || other.ends <= begins
                || other.begins >= exchange.ends
            {
                continue;
            }
            let is_simultaneous = begins.since(other.begins) < PREAMBLE_DETECTION;
            self.overlaps.push((other.number, Other { from: sender, is_earlier: false }));
            self.overlaps.push((exchange.number, Other { from: other.sender, is_earlier: other.begins < begins }));
            if self.disturbs(sender, other.receiver) {
                self.exchanges[index].has_collided = true;
                self.exchanges[index].is_undetected |= is_simultaneous;
            }
            if self.disturbs(other.sender, exchange.receiver) {
                exchange.has_collided = true;
                exchange.is_undetected |= is_simultaneous;
            }
        }
        for view in self.views() {
            if self.reaches(sender, view) {
                self.contention.busy(view, begins);
            }
        }
        exchange
    }

    /// What `exchange` had on the air has ended. Those that could read it know how long the medium stays reserved; those that
    /// could not wait for EIFS.
    pub(super) fn go_off_air(
        &mut self,
        now: Instant,
        rules: &Rules,
        exchange: &Exchange,
        reserved: Duration,
        could_be_read: bool,
    ) {
        let extra = if could_be_read { Duration::ZERO } else { rules.unread_extra(exchange.is_undetected) };
        let reserved_until = now + if could_be_read { reserved } else { Duration::ZERO };
        if self.has_one_view {
            self.contention.reserve(0, reserved_until);
            self.contention.idle(0, now, extra);
            return;
        }
        for view in self.views() {
            if !self.reaches(exchange.sender, view) {
                continue;
            }
            let takes_part = view == exchange.sender || Some(view) == exchange.receiver;
            if !takes_part {
                self.contention.reserve(view, reserved_until);
            } else if rules.answers_late() && reserved_until > now {
                // Both know that the answer is yet to come, where nobody else could begin within SIFS.
                self.contention.reserve(view, now + rules.answer_space);
            }
            self.contention.idle(view, now, if view == exchange.sender { Duration::ZERO } else { extra });
        }
    }

    /// How what has ended arrives at its receiver.
    pub(super) fn link(&mut self, now: Instant, exchange: &Exchange, receiver: usize, kind: Kind) -> Link {
        let (from, mode) = (exchange.sender, exchange.mode);
        if self.overlaps.is_empty() {
            return self.reception.link(now, from, receiver, mode, kind);
        }
        let of_this = self.overlaps.iter().filter(|(number, _)| *number == exchange.number);
        let others: Vec<Other> = of_this.map(|(_, other)| *other).collect();
        self.reception.link_beside(now, from, receiver, mode, kind, &others)
    }

    /// Forget what overlapped with a frame that is over.
    pub(super) fn forget_overlaps(&mut self, exchange: &Exchange) {
        self.overlaps.retain(|(number, _)| *number != exchange.number);
    }

    /// Can `receiver` read a control frame that has ended?
    pub(super) fn is_control_read(&mut self, now: Instant, exchange: &Exchange, receiver: usize) -> bool {
        let mut link = self.link(now, exchange, receiver, Kind::Control);
        let success = link.header() * link.success(exchange.octets);
        self.happens(success)
    }

    /// Draws nothing where nothing is left to chance.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        probability >= 1.0 || (probability > 0.0 && self.errors.chance(probability))
    }
}
