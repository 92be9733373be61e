//! The boxes on a wire.
//!
//! A [`Link`] is one direction of a wire, a chain of four boxes; the other direction is a link of its own.
//!
//! ```text
//!            queue             gate            server              channel
//! accept → [ fifo, codel, ] → [ slots, ] → [ rate, steps, ] → [ delay, jitter, ] → poll
//!          [ ack-filter   ]   [ quota  ]   [ trace        ]   [ loss, reorder, ]
//!                                                             [ duplicate      ]
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`link`] | [`Link`]: the machine, and its [`Config`](link::Config) |
//! | [`queue`] | who waits, who is turned away, and who is marked; a [`Buffer`] is such a queue whose owner takes the packets out |
//! | [`gate`] | the ACK gate: so many packets at each multiple of an interval |
//! | [`server`] | how long a packet takes: a rate, a schedule of rates, a recorded trace |
//! | [`loss`] | which packets the wire loses |
//! | [`duplicate`] | which packets arrive twice |
//! | [`jitter`] | which packets it delays further |
//! | [`counters`] | what went in, what came out, how long the queue was |

pub mod counters;
pub mod duplicate;
pub mod gate;
pub mod jitter;
pub mod link;
pub mod loss;
pub mod queue;
pub mod server;

pub use counters::Counters;
pub use link::Link;
pub use queue::Buffer;
