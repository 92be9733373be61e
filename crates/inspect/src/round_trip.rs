//! Round-trip times on either side of the point of capture.
//!
//! A point between the ends sees two parts of a round trip (Veal, Li, Lowenthal, *New Methods for Passive Estimation of TCP Round-Trip
//! Times*, PAM 2005; Jiang and Dovrolis, *Passive Estimation of TCP Round-Trip Times*, CCR 32(3), 2002): from the point to the receiver and back,
//! by data and the ACK that covers them; and from the point to the sender and back, by the timestamp of an ACK and the data that echo it
//! (RFC 7323, §3). The handshake has both, with small packets. At the sender the second part is nearly nothing, at the receiver the first.

use crate::quantiles::Quantiles;
use crate::quic::spin::Whole;
use acklab_wire::tcp::Timestamps;
use std::collections::VecDeque;

/// Timestamps of ACKs that wait for their echo.
const MOST_STAMPS: usize = 4096;

/// Round-trip times of one direction of data.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrip {
    /// From the point to the receiver and back.
    pub(crate) ahead: Quantiles,
    /// From the point to the sender and back.
    pub(crate) behind: Quantiles,
    /// Whole round trips, by the spin bit of QUIC.
    pub(crate) whole: Quantiles,
    least_ahead: Option<u64>,
    least_behind: Option<u64>,
    /// Timestamps of the receiver, with the instant at which each was seen first.
    stamps: VecDeque<(u32, u64)>,
    /// The newest timestamp of the receiver, echoed or not.
    newest: Option<u32>,
}

impl RoundTrip {
    /// A round trip from the point to the receiver and back took this long.
    pub(crate) fn ahead(&mut self, nanos: u64) {
        self.ahead.add(nanos);
        least(&mut self.least_ahead, nanos);
    }

    /// As [`behind`](Self::behind), for packets of a handshake.
    pub(crate) fn handshake_behind(&mut self, nanos: u64) {
        least(&mut self.least_behind, nanos);
    }

    /// As [`ahead`](Self::ahead), for packets of a handshake, which wait in no queue of their own connection.
    pub(crate) fn handshake_ahead(&mut self, nanos: u64) {
        least(&mut self.least_ahead, nanos);
    }

    /// A round trip from the point to the sender and back took this long.
    pub(crate) fn behind(&mut self, nanos: u64) {
        self.behind.add(nanos);
        least(&mut self.least_behind, nanos);
    }

    /// The spin bit has told a whole round trip. It counts for each of its packets, as round trips by ACKs do.
    pub(crate) fn whole(&mut self, whole: Whole) {
        self.whole.add_many(whole.nanos, whole.packets);
    }

    /// The receiver has sent a packet with this timestamp.
    #[inline]
    pub(crate) fn stamp(&mut self, at: u64, clocks: Option<Timestamps>) {
        let Some(Timestamps { value, .. }) = clocks else { return };
        if self.newest.is_none_or(|newest| is_after(value, newest)) {
            self.newest = Some(value);
            if self.stamps.len() == MOST_STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back((value, at));
        }
    }

    /// The sender has sent data that echo a timestamp.
    #[inline]
    pub(crate) fn echo(&mut self, at: u64, clocks: Option<Timestamps>) {
        let Some(Timestamps { echo, .. }) = clocks else { return };
        while let Some(&(value, since)) = self.stamps.front() {
            if is_after(value, echo) {
                break;
            }
            self.stamps.pop_front();
            if value == echo {
                self.behind(at.saturating_sub(since));
            }
        }
    }

    /// The shortest times seen on the receiver's and on the sender's side, in nanoseconds.
    pub(crate) const fn least(&self) -> (Option<u64>, Option<u64>) {
        (self.least_ahead, self.least_behind)
    }
}

fn least(so_far: &mut Option<u64>, nanos: u64) {
    *so_far = Some(so_far.map_or(nanos, |least| least.min(nanos)));
}

const fn is_after(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_tells_the_side_of_the_sender() {
        let mut times = RoundTrip::default();
        let clocks = |value, echo| Some(Timestamps { value, echo });
        times.stamp(1_000, clocks(10, 0));
        times.stamp(2_000, clocks(10, 0));
        times.stamp(3_000, clocks(11, 0));
        // The first data that echo 10 answer the packet in which 10 was seen first.
        times.echo(6_000, clocks(0, 10));
        times.echo(7_000, clocks(0, 10));
        assert_eq!(times.least(), (None, Some(5_000)));
        times.echo(7_500, clocks(0, 11));
        assert_eq!(times.least(), (None, Some(4_500)));
        // Another packet of the same tick, after the first was echoed.
        times.stamp(8_000, clocks(11, 0));
        times.echo(8_010, clocks(0, 11));
        assert_eq!(times.least(), (None, Some(4_500)));
    }
}
