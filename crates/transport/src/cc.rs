//! Congestion controllers, which decide how much data a sender may have in flight, and how fast it
//! may send.
//!
//! | module | contents |
//! |---|---|
//! | [`newreno`], [`cubic`], [`vegas`], [`dctcp`], [`prague`], [`bbr`], [`bbr3`], [`copa`], [`pcc`], [`verus`], [`sprout`], [`indigo`] | one controller each |
//! | [`slow_start`] | algorithms that end slow start before a loss |
//! | `input` | the inputs of a controller: ACKs, transmissions, losses |
//! | `window` | the congestion window, and its growth and reduction |
//! | `departures` | the records of transmissions for Verus, Sprout and Indigo |
//! | `model` | parts that BBR 1 and BBR 3 share |
//! | `settings` | the contract of settings |
//! | `registry` | the list of built-in controllers |
//! | `constants` | published constants as settings |
//!
//! A [`CongestionControl`] changes a [`Window`]. The sender reports each ACK to the controller and
//! requests a slow-start threshold from it on a congestion event. The controller does not decide
//! what is retransmitted. Each controller is one file in this directory and one entry in
//! `registry.rs`. A custom controller implements [`CongestionControl`] and has a name.

pub mod bbr;
pub mod bbr3;
pub mod bbr_tack;
mod constants;
mod controlled_window;
pub mod copa;
pub mod cubic;
pub mod dctcp;
mod departures;
pub mod indigo;
mod input;
mod model;
pub mod newreno;
pub mod pcc;
mod position;
pub mod prague;
mod registry;
mod settings;
pub mod slow_start;
pub mod sprout;
pub mod vegas;
pub mod verus;
mod window;

pub(crate) use controlled_window::ControlledWindow;
pub use input::{Ack, Lost, Sent, Signal};
pub use model::gain::Gain;
pub use position::Position;
pub use registry::{Controller, ControllerConfig};
pub use settings::Settings;
pub use slow_start::SlowStart;
pub use window::{Acked, FlightMeasure, Growth, Window};

use crate::ack::tack::Law;
use crate::pacing::Burst;
use crate::recovery::CongestionState;
use crate::recovery::transmission::Transmission;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of a controller. Each controller with several versions documents their differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// The version in the controller's RFC or paper.
    Reference,
    /// The version of Linux.
    Linux,
    /// The version of ns-3.37.
    Ns3,
}

/// The context with which a controller is created.
#[derive(Clone, Debug)]
pub struct Start {
    /// Payload of a full-sized segment, in bytes.
    pub mss: u64,
    /// Initial window, in bytes.
    pub initial_window: u64,
    /// The rule by which a Reno-like window grows.
    pub growth: Growth,
    /// The algorithm that ends slow start before a loss.
    pub slow_start: SlowStart,
    /// The version of the controller.
    pub dialect: Dialect,
    /// `true` if sending is paced even if the controller sets no rate.
    pub paced: bool,
    /// The burst that may be sent without pacing, if pacing permits bursts.
    pub burst: Option<Burst>,
    /// The random stream of this controller.
    pub random: Stream,
}

/// The purpose for which a controller needs feedback now. A sender may adapt its requests for ACKs
/// to the purpose (draft-ietf-ccwg-bbr, section on the impact of changing ACK frequency).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The controller searches for bandwidth, and needs frequent samples of the delivery rate:
    /// BBR's Startup, `ProbeBW_REFILL` and `ProbeBW_UP`.
    Probes,
    /// The controller relies on its estimates: BBR's Drain, `ProbeBW_DOWN` and `ProbeBW_CRUISE`.
    Cruises,
    /// The controller has drained the queue to measure the minimum round-trip time: BBR's
    /// `ProbeRTT`.
    ProbesRtt,
}

acklab_base::contract! {
    /// The interface of a controller. The sender calls, in this order:
    ///
    /// 1. [`on_established`](Self::on_established) once, after the handshake;
    /// 2. [`ssthresh`](Self::ssthresh) and then [`on_state`](Self::on_state) when an ACK or a timer
    ///    changes the [`CongestionState`];
    /// 3. [`on_lost`](Self::on_lost) for every transmission that the ACK or timer marked lost;
    /// 4. [`on_outcomes`](Self::on_outcomes), if [`wants_outcomes`](Self::wants_outcomes), and then
    ///    [`on_ack`](Self::on_ack) for every ACK;
    /// 5. [`on_sent`](Self::on_sent) for every segment with data that is sent;
    /// 6. [`on_deadline`](Self::on_deadline) at the [deadline](Self::deadline) of a controller that
    ///    [keeps time](Self::keeps_time).
    ///
    /// During a recovery, the sender reduces the window to the threshold (PRR), unless the
    /// controller [governs the window](Self::governs_window).
    pub trait CongestionControl, delegated by delegate_controller {
        /// Processes the end of the handshake. `rtt` is its round-trip time, or `None` if the SYN
        /// was retransmitted.
        fn on_established(&mut self, _now: Instant, _window: &mut Window, _rtt: Option<Duration>) {}

        /// Sets the parameters that TACK's receiver uses in its ACK frequency formula.
        fn on_frequency(&mut self, _law: Law) {}

        /// Processes an ACK.
        fn on_ack(&mut self, window: &mut Window, ack: &Ack);

        /// Returns the slow-start threshold after a congestion event. `flight` is the amount to be
        /// reduced ([`FlightMeasure`]).
        fn ssthresh(&mut self, now: Instant, window: &Window, flight: u64, signal: Signal) -> u64;

        /// Processes the entry of congestion control into `state`.
        fn on_state(&mut self, _now: Instant, _window: &mut Window, _state: CongestionState) {}

        /// Processes the undo of the last reduction, which was spurious. The window has been
        /// restored, unless the controller [governs it](Self::governs_window).
        fn on_undo(&mut self, _now: Instant, _window: &mut Window) {}

        /// Processes a transmission that was marked lost.
        fn on_lost(&mut self, _window: &Window, _lost: &Lost) {}

        /// Processes a data segment that has been sent.
        @inline fn on_sent(&mut self, _window: &mut Window, _sent: &Sent) {}

        /// Processes the outcomes of transmissions that this ACK, or a timer since the previous
        /// ACK, has revealed.
        fn on_outcomes(&mut self, _fates: &[Transmission]) {}

        /// Returns `true` if the controller uses a timer. Only then is its
        /// [deadline](Self::deadline) read.
        fn keeps_time(&self) -> bool {
            false
        }

        /// Returns when [`on_deadline`](Self::on_deadline) must be called, or `None`. Each other
        /// call may change it.
        fn deadline(&self) -> Option<Instant> {
            None
        }

        /// Processes the deadline. `in_flight` is the estimated number of bytes in flight.
        /// Afterwards the deadline must be later than `now`, or `None`.
        fn on_deadline(&mut self, _now: Instant, _window: &mut Window, _in_flight: u64) {}

        /// Returns the pacing rate, or `None` if the controller sets none.
        @inline fn pacing_rate(&self) -> Option<Rate> {
            None
        }

        /// Returns `true` if the controller also sets the window in a recovery and after a timeout.
        fn governs_window(&self) -> bool {
            false
        }

        /// Returns the number of congestion windows that a send buffer should hold (Linux's
        /// `tcp_sndbuf_expand`).
        fn send_buffer_windows(&self) -> u64 {
            2
        }

        /// Returns `true` if the controller reads [`Ack::rate`].
        fn wants_delivery_rate(&self) -> bool {
            false
        }

        /// Returns `true` if the controller limited sending on purpose at the last ACK, as BBR does
        /// in `ProbeRTT`. Rate samples of segments that are sent then are marked
        /// application-limited.
        fn limits_itself(&self) -> bool {
            false
        }

        /// Returns the purpose for which the controller needs feedback now, or `None` if the
        /// controller does not depend on frequent feedback.
        fn phase(&self) -> Option<Phase> {
            None
        }

        /// Returns `true` if the controller requires the outcome of each transmission.
        fn wants_outcomes(&self) -> bool {
            false
        }
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;
