//! The octets of a stream, which a driver keeps by their offsets. Endpoints count them and report
//! by [stream events](acklab_base::StreamEvent) which of them have arrived and which need not be
//! kept.
//!
//! Octets lie in blocks, so that the owner of a block can pass it on instead of copying it.
//!
//! | module | contents |
//! |---|---|
//! | `written` | octets that an application has written |
//! | `arrived` | octets that have arrived, in order or not |
//! | `pages` | memory for octets that have arrived out of order |

mod arrived;
mod pages;
mod written;

pub use arrived::Arrived;
pub use written::Written;

/// The maximum of a block, unless it was passed on as a whole: a size that stays in the caches of a
/// processor.
pub const BLOCK: usize = 64 << 10;
