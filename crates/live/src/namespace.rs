//! Network namespaces without names.

use crate::sys;
use rustix::fs::{Mode, OFlags};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The path of the calling thread's namespace. `/proc/self` would be the namespace of the first
/// thread.
const OWN: &str = "/proc/thread-self/ns/net";

/// The reason why a namespace cannot be created.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot create a network namespace: {source}; it takes root (CAP_SYS_ADMIN, for instance `sudo acklab …`), or a user namespace"
)]
pub struct Error {
    #[from]
    source: io::Error,
}

/// A network namespace that exists as long as a descriptor, a device's descriptor or a process
/// refers to it.
#[derive(Debug)]
pub struct Namespace(OwnedFd);

fn own() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(OWN, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

fn enter(namespace: BorrowedFd<'_>) -> io::Result<()> {
    Ok(move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))?)
}

/// Moves the calling thread to a separate network namespace, permanently. Root of a user namespace
/// can later return to this namespace, but not to the namespace of the system.
///
/// # Errors
/// If the process lacks the permission.
pub fn leave_home() -> Result<(), Error> {
    Ok(sys::unshare(UnshareFlags::NEWNET).map_err(io::Error::from)?)
}

impl Namespace {
    /// Creates a new namespace, in which the loopback device is down. The calling thread stays in
    /// its own.
    ///
    /// # Errors
    /// If the process lacks the permission.
    pub fn new() -> Result<Self, Error> {
        let home = own()?;
        sys::unshare(UnshareFlags::NEWNET).map_err(io::Error::from)?;
        let made = own();
        enter(home.as_fd())?;
        Ok(Self(made?))
    }

    /// Returns the namespace of the calling thread.
    ///
    /// # Errors
    /// If the process has too many descriptors.
    pub fn here() -> io::Result<Self> {
        Ok(Self(own()?))
    }

    /// Calls `inside` with the calling thread in this namespace. Sockets and TUN devices that it
    /// opens belong to this namespace for good.
    ///
    /// # Errors
    /// If the thread cannot enter the namespace or return, or if `inside` fails.
    pub fn inside<T>(&self, inside: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let home = own()?;
        enter(self.as_fd())?;
        let result = inside();
        enter(home.as_fd())?;
        result
    }

    /// Sets a parameter of the namespace, such as `net/ipv4/tcp_ecn`.
    ///
    /// # Errors
    /// If the kernel does not have the parameter or refuses the value.
    pub fn set(&self, parameter: &str, value: &str) -> io::Result<()> {
        self.inside(|| {
            let mut file = File::options().write(true).open(format!("/proc/sys/{parameter}"))?;
            file.write_all(value.as_bytes())
        })
    }

    /// Returns the value of a parameter of the namespace.
    ///
    /// # Errors
    /// If the kernel does not have the parameter.
    pub fn get(&self, parameter: &str) -> io::Result<String> {
        self.inside(|| Ok(std::fs::read_to_string(format!("/proc/sys/{parameter}"))?.trim().to_owned()))
    }

    /// Returns a second descriptor of the same namespace.
    ///
    /// # Errors
    /// If the process has too many descriptors.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
