//! Links: what happens to packets between two nodes.
//!
//! A [`Link`] is one direction of a link, a chain of six stages; the opposite direction is another
//! `Link`.
//!
//! ```text
//!            thinner       queue             gate            server              channel               spacer
//! accept → [ every, ] → [ fifo, codel, ] → [ slots, ] → [ rate, steps, ] → [ delay, jitter, ] → [ rate, interval, ] → poll
//!          [ scsc   ]   [ ack-filter   ]   [ quota  ]   [ trace        ]   [ loss, reorder, ]   [ reconstruct     ]
//!                                                                          [ duplicate      ]
//! ```
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | [`link`] | [`Link`]: the machine, and its [`LinkConfig`](link::LinkConfig) |
//! | [`thinner`] | thinners: pure ACKs are held back so that one stands for several |
//! | [`queue`] | queue disciplines: which packets wait, are dropped or are marked; [`Buffer`]: a queue whose owner dequeues |
//! | [`gate`] | the ACK gate: a quota of packets at each multiple of an interval |
//! | [`demand`] | capacity on demand, in place of gate and server: the return channel of a satellite terminal |
//! | [`server`] | serialisation: a constant rate, a schedule of rates, or a recorded trace |
//! | [`mtu`] | the largest packet that a link carries, over time |
//! | [`loss`] | models of packet loss |
//! | [`duplicate`] | a model of packet duplication |
//! | [`jitter`] | propagation delay, jitter and reordering |
//! | [`spacer`] | spacers: ACKs are spread over time, and those that are missing put back |
//! | [`counters`] | packets and octets in and out, drops, marks, and the queue's length over time |

pub mod counters;
pub mod demand;
pub mod duplicate;
pub mod gate;
pub mod jitter;
pub mod link;
pub mod loss;
pub mod mtu;
mod numbers;
pub mod queue;
pub mod server;
pub mod spacer;
pub mod thinner;

pub use counters::Counters;
pub use link::Link;
pub use queue::Buffer;
pub use spacer::Spacer;
pub use thinner::Thinner;
