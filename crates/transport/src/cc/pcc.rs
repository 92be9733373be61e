//! Performance-oriented congestion control: the sender tries rates and continues with the rate of
//! the higher utility.
//!
//! | module | part |
//! |---|---|
//! | `monitor` | monitor intervals: the data sent at one rate, and their outcomes |
//! | `allegro` | Dong et al., "PCC: Re-architecting Congestion Control for Consistent High Performance", NSDI '15 |
//! | `vivace` | Dong et al., "PCC Vivace: Online-Learning Congestion Control", NSDI '18 |
//!
//! Rates refer to payload. The window is two round trips of the rate, at least four segments
//! (`pcc_set_cwnd` of the authors' kernel module, PCC-Kernel); the papers' senders over UDP had no
//! window. After a timeout, the transport sets the window (TCP: to one segment) until the next
//! acknowledgment (`tcp_enter_loss`, which the module does not override). Any other loss changes
//! only the utility. No interval is measured during recovery from a timeout, because transmissions
//! marked lost may have been delivered (the kernel module's `PCC_LOSS`).

pub mod allegro;
mod monitor;
pub mod vivace;

use super::{Ack, CongestionControl, Lost, Sent, Signal, Start, Window};
use crate::recovery::CongestionState;
use crate::recovery::transmission::Transmission;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant, Rate};
use monitor::{Monitor, Report};

/// Both papers: the initial rate is two segments per round trip.
const INITIAL_SEGMENTS: u64 = 2;
/// The minimum rate in Mbps, of the authors' UDT sender (PCC-Uspace, `pcc-gradient`,
/// `kMinRateMbps`).
const MIN_RATE: f64 = 0.1;
/// `pcc_set_cwnd`: the window, in round trips of the rate.
const WINDOW_ROUND_TRIPS: f64 = 2.0;
/// `pcc_set_cwnd`: the minimum window, in segments.
const MIN_WINDOW_SEGMENTS: u64 = 4;
/// The round-trip time assumed before the first measurement (RFC 6298, §2.1).
const UNKNOWN_RTT: Duration = Duration::from_secs(1);
/// The minimum smoothed round-trip time, so that the rate of a path without delay is finite.
const MIN_RTT: Duration = Duration::from_micros(1);

/// The consequence of a finished interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The current intervals continue.
    Continue,
    /// The rate has changed: the current intervals are discarded and the next one begins
    /// immediately (NSDI '15, §3.1, re-alignment).
    Restart,
}

/// The choice of rates, in Mbps.
pub trait Learner {
    /// The constants of the learner.
    type Constants: Copy;

    /// Returns the initial rate, or zero for two segments per round-trip time.
    fn initial_rate(constants: &Self::Constants) -> f64;

    /// Creates a learner that begins at `rate`.
    fn new(constants: Self::Constants, rate: f64) -> Self;

    /// Returns the rate between intervals.
    fn rate(&self) -> f64;

    /// Returns the rate of the interval that begins now, or `None` if the learner waits for
    /// results.
    fn next(&mut self, random: &mut Stream) -> Option<f64>;

    /// Returns the minimum number of packets of an interval.
    fn min_packets(&self) -> u32;

    /// Returns the duration of the next interval in round trips.
    fn round_trips(&self, random: &mut Stream) -> f64;

    /// Processes a finished interval, in which the outcomes of all transmissions are known.
    fn learn(&mut self, report: &Report) -> Verdict;

    /// Processes an application-limited interval, which is inconclusive and must be repeated.
    fn repeat(&mut self, report: &Report);

    /// Processes a retransmission timeout: the current intervals are discarded.
    fn on_timeout(&mut self);
}

/// A sender that learns its rate.
#[derive(Clone, Debug)]
pub struct Pcc<L: Learner> {
    constants: L::Constants,
    learner: L,
    monitor: Monitor,
    srtt: Duration,
    random: Stream,
    mss: u64,
    /// `true` in recovery from a timeout.
    is_paused: bool,
}

impl<L: Learner> Pcc<L> {
    pub(super) fn new(constants: &L::Constants, start: &Start) -> Self {
        Self {
            constants: *constants,
            learner: L::new(*constants, first_rate::<L>(constants, start.mss, UNKNOWN_RTT)),
            monitor: Monitor::default(),
            srtt: UNKNOWN_RTT,
            random: start.random.clone(),
            mss: start.mss,
            is_paused: false,
        }
    }

    /// Returns the present rate in Mbps.
    fn rate(&self) -> f64 {
        self.monitor.rate().unwrap_or_else(|| self.learner.rate()).max(MIN_RATE)
    }

    fn limit(&self, window: &mut Window) {
        let octets = WINDOW_ROUND_TRIPS * self.rate() * 1e6 / 8.0 * self.srtt.as_secs_f64();
        window.cwnd = (octets as u64).max(MIN_WINDOW_SEGMENTS * self.mss);
    }

    /// Returns T_m of NSDI '15, §3.1: the longer of a number of round-trip times and the time of
    /// the minimum number of packets.
    fn length(&mut self, rate: f64) -> Duration {
        let packets = (u64::from(self.learner.min_packets()) * self.mss * 8) as f64 / (rate * 1e6);
        Duration::from_secs_f64((self.learner.round_trips(&mut self.random) * self.srtt.as_secs_f64()).max(packets))
    }
}

fn first_rate<L: Learner>(constants: &L::Constants, mss: u64, rtt: Duration) -> f64 {
    let configured = L::initial_rate(constants);
    let rate = if configured > 0.0 { configured } else { megabits(INITIAL_SEGMENTS * mss, rtt) };
    rate.max(MIN_RATE)
}

/// Returns the rate of `octets` bytes in `time`, in Mbps.
fn megabits(octets: u64, time: Duration) -> f64 {
    octets as f64 * 8.0 / 1e6 / time.as_secs_f64()
}

impl<L: Learner> CongestionControl for Pcc<L> {
    fn on_established(&mut self, _now: Instant, window: &mut Window, rtt: Option<Duration>) {
        self.mss = window.mss;
        if let Some(rtt) = rtt {
            self.srtt = rtt.max(MIN_RTT);
            self.learner = L::new(self.constants, first_rate::<L>(&self.constants, self.mss, self.srtt));
            // Packets of the handshake were sent at an assumed round-trip time.
            self.monitor.clear();
        }
        self.limit(window);
    }

    fn on_lost(&mut self, _window: &Window, lost: &Lost) {
        self.monitor.on_lost(lost.sent_at);
    }

    fn on_outcomes(&mut self, outcomes: &[Transmission]) {
        self.monitor.on_outcomes(outcomes);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.srtt = ack.srtt.unwrap_or(self.srtt).max(MIN_RTT);
        if let Some((sent_at, rtt)) = ack.newest_sent_at.zip(ack.newest_rtt) {
            self.monitor.on_rtt(sent_at, rtt);
        }
        while let Some(report) = self.monitor.take_finished() {
            if report.is_inconclusive {
                self.learner.repeat(&report);
                self.monitor.clear();
            } else if self.learner.learn(&report) == Verdict::Restart {
                self.monitor.clear();
            }
        }
        self.limit(window);
    }

    /// The papers have no threshold.
    fn ssthresh(&mut self, _now: Instant, _window: &Window, _flight: u64, _signal: Signal) -> u64 {
        u64::MAX
    }

    fn on_state(&mut self, _now: Instant, window: &mut Window, state: CongestionState) {
        self.is_paused = state == CongestionState::Loss;
        if self.is_paused {
            self.learner.on_timeout();
            self.monitor.clear();
        } else {
            self.limit(window);
        }
    }

    #[inline(never)]
    fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        self.monitor.close_if_over(sent.now);
        if !self.monitor.is_open() && !self.is_paused {
            if let Some(rate) = self.learner.next(&mut self.random) {
                let rate = rate.max(MIN_RATE);
                let length = self.length(rate);
                self.monitor.begin(sent.now, rate, length);
            }
            self.limit(window);
        }
        self.monitor.on_sent(sent);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bits_per_second((self.rate() * 1e6) as u64)
    }

    fn governs_window(&self) -> bool {
        true
    }

    /// Required by [`Sent::is_app_limited`].
    fn wants_delivery_rate(&self) -> bool {
        true
    }

    fn wants_outcomes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::Growth;
    use super::super::testing::{MSS, start};
    use super::*;

    /// Returns the packets of the first interval at 2 segments per round trip of 100 ms.
    fn packets<L: Learner>(constants: &L::Constants) -> f64 {
        let mut pcc = Pcc::<L>::new(constants, &start(Growth::PerSegment));
        let mut window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
        pcc.on_established(Instant::ZERO, &mut window, Some(Duration::from_millis(100)));
        let rate = pcc.rate();
        rate * 1e6 * pcc.length(rate).as_secs_f64() / (MSS * 8) as f64
    }

    #[test]
    fn the_first_rate_is_two_segments_in_a_round_trip_or_as_configured() {
        let first = |constants| {
            let mut pcc = Pcc::<allegro::Allegro>::new(&constants, &start(Growth::PerSegment));
            let mut window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
            pcc.on_established(Instant::ZERO, &mut window, Some(Duration::from_millis(100)));
            pcc.rate()
        };
        assert!((first(allegro::Config::PUBLISHED) - 0.16).abs() < 1e-9);
        assert!((first(allegro::Config { initial_rate: 5.0, ..allegro::Config::PUBLISHED }) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn an_interval_has_packets_enough_for_a_loss_rate() {
        let allegro = packets::<allegro::Allegro>(&allegro::Config::PUBLISHED);
        assert!((allegro - 10.0).abs() < 1e-6, "NSDI '15: {allegro}");
        let kernel = packets::<allegro::Allegro>(&allegro::Config { min_packets: 40, ..allegro::Config::PUBLISHED });
        assert!((kernel - 40.0).abs() < 1e-6, "PCC-Kernel: {kernel}");
        let vivace = packets::<vivace::Vivace>(&vivace::Config::PUBLISHED);
        assert!((vivace - 20.0).abs() < 1e-6, "PCC-Uspace: {vivace}");
    }
}
