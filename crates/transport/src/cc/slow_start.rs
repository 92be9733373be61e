//! Slow start: the growth of the window until the first sign of congestion. Each algorithm defines
//! this sign.
//!
//! All algorithms double the window each round trip, as far as [`Growth`] permits. They differ in
//! the sign that ends slow start before a loss.

mod hystart;
pub mod hystart_plus_plus;
pub mod linux;
pub mod ns3;
pub mod quiche;

use super::constants::Constants as _;
use super::{Ack, Acked, Growth, Position, Start, Window};
use crate::fault::Fault;
use acklab_base::Instant;
use hystart_plus_plus::HystartPlusPlus;
use linux::LinuxHystart;
use ns3::Ns3Hystart;
use quiche::QuicheHystart;
use schemars::JsonSchema;
use serde::de::value::{Error, MapDeserializer};
use serde::{Deserialize, Serialize};

/// L of RFC 3465, §2.3: the maximum number of segments per ACK by which the window grows.
const BYTE_COUNTING_LIMIT: u64 = 2;

/// The algorithm that ends slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-acklab-shorthand" = "name"))]
pub enum SlowStart {
    /// Slow start ends only with a loss (RFC 5681, §3.1).
    Classic {},
    /// `HyStart++` (RFC 9406): a delay that grows from round to round starts conservative slow
    /// start, and then ends slow start.
    HystartPlusPlus(hystart_plus_plus::Config),
    /// Linux's `HyStart` (`tcp_cubic.c`, `hystart_update`): a long ACK train, or delay.
    LinuxHystart(linux::Config),
    /// ns-3.37's `HyStart` (`TcpCubic::HystartUpdate`): the signs of Linux's, with other
    /// thresholds.
    Ns3Hystart(ns3::Config),
    /// The hybrid slow start of Google's quiche (`HybridSlowStart`): the delay alone, checked once
    /// per round.
    QuicheHystart(quiche::Config),
}

impl SlowStart {
    /// RFC 9406 with its constants.
    pub const HYSTART_PLUS_PLUS: Self = Self::HystartPlusPlus(hystart_plus_plus::Config::PUBLISHED);
    /// Linux's with its constants.
    pub const LINUX_HYSTART: Self = Self::LinuxHystart(linux::Config::PUBLISHED);
    /// ns-3's with its constants.
    pub const NS3_HYSTART: Self = Self::Ns3Hystart(ns3::Config::PUBLISHED);

    /// Returns the algorithm that the RFCs recommend with this controller: RFC 9438, §4.10,
    /// recommends `HyStart++` for CUBIC.
    #[must_use]
    pub const fn standard(congestion: &super::ControllerConfig) -> Self {
        match congestion {
            super::ControllerConfig::Cubic(_) => Self::HYSTART_PLUS_PLUS,
            _ => Self::Classic {},
        }
    }

    /// Returns the algorithm of this name with its published constants, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::deserialize(MapDeserializer::<_, Error>::new(std::iter::once(("rule", name)))).ok()
    }

    /// Checks the constraints that the schema cannot express.
    ///
    /// # Errors
    /// Returns the first invalid constant.
    pub fn check(&self) -> Result<(), Fault> {
        match self {
            Self::Classic {} => Ok(()),
            Self::HystartPlusPlus(constants) => constants.check(),
            Self::LinuxHystart(constants) => constants.check(),
            Self::Ns3Hystart(constants) => constants.check(),
            Self::QuicheHystart(constants) => constants.check(),
        }
    }

    /// Returns its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classic {} => "classic",
            Self::HystartPlusPlus(_) => "hystart-plus-plus",
            Self::LinuxHystart(_) => "linux-hystart",
            Self::Ns3Hystart(_) => "ns3-hystart",
            Self::QuicheHystart(_) => "quiche-hystart",
        }
    }
}

/// The state of slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    growth: Growth,
    /// `true` if growth stops at the threshold.
    stops_at_threshold: bool,
    exit: Exit,
}

#[derive(Clone, Copy, Debug)]
enum Exit {
    Loss,
    PlusPlus(HystartPlusPlus),
    Linux(LinuxHystart),
    Ns3(Ns3Hystart),
    Quiche(QuicheHystart),
}

impl Phase {
    pub(super) fn new(start: &Start) -> Self {
        let exit = match &start.slow_start {
            SlowStart::Classic {} => Exit::Loss,
            SlowStart::HystartPlusPlus(constants) => Exit::PlusPlus(HystartPlusPlus::new(constants, start.paced)),
            SlowStart::LinuxHystart(constants) => Exit::Linux(LinuxHystart::new(constants, start.paced)),
            SlowStart::Ns3Hystart(constants) => Exit::Ns3(Ns3Hystart::new(constants)),
            SlowStart::QuicheHystart(constants) => Exit::Quiche(QuicheHystart::new(constants)),
        };
        Self { growth: start.growth, stops_at_threshold: true, exit }
    }

    /// Follows ns-3's `TcpCubic::IncreaseWindow`: the window grows by all acknowledged data and may
    /// exceed the threshold.
    pub(super) const fn past_the_threshold(self) -> Self {
        Self { growth: Growth::PerSegment, stops_at_threshold: false, ..self }
    }

    /// Processes an ACK. Returns the part of it that remains for congestion avoidance.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Ack) -> Acked {
        match &mut self.exit {
            Exit::Loss | Exit::PlusPlus(_) => {}
            Exit::Linux(hystart) => hystart.on_ack(window, ack),
            Exit::Ns3(hystart) => hystart.on_ack(window, ack),
            Exit::Quiche(hystart) => hystart.on_ack(window, ack),
        }
        if let Exit::PlusPlus(hystart) = &mut self.exit
            && hystart.is_first_slow_start(window)
        {
            hystart.on_ack(window, ack);
            return Acked::default();
        }
        if !ack.may_grow {
            return Acked::default();
        }
        if !window.in_slow_start() {
            return ack.acked;
        }
        self.grow(window, ack.acked)
    }

    /// Restarts slow start after a retransmission timeout.
    pub(super) const fn on_timeout(&mut self, now: Instant, sent_to: Position) {
        match &mut self.exit {
            Exit::Loss | Exit::PlusPlus(_) => {}
            Exit::Linux(hystart) => hystart.reset(now, sent_to),
            Exit::Ns3(hystart) => hystart.reset(now, sent_to),
            Exit::Quiche(hystart) => hystart.reset(),
        }
    }

    /// Increases the window up to the threshold. Returns the part of `acked` that is left for
    /// congestion avoidance.
    #[inline(never)]
    fn grow(&self, window: &mut Window, acked: Acked) -> Acked {
        let wanted = match self.growth {
            // The ACK that ends slow start also counts in congestion avoidance, if it covers more
            // than one segment (ns-3's IncreaseWindow).
            Growth::PerAck => {
                let grown = acked.segments.min(1) * window.mss;
                window.cwnd += grown;
                return rest(window, acked, grown);
            }
            Growth::PerSegment => acked.bytes,
            Growth::ByteCounting => acked.bytes.min(BYTE_COUNTING_LIMIT * window.mss),
        };
        let room = if self.stops_at_threshold { window.ssthresh - window.cwnd } else { u64::MAX };
        let grown = wanted.min(room);
        window.cwnd += grown;
        if self.stops_at_threshold { rest(window, acked, grown) } else { Acked::default() }
    }
}

/// Returns the remainder of an ACK after slow start used `grown` bytes; zero if slow start
/// continues.
const fn rest(window: &Window, acked: Acked, grown: u64) -> Acked {
    if window.in_slow_start() {
        return Acked { bytes: 0, segments: 0 };
    }
    Acked {
        bytes: acked.bytes.saturating_sub(grown),
        segments: acked.segments.saturating_sub(grown.div_ceil(window.mss)),
    }
}
