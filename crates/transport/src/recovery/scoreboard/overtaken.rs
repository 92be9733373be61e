//! Loss detection by time (RFC 8985): a later transmission has been delivered, and this one has
//! been outstanding for too long.

use super::Scoreboard;
use super::segment::Sent;
use acklab_base::{Duration, Instant};

/// The result of a search for losses by time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// The number of bytes newly marked lost.
    pub lost: u64,
    /// `true` if a retransmission was marked lost.
    pub retransmissions_lost: bool,
    /// The time until all other overtaken transmissions will have been outstanding for too long, if
    /// there are any.
    pub wait: Option<Duration>,
}

impl Scoreboard {
    /// Returns `false` only if no outstanding segment was sent before transmission number `newest`.
    /// May return `true` otherwise.
    #[inline]
    #[must_use]
    pub fn may_have_overtaken(&self, newest: u64) -> bool {
        !self.retransmissions.is_empty() || self.segments.front().is_some_and(|head| head.number < newest)
    }

    /// Marks as lost every transmission, including retransmissions, that was sent before the
    /// delivered transmission number `newest` and at least `reach` ago (RFC 8985, §6.2, step 5).
    pub fn detect_by_time(&mut self, now: Instant, newest: u64, reach: Duration) -> Detected {
        let before = self.lost_unsent;
        let last = self.examine_retransmissions(now, newest, reach);
        let retransmissions_lost = self.lost_unsent > before;
        let last = last.max(self.examine_originals(now, newest, reach));
        let wait = last.map(|at| (at + reach).since(now));
        Detected { lost: self.lost_unsent - before, retransmissions_lost, wait }
    }

    /// Marks as lost the retransmissions that were sent at least `reach` ago. Returns the sending
    /// time of the last retransmission before `newest` that is not lost.
    fn examine_retransmissions(&mut self, now: Instant, newest: u64, reach: Duration) -> Option<Instant> {
        let mut last = None;
        let mut entry = 0;
        while let Some((number, start)) = self.retransmissions.get(entry).copied() {
            let index = self.index_at(start);
            let is_out = |segment: &&Sent| segment.number == number && segment.retransmitted && !segment.sacked;
            match self.segments.get(index).filter(is_out).map(|segment| segment.at) {
                None if entry == 0 => {
                    self.retransmissions.pop_front();
                }
                Some(_) if number >= newest => break,
                Some(at) if entry == 0 && at + reach <= now => {
                    self.retransmissions.pop_front();
                    self.mark_retransmission_lost(index);
                }
                Some(at) => {
                    last = Some(at);
                    entry += 1;
                }
                None => entry += 1,
            }
        }
        last
    }

    /// Marks as lost the segments that were sent once, at least `reach` ago. Returns the sending
    /// time of the last one before `newest` that is not lost.
    fn examine_originals(&mut self, now: Instant, newest: u64, reach: Duration) -> Option<Instant> {
        let mut last = None;
        let from = self.examined.max(self.una);
        for index in self.index_at(from)..self.segments.len() {
            let segment = self.segments[index];
            if !(segment.ever_retransmitted || segment.sacked || segment.lost) {
                if segment.number >= newest {
                    break;
                }
                if last.is_some() || segment.at + reach > now {
                    last = Some(segment.at);
                    continue;
                }
                self.mark_lost(index);
            }
            if last.is_none() {
                self.examined = segment.end;
            }
        }
        last
    }
}
