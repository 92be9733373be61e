//! Fades and absences of nodes at given times.

use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A node whose signals fade for a while, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fade {
    /// The node: 0 is the access point, stations count from 1.
    pub node: usize,
    /// The start of the fade, since the start of the run.
    #[schemars(example = "2s")]
    pub from: Duration,
    /// The end of the fade, since the start of the run. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "2.5s")]
    pub until: Option<Duration>,
    /// The loss in dB. The losses of overlapping fades add up.
    #[schemars(range(min = 0.0))]
    pub loss: f64,
}

/// A node that leaves the channel for a while, for example to scan other channels. Meanwhile, it
/// neither transmits nor receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Absence {
    /// The node: 0 is the access point, stations count from 1.
    pub node: usize,
    /// The time at which the node leaves, since the start of the run.
    #[schemars(example = "2s")]
    pub from: Duration,
    /// The time at which the node returns, since the start of the run. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "2.1s")]
    pub until: Option<Duration>,
    /// `true` if the node announces the absence, as a station does by entering power save
    /// (11.2.3.2). The access point then keeps frames to the station. Otherwise, the access point
    /// transmits them without effect.
    #[serde(default)]
    pub announced: bool,
}

/// The presence of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// The node is present.
    #[default]
    Here,
    /// The node is absent without an announcement.
    Away,
    /// The node is absent, and has announced this.
    AwayAnnounced,
}

/// A quantity of each node that changes at known instants.
#[derive(Clone, Debug, Default)]
struct Steps<T> {
    /// The values of each node from each instant on, in order. Before the first instant, and for
    /// other nodes, the default applies.
    nodes: Vec<Vec<(Instant, T)>>,
}

impl<T: Copy + Default + PartialEq> Steps<T> {
    /// Creates the steps from spans, each of which contributes to the value while it lasts. `sum`
    /// combines the contributions.
    fn new<P: Copy>(spans: &[(usize, Span, P)], sum: impl Fn(&mut dyn Iterator<Item = P>) -> T) -> Self {
        let nodes = spans.iter().map(|(node, ..)| node + 1).max().unwrap_or(0);
        let mut steps = Self { nodes: vec![Vec::new(); nodes] };
        for (node, steps) in steps.nodes.iter_mut().enumerate() {
            let of_node = || spans.iter().filter(move |(of, ..)| *of == node);
            let mut edges: Vec<Instant> = of_node().flat_map(|(_, span, _)| [span.from, span.until]).collect();
            edges.sort_unstable();
            edges.dedup();
            for edge in edges {
                let value = sum(&mut of_node().filter(|(_, span, _)| span.holds(edge)).map(|(.., part)| *part));
                if steps.last().map_or(T::default(), |(_, last)| *last) != value {
                    steps.push((edge, value));
                }
            }
        }
        steps
    }

    fn at(&self, now: Instant, node: usize) -> T {
        let Some(steps) = self.nodes.get(node) else { return T::default() };
        let passed = steps.partition_point(|(at, _)| *at <= now);
        passed.checked_sub(1).map_or(T::default(), |last| steps[last].1)
    }

    /// Returns the first change of any node after `now`.
    fn next_change(&self, now: Instant) -> Option<Instant> {
        self.nodes
            .iter()
            .filter_map(|steps| steps.get(steps.partition_point(|(at, _)| *at <= now)))
            .map(|(at, _)| *at)
            .min()
    }
}

/// A span from an instant up to another, exclusive.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: Instant,
    until: Instant,
}

impl Span {
    fn new(from: Duration, until: Option<Duration>) -> Self {
        Self { from: Instant::ZERO + from, until: until.map_or(Instant::FAR_FUTURE, |until| Instant::ZERO + until) }
    }

    fn holds(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

/// Fades and absences of all nodes at any time.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    losses: Steps<f64>,
    presences: Steps<Presence>,
}

impl Schedule {
    /// Creates the schedule of these fades and absences, in any order. Of overlapping absences, one
    /// announced absence makes all of them announced.
    #[must_use]
    pub fn new(fades: &[Fade], absences: &[Absence]) -> Self {
        let fades: Vec<_> = fades.iter().map(|fade| (fade.node, Span::new(fade.from, fade.until), fade.loss)).collect();
        let absences: Vec<_> =
            absences.iter().map(|away| (away.node, Span::new(away.from, away.until), away.announced)).collect();
        Self {
            losses: Steps::new(&fades, |losses| losses.sum()),
            presences: Steps::new(&absences, |announced| match announced.reduce(|one, other| one || other) {
                None => Presence::Here,
                Some(false) => Presence::Away,
                Some(true) => Presence::AwayAnnounced,
            }),
        }
    }

    /// Returns the loss of a node's signals by fades, in dB.
    #[must_use]
    pub fn loss_db(&self, now: Instant, node: usize) -> f64 {
        self.losses.at(now, node)
    }

    /// Returns the presence of a node.
    #[must_use]
    pub fn presence(&self, now: Instant, node: usize) -> Presence {
        self.presences.at(now, node)
    }

    /// Returns the first instant after `now` at which a node leaves or returns.
    #[must_use]
    pub fn next_presence_change(&self, now: Instant) -> Option<Instant> {
        self.presences.next_change(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + ms(millis)
    }

    #[test]
    fn fades_hold_from_their_beginning_up_to_their_end_and_add_up() {
        let fade = |node, from, until: Option<u64>, loss| Fade { node, from: ms(from), until: until.map(ms), loss };
        let schedule =
            Schedule::new(&[fade(1, 30, None, 1.0), fade(1, 10, Some(20), 3.0), fade(1, 15, Some(40), 4.0)], &[]);
        let losses = [9, 10, 14, 15, 19, 20, 29, 30, 39, 40, 1_000_000].map(|ms| schedule.loss_db(at(ms), 1));
        let expected = [0.0, 3.0, 3.0, 7.0, 7.0, 4.0, 4.0, 5.0, 5.0, 1.0, 1.0];
        assert!(losses.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-12), "{losses:?}");
        assert!([0, 2, 99].iter().all(|node| schedule.loss_db(at(15), *node).abs() < 1e-12), "another node's");
    }

    #[test]
    fn an_absence_is_announced_or_not() {
        let away =
            |node, from, until: u64, announced| Absence { node, from: ms(from), until: Some(ms(until)), announced };
        let schedule = Schedule::new(&[], &[away(2, 50, 60, true), away(1, 10, 20, false), away(2, 55, 70, false)]);
        assert_eq!(schedule.presence(at(9), 1), Presence::Here);
        assert_eq!(schedule.presence(at(10), 1), Presence::Away);
        assert_eq!(schedule.presence(at(20), 1), Presence::Here);
        assert_eq!(
            [50, 55, 60, 70].map(|ms| schedule.presence(at(ms), 2)),
            [Presence::AwayAnnounced, Presence::AwayAnnounced, Presence::Away, Presence::Here]
        );
        let mut changes = Vec::new();
        let mut now = Instant::ZERO;
        while let Some(next) = schedule.next_presence_change(now) {
            changes.push(next.as_nanos() / 1_000_000);
            now = next;
        }
        assert_eq!(changes, [10, 20, 50, 60, 70]);
    }

    #[test]
    fn spans_that_touch_make_one() {
        let away = |from, until| Absence { node: 1, from: ms(from), until: Some(ms(until)), announced: false };
        let schedule = Schedule::new(&[], &[away(10, 20), away(20, 30)]);
        assert_eq!(schedule.next_presence_change(at(10)), Some(at(30)));
    }
}
