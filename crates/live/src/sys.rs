//! System calls without a safe wrapper. Each function states why its call is sound.
#![allow(unsafe_code)]

pub(crate) mod bpf;
pub(crate) mod packet;

use rustix::io;
use rustix::thread::UnshareFlags;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::NonNull;

/// The content that a device of `/dev/net/tun` carries, without a further header
/// (`linux/if_tun.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TunKind {
    /// IP packets.
    Tun,
    /// Ethernet frames.
    Tap,
}

impl TunKind {
    const fn flags(self) -> libc::c_int {
        libc::IFF_NO_PI
            | match self {
                Self::Tun => libc::IFF_TUN,
                Self::Tap => libc::IFF_TAP,
            }
    }
}

fn check(result: libc::c_int) -> std::io::Result<()> {
    if result == -1 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// Turns `file`, an open `/dev/net/tun`, into the device `name` of the current network namespace,
/// where `%d` in the name is replaced by a free number. Returns the name.
pub(crate) fn attach_tun(file: BorrowedFd<'_>, kind: TunKind, name: &str) -> std::io::Result<String> {
    // SAFETY: all fields of `ifreq` are integers or arrays of them, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (slot, octet) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.bytes()) {
        *slot = octet as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = kind.flags() as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes an `ifreq`, which lives across the call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    let given = request.ifr_name.iter().map(|octet| octet.cast_unsigned()).take_while(|octet| *octet != 0);
    Ok(String::from_utf8_lossy(&given.collect::<Vec<u8>>()).into_owned())
}

/// Gives the calling thread the real-time policy FIFO with this priority. Its children get the
/// normal policy.
pub(crate) fn set_fifo(priority: i32) -> std::io::Result<()> {
    // SAFETY: all fields of `sched_param` are integers.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: zero is the calling thread, and the parameters live across the call.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) })
}

/// Lets timers of the calling thread expire without slack.
pub(crate) fn set_timer_slack_to_least() -> std::io::Result<()> {
    // SAFETY: this option takes an integer and writes no memory.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) })
}

/// Moves the calling thread, or with `NEWPID` its children, to new namespaces.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    debug_assert!(!flags.contains(UnshareFlags::FILES), "descriptors are shared by all threads");
    // SAFETY: the call is unsafe because of `CLONE_FILES` alone, which no caller passes.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Calls `setup` in the child before it executes the program of `command`.
///
/// `setup` runs between fork and exec: it may only make system calls, and must not allocate.
pub(crate) fn before_exec(command: &mut Command, setup: impl FnMut() -> std::io::Result<()> + Send + Sync + 'static) {
    // SAFETY: the callers of this function, all in this crate, make system calls only.
    unsafe { command.pre_exec(setup) };
}

/// Makes the kernel reap the children of the calling process. This disposition survives exec.
pub(crate) fn ignore_children() -> std::io::Result<()> {
    // SAFETY: SIG_IGN is a valid disposition of SIGCHLD.
    if unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) } == libc::SIG_ERR {
        return Err(std::io::Error::last_os_error());
    }
    Ok(())
}

/// Sets an integer option of a socket at the level of TCP.
pub(crate) fn set_tcp_option(socket: &OwnedFd, option: libc::c_int, value: libc::c_int) -> std::io::Result<()> {
    set_option(socket.as_fd(), libc::IPPROTO_TCP, option, &value)
}

/// Makes the kernel cut the data written to a UDP socket into datagrams of this size
/// (`UDP_SEGMENT`, `linux/udp.h`).
pub(crate) fn set_udp_segment(socket: BorrowedFd<'_>, size: u16) -> std::io::Result<()> {
    set_option(socket, libc::SOL_UDP, libc::UDP_SEGMENT, &libc::c_int::from(size))
}

/// Reads the octets of `TCP_INFO` that the kernel has. Returns their number.
pub(crate) fn tcp_info(socket: BorrowedFd<'_>, octets: &mut [u8]) -> std::io::Result<usize> {
    let mut length = octets.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` octets to the slice, and the number written to
    // `length`.
    check(unsafe {
        let to = octets.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, to, &raw mut length)
    })?;
    Ok(length as usize)
}

/// Returns when the latest datagram read from this socket arrived from the network, by the clock of
/// the system in nanoseconds. The first call makes the kernel record the times. Before it, returns
/// `None`.
pub(crate) fn last_arrival(socket: BorrowedFd<'_>) -> Option<u64> {
    /// `SIOCGSTAMPNS_OLD` (`asm-generic/sockios.h`).
    const STAMP: libc::Ioctl = 0x8907;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes a `timespec`, which lives across the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), STAMP, &raw mut time) }).ok()?;
    Some(u64::try_from(time.tv_sec).ok()? * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?)
}

/// Makes a TAP device discard its output, so that its file need not be read.
pub(crate) fn discard_tap(file: BorrowedFd<'_>) -> std::io::Result<()> {
    /// `TUNATTACHFILTER` (`linux/if_tun.h`).
    const ATTACH_FILTER: libc::Ioctl = 0x4010_54d5;
    // A program of classic BPF that discards every packet.
    let mut keep_nothing = libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: 0 };
    let program = libc::sock_fprog { len: 1, filter: &raw mut keep_nothing };
    // SAFETY: the kernel copies the program, which lives across the call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), ATTACH_FILTER, &raw const program) })
}

/// Returns free memory of all arenas to the system.
#[cfg(target_env = "gnu")]
pub(crate) fn trim_memory() {
    // SAFETY: the call takes an integer, and changes no memory that is in use (malloc_trim(3)).
    unsafe { libc::malloc_trim(0) };
}

/// Does nothing: other allocators return memory by themselves, or have no such call.
#[cfg(not(target_env = "gnu"))]
pub(crate) const fn trim_memory() {}

/// Sets an option of a socket.
fn set_option<T>(socket: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int, value: &T) -> std::io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` octets of the value, which lives across the call.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), length) })
}

/// Maps `length` octets of `file` into memory that is shared with the kernel.
fn map_shared(file: &OwnedFd, length: usize) -> std::io::Result<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel chooses the address, so that no other memory is replaced.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if at == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error());
    }
    NonNull::new(at.cast()).ok_or_else(|| std::io::Error::other("memory was mapped at address zero"))
}

/// Ends a mapping of [`map_shared`]. No reference to the memory may be left.
fn unmap(memory: NonNull<u8>, length: usize) {
    // SAFETY: the callers own the mapping and are being dropped. It fails only for an address that
    // is not mapped.
    unsafe { libc::munmap(memory.as_ptr().cast(), length) };
}
