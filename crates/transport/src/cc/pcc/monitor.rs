//! Monitor intervals (NSDI '15, §3.1): time is divided into intervals, each with one rate. A
//! transmission belongs to the interval in which it was sent. An interval is finished when the
//! outcome of each of its transmissions is known, about a round-trip time after its end.

use super::megabits;
use crate::cc::Sent;
use crate::recovery::transmission::{Outcome, Transmission};
use acklab_base::{Duration, Instant};
use std::collections::VecDeque;

/// The result of an interval.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The target rate, in megabits per second.
    pub(super) rate: f64,
    /// The actual sending rate, in megabits per second.
    pub(super) sending_rate: f64,
    /// The share of packets that were lost.
    pub(super) loss: f64,
    /// d(RTT)/dT: the slope of the round-trip times over the sending times; zero if there are too
    /// few samples.
    pub(super) rtt_gradient: f64,
    /// `true` if the rate did not limit the interval and no packet was lost. The interval does not
    /// show whether the path sustains the rate.
    pub(super) is_inconclusive: bool,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    rate: f64,
    began: Instant,
    /// The planned or actual end of the interval.
    until: Instant,
    is_open: bool,
    octets: u64,
    packets: u64,
    delivered: u64,
    lost: u64,
    is_app_limited: bool,
    rtts: Regression,
}

impl Interval {
    /// Returns `true` if a transmission at this time was sent in the interval. A transmission at
    /// `until` belongs to the next interval.
    fn contains(&self, at: Instant) -> bool {
        at >= self.began && (self.is_open || at < self.until)
    }

    /// Returns the report of the interval.
    ///
    /// If the application limits the interval, the target rate is reported as the sending rate, as
    /// with a full send buffer. The target rate is also reported if a window permits less than half
    /// of it. The actual rate is then no evidence about the target, which in the Starting phase is
    /// twice the rate of the previous interval.
    fn report(&self) -> Report {
        let actual = megabits(self.octets, self.until.since(self.began));
        let is_limited = self.is_app_limited || 2.0 * actual < self.rate;
        let sending_rate = if is_limited { self.rate } else { actual };
        Report {
            rate: self.rate,
            sending_rate,
            loss: self.lost as f64 / self.packets.max(1) as f64,
            rtt_gradient: self.rtts.slope(),
            is_inconclusive: is_limited && self.lost == 0,
        }
    }
}

/// The intervals without results, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Monitor {
    intervals: VecDeque<Interval>,
}

impl Monitor {
    /// Returns `true` if an interval is open.
    pub(super) fn is_open(&self) -> bool {
        self.intervals.back().is_some_and(|interval| interval.is_open)
    }

    /// Returns the rate of the open interval.
    pub(super) fn rate(&self) -> Option<f64> {
        self.intervals.back().filter(|interval| interval.is_open).map(|interval| interval.rate)
    }

    pub(super) fn begin(&mut self, now: Instant, rate: f64, length: Duration) {
        self.intervals.push_back(Interval {
            rate,
            began: now,
            until: now + length,
            is_open: true,
            octets: 0,
            packets: 0,
            delivered: 0,
            lost: 0,
            is_app_limited: false,
            rtts: Regression::default(),
        });
    }

    /// Closes the open interval at the first transmission after its end. That transmission belongs
    /// to the next interval. So the duration of the interval is the time between the first packets
    /// of the two intervals.
    pub(super) fn close_if_over(&mut self, now: Instant) {
        if let Some(interval) = self.intervals.back_mut()
            && interval.is_open
            && now >= interval.until
        {
            (interval.is_open, interval.until) = (false, now);
        }
    }

    pub(super) fn on_sent(&mut self, sent: &Sent) {
        if let Some(interval) = self.intervals.back_mut()
            && interval.is_open
        {
            interval.packets += 1;
            interval.octets += sent.bytes;
            interval.is_app_limited |= sent.is_app_limited;
        }
    }

    pub(super) fn on_lost(&mut self, sent_at: Instant) {
        if let Some(interval) = self.interval_of(sent_at) {
            interval.lost += 1;
        }
    }

    pub(super) fn on_outcomes(&mut self, outcomes: &[Transmission]) {
        for transmission in outcomes {
            let Some(interval) = self.interval_of(transmission.sent_at) else { continue };
            match transmission.outcome {
                Outcome::Delivered { was_lost } => {
                    interval.delivered += 1;
                    interval.lost -= u64::from(was_lost).min(interval.lost);
                }
                Outcome::Unknown => interval.packets = interval.packets.saturating_sub(1),
            }
        }
    }

    /// Processes `rtt`, the round-trip time of a packet that was sent at `sent_at`.
    pub(super) fn on_rtt(&mut self, sent_at: Instant, rtt: Duration) {
        if let Some(interval) = self.interval_of(sent_at) {
            interval.rtts.add(sent_at.since(interval.began).as_secs_f64(), rtt.as_secs_f64());
        }
    }

    fn interval_of(&mut self, sent_at: Instant) -> Option<&mut Interval> {
        self.intervals.iter_mut().rev().find(|interval| interval.contains(sent_at))
    }

    /// Removes and reports the oldest interval, or returns `None` if an outcome in it is unknown.
    pub(super) fn take_finished(&mut self) -> Option<Report> {
        let interval =
            self.intervals.pop_front_if(|first| !first.is_open && first.delivered + first.lost >= first.packets)?;
        Some(interval.report())
    }

    /// Discards all intervals.
    pub(super) fn clear(&mut self) {
        self.intervals.clear();
    }
}

/// A linear regression by least squares.
#[derive(Clone, Copy, Debug, Default)]
struct Regression {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Regression {
    fn add(&mut self, x: f64, y: f64) {
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
    }

    /// Returns the slope, or zero if it is undefined.
    fn slope(&self) -> f64 {
        let spread = self.n * self.xx - self.x * self.x;
        if self.n < 2.0 || spread <= 0.0 { 0.0 } else { (self.n * self.xy - self.x * self.y) / spread }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Position;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn sent(ms: u64) -> Sent {
        Sent {
            now: at(ms),
            bytes: 1250,
            in_flight: 0,
            end: Position(0),
            is_retransmission: false,
            is_app_limited: false,
        }
    }

    /// Creates two intervals of 10 ms with a packet of 10 kbit per millisecond.
    fn monitor() -> Monitor {
        let mut monitor = Monitor::default();
        for ms in 0..21 {
            monitor.close_if_over(at(ms));
            if !monitor.is_open() && ms < 20 {
                monitor.begin(at(ms), 10.0, Duration::from_millis(10));
            }
            monitor.on_sent(&sent(ms));
        }
        monitor
    }

    fn transmission(ms: u64, outcome: Outcome) -> Transmission {
        Transmission { sent_at: at(ms), outcome }
    }

    const DELIVERED: Outcome = Outcome::Delivered { was_lost: false };

    #[test]
    fn a_transmission_counts_for_the_interval_in_which_it_left() {
        let mut monitor = monitor();
        monitor.on_outcomes(&(0..9).map(|ms| transmission(ms, DELIVERED)).collect::<Vec<_>>());
        assert!(monitor.take_finished().is_none());
        monitor.on_lost(at(10));
        monitor.on_lost(at(9));
        let first = monitor.take_finished().unwrap();
        assert!((first.sending_rate - 10.0).abs() < 1e-9 && (first.loss - 0.1).abs() < 1e-9, "{first:?}");
        monitor.on_outcomes(&(11..20).map(|ms| transmission(ms, DELIVERED)).collect::<Vec<_>>());
        assert!((monitor.take_finished().unwrap().loss - 0.1).abs() < 1e-9);
    }

    /// Five packets of 10 kbit in 10 ms are 5 Mbps, which is less than half of 11 Mbps.
    #[test]
    fn an_interval_that_something_else_limits_shows_nothing_unless_packets_are_lost() {
        let finished = |rate, is_lost| {
            let mut monitor = Monitor::default();
            monitor.begin(at(0), rate, Duration::from_millis(10));
            (0..5).for_each(|ms| monitor.on_sent(&sent(ms)));
            monitor.close_if_over(at(10));
            monitor.on_outcomes(&(1..5).map(|ms| transmission(ms, DELIVERED)).collect::<Vec<_>>());
            if is_lost {
                monitor.on_lost(at(0));
            } else {
                monitor.on_outcomes(&[transmission(0, DELIVERED)]);
            }
            let report = monitor.take_finished().unwrap();
            (report.is_inconclusive, report.sending_rate as u64)
        };
        assert_eq!([finished(9.0, false), finished(9.0, true)], [(false, 5), (false, 5)]);
        assert_eq!([finished(11.0, false), finished(11.0, true)], [(true, 11), (false, 11)]);
    }

    #[test]
    fn what_is_taken_back_or_unknown_is_no_loss() {
        let mut monitor = monitor();
        monitor.on_outcomes(&(0..8).map(|ms| transmission(ms, DELIVERED)).collect::<Vec<_>>());
        monitor.on_lost(at(8));
        monitor.on_outcomes(&[transmission(8, Outcome::Delivered { was_lost: true })]);
        assert!(monitor.take_finished().is_none());
        monitor.on_outcomes(&[transmission(9, Outcome::Unknown)]);
        assert!(monitor.take_finished().unwrap().loss.abs() < 1e-9);
    }

    #[test]
    fn the_gradient_is_the_growth_of_the_round_trip_over_the_time_of_departure() {
        let mut monitor = monitor();
        for ms in 0..10 {
            monitor.on_rtt(at(ms), Duration::from_micros(30_000 + 50 * ms));
        }
        monitor.on_rtt(at(20), Duration::from_millis(480));
        monitor.on_outcomes(&(0..10).map(|ms| transmission(ms, DELIVERED)).collect::<Vec<_>>());
        let report = monitor.take_finished().unwrap();
        assert!((report.rtt_gradient - 0.05).abs() < 1e-9, "a queue that grows by 5 % of the time: {report:?}");
    }
}
