//! Round-trip times as the receiver of data measures them.
//!
//! It sends no data whose acknowledgment it could measure. It uses (Linux, `net/ipv4/tcp_input.c`,
//! 6.18):
//!
//! * the handshake: from its SYN-ACK to the first segment after it, unless the SYN-ACK was repeated
//!   (`tcp_synack_rtt_meas`);
//! * with timestamps, each full-sized segment that echoes another ACK than the one before: the age
//!   of that ACK's timestamp, in whole ticks, at least one (RFC 7323, §4.1;
//!   `tcp_rcv_rtt_measure_ts`). While data wait to be read, only a smaller one than the estimate
//!   counts, because such data delay ACKs (`tcp_rcv_rtt_update`);
//! * the time in which the stream advances by one receive window, which takes at least a round
//!   trip. Where windows are larger than the path's capacity, that is far too long, so it may only
//!   lower the estimate (`tcp_rcv_rtt_measure`).
//!
//! An echo is late by as long as the sender had nothing to send or no window. So use the minimum.

use crate::windowed_max::WindowedMax;
use acklab_base::{Duration, Instant};
use std::cmp::Reverse;

/// The timestamp that a segment echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// TSecr, as it stands in the segment.
    pub value: u32,
    /// The time since this end sent it.
    pub age: Duration,
    /// Data that came before the segment wait to be read.
    pub has_unread: bool,
}

/// The receiver's estimates.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// The time for which a minimum counts.
    window: Duration,
    handshake: Option<Duration>,
    told: Option<Duration>,
    smoothed: Option<Duration>,
    least: WindowedMax<Reverse<Duration>>,
    last_echo: Option<u32>,
    /// The time since then is measured until the stream reaches this offset.
    timed: Option<(u64, Instant)>,
}

impl RoundTrip {
    /// Creates estimates whose minimum is that of the last `window`.
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

    /// Returns the round trip of the handshake, if it was measured.
    #[must_use]
    pub const fn handshake(&self) -> Option<Duration> {
        self.handshake
    }

    /// Returns the running estimate from data: a shorter sample counts at once, a longer echo by an
    /// eighth (`tcp_rcv_rtt_update`).
    #[must_use]
    pub const fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// Returns the shortest within the window, the handshake's included. A value that the sender
    /// [reported](Self::on_told) has priority, because it is more accurate.
    #[must_use]
    pub fn least(&self) -> Option<Duration> {
        self.told.or_else(|| self.least.get().map(|Reverse(least)| least))
    }

    /// Stores the shortest round trip that the sender of data reports, as TACK's does (Li et al.,
    /// SIGCOMM 2020, §5.4).
    pub const fn on_told(&mut self, least: Duration) {
        self.told = Some(least);
    }

    /// Processes the round trip `sample` of the handshake, from the SYN-ACK to the first segment
    /// after it.
    pub fn on_handshake(&mut self, now: Instant, sample: Duration) {
        self.handshake = Some(sample);
        self.least.update(self.window.as_nanos(), now.as_nanos(), Reverse(sample));
    }

    /// Processes a segment with data, after which the stream stands at `next` with a receive window
    /// of `receive_window` octets. `echo` is its timestamp's if it is full-sized.
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
