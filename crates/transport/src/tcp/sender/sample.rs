//! Round-trip times from ACKs (RFC 6298, §3 and §4; RFC 7323, §4).

use super::super::config::RttClock;
use super::super::rules::SackRestart;
use super::Sender;
use super::summary::AckSummary;
use crate::recovery::scoreboard::Advance;
use acklab_base::{Duration, Instant};
use acklab_wire::tcp::Segment;

/// The round-trip samples of an ACK.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// The sample for SRTT and for the retransmission timeout.
    rtt: Duration,
    /// The sample for the minimum round-trip time, which may differ.
    least: Duration,
}

impl Sender {
    /// Records a sample if the ACK yields a sample. Retransmitted segments yield no sample (Karn's
    /// algorithm).
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
    /// If the ACK is the first to cover segments cumulatively, the sample is the age of the oldest
    /// of them, unless any was retransmitted. Otherwise, the sample is the age of the oldest newly
    /// SACKed segment. Without such a segment, an ACK that advances snd.una yields the age of its
    /// echoed timestamp. The minimum round-trip time is measured with the youngest segment, whose
    /// ACK was delayed least.
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

    /// Returns `true` if an ACK with a sample restarts the timer without advancing snd.una. Such an
    /// ACK SACKs a segment that was sent before the head's last transmission.
    pub(super) fn restarts_timer(&self, summary: &AckSummary) -> bool {
        let sacked = summary.newly_sacked_sent.map(|(first, _)| first);
        self.rules.sack_restart == SackRestart::BeforeHead
            && summary.advance.bytes == 0
            && sacked.zip(self.board.head_sent_at()).is_some_and(|(sacked, head)| sacked < head)
    }
}
