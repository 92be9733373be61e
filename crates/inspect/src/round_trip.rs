//! Round-trip times on either side of the point of capture.
//!
//! A point between the ends sees two parts of a round trip (Veal, Li, Lowenthal, *New Methods for
//! Passive Estimation of TCP Round-Trip Times*, PAM 2005; Jiang and Dovrolis, *Passive Estimation
//! of TCP Round-Trip Times*, CCR 32(3), 2002). From the point to the receiver and back, it is
//! measured by data and the ACK that covers them. From the point to the sender and back, it is
//! measured by the timestamp of an ACK and the data that echo it (RFC 7323, §3). The handshake
//! gives both parts, with small packets. The ACK of a FIN is used only for the minimum. At the
//! sender, the second part is nearly zero; at the receiver, the first.
//!
//! A response may be sent long after its cause has arrived. Data echo a timestamp when the
//! application writes them, which may be much later. Such data are used only if the sender had more
//! data to send, because then the ACK released them. The echo of a retransmission is as ambiguous
//! as its ACK (Karn's rule). A receiver may delay the ACK of a lone segment by up to 500 ms (RFC
//! 9293, §3.8.6.3; RFC 5681, §4.2), so such samples are used only for the minimum.

use crate::quantiles::Quantiles;
use crate::quic::spin::Whole;
use acklab_base::is_after;
use acklab_wire::tcp::Timestamps;
use std::collections::VecDeque;

/// The maximum number of ACKs' timestamps whose echoes are awaited.
const MAX_STAMPS: usize = 4096;

/// The maximum ratio of a sender's pause to the sample that it may have extended.
const LULL: f64 = 0.1;

/// A packet of the sender that echoes a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    /// A pure ACK. It responds to data of the receiver, but may be delayed. It is therefore used
    /// only for the minimum.
    Ack,
    /// New data of a sender that had more data to send.
    Released,
    /// New data that the application may have written later. The field is the time since other data
    /// passed, in nanoseconds.
    Written(Option<u64>),
    /// A retransmission or a probe.
    Repeated,
}

/// A timestamp of the receiver, the time at which it was first seen, and `true` if its packet had
/// data.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    value: u32,
    at: u64,
    has_data: bool,
}

/// Round-trip times of one direction of data.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrip {
    /// Round-trip times between the point and the receiver.
    pub(crate) ahead: Quantiles,
    /// Round-trip times between the point and the sender.
    pub(crate) behind: Quantiles,
    /// Complete round trips, measured by the spin bit of QUIC.
    pub(crate) whole: Quantiles,
    min_ahead: Option<u64>,
    min_behind: Option<u64>,
    /// The number of samples of lone segments. They are used only for the minimum.
    pub(crate) lone: u64,
    /// The number of echoes that are late because of a pause of the sender or a retransmission.
    /// With the spin bit, the number of packets of such round trips.
    pub(crate) late: u64,
    /// The longest pause of the application since the last change of the spin bit.
    pause: u64,
    /// Timestamps of the receiver that have not been echoed.
    stamps: VecDeque<Stamp>,
    /// The newest timestamp of the receiver, whether echoed or not.
    newest: Option<u32>,
}

impl RoundTrip {
    /// Records a round-trip time between the point and the receiver. `is_lone` is `true` if the
    /// receiver may have waited for another segment.
    pub(crate) fn ahead(&mut self, nanos: u64, is_lone: bool) {
        if is_lone {
            self.lone += 1;
        } else {
            self.ahead.add(nanos);
        }
        minimum(&mut self.min_ahead, nanos);
    }

    /// Like [`behind`](Self::behind), for packets of a handshake.
    pub(crate) fn handshake_behind(&mut self, nanos: u64) {
        minimum(&mut self.min_behind, nanos);
    }

    /// Like [`ahead`](Self::ahead), for packets of a handshake and a FIN. They are not queued
    /// behind other packets of their connection.
    pub(crate) fn handshake_ahead(&mut self, nanos: u64) {
        minimum(&mut self.min_ahead, nanos);
    }

    /// Records a round-trip time between the point and the sender.
    pub(crate) fn behind(&mut self, nanos: u64) {
        self.behind.add(nanos);
        minimum(&mut self.min_behind, nanos);
    }

    /// Records a whole round-trip time from the spin bit. It is added once for each of its packets,
    /// as round-trip times from ACKs are, unless the application paused within it.
    pub(crate) fn whole(&mut self, whole: Whole) {
        if std::mem::take(&mut self.pause) as f64 <= LULL * whole.nanos as f64 {
            self.whole.add_many(whole.nanos, whole.packets);
        } else {
            self.late += whole.packets;
        }
    }

    /// Records that the sender has sent a packet `nanos` nanoseconds after a packet that may have
    /// ended a write.
    pub(crate) fn pause(&mut self, nanos: u64) {
        self.pause = self.pause.max(nanos);
    }

    /// Records a packet of the receiver with this timestamp, with data or without.
    #[inline]
    pub(crate) fn stamp(&mut self, at: u64, clocks: Option<Timestamps>, has_data: bool) {
        let Some(Timestamps { value, .. }) = clocks else { return };
        if self.newest.is_none_or(|newest| is_after(value, newest)) {
            self.newest = Some(value);
            if self.stamps.len() == MAX_STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back(Stamp { value, at, has_data });
        }
    }

    /// Processes a packet of the sender that echoes a timestamp. Returns the round trip under load,
    /// if the packet shows one.
    #[inline]
    pub(crate) fn echo(&mut self, at: u64, clocks: Option<Timestamps>, by: Echo) -> Option<u64> {
        let Timestamps { echo, .. } = clocks?;
        let mut shown = None;
        while let Some(stamp) = self.stamps.pop_front_if(|stamp| !is_after(stamp.value, echo)) {
            if stamp.value != echo {
                continue;
            }
            let nanos = at.saturating_sub(stamp.at);
            match by {
                Echo::Ack if stamp.has_data => {
                    self.lone += 1;
                    self.handshake_behind(nanos);
                }
                Echo::Ack => {}
                Echo::Written(Some(lull)) if lull as f64 <= LULL * nanos as f64 => shown = Some(nanos),
                Echo::Released => shown = Some(nanos),
                Echo::Written(_) | Echo::Repeated => self.late += 1,
            }
        }
        if let Some(nanos) = shown {
            self.behind(nanos);
        }
        shown
    }

    /// Records a step of the capture's clock. Measurements do not continue across it.
    pub(crate) fn cut(&mut self) {
        self.stamps.clear();
        self.pause = 0;
    }

    /// Returns the minimum times on the receiver's and on the sender's side, in nanoseconds.
    pub(crate) const fn minimum(&self) -> (Option<u64>, Option<u64>) {
        (self.min_ahead, self.min_behind)
    }
}

fn minimum(so_far: &mut Option<u64>, nanos: u64) {
    *so_far = Some(so_far.map_or(nanos, |minimum| minimum.min(nanos)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(value: u32, echo: u32) -> Option<Timestamps> {
        Some(Timestamps { value, echo })
    }

    #[test]
    fn an_echo_shows_the_side_of_the_sender() {
        let mut times = RoundTrip::default();
        times.stamp(1_000, clocks(10, 0), false);
        times.stamp(2_000, clocks(10, 0), false);
        times.stamp(3_000, clocks(11, 0), false);
        // The first data that echo 10 respond to the packet in which 10 first passed.
        times.echo(6_000, clocks(0, 10), Echo::Released);
        times.echo(7_000, clocks(0, 10), Echo::Released);
        assert_eq!(times.minimum(), (None, Some(5_000)));
        times.echo(7_500, clocks(0, 11), Echo::Released);
        assert_eq!(times.minimum(), (None, Some(4_500)));
        // Another packet of the same tick, after the first one was echoed.
        times.stamp(8_000, clocks(11, 0), false);
        times.echo(8_010, clocks(0, 11), Echo::Released);
        assert_eq!(times.minimum(), (None, Some(4_500)));
    }

    /// An application writes two seconds after the ACK for its last message. The data echo the
    /// timestamp of that ACK.
    #[test]
    fn a_pause_of_the_application_is_no_round_trip() {
        let mut times = RoundTrip::default();
        times.stamp(0, clocks(10, 0), false);
        times.echo(2_000_000_000, clocks(0, 10), Echo::Written(Some(1_980_000_000)));
        assert_eq!((times.minimum(), times.behind.count(), times.late), ((None, None), 0, 1));
        // Other segments of the write have passed 2 ms before, so the sample is at most 2 ms too
        // long.
        times.stamp(2_010_000_000, clocks(11, 0), false);
        times.echo(2_060_000_000, clocks(0, 11), Echo::Written(Some(2_000_000)));
        assert_eq!((times.minimum(), times.behind.count()), ((None, Some(50_000_000)), 1));
    }

    #[test]
    fn a_pause_is_no_round_trip_by_the_spin_bit() {
        let mut times = RoundTrip::default();
        times.pause(9_900_000_000);
        times.whole(Whole { nanos: 10_000_000_000, packets: 3 });
        times.pause(1_000_000);
        times.whole(Whole { nanos: 20_000_000, packets: 40 });
        assert_eq!((times.whole.count(), times.late), (40, 3));
    }

    #[test]
    fn a_pure_ack_answers_data() {
        let mut times = RoundTrip::default();
        times.stamp(0, clocks(10, 0), true);
        times.echo(30_000_000, clocks(0, 10), Echo::Ack);
        // A keep-alive of the sender, a minute after a pure ACK.
        times.stamp(60_000_000, clocks(11, 0), false);
        times.echo(60_060_000_000, clocks(0, 11), Echo::Ack);
        assert_eq!((times.behind.count(), times.lone, times.minimum().1), (0, 1, Some(30_000_000)));
    }

    #[test]
    fn a_lone_segment_counts_for_the_least_only() {
        let mut times = RoundTrip::default();
        times.ahead(60_000_000, true);
        times.ahead(20_000_000, true);
        assert_eq!((times.minimum().0, times.ahead.count(), times.lone), (Some(20_000_000), 0, 2));
    }
}
