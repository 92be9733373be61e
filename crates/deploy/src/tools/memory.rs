//! Returns memory to the system that a flood of clients has taken.

use acklab_live::memory::{resident, trim};
use std::time::Duration;

/// The interval between checks: chosen. A trim takes milliseconds if much memory is free.
const INTERVAL: Duration = Duration::from_secs(5);
/// The growth in bytes above the minimum memory of the process. Chosen: the size of reused buffers.
const GROWTH: u64 = 16 << 20;

/// Returns free memory to the system while `may` returns `true`, if the process has grown. Never
/// returns.
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
