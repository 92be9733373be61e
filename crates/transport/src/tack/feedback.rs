//! Handles TACKs and IACKs.

use super::close::PROTOCOL_VIOLATION;
use super::connection::Connection;
use super::refusal::Refusal;
use crate::recovery::manager::Report;
use acklab_base::Instant;
use acklab_base::event::Closing;
use acklab_wire::tack::{Loss, Tack, Timestamp};

impl Connection {
    /// Handles a TACK. `number` is the number of its packet, and `arrived` is the arrival time by
    /// the clock of this end.
    pub(super) fn on_tack(
        &mut self,
        now: Instant,
        arrived: Timestamp,
        number: u64,
        tack: &Tack,
    ) -> Result<(), Refusal> {
        let told = self.sender.on_tack(now, arrived, number, tack).map_err(|refusal| self.on_refusal(refusal))?;
        if let Some(rtt) = told.rtt {
            self.receiver.time_connection(now, rtt);
        }
        self.settle(now, &told.report);
        // The idle sender also calls this, but other streams may keep the sender busy.
        self.await_windows(now);
        self.sender.note_wait(now, told.next);
        if told.rtt.is_some() {
            self.sender.on_packets_of_peer(now, self.receiver.expected_and_lost());
        }
        Ok(())
    }

    /// Handles a loss-event-driven IACK.
    pub(super) fn on_loss(&mut self, now: Instant, loss: &Loss) -> Result<(), Refusal> {
        let told = self.sender.on_loss(now, loss).map_err(|refusal| self.on_refusal(refusal))?;
        self.settle(now, &told.report);
        self.sender.note_wait(now, told.next);
        Ok(())
    }

    fn settle(&mut self, now: Instant, report: &Report) {
        self.sender.settle(now, report, &mut self.streams, &mut self.mtu, &mut self.path, &mut self.events);
        self.note_finished();
    }

    /// Ends the connection if the peer acknowledges a skipped number. The peer cannot have received
    /// that number.
    fn on_refusal(&mut self, refusal: Refusal) -> Refusal {
        if refusal == Refusal::Skipped {
            self.close_for(Closing::ProtocolViolation, PROTOCOL_VIOLATION);
        }
        refusal
    }
}
