//! UDP sockets of the kernel, without blocking.

use crate::namespace::Namespace;
use crate::sys;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A UDP socket that exchanges datagrams with one peer.
#[derive(Debug)]
pub struct Udp {
    socket: OwnedFd,
}

impl Udp {
    /// Returns a socket of `namespace` that is bound to `address` and exchanges datagrams only with
    /// `peer`.
    ///
    /// # Errors
    /// If the kernel refuses an address.
    pub fn between(namespace: &Namespace, address: SocketAddr, peer: SocketAddr) -> io::Result<Self> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = namespace.inside(|| Ok(net::socket_with(family, SocketType::DGRAM, flags, None)?))?;
        net::bind(&socket, &address)?;
        net::connect(&socket, &peer)?;
        Ok(Self { socket })
    }

    /// Sets the type of service or traffic class of its packets: DSCP in the upper six bits (RFC
    /// 2474, §3).
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_tos(&self, tos: u8) -> io::Result<()> {
        super::set_traffic_class(&self.socket, tos)
    }

    /// Makes the kernel cut the data sent into datagrams of `size` bytes, at most 64 at a time.
    ///
    /// # Errors
    /// If the kernel cannot do it.
    pub fn cut_into_datagrams(&self, size: u16) -> io::Result<()> {
        sys::set_udp_segment(self.as_fd(), size)
    }

    /// Sends a datagram. Returns `false` if the socket has no room for it now.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn send(&self, payload: &[u8]) -> io::Result<bool> {
        match net::send(&self.socket, payload, SendFlags::NOSIGNAL) {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Receives a datagram, truncated to the length of `start`. Returns its length, or `None` if
    /// none waits.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn receive(&self, start: &mut [u8]) -> io::Result<Option<usize>> {
        match net::recv(&self.socket, start, RecvFlags::TRUNC) {
            Ok((_, length)) => Ok(Some(length)),
            // The error of a host that has closed its socket belongs to an earlier datagram.
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNREFUSED) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Udp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
