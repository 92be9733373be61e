//! UDP sockets that send and receive datagrams in batches: with segmentation offload (GSO),
//! coalescing (GRO), and the ECN field in both directions.

use crate::clock::nanos;
use crate::{WallClock, sys};
use acklab_base::{Duration, Ecn, Instant};
use arrayvec::ArrayVec;
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, epoll, eventfd};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::time::ClockId;
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};

/// The requested size of the kernel's buffer in each direction, in octets: some milliseconds at a
/// gigabit per second.
const KERNEL_BUFFER: usize = 4 << 20;
/// The largest UDP payload (RFC 768).
const LARGEST: usize = 65_535;
/// Octets of a receive buffer, which has room for the largest payload.
pub const BUFFER: usize = 64 << 10;

/// Messages that one system call receives. Each may hold several datagrams (GRO), and more of them
/// would not stay in the caches.
const MESSAGES: usize = 8;

/// A UDP socket.
#[derive(Debug)]
pub struct UdpPort {
    socket: UdpSocket,
    state: UdpSocketState,
    buffers: [Vec<u8>; MESSAGES],
    metas: [RecvMeta; MESSAGES],
    /// The number of buffers that the last call filled.
    received: usize,
    /// `true` after the system has refused segmentation offload.
    is_plain: bool,
}

impl UdpPort {
    /// Creates a socket that is bound to `address`.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::new(UdpSocket::bind(address)?)
    }

    /// Creates a port from a socket that is bound already.
    ///
    /// # Errors
    /// If the system refuses an option.
    pub fn new(socket: UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new((&socket).into())?;
        // If the system allows less, it sets its maximum.
        _ = state.set_send_buffer_size((&socket).into(), KERNEL_BUFFER);
        _ = state.set_recv_buffer_size((&socket).into(), KERNEL_BUFFER);
        // The kernel begins to record times of arrival.
        _ = sys::last_arrival(socket.as_fd());
        let buffers = std::array::from_fn(|_| vec![0; BUFFER]);
        let metas = [RecvMeta::default(); MESSAGES];
        Ok(Self { socket, state, buffers, metas, received: 0, is_plain: false })
    }

    /// Returns the address that the socket is bound to.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Returns the maximum number of datagrams per system call.
    #[must_use]
    pub fn most_segments(&self) -> usize {
        if self.is_plain { 1 } else { self.state.max_gso_segments() }
    }

    /// Sends the datagrams in `octets`, each of `size` octets except for the last, which may be
    /// shorter. Returns the number of octets sent, which is smaller if the kernel's buffer is full.
    ///
    /// # Errors
    /// If the system refuses, but not if the destination cannot be reached.
    pub fn send(&mut self, to: SocketAddr, ecn: Ecn, octets: &[u8], size: usize) -> io::Result<usize> {
        let mut sent = 0;
        while sent < octets.len() {
            let most = size * self.most_segments();
            let batch = &octets[sent..octets.len().min(sent + most.min(LARGEST / size * size).max(size))];
            let transmit = Transmit {
                destination: to,
                ecn: EcnCodepoint::from_bits(ecn.bits()),
                contents: batch,
                segment_size: (batch.len() > size).then_some(size),
                src_ip: None,
            };
            match self.state.try_send(UdpSockRef::from(&self.socket), &transmit) {
                Ok(()) => sent += batch.len(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // A device that does not compute checksums refuses segmentation offload.
                Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) && batch.len() > size => {
                    self.is_plain = true;
                }
                // The path does not carry packets of this size, or the destination is missing. The
                // datagrams are treated as lost.
                Err(error) if is_loss(&error) => sent += batch.len(),
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    /// Receives the datagrams that wait at the socket, up to one system call's maximum.
    /// [`batches`](Self::batches) returns them.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn receive(&mut self) -> io::Result<Received> {
        let mut slices =
            self.buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect::<ArrayVec<_, MESSAGES>>();
        self.received = match self.state.recv(UdpSockRef::from(&self.socket), &mut slices, &mut self.metas) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock || is_loss(&error) => 0,
            Err(error) => return Err(error),
        };
        Ok(match self.received {
            0 => Received::Nothing,
            MESSAGES => Received::Some,
            _ => Received::All,
        })
    }

    /// Returns the age of the last datagram of the latest batch, counted from its arrival from the
    /// network. Returns zero if the kernel does not report it.
    #[must_use]
    pub fn age(&self) -> Duration {
        if self.received == 0 {
            return Duration::ZERO;
        }
        let age = |arrived| nanos(ClockId::Realtime).saturating_sub(arrived);
        Duration::from_nanos(sys::last_arrival(self.socket.as_fd()).map_or(0, age))
    }

    /// Passes the datagrams received last to `take`, which may keep their memory.
    pub fn batches(&mut self, mut take: impl FnMut(&mut Batch<'_>)) {
        let count = std::mem::take(&mut self.received);
        for (meta, memory) in self.metas.iter().zip(&mut self.buffers).take(count) {
            let ecn = Ecn::from_bits(meta.ecn.map_or(0, |ecn| ecn as u8));
            take(&mut Batch { from: meta.addr, ecn, size: meta.stride.max(1), length: meta.len, memory });
            // Only the missing part is written.
            memory.resize(BUFFER, 0);
        }
    }
}

/// The result of a call of [`UdpPort::receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// No datagram was queued.
    Nothing,
    /// All queued datagrams were received.
    All,
    /// The maximum of one call was received, so more datagrams may be queued.
    Some,
}

/// Datagrams that arrived together, one after the other in the same memory.
#[derive(Debug)]
pub struct Batch<'b> {
    /// The source of the datagrams.
    pub from: SocketAddr,
    /// The ECN field of the datagrams.
    pub ecn: Ecn,
    /// Octets of each datagram except the last, which may be shorter.
    pub size: usize,
    /// Octets of all datagrams.
    pub length: usize,
    /// The memory, which begins with the datagrams. A caller that keeps it must replace it,
    /// preferably by a vector of [`BUFFER`] bytes.
    pub memory: &'b mut Vec<u8>,
}

impl Batch<'_> {
    /// Returns the range of each datagram in the memory.
    pub fn places(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (size, length) = (self.size, self.length);
        (0..length).step_by(size).map(move |start| start..length.min(start + size))
    }
}

/// Returns `true` for errors that report the loss of a datagram, on the path or in this host.
fn is_loss(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::PermissionDenied
    ) || [Errno::MSGSIZE, Errno::NOBUFS].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

impl AsFd for UdpPort {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The reason why a [`Wait`] has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Woken {
    /// Datagrams wait at the socket.
    pub can_receive: bool,
    /// The socket has room for datagrams again.
    pub can_send: bool,
}

/// Waits for a socket, a deadline or another thread.
#[derive(Debug)]
pub struct Wait {
    epoll: OwnedFd,
    wake: OwnedFd,
    waits_to_send: bool,
}

const SOCKET: u64 = 0;
const OTHER_THREAD: u64 = 1;

impl Wait {
    /// Creates a wait for this socket.
    ///
    /// # Errors
    /// If the system allows no further descriptor.
    pub fn new(port: &UdpPort) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, port, epoll::EventData::new_u64(SOCKET), epoll::EventFlags::IN)?;
        epoll::add(&epoll, &wake, epoll::EventData::new_u64(OTHER_THREAD), epoll::EventFlags::IN)?;
        Ok(Self { epoll, wake, waits_to_send: false })
    }

    /// Returns the handle by which another thread [wakes](wake) this one.
    ///
    /// # Errors
    /// If the system allows no further descriptor.
    pub fn waker(&self) -> io::Result<OwnedFd> {
        self.wake.try_clone()
    }

    /// Sleeps until `until`, or until another thread wakes this one, whatever happens at the
    /// socket.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn pause(&mut self, clock: &WallClock, until: Instant) -> io::Result<()> {
        let timeout = timespec(until.since(clock.now()));
        let mut waits = [PollFd::new(&self.wake, PollFlags::IN)];
        match rustix::event::poll(&mut waits, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => Ok(()),
            Ok(_) => {
                self.take_wake();
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Consumes a wake-up by another thread, which is no longer needed.
    fn take_wake(&self) {
        let mut count = [0; 8];
        _ = rustix::io::read(&self.wake, &mut count);
    }

    /// Sleeps until `deadline`, until the socket has datagrams, or until another thread wakes this
    /// one. With `for_room`, room at the socket also ends the sleep.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn until(
        &mut self,
        clock: &WallClock,
        deadline: Option<Instant>,
        port: &UdpPort,
        for_room: bool,
    ) -> io::Result<Woken> {
        if for_room != self.waits_to_send {
            let flags = if for_room { epoll::EventFlags::IN | epoll::EventFlags::OUT } else { epoll::EventFlags::IN };
            epoll::modify(&self.epoll, port, epoll::EventData::new_u64(SOCKET), flags)?;
            self.waits_to_send = for_room;
        }
        let timeout = deadline.map(|at| timespec(at.since(clock.now())));
        let mut events = Vec::with_capacity(2);
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut woken = Woken::default();
        for event in events {
            if event.data.u64() == OTHER_THREAD {
                self.take_wake();
            } else {
                // The structure is packed.
                let flags = event.flags;
                woken.can_receive |= flags.contains(epoll::EventFlags::IN);
                woken.can_send |= flags.contains(epoll::EventFlags::OUT);
            }
        }
        Ok(woken)
    }
}

fn timespec(time: Duration) -> Timespec {
    let nanos = time.as_nanos();
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ }
}

/// Returns the largest IP packet of the interface through which `remote` is reached, if the system
/// reports it. Sends no packet.
#[must_use]
pub fn mtu_towards(remote: SocketAddr) -> Option<u64> {
    let any = SocketAddr::new(if remote.is_ipv4() { [0; 4].into() } else { [0; 16].into() }, 0);
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(remote).ok()?;
    let mtu = if remote.is_ipv4() { sockopt::ip_mtu(&socket) } else { sockopt::ipv6_mtu(&socket) };
    mtu.ok().map(u64::from)
}

/// Wakes the thread that waits.
pub fn wake(waker: &OwnedFd) {
    // This fails only if the counter is full, and then the thread is already woken.
    _ = rustix::io::write(waker, &1u64.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_as_old_as_it_has_waited() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (mut from, mut to) = (UdpPort::bind(any).unwrap(), UdpPort::bind(any).unwrap());
        let wait = std::time::Duration::from_millis(30);
        // The kernel begins to record times some time after the request.
        let ages = [(); 10].map(|()| {
            let clock = WallClock::start();
            from.send(to.address().unwrap(), Ecn::NotEct, &[1], 1).unwrap();
            std::thread::sleep(wait);
            to.receive().unwrap();
            let (age, elapsed) = (to.age(), clock.now().since(Instant::ZERO));
            assert!(age <= elapsed, "found {age:?} after {elapsed:?}");
            age
        });
        assert!(ages[9] >= Duration::from_millis(30), "found {ages:?}");
        to.receive().unwrap();
        assert!(to.age().is_zero(), "none was received");
    }

    #[test]
    fn datagrams_keep_their_borders_and_their_ecn_field() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (mut from, mut to) = (UdpPort::bind(any).unwrap(), UdpPort::bind(any).unwrap());
        let octets: Vec<u8> = (0..10_500u32).map(|place| place as u8).collect();
        let taken = from.send(to.address().unwrap(), Ecn::Ect0, &octets, 1000).unwrap();
        assert_eq!(taken, octets.len());
        let (clock, mut wait) = (WallClock::start(), Wait::new(&to).unwrap());
        let (mut sizes, mut all) = (Vec::new(), Vec::new());
        while all.len() < octets.len() {
            let late = Some(clock.now() + Duration::from_secs(5));
            assert!(wait.until(&clock, late, &to, false).unwrap().can_receive, "they arrive");
            to.receive().unwrap();
            to.batches(|batch| {
                assert_eq!((batch.from, batch.ecn), (from.address().unwrap(), Ecn::Ect0));
                for place in batch.places() {
                    sizes.push(place.len());
                    all.extend_from_slice(&batch.memory[place]);
                }
                // The caller keeps the memory.
                std::mem::take(batch.memory);
            });
        }
        assert_eq!((sizes, all), ([vec![1000; 10], vec![500]].concat(), octets));
    }

    #[test]
    fn another_thread_ends_the_wait() {
        let port = UdpPort::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let (clock, mut wait) = (WallClock::start(), Wait::new(&port).unwrap());
        wake(&wait.waker().unwrap());
        assert_eq!(wait.until(&clock, None, &port, false).unwrap(), Woken::default());
        let deadline = clock.now() + Duration::from_millis(5);
        wait.until(&clock, Some(deadline), &port, false).unwrap();
        assert!(clock.now() >= deadline, "the first call took the wake-up");
    }
}
