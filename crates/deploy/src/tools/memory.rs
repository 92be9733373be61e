//! Memory that a flood of clients has taken returns to the system.

use acklab_live::memory::{resident, trim};
use std::time::Duration;

/// How often a tool looks: chosen. To trim takes milliseconds if much is free.
const INTERVAL: Duration = Duration::from_secs(5);
/// Octets more than the least that the process has occupied: chosen, as much as buffers that are
/// used again.
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
