//! Proportional rate reduction (RFC 9937; before it RFC 6937).
//!
//! In a recovery, what may be sent follows from what is delivered. While pipe is above ssthresh, it
//! is proportional. Then it is as much as was delivered, and one segment more on safe ACKs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RecoverFS: the flight that the reduction is proportional to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// snd.nxt − snd.una (RFC 6937, §3; ns-3).
    FlightSize,
    /// `FlightSize` less what SACK had shown to have left the network before this recovery (RFC
    /// 9937, §6).
    Pipe,
    /// The window before the loss (Linux's `prior_cwnd`), and the share of it in whole segments.
    Window,
}

/// How much may be sent beyond what was delivered, once pipe is at or below ssthresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// One segment on a safe ACK: snd.una advances and no further loss is seen (RFC 9937, §6;
    /// Linux).
    SafeAck,
    /// What was delivered since recovery began less what was sent, and one segment more, on an ACK
    /// of a retransmission; otherwise what this ACK delivered (ns-3's `TcpPrrRecovery`, SSRB).
    RetransmissionAcked,
}

/// The input of PRR on one ACK of a recovery. Sizes in octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Newly acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Estimated to be in flight, after this ACK.
    pub pipe: u64,
    /// Target of the reduction.
    pub ssthresh: u64,
    /// snd.una advanced without new loss.
    pub is_safe: bool,
    /// A retransmission was acknowledged.
    pub retransmission_acked: bool,
}

/// The state of one recovery.
#[derive(Clone, Copy, Debug)]
pub struct Prr {
    bound: Bound,
    mss: u64,
    /// The unit to which the proportional share is rounded up, in octets.
    unit: u64,
    recover_fs: u64,
    delivered: u64,
    out: u64,
}

impl Prr {
    /// Begins a recovery with `recover_fs` octets in flight.
    #[must_use]
    pub fn new(bound: Bound, mss: u64, recover_fs: u64) -> Self {
        Self { bound, mss, unit: 1, recover_fs: recover_fs.max(1), delivered: 0, out: 0 }
    }

    /// The same, counting in whole segments, as Linux's `tcp_cwnd_reduction` does: the proportional
    /// share is rounded up to one.
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
                // Where more was sent than delivered, ns-3's unsigned difference wraps and exceeds
                // the other operand of its `max`, so the whole difference counts.
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

    /// Records that `octets` were sent.
    pub fn on_sent(&mut self, octets: u64) {
        self.out += octets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// One loss in a window of 20, target 10: for each two segments delivered, one is sent.
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

    /// One of five, three delivered: an octet more than a segment is two for Linux.
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
