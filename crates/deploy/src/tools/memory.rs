//! Memory that a flood of clients has taken returns to the system.

use acklab_live::memory::{resident, trim};
use std::time::Duration;

/// The interval between checks: chosen. A trim takes milliseconds if much memory is free.
const INTERVAL: Duration = Duration::from_secs(5);
/// The growth in bytes above the minimum that the process has occupied: chosen, as much as buffers
/// that are reused.
const GROWTH: u64 = 16 << 20;

/// Returns free memory to the system while `may` returns `true`, if the process has grown. It never
/// ends.
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
