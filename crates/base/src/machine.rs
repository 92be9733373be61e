//! The contract of everything that happens in time.

use crate::Instant;

/// A protocol endpoint or a box on a path: a state machine without clock, socket, file, thread or global.
///
/// # The caller's order
///
/// 1. At an instant `now`, call [`accept`](Machine::accept) for a datagram that has arrived, or [`wake`](Machine::wake)
///    once [`deadline`](Machine::deadline) has come.
/// 2. Then call [`poll`](Machine::poll) with the same `now` until it returns `None`. One input may yield many datagrams; what the
///    first of them brings back at the same instant may be accepted before the next is polled.
/// 3. Then read [`deadline`](Machine::deadline); what it told before is void.
///
/// `now` never runs backwards. Several inputs may share one instant; each is followed by steps 2 and 3. To wake a machine
/// before its deadline is allowed and does nothing.
pub trait Machine {
    /// What it takes in and gives out: for an endpoint its transport's protocol data unit, for a box on a path a
    /// [`Datagram`](crate::Datagram).
    type Datagram;

    /// Take a datagram that arrives now.
    fn accept(&mut self, now: Instant, datagram: Self::Datagram);

    /// Do what has become due.
    fn wake(&mut self, now: Instant);

    /// The earliest absolute instant at which to be woken, or none.
    fn deadline(&self) -> Option<Instant>;

    /// The next datagram that leaves now, if there is one.
    fn poll(&mut self, now: Instant) -> Option<Self::Datagram>;
}
