//! TUN and TAP devices.

use crate::namespace::Namespace;
use crate::sys::{self, TunKind};
use rustix::fs::{Mode, OFlags};
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The reasons why a TUN device cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The device file is missing or may not be opened.
    #[error(
        "cannot open /dev/net/tun: {0}; it takes the kernel module `tun` (`modprobe tun`) and the permission to read and write \
         this file (`chmod 666 /dev/net/tun`, which most systems have)"
    )]
    Open(io::Error),
    /// The kernel refuses the device.
    #[error("cannot create a TUN or TAP device: {0}; it takes the capability CAP_NET_ADMIN in the network namespace")]
    Attach(io::Error),
}

/// A network device of a namespace. This value reads what the namespace sends through the device,
/// and what it writes arrives in the namespace. There are no offloads: each read and each write is
/// one packet. The device disappears when this value is dropped.
#[derive(Debug)]
pub struct Tun {
    file: OwnedFd,
    index: u32,
    name: String,
}

fn open() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open("/dev/net/tun", flags, Mode::empty())?)
}

impl Tun {
    /// Creates the device `name` in `namespace`. It is down and has no address.
    ///
    /// # Errors
    /// If there is no `/dev/net/tun`, or if the process lacks the permission.
    pub fn new(namespace: &Namespace, name: &str) -> Result<Self, Error> {
        // The device belongs to the namespace in which the file is opened.
        let file = namespace.inside(open).map_err(Error::Open)?;
        namespace.inside(|| Self::attached(file, TunKind::Tun, name)).map_err(Error::Attach)
    }

    /// Creates a device that carries Ethernet frames in the namespace of the calling thread. It is
    /// down. `%d` in `name` is replaced by a free number.
    ///
    /// # Errors
    /// If there is no `/dev/net/tun`, or if the process lacks the permission.
    pub fn tap(name: &str) -> Result<Self, Error> {
        Self::attached(open().map_err(Error::Open)?, TunKind::Tap, name).map_err(Error::Attach)
    }

    fn attached(file: OwnedFd, kind: TunKind, name: &str) -> io::Result<Self> {
        let name = sys::attach_tun(file.as_fd(), kind, name)?;
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
        let index = name_to_index(&socket, &name)?;
        Ok(Self { file, index, name })
    }

    /// Returns the name of the device.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the index of the device in its namespace.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Reads a packet into the spare capacity of `buffer`, which must be empty and have room for
    /// the largest packet. Returns `false` if no packet waits.
    ///
    /// # Errors
    /// If the device is down or gone.
    #[inline]
    pub fn read(&self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        match rustix::io::read(&self.file, rustix::buffer::spare_capacity(buffer)) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a packet. When this returns, the namespace has processed it.
    ///
    /// # Errors
    /// If the device is down or gone, or if the kernel does not accept the packet.
    #[inline]
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        Ok(rustix::io::write(&self.file, packet).map(|_| ())?)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
