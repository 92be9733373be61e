//! Real-time priority and locked memory.

use crate::sys;
use acklab_base::Duration;
use rustix::mm::MlockAllFlags;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The priority of the thread that carries packets, among the real-time priorities 1 to 99.
pub const CARRIER: i32 = 10;
/// The priority of a thread that loads the one that carries packets, to measure it.
pub const LOAD: i32 = 5;
/// The priority of the thread of the built-in applications. It is higher, because ACKs that arrive while a thread that was interrupted
/// holds the lock of their socket wait for that thread.
pub const APPLICATIONS: i32 = 11;

/// Keeps the calling thread on the last of the processors that it may use. Returns `true` if there is another one for everything else.
///
/// An application that shares its processor with the thread that carries packets, and has a higher priority, reads each packet before the
/// next one is delivered, as the applications of a simulation do. On another processor it would find several at once, and the kernel
/// acknowledges fewer segments while data wait to be read.
pub fn share_a_processor() -> bool {
    let Ok(allowed) = sched_getaffinity(None) else { return false };
    let Some(last) = (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu)) else { return false };
    let mut only = CpuSet::new();
    only.set(last);
    allowed.count() > 1 && sched_setaffinity(None, &only).is_ok()
}

/// Gives the calling thread real-time priority and timers without slack. Returns `true` if it has the priority; without it, packets are
/// late whenever another process runs.
pub fn enter(priority: i32) -> bool {
    // Without it, delays are larger, and they show in the lateness of deliveries.
    let _ = sys::set_timer_slack_to_least();
    sys::set_fifo(priority).is_ok()
}

/// The memory of this process, which is not paged out until this is dropped. Where the system does not allow it, nothing is locked.
#[derive(Debug)]
pub struct LockedMemory(());

impl LockedMemory {
    /// Locks the memory that is in use, and what will be.
    #[must_use]
    pub fn lock() -> Self {
        // Without it, delays are larger, and they show in the lateness of deliveries.
        let _ = rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
        Self(())
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // It fails only where nothing was locked.
        let _ = rustix::mm::munlockall();
    }
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
