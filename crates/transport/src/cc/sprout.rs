//! Sprout (Winstein, Sivaraman, Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low
//! Delay over Cellular Networks", NSDI 2013).
//!
//! Every 20 ms, the arrivals of packets update a probability distribution of the link's rate. The
//! model is a Poisson process whose rate is a random walk. It yields a cautious forecast: the
//! number of packets that arrive within the next ticks with a probability of 95 %. The sender keeps
//! as much in flight as the forecast delivers within 100 ms. Sections are of the paper. Details
//! that it omits follow the authors' program (github.com/keithw/sprout, revision c838669), which
//! Pantheon runs.
//!
//! | module | rule |
//! |---|---|
//! | `link` | the distribution of the rate and its forecasts (§3.1 to §3.3) |
//!
//! **Where the receiver's part runs.** In the authors' program, the receiver infers the rate and
//! sends the forecast with its next packet. The sender uses the forecast when it arrives, without a
//! correction for the return path (`SproutConnection::recv`). Here the sender infers the rate from
//! the ACKs. The ACKs have the spacing of the arrivals if each packet has an ACK, and the return
//! path neither loses nor unevenly delays ACKs. A forecast is then ready when the receiver's
//! forecast would have arrived. Two things differ. Ticks have other phases. ACKs that are lost,
//! removed or bunched distort the counts, while a late forecast does not.

mod link;

use super::constants::constants;
use super::departures::Departures;
use super::{Ack, CongestionControl, Lost, Sent, Settings, Signal, Start, Window};
use crate::recovery::transmission::Transmission;
use acklab_base::{Duration, Instant};
use link::{Forecasts, Link};

constants! {
    /// The constants of Sprout.
    Config {
        /// The length of a tick (§3.1).
        tick: Duration = Duration::from_millis(20),
        /// The maximum rate of a link, in packets per second (§3.1).
        #[schemars(range(min = 1.0, max = 1_000_000.0))]
        max_rate: f64 = 1000.0,
        /// The number of discrete rates (§3.1).
        #[schemars(range(min = 2, max = 4096))]
        rates: u32 = 256,
        /// σ: the standard deviation of the rate after one second, in packets per second (§3.1).
        #[schemars(range(min = 0.1, max = 1_000_000.0))]
        wander: f64 = 200.0,
        /// λz: the rate at which a link leaves an outage, per second (§3.1).
        #[schemars(range(min = 0.001, max = 1000.0))]
        outage_escape: f64 = 1.0,
        /// The length of a forecast in ticks (§3.3).
        #[schemars(range(min = 1, max = 100))]
        forecast_ticks: u32 = 8,
        /// The probability that fewer packets arrive than forecast (§3.3).
        #[schemars(range(min = 0.0001, max = 0.9999))]
        caution: f64 = 0.05,
        /// The tolerated delay in ticks (§3.5; `TARGET_DELAY_TICKS`).
        #[schemars(range(min = 1, max = 100))]
        delay_ticks: u32 = 5,
        /// The maximum number of packets per tick of a forecast (`MAX_ARRIVALS_PER_TICK`).
        #[schemars(range(min = 1, max = 10_000))]
        most_arrivals: u32 = 30,
        /// An earlier packet is considered received or lost if a packet arrives that was sent later
        /// by at least this time (§3.4).
        reordering: Duration = Duration::from_millis(10),
        /// The announced time to the next packet in the last packet of a flight
        /// (`fallback_interval` of `sproutbt2.cc`). After this time, a packet is sent in any case.
        heartbeat: Duration = Duration::from_millis(50),
    }
}

impl Settings for Config {
    type Controller = Sprout;

    fn controller(&self, start: &Start) -> Sprout {
        Sprout::new(self, start)
    }
}

/// The record of a packet that is sent.
#[derive(Clone, Copy, Debug)]
struct Record {
    octets: u64,
    /// `true` if the packet used up the window.
    ends_flight: bool,
}

/// The state of Sprout.
#[derive(Clone, Debug)]
pub struct Sprout {
    constants: Config,
    mss: u64,
    /// The model. It is computed when the connection is established, because the computation takes
    /// time.
    model: Option<(Link, Forecasts)>,
    /// The beginning of the present tick.
    began: Instant,
    /// The end of the present tick, unless there is nothing to send.
    next_tick: Option<Instant>,
    /// The time before which ticks without arrivals are not used as observations, because no packet
    /// was sent for them (§3.4, "time-to-next").
    silent_until: Instant,
    /// The bytes that arrived in the present tick.
    arrived: u64,
    /// The bytes that the window still permits.
    credit: u64,
    last_sent: Instant,
    sent: Departures<Record>,
    /// The bytes that are neither received nor lost.
    outstanding: u64,
}

impl Sprout {
    pub(super) fn new(constants: &Config, start: &Start) -> Self {
        Self {
            constants: *constants,
            mss: start.mss,
            model: None,
            began: Instant::ZERO,
            next_tick: None,
            silent_until: Instant::ZERO,
            arrived: 0,
            credit: 0,
            last_sent: Instant::ZERO,
            sent: Departures::default(),
            outstanding: 0,
        }
    }

    /// Returns the number of arrivals in the last tick, or `None` if the tick is not used as an
    /// observation (`Receiver::advance_to`).
    fn observation(&self) -> Option<u32> {
        if self.arrived == 0 {
            return (self.began >= self.silent_until).then_some(0);
        }
        Some(((self.arrived as f64 / self.mss as f64).round() as u32).max(1))
    }

    /// Returns the packets expected to arrive within the tolerated delay after the end of the first
    /// tick (`SproutConnection::window_size`, whose first forecast is for the end of the first
    /// tick).
    fn window(&self) -> u64 {
        let Some((link, forecasts)) = &self.model else { return 0 };
        let Config { caution, delay_ticks, .. } = self.constants;
        let by = |ticks: u32| u64::from(forecasts.arrivals(link, ticks, caution));
        let last = (1 + delay_ticks).min(forecasts.ticks());
        by(last) - by(1)
    }

    fn apply(&self, window: &mut Window, in_flight: u64) {
        window.cwnd = (in_flight + self.credit).max(self.mss);
    }
}

impl CongestionControl for Sprout {
    fn on_established(&mut self, now: Instant, window: &mut Window, _rtt: Option<Duration>) {
        let Config { tick, max_rate, rates, wander, outage_escape, forecast_ticks, most_arrivals, .. } = self.constants;
        self.mss = window.mss;
        let link = Link::new(rates as usize, max_rate, wander, outage_escape, tick.as_secs_f64());
        let forecasts = Forecasts::new(&link, forecast_ticks, most_arrivals as usize);
        self.model = Some((link, forecasts));
        (self.began, self.last_sent) = (now, now);
        self.next_tick = Some(now + tick);
        self.credit = self.window() * self.mss;
        self.apply(window, 0);
    }

    fn on_outcomes(&mut self, outcomes: &[Transmission]) {
        let outstanding = &mut self.outstanding;
        self.sent.note(outcomes, |record| *outstanding -= record.octets);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let delivered = self.sent.take_delivered();
        for &sent_at in &delivered {
            let Some(record) = self.sent.take(sent_at) else {
                // The packet was considered lost, but it arrived.
                self.arrived += self.mss;
                continue;
            };
            self.outstanding -= record.octets;
            self.arrived += record.octets;
            if record.ends_flight {
                self.silent_until = self.silent_until.max(self.began + self.constants.heartbeat);
            }
            let passed = sent_at.saturating_sub(self.constants.reordering);
            let outstanding = &mut self.outstanding;
            self.sent.take_before(passed, |record| *outstanding -= record.octets);
        }
        self.sent.reuse(delivered);
        self.apply(window, ack.in_flight);
    }

    fn on_lost(&mut self, _window: &Window, lost: &Lost) {
        let record = self.sent.take(lost.sent_at);
        self.outstanding -= record.map_or(0, |record| record.octets);
    }

    /// Sprout has no threshold.
    fn ssthresh(&mut self, _now: Instant, _window: &Window, _flight: u64, _signal: Signal) -> u64 {
        u64::MAX
    }

    fn on_sent(&mut self, _window: &mut Window, sent: &Sent) {
        self.credit = self.credit.saturating_sub(sent.bytes);
        self.sent.push(sent.now, Record { octets: sent.bytes, ends_flight: self.credit < self.mss });
        self.outstanding += sent.bytes;
        self.last_sent = sent.now;
        if self.next_tick.is_none() && self.model.is_some() {
            self.began = sent.now;
            self.next_tick = Some(sent.now + self.constants.tick);
        }
    }

    fn keeps_time(&self) -> bool {
        true
    }

    fn deadline(&self) -> Option<Instant> {
        self.next_tick
    }

    /// Processes the end of a tick: evolves the rate, updates it with the observation, and
    /// forecasts it. The window is the forecast within the tolerated delay, less the data in flight
    /// (§3.5).
    fn on_deadline(&mut self, now: Instant, window: &mut Window, in_flight: u64) {
        let is_idle =
            in_flight == 0 && self.credit >= self.mss && now.since(self.last_sent) >= self.constants.heartbeat * 2;
        let observation = self.observation();
        let Some((link, _)) = &mut self.model else { return self.next_tick = None };
        link.evolve();
        if let Some(arrivals) = observation {
            link.observe(arrivals);
        }
        (self.arrived, self.began) = (0, now);
        self.credit = (self.window() * self.mss).saturating_sub(self.outstanding) / self.mss * self.mss;
        if self.credit == 0 && now.since(self.last_sent) >= self.constants.heartbeat {
            self.credit = self.mss;
        }
        // The application has sent nothing for a while. Ticks resume with the next packet.
        self.next_tick = (!is_idle).then(|| now + self.constants.tick);
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
