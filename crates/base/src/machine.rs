//! The contract of a sans-IO state machine.

use crate::Instant;

/// A protocol endpoint or a box on a path: a state machine without clock, socket, file, thread or
/// global state.
///
/// # Order of calls
///
/// 1. At an instant `now`, call [`accept`](Machine::accept) for a datagram that has arrived, or
///    [`wake`](Machine::wake) once [`deadline`](Machine::deadline) has passed.
/// 2. Then call [`poll`](Machine::poll) with the same `now` until it returns `None`. One input may
///    cause many datagrams. If one of them causes another input at the same instant, that input may
///    be accepted before the next datagram is polled.
/// 3. Then read [`deadline`](Machine::deadline), which replaces any earlier deadline.
///
/// `now` never decreases. Several inputs may have the same instant. Steps 2 and 3 follow each of
/// them. Waking a machine before its deadline is permitted and has no effect.
pub trait Machine {
    /// The datagrams that the machine accepts and emits: for an endpoint its transport's protocol
    /// data unit, for a box on a path a [`Datagram`](crate::Datagram).
    type Datagram;

    /// The result of [`accept`](Machine::accept): for an endpoint the [`Fate`](crate::Fate) of the
    /// datagram, for a box on a path `()`.
    type Outcome;

    /// Accepts a datagram that arrives now. Returns its outcome.
    fn accept(&mut self, now: Instant, datagram: Self::Datagram) -> Self::Outcome;

    /// Handles the timers that have expired.
    fn wake(&mut self, now: Instant);

    /// Returns the earliest absolute instant at which the machine must be woken, or `None` if it
    /// only waits for input.
    fn deadline(&self) -> Option<Instant>;

    /// Returns the next datagram to send now, or `None`.
    fn poll(&mut self, now: Instant) -> Option<Self::Datagram>;
}
