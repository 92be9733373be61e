//! Processes acknowledgment numbers, which advance snd.una.

use super::Scoreboard;
use crate::recovery::delivery_rate::Newest;
use acklab_base::Instant;

/// The effect of a cumulative acknowledgment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Advance {
    /// The number of bytes by which snd.una advances.
    pub bytes: u64,
    /// The number of these bytes that SACK had not acknowledged before. Without SACK, the number of
    /// these bytes that no duplicate ACK represents.
    pub newly_delivered: u64,
    /// `true` if one of the segments had been retransmitted and was not selectively acknowledged.
    pub retransmission_acked: bool,
    /// The time at which the oldest of the segments was sent, if it was never retransmitted. The
    /// time since then includes the receiver's ACK delay, as does the age of the timestamp that the
    /// ACK echoes (RFC 7323, §4.1).
    pub sent_at: Option<Instant>,
    /// The times at which the oldest and the newest of the segments without SACK were sent. `None`
    /// if any segment was ever retransmitted (Linux's `first_ackt`, `last_ackt` and
    /// `FLAG_RETRANS_DATA_ACKED`).
    pub unsacked_sent: Option<(Instant, Instant)>,
}

impl Scoreboard {
    /// Acknowledges all data below `ack`.
    #[inline(always)]
    pub fn advance(&mut self, ack: u64) -> Advance {
        if self.is_in_order() && !self.keeps_outcomes {
            self.advance_in_order(ack)
        } else {
            self.advance_through_holes(ack)
        }
    }

    /// Returns `true` if all outstanding data were sent once, in order, and nothing is SACKed or
    /// lost.
    #[inline]
    #[must_use]
    pub const fn is_in_order(&self) -> bool {
        self.sacked | self.lost | self.dup_credit == 0 && self.una >= self.retransmitted_below
    }

    /// Acknowledges all data below `ack` if everything [is in order](Self::is_in_order).
    #[inline(always)]
    fn advance_in_order(&mut self, ack: u64) -> Advance {
        let bytes = ack - self.una;
        let mut advance = Advance { bytes, newly_delivered: bytes, ..Advance::default() };
        let mut newest = None;
        let mut segments = 0;
        while let Some(head) = self.segments.front()
            && head.end <= ack
        {
            if segments == 0 {
                advance.sent_at = Some(head.at);
            }
            segments += 1;
            newest = Some((head.number, head.at));
            self.segments.pop_front();
        }
        self.una = ack;
        if let Some((number, at)) = newest {
            advance.unsacked_sent = advance.sent_at.map(|first| (first, at));
            let delivery = &mut self.delivery;
            delivery.original_acked = ack - bytes < delivery.limits.recover;
            delivery.segments += segments;
            delivery.newest = Some(Newest { at, number, is_retransmission: false });
            (delivery.plausible, delivery.last_entered) = (newest, Some(at));
            if self.keeps_stamps
                && let Some(stamp) = self.stamps.drain(..segments as usize).next_back()
            {
                delivery.stamp = stamp;
            }
        }
        advance
    }

    #[inline(never)]
    fn advance_through_holes(&mut self, ack: u64) -> Advance {
        let mut advance = Advance { bytes: ack - self.una, ..Advance::default() };
        let (mut hole, mut was_retransmitted) = (None, false);
        let latest = self.delivery.limits.latest_of_cumulative();
        if let Some(head) = self.segments.front()
            && head.end <= ack
            && !head.ever_retransmitted
        {
            advance.sent_at = Some(head.at);
        }
        while self.una < ack
            && let Some(head) = self.segments.front().copied()
        {
            let start = self.una;
            let covered = head.end.min(ack) - start;
            self.uncount(&head, covered);
            self.una += covered;
            hole.get_or_insert(covered);
            if !head.sacked {
                advance.newly_delivered += covered;
            }
            if head.end > ack {
                break;
            }
            was_retransmitted |= head.ever_retransmitted;
            if head.sacked {
                self.sacked_segments -= 1;
            } else {
                self.note_delivered(0, start, &head, latest);
                let first = advance.unsacked_sent.map_or(head.at, |(first, _)| first);
                advance.unsacked_sent = Some((first, head.at));
            }
            advance.retransmission_acked |= head.retransmitted && !head.sacked;
            self.segments.pop_front();
            if self.keeps_stamps {
                self.stamps.pop_front();
            }
        }
        if was_retransmitted {
            advance.unsacked_sent = None;
        }
        while self.retransmissions.front().is_some_and(|(_, start)| *start < self.una) {
            self.retransmissions.pop_front();
        }
        // Without SACK, the first segment was missing, and duplicate ACKs represented the rest
        // (Linux's `tcp_remove_reno_sacks`; RFC 6582, §3.2, step 3, adds one segment back).
        let reported = self.dup_credit.min(advance.bytes - hole.unwrap_or_default());
        advance.newly_delivered -= reported;
        self.dup_credit = (self.dup_credit - reported).min(self.flight_size());
        advance
    }
}
