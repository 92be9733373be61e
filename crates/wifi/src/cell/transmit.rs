//! PPDUs go on the air, and overlap.

use super::rules::Answer;
use super::{Cell, TxqId};
use crate::access::FunctionId;
use crate::originator::Mpdu;
use crate::phy::Mode;
use crate::reception::Other;
use acklab_base::{Bytes, Datagram, Duration, Instant};

/// Those that begin within this time of each other do not hear each other's preamble (aCCATime of OFDM, 17.4.4): nobody can read
/// either, and nobody waits for EIFS.
const PREAMBLE_DETECTION: Duration = Duration::from_micros(4);

/// A frame exchange that is under way: what is on the air, and what comes next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) function: FunctionId,
    pub(super) txq: TxqId,
    pub(super) step: Step,
    pub(super) phase: Phase,
    /// What is on the air, begins and ends.
    pub(super) begins: Instant,
    pub(super) ends: Instant,
    pub(super) sender: usize,
    /// The one for whom it is; none for all.
    pub(super) receiver: Option<usize>,
    pub(super) mode: Mode,
    pub(super) octets: Bytes,
    pub(super) answer: Answer,
    /// How the PPDU with data is sent and answered, while something goes ahead of it.
    pub(super) data: Data,
    /// Which frame of the cell it is, if it overlaps with others.
    pub(super) number: u64,
    /// Another overlapped with it that its receiver hears.
    pub(super) has_collided: bool,
    /// Another began at the same time, so that nobody has read its preamble.
    pub(super) is_undetected: bool,
    pub(super) txop_ends: Option<Instant>,
}

/// A PPDU with data as it was put together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) mode: Mode,
    pub(super) octets: Bytes,
    pub(super) answer: Answer,
    /// Octets of its packets, and of those the pure ACKs'.
    pub(super) bytes: Bytes,
    pub(super) ack_octets: Bytes,
    /// Frames with data, and those that were never sent before.
    pub(super) frames: u32,
    pub(super) first_tries: u32,
    /// RTS goes ahead of it.
    pub(super) wants_rts: bool,
}

impl Data {
    /// A PPDU that carries no data.
    pub(super) const fn none(mode: Mode, octets: Bytes, answer: Answer) -> Self {
        Self {
            mode,
            octets,
            answer,
            bytes: Bytes::ZERO,
            ack_octets: Bytes::ZERO,
            frames: 0,
            first_tries: 0,
            wants_rts: false,
        }
    }

    /// One more frame is in it.
    pub(super) fn add<D>(&mut self, frame: &Mpdu<D>) {
        self.bytes += frame.bytes;
        self.ack_octets += Bytes(u64::from(frame.pure_ack_octets));
        self.frames += 1;
        self.first_tries += u32::from(frame.failures == 0);
    }
}

/// What the initiator sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Beacon,
    CtsToSelf,
    Rts,
    Data,
    Request,
}

/// Who has the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The initiator sends.
    Frame,
    /// SIFS before an answer, where not all hear each other.
    BeforeAnswer,
    /// The receiver answers.
    Answer,
    /// SIFS before the initiator sends again, where not all hear each other.
    BeforeFrame,
}

impl<D: Datagram + Clone> Cell<D> {
    /// Runs `change` on each view that hears `node`, its own included.
    fn views_that_hear(&self, node: usize) -> impl Iterator<Item = usize> + use<'_, D> {
        let views = if self.has_one_view { 0..1 } else { 0..self.counters.len() };
        views.filter(move |view| self.has_one_view || *view == node || self.reception.hears(*view, node))
    }

    /// What `exchange` says is on the air begins. Those that it overlaps with are lost to those that hear both.
    pub(super) fn go_on_air(&mut self, mut exchange: Exchange) -> Exchange {
        let (begins, sender) = (exchange.begins, exchange.sender);
        self.frames += 1;
        exchange.number = self.frames;
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
        if self.has_one_view {
            self.contention.busy(0, begins);
        } else {
            let views: Vec<usize> = self.views_that_hear(sender).collect();
            views.into_iter().for_each(|view| self.contention.busy(view, begins));
        }
        exchange
    }

    /// Does `receiver` hear what `interferer` sends?
    fn disturbs(&self, interferer: usize, receiver: Option<usize>) -> bool {
        receiver.is_none_or(|receiver| receiver == interferer || self.reception.hears(receiver, interferer))
    }

    /// What `exchange` had on the air has ended. Those that could read it know how long the medium stays reserved; those that
    /// could not wait for EIFS.
    pub(super) fn go_off_air(&mut self, now: Instant, exchange: &Exchange, reserved: Duration, could_be_read: bool) {
        let is_readable = could_be_read;
        let extra = if is_readable || exchange.is_undetected {
            Duration::ZERO
        } else {
            self.rules.timing.eifs_extra(self.rules.control.lowest(), crate::frame::ACK)
        };
        let reserved_until = now + if is_readable { reserved } else { Duration::ZERO };
        if self.has_one_view {
            self.contention.reserve(0, reserved_until);
            self.contention.idle(0, now, extra);
            return;
        }
        let views: Vec<usize> = self.views_that_hear(exchange.sender).collect();
        for view in views {
            let takes_part = view == exchange.sender || Some(view) == exchange.receiver;
            if !takes_part {
                self.contention.reserve(view, reserved_until);
            }
            self.contention.idle(view, now, if view == exchange.sender { Duration::ZERO } else { extra });
        }
    }
}
