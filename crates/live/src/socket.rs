//! Sockets of the kernel, without blocking.
//!
//! | module | contents |
//! |---|---|
//! | [`tcp`] | [`Tcp`]: a TCP socket, and its [`Options`] |
//! | [`tcp_info`] | [`TcpInfo`]: the state of a connection |
//! | [`udp`] | [`Udp`]: a UDP socket |

pub mod tcp;
pub mod tcp_info;
pub mod udp;

pub use tcp::{Options, Tcp};
pub use tcp_info::TcpInfo;
pub use udp::Udp;

use acklab_base::Duration;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, sockopt};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

/// The maximum number of sockets that one wait reports.
const EVENTS: usize = 64;

/// The events for which a socket is watched. Errors are always reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Room to write. This event also ends connecting.
    Writing,
    /// Octets to read or a connection to accept, and room to write.
    Both,
}

/// Waits for sockets that have become readable or writable.
#[derive(Debug)]
pub struct Watch {
    epoll: OwnedFd,
}

impl Watch {
    /// Creates a watch without sockets.
    ///
    /// # Errors
    /// If the process has too many descriptors.
    pub fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(epoll::CreateFlags::CLOEXEC)? })
    }

    /// Adds a socket with a number that the caller chooses. Each change of its state is reported
    /// once.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn add(&self, socket: impl AsFd, number: usize, interest: Interest) -> io::Result<()> {
        let reading = if interest == Interest::Both { epoll::EventFlags::IN } else { epoll::EventFlags::empty() };
        let flags = reading | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(number as u64), flags)?)
    }

    /// Waits at most for `time`, and adds the numbers of the changed sockets to `ready`.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn wait(&self, time: Duration, ready: &mut Vec<usize>) -> io::Result<()> {
        let nanos = time.as_nanos();
        let timeout = Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ };
        let mut events = [const { MaybeUninit::uninit() }; EVENTS];
        let events = match epoll::wait(&self.epoll, &mut events, Some(&timeout)) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        ready.extend(events.iter().map(|event| event.data.u64() as usize));
        Ok(())
    }
}

/// Sets the type of service (RFC 791) or traffic class (RFC 8200) of the packets of a socket.
fn set_traffic_class(socket: &OwnedFd, class: u8) -> io::Result<()> {
    if sockopt::socket_domain(socket)? == AddressFamily::INET6 {
        return Ok(sockopt::set_ipv6_tclass(socket, class.into())?);
    }
    Ok(sockopt::set_ip_tos(socket, class)?)
}
