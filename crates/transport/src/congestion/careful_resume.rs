//! Careful Resume (draft-ietf-tsvwg-careful-resume): extends slow start by the path state that an
//! earlier connection saved.
//!
//! When its initial window is acknowledged and the round-trip time is similar to the saved one, the
//! sender increases the window to half of the saved window and paces it over a round trip. The
//! result is known a round trip later. The window is then set to the data in flight. If a packet
//! was lost or congestion-marked, it is set to at most half of the data that arrived.
//!
//! The text of the draft is known from the quotations in picoquic's implementation
//! (`picoquic_cr_enter_…`). The bounds of the round-trip time, half and ten times the saved one,
//! are from memory and unverified.

use crate::cc::Window;
use acklab_base::{Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The saved state of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// `saved_cwnd`: the congestion window.
    #[schemars(example = "1MB")]
    pub cwnd: Bytes,
    /// `saved_rtt`: the minimum round-trip time.
    #[schemars(example = "600ms")]
    pub rtt: Duration,
}

/// The saved round-trip time is confirmed if the current one is at least half of it and below ten
/// times it.
const SHORTEST: u64 = 2;
const LONGEST: u64 = 10;
/// The divisor of the saved window, which yields the maximum jump. Also the divisor of the arrived
/// data, which yields the window after a retreat.
const HALF: u64 = 2;

/// The evidence about a jump, after an acknowledgment or a timer. Sizes are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The current time.
    pub now: Instant,
    /// The number of newly acknowledged bytes.
    pub delivered: u64,
    /// The number of bytes acknowledged since the connection began.
    pub total_delivered: u64,
    /// The number of bytes in flight.
    pub in_flight: u64,
    /// The largest packet number acknowledged so far.
    pub largest_acknowledged: Option<u64>,
    /// The number of the next packet.
    pub next_number: u64,
    /// The minimum round-trip time.
    pub min_rtt: Option<Duration>,
    /// `true` if packets were lost or congestion-marked.
    pub is_congested: bool,
    /// `true` if the window limits sending.
    pub is_limited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The sender compares the saved parameters with the path.
    Reconnaissance,
    /// The window has jumped at `since`. `first` is the number of the first packet beyond the data
    /// then in flight.
    Unvalidated { since: Instant, first: u64 },
    /// The additional packets, up to the number `last`, are being acknowledged.
    Validating { last: u64 },
    /// A packet was lost or congestion-marked. The remaining additional packets, up to the number
    /// `last`, are being acknowledged.
    SafeRetreat { last: u64 },
    /// Careful Resume has ended, and only the controller sets the window.
    Normal,
}

/// The state of Careful Resume.
#[derive(Clone, Copy, Debug)]
pub(super) struct CarefulResume {
    saved: Saved,
    initial_window: u64,
    phase: Phase,
    /// `PipeSize`: the number of bytes that are known to fit into the path.
    pipe: u64,
}

impl CarefulResume {
    pub(super) const fn new(saved: Saved, initial_window: u64) -> Self {
        Self { saved, initial_window, phase: Phase::Reconnaissance, pipe: 0 }
    }

    /// Processes an acknowledgment or a timer after the controller has processed it. The controller
    /// has changed the window from `before` to `window`.
    pub(super) fn update(&mut self, window: &mut Window, before: u64, view: &View) {
        if self.phase == Phase::Normal {
            return;
        }
        if self.phase != Phase::Reconnaissance {
            self.pipe += view.delivered;
        }
        if view.is_congested {
            return self.retreat(window, view);
        }
        let has_acknowledged = |number| view.largest_acknowledged.is_some_and(|largest| largest >= number);
        match self.phase {
            Phase::Reconnaissance => self.reconnoitre(window, view),
            Phase::Unvalidated { since, first } => {
                let has_passed = view.min_rtt.is_some_and(|rtt| view.now.since(since) > rtt);
                if has_acknowledged(first) || has_passed {
                    self.validate(window, view);
                } else {
                    // The window does not grow before the jump is validated.
                    window.cwnd = before;
                }
            }
            Phase::Validating { last } if has_acknowledged(last) => self.phase = Phase::Normal,
            Phase::SafeRetreat { last } if has_acknowledged(last) => {
                window.ssthresh = self.pipe.max(HALF * window.mss);
                self.phase = Phase::Normal;
            }
            Phase::Validating { .. } | Phase::SafeRetreat { .. } | Phase::Normal => {}
        }
    }

    fn reconnoitre(&mut self, window: &mut Window, view: &View) {
        let Some(rtt) = view.min_rtt.filter(|_| view.total_delivered >= self.initial_window) else { return };
        let is_confirmed =
            rtt.saturating_mul(SHORTEST) >= self.saved.rtt && rtt < self.saved.rtt.saturating_mul(LONGEST);
        let jump = self.saved.cwnd.get() / HALF;
        if !is_confirmed || !window.in_slow_start() || jump <= window.cwnd {
            self.phase = Phase::Normal;
        } else if view.is_limited {
            self.pipe = view.in_flight;
            self.phase = Phase::Unvalidated { since: view.now, first: view.next_number };
            window.cwnd = jump;
        }
    }

    /// Sets the window to the data in flight, if that exceeds the known capacity.
    fn validate(&mut self, window: &mut Window, view: &View) {
        if view.in_flight > self.pipe {
            window.cwnd = view.in_flight;
            self.phase = Phase::Validating { last: view.next_number.saturating_sub(1) };
        } else {
            window.cwnd = self.pipe.max(self.initial_window);
            self.phase = Phase::Normal;
        }
    }

    fn retreat(&mut self, window: &mut Window, view: &View) {
        let last = match self.phase {
            Phase::Reconnaissance => {
                self.phase = Phase::Normal;
                return;
            }
            Phase::Unvalidated { .. } => view.next_number.saturating_sub(1),
            Phase::Validating { last } => last,
            Phase::SafeRetreat { .. } | Phase::Normal => return,
        };
        window.cwnd = (self.pipe / HALF).max(self.initial_window);
        window.ssthresh = window.ssthresh.min(window.cwnd);
        self.phase = Phase::SafeRetreat { last };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const MSS: u64 = 1000;

    struct Bench {
        resume: CarefulResume,
        window: Window,
    }

    impl Bench {
        fn new() -> Self {
            let saved = Saved { cwnd: Bytes(400 * MSS), rtt: MS * 600 };
            let window = Window { cwnd: 20 * MSS, ssthresh: u64::MAX, mss: MSS };
            Self { resume: CarefulResume::new(saved, 10 * MSS), window }
        }

        /// Processes an acknowledgment that has increased the controller's window. Returns the
        /// window in packets.
        fn update(&mut self, change: impl FnOnce(&mut View)) -> u64 {
            let mut view = View {
                now: Instant::ZERO + MS * 1200,
                delivered: 10 * MSS,
                total_delivered: 10 * MSS,
                in_flight: 20 * MSS,
                largest_acknowledged: Some(9),
                next_number: 30,
                min_rtt: Some(MS * 600),
                is_congested: false,
                is_limited: true,
            };
            change(&mut view);
            let before = self.window.cwnd;
            self.window.cwnd += view.delivered;
            self.resume.update(&mut self.window, before, &view);
            self.window.cwnd / MSS
        }
    }

    #[test]
    fn it_jumps_to_half_of_the_saved_window_once_the_path_is_the_same() {
        let mut bench = Bench::new();
        assert_eq!(bench.update(|view| view.total_delivered = 5 * MSS), 30, "the initial window is not acknowledged");
        assert_eq!(bench.update(|view| view.is_limited = false), 40, "there is nothing to send");
        assert_eq!(bench.update(|_| {}), 200);
        assert_eq!(
            bench.update(|view| view.largest_acknowledged = Some(20)),
            200,
            "it does not grow before it is validated"
        );
    }

    #[test]
    fn another_path_is_not_jumped_on() {
        for rtt in [299, 6000] {
            let mut bench = Bench::new();
            assert_eq!(bench.update(|view| view.min_rtt = Some(MS * rtt)), 30, "{rtt} ms");
            assert_eq!(bench.update(|_| {}), 40, "nor later");
        }
        let mut bench = Bench::new();
        bench.update(|view| view.is_congested = true);
        assert_eq!(bench.update(|_| {}), 40, "congestion in reconnaissance");
    }

    #[test]
    fn what_is_in_flight_becomes_the_window_a_round_trip_later() {
        let mut bench = Bench::new();
        bench.update(|_| {});
        let jumped = |view: &mut View| (view.in_flight, view.next_number) = (150 * MSS, 180);
        assert_eq!(bench.update(|view| (jumped(view), view.largest_acknowledged = Some(30)).1), 150);
        assert_eq!(
            bench.update(|view| (jumped(view), view.largest_acknowledged = Some(100)).1),
            160,
            "the controller's"
        );
        bench.update(|view| (jumped(view), view.largest_acknowledged = Some(179)).1);
        assert_eq!(bench.resume.phase, Phase::Normal);
        let mut bench = Bench::new();
        bench.update(|_| {});
        let packets = bench.update(|view| view.now += MS * 601);
        assert_eq!((packets, bench.resume.phase), (30, Phase::Normal), "nothing beyond was sent");
    }

    #[test]
    fn a_loss_leads_back_to_half_of_what_has_arrived() {
        let mut bench = Bench::new();
        bench.update(|_| {});
        bench.update(|view| (view.in_flight, view.next_number, view.largest_acknowledged) = (150 * MSS, 180, Some(30)));
        // 20 packets were in flight, and three times ten packets have arrived since.
        assert_eq!(bench.update(|view| (view.is_congested, view.next_number) = (true, 180)), 20);
        assert_eq!(bench.resume.phase, Phase::SafeRetreat { last: 179 });
        bench.update(|view| (view.is_congested, view.largest_acknowledged) = (true, Some(150)));
        bench.update(|view| view.largest_acknowledged = Some(179));
        assert_eq!((bench.resume.phase, bench.window.ssthresh), (Phase::Normal, 60 * MSS));
    }
}
