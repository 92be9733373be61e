//! Determines the limit of a flow. `docs/models/limits.md` describes the rule and its reasons.

use crate::observed::Observed;
use crate::observers::World;
use crate::subjects::{Bottleneck, Place, Subjects};
use acklab_base::{Instant, LimitingFactor};
use acklab_net::Hosts;
use acklab_path::Counters;
use acklab_wifi::airtime::Use;
use std::ops::Range;

/// A hop with this utilisation, or a cell in which this share of the airtime is in use, is
/// considered busy.
const BUSY: f64 = 0.95;
/// A flow with this share of a hop's octets is considered alone there.
const ALONE: f64 = 0.95;
/// If ACKs are delayed for this share of the RTT, the return path limits the flow. Without the
/// delay, the same window would carry twice the data.
const LONG_WAIT: f64 = 0.5;

/// The use of a hop in the measurement window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HopUse {
    pub(crate) name: String,
    pub(crate) at: Place,
    /// The used share of the hop's capacity. For a cell, the used share of the airtime. `None` if
    /// transmission takes no time.
    pub(crate) busy: Option<f64>,
    /// The number of IP octets that arrived at a link, or that a cell has delivered.
    pub(crate) octets: u64,
}

/// The hops of a network.
pub(super) struct Hops {
    links: Vec<HopUse>,
    cells: Vec<HopUse>,
}

impl Hops {
    pub(super) fn of<P: Observed, H: Hosts<P>>(
        world: &mut World<P, H>,
        subjects: &Subjects,
        counters: &[Counters],
        window: &Range<Instant>,
    ) -> Self {
        let seconds = window.end.since(window.start).as_secs_f64();
        let of_link = |((place, counters), rate): ((usize, &Counters), Option<f64>)| HopUse {
            name: subjects.links[place].name.clone(),
            at: Place::Link(place),
            busy: rate.map(|rate| counters.bytes_on_wire.get() as f64 * 8.0 / seconds / rate),
            octets: counters.bytes_in.get(),
        };
        let rates = world.links().iter().map(|link| link.mean_rate(window));
        let links = counters.iter().enumerate().zip(rates).map(of_link).collect();
        let of_cell = |(place, cell): (usize, &mut acklab_wifi::Cell<P>)| HopUse {
            name: subjects.cells[place].name.clone(),
            at: Place::Cell(place),
            busy: Some(1.0 - cell.airtime(window.end).total(Use::Idle).as_secs_f64() / seconds),
            octets: cell.counters().iter().map(|counters| counters.delivered_bytes).sum(),
        };
        let cells = world.links_and_cells().1.iter_mut().enumerate().map(of_cell).collect();
        Self { links, cells }
    }

    /// Returns the use of the hop `bottleneck`.
    pub(super) fn at(&self, bottleneck: Option<Bottleneck>) -> Option<&HopUse> {
        match bottleneck?.at {
            Place::Link(direction) => self.links.get(direction),
            Place::Cell(cell) => self.cells.get(cell),
        }
    }
}

/// The facts about a flow that determine its limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// The share of the time, by limiting factor.
    pub(super) shares: [f64; LimitingFactor::ALL.len()],
    /// `true` if the flow has a congestion window.
    pub(super) has_window: bool,
    /// The use of the slowest hop of the sender's connection, and the flow's share of the hop's
    /// octets.
    pub(super) hop: Option<(f64, f64)>,
    /// The use of the slowest hop of the whole path, if that hop is after a proxy.
    pub(super) behind: Option<(f64, f64)>,
    /// The use of the slowest hop on the path of the ACKs.
    pub(super) return_busy: Option<f64>,
    /// The share of the RTT for which ACKs are delayed on their path.
    pub(super) return_wait: Option<f64>,
    /// `true` if packets of the flow were lost or marked.
    pub(super) has_congestion: bool,
}

impl Facts {
    /// Returns the limit of the flow.
    pub(super) fn limit(&self) -> &'static str {
        let share = |factor: LimitingFactor| self.shares[factor as usize];
        let network = share(LimitingFactor::Window) + share(LimitingFactor::Pacing);
        let (application, buffer) = (share(LimitingFactor::Application), share(LimitingFactor::SendBuffer));
        let peer = share(LimitingFactor::ReceiveWindow);
        if !self.has_window && self.has_congestion {
            // Without a congestion window, the application also sends data that the network then
            // drops.
            return of_busy(self.hop).unwrap_or("application");
        }
        if application > network && application >= buffer.max(peer) {
            return "application";
        }
        // Each of the other factors keeps much data in flight. If the path delays these data, the
        // path is the limit. Otherwise the factor is the limit.
        if let Some(limit) = self.of_path() {
            limit
        } else if network >= buffer.max(peer) {
            self.of_network()
        } else if buffer >= peer {
            "send buffer"
        } else {
            of_busy(self.behind).unwrap_or("receive window")
        }
    }

    /// Returns the limit of a flow whose path is busy, or whose ACKs are delayed so long that more
    /// data in flight would help less.
    fn of_path(&self) -> Option<&'static str> {
        let waits = self.return_wait.is_some_and(|share| share >= LONG_WAIT);
        let is_return_busy = self.return_busy.is_some_and(|busy| busy >= BUSY);
        of_busy(self.hop).or_else(|| (waits || is_return_busy).then_some("return path"))
    }

    /// Returns the limit of a flow that is limited by its window or pacing, while its path is not
    /// busy.
    fn of_network(&self) -> &'static str {
        if self.has_congestion {
            "losses"
        } else if self.shares[LimitingFactor::Pacing as usize] > self.shares[LimitingFactor::Window as usize] {
            "pacing"
        } else {
            "window"
        }
    }
}

/// Returns the limit of a flow whose slowest hop is busy. `hop` is the use of that hop and the
/// flow's share of it.
fn of_busy(hop: Option<(f64, f64)>) -> Option<&'static str> {
    let (_, own) = hop.filter(|(busy, _)| *busy >= BUSY)?;
    Some(if own >= ALONE { "rate" } else { "contention" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts of a flow that is limited by its congestion window for nine tenths of the time, and by
    /// its application for the rest.
    const FACTS: Facts = Facts {
        shares: [0.1, 0.0, 0.0, 0.9, 0.0],
        has_window: true,
        hop: Some((0.6, 1.0)),
        behind: None,
        return_busy: Some(0.02),
        return_wait: Some(0.1),
        has_congestion: false,
    };

    #[test]
    fn the_factor_of_most_of_the_time_decides() {
        for (shares, limit) in [
            ([0.4, 0.2, 0.2, 0.1, 0.1], "application"),
            ([0.2, 0.4, 0.2, 0.1, 0.1], "send buffer"),
            ([0.2, 0.1, 0.4, 0.2, 0.1], "receive window"),
            ([0.4, 0.0, 0.0, 0.35, 0.25], "window"),
            ([0.4, 0.0, 0.0, 0.25, 0.35], "pacing"),
        ] {
            assert_eq!(Facts { shares, ..FACTS }.limit(), limit, "{shares:?}");
        }
    }

    #[test]
    fn a_window_has_a_cause() {
        let busy = |own| Facts { hop: Some((0.97, own)), has_congestion: true, ..FACTS };
        assert_eq!(busy(0.99).limit(), "rate");
        assert_eq!(busy(0.5).limit(), "contention");
        assert_eq!(Facts { return_busy: Some(0.99), has_congestion: true, ..FACTS }.limit(), "return path");
        assert_eq!(Facts { return_wait: Some(0.5), ..FACTS }.limit(), "return path");
        assert_eq!(Facts { has_congestion: true, ..FACTS }.limit(), "losses");
        assert_eq!(Facts { hop: None, return_busy: None, return_wait: None, ..FACTS }.limit(), "window");
    }

    /// A buffer of twice the size carries twice the data, unless the link is busy, or ACKs are
    /// delayed for more than half of the round-trip time.
    #[test]
    fn a_buffer_is_no_cause_where_the_path_is() {
        for shares in [[0.0, 0.9, 0.1, 0.0, 0.0], [0.0, 0.1, 0.9, 0.0, 0.0]] {
            let held = Facts { shares, ..FACTS };
            assert_eq!(Facts { hop: Some((0.97, 1.0)), ..held }.limit(), "rate");
            assert_eq!(Facts { return_wait: Some(0.9), ..held }.limit(), "return path");
        }
    }

    /// A proxy stops reading while the hop after it is busy. The proxy's receive window is then
    /// full.
    #[test]
    fn a_window_of_a_proxy_has_its_cause_behind_it() {
        let held = Facts { shares: [0.0, 0.0, 0.9, 0.1, 0.0], ..FACTS };
        assert_eq!(Facts { behind: Some((0.99, 1.0)), ..held }.limit(), "rate");
        assert_eq!(Facts { behind: Some((0.5, 1.0)), ..held }.limit(), "receive window");
    }

    #[test]
    fn without_a_window_drops_at_a_busy_hop_tell_the_rate() {
        let datagrams = Facts { shares: [1.0, 0.0, 0.0, 0.0, 0.0], has_window: false, ..FACTS };
        assert_eq!(datagrams.limit(), "application");
        assert_eq!(Facts { hop: Some((1.0, 1.0)), has_congestion: true, ..datagrams }.limit(), "rate");
        assert_eq!(Facts { hop: Some((0.5, 1.0)), has_congestion: true, ..datagrams }.limit(), "application");
    }
}
