//! Stores the bytes of a stream, which a driver addresses by their offsets. Endpoints only count
//! bytes. [Stream events](acklab_base::StreamEvent) report which bytes have arrived and which may
//! be freed.
//!
//! Bytes are stored in blocks, so that the owner of a block can pass it on without copying it.
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

/// The maximum size of a block, unless the block was passed on as a whole. Blocks of this size fit
/// into the processor's caches.
pub const BLOCK: usize = 64 << 10;
