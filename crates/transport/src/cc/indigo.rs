//! Indigo (Yan et al., "Pantheon: the training ground for Internet congestion-control research",
//! USENIX ATC 2018): a recurrent network, trained to imitate an oracle with the true
//! bandwidth-delay product.
//!
//! The method is that of the paper. acklab trains the network: `scripts/train_indigo.py` trains it
//! on acklab's paths and writes `indigo/weights.rs`. Names are those of the authors' program
//! (github.com/StanfordSNR/indigo, revision 463d89b). Every 10 ms, at an ACK, the network chooses
//! one of five actions on the window. Its inputs are the moving averages of queueing delay,
//! delivery rate and sending rate, the window, and the last action.
//!
//! | module | holds |
//! |---|---|
//! | `network` | the LSTM cells, and the layer that scores actions |
//! | `weights` | their weights |

mod network;
#[allow(clippy::approx_constant, reason = "a weight may lie next to one")]
mod weights;

use super::constants::constants;
use super::departures::Departures;
use super::{Ack, CongestionControl, Sent, Settings, Signal, Start, Window};
use crate::recovery::transmission::Transmission;
use acklab_base::{Duration, Instant};
use network::{ACTIONS, INPUTS, Network};

constants! {
    /// The constants of Indigo.
    Config {
        /// The minimum time between two actions (`step_len_ms`).
        step: Duration = Duration::from_millis(10),
        /// The weight of the old value in the moving averages (`update_state`).
        #[schemars(range(min = 0.0, max = 1.0))]
        memory: f64 = 0.875,
        /// The initial window, in packets (`Sender.__init__`).
        #[schemars(range(min = 1.0, max = 1_000_000.0))]
        initial_window: f64 = 10.0,
        /// The minimum window, in packets (`take_action`).
        #[schemars(range(min = 1.0, max = 1_000_000.0))]
        min_window: f64 = 2.0,
        /// The maximum window, in packets. Indigo has no bound.
        #[schemars(range(min = 2.0, max = 1_000_000.0))]
        max_window: f64 = 100_000.0,
    }
}

impl Settings for Config {
    type Controller = Indigo;

    fn controller(&self, start: &Start) -> Indigo {
        Indigo::new(self, start)
    }
}

/// The Mbps of a byte per millisecond (`update_state`).
const MEGABITS: f64 = 0.008;
/// The kilobits of a packet.
const PACKET: f64 = 12.0;

/// The numbers of bytes sent and delivered when a packet was sent.
#[derive(Clone, Copy, Debug)]
struct Record {
    sent: u64,
    delivered: u64,
    delivered_at: Instant,
}

/// A sample, or the moving averages of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    /// Milliseconds.
    queueing_delay: f64,
    /// Megabits per second.
    delivery_rate: f64,
    /// Megabits per second.
    send_rate: f64,
}

impl State {
    fn averaged(self, sample: Self, memory: f64) -> Self {
        let average = |mean: f64, value: f64| memory * mean + (1.0 - memory) * value;
        Self {
            queueing_delay: average(self.queueing_delay, sample.queueing_delay),
            delivery_rate: average(self.delivery_rate, sample.delivery_rate),
            send_rate: average(self.send_rate, sample.send_rate),
        }
    }
}

/// The state of Indigo.
#[derive(Clone, Debug)]
pub struct Indigo {
    constants: Config,
    mss: u64,
    /// The congestion window, in packets.
    window: f64,
    /// The number of bytes sent.
    sent: u64,
    delivered: u64,
    delivered_at: Instant,
    records: Departures<Record>,
    /// The sending time of the newest packet delivered since the last sample.
    newest: Option<Instant>,
    /// Milliseconds.
    min_rtt: f64,
    /// The moving averages since the last action.
    state: Option<State>,
    step_began: Option<Instant>,
    last_action: usize,
    network: Network,
}

fn millis(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}

impl Indigo {
    pub(super) fn new(constants: &Config, start: &Start) -> Self {
        Self {
            constants: *constants,
            mss: start.mss,
            window: constants.initial_window,
            sent: 0,
            delivered: 0,
            delivered_at: Instant::ZERO,
            records: Departures::default(),
            newest: None,
            min_rtt: f64::INFINITY,
            state: None,
            step_began: None,
            last_action: ACTIONS - 1,
            network: Network::default(),
        }
    }

    /// Takes a sample. `sent_at` and `rtt` are the sending time and round-trip time of the newest
    /// delivered packet (`update_state`).
    fn sample(&mut self, now: Instant, sent_at: Instant, rtt: Duration) {
        self.records.take_before(sent_at, drop);
        let Some(record) = self.records.get(sent_at) else { return };
        let rtt = millis(rtt);
        self.min_rtt = self.min_rtt.min(rtt);
        let sample = State {
            queueing_delay: rtt - self.min_rtt,
            delivery_rate: MEGABITS * (self.delivered - record.delivered) as f64
                / millis(now.since(record.delivered_at)).max(1.0),
            send_rate: MEGABITS * (self.sent - record.sent) as f64 / rtt.max(1.0),
        };
        self.state = Some(self.state.map_or(sample, |state| state.averaged(sample, self.constants.memory)));
    }

    /// Returns the inputs as logarithms: the packets in the queue, the window, the ratio of the
    /// rates, and the delay. Logarithms have no scale, so that one network serves paths whose rates
    /// and delays differ by orders of magnitude.
    fn inputs(&self, state: &State) -> [f64; INPUTS] {
        let mut inputs = [0.0; INPUTS];
        inputs[0] = libm::log(1.0 + state.queueing_delay * state.delivery_rate / PACKET) / 3.0 - 1.0;
        inputs[1] = libm::log(self.window) / 3.0 - 1.0;
        inputs[2] = libm::log((0.001 + state.delivery_rate) / (0.001 + state.send_rate));
        inputs[3] = libm::log(1.0 + state.queueing_delay) / 3.0 - 1.0;
        inputs[INPUTS - ACTIONS + self.last_action] = 1.0;
        inputs
    }

    /// `take_action`.
    fn act(&mut self, state: &State) {
        self.last_action = self.network.action(&self.inputs(state));
        let window = match self.last_action {
            0 => self.window / 2.0,
            1 => self.window - 10.0,
            2 => self.window,
            3 => self.window + 10.0,
            _ => self.window * 2.0,
        };
        self.window = window.max(self.constants.min_window).min(self.constants.max_window);
    }

    fn apply(&self, window: &mut Window) {
        window.cwnd = self.window as u64 * self.mss;
    }
}

impl CongestionControl for Indigo {
    fn on_established(&mut self, now: Instant, window: &mut Window, _rtt: Option<Duration>) {
        self.mss = window.mss;
        self.delivered_at = now;
        self.apply(window);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.delivered += ack.delivered;
        if ack.delivered > 0 {
            self.delivered_at = ack.now;
        }
        let delivered = self.records.take_delivered();
        self.newest = delivered.iter().copied().chain(self.newest).max();
        self.records.reuse(delivered);
        // The round-trip time may differ from the packet's age: TACK subtracts the time for which
        // the receiver waited.
        if let Some(rtt) = ack.newest_rtt
            && let Some(sent_at) = self.newest.take()
        {
            self.sample(ack.now, sent_at, rtt);
        }
        let began = *self.step_began.get_or_insert(ack.now);
        if ack.now.since(began) > self.constants.step
            && let Some(state) = self.state.take()
        {
            self.act(&state);
            self.step_began = Some(ack.now);
        }
        self.apply(window);
    }

    /// Indigo has no threshold.
    fn ssthresh(&mut self, _now: Instant, _window: &Window, _flight: u64, _signal: Signal) -> u64 {
        u64::MAX
    }

    fn on_sent(&mut self, _window: &mut Window, sent: &Sent) {
        let record = Record { sent: self.sent, delivered: self.delivered, delivered_at: self.delivered_at };
        self.records.push(sent.now, record);
        self.sent += sent.bytes;
    }

    fn on_outcomes(&mut self, outcomes: &[Transmission]) {
        self.records.note(outcomes, drop);
    }

    fn wants_outcomes(&self) -> bool {
        true
    }

    fn governs_window(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
