//! Vegas (Brakmo, O'Malley, Peterson, SIGCOMM 1994; Brakmo, Peterson, IEEE JSAC 13(8), 1995): once
//! per round trip, the window is adjusted so that α to β of its segments wait in queues.
//!
//! The backlog is the window minus the part of it that fills the path, base / RTT. The stacks
//! differ in these points:
//!
//! | | the paper | Linux (`tcp_vegas.c`) | ns-3.37 (`TcpVegas`) |
//! |---|---|---|---|
//! | a round's RTT | its minimum | its minimum, over the newest segment of each ACK, plus 1 µs | the minimum of the *smoothed* one |
//! | backlog | cwnd · (RTT − base) / RTT, exact | ⌊cwnd · (RTT − base) / **base**⌋ | cwnd − ⌊cwnd · base / RTT⌋ |
//! | a round of at most two samples | counts | grows as Reno, since a delayed ACK may be among them | grows as Reno |
//! | a round ends | when snd.nxt at its start is acknowledged | beyond it | as in the paper |
//! | slow start | doubles every other round | every round | every round, one segment per ACK |
//! | threshold after a decrease | at most the window | at most the window, at least 3/4 of it | at most the window minus one, at least 3/4 of it |
//! | threshold after loss | half | half | the window minus one |
//! | base | never expires | is remeasured after an idle period | never expires |

use super::constants::constants;
use super::newreno::{self, NewReno};
use super::{Ack, CongestionControl, Dialect, Position, Sent, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use acklab_base::{Duration, Instant, mul_div};

constants! {
    /// The constants of Vegas, all in segments of backlog.
    Config {
        /// α: the backlog below which the window grows (JSAC 1995, §III-B; Linux's `alpha`, ns-3's
        /// `Alpha`).
        #[schemars(range(min = 0.0))]
        alpha: f64 = 2.0,
        /// β: the backlog above which the window shrinks (JSAC 1995, §III-B; `beta`, `Beta`).
        #[schemars(range(min = 0.0))]
        beta: f64 = 4.0,
        /// γ: the backlog above which slow start ends (JSAC 1995, §III-C; `gamma`, `Gamma`).
        #[schemars(range(min = 0.0))]
        gamma: f64 = 1.0,
    }
}

impl Settings for Config {
    type Controller = Vegas;

    fn controller(&self, start: &Start) -> Vegas {
        Vegas::new(self, start)
    }
}

/// `tcp_vegas_cong_avoid`, `TcpVegas::IncreaseWindow`: a round with at most this many samples grows
/// as in Reno.
const FEW_SAMPLES: u64 = 2;
/// `tcp_vegas_cong_avoid`: the minimum window, in segments.
const MIN_WINDOW: u64 = 2;

/// The state of Vegas.
#[derive(Clone, Copy, Debug)]
pub struct Vegas {
    constants: Config,
    dialect: Dialect,
    /// The controller in slow start, in rounds of few samples and outside the open state.
    reno: NewReno,
    /// `doing_vegas_now`: `true` if Vegas adjusts the window.
    is_on: bool,
    /// The minimum round-trip time of the connection.
    base: Option<Duration>,
    round: Round,
    /// The end of the data sent so far.
    sent_to: Position,
}

#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The position whose acknowledgment ends the round.
    end: Position,
    min: Option<Duration>,
    samples: u64,
    /// `true` if slow start does not change the window in this round; in the paper this is every
    /// other round.
    holds: bool,
}

impl Vegas {
    pub(super) fn new(constants: &Config, start: &Start) -> Self {
        let round = Round { end: Position::default(), min: None, samples: 0, holds: false };
        Self {
            constants: *constants,
            dialect: start.dialect,
            reno: NewReno::new(&newreno::Config::PUBLISHED, start),
            is_on: true,
            base: None,
            round,
            sent_to: Position::default(),
        }
    }

    fn begin_round(&mut self, end: Position) {
        self.round = Round { end, holds: !self.round.holds, ..Round::default() };
    }

    /// `tcp_vegas_pkts_acked`, `TcpVegas::PktsAcked`.
    fn sample(&mut self, ack: &Ack) {
        let sample = match self.dialect {
            Dialect::Reference => ack.rtt,
            // Whole microseconds plus one, so that no sample is zero.
            Dialect::Linux => ack.newest_rtt.map(|rtt| Duration::from_micros(rtt.as_nanos() / 1000 + 1)),
            Dialect::Ns3 => ack.srtt,
        };
        let Some(rtt) = sample else { return };
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.round.min = Some(self.round.min.map_or(rtt, |min| min.min(rtt)));
        self.round.samples += 1;
    }

    fn is_round_over(&self, ack: &Ack) -> bool {
        if self.dialect == Dialect::Linux { ack.acked_to > self.round.end } else { ack.acked_to >= self.round.end }
    }

    fn adjust(&mut self, window: &mut Window, ack: &Ack, base: Duration, rtt: Duration) {
        let cwnd = window.cwnd / window.mss;
        let target = mul_div(cwnd, base.as_nanos(), rtt.as_nanos().max(1));
        let backlog = match self.dialect {
            Dialect::Reference => {
                let above = (rtt - base).as_secs_f64() / rtt.max(Duration::from_nanos(1)).as_secs_f64();
                window.cwnd as f64 / window.mss as f64 * above
            }
            Dialect::Linux => mul_div(cwnd, (rtt - base).as_nanos(), base.as_nanos().max(1)) as f64,
            Dialect::Ns3 => (cwnd - target) as f64,
        };
        if window.in_slow_start() {
            if backlog <= self.constants.gamma {
                self.slow_start(window, ack);
            } else if self.dialect == Dialect::Reference {
                window.ssthresh = window.cwnd;
            } else {
                window.cwnd = cwnd.min(target + 1) * window.mss;
                window.ssthresh = self.lowered_threshold(window);
            }
        } else if backlog > self.constants.beta {
            window.cwnd = cwnd.saturating_sub(1).max(1) * window.mss;
            // With a lowered threshold, a shrinking window stays in linear mode.
            window.ssthresh = self.lowered_threshold(window);
        } else if backlog < self.constants.alpha {
            window.cwnd = (cwnd + 1) * window.mss;
        }
        if self.dialect != Dialect::Ns3 {
            window.cwnd = window.cwnd.max(MIN_WINDOW * window.mss);
        }
        if self.dialect != Dialect::Reference {
            // tcp_current_ssthresh.
            window.ssthresh = window.ssthresh.max(window.cwnd / 2 + window.cwnd / 4);
        }
    }

    /// Returns the threshold after a decrease: min(ssthresh, cwnd) in `tcp_vegas_ssthresh`,
    /// min(ssthresh, cwnd − 1) in ns-3's `GetSsThresh`. The minimum of two segments is from
    /// `GetSsThresh`. In the other stacks the window has this minimum, so the threshold needs none.
    fn lowered_threshold(&self, window: &Window) -> u64 {
        let less = if self.dialect == Dialect::Ns3 { window.mss } else { 0 };
        window.ssthresh.min(window.cwnd.saturating_sub(less)).max(2 * window.mss)
    }

    fn slow_start(&mut self, window: &mut Window, ack: &Ack) {
        if self.dialect != Dialect::Reference || !self.round.holds {
            self.reno.slow_start.on_ack(window, ack);
        }
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.sample(ack);
        if ack.acked.bytes == 0 {
            return;
        }
        if !self.is_on {
            self.reno.on_ack(window, ack);
        } else if self.is_round_over(ack) {
            match (self.base, self.round.min) {
                (Some(base), Some(rtt)) if self.round.samples > FEW_SAMPLES || self.dialect == Dialect::Reference => {
                    self.adjust(window, ack, base, rtt);
                }
                _ => self.reno.on_ack(window, ack),
            }
            self.begin_round(ack.sent_to);
        } else if window.in_slow_start() {
            self.slow_start(window, ack);
        }
    }

    fn ssthresh(&mut self, now: Instant, window: &Window, flight: u64, signal: Signal) -> u64 {
        if self.dialect == Dialect::Ns3 {
            self.lowered_threshold(window)
        } else {
            self.reno.ssthresh(now, window, flight, signal)
        }
    }

    fn on_state(&mut self, now: Instant, window: &mut Window, state: CongestionState) {
        self.reno.on_state(now, window, state);
        self.is_on = state == CongestionState::Open;
        if self.is_on {
            self.begin_round(self.sent_to);
        }
    }

    #[inline(never)]
    fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        self.reno.on_sent(window, sent);
        // tcp_vegas_cwnd_event: nothing was in flight, so the path may have changed.
        if self.dialect == Dialect::Linux && sent.in_flight <= sent.bytes {
            self.base = None;
            self.is_on = true;
            self.begin_round(self.sent_to);
        }
        self.sent_to = self.sent_to.max(sent.end);
    }
}

#[cfg(test)]
mod tests;
