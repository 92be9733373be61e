//! Passes bytes in whole blocks between the application of a stream and the thread of its endpoint.
//! Neither of the two waits while the other copies bytes.
//!
//! | module | contents |
//! |---|---|
//! | `outlet` | written data, on their way to the thread |
//! | `inlet` | arrived data, on their way to the application |
//! | `backlog` | tracks whether applications have more data than streams accept |
//! | `pool` | memory for reuse |

mod backlog;
mod inlet;
mod outlet;
mod pool;

pub(crate) use backlog::Backlog;
pub(crate) use inlet::{Inlet, ReadError};
pub(crate) use outlet::{Outlet, WriteError};
pub(crate) use pool::Pool;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The result of an operation, and `true` if the thread of the endpoint must be notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) octets: usize,
    pub(crate) is_news: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
