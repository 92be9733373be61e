//! How much a sender may have in flight, and how fast it may send.
//!
//! A [`CongestionControl`] moves a [`Window`]. It is told of each ACK and asked for a slow-start threshold when there was
//! congestion; what to retransmit is not its business. One controller is one file here and one line of `registry.rs`; one that is not
//! built in is a [`CongestionControl`] under a name.

pub mod bbr;
pub mod bbr3;
mod constants;
pub mod copa;
pub mod cubic;
pub mod dctcp;
mod model;
pub mod newreno;
pub mod pcc;
mod position;
mod registry;
pub mod slow_start;
pub mod vegas;

pub use model::gain::Gain;
pub use position::Position;
pub use registry::{Config, Controller, Settings};
pub use slow_start::SlowStart;

use crate::recovery::CongestionState;
use crate::recovery::delivery_rate::{Sample, Stamp};
use crate::recovery::fate::Fate;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose version of a controller is followed. The differences are listed at each controller that has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Its RFC's, or its paper's.
    Reference,
    /// Linux's.
    Linux,
    /// ns-3.37's.
    Ns3,
}

/// What a window grows by: where stacks differ most when ACKs are thinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// By the ACK, however much it covers: one segment an ACK in slow start, MSS²/cwnd in congestion avoidance (RFC 5681, §3.1,
    /// eq. 3; ns-2, ns-3's `TcpNewReno`).
    PerAck,
    /// By the segment that an ACK newly acknowledges, cumulatively or selectively, if it advances at all (Linux's `tcp_slow_start` and
    /// `tcp_cong_avoid_ai`, with `tcp_cong_control`'s `acked_sacked`).
    PerSegment,
    /// By the octet, at most two segments an ACK in slow start (RFC 3465, L = 2).
    ByteCounting,
}

/// What is halved on loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlightMeasure {
    /// Octets sent and not cumulatively acknowledged: FlightSize (RFC 5681, §3.1, eq. 4).
    FlightSize,
    /// Octets believed to be in the network: pipe (RFC 6675, §4), as ns-3 takes it.
    Pipe,
    /// The congestion window, as Linux's `tcp_reno_ssthresh` takes it.
    Window,
}

/// The congestion window, in octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold.
    pub ssthresh: u64,
    /// Payload of a full-sized segment.
    pub mss: u64,
}

impl Window {
    /// Below the threshold the window grows exponentially.
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// What an ACK acknowledged, as far as it counts for growth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// Octets of the stream.
    pub bytes: u64,
    /// Those in full-sized segments; what is left of a segment is carried to the next ACK.
    pub segments: u64,
}

/// One ACK, as a controller sees it, after loss recovery has drawn its conclusions. Sizes in octets.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it came.
    pub now: Instant,
    /// What it acknowledged, as far as that counts for growth: nothing in a fast recovery.
    pub acked: Acked,
    /// What it newly acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Delivered since the connection began, this included.
    pub total_delivered: u64,
    /// What it made count as lost.
    pub lost: u64,
    /// Of what it delivered, what the network had marked Congestion Experienced, if the receiver tells that.
    pub marked: u64,
    /// Believed in flight, after it.
    pub in_flight: u64,
    /// Believed in flight before it.
    pub prior_in_flight: u64,
    /// All below is acknowledged: snd.una of TCP; the number after the largest acknowledged one where packets are numbered.
    pub acked_to: Position,
    /// All below was sent: snd.nxt of TCP, the next packet number elsewhere.
    pub sent_to: Position,
    /// Its round-trip time, if it gave one: that of the oldest segment that it acknowledges (RFC 6298, §3).
    pub rtt: Option<Duration>,
    /// The time since the transmission left that left last of those that it delivers, unless it is one of something sent before.
    /// Unlike [`rtt`](Self::rtt), it counts nothing of what earlier segments waited for this one (`ca_rtt_us` of Linux's
    /// `tcp_clean_rtx_queue`, which is what delay-based controllers are given there).
    pub newest_rtt: Option<Duration>,
    /// Smoothed round-trip time, if there was a measurement.
    pub srtt: Option<Duration>,
    /// The shortest round-trip time of the connection.
    pub min_rtt: Option<Duration>,
    /// What it tells of the rate of delivery, for controllers that [want it](CongestionControl::wants_delivery_rate).
    pub rate: Option<Sample>,
    /// Where congestion control stands.
    pub state: CongestionState,
    /// Does the receiver acknowledge selectively?
    pub has_sack: bool,
    /// Did the window hold back sending just before it came?
    pub window_limited: bool,
    /// When pacing lets the next segment leave: now, if it does not hold it.
    pub departure: Instant,
    /// May the window grow by it? Not in a fast recovery, and not while something else than the window holds back sending.
    pub may_grow: bool,
}

/// A transmission, as a controller sees it. Sizes in octets.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it left.
    pub now: Instant,
    /// Its payload.
    pub bytes: u64,
    /// Believed in flight, this included.
    pub in_flight: u64,
    /// The position behind it.
    pub end: Position,
    /// Has it left before?
    pub is_retransmission: bool,
    /// Is the rate of sending the application's at present?
    pub is_app_limited: bool,
}

/// A transmission that was marked lost, as a controller sees it. Sizes in octets.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When it was marked.
    pub now: Instant,
    /// When it left.
    pub sent_at: Instant,
    /// Its payload.
    pub bytes: u64,
    /// The position at which it begins.
    pub start: Position,
    /// The position behind it.
    pub end: Position,
    /// What it remembers of its departure, if the controller [wants rates](CongestionControl::wants_delivery_rate).
    pub stamp: Stamp,
    /// Delivered since the connection began, the present ACK included.
    pub total_delivered: u64,
    /// Marked lost since the connection began, this included, if the controller wants rates.
    pub total_lost: u64,
}

/// Why the window is to be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Loss was detected.
    Loss,
    /// The receiver echoed a mark (RFC 3168).
    Mark,
    /// The retransmission timer expired.
    Timeout,
}

/// What a controller is given at its birth.
#[derive(Clone, Debug)]
pub struct Start {
    /// Payload of a full-sized segment.
    pub mss: u64,
    /// Initial window, in octets.
    pub initial_window: u64,
    /// What a Reno-like window grows by.
    pub growth: Growth,
    /// What ends slow start before a loss does.
    pub slow_start: SlowStart,
    /// Whose version of the controller is followed.
    pub dialect: Dialect,
    /// Is sending paced even if the controller names no rate?
    pub paced: bool,
    /// Its own chance.
    pub random: Stream,
}

/// The contract of a controller. The sender calls, in this order:
///
/// 1. [`on_established`](Self::on_established) once, after the handshake;
/// 2. [`ssthresh`](Self::ssthresh) and then [`on_state`](Self::on_state) when an ACK or a timer changes where congestion control
///    stands;
/// 3. [`on_lost`](Self::on_lost) for every transmission that the ACK or timer made count as lost;
/// 4. [`on_fates`](Self::on_fates), if it [wants them](Self::wants_fates), and then [`on_ack`](Self::on_ack) for every ACK;
/// 5. [`on_sent`](Self::on_sent) for every segment with data that leaves.
///
/// During a recovery the sender itself reduces the window to the threshold (PRR), unless the controller
/// [governs the window](Self::governs_window).
pub trait CongestionControl {
    /// The connection is open; the handshake took `rtt`, unless its SYN was sent twice.
    fn on_established(&mut self, _now: Instant, _window: &mut Window, _rtt: Option<Duration>) {}

    /// An ACK has come.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// The threshold after congestion, given the `flight` that is to be reduced.
    fn ssthresh(&mut self, now: Instant, window: &Window, flight: u64, signal: Signal) -> u64;

    /// Congestion control has entered `state`.
    fn on_state(&mut self, _now: Instant, _window: &mut Window, _state: CongestionState) {}

    /// The last reduction was for nothing, and the window has been restored, unless the controller
    /// [governs it](Self::governs_window).
    fn on_undo(&mut self, _now: Instant, _window: &mut Window) {}

    /// A transmission counts as lost.
    fn on_lost(&mut self, _window: &Window, _lost: &Lost) {}

    /// A segment with data has left.
    fn on_sent(&mut self, _window: &mut Window, _sent: &Sent) {}

    /// What became of transmissions, as the ACK that follows or a timer before it has shown.
    fn on_fates(&mut self, _fates: &[Fate]) {}

    /// How fast to send, if it says.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Does it move the window by itself also in a recovery and after a timeout?
    fn governs_window(&self) -> bool {
        false
    }

    /// Does it look at [`Ack::rate`]?
    fn wants_delivery_rate(&self) -> bool {
        false
    }

    /// Did it, at the last ACK, send less than it could on purpose? The rates of what it sends then are not the path's.
    fn limits_itself(&self) -> bool {
        false
    }

    /// Does it want to know what became of each transmission?
    fn wants_fates(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;
