//! How late packets were, and whether the results may be trusted.

use super::hosts::RealWorld;

use crate::scenario::Scenario;
use crate::table::Table;
use acklab_base::Duration;
use acklab_live::Lateness;

/// The 99th percentile of lateness may be this part of the smallest time constant of the scenario.
const SHARE_OF_LEAST: u64 = 20;
/// The bound where the scenario has no smaller time constant: a twentieth of 4 ms, the tick of a kernel with `HZ=250`.
const LARGEST_BOUND: Duration = Duration::from_micros(200);

/// Whether the results may be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Why they may not be trusted; empty if they may.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// Whether the results may be trusted.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// The timing of an emulation in its window of measurement.
#[derive(Debug)]
pub(super) struct Timing {
    lateness: Lateness,
    bound: Duration,
    is_realtime: bool,
    /// Packets that a device did not take.
    refused: u64,
    /// Packets that waited in a device until its queue was full.
    overruns: u64,
    ignored: u64,
}

/// The bound of the 99th percentile of lateness: a twentieth of the smallest delay of a link and interval of a gate, but at most 200 µs.
fn bound(scenario: &Scenario) -> Duration {
    let directions = scenario.link.iter().flat_map(|link| [&link.forward, &link.reverse]);
    let constants =
        directions.flat_map(|direction| [Some(direction.delay), direction.gate.as_ref().map(|gate| gate.interval)]);
    let least = constants.flatten().filter(|constant| !constant.is_zero()).min();
    least.map_or(LARGEST_BOUND, |least| (least / SHARE_OF_LEAST).min(LARGEST_BOUND))
}

impl Timing {
    /// The timing up to now.
    pub(super) fn of(world: &RealWorld, scenario: &Scenario, is_realtime: bool, overruns: u64) -> Self {
        let outlet = &world.hosts.outlet;
        Self {
            lateness: outlet.lateness().clone(),
            bound: bound(scenario),
            is_realtime,
            refused: outlet.refused(),
            overruns,
            ignored: world.hosts.ignored,
        }
    }

    /// Whether the results may be trusted. `failures` are those of flows.
    pub(super) fn verdict(&self, failures: Vec<String>) -> Verdict {
        let mut reasons = failures;
        if let Some(late) = self.lateness.quantile(0.99).filter(|late| *late > self.bound) {
            let how = if self.is_realtime { "" } else { "; without real-time priority, other processes delay them" };
            reasons
                .push(format!("one packet of a hundred was {late} late or more, expected at most {}{how}", self.bound));
        }
        if self.refused > 0 {
            reasons.push(format!("the kernel did not take {} packets", self.refused));
        }
        if self.overruns > 0 {
            reasons.push(format!(
                "{} packets were lost in front of the network, because they were read too late",
                self.overruns
            ));
        }
        Verdict { reasons }
    }

    /// The table `timing`, with one row.
    pub(super) fn table(&self, verdict: &Verdict) -> Table {
        let micros = |lateness: Option<Duration>| [lateness.map(|value| value.as_nanos() as f64 / 1e3)];
        let worst = self.lateness.worst_second();
        Table::new("timing")
            .count("deliveries", "packets", [self.lateness.count()])
            .number("p50_lateness", "us", micros(self.lateness.quantile(0.5)))
            .number("p99_lateness", "us", micros(self.lateness.quantile(0.99)))
            .number("max_lateness", "us", micros(self.lateness.max()))
            .number("worst_second_p99_lateness", "us", micros(worst.map(|(value, _)| value)))
            .number("worst_second", "s", [worst.map(|(_, second)| second as f64)])
            .number("bound_p99_lateness", "us", micros(Some(self.bound)))
            .count("refused", "packets", [self.refused])
            .count("overruns", "packets", [self.overruns])
            .count("ignored", "packets", [self.ignored])
            .text("priority", [if self.is_realtime { "real-time" } else { "normal" }.to_owned()])
            .text("trusted", [if verdict.is_good() { "yes" } else { "no" }.to_owned()])
            .text("reasons", [(!verdict.is_good()).then(|| verdict.reasons.join("; "))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;
    use acklab_base::Instant;

    fn scenario(delay: &str, gate: &str) -> Scenario {
        let text = format!(
            r#"
duration = "1s"
seed = 1
flow = []
[[link]]
name = "btl"
from = "a"
to = "b"
forward = {{ rate = "16Mbps", delay = "{delay}" }}
reverse = {{ delay = "7.5ms"{gate} }}
"#
        );
        load(&text, "test", &[], None).unwrap()
    }

    #[test]
    fn the_bound_is_a_twentieth_of_the_least_delay_or_interval() {
        assert_eq!(bound(&scenario("1ms", "")), Duration::from_micros(50));
        assert_eq!(bound(&scenario("8ms", "")), LARGEST_BOUND);
        let gate = ", gate = { interval = \"2ms\", quota = 10 }";
        assert_eq!(bound(&scenario("8ms", gate)), Duration::from_micros(100));
    }

    #[test]
    fn late_packets_are_not_trusted() {
        let timing = |late: u64| {
            let mut lateness = Lateness::default();
            (0..100).for_each(|_| lateness.add(Instant::ZERO, Instant::from_nanos(late * 1_000)));
            let bound = Duration::from_micros(100);
            Timing { lateness, bound, is_realtime: true, refused: 0, overruns: 0, ignored: 0 }
        };
        assert!(timing(99).verdict(Vec::new()).is_good());
        assert!(!timing(110).verdict(Vec::new()).is_good());
        assert!(!Timing { overruns: 1, ..timing(1) }.verdict(Vec::new()).is_good());
        assert!(!timing(1).verdict(vec!["flow \"x\": refused".to_owned()]).is_good());
    }
}
