//! Decides whether the results are reliable, from the lateness of packets and the time for which
//! programs waited for a processor.

use crate::scenario::Scenario;
use acklab_base::{Duration, Instant};
use acklab_live::idling::{BOUND_OF_STEAL, Idling};
use acklab_live::realtime::{Granted, Privileges};
use acklab_live::{Lateness, Outlet, Wait};
use acklab_measure::Table;
use std::ops::Range;

/// The divisor of the time constant that yields the limit for lateness: the 99th percentile over
/// the whole measurement window must not exceed it.
const SHARE: u64 = 20;
/// The divisor of the time constant that yields the limit for the 99.9th percentile of lateness in
/// each second. A longer stall releases the delayed packets as a burst, which fills queues that are
/// empty in the scenario.
const SHARE_OF_SECOND: u64 = 4;
/// The maximum time constant. It is used if the scenario has no smaller one, and is the tick of a
/// kernel with `HZ=250`.
const LARGEST_CONSTANT: Duration = Duration::from_millis(4);

/// The maximum share of each second for which a thread of a program may wait for a processor. The
/// limit corresponds to the limit for packets, of which one in a hundred may be late.
const SHARE_OF_WAITING: f64 = 0.01;

/// The reliability of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The reasons why the results are unreliable. Empty if they are reliable.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// Returns `true` if the results are reliable.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// The timing of an emulation in its measurement window.
#[derive(Debug)]
pub(crate) struct Timing {
    lateness: Lateness,
    /// The maximum time that a host took to accept the packets due at one instant.
    longest_handover: Duration,
    constant: Duration,
    granted: Granted,
    /// The number of packets that a device refused.
    refused: u64,
    /// The number of packets that were dropped because a device's queue was full.
    overruns: u64,
    ignored: u64,
    /// The program that waited longest for a processor within one second, and that second.
    starved: Option<Starved>,
    /// The second in which the hypervisor took the largest share of a processor.
    stolen: Option<Wait>,
    /// When the run was stopped, if before its planned end.
    stopped: Option<Instant>,
}

/// A program, and the second in which it waited longest for a processor.
#[derive(Clone, Debug)]
struct Starved {
    program: String,
    wait: Wait,
}

/// Returns the smallest time constant of a scenario: the smallest delay of a link or interval of a
/// gate (which releases packets in bursts), but at most 4 ms.
fn time_constant(scenario: &Scenario) -> Duration {
    let directions = scenario.link.iter().flat_map(|link| [&link.forward, &link.reverse]);
    let constants =
        directions.flat_map(|direction| [Some(direction.delay), direction.gate.as_ref().map(|gate| gate.interval)]);
    let least = constants.flatten().filter(|constant| !constant.is_zero()).min();
    least.map_or(LARGEST_CONSTANT, |least| least.min(LARGEST_CONSTANT))
}

/// Returns a time with three significant digits, such as "983 µs".
fn rounded(time: Duration) -> String {
    let micros = time.as_nanos() as f64 / 1e3;
    let (value, unit) = if micros < 1e3 { (micros, "µs") } else { (micros / 1e3, "ms") };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

impl Timing {
    /// Returns the timing up to now. Includes the privileges of the thread that carries packets.
    pub(crate) fn of<D>(
        outlet: &Outlet<D>,
        ignored: u64,
        scenario: &Scenario,
        privileges: &Privileges,
        overruns: u64,
    ) -> Self {
        let stolen = privileges.wakefulness().worst_second();
        Self {
            lateness: outlet.lateness().clone(),
            longest_handover: outlet.longest_handover(),
            constant: time_constant(scenario),
            granted: privileges.granted(),
            refused: outlet.refused(),
            overruns,
            ignored,
            starved: None,
            stolen,
            stopped: None,
        }
    }

    /// Counts how long the threads of `program` waited for a processor. Considers intervals that
    /// lie at least half within `window`.
    pub(crate) fn count_waits(&mut self, program: &str, waits: &[Wait], window: &Range<Instant>) {
        let within = waits.iter().filter(|wait| {
            let common = wait.ended.min(window.end).since(wait.began.max(window.start));
            let shorter = wait.ended.since(wait.began).min(window.end.since(window.start));
            !common.is_zero() && common >= shorter / 2
        });
        let Some(worst) = within.copied().max_by(|one, other| one.share.total_cmp(&other.share)) else { return };
        if self.starved.as_ref().is_none_or(|starved| starved.wait.share < worst.share) {
            self.starved = Some(Starved { program: program.to_owned(), wait: worst });
        }
    }

    /// Records that the run was stopped at `at`.
    pub(crate) const fn stop(&mut self, at: Instant) {
        self.stopped = Some(at);
    }

    /// Returns the limit of the 99th percentile of lateness over the whole window.
    fn bound(&self) -> Duration {
        self.constant / SHARE
    }

    /// Returns the limit of the 99.9th percentile of lateness in each second.
    fn bound_of_second(&self) -> Duration {
        self.constant / SHARE_OF_SECOND
    }

    /// Returns the verdict on the results. `failures` are the failures of flows.
    pub(crate) fn verdict(&self, failures: Vec<String>) -> Verdict {
        let mut reasons = failures;
        let how =
            if self.granted.is_realtime { "" } else { "; without real-time priority, other processes delay packets" };
        let bound = self.bound();
        if let Some(late) = self.lateness.quantile(0.99).filter(|late| *late > bound) {
            reasons.push(format!("p99 lateness {} (limit {}){how}", rounded(late), rounded(bound)));
        }
        let bound = self.bound_of_second();
        if let Some(worst) = self.lateness.worst_second().filter(|worst| worst.p999 > bound) {
            reasons.push(format!(
                "in second {} of the run, p99.9 lateness {} (limit {}){how}",
                worst.number,
                rounded(worst.p999),
                rounded(bound)
            ));
        }
        if self.refused > 0 {
            reasons.push(format!("the kernel refused {} packets", self.refused));
        }
        if self.overruns > 0 {
            reasons.push(format!(
                "{} packets were lost in the queues of devices, which were read too late",
                self.overruns
            ));
        }
        if let Some(Starved { program, wait }) =
            self.starved.as_ref().filter(|starved| starved.wait.share > SHARE_OF_WAITING)
        {
            reasons.push(format!(
                "in second {} of the run, {program} waited for a processor {:.1} % of the time (limit {:.0} %); other processes used it",
                wait.began.as_secs_f64() as u64,
                100.0 * wait.share,
                100.0 * SHARE_OF_WAITING
            ));
        }
        if let Some(stolen) = self.stolen.filter(|stolen| stolen.share > BOUND_OF_STEAL) {
            let remedy = match self.granted.idling {
                Idling::MayHalt => String::new(),
                Idling::Awake => {
                    "; idle processors may cause this: without `--processors awake` they halt then".to_owned()
                }
                Idling::MayHaltSince(at) => format!(
                    "; idle processors have halted since second {:.0}, and do from the start with `--processors halt`",
                    at.as_secs_f64()
                ),
            };
            reasons.push(format!(
                "in second {} of the run, the hypervisor took {:.1} % of a processor (limit {:.0} %){remedy}",
                stolen.began.as_secs_f64() as u64,
                100.0 * stolen.share,
                100.0 * BOUND_OF_STEAL
            ));
        }
        Verdict { reasons }
    }

    /// Returns the table `timing`, with one row.
    pub(crate) fn table(&self, verdict: &Verdict) -> Table {
        let micros = |lateness: Option<Duration>| [lateness.map(|value| value.as_nanos() as f64 / 1e3)];
        let worst = self.lateness.worst_second();
        Table::new("timing")
            .count("deliveries", "packets", [self.lateness.count()])
            .number("p50_lateness", "us", micros(self.lateness.quantile(0.5)))
            .number("p99_lateness", "us", micros(self.lateness.quantile(0.99)))
            .number("max_lateness", "us", micros(self.lateness.max()))
            .number("bound_p99_lateness", "us", micros(Some(self.bound())))
            .number("worst_second", "s", [worst.map(|second| second.number as f64)])
            .number("worst_second_p99_lateness", "us", micros(worst.map(|second| second.p99)))
            .number("worst_second_p999_lateness", "us", micros(worst.map(|second| second.p999)))
            .number("bound_second_p999_lateness", "us", micros(Some(self.bound_of_second())))
            .number("max_handover", "us", micros(Some(self.longest_handover)))
            .count("refused", "packets", [self.refused])
            .count("overruns", "packets", [self.overruns])
            .count("ignored", "packets", [self.ignored])
            .number("worst_second_waiting", "", [self.starved.as_ref().map(|starved| starved.wait.share)])
            .number("bound_second_waiting", "", [Some(SHARE_OF_WAITING)])
            .text("waiting_program", [self.starved.as_ref().map(|starved| starved.program.clone())])
            .number("worst_second_stolen", "", [self.stolen.map(|stolen| stolen.share)])
            .number("bound_second_stolen", "", [Some(BOUND_OF_STEAL)])
            .number("halting_time", "s", [self.granted.idling.halting_since().map(Instant::as_secs_f64)])
            .number("stopped_time", "s", [self.stopped.map(Instant::as_secs_f64)])
            .text("priority", [self.granted.priority().to_owned()])
            .text("processors", [self.granted.idling.name().to_owned()])
            .text("trusted", [if verdict.is_good() { "yes" } else { "no" }.to_owned()])
            .text("reasons", [(!verdict.is_good()).then(|| verdict.reasons.join("; "))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

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
    fn the_time_constant_is_the_least_delay_or_interval() {
        assert_eq!(time_constant(&scenario("1ms", "")), Duration::from_millis(1));
        assert_eq!(time_constant(&scenario("8ms", "")), LARGEST_CONSTANT);
        let gate = ", gate = { interval = \"2ms\", quota = 10 }";
        assert_eq!(time_constant(&scenario("8ms", gate)), Duration::from_millis(2));
    }

    /// Returns the timing of `packets` packets, sent a millisecond apart. Each is `late`
    /// microseconds late, except during a stall.
    fn timing(packets: u64, late: u64, stall: Range<u64>) -> Timing {
        let mut lateness = Lateness::default();
        for due in 0..packets {
            let done = if stall.contains(&due) { stall.end * 1_000 } else { due * 1_000 + late };
            lateness.add(Instant::from_nanos(due * 1_000_000), Instant::from_nanos(done * 1_000));
        }
        let constant = Duration::from_millis(2);
        let longest_handover = Duration::ZERO;
        let granted = Granted { is_realtime: true, idling: Idling::Awake };
        Timing {
            lateness,
            longest_handover,
            constant,
            granted,
            refused: 0,
            overruns: 0,
            ignored: 0,
            starved: None,
            stolen: None,
            stopped: None,
        }
    }

    #[test]
    fn late_packets_are_not_trusted() {
        assert!(timing(100, 99, 0..0).verdict(Vec::new()).is_good());
        assert!(!timing(100, 110, 0..0).verdict(Vec::new()).is_good());
        assert!(!Timing { overruns: 1, ..timing(100, 1, 0..0) }.verdict(Vec::new()).is_good());
        assert!(!timing(100, 1, 0..0).verdict(vec!["flow \"x\": refused".to_owned()]).is_good());
    }

    /// Events outside the measurement window are ignored.
    #[test]
    fn a_program_that_waits_for_a_processor_spoils_its_second_and_the_run() {
        let second = |number: u64, share| {
            let at = |number: u64| Instant::ZERO + Duration::from_secs(number);
            Wait { began: at(number), ended: at(number + 1), share }
        };
        let window = second(2, 0.0).began..second(4, 0.0).began;
        let mut timing = timing(100, 1, 0..0);
        timing.count_waits("sink", &[second(0, 0.5), second(2, 0.002), second(3, 0.009), second(4, 0.5)], &window);
        assert!(timing.verdict(Vec::new()).is_good());
        timing.count_waits("source", &[second(3, 0.046)], &window);
        timing.count_waits("other", &[second(2, 0.02)], &window);
        let reasons = timing.verdict(Vec::new()).reasons;
        assert!(
            reasons[0].starts_with("in second 3 of the run, source waited for a processor 4.6 % of the time"),
            "{reasons:?}"
        );
    }

    /// A wait of a hundredth of a second, the smallest unit of the kernel's counter, is tolerated.
    #[test]
    fn a_processor_that_the_hypervisor_takes_spoils_the_run() {
        let taken = |share, idling| {
            let second = |number: u64| Instant::ZERO + Duration::from_secs(number);
            let stolen = Some(Wait { began: second(4), ended: second(5), share });
            let granted = Granted { is_realtime: true, idling };
            Timing { stolen, granted, ..timing(100, 1, 0..0) }.verdict(Vec::new()).reasons
        };
        assert!(taken(0.01, Idling::Awake).is_empty());
        let since = Idling::MayHaltSince(Instant::ZERO + Duration::from_secs(5));
        assert_eq!(
            taken(0.13, since),
            ["in second 4 of the run, the hypervisor took 13.0 % of a processor (limit 1 %); \
              idle processors have halted since second 5, and do from the start with `--processors halt`"]
        );
        assert!(taken(0.02, Idling::MayHalt)[0].ends_with("(limit 1 %)"));
    }

    /// A stall of 5 ms in ten seconds delays one packet in two thousand. That is enough to fill a
    /// queue.
    #[test]
    fn one_stall_spoils_its_second_and_the_run() {
        let stalled = timing(10_000, 10, 3_300..3_305);
        assert!(stalled.lateness.quantile(0.99).is_some_and(|late| late < stalled.bound()));
        let verdict = stalled.verdict(Vec::new());
        assert!(verdict.reasons[0].starts_with("in second 3 of the run, p99.9 lateness "), "{verdict:?}");
    }
}
