//! The memory of this process.

use crate::sys;

/// Returns the bytes of memory that the process occupies; zero if the system does not report them.
#[must_use]
pub fn resident() -> u64 {
    // The second field counts pages (proc(5), /proc/pid/statm).
    let fields = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = fields.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

/// Returns freed memory that the allocator keeps to the system, as far as possible. It takes
/// milliseconds if much memory is free.
pub fn trim() {
    sys::trim_memory();
}
