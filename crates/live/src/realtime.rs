//! Means to run a thread in time: real-time priority, locked memory and processors that do not
//! halt.

use crate::idling::{Idling, Wakefulness};
use crate::sys;
use acklab_base::Duration;
use rustix::mm::MlockAllFlags;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The priority of the thread that carries packets, among the real-time priorities 1 to 99.
pub const CARRIER: i32 = 10;
/// The priority of a thread that competes with the carrying thread, in order to measure its effect.
pub const LOAD: i32 = 5;
/// The priority of the thread of the built-in applications. It is the highest. If another thread
/// interrupted this thread while it holds the lock of a socket, arriving ACKs of this socket would
/// wait.
pub const APPLICATIONS: i32 = 11;

/// Restricts the calling thread to the last of the processors that it may use. Returns `true` if
/// another processor is left for everything else.
///
/// The applications then share this processor with the thread that carries packets, at a higher
/// priority. They write as soon as an ACK makes room, and read each packet before the next one is
/// delivered, as the applications of a simulation do.
pub fn share_a_processor() -> bool {
    let Ok(allowed) = sched_getaffinity(None) else { return false };
    let Some(last) = (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu)) else { return false };
    let mut only = CpuSet::new();
    only.set(last);
    allowed.count() > 1 && sched_setaffinity(None, &only).is_ok()
}

/// Requests real-time priority and timers without slack for the calling thread. Returns `true` if
/// the thread has real-time priority. Without it, packets are late whenever another process runs.
pub fn enter(priority: i32) -> bool {
    // Without this setting, delays are larger. The lateness of deliveries shows them.
    let _ = sys::set_timer_slack_to_least();
    sys::set_fifo(priority).is_ok()
}

/// The memory of this process, which is not paged out until this value is dropped. If the system
/// does not allow it, nothing is locked.
#[derive(Debug)]
struct LockedMemory(());

impl LockedMemory {
    /// Locks the memory in use now and later.
    fn lock() -> Self {
        // Without locked memory, delays are larger. The lateness of deliveries shows them.
        let _ = rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
        Self(())
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // This fails only if nothing was locked.
        let _ = rustix::mm::munlockall();
    }
}

/// The privileges that the system has granted to the thread that carries packets, until this value
/// is dropped.
#[derive(Debug)]
pub struct Privileges {
    is_realtime: bool,
    wakefulness: Wakefulness,
    _memory: LockedMemory,
}

impl Privileges {
    /// Requests all privileges that make the calling thread carry packets in time, except the idle
    /// behavior of processors.
    #[must_use]
    pub fn of_carrier(wakefulness: Wakefulness) -> Self {
        let memory = LockedMemory::lock();
        Self { is_realtime: enter(CARRIER), wakefulness, _memory: memory }
    }

    /// Returns the behavior of idle processors, and their stolen time.
    #[must_use]
    pub const fn wakefulness(&self) -> &Wakefulness {
        &self.wakefulness
    }

    /// Returns the present grants.
    #[must_use]
    pub fn granted(&self) -> Granted {
        Granted { is_realtime: self.is_realtime, idling: self.wakefulness.idling() }
    }
}

/// The privileges that the system has granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// `true` if the thread has real-time priority.
    pub is_realtime: bool,
    /// The behavior of idle processors.
    pub idling: Idling,
}

impl Granted {
    /// Returns the priority of the thread, for messages.
    #[must_use]
    pub const fn priority(self) -> &'static str {
        if self.is_realtime { "real-time" } else { "normal" }
    }
}

/// Returns the processor time that the calling thread has used.
#[must_use]
pub fn cpu_time() -> Duration {
    Duration::from_nanos(crate::clock::nanos(rustix::time::ClockId::ThreadCPUTime))
}

/// Returns the release of the kernel, such as `6.18.0`.
#[must_use]
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}
