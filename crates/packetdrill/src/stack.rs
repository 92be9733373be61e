//! What a script is played at: a TCP with its sockets.

use crate::refusal::Refusal;
use crate::script::Call;
use crate::shell::Order;
use acklab_base::Instant;
use acklab_wire::tcp::Segment;
use std::collections::VecDeque;

/// Segments that have left and no event has spoken of, oldest first.
pub type Departures = VecDeque<(Instant, Segment)>;

/// How a call ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It returns this number.
    Returns(i64),
    /// It fails with the error of this name.
    Fails(String),
}

/// A TCP with its sockets. One connection is under test at a time.
pub trait Stack {
    /// The time.
    fn now(&self) -> Instant;

    /// Lets time pass up to `until`, or until a segment has left or a call has ended.
    fn pass(&mut self, until: Instant, left: &mut Departures);

    /// `segment` arrives now.
    fn inject(&mut self, segment: Segment, left: &mut Departures);

    /// Begins `call`, which stands on `line`.
    ///
    /// # Errors
    /// If the call is out of scope.
    fn begin(&mut self, line: usize, call: &Call, left: &mut Departures) -> Result<(), Refusal>;

    /// When and how the call ended that was begun last. Returns `None` while it blocks and if this
    /// was asked before.
    fn ended(&mut self) -> Option<(Instant, Answer)>;

    /// Sets a variable.
    ///
    /// # Errors
    /// If the variable is out of scope.
    fn set(&mut self, order: &Order) -> Result<(), Refusal>;

    /// The field of `tcp_info` with this name.
    fn info(&self, name: &str) -> Option<i64>;
}
