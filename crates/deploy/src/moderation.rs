//! Decides when to poll a socket again. During a pause, several datagrams arrive and are then read
//! together, as network interfaces moderate interrupts. Each wake-up of a thread costs as much as
//! ten datagrams.

use acklab_base::{Duration, Instant};

/// The maximum pause, and its maximum share of a round-trip time. Both are Linux's values for
/// compressed ACKs (`tcp_comp_sack_delay_ns` and the 5 % of `__tcp_ack_snd_check`).
const LONGEST: Duration = Duration::from_millis(1);
const SHARE: u64 = 20;
/// The minimum pause. A pause shorter than the default lateness of the system's timers (`prctl`,
/// `PR_SET_TIMERSLACK`) has no benefit.
const SHORTEST: Duration = Duration::from_micros(50);
/// The minimum number of datagrams per pause. With fewer, a pause delays the datagrams without
/// benefit.
const LEAST: u64 = 4;
/// The divisor of the newest gap in the mean: an eighth, as for SRTT (RFC 6298, §2).
const WEIGHT: u64 = 8;

/// The mean gap between datagrams.
#[derive(Debug, Default)]
pub(crate) struct Moderation {
    /// The time of the last arrival.
    last: Option<Instant>,
    /// The mean time between two arrivals.
    gap: Option<Duration>,
}

impl Moderation {
    /// Records that `datagrams` have arrived over a path with this round-trip time. Returns the
    /// time until which the socket need not be polled.
    pub(crate) fn next(&mut self, now: Instant, datagrams: u64, round_trip: Option<Duration>) -> Option<Instant> {
        if datagrams == 0 {
            return None;
        }
        let before = self.last.replace(now)?;
        let gap = now.since(before) / datagrams;
        let mean = self.gap.map_or(gap, |mean| (mean * (WEIGHT - 1) + gap) / WEIGHT);
        self.gap = Some(mean);
        let pause = LONGEST.min(round_trip? / SHARE);
        (pause >= SHORTEST && mean * LEAST <= pause).then(|| now + pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pause in microseconds, once the mean is known. Datagrams arrive each `gap`
    /// microseconds, over a path with a round-trip time of `rtt` milliseconds.
    fn pause(gap: u64, rtt: u64) -> Option<u64> {
        let (mut moderation, mut now) = (Moderation::default(), Instant::ZERO);
        let mut pause = None;
        for _ in 0..100 {
            now += Duration::from_micros(gap);
            let until = moderation.next(now, 1, Some(Duration::from_millis(rtt)));
            pause = until.map(|until| until.since(now).as_nanos() / 1000);
        }
        pause
    }

    #[test]
    fn only_a_stream_of_datagrams_is_taken_in_batches() {
        assert_eq!(pause(120, 20), Some(1000), "100 Mbps");
        assert_eq!(pause(120, 10), Some(500), "a twentieth of the round trip");
        assert_eq!(pause(300, 100), None, "three in a millisecond");
        assert_eq!(pause(10, 0), None, "this host");
        assert_eq!(Moderation::default().next(Instant::ZERO, 1, None), None);
    }
}
