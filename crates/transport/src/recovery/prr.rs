//! Proportional rate reduction (RFC 9937, which replaces RFC 6937).
//!
//! In a recovery, the number of delivered bytes determines the number of bytes that may be sent.
//! While pipe is above ssthresh, the two are proportional. Otherwise they are equal, with one extra
//! segment on safe ACKs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RecoverFS: the amount in flight to which the reduction is proportional.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// snd.nxt − snd.una (RFC 6937, §3; ns-3).
    FlightSize,
    /// `FlightSize` minus the bytes that SACK showed to have left the network before this recovery
    /// (RFC 9937, §6).
    Pipe,
    /// The window before the loss (Linux's `prior_cwnd`). The proportional share is rounded to
    /// whole segments.
    Window,
}

/// The number of bytes that may be sent in addition to the delivered ones, once pipe is at or below
/// ssthresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// One segment on a safe ACK: snd.una advances and no further loss is detected (RFC 9937, §6;
    /// Linux).
    SafeAck,
    /// On an ACK of a retransmission: the bytes delivered since the recovery began, minus the bytes
    /// sent, plus one segment. On other ACKs: the bytes that this ACK delivered (ns-3's
    /// `TcpPrrRecovery`, SSRB).
    RetransmissionAcked,
}

/// The input of PRR on one ACK of a recovery. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of newly acknowledged bytes, cumulatively or selectively.
    pub delivered: u64,
    /// The estimated number of bytes in flight, after this ACK.
    pub pipe: u64,
    /// The target of the reduction.
    pub ssthresh: u64,
    /// `true` if snd.una advanced without new loss.
    pub is_safe: bool,
    /// `true` if a retransmission was acknowledged.
    pub retransmission_acked: bool,
}

/// The state of one recovery.
#[derive(Clone, Copy, Debug)]
pub struct Prr {
    bound: Bound,
    mss: u64,
    /// The unit to which the proportional share is rounded up, in bytes.
    unit: u64,
    recover_fs: u64,
    delivered: u64,
    out: u64,
}

impl Prr {
    /// Begins a recovery with `recover_fs` bytes in flight.
    #[must_use]
    pub fn new(bound: Bound, mss: u64, recover_fs: u64) -> Self {
        Self { bound, mss, unit: 1, recover_fs: recover_fs.max(1), delivered: 0, out: 0 }
    }

    /// Rounds the proportional share up to whole segments, as Linux's `tcp_cwnd_reduction` does.
    #[must_use]
    pub fn in_segments(self) -> Self {
        Self { unit: self.mss, ..self }
    }

    /// Returns the window after this ACK.
    pub fn on_ack(&mut self, progress: Progress) -> u64 {
        let Progress { delivered, pipe, ssthresh, is_safe, retransmission_acked } = progress;
        self.delivered += delivered;
        let may_send = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            let share = share.div_ceil(u128::from(self.recover_fs)) as u64;
            share.next_multiple_of(self.unit).saturating_sub(self.out)
        } else {
            let limit = match self.bound {
                Bound::SafeAck => {
                    let ahead = self.delivered.saturating_sub(self.out).max(delivered);
                    ahead + if is_safe { self.mss } else { 0 }
                }
                Bound::RetransmissionAcked if !retransmission_acked => delivered,
                // If more bytes were sent than delivered, ns-3's unsigned difference wraps and
                // exceeds the other operand of its `max`. So the whole difference is used.
                Bound::RetransmissionAcked => match self.delivered.checked_sub(self.out) {
                    Some(ahead) => ahead.max(delivered) + self.mss,
                    None => (self.delivered + self.mss).saturating_sub(self.out),
                },
            };
            limit.min(ssthresh - pipe)
        };
        // Force a fast retransmit on entering recovery.
        pipe + if self.out == 0 { may_send.max(self.mss) } else { may_send }
    }

    /// Records that `octets` bytes were sent.
    pub fn on_sent(&mut self, octets: u64) {
        self.out += octets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// One segment is lost in a window of 20, with target 10: one segment is sent per two
    /// delivered.
    #[test]
    fn the_reduction_is_proportional() {
        let mut prr = Prr::new(Bound::SafeAck, MSS, 20 * MSS);
        let (mut pipe, mut sent) = (19 * MSS, Vec::new());
        for _ in 0..18 {
            pipe -= MSS;
            let progress =
                Progress { delivered: MSS, pipe, ssthresh: 10 * MSS, is_safe: false, retransmission_acked: false };
            let count = (prr.on_ack(progress) - pipe) / MSS;
            prr.on_sent(count * MSS);
            pipe += count * MSS;
            sent.push(count);
        }
        assert_eq!(sent[..14], [1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], "the first is forced");
        assert_eq!(pipe, 10 * MSS);
    }

    /// One segment of five is lost and three are delivered. In Linux, a segment and one byte are
    /// rounded up to two segments.
    #[test]
    fn whole_segments_are_rounded_up() {
        let progress = Progress {
            delivered: 3 * MSS,
            pipe: 6 * MSS,
            ssthresh: 5 * MSS,
            is_safe: false,
            retransmission_acked: false,
        };
        assert_eq!(Prr::new(Bound::SafeAck, MSS, 10 * MSS).on_ack(progress), 7 * MSS + MSS / 2);
        assert_eq!(Prr::new(Bound::SafeAck, MSS, 10 * MSS).in_segments().on_ack(progress), 8 * MSS);
    }

    #[test]
    fn below_the_target_a_safe_ack_gains_a_segment() {
        let progress = |is_safe| Progress {
            delivered: MSS,
            pipe: 4 * MSS,
            ssthresh: 10 * MSS,
            is_safe,
            retransmission_acked: false,
        };
        let mut prr = Prr::new(Bound::SafeAck, MSS, 20 * MSS);
        prr.on_sent(5 * MSS);
        assert_eq!(prr.on_ack(progress(false)), 5 * MSS);
        assert_eq!(prr.on_ack(progress(true)), 6 * MSS);
    }

    #[test]
    fn it_never_exceeds_the_target() {
        let mut prr = Prr::new(Bound::SafeAck, MSS, 20 * MSS);
        prr.on_sent(MSS);
        let progress = Progress {
            delivered: 9 * MSS,
            pipe: 9 * MSS,
            ssthresh: 10 * MSS,
            is_safe: true,
            retransmission_acked: true,
        };
        assert_eq!(prr.on_ack(progress), 10 * MSS);
    }

    #[test]
    fn the_first_ack_always_allows_the_retransmission() {
        let mut prr = Prr::new(Bound::SafeAck, MSS, 20 * MSS);
        let progress =
            Progress { delivered: 0, pipe: 12 * MSS, ssthresh: 10 * MSS, is_safe: false, retransmission_acked: false };
        assert_eq!(prr.on_ack(progress), 13 * MSS);
    }
}
