//! What is refused of a peer, and how often.

use crate::streams::Violation;
use acklab_base::Fate;

/// Why a packet or a frame is refused. Nothing of it has any effect but this count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The packet belongs to no connection of this end.
    Connection,
    /// Its number has come before, or is too old to tell.
    Replayed,
    /// Its number is further ahead than anything that can be in flight.
    Ahead,
    /// The frame has no place in this phase of the connection.
    Phase,
    /// It acknowledges what was never sent.
    NeverSent,
    /// It reports a time that has not come, or a round trip that ended before it began.
    Time,
    /// It reports a rate of zero or infinity, or more than was ever sent.
    Rate,
    /// It counts fewer packets by codepoint than was counted before.
    Counts,
    /// It carries octets beyond the window of their stream.
    Window,
    /// It says something else of the end of a stream than was said before.
    End,
    /// It names a stream that this end has not opened, or that the peer may not open.
    Stream,
    /// It acknowledges a number that was skipped, which only a guess can do.
    Skipped,
    /// It opens a connection and is smaller than such a packet must be.
    Small,
    /// It leaves more gaps in a stream than are kept.
    Gaps,
}

impl Refusal {
    /// The number of reasons.
    pub const COUNT: usize = Self::ALL.len();

    /// All of them, with the names of their counters.
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

    /// What became of a packet that was refused for this reason.
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
    /// One more.
    pub(super) const fn count(&mut self, refusal: Refusal) {
        self.0[refusal as usize] += 1;
    }

    /// How many of this kind there were.
    #[must_use]
    pub const fn of(&self, refusal: Refusal) -> u64 {
        self.0[refusal as usize]
    }

    /// How many there were in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// All counts, with the names of their counters.
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
