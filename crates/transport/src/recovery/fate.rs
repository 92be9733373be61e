//! What became of each transmission, for controllers that judge a rate by what was sent at it.

use acklab_base::Instant;

/// What is known of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was acknowledged, cumulatively or selectively.
    Delivered {
        /// It had been reported lost before, which was wrong.
        was_lost: bool,
    },
    /// It counts as lost.
    Lost,
    /// Its octets left again before anything was known; whose an acknowledgment is can then not be told.
    Replaced,
}

/// A transmission and its outcome. Each transmission has one, but for a [`Lost`](Outcome::Lost) that is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// When it left.
    pub sent_at: Instant,
    /// What became of it.
    pub outcome: Outcome,
}
