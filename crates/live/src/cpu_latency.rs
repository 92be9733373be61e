//! Processors that do not halt while they are idle.

use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::OwnedFd;

/// The CPU latency quality of service of the kernel (Documentation/power/pm_qos_interface.rst).
const DEVICE: &str = "/dev/cpu_dma_latency";
/// The requested wake-up latency in microseconds. With zero, idle processors poll, as with
/// `cyclictest` and the real-time profiles of `tuned`.
const NONE: i32 = 0;

/// A request to the kernel that no processor halts while it is idle. The request ends when this
/// value is dropped, or when the process ends in any manner.
///
/// A halted processor takes time to wake, above all in a virtual machine, because its host must
/// schedule it again. A processor that polls runs the thread of an expired timer immediately, but
/// uses the power of a busy processor.
#[derive(Debug)]
pub struct AwakeProcessors {
    /// The kernel withdraws the request when the last descriptor is closed.
    _request: OwnedFd,
}

impl AwakeProcessors {
    /// Requests that the kernel keep all processors awake.
    ///
    /// # Errors
    /// If the kernel has no such device, or if the process may not open it (by default, only root
    /// may).
    pub fn request() -> io::Result<Self> {
        // A child that inherited the descriptor would prolong the request.
        let request = rustix::fs::open(DEVICE, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::io::write(&request, &NONE.to_ne_bytes())?;
        Ok(Self { _request: request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::io::Read;

    /// Returns the largest wake-up latency that the requests of all processes allow, in
    /// microseconds.
    fn allowed() -> i32 {
        let mut octets = [0; 4];
        File::open(DEVICE).unwrap().read_exact(&mut octets).unwrap();
        i32::from_ne_bytes(octets)
    }

    /// Returns `true` if this process holds a request. Other processes may hold requests at any
    /// time.
    fn is_held() -> bool {
        fs::read_dir("/proc/self/fd")
            .unwrap()
            .flatten()
            .any(|entry| fs::read_link(entry.path()).is_ok_and(|link| link.as_os_str() == DEVICE))
    }

    #[test]
    fn a_request_lasts_until_it_is_dropped() {
        let Ok(awake) = AwakeProcessors::request().map_err(|why| eprintln!("skipped: {DEVICE}: {why}")) else { return };
        assert_eq!(allowed(), NONE);
        assert!(is_held());
        drop(awake);
        assert!(!is_held());
    }
}
