//! PPDUs go on the air, and overlap.

use super::rules::Answer;
use super::{Cell, TxqId};
use crate::access::FunctionId;
use crate::config::Dialect;
use crate::originator::Mpdu;
use crate::packet::Packet;
use crate::phy::Mode;
use acklab_base::{Bytes, Instant};

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
    /// Another began before its preamble could be detected: nobody has read it, and nobody waits for EIFS.
    pub(super) is_undetected: bool,
    pub(super) txop_ends: Option<Instant>,
    pub(super) arrived: Arrived,
}

/// How much of a PPDU with data has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// Its MPDUs that have ended.
    pub(super) mpdus: usize,
    /// Octets up to the end of the last of them.
    pub(super) octets: Bytes,
    /// When the next one ends, if it goes up ahead of the PPDU's end.
    pub(super) next: Instant,
    /// Its header could be read, and any of its MPDUs.
    pub(super) is_heard: bool,
    pub(super) is_any_read: bool,
}

impl Default for Arrived {
    fn default() -> Self {
        Self { mpdus: 0, octets: Bytes::ZERO, next: Instant::FAR_FUTURE, is_heard: false, is_any_read: false }
    }
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
    /// MORE DATA: its sender has more for the same peer (9.2.4.1.8).
    pub(super) has_more: bool,
    /// Its sender has moved on without an answer to what it sent before.
    pub(super) is_sync: bool,
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
            has_more: false,
            is_sync: false,
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

impl<D: Packet> Cell<D> {
    /// What `exchange` says is on the air begins.
    pub(super) fn go_on_air(&mut self, mut exchange: Exchange) -> Exchange {
        exchange.arrived = Arrived::default();
        if self.rules.dialect == Dialect::Ns3 && exchange.step == Step::Data && exchange.phase == Phase::Frame {
            self.next_mpdu_goes_up(&mut exchange);
        }
        self.medium.go_on_air(exchange)
    }
}
