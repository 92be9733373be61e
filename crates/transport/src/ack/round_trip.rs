//! Measures round-trip times at the receiver of data.
//!
//! The receiver sends no data whose acknowledgment would yield a round-trip time. It uses these
//! sources (Linux, `net/ipv4/tcp_input.c`, 6.18):
//!
//! * the handshake: the time from its SYN-ACK to the next segment, unless the SYN-ACK was
//!   retransmitted (`tcp_synack_rtt_meas`);
//! * with timestamps, each full-sized segment whose echo has changed. The sample is the age of the
//!   echoed timestamp, in whole ticks, at least one (RFC 7323, §4.1; `tcp_rcv_rtt_measure_ts`).
//!   While data are unread, only samples below the estimate are used, because unread data delay
//!   ACKs (`tcp_rcv_rtt_update`);
//! * the time in which the stream advances by one receive window, which is at least a round-trip
//!   time. It is far longer if windows exceed the path's capacity. So it may only lower the
//!   estimate (`tcp_rcv_rtt_measure`).
//!
//! An echo is late while the sender has nothing to send or no window. Use the minimum instead of a
//! single sample.

use crate::windowed_max::WindowedMax;
use acklab_base::{Duration, Instant};
use std::cmp::Reverse;

/// The timestamp that a segment echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// TSecr, the echoed timestamp, as in the segment.
    pub value: u32,
    /// The time since this end sent that timestamp.
    pub age: Duration,
    /// `true` if earlier data are unread.
    pub has_unread: bool,
}

/// The receiver's estimates.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// The time for which a minimum is valid.
    window: Duration,
    handshake: Option<Duration>,
    told: Option<Duration>,
    smoothed: Option<Duration>,
    least: WindowedMax<Reverse<Duration>>,
    last_echo: Option<u32>,
    /// The stream offset that ends the current measurement, and the time at which the measurement
    /// began.
    timed: Option<(u64, Instant)>,
}

impl RoundTrip {
    /// Creates estimates whose minimum covers the last `window` of time.
    #[must_use]
    pub fn new(window: Duration) -> Self {
        Self {
            window,
            handshake: None,
            told: None,
            smoothed: None,
            least: WindowedMax::default(),
            last_echo: None,
            timed: None,
        }
    }

    /// Returns the round-trip time of the handshake, if it was measured.
    #[must_use]
    pub const fn handshake(&self) -> Option<Duration> {
        self.handshake
    }

    /// Returns the smoothed estimate from data. A shorter sample replaces the estimate; a longer
    /// echo has a weight of an eighth (`tcp_rcv_rtt_update`).
    #[must_use]
    pub const fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// Returns the minimum within the window, including the handshake. A value that the sender
    /// [reported](Self::on_told) has priority, because it is more accurate.
    #[must_use]
    pub fn least(&self) -> Option<Duration> {
        self.told.or_else(|| self.least.get().map(|Reverse(least)| least))
    }

    /// Stores the minimum round-trip time that the sender reports, as in TACK (Li et al., SIGCOMM
    /// 2020, §5.4).
    pub const fn on_told(&mut self, least: Duration) {
        self.told = Some(least);
    }

    /// Processes `sample`, the round-trip time of the handshake, from the SYN-ACK to the first
    /// segment after it.
    pub fn on_handshake(&mut self, now: Instant, sample: Duration) {
        self.handshake = Some(sample);
        self.least.update(self.window.as_nanos(), now.as_nanos(), Reverse(sample));
    }

    /// Processes a data segment. After it, rcv.nxt is `next` and the receive window is
    /// `receive_window` bytes. `echo` is set if the segment is full-sized.
    pub fn on_data(&mut self, now: Instant, next: u64, receive_window: u64, echo: Option<Echo>) {
        match self.timed {
            Some((end, _)) if next < end => {}
            timed => {
                if let Some((_, began)) = timed {
                    let sample = now.since(began).max(Duration::from_micros(1));
                    self.least.update(self.window.as_nanos(), now.as_nanos(), Reverse(sample));
                    if self.smoothed.is_none_or(|smoothed| sample < smoothed) {
                        self.smoothed = Some(sample);
                    }
                }
                self.timed = Some((next + receive_window, now));
            }
        }
        if let Some(Echo { value, age, has_unread }) = echo.filter(|echo| self.last_echo != Some(echo.value)) {
            self.last_echo = Some(value);
            self.least.update(self.window.as_nanos(), now.as_nanos(), Reverse(age));
            self.smoothed = Some(match self.smoothed {
                Some(smoothed) if age >= smoothed && has_unread => smoothed,
                Some(smoothed) if age >= smoothed => smoothed - smoothed / 8 + age / 8,
                _ => age,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    fn echo(value: u32, ms: u64) -> Option<Echo> {
        Some(Echo { value, age: MS * ms, has_unread: false })
    }

    #[test]
    fn an_echo_counts_once_and_shorter_ones_at_once() {
        let mut rtt = RoundTrip::new(MS * 10_000);
        rtt.on_data(at(100), 1000, 1 << 20, echo(1, 80));
        rtt.on_data(at(110), 2000, 1 << 20, echo(1, 90));
        assert_eq!(rtt.smoothed(), Some(MS * 80), "the same ACK again: the sender was only slow to send");
        rtt.on_data(at(160), 3000, 1 << 20, echo(2, 88));
        assert_eq!(rtt.smoothed(), Some(MS * 81));
        rtt.on_data(at(200), 4000, 1 << 20, echo(3, 40));
        assert_eq!((rtt.smoothed(), rtt.least()), (Some(MS * 40), Some(MS * 40)));
    }

    #[test]
    fn unread_data_hold_up_acks_so_that_only_a_shorter_echo_counts() {
        let late = |value, ms| echo(value, ms).map(|echo| Echo { has_unread: true, ..echo });
        let mut rtt = RoundTrip::new(MS * 10_000);
        rtt.on_data(at(100), 1000, 1 << 20, late(1, 80));
        assert_eq!(rtt.smoothed(), Some(MS * 80), "the first counts");
        rtt.on_data(at(200), 2000, 1 << 20, late(2, 160));
        assert_eq!(rtt.smoothed(), Some(MS * 80));
        rtt.on_data(at(300), 3000, 1 << 20, late(3, 40));
        assert_eq!(rtt.smoothed(), Some(MS * 40));
    }

    #[test]
    fn without_timestamps_a_window_is_timed() {
        let mut rtt = RoundTrip::new(MS * 10_000);
        rtt.on_data(at(10), 1000, 4000, None);
        rtt.on_data(at(40), 4000, 4000, None);
        assert_eq!(rtt.smoothed(), None);
        rtt.on_data(at(60), 5000, 4000, None);
        assert_eq!(rtt.smoothed(), Some(MS * 50));
        rtt.on_data(at(160), 9000, 4000, None);
        assert_eq!(rtt.smoothed(), Some(MS * 50), "a slower window is no evidence");
        rtt.on_data(at(180), 13_000, 4000, None);
        assert_eq!(rtt.smoothed(), Some(MS * 20));
    }

    #[test]
    fn the_minimum_forgets() {
        let mut rtt = RoundTrip::new(MS * 1000);
        rtt.on_handshake(at(30), MS * 30);
        rtt.on_data(at(500), 1000, 1 << 20, echo(1, 50));
        assert_eq!((rtt.handshake(), rtt.least()), (Some(MS * 30), Some(MS * 30)));
        rtt.on_data(at(1100), 2000, 1 << 20, echo(2, 60));
        assert_eq!(rtt.least(), Some(MS * 50));
        rtt.on_told(MS * 45);
        rtt.on_handshake(at(2000), MS * 20);
        assert_eq!(rtt.least(), Some(MS * 45), "the sender knows better");
    }
}
