//! Round-trip times from ACKs (RFC 6298, §3 and §4; RFC 7323, §4).

use super::super::config::RttClock;
use super::super::rules::SackRestart;
use super::Sender;
use super::summary::AckSummary;
use crate::recovery::scoreboard::Advance;
use acklab_base::{Duration, Instant};
use acklab_wire::tcp::Segment;

/// The measurement of an ACK.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// The sample for SRTT and the retransmission timeout.
    rtt: Duration,
    /// The sample for the minimum round trip, if it differs.
    least: Duration,
}

impl Sender {
    /// Takes a sample, if the ACK yields one. Retransmitted segments yield none (Karn's algorithm).
    #[inline(always)]
    pub(super) fn sample_rtt(
        &mut self,
        now: Instant,
        segment: &Segment,
        advance: &Advance,
        newly_sacked_sent: Option<(Instant, Instant)>,
    ) -> Option<Duration> {
        let Sample { rtt, least } = match self.config.rtt_clock {
            RttClock::Timestamps => {
                let rtt = self.connection.measure(now, advance.sent_at?, segment);
                Sample { rtt, least: rtt }
            }
            RttClock::SendTimes => self.sample_of_send_times(now, segment, advance, newly_sacked_sent)?,
        };
        self.timing.sample(rtt, least, self.board.una(), self.board.nxt());
        self.loss.probe.awaits_measurement = false;
        Some(rtt)
    }

    /// Returns the sample of Linux's `tcp_clean_rtx_queue` and `tcp_ack_update_rtt`.
    ///
    /// The sample is the age of the oldest segment that this ACK is the first to acknowledge,
    /// unless any that it covers was retransmitted. Otherwise it is that of the oldest segment that
    /// it SACKs. If there is none and the ACK advances, it is the age of the timestamp that it
    /// echoes. The minimum round trip is measured with the youngest segment, which waited least for
    /// the ACK.
    #[inline]
    fn sample_of_send_times(
        &mut self,
        now: Instant,
        segment: &Segment,
        advance: &Advance,
        sacked: Option<(Instant, Instant)>,
    ) -> Option<Sample> {
        let acked = advance.unsacked_sent;
        if let (Some((first, last)), None) | (None, Some((first, last))) = (acked, sacked) {
            return Some(Sample { rtt: now.since(first), least: now.since(last) });
        }
        if let (Some((first, _)), Some((_, last))) = (acked, sacked) {
            return Some(Sample { rtt: now.since(first), least: now.since(last) });
        }
        let rtt = if advance.bytes > 0 { self.connection.age_of_echo(now, segment)? } else { return None };
        Some(Sample { rtt, least: rtt })
    }

    /// Returns `true` if an ACK that yields a sample restarts the timer although it does not
    /// advance snd.una: it SACKs a segment that left before the head's last transmission.
    pub(super) fn restarts_timer(&self, summary: &AckSummary) -> bool {
        let sacked = summary.newly_sacked_sent.map(|(first, _)| first);
        self.rules.sack_restart == SackRestart::BeforeHead
            && summary.advance.bytes == 0
            && sacked.zip(self.board.head_sent_at()).is_some_and(|(sacked, head)| sacked < head)
    }
}
