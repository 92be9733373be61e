//! Real-time priority and locked memory.

use crate::sys;
use acklab_base::Duration;
use rustix::mm::MlockAllFlags;

/// The priority of the thread that carries packets, among the real-time priorities 1 to 99.
pub const CARRIER: i32 = 10;
/// The priority of the thread of the built-in applications. It is higher, because ACKs that arrive while a thread that was interrupted
/// holds the lock of their socket wait for that thread.
pub const APPLICATIONS: i32 = 11;

/// Gives the calling thread real-time priority, timers without slack, and memory that is not paged out. Returns `true` if it has the
/// priority; without it, packets are late whenever another process runs.
pub fn enter(priority: i32) -> bool {
    // Without these two, delays are larger, and they show in the lateness of deliveries.
    let _ = sys::set_timer_slack_to_least();
    let _ = rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
    sys::set_fifo(priority).is_ok()
}

/// The processor time that the calling thread has used.
#[must_use]
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::from_secs(time.tv_sec as u64) + Duration::from_nanos(time.tv_nsec as u64)
}

/// The release of the kernel, such as `6.18.0`.
#[must_use]
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}
