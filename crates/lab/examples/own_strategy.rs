//! A custom ACK policy and congestion controller:
//! `cargo run --profile quick -p acklab-lab --example own_strategy`
//!
//! The policy acknowledges a fixed number of times per RTT. The controller responds to delay only.
//! The scenario names both, and they are added to the run. They do not fit together: the controller
//! mistakes the delay of ACKs for a queue and keeps its window small. The controller is therefore
//! also run with Linux's ACKs, with which it fills the path.

use acklab_base::{Duration, Instant};
use acklab_lab::{RunOptions, Strategies, run, scenario};
use acklab_transport::ack::{AckPolicy, Arrival, Decision, Held, Ledger, OwnReason, Reason};
use acklab_transport::cc::{Ack, CongestionControl, Position, Signal, Window};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use std::error::Error;

const SCENARIO: &str = r#"
duration = "10s"
seed = 42

[[link]]
name = "btl"
from = "src"
to = "dst"
forward = { rate = "16Mbps", delay = "15ms", queue = { discipline = "fifo", limit = "200packets" } }
reverse = { rate = "1Mbps", delay = "15ms" }

[[flow]]
from = "src"
to = "dst"
preset = "linux"
ack = { policy = "custom", name = "periodic" }
congestion = { custom = "by-delay" }
"#;

/// The window of the minimum RTT, which a TCP receiver can only measure with the handshake and
/// timestamps.
const WINDOW: Duration = Duration::from_secs(10);
const ACKS_A_ROUND: u64 = 4;
/// The target number of segments in queues.
const BACKLOG: u64 = 4;

/// Sends this many ACKs per RTT, and acknowledges out-of-order segments at once.
struct Periodic {
    last: Instant,
}

impl Periodic {
    const PERIOD: Reason = Reason::Custom(OwnReason::N0);
}

impl AckPolicy for Periodic {
    fn decide(&mut self, _now: Instant, arrival: &Arrival, ledger: &Ledger, _held: Held<'_>) -> Decision {
        let round_trip = ledger.round_trip.as_ref().and_then(|measured| measured.least()).unwrap_or(Duration::ZERO);
        match arrival {
            Arrival::InOrder => Decision::At(self.last + round_trip / ACKS_A_ROUND, Self::PERIOD),
            Arrival::OutOfOrder => Decision::Now(Reason::OutOfOrder),
            Arrival::FillsGap { .. } => Decision::Now(Reason::FillsGap),
            Arrival::Duplicate => Decision::Now(Reason::Duplicate),
        }
    }

    fn ledger(&self) -> Ledger {
        Ledger::default().with_round_trip(WINDOW)
    }

    fn on_ack_sent(&mut self, now: Instant) {
        self.last = now;
    }

    fn reason(&self, _own: u8) -> &str {
        "period"
    }
}

/// Increases the window by a segment per RTT while fewer than `BACKLOG` segments are queued, and
/// decreases it while more are.
struct ByDelay {
    /// The offset whose acknowledgment ends the current round trip.
    round_ends: Position,
}

impl CongestionControl for ByDelay {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let (Some(rtt), Some(min_rtt)) = (ack.rtt, ack.min_rtt) else { return };
        if ack.acked_to < self.round_ends || !ack.may_grow {
            return;
        }
        self.round_ends = ack.sent_to;
        let waiting = window.cwnd * rtt.saturating_sub(min_rtt).as_nanos() / rtt.as_nanos();
        window.cwnd = match waiting / window.mss {
            0 if window.in_slow_start() => window.cwnd * 2,
            segments if segments < BACKLOG => window.cwnd + window.mss,
            _ => window.cwnd.saturating_sub(window.mss).max(2 * window.mss),
        };
        if waiting > 0 {
            window.ssthresh = window.ssthresh.min(window.cwnd);
        }
    }

    fn ssthresh(&mut self, _now: Instant, window: &Window, flight: u64, _signal: Signal) -> u64 {
        (flight / 2).max(2 * window.mss)
    }
}

/// Runs the scenario with these changes, and describes its throughput, delay and the reasons for
/// ACKs.
pub(crate) fn report(sets: &[String]) -> Result<String, Box<dyn Error>> {
    let strategies = Strategies::default()
        .with_policy("periodic", |_start| Periodic { last: Instant::ZERO })
        .with_controller("by-delay", |_start| ByDelay { round_ends: Position::default() });
    let scenario = scenario::load_for(SCENARIO, "own_strategy", sets, None, &strategies)?;
    let results = run(&scenario, &RunOptions { strategies, ..RunOptions::default() }, || true)?;
    let mut report = String::new();
    for table in results.tables {
        let (name, batch) = (table.name(), table.into_arrow()?);
        let column = |name: &str| batch.column_by_name(name).ok_or(format!("there is no column {name}"));
        if name == "flows" {
            let number = |name: &str| column(name).map(|column| column.as_primitive::<Float64Type>().value(0));
            let (throughput, srtt) = (number("mean_throughput_l4")?, number("mean_srtt_l4")?);
            report += &format!("throughput {throughput:.1} Mbps, round trip {srtt:.1} ms\n");
        }
        if name == "acks" {
            let (reasons, counts) =
                (column("reason")?.as_string::<i32>(), column("count")?.as_primitive::<UInt64Type>());
            for (reason, count) in reasons.iter().flatten().zip(counts.values()) {
                report += &format!("{reason}: {count} ACKs\n");
            }
        }
    }
    Ok(report)
}

#[allow(dead_code, reason = "the tests call what it calls")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", report(&[])?);
    println!("{}", report(&["flow.0.ack.policy=linux".to_owned()])?);
    Ok(())
}
