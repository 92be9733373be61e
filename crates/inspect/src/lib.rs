//! Analyses the packets of a capture: rates, round-trip times, losses, acknowledgments and limits
//! of connections and of the path.
//!
//! An [`Inspector`] processes the packets in order of time and returns a [`Report`]. It uses no
//! file and no clock. Its memory is bounded: it follows a bounded number of connections, and keeps
//! a bounded number of packets of each.
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | [`decapsulate`] | the IP packets in a captured frame |
//! | [`table`] | from frames to connections |
//! | `slots` | the connections that are followed |
//! | `finished` | the connections that are described |
//! | [`qlog`] | logs of endpoints in place of packets |
//! | `connection` | both directions of a connection, and its handshake |
//! | `packet` | a TCP segment with fields of its IP header and of the file |
//! | `duplicates` | packets that the file has more than once |
//! | `repetition` | a file that was appended to itself |
//! | `handshake` | the beginning and the end of a TCP connection |
//! | `direction` | one direction: the data that is sent, and the acknowledgments that return |
//! | `identification` | finds missing ACKs by the IPv4 identifications of the receiver |
//! | `hosts` | IPv4 identifications of hosts |
//! | `echoes` | finds missing ACKs by the timestamps that ACKs echo |
//! | `losses` | retransmissions, those that were spurious, and reordering |
//! | `round_trip` | round-trip times on either side of the point of capture |
//! | `quic` | QUIC: recognised by its datagrams, with round-trip times by handshake and spin bit |
//! | `limits` | the time in which the receive window or the application limited the sender |
//! | [`controller`] | the likely congestion controller, by the data in flight |
//! | `clock` | the clock of the capture: its tick, and its steps |
//! | `writes` | the pauses of the sender's application |
//! | `trace` | packets kept for estimates and figures |
//! | `overview` | the course of a whole direction, for figures |
//! | `busy` | busy periods of the sender |
//! | `load` | finds whether the sender kept the bottleneck busy |
//! | `rate` | the rate of the bottleneck, by dispersion |
//! | `receiver_clock` | the rate of the bottleneck, by timestamps of ACKs |
//! | `bursts` | bursts of arrivals, and their period |
//! | [`thinning`] | finds whether ACKs are thinned or compressed on the path |
//! | `batches` | intervals of means and ratios |
//! | `quantiles` | distributions in bounded memory |
//! | [`finding`] | a statement with its evidence, or the reason why it is not known |
//! | [`report`] | the result |

mod batches;
mod bursts;
mod busy;
mod clock;
mod connection;
pub mod controller;
pub mod decapsulate;
mod direction;
mod duplicates;
mod echoes;
pub mod finding;
mod finished;
mod handshake;
mod hosts;
mod identification;
mod limits;
mod load;
mod losses;
mod overview;
mod packet;
pub mod qlog;
mod quantiles;
mod quic;
mod rate;
mod receiver_clock;
mod repetition;
pub mod report;
mod round_trip;
mod slots;
pub mod table;
pub mod thinning;
mod trace;
mod writes;

pub use decapsulate::LinkType;
pub use report::Report;
pub use table::{Inspector, Options};
