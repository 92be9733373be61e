//! Verus (Zaki, Pötsch, Chen, Subramanian, Görg, "Adaptive Congestion Control for Unpredictable
//! Cellular Networks", SIGCOMM 2015).
//!
//! The sender learns a delay profile: the delay of packets as a function of the window when they
//! were sent. Every 5 ms it raises or lowers a target delay, and looks up the window for that delay
//! in the profile. Constants are from the authors' program (github.com/yzaki/verus, `verus.hpp` of
//! revision 4b1bbf0), which Pantheon runs. Each rule names its function in that program.
//!
//! | module | rule |
//! |---|---|
//! | `profile` | the delay profile |
//!
//! The transport replaces two parts of the program. Its loss detection replaces a wait of 150 ms
//! for a missing packet. Its retransmission timer replaces a timeout of five delays, between 150 ms
//! and 1 s.

mod profile;

use super::constants::constants;
use super::departures::Departures;
use super::{Ack, CongestionControl, Lost, Sent, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use crate::recovery::transmission::Transmission;
use acklab_base::{Duration, Instant};
use profile::Profile;

constants! {
    /// The constants of Verus.
    Config {
        /// ε: the length of an epoch (`EPOCH`).
        epoch: Duration = Duration::from_millis(5),
        /// R: the target falls if the maximum delay exceeds this multiple of the minimum
        /// (`VERUS_R`).
        #[schemars(range(min = 1.0, max = 100.0))]
        delay_ratio: f64 = 6.0,
        /// δ1: the decrease of the target if the delay rises, in milliseconds (`DELTA1`).
        #[schemars(range(min = 0.01, max = 100.0))]
        decrease: f64 = 1.0,
        /// δ2: the increase of the target if the delay does not rise, and its decrease beyond the
        /// ratio, in milliseconds (`DELTA2`).
        #[schemars(range(min = 0.01, max = 100.0))]
        increase: f64 = 2.0,
        /// M: a loss sets the window to this fraction of the window when the lost packet was sent
        /// (`VERUS_M_DECREASE`).
        #[schemars(range(min = 0.01, max = 1.0))]
        loss_factor: f64 = 0.7,
        /// Slow start ends at this delay (`SS_EXIT_THRESHOLD`).
        slow_start_delay: Duration = Duration::from_millis(500),
        /// Slow start ends with a loss only if the window is larger than this, in packets
        /// (`removeExpiredPacketsFromSeqQueue`).
        #[schemars(range(min = 1, max = 10_000))]
        slow_start_window: u32 = 20,
        /// The time between two computations of the profile (`CURVE_TIMER`).
        profile_interval: Duration = Duration::from_secs(1),
        /// The weight of the old value in the moving averages of a window's delay and of all delays
        /// (`updateUponReceivingPacket`).
        #[schemars(range(min = 0.0, max = 1.0))]
        delay_memory: f64 = 0.875,
        /// The weight of the old value in the moving average of the maximum delay of an epoch
        /// (`main`).
        #[schemars(range(min = 0.0, max = 1.0))]
        max_memory: f64 = 0.2,
        /// The increase of the minimum delay if it equals the target and the path is empty, in
        /// milliseconds (`main`).
        #[schemars(range(min = 0.0, max = 1000.0))]
        least_step: f64 = 10.0,
    }
}

impl Settings for Config {
    type Controller = Verus;

    fn controller(&self, start: &Start) -> Verus {
        Verus::new(self, start)
    }
}

/// A smaller increase of the delay than this is ignored, in milliseconds (`main`).
const NO_RISE: f64 = 1e-4;
/// The minimum number of windows that the profile keeps when slow start ends with a loss
/// (`curveStop`).
const MIN_KEPT: u32 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    Epochs,
}

/// The state of Verus. Delays are in milliseconds and windows in packets.
#[derive(Clone, Debug)]
pub struct Verus {
    constants: Config,
    mss: u64,
    phase: Phase,
    /// `true` from a loss until the acknowledgment of a packet that was sent at a window no larger
    /// than the current one. The profile is not updated meanwhile.
    is_in_loss: bool,
    /// `true` during the loss phase that follows a slow start ended by its delay. The target does
    /// not fall further meanwhile.
    is_leaving: bool,
    /// W: the window for the target delay.
    window: f64,
    /// `D_est`: the target of the delay.
    target: f64,
    /// `D_min`.
    least: f64,
    /// `D_max`, smoothed.
    greatest: Option<f64>,
    /// The maximum delay of the present epoch.
    epoch_greatest: Option<f64>,
    /// The mean delay.
    mean: Option<f64>,
    last_ack: Instant,
    profile: Profile,
    /// The end of the present epoch, unless there is nothing to send.
    next_epoch: Option<Instant>,
    next_fit: Instant,
    /// The number of packets that may still be sent in this epoch.
    credit: u64,
    /// The window when each packet was sent.
    sent: Departures<u32>,
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Verus {
    pub(super) fn new(constants: &Config, start: &Start) -> Self {
        Self::starting(*constants, start.mss)
    }

    fn starting(constants: Config, mss: u64) -> Self {
        Self {
            constants,
            mss,
            phase: Phase::SlowStart,
            is_in_loss: false,
            is_leaving: false,
            window: 1.0,
            target: 0.0,
            least: f64::INFINITY,
            greatest: None,
            epoch_greatest: None,
            mean: None,
            last_ack: Instant::ZERO,
            profile: Profile::default(),
            next_epoch: None,
            next_fit: Instant::ZERO,
            credit: 0,
            sent: Departures::default(),
        }
    }

    /// Follows `restartSlowStart`: resets all state.
    fn restart(&mut self) {
        let last_ack = self.last_ack;
        *self = Self { last_ack, ..Self::starting(self.constants, self.mss) };
    }

    fn end_slow_start(&mut self, now: Instant) {
        self.phase = Phase::Epochs;
        self.next_epoch = Some(now + self.constants.epoch);
        self.fit(now);
    }

    /// Follows `delayProfile_thread`: without a profile, slow start begins again.
    fn fit(&mut self, now: Instant) {
        if self.profile.fit() {
            self.next_fit = now + self.constants.profile_interval;
        } else {
            self.restart();
        }
    }

    /// Processes the acknowledgment, after `delay`, of a packet that was sent at window `w`.
    fn on_delay(&mut self, now: Instant, w: u32, delay: f64) {
        let Config { loss_factor, slow_start_delay, delay_memory, .. } = self.constants;
        if self.phase == Phase::SlowStart && delay > millis(slow_start_delay) {
            self.window = (loss_factor * f64::from(w)).max(1.0);
            self.target = self.profile.delay_at(self.window);
            (self.is_in_loss, self.is_leaving) = (true, true);
            self.end_slow_start(now);
        }
        if self.is_in_loss && f64::from(w) <= self.window {
            (self.is_in_loss, self.is_leaving, self.epoch_greatest) = (false, false, None);
        }
        self.epoch_greatest = Some(self.epoch_greatest.map_or(delay, |greatest| greatest.max(delay)));
        self.mean = Some(self.mean.map_or(delay, |mean| delay_memory * mean + (1.0 - delay_memory) * delay));
        self.least = self.least.min(delay);
        if self.is_in_loss {
            self.window += 1.0 / self.window;
            if self.profile.is_fitted() {
                self.target = self.target.min(self.profile.delay_at(self.window));
            }
        } else {
            self.profile.add(w, delay, delay_memory);
        }
        if self.phase == Phase::SlowStart {
            self.window += 1.0;
        }
    }

    /// Returns the number of packets to send in the next epoch, with `in_flight` packets in flight:
    /// S = max(0, W + (2 − n)/(n − 1) · W_i), where n is the number of epochs per round trip
    /// (`calcSi`).
    fn packets_of_epoch(&self, in_flight: f64) -> u64 {
        let epochs = (self.mean.unwrap_or(0.0) / millis(self.constants.epoch)).ceil();
        let kept = if epochs > 1.0 { (epochs - 2.0) / (epochs - 1.0) } else { 1.0 };
        (self.window - kept * in_flight).max(0.0) as u64
    }

    fn end_epoch(&mut self, now: Instant, in_flight: u64) {
        let Config { delay_ratio, decrease, increase, max_memory, least_step, .. } = self.constants;
        let before = self.greatest;
        let silence = millis(now.since(self.last_ack));
        let greatest =
            self.epoch_greatest.take().unwrap_or_else(|| before.map_or(silence, |before| before.max(silence)));
        let before = before.unwrap_or(greatest);
        let mut is_held = false;
        if before > delay_ratio * self.least {
            if !self.is_leaving {
                self.target = self.least.max(self.target - increase);
                if self.target <= self.least {
                    if in_flight < 2 * self.mss {
                        self.least += least_step;
                    } else {
                        is_held = true;
                    }
                }
            }
        } else if greatest - before > NO_RISE {
            self.target = self.least.max(self.target - decrease);
        } else {
            self.target += increase;
        }
        let Some(window) = self.profile.window_at(self.target) else { return self.restart() };
        self.window = window.max(1.0);
        self.greatest = Some(max_memory * before + (1.0 - max_memory) * greatest);
        self.credit = if is_held { 0 } else { self.packets_of_epoch(in_flight as f64 / self.mss as f64) };
    }

    fn apply(&self, window: &mut Window, in_flight: u64) {
        let octets = match self.phase {
            Phase::SlowStart => (self.window * self.mss as f64) as u64,
            Phase::Epochs => in_flight + self.credit * self.mss,
        };
        window.cwnd = octets.max(self.mss);
    }
}

impl CongestionControl for Verus {
    fn on_established(&mut self, now: Instant, window: &mut Window, _rtt: Option<Duration>) {
        self.mss = window.mss;
        self.last_ack = now;
        self.apply(window, 0);
    }

    fn on_outcomes(&mut self, outcomes: &[Transmission]) {
        self.sent.note(outcomes, drop);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let delivered = self.sent.take_delivered();
        for &sent_at in &delivered {
            if let Some(w) = self.sent.take(sent_at) {
                self.last_ack = ack.now;
                self.on_delay(ack.now, w, millis(ack.now.since(sent_at)));
            }
        }
        self.sent.reuse(delivered);
        self.apply(window, ack.in_flight);
    }

    /// `removeExpiredPacketsFromSeqQueue`.
    fn on_lost(&mut self, _window: &Window, lost: &Lost) {
        let Some(w) = self.sent.take(lost.sent_at) else { return };
        if !self.is_in_loss {
            self.is_in_loss = true;
            self.window = self.window.min(self.constants.loss_factor * f64::from(w)).max(1.0);
            self.target = self.profile.delay_at(self.window);
        }
        if self.phase == Phase::SlowStart && self.window as u32 > self.constants.slow_start_window {
            self.profile.cut(w.max(MIN_KEPT));
            self.end_slow_start(lost.now);
        }
    }

    /// Verus has no threshold.
    fn ssthresh(&mut self, _now: Instant, _window: &Window, _flight: u64, _signal: Signal) -> u64 {
        u64::MAX
    }

    /// `TimeoutHandler`.
    fn on_state(&mut self, now: Instant, window: &mut Window, state: CongestionState) {
        if state != CongestionState::Loss {
            return;
        }
        match self.phase {
            Phase::SlowStart => self.end_slow_start(now),
            Phase::Epochs => (self.is_in_loss, self.target) = (true, self.least),
        }
        self.apply(window, 0);
    }

    fn on_sent(&mut self, _window: &mut Window, sent: &Sent) {
        self.sent.push(sent.now, (self.window as u32).max(1));
        self.credit = self.credit.saturating_sub(1);
        if self.phase == Phase::Epochs && self.next_epoch.is_none() {
            self.next_epoch = Some(sent.now + self.constants.epoch);
        }
    }

    fn keeps_time(&self) -> bool {
        true
    }

    fn deadline(&self) -> Option<Instant> {
        self.next_epoch
    }

    fn on_deadline(&mut self, now: Instant, window: &mut Window, in_flight: u64) {
        if in_flight == 0 && self.credit > 0 {
            // The application has sent nothing for an epoch. Epochs resume with the next packet.
            self.next_epoch = None;
            return;
        }
        self.next_epoch = Some(now + self.constants.epoch);
        if now >= self.next_fit {
            self.fit(now);
        }
        if self.phase == Phase::Epochs {
            self.end_epoch(now, in_flight);
        }
        self.apply(window, in_flight);
    }

    fn governs_window(&self) -> bool {
        true
    }

    fn wants_outcomes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
