//! Rounds: the data in flight in each round trip.

/// A round trip: from an ACK until the data outstanding at that time are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Round {
    /// When it ended.
    pub(super) at: u64,
    /// The maximum of data in flight.
    pub(super) flight: u64,
    /// Bytes that were acknowledged.
    pub(super) acknowledged: u64,
    /// The mean of its round-trip times and the minimum so far, in nanoseconds.
    pub(super) times: Option<(f64, u64)>,
    pub(super) kind: Kind,
    /// `true` if a segment was not full, so the application may have had no more to send.
    pub(super) has_short: bool,
}

/// The factor that limited a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The window of the controller.
    Clean,
    /// The receive window was full, or the application paused.
    Limited,
    /// A segment was retransmitted, or the recovery from it continued (RFC 6675, §4).
    Lossy,
}

/// The round in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    begin: u64,
    end: u64,
    flight: u64,
    /// The sum of round-trip times and their number.
    times: (f64, u64),
    minimum: Option<u64>,
    is_limited: bool,
    is_lossy: bool,
    has_short: bool,
    /// The highest number that had been sent when a loss was repaired.
    recovery_point: u64,
}

impl Rounds {
    /// Processes an ACK at `at` that leaves the data from `acknowledged` to `highest` in flight.
    /// Returns the round that it ends.
    #[inline]
    pub(super) fn acknowledge(&mut self, at: u64, acknowledged: u64, highest: u64) -> Option<Round> {
        let flight = highest.saturating_sub(acknowledged);
        // The first ACK, or the first one after numbers have begun anew.
        if self.end == 0 || acknowledged < self.begin {
            (self.begin, self.end, self.recovery_point) = (acknowledged, highest, 0);
            (self.flight, self.is_limited) = (0, true);
        }
        if acknowledged < self.end || acknowledged == self.begin {
            self.flight = self.flight.max(flight);
            return None;
        }
        let kind = match (self.is_lossy || acknowledged < self.recovery_point, self.is_limited) {
            (true, _) => Kind::Lossy,
            (_, true) => Kind::Limited,
            _ => Kind::Clean,
        };
        let (sum, count) = self.times;
        let round = Round {
            at,
            flight: self.flight,
            acknowledged: acknowledged - self.begin,
            times: self.minimum.filter(|_| count > 0).map(|minimum| (sum / count as f64, minimum)),
            kind,
            has_short: std::mem::take(&mut self.has_short),
        };
        (self.begin, self.end, self.flight, self.times) = (acknowledged, highest, flight, (0.0, 0));
        (self.is_limited, self.is_lossy) = (false, acknowledged < self.recovery_point);
        Some(round)
    }

    #[inline]
    pub(super) fn took(&mut self, nanos: u64) {
        self.times.0 += nanos as f64;
        self.times.1 += 1;
        self.minimum = Some(self.minimum.map_or(nanos, |minimum| minimum.min(nanos)));
    }

    pub(super) const fn shorten(&mut self) {
        self.has_short = true;
    }

    pub(super) const fn limit(&mut self) {
        self.is_limited = true;
    }

    pub(super) fn retransmit(&mut self, highest: u64) {
        self.is_lossy = true;
        self.recovery_point = self.recovery_point.max(highest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_when_what_was_outstanding_is_acknowledged() {
        let mut rounds = Rounds::default();
        assert_eq!(rounds.acknowledge(0, 0, 1000), None, "the first begins");
        assert!(rounds.acknowledge(0, 1000, 11_000).is_some());
        rounds.took(50);
        assert_eq!(rounds.acknowledge(10, 5000, 18_000), None);
        let round = rounds.acknowledge(20, 11_000, 21_000).unwrap();
        assert_eq!((round.at, round.flight, round.acknowledged, round.kind), (20, 13_000, 10_000, Kind::Clean));
        assert_eq!(round.times, Some((50.0, 50)));
    }

    #[test]
    fn a_recovery_lasts_until_its_point_is_acknowledged() {
        let mut rounds = Rounds::default();
        rounds.acknowledge(0, 0, 1000);
        rounds.acknowledge(0, 1000, 11_000);
        rounds.retransmit(15_000);
        let kinds = [(11_000, 16_000), (16_000, 20_000), (20_000, 25_000)]
            .map(|(acknowledged, highest)| rounds.acknowledge(0, acknowledged, highest).unwrap().kind);
        assert_eq!(kinds, [Kind::Lossy, Kind::Lossy, Kind::Clean]);
    }
}
