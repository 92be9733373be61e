//! The actions of the sender's timers.

use super::super::rules::SynBackoff;
use super::{Phase, Sender};
use crate::recovery::alarm::Alarm;
use acklab_base::{Event, Instant};

/// Linux's `tcp_syn_linear_timeouts`.
const LINEAR_SYN_TIMEOUTS: u32 = 4;

impl Sender {
    pub(super) fn wake_timers(&mut self, now: Instant) {
        self.transmission.is_spent = false;
        if self.give_up(now) {
            return;
        }
        if self.connection.phase == Phase::Established {
            self.congestion.control.wake(now, self.board.pipe());
        }
        if self.loss.rack.reordering_timer.expire(now) {
            self.reordering_timeout(now);
        }
        if self.loss.probe.timeout.expire(now) {
            self.schedule_tail_probe();
        } else if let Some(expiries) = self.timing.rto.expire(now) {
            match self.connection.phase {
                phase @ (Phase::SynSent | Phase::SynReceived) => {
                    let is_linear = self.rules.syn_backoff == SynBackoff::FifthExpiry;
                    if phase == Phase::SynSent && is_linear && expiries <= LINEAR_SYN_TIMEOUTS {
                        self.timing.rto.end_backoff();
                    }
                    self.connection.syn_due = true;
                    self.events.push_back(Event::SynTimeout);
                }
                _ => {
                    self.note_stall(now);
                    self.retransmission_timeout(now, expiries);
                }
            }
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let own = match self.connection.phase {
            Phase::Established => self.transmission.paced_until.earlier(self.congestion.control.alarm()),
            Phase::Closed | Phase::Listen | Phase::SynSent | Phase::SynReceived => Alarm::NEVER,
            Phase::Finished | Phase::Aborted => return None,
        };
        let recovery = self.loss.rack.reordering_timer.earlier(self.loss.probe.timeout);
        own.earlier(recovery).earlier(self.timing.rto.alarm()).earlier(self.user_timeout.alarm()).at()
    }
}
