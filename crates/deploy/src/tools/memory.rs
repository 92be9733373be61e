//! Returns memory to the system that was allocated during a flood of clients.

use acklab_live::memory::{resident, trim};
use std::time::Duration;

/// The interval between checks. Chosen: a trim takes milliseconds if much memory is free.
const INTERVAL: Duration = Duration::from_secs(5);
/// The growth of the process's memory above its minimum, in bytes, at which memory is returned.
/// Chosen: the size of reused buffers.
const GROWTH: u64 = 16 << 20;

/// If the process has grown, returns free memory to the system while `may` returns `true`. This
/// function never returns.
pub(crate) async fn give_back(may: impl Fn() -> bool) {
    let mut least = resident();
    loop {
        tokio::time::sleep(INTERVAL).await;
        if may() && resident() > least + GROWTH {
            trim();
        }
        least = least.min(resident());
    }
}
