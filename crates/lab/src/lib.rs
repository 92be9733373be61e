//! The laboratory. It builds a network from a scenario, runs it, and returns the measured tables
//! (`acklab-measure`).
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | [`scenario`] | the scenario language: a typed document that is parsed, validated and described by a JSON Schema |
//! | `strategies` | [`Strategies`]: ACK policies, congestion controllers and transports that the user adds |
//! | [`check`] | checks the requirements of a run besides a valid scenario, without the run |
//! | [`run()`] | one run of a scenario: [`RunOptions`] and [`Results`] |
//! | [`emulate()`] | the same scenario in real time, with packets of real applications and the kernel's TCP |
//! | [`inline()`] | the path of a scenario between two interfaces of this host |
//! | `assemble` | the network of a scenario: links, cells, flows and observers |
//! | [`transports`] | the two endpoints of a flow, for built-in transports and those of the user |
//! | [`packet`] | the simulated [`Packet`] |
//! | [`packetdrill`] | scripts of packetdrill, played at the TCP of a flow |
//! | [`inspect`] | analyses the packets of a capture |
//! | `flows`, `socket` | the endpoints at the ports of the network, with their applications and meters |
//! | `error` | [`Error`]: the reasons why a run cannot start or continue |

mod assemble;
pub mod emulate;
mod error;
mod flows;
pub mod inline;
pub mod inspect;
pub mod packet;
pub mod packetdrill;
mod run;
pub mod scenario;
mod socket;
mod strategies;
pub mod transports;

pub use assemble::check;
pub use emulate::emulate;
pub use error::Error;
pub use inline::inline;
pub use packet::Packet;
pub use run::{Progress, Results, RunOptions, run};
pub use strategies::Strategies;
