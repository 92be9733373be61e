//! Performance-oriented congestion control: rates are tried, and the one with the greater utility is kept.
//!
//! | module | part |
//! |---|---|
//! | `monitor` | monitor intervals: what was sent at one rate, and what became of it |
//! | `allegro` | Dong et al., "PCC: Re-architecting Congestion Control for Consistent High Performance", NSDI '15 |
//! | `vivace` | Dong et al., "PCC Vivace: Online-Learning Congestion Control", NSDI '18 |
//!
//! Rates are of payload. A sender keeps at most two round trips' worth of its rate in flight, and four segments at the
//! least (`pcc_set_cwnd` of the authors' kernel module, PCC-Kernel); the papers' senders over UDP had no window. Loss as such
//! moves nothing. While a timeout is being repaired nothing is measured, for what is then lost may have been delivered (the
//! kernel module's `PCC_LOSS`).

pub mod allegro;
mod monitor;
pub mod vivace;

use super::{Ack, CongestionControl, Lost, Sent, Signal, Start, Window};
use crate::recovery::CongestionState;
use crate::recovery::fate::Fate;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant, Rate};
use monitor::{Monitor, Report};

/// Both papers: the first rate is two segments a round trip.
const INITIAL_SEGMENTS: u64 = 2;
/// Megabits per second. The authors' UDT sender (PCC-Uspace, `pcc-gradient`, `kMinRateMbps`).
const MIN_RATE: f64 = 0.1;
/// `pcc_set_cwnd`: the window in round trips, and its least number of segments.
const WINDOW_ROUND_TRIPS: f64 = 2.0;
const MIN_WINDOW_SEGMENTS: u64 = 4;
/// NSDI '15, §3.1: an interval takes ten packets at least.
const MIN_INTERVAL_PACKETS: u64 = 10;
/// The round trip before any was measured (RFC 6298, §2.1).
const UNKNOWN_RTT: Duration = Duration::from_secs(1);
/// A path without any delay has a rate all the same.
const MIN_RTT: Duration = Duration::from_micros(1);

/// What a finished interval led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The intervals under way go on.
    Continue,
    /// The rate is another now: what is under way is of no more use, and the next interval begins at once (NSDI '15, §3.1,
    /// re-alignment).
    Restart,
}

/// How rates are chosen. Rates are in megabits per second.
pub trait Learner {
    /// What can be set.
    type Constants: Copy;

    /// Begins at `rate`.
    fn new(constants: Self::Constants, rate: f64) -> Self;

    /// The rate between intervals.
    fn rate(&self) -> f64;

    /// The rate of the interval that begins now; none if results have to come first.
    fn next(&mut self, random: &mut Stream) -> Option<f64>;

    /// How many round trips an interval lasts.
    fn round_trips(&self, random: &mut Stream) -> f64;

    /// An interval is finished, and all its packets' fates are known.
    fn learn(&mut self, report: &Report) -> Verdict;

    /// An interval was not filled, for the application had nothing to send: it tells nothing, and has to be repeated.
    fn repeat(&mut self, report: &Report);

    /// The retransmission timer expired; what was under way is forgotten.
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
    /// A timeout is being repaired.
    is_paused: bool,
}

impl<L: Learner> Pcc<L> {
    pub(super) fn new(constants: &L::Constants, start: &Start) -> Self {
        Self {
            constants: *constants,
            learner: L::new(*constants, megabits(INITIAL_SEGMENTS * start.mss, UNKNOWN_RTT)),
            monitor: Monitor::default(),
            srtt: UNKNOWN_RTT,
            random: start.random.clone(),
            mss: start.mss,
            is_paused: false,
        }
    }

    /// Megabits per second, at present.
    fn rate(&self) -> f64 {
        self.monitor.rate().unwrap_or_else(|| self.learner.rate()).max(MIN_RATE)
    }

    fn limit(&self, window: &mut Window) {
        let octets = WINDOW_ROUND_TRIPS * self.rate() * 1e6 / 8.0 * self.srtt.as_secs_f64();
        window.cwnd = (octets as u64).max(MIN_WINDOW_SEGMENTS * self.mss);
    }

    /// NSDI '15, §3.1: T_m, the longer of some round trips and ten packets.
    fn length(&mut self, rate: f64) -> Duration {
        let packets = (MIN_INTERVAL_PACKETS * self.mss * 8) as f64 / (rate * 1e6);
        Duration::from_secs_f64((self.learner.round_trips(&mut self.random) * self.srtt.as_secs_f64()).max(packets))
    }
}

/// So many octets in so long, in megabits per second.
fn megabits(octets: u64, time: Duration) -> f64 {
    octets as f64 * 8.0 / 1e6 / time.as_secs_f64()
}

impl<L: Learner> CongestionControl for Pcc<L> {
    fn on_established(&mut self, _now: Instant, window: &mut Window, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.srtt = rtt.max(MIN_RTT);
            self.learner = L::new(self.constants, megabits(INITIAL_SEGMENTS * self.mss, self.srtt).max(MIN_RATE));
        }
        self.limit(window);
    }

    fn on_lost(&mut self, _window: &Window, lost: &Lost) {
        self.monitor.on_lost(lost.sent_at);
    }

    fn on_fates(&mut self, fates: &[Fate]) {
        self.monitor.on_fates(fates);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.srtt = ack.srtt.unwrap_or(self.srtt).max(MIN_RTT);
        if let Some(rtt) = ack.newest_rtt {
            self.monitor.on_rtt(ack.now, rtt);
        }
        while let Some(report) = self.monitor.take_finished() {
            if report.tells_nothing {
                self.learner.repeat(&report);
                self.monitor.clear();
            } else if self.learner.learn(&report) == Verdict::Restart {
                self.monitor.clear();
            }
        }
        self.limit(window);
    }

    /// Neither paper has a threshold.
    fn ssthresh(&mut self, _now: Instant, _window: &Window, _flight: u64, _signal: Signal) -> u64 {
        u64::MAX
    }

    fn on_state(&mut self, _now: Instant, window: &mut Window, state: CongestionState) {
        if state == CongestionState::Loss {
            self.learner.on_timeout();
            self.monitor.clear();
        }
        self.is_paused = state == CongestionState::Loss;
        self.limit(window);
    }

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

    /// For [`Sent::is_app_limited`].
    fn wants_delivery_rate(&self) -> bool {
        true
    }

    fn wants_fates(&self) -> bool {
        true
    }
}
