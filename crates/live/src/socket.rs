//! TCP sockets of the kernel, without blocking.

use crate::namespace::Namespace;
use crate::sys;
use acklab_base::Duration;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, sockopt};
use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The number of octets of `TCP_INFO` that are read.
const INFO_LEN: usize = 256;

/// The sockets that one wait reports.
const EVENTS: usize = 64;

/// The options of a socket. The kernel's defaults hold where there is no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The congestion control algorithm, by the kernel's name.
    pub congestion: Option<String>,
    /// The maximum segment size (RFC 9293, §3.7.1).
    pub mss: Option<u32>,
    /// The send buffer in octets; it then does not grow by itself.
    pub send_buffer: Option<usize>,
    /// The receive buffer in octets; it then does not grow by itself.
    pub receive_buffer: Option<usize>,
}

/// A TCP socket.
#[derive(Debug)]
pub struct Tcp {
    socket: OwnedFd,
}

impl Tcp {
    /// A socket of `namespace` that is bound to `address`.
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
            sockopt::set_socket_send_buffer_size_force(&socket, octets)
                .map_err(named(format!("send buffer of {octets} B")))?;
        }
        if let Some(octets) = options.receive_buffer {
            sockopt::set_socket_recv_buffer_size_force(&socket, octets)
                .map_err(named(format!("receive buffer of {octets} B")))?;
        }
        net::bind(&socket, &address).map_err(named(format!("address {address}")))?;
        Ok(Self { socket })
    }

    /// Sets the type of service of its packets: DSCP in the upper six bits (RFC 2474, §3).
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_tos(&self, tos: u8) -> io::Result<()> {
        Ok(sockopt::set_ip_tos(&self.socket, tos)?)
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

    /// Writes as many of `octets` as there is room for. Returns their number.
    ///
    /// # Errors
    /// If the connection has failed.
    pub fn write(&self, octets: &[u8]) -> io::Result<usize> {
        match net::send(&self.socket, octets, SendFlags::NOSIGNAL) {
            Ok(written) => Ok(written),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes octets from the receive buffer without copying them, at most as many as `octets` holds. Returns their number, zero at the
    /// end of the stream, and `None` if nothing waits.
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

    /// The number of octets that may be read now.
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

    /// The state of the connection.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn info(&self) -> io::Result<TcpInfo> {
        let mut octets = [0; INFO_LEN];
        sys::tcp_info(&self.socket, &mut octets)?;
        Ok(TcpInfo { octets })
    }

    /// Another descriptor of the same socket.
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

/// Waits for sockets that have become readable or writable.
#[derive(Debug)]
pub struct Watch {
    epoll: OwnedFd,
}

impl Watch {
    /// A watch without sockets.
    ///
    /// # Errors
    /// If the process has too many descriptors.
    pub fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(epoll::CreateFlags::CLOEXEC)? })
    }

    /// Adds a socket with a number of the caller's. It is reported once for each change of its state.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn add(&self, socket: &Tcp, number: usize) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(number as u64), flags)?)
    }

    /// Waits at most for `time`, and adds the numbers of the sockets that have changed to `ready`.
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

/// `TCP_INFO` (`linux/tcp.h`, `struct tcp_info`). A field that an older kernel does not have is zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TcpInfo {
    octets: [u8; INFO_LEN],
}

/// Methods that return a field of 32 bits, each with its offset in the structure.
macro_rules! fields {
    ($($(#[doc = $doc:literal])+ $name:ident at $offset:literal,)+) => {
        impl TcpInfo {
            $($(#[doc = $doc])+ #[must_use] pub fn $name(&self) -> u32 { self.word($offset) })+
        }
    };
}

fields! {
    /// The largest payload of a segment that it sends, in octets.
    snd_mss at 16,
    /// Segments sent and not acknowledged cumulatively.
    unacked at 24,
    /// Of these, those reported by SACK.
    sacked at 28,
    /// Of these, those that count as lost.
    lost at 32,
    /// Of these, those retransmitted.
    retrans at 36,
    /// Smoothed round-trip time in microseconds.
    rtt_us at 68,
    /// Slow-start threshold in segments.
    snd_ssthresh at 76,
    /// Congestion window in segments.
    snd_cwnd at 80,
    /// Retransmissions in all.
    total_retrans at 100,
    /// Octets written and not sent yet.
    notsent_bytes at 144,
}

impl TcpInfo {
    fn word(&self, offset: usize) -> u32 {
        let mut word = [0; 4];
        word.copy_from_slice(&self.octets[offset..offset + 4]);
        u32::from_ne_bytes(word)
    }

    /// The state of the connection (`enum tcp_ca_state` is another field): `true` once it is established.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        // TCP_ESTABLISHED, TCP_CLOSE_WAIT.
        matches!(self.octets[0], 1 | 8)
    }

    /// Expirations of the retransmission timer, since Linux 6.7.
    #[must_use]
    pub fn total_rto(&self) -> u32 {
        u16::from_ne_bytes([self.octets[240], self.octets[241]]).into()
    }
}

impl std::fmt::Debug for TcpInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cwnd {} unacked {} srtt {} us", self.snd_cwnd(), self.unacked(), self.rtt_us())
    }
}
