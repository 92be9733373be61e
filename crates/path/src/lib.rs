//! Links: delay, queue, loss and other effects on packets between two nodes.
//!
//! A [`Link`] is one direction of a link, a chain of six stages; the opposite direction is another
//! `Link`.
//!
//! ```text
//! accept → thinner → queue → gate → server → channel → spacer → poll
//!
//! thinner  every, scsc, …
//! queue    fifo, codel, ack-filter, …
//! gate     slots, quota
//! server   rate, steps, trace
//! channel  delay, jitter, loss, reorder, duplicate
//! spacer   rate, interval, reconstruct
//! ```
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | [`link`] | [`Link`]: the machine, and its [`LinkConfig`](link::LinkConfig) |
//! | [`thinner`] | thinners: pure ACKs are held so that one replaces several |
//! | [`queue`] | queue disciplines: which packets wait, are dropped or are marked; [`Buffer`]: a queue whose owner dequeues |
//! | [`gate`] | the ACK gate: a quota of packets at each multiple of an interval |
//! | [`demand`] | capacity on demand, in place of gate and server: the return channel of a satellite terminal |
//! | [`server`] | serialisation: a constant rate, a schedule of rates, or a recorded trace |
//! | [`mtu`] | the largest packet that a link carries, over time |
//! | [`loss`] | models of packet loss |
//! | [`duplicate`] | a model of packet duplication |
//! | [`jitter`] | propagation delay, jitter and reordering |
//! | [`spacer`] | spacers: ACKs are spread over time, and missing ones are restored |
//! | [`counters`] | packets and octets in and out, drops, marks, and the queue's length over time |

pub mod counters;
pub mod demand;
pub mod duplicate;
pub mod gate;
pub mod jitter;
pub mod link;
pub mod loss;
pub mod mtu;
pub mod queue;
pub mod server;
pub mod spacer;
pub mod thinner;

pub use counters::Counters;
pub use link::Link;
pub use queue::Buffer;
pub use spacer::Spacer;
pub use thinner::Thinner;
