//! One end of a flow: an end in the kernel, measured by its packets, or acklab's endpoint.
//!
//! | module | contents |
//! |---|---|
//! | `tcp` | the end of a connection of the kernel's TCP |
//! | `udp` | the end of a flow of datagrams |

mod tcp;
mod udp;

use super::packet::{Data, Note, RealPacket};
use crate::socket::Socket;
use acklab_app::Reader;
use acklab_base::{Bytes, CounterValue, Duration, Instant};
use acklab_live::socket::Tcp;
use acklab_measure::flow::End;
use acklab_measure::{Probes, Snapshot};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tcp::TcpEnd;
use udp::UdpEnd;

/// The bytes per read call. It exceeds one segment.
const READ_AT_ONCE: usize = 4096;

/// The state of one end, published by the thread of the applications.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// The socket of a connection, once the socket exists.
    pub(super) socket: OnceLock<Tcp>,
    /// Bytes that the application has written.
    pub(super) written: AtomicU64,
    /// The application that reads late. `None` if the application reads all data on arrival.
    pub(super) reader: Option<Mutex<Reader>>,
    /// Bytes that the application has read.
    pub(super) read: AtomicU64,
    /// `true` if the end has nothing to send.
    pub(super) only_receives: bool,
    /// The reason why the flow failed.
    pub(super) failure: OnceLock<String>,
}

impl Shown {
    /// Creates the state of an end whose application reads with `reader`. If `only_receives`, the
    /// end has no data to send.
    pub(super) fn reading(reader: Option<Reader>, only_receives: bool) -> Self {
        Self { reader: reader.map(Mutex::new), only_receives, ..Self::default() }
    }

    /// Calls `with` with the application that reads late. Returns `None` if the application reads
    /// all data on arrival.
    pub(super) fn with_reader<T>(&self, with: impl FnOnce(&mut Reader) -> T) -> Option<T> {
        let reader = self.reader.as_ref()?;
        Some(with(&mut reader.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Reads all arrived data of a connection whose application reads on arrival. As in a
    /// simulation, this happens before the next packet is delivered, because the kernel
    /// acknowledges fewer segments while unread data are queued. The thread that carries packets
    /// reads the data, because two thread switches would take longer than the delivery.
    fn read_on_arrival(&self) {
        let (None, Some(socket)) = (&self.reader, self.socket.get()) else { return };
        let mut buffer = [0; READ_AT_ONCE];
        while let Ok(Some(READ_AT_ONCE)) = socket.discard(&mut buffer) {}
    }

    /// Closes an end that only receives, once the peer has finished and all data have arrived.
    /// Otherwise the kernel would delay the last ACK in order to send it with data (`tcp_fin`).
    /// Returns `true` if the end needs no further calls.
    fn close_with_peer(&self) -> bool {
        let (true, Some(socket)) = (self.only_receives, self.socket.get()) else { return true };
        let has_all = socket.info().is_ok_and(|info| info.is_half_closed());
        has_all && socket.finish().is_ok()
    }

    fn report_counters(&self, now: Instant, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        self.with_reader(|reader| reader.report_counters(now, to));
    }
}

/// One end of a flow.
#[derive(Debug)]
pub(crate) struct KernelEnd(Kind);

#[derive(Debug)]
enum Kind {
    Tcp(Box<TcpEnd>),
    Udp(Box<UdpEnd>),
}

/// One end of a flow, in the kernel or in acklab.
pub(crate) enum HostEnd {
    /// An end in the kernel.
    Kernel(KernelEnd),
    /// An endpoint of acklab.
    Own(Box<dyn Socket>),
}

impl HostEnd {
    pub(super) fn state(&self) -> State {
        match self {
            Self::Kernel(end) => end.state(),
            Self::Own(end) => {
                let vitals = end.vitals();
                State { smoothed_rtt: vitals.smoothed_rtt, window: vitals.window, transit: None }
            }
        }
    }
}

impl End for HostEnd {
    fn snapshot(&self, now: Instant) -> Snapshot {
        match self {
            Self::Kernel(end) => end.snapshot(now),
            Self::Own(end) => end.snapshot(now),
        }
    }

    fn record_decisions(&mut self) {
        match self {
            Self::Kernel(end) => end.record_decisions(),
            Self::Own(end) => end.record_decisions(),
        }
    }
}

/// The state of an end at an instant, for a live view of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// Smoothed round-trip time of a connection.
    pub(super) smoothed_rtt: Option<Duration>,
    /// Congestion window in octets.
    pub(super) window: Option<u64>,
    /// One-way delay of the last received datagram.
    pub(super) transit: Option<Duration>,
}

impl KernelEnd {
    /// Creates an end of a connection: 0 for the end that opens it, 1 for the other.
    pub(super) fn tcp(end: u8, shown: Arc<Shown>) -> Self {
        Self(Kind::Tcp(Box::new(TcpEnd::new(end, shown))))
    }

    /// Creates an end of a flow of datagrams with at most `full` octets of payload.
    pub(super) fn udp(end: u8, full: Bytes, shown: Arc<Shown>) -> Self {
        Self(Kind::Udp(Box::new(UdpEnd::new(end, full, shown))))
    }

    /// Creates an end of a connection, or of an exchange of datagrams, between programs. The
    /// sockets of programs are not accessible, so only the packets are observed. Full packets carry
    /// `full` bytes of payload.
    pub(super) fn of_program(end: u8, is_tcp: bool, full: Bytes) -> Self {
        Self(if is_tcp {
            Kind::Tcp(Box::new(TcpEnd::of_program(end)))
        } else {
            Kind::Udp(Box::new(UdpEnd::of_program(end, full)))
        })
    }

    /// Records that this end sends a packet. Returns the packet's data, and the origin time of its
    /// content.
    pub(super) fn departs(
        &mut self,
        now: Instant,
        packet: &RealPacket,
        probes: &mut Probes,
    ) -> (Option<Data>, Instant) {
        match &mut self.0 {
            Kind::Tcp(end) => end.departs(now, packet, probes),
            Kind::Udp(end) => (end.departs(now, packet, probes), now),
        }
    }

    /// Records that a packet of the other end was delivered to the host of this end and processed
    /// there.
    pub(super) fn arrives(&mut self, now: Instant, packet: &RealPacket, note: &Note, probes: &mut Probes) {
        match &mut self.0 {
            Kind::Tcp(end) => end.arrives(now, packet, note, probes),
            Kind::Udp(end) => end.arrives(now, packet, note, probes),
        }
    }

    pub(super) fn state(&self) -> State {
        match &self.0 {
            Kind::Tcp(end) => {
                let vitals = end.vitals();
                State { smoothed_rtt: vitals.smoothed_rtt, window: vitals.window, transit: None }
            }
            Kind::Udp(end) => State { transit: end.transit(), ..State::default() },
        }
    }

    fn as_end(&self) -> &dyn End {
        match &self.0 {
            Kind::Tcp(end) => &**end,
            Kind::Udp(end) => &**end,
        }
    }
}

impl End for KernelEnd {
    fn snapshot(&self, now: Instant) -> Snapshot {
        self.as_end().snapshot(now)
    }

    /// Does nothing: a kernel does not report its decisions.
    fn record_decisions(&mut self) {}
}
