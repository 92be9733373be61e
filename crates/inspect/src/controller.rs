//! Names the likely family of the congestion controller, from the data that it keeps in flight.
//!
//! Active probes provoke reactions that identify a controller (Padhye and Floyd, *On Inferring TCP
//! Behavior*, SIGCOMM 2001; Yang et al., *TCP Congestion Avoidance Algorithm Identification*,
//! IEEE/ACM ToN 22(4), 2014; Mishra et al., *The Great Internet TCP Congestion Control Census*,
//! SIGMETRICS 2019). A capture contains only the reactions that the path happened to provoke, so
//! "not known" is the usual result. The data in flight are summarised by round trips:
//!
//! | module | shows |
//! |---|---|
//! | `rounds` | the data in flight in each round trip |
//! | `sawtooth` | equal reductions at losses, with growth between them: Reno or CUBIC |
//! | `dips` | pauses at regular intervals that no loss explains: BBR |
//! | `cruise` | a window that rises and falls without losses, with a short queue: a delay-based controller |

mod cruise;
mod dips;
mod rounds;
mod sawtooth;

use crate::finding::Finding;
use cruise::Cruise;
use dips::Dips;
use rounds::{Round, Rounds};
use sawtooth::Sawtooth;
use serde::Serialize;

/// A family of congestion controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Halves its window at a loss (RFC 5681, §3.1).
    Reno,
    /// Reduces its window to seven tenths at a loss (RFC 9438, §4.6).
    Cubic,
    /// Keeps its rate through losses, as BBR does.
    RateBased,
    /// Keeps the queue short, without losses: Vegas, Copa and similar controllers, or BBR.
    DelayBased,
}

/// The family of a controller, with its evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) family: Family,
    /// The median ratio of the data in flight after a loss to those before it.
    pub(crate) ratio: Option<f64>,
    /// The number of reductions, pauses, or swings of the window.
    pub(crate) episodes: usize,
    /// The share of these that agree.
    pub(crate) agreement: f64,
}

/// Properties of the path besides the data in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Path {
    /// The rate of the bottleneck in bytes of payload per second, if it is known.
    pub(crate) rate: Option<f64>,
    /// The payload of a full-sized segment.
    pub(crate) mss: u64,
    /// `true` if ACKs come in bursts.
    pub(crate) is_bursty: bool,
}

/// The reactions of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reactions {
    rounds: Rounds,
    sawtooth: Sawtooth,
    dips: Dips,
    cruise: Cruise,
}

impl Reactions {
    /// Records that an ACK at `at` leaves the data from `acknowledged` to `highest` in flight.
    #[inline]
    pub(crate) fn acknowledge(&mut self, at: u64, acknowledged: u64, highest: u64, mss: u64) {
        if let Some(round) = self.rounds.acknowledge(at, acknowledged, highest) {
            self.end(round, mss);
        }
    }

    #[cold]
    fn end(&mut self, round: Round, mss: u64) {
        self.sawtooth.round(round, mss);
        self.dips.round(round, mss);
        self.cruise.round(round, mss);
    }

    /// Records a round-trip time in nanoseconds.
    #[inline]
    pub(crate) fn took(&mut self, nanos: u64) {
        self.rounds.took(nanos);
    }

    /// Records that something other than the controller limits the sender: the receive window, or
    /// the application.
    #[inline]
    pub(crate) fn limit(&mut self) {
        self.rounds.limit();
    }

    /// Records that a segment that is not full was sent.
    #[inline]
    pub(crate) fn shorten(&mut self) {
        self.rounds.shorten();
    }

    /// Records that a segment was retransmitted while data up to `highest` were sent.
    #[cold]
    pub(crate) fn retransmit(&mut self, highest: u64) {
        self.rounds.retransmit(highest);
    }

    /// Records a step of the capture's clock: no round spans it.
    pub(crate) fn cut(&mut self) {
        self.rounds.limit();
    }

    /// Returns the likely controller.
    pub(crate) fn name(&self, path: Path) -> Finding<Named> {
        let found = [self.sawtooth.name(path), self.dips.name(), self.cruise.name(path)];
        let mut reasons = Vec::new();
        for one in found {
            match (one.value(), one.reason()) {
                (Some(_), _) => return one,
                (None, reason) => reasons.extend(reason.map(str::to_owned)),
            }
        }
        Finding::not_known(reasons.join("; "))
    }
}
