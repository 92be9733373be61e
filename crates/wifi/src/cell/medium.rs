//! The medium: the PPDUs on the air, and which nodes sense and receive them.

use super::dialect::CollidingSenders;
use super::exchange::FrameKind;
use super::exchange::{Exchange, Phase};
use super::overlaps::Overlaps;
use super::rules::Rules;
use crate::access::Contention;
use crate::config::EifsAfterCollision;
use crate::reception::{Interferer, Kind, Link, Reception};
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant};
use std::ops::Range;

/// Frame exchanges in progress, and how the nodes sense and receive them.
#[derive(Clone, Debug)]
pub(super) struct Medium {
    pub(super) contention: Contention,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) reception: Reception,
    nodes: usize,
    /// `true` if all nodes sense each other, so that they share one view of the medium.
    pub(super) has_one_view: bool,
    overlaps: Overlaps,
    /// The number of PPDUs sent so far.
    frames: u64,
    /// The time after which each node senses a transmission.
    cca: Vec<Duration>,
    errors: Stream,
}

impl Medium {
    /// Creates the medium. `cca` is the time after which each node senses a transmission.
    pub(super) fn new(cca: Vec<Duration>, rules: &Rules, reception: Reception, errors: Stream) -> Self {
        let nodes = cca.len();
        let is_by_power = rules.eifs_after_collision == EifsAfterCollision::PreambleDetection && reception.has_powers();
        let has_one_view = !is_by_power
            && !rules.nav_is_inexact()
            && (0..nodes).all(|at| (0..nodes).all(|of| at == of || reception.hears(at, of)));
        let views = if has_one_view { 1 } else { nodes };
        Self {
            contention: Contention::new(rules.timing.slot, rules.has_qos, views),
            exchanges: Vec::new(),
            reception,
            nodes,
            has_one_view,
            overlaps: Overlaps::default(),
            frames: 0,
            cca,
            errors,
        }
    }

    /// Returns when the next PPDU, MPDU, space before a PPDU, or backoff ends.
    #[inline]
    pub(super) fn due(&self) -> Option<Instant> {
        let ends = self.exchanges.iter().map(|exchange| exchange.ends.min(exchange.arrived.next)).min();
        Instant::earliest(ends, self.contention.due())
    }

    /// Returns a node's view of the medium.
    pub(super) const fn view_of(&self, node: usize) -> usize {
        if self.has_one_view { 0 } else { node }
    }

    /// Returns the views of the medium.
    const fn views(&self) -> Range<usize> {
        0..if self.has_one_view { 1 } else { self.nodes }
    }

    /// Returns `true` if `view` senses the transmissions of `node`. A node senses its own
    /// transmission.
    fn reaches(&self, node: usize, view: usize) -> bool {
        self.has_one_view || view == node || self.reception.hears(view, node)
    }

    /// Returns `true` if transmissions of `interferer` interfere at `receiver`.
    fn disturbs(&self, interferer: usize, receiver: Option<usize>) -> bool {
        receiver.is_none_or(|receiver| receiver == interferer || self.reception.hears(receiver, interferer))
    }

    /// Returns `true` if this node has begun to transmit.
    pub(super) fn is_sending(&self, node: usize) -> bool {
        self.exchanges.iter().any(|exchange| exchange.sender == node)
    }

    /// Returns `true` if `node` will send a response frame after the current SIFS.
    pub(super) fn is_about_to_respond(&self, now: Instant, node: usize) -> bool {
        self.exchanges.iter().any(|exchange| {
            exchange.sender == node
                && now < exchange.begins
                && matches!(exchange.phase, Phase::BeforeResponse | Phase::Response)
        })
    }

    /// Starts the PPDU of `exchange`. A receiver that senses two overlapping PPDUs loses both.
    pub(super) fn go_on_air(&mut self, mut exchange: Exchange) -> Exchange {
        let (begins, sender) = (exchange.begins, exchange.sender);
        self.frames += 1;
        exchange.number = self.frames;
        (exchange.has_collided, exchange.is_undetected, exchange.is_outlasted) = (false, false, false);
        for index in 0..self.exchanges.len() {
            let other = self.exchanges[index];
            if !matches!(other.phase, Phase::Frame | Phase::Response)
                || other.ends <= begins
                || other.begins >= exchange.ends
            {
                continue;
            }
            let is_simultaneous = begins == other.begins || begins.since(other.begins) < self.cca[sender];
            self.exchanges[index].is_outlasted |=
                exchange.ends >= other.ends && self.disturbs(sender, Some(other.sender));
            exchange.is_outlasted |= other.ends >= exchange.ends && self.disturbs(other.sender, Some(sender));
            self.overlaps.add(other.number, Interferer { from: sender, is_earlier: false });
            self.overlaps.add(exchange.number, Interferer { from: other.sender, is_earlier: other.begins < begins });
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

    /// Ends the PPDU of `exchange`. Nodes that decoded it set their NAV for `reserved`; nodes that
    /// could not decode it defer for EIFS.
    pub(super) fn go_off_air(
        &mut self,
        now: Instant,
        rules: &Rules,
        exchange: &Exchange,
        reserved: Duration,
        is_read: bool,
    ) {
        let is_read = is_read || self.is_read_by_others(now, exchange);
        let holder = exchange.initiator();
        let until = now + if is_read { reserved } else { Duration::ZERO };
        let is_rts = is_read && exchange.kind == FrameKind::Rts && exchange.phase == Phase::Frame;
        let reset = is_rts.then(|| now + rules.nav_timeout(rules.control.response_to(exchange.mode)));
        if self.has_one_view {
            self.contention.reserve(0, until, holder, reset);
            self.contention.idle(0, now, rules.rx_end(is_read, rules.detects(exchange)));
            return;
        }
        for view in self.views() {
            if !self.reaches(exchange.sender, view) {
                continue;
            }
            let is_participant = view == exchange.sender || Some(view) == exchange.receiver;
            if !is_participant {
                self.contention.reserve(view, until, holder, reset);
            } else if rules.has_late_responses() && until > now {
                // The two nodes of the exchange expect the response frame, so their EDCAFs do not
                // start within the space before it.
                self.contention.reserve(view, now + rules.response_space, holder, None);
            }
            let end = if view == exchange.sender {
                rules.rx_end(is_read || !rules.defers_as_sender(exchange), true)
            } else {
                rules.rx_end(is_read, !is_read && self.detects(now, rules, exchange, view))
            };
            self.contention.idle(view, now, end);
        }
    }

    /// Returns `true` if bystanders decode a PPDU that its receiver does not decode: the receiver
    /// is absent and no other PPDU overlaps.
    fn is_read_by_others(&self, now: Instant, exchange: &Exchange) -> bool {
        !exchange.has_collided && exchange.receiver.is_some_and(|receiver| self.reception.is_absent(now, receiver))
    }

    /// Returns `true` if the node at `view` began to receive a PPDU that it could not decode.
    fn detects(&self, now: Instant, rules: &Rules, exchange: &Exchange, view: usize) -> bool {
        if !exchange.is_undetected {
            return true;
        }
        let overlaps = self.overlaps.with(exchange.number);
        // The senders of the collision were transmitting. Under some dialects they receive the
        // remainder after the end of their own frames.
        let receives_rest = rules.dialect.colliding_senders == CollidingSenders::DeferIfOutlasted
            && !self.exchanges.iter().any(|other| other.sender == view && other.ends > now);
        let has_sent = !receives_rest && overlaps.iter().any(|other| other.from == view);
        match rules.eifs_after_collision {
            EifsAfterCollision::None => false,
            EifsAfterCollision::Always => !has_sent,
            EifsAfterCollision::PreambleDetection => {
                !has_sent && self.reception.detects_preamble(now, exchange.sender, view, exchange.mode, overlaps)
            }
        }
    }

    /// Returns `true` if the receiver of an RTS withholds the CTS because its NAV is set
    /// (10.3.2.9). If all nodes share one view, a NAV that is set belongs to an earlier exchange of
    /// the initiator.
    pub(super) fn withholds_cts(&self, now: Instant, exchange: &Exchange) -> bool {
        let receiver = exchange.receiver.filter(|_| exchange.kind == FrameKind::Rts && !self.has_one_view);
        receiver.is_some_and(|receiver| self.contention.forbids_cts(receiver, now, exchange.sender))
    }

    /// Returns the reception of a PPDU that has ended.
    pub(super) fn link(&mut self, now: Instant, exchange: &Exchange, receiver: usize, kind: Kind) -> Link {
        let (from, mode) = (exchange.sender, exchange.mode);
        if self.overlaps.is_empty() {
            return self.reception.link(now, from, receiver, mode, kind);
        }
        self.reception.link_beside(now, from, receiver, mode, kind, self.overlaps.with(exchange.number))
    }

    /// Discards the overlaps of a PPDU that has ended.
    pub(super) fn forget_overlaps(&mut self, exchange: &Exchange) {
        self.overlaps.forget(exchange.number);
    }

    /// Returns `true` if `receiver` decodes a control frame that has ended.
    pub(super) fn is_control_read(&mut self, now: Instant, exchange: &Exchange, receiver: usize) -> bool {
        let mut link = self.link(now, exchange, receiver, Kind::Control);
        let success = link.header() * link.success(exchange.octets);
        self.draw(success)
    }

    /// Returns `true` with this probability. If the probability is 0 or 1, no random number is
    /// drawn.
    pub(super) fn draw(&mut self, probability: f64) -> bool {
        probability >= 1.0 || (probability > 0.0 && self.errors.chance(probability))
    }
}
