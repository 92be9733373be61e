//! The stack that runs a script: a TCP with its sockets.

use crate::refusal::Refusal;
use crate::script::Call;
use crate::shell::Order;
use acklab_base::Instant;
use acklab_wire::tcp::Segment;
use std::collections::VecDeque;

/// Segments that were sent, but are not yet matched with an event, the oldest first.
pub type Departures = VecDeque<(Instant, Segment)>;

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The call returns this number.
    Returns(i64),
    /// The call fails with the error of this name.
    Fails(String),
}

/// A TCP with its sockets. One connection is under test at a time.
pub trait Stack {
    /// Returns the time.
    fn now(&self) -> Instant;

    /// Advances time to `until`, or until a segment was sent or a call has ended.
    fn pass(&mut self, until: Instant, left: &mut Departures);

    /// Delivers `segment` now.
    fn inject(&mut self, segment: Segment, left: &mut Departures);

    /// Begins `call` of `line`.
    ///
    /// # Errors
    /// If the call is out of scope.
    fn begin(&mut self, line: usize, call: &Call, left: &mut Departures) -> Result<(), Refusal>;

    /// Returns when and how the last call ended. Returns `None` while it blocks, and after the
    /// result was returned once.
    fn ended(&mut self) -> Option<(Instant, Answer)>;

    /// Sets a variable.
    ///
    /// # Errors
    /// If the variable is out of scope.
    fn set(&mut self, order: &Order) -> Result<(), Refusal>;

    /// Returns the field of `tcp_info` with this name.
    fn info(&self, name: &str) -> Option<i64>;
}
