//! TCP sockets of the kernel, without blocking.

use super::TcpInfo;
use crate::namespace::Namespace;
use crate::sys;
use acklab_base::Duration;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, sockopt};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The options of a socket. For missing values, the kernel uses its defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The congestion control algorithm, by its name in the kernel.
    pub congestion: Option<String>,
    /// The maximum segment size (RFC 9293, §3.7.1).
    pub mss: Option<u32>,
    /// The memory limit of the send buffer in octets, as in `tcp_wmem`. The buffer then does not
    /// grow by itself.
    pub send_buffer: Option<usize>,
    /// The size of the receive buffer in octets. The buffer then does not grow by itself.
    pub receive_buffer: Option<usize>,
}

/// A TCP socket.
#[derive(Debug)]
pub struct Tcp {
    socket: OwnedFd,
}

impl Tcp {
    /// Returns a socket of `namespace` that is bound to `address`.
    ///
    /// # Errors
    /// If the kernel refuses an option or the address; the message names it.
    pub fn bound(namespace: &Namespace, address: SocketAddr, options: &Options) -> io::Result<Self> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = namespace.inside(|| Ok(net::socket_with(family, SocketType::STREAM, flags, None)?))?;
        let named =
            |what: String| move |why: Errno| io::Error::new(io::Error::from(why).kind(), format!("{what}: {why}"));
        sockopt::set_socket_reuseaddr(&socket, true)?;
        if let Some(name) = &options.congestion {
            sockopt::set_tcp_congestion(&socket, name).map_err(named(format!("congestion control \"{name}\"")))?;
        }
        if let Some(mss) = options.mss {
            sys::set_tcp_option(&socket, libc::TCP_MAXSEG, mss as libc::c_int)?;
        }
        if let Some(octets) = options.send_buffer {
            set_send_buffer(&socket, octets).map_err(named(format!("send buffer of {octets} B")))?;
        }
        if let Some(octets) = options.receive_buffer {
            set_receive_buffer(&socket, octets).map_err(named(format!("receive buffer of {octets} B")))?;
        }
        net::bind(&socket, &address).map_err(named(format!("address {address}")))?;
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

    /// Switches Nagle's algorithm off (`TCP_NODELAY`): small segments are sent without waiting for
    /// acknowledgments.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_no_delay(&self) -> io::Result<()> {
        Ok(sockopt::set_tcp_nodelay(&self.socket, true)?)
    }

    /// Ends the connection if sent data stay unacknowledged for `limit`, in whole milliseconds
    /// (`TCP_USER_TIMEOUT`).
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_user_timeout(&self, limit: Duration) -> io::Result<()> {
        Ok(sockopt::set_tcp_user_timeout(&self.socket, limit.as_millis() as u32)?)
    }

    /// Holds back segments that are not full, or releases them (`TCP_CORK`).
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_corked(&self, is_corked: bool) -> io::Result<()> {
        Ok(sockopt::set_tcp_cork(&self.socket, is_corked)?)
    }

    /// Sets the memory limit of the send buffer in octets. The buffer then does not grow by itself.
    ///
    /// # Errors
    /// If the kernel grants less.
    pub fn set_send_buffer(&self, octets: usize) -> io::Result<()> {
        Ok(set_send_buffer(&self.socket, octets)?)
    }

    /// Returns the memory limit of the send buffer in octets.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn send_buffer(&self) -> io::Result<usize> {
        Ok(sockopt::socket_send_buffer_size(&self.socket)?)
    }

    /// Begins to accept connections.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn listen(&self) -> io::Result<()> {
        Ok(net::listen(&self.socket, 128)?)
    }

    /// Accepts a connection. Returns `None` if none waits.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn accept(&self) -> io::Result<Option<Self>> {
        match net::accept_with(&self.socket, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(socket) => Ok(Some(Self { socket })),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Begins to connect.
    ///
    /// # Errors
    /// If the kernel refuses; a refusal of the peer shows later.
    pub fn connect(&self, to: SocketAddr) -> io::Result<()> {
        match net::connect(&self.socket, &to) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes as many of `octets` as the buffer has room for. Returns their number.
    ///
    /// # Errors
    /// If the connection has failed.
    pub fn write(&self, octets: &[u8]) -> io::Result<usize> {
        self.send(octets, false, false)
    }

    /// Writes as many of `octets` as the buffer has room for. The flags state whether `more` follow
    /// soon (`MSG_MORE`) and whether a record ends (`MSG_EOR`). Returns the number of bytes
    /// written.
    ///
    /// # Errors
    /// If the connection has failed.
    pub fn send(&self, octets: &[u8], more: bool, ends_record: bool) -> io::Result<usize> {
        let mut flags = SendFlags::NOSIGNAL;
        flags.set(SendFlags::MORE, more);
        flags.set(SendFlags::EOR, ends_record);
        match net::send(&self.socket, octets, flags) {
            Ok(written) => Ok(written),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes octets from the receive buffer without copying them, at most the length of `octets`.
    /// Returns their number, which is zero at the end of the stream. Returns `None` if nothing
    /// waits.
    ///
    /// # Errors
    /// If the connection has failed.
    pub fn discard(&self, octets: &mut [u8]) -> io::Result<Option<usize>> {
        match net::recv(&self.socket, octets, RecvFlags::TRUNC) {
            Ok((_, discarded)) => Ok(Some(discarded)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads octets, at most the length of `octets`. Returns their number, which is zero at the end
    /// of the stream. Returns `None` if nothing waits.
    ///
    /// # Errors
    /// If the connection has failed.
    pub fn read(&self, octets: &mut [u8]) -> io::Result<Option<usize>> {
        match net::recv(&self.socket, octets, RecvFlags::empty()) {
            Ok((read, _)) => Ok(Some(read)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the number of octets that can be read now.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn readable(&self) -> io::Result<u64> {
        Ok(rustix::io::ioctl_fionread(&self.socket)?)
    }

    /// Ends the stream after the octets written so far.
    ///
    /// # Errors
    /// If the connection has failed.
    pub fn finish(&self) -> io::Result<()> {
        Ok(net::shutdown(&self.socket, Shutdown::Write)?)
    }

    /// Returns the state of the connection.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn info(&self) -> io::Result<TcpInfo> {
        TcpInfo::of(&self.socket)
    }

    /// Returns another descriptor of the same socket.
    ///
    /// # Errors
    /// If the process has too many descriptors.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { socket: self.socket.try_clone()? })
    }
}

impl AsFd for Tcp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Limits the memory of the send buffer. The kernel doubles the given size (`socket(7)`). In a user
/// namespace, it grants at most `net.core.wmem_max`, and more is an error.
fn set_send_buffer(socket: &OwnedFd, octets: usize) -> Result<(), Errno> {
    let half = octets.div_ceil(2);
    match sockopt::set_socket_send_buffer_size_force(socket, half) {
        Err(Errno::PERM) => {
            sockopt::set_socket_send_buffer_size(socket, half)?;
            granted(sockopt::socket_send_buffer_size(socket)?, half)
        }
        done => done,
    }
}

/// Sets the size of the receive buffer. In a user namespace, the kernel grants at most
/// `net.core.rmem_max`, and more is an error.
fn set_receive_buffer(socket: &OwnedFd, octets: usize) -> Result<(), Errno> {
    match sockopt::set_socket_recv_buffer_size_force(socket, octets) {
        Err(Errno::PERM) => {
            sockopt::set_socket_recv_buffer_size(socket, octets)?;
            granted(sockopt::socket_recv_buffer_size(socket)?, octets)
        }
        done => done,
    }
}

/// Checks a granted size. The kernel reports twice the size (`socket(7)`).
const fn granted(reported: usize, octets: usize) -> Result<(), Errno> {
    if reported >= 2 * octets { Ok(()) } else { Err(Errno::PERM) }
}
