//! Stores the bytes of a stream, which a driver keeps by their offsets. Endpoints only count them.
//! [Stream events](acklab_base::StreamEvent) report which bytes have arrived and which need not be
//! kept.
//!
//! Bytes lie in blocks, so that the owner of a block can pass it on instead of copying it.
//!
//! | module | contents |
//! |---|---|
//! | `written` | bytes that an application has written |
//! | `arrived` | bytes that have arrived, in order or not |
//! | `pages` | memory for bytes that have arrived out of order |

mod arrived;
mod pages;
mod written;

pub use arrived::Arrived;
pub use written::Written;

/// The maximum size of a block, unless it was passed on as a whole. Blocks of this size stay in the
/// processor's caches.
pub const BLOCK: usize = 64 << 10;
