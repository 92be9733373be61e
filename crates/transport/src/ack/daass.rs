//! Delayed ACKs After Slow Start.
//!
//! M. Allman, *On the Generation and Use of TCP Acknowledgments*, CCR 28(5), 1998; RFC 2760, §3.2.3: every segment while the sender
//! is in slow start, so that its window doubles, and delayed ACKs after it. The paper's simulations know when that is; how a
//! receiver knows is open (RFC 2760, §3.2.3.3). Here it is inferred, by `Growth`.
//!
//! Disorder is acknowledged at once (RFC 5681, §4.2), and restarts the inference: after a loss the sender either starts slowly
//! again (timeout) or goes on at half its window (fast recovery). Which one, the receiver sees from growth alone, so every segment
//! is acknowledged until three round trips have passed without it.

use super::delayed::Delayed;
use super::growth::Growth;
use super::{Arrival, Decision, Ledger, Reason};
use acklab_base::Instant;

/// Delayed ACKs after slow start.
#[derive(Clone, Copy, Debug)]
pub struct Daass {
    after: Delayed,
    growth: Growth,
}

impl Daass {
    /// The policy that goes over to `after`.
    pub(super) fn new(after: Delayed) -> Self {
        Self { after, growth: Growth::default() }
    }

    pub(super) fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger) -> Decision {
        if matches!(arrival, Arrival::OutOfOrder | Arrival::FillsGap { .. }) {
            self.growth.restart();
        }
        let rtt = ledger.round_trip.as_ref().and_then(|rtt| rtt.smoothed().or(rtt.handshake()));
        self.growth.on_data(now, ledger.total.octets, rtt);
        match arrival {
            Arrival::InOrder if !self.growth.is_over() => Decision::Now(Reason::SlowStart),
            _ => self.after.decide(arrival, ledger),
        }
    }
}
