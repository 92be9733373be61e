//! Reasons for which packets and frames of a peer are refused, and their counts.

use crate::streams::Violation;
use acklab_base::Fate;

/// The reason why a packet or a frame is refused. A refusal changes nothing except its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The packet belongs to another connection.
    Connection,
    /// The packet number has arrived before, or is so old that repetitions are no longer recorded.
    Replayed,
    /// The packet number is larger than any number that can be in flight.
    Ahead,
    /// The frame is not permitted in this phase of the connection.
    Phase,
    /// The frame acknowledges a packet that was never sent.
    NeverSent,
    /// The frame reports a time in the future, or a round trip that ended before it started.
    Time,
    /// The frame reports a rate of zero or infinity, or more data than were ever sent.
    Rate,
    /// The frame reports smaller ECN counts than an earlier frame.
    Counts,
    /// The frame carries data beyond the window of their stream.
    Window,
    /// The frame contradicts an earlier frame about the end of a stream.
    End,
    /// The frame contains the ID of a stream that this end has not opened, or that the peer may not
    /// open.
    Stream,
    /// The frame acknowledges a skipped number. Correct receivers never do so.
    Skipped,
    /// The packet opens a connection and is smaller than the minimum size for an Open.
    Small,
    /// The frame would produce more gaps in a stream than the receiver stores.
    Gaps,
}

impl Refusal {
    /// The number of reasons.
    pub const COUNT: usize = Self::ALL.len();

    /// All reasons, with the names of their counters.
    pub const ALL: [(Self, &'static str); 14] = [
        (Self::Connection, "refused_connection"),
        (Self::Replayed, "refused_replayed"),
        (Self::Ahead, "refused_ahead"),
        (Self::Phase, "refused_phase"),
        (Self::NeverSent, "refused_never_sent"),
        (Self::Time, "refused_time"),
        (Self::Rate, "refused_rate"),
        (Self::Counts, "refused_counts"),
        (Self::Window, "refused_window"),
        (Self::End, "refused_end"),
        (Self::Stream, "refused_stream"),
        (Self::Skipped, "refused_skipped"),
        (Self::Small, "refused_small"),
        (Self::Gaps, "refused_gaps"),
    ];

    /// Returns the fate of a packet that was refused for this reason.
    pub(super) const fn fate(self) -> Fate {
        match self {
            Self::Replayed => Fate::Duplicate,
            refusal => Fate::Refused(Self::ALL[refusal as usize].1),
        }
    }
}

impl From<Violation> for Refusal {
    fn from(violation: Violation) -> Self {
        match violation {
            Violation::Window => Self::Window,
            Violation::End => Self::End,
        }
    }
}

/// Counts of refusals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals([u64; Refusal::COUNT]);

impl Refusals {
    /// Counts a refusal.
    pub(super) const fn count(&mut self, refusal: Refusal) {
        self.0[refusal as usize] += 1;
    }

    /// Returns the number of refusals for this reason.
    #[must_use]
    pub const fn of(&self, refusal: Refusal) -> u64 {
        self.0[refusal as usize]
    }

    /// Returns the total number of refusals.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns all counts, with the names of their counters.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Refusal::ALL.into_iter().zip(self.0).map(|((_, name), count)| (name, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_place() {
        for (place, (refusal, _)) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, place);
        }
        let mut refusals = Refusals::default();
        refusals.count(Refusal::Time);
        assert_eq!((refusals.of(Refusal::Time), refusals.total()), (1, 1));
        assert_eq!(refusals.iter().find(|(_, count)| *count > 0), Some(("refused_time", 1)));
    }
}
