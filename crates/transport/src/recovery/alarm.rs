//! A time to act.

use acklab_base::Instant;

/// Set or not; once it has come, it is over.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alarm(Option<Instant>);

impl Alarm {
    /// It is to come then, or not at all, whatever was said before.
    pub const fn set(&mut self, at: Option<Instant>) {
        self.0 = at;
    }

    /// Has it come? If so, it is over.
    pub fn expire(&mut self, now: Instant) -> bool {
        let is_due = self.0.is_some_and(|at| at <= now);
        if is_due {
            self.0 = None;
        }
        is_due
    }

    /// When it comes.
    #[must_use]
    pub const fn at(&self) -> Option<Instant> {
        self.0
    }
}
