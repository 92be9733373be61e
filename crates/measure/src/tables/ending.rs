//! The state of a flow at the end of the measurement window.

use crate::probe::FlowProbe;
use acklab_base::event::Closing;
use acklab_base::{Duration, Instant};
use std::ops::Range;

/// The minimum time without delivery after which a flow is reported as stalled. Before the first
/// RTT sample, the retransmission timeout is one second (RFC 6298, §2.1), and recovery takes some
/// round trips.
const SHORTEST_STANDSTILL: Duration = Duration::from_secs(1);
const SHORTEST_STANDSTILL_ROUND_TRIPS: f64 = 4.0;

/// The state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The handshake is not complete.
    Opening,
    /// Data may still be sent.
    Open,
    /// All data and their end are acknowledged.
    Finished(Instant),
    /// No data were delivered in the second half of the measured time, although data are in flight.
    Stands {
        /// The time of the last delivery, or the beginning of the measurement.
        since: Instant,
    },
    /// The peer refused the connection.
    Refused(Instant),
    /// The connection was closed before all data were acknowledged.
    Closed(Instant, Closing, u64),
}

impl Ending {
    /// Returns the ending of the flow that `probe` has measured in `window`. `start` is the start
    /// of the flow or the start of the window, whichever is later.
    pub(super) fn of(probe: &FlowProbe, start: Instant, window: &Range<Instant>) -> Option<Self> {
        if start >= window.end {
            return None;
        }
        if let Some(at) = probe.finished {
            return Some(Self::Finished(at));
        }
        match probe.closed {
            Some((at, Closing::Application, 0)) => return Some(Self::Finished(at)),
            Some((at, Closing::Reset, _)) if probe.established.is_none() => return Some(Self::Refused(at)),
            Some((at, reason, code)) => return Some(Self::Closed(at, reason, code)),
            None => {}
        }
        if probe.established.is_none() {
            return Some(Self::Opening);
        }
        let since = probe.last_delivery.unwrap_or(start);
        let (still, whole) = (window.end.since(since), window.end.since(start));
        let round_trips =
            Duration::from_nanos((probe.srtt.mean().unwrap_or(0.0) * SHORTEST_STANDSTILL_ROUND_TRIPS) as u64);
        let is_long = still >= SHORTEST_STANDSTILL.max(round_trips) && still.as_nanos() >= whole.as_nanos() / 2;
        if is_long && probe.sees_receiver() && probe.in_flight.is_above_zero() {
            return Some(Self::Stands { since });
        }
        Some(Self::Open)
    }

    /// Returns the name of the state in the table.
    pub(super) fn name(self) -> String {
        let name = match self {
            Self::Opening => "opening",
            Self::Open => "open",
            Self::Finished(_) => "finished",
            Self::Stands { .. } => "stands",
            Self::Refused(_) => "refused",
            Self::Closed(_, reason, 0) => reason.name(),
            Self::Closed(_, reason, code) => return format!("{}: code {code:#x}", reason.name()),
        };
        name.to_owned()
    }

    /// Returns when this state began.
    pub(super) const fn at(self) -> Option<Instant> {
        match self {
            Self::Opening | Self::Open => None,
            Self::Finished(at) | Self::Refused(at) | Self::Closed(at, ..) | Self::Stands { since: at } => Some(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Records;
    use acklab_base::Event;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn probe(events: &[(u64, Event)]) -> FlowProbe {
        let mut probe = FlowProbe::new(1000, Duration::from_secs(1), Duration::from_millis(1), Records::default());
        events.iter().for_each(|(ms, event)| probe.record_event(at(*ms), *event));
        probe
    }

    fn name(probe: &FlowProbe) -> String {
        Ending::of(probe, at(0), &(at(0)..at(10_000))).unwrap().name()
    }

    const OPENS: (u64, Event) = (10, Event::Established);

    fn closes(reason: Closing, code: u64) -> (u64, Event) {
        (4000, Event::Closed { reason, code })
    }

    #[test]
    fn a_connection_that_ended_says_how() {
        assert_eq!(name(&probe(&[])), "opening");
        assert_eq!(name(&probe(&[OPENS])), "open");
        assert_eq!(name(&probe(&[OPENS, (9000, Event::Finished), (9100, closes(Closing::Reset, 0).1)])), "finished");
        assert_eq!(name(&probe(&[OPENS, closes(Closing::Application, 0)])), "finished");
        assert_eq!(name(&probe(&[OPENS, closes(Closing::ProtocolViolation, 1)])), "failed: code 0x1");
        assert_eq!(name(&probe(&[OPENS, closes(Closing::IdleTimeout, 0)])), "idle-timeout");
        assert_eq!(name(&probe(&[closes(Closing::Reset, 0)])), "refused");
        let closed = probe(&[OPENS, closes(Closing::Reset, 0)]);
        assert_eq!(Ending::of(&closed, at(0), &(at(0)..at(10_000))).unwrap().at(), Some(at(4000)));
        assert_eq!(Ending::of(&closed, at(10_000), &(at(0)..at(10_000))), None, "it would begin after the window");
    }

    #[test]
    fn what_came_before_the_window_counts() {
        for (event, expected) in [(closes(Closing::Reset, 0).1, "reset"), (Event::Finished, "finished")] {
            let mut probe = probe(&[OPENS, (4000, event)]);
            probe.open(at(5000), 0);
            assert_eq!(Ending::of(&probe, at(5000), &(at(5000)..at(10_000))).unwrap().name(), expected);
        }
    }

    #[test]
    fn a_flow_stands_if_nothing_was_delivered_for_half_of_its_time_with_data_in_flight() {
        let stands = |last_delivery, in_flight| {
            let mut probe = probe(&[OPENS]);
            probe.last_delivery = last_delivery;
            probe.in_flight.set(at(100), in_flight);
            name(&probe)
        };
        assert_eq!(stands(Some(at(5000)), 1000.0), "stands");
        assert_eq!(stands(None, 1000.0), "stands");
        assert_eq!(stands(Some(at(5001)), 1000.0), "open");
        assert_eq!(stands(Some(at(100)), 0.0), "open", "the application has nothing to send");
    }
}
