//! The applications of connections.

use super::super::end::Shown;
use acklab_app::Writer;
use acklab_base::{Duration, Instant, Port, StreamPort};
use acklab_live::socket::{Interest, Tcp, Watch};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The bytes per read call.
pub(super) const CHUNK: usize = 256 << 10;
/// The bytes per write. The thread that carries packets shares the processor and waits during a
/// write. The kernel takes about 20 µs for these 22 segments. A write of a third of a 4 MiB send
/// buffer, which becomes free in one step, would take half a millisecond.
const SLICE: usize = 32 << 10;
/// The maximum number of octets that one system call writes: the size of a send buffer. A boundary
/// between two writes may cause a short segment.
const LARGEST_WRITE: usize = 4 << 20;
/// The pause between two slices, in which the other thread runs. With these pauses, slices reach
/// about 4 Gbps, as much as one link carries.
const PAUSE: Duration = Duration::from_micros(50);

/// How applications write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// In slices with pauses, so that packets are carried during the pauses.
    #[default]
    Sliced,
    /// As much as the kernel accepts in one call, as applications of a simulation do. In a guest in
    /// virtual time, programs take no time, so that packets do not wait.
    AtOnce,
}

/// One end of a connection.
pub(in super::super) struct StreamEnd {
    /// The socket that connects, or that accepts one connection.
    pub(in super::super) socket: Tcp,
    /// The address to connect to. If `None`, the socket accepts a connection.
    pub(in super::super) peer: Option<SocketAddr>,
    pub(in super::super) writer: Option<Writer>,
    pub(in super::super) shown: Arc<Shown>,
}

impl StreamEnd {
    /// Returns the events of interest on the end's connection. The thread that carries packets
    /// reads, unless the application has a reader.
    fn interest(&self) -> Interest {
        if self.shown.reader.is_some() { Interest::Both } else { Interest::Writing }
    }
}

/// A running end of a connection.
pub(super) struct StreamWorker {
    end: StreamEnd,
    /// The connection. An accepting end has none until it accepts; a connecting end uses its
    /// socket.
    connection: Option<Tcp>,
    is_open: bool,
    pace: Pace,
    /// When the next slice is written, if unwritten data remain.
    resume: Option<Instant>,
}

impl StreamWorker {
    pub(super) fn new(end: StreamEnd, pace: Pace, watch: &Watch, number: usize) -> io::Result<Self> {
        // An accepting end first waits for connections.
        let interest = if end.peer.is_none() { Interest::Both } else { end.interest() };
        watch.add(&end.socket, number, interest)?;
        let connection = match end.peer {
            None => {
                end.socket.listen()?;
                None
            }
            Some(_) => {
                let _ = end.shown.socket.set(end.socket.try_clone()?);
                Some(end.socket.try_clone()?)
            }
        };
        Ok(Self { end, connection, is_open: false, pace, resume: None })
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        // Without a connection, the end has nothing to write or read.
        self.connection.as_ref()?;
        let writer = self.end.writer.as_ref().and_then(Writer::deadline);
        let reader = self.end.shown.with_reader(|reader| reader.deadline()).flatten();
        Instant::earliest(self.resume, Instant::earliest(writer, reader))
    }

    pub(super) fn shown(&self) -> &Shown {
        &self.end.shown
    }

    /// Stops the applications of this end.
    pub(super) fn give_up(&mut self) {
        self.end.writer = None;
        self.connection = None;
        self.resume = None;
    }

    pub(super) fn run(&mut self, now: Instant, watch: &Watch, number: usize, buffer: &mut [u8]) -> io::Result<()> {
        if self.connection.is_none() && self.end.peer.is_none() {
            let Some(accepted) = self.end.socket.accept()? else { return Ok(()) };
            watch.add(&accepted, number, self.end.interest())?;
            let _ = self.end.shown.socket.set(accepted.try_clone()?);
            self.connection = Some(accepted);
            self.is_open = true;
        }
        let Some(socket) = &self.connection else { return Ok(()) };
        let mut port = SocketPort {
            socket,
            peer: self.end.peer,
            shown: &self.end.shown,
            is_open: &mut self.is_open,
            buffer,
            slice: if self.pace == Pace::Sliced { SLICE } else { usize::MAX },
            error: None,
        };
        let shown = &self.end.shown;
        if shown.with_reader(|reader| reader.run(now, Port::Stream(&mut port))).is_none() {
            port.read(now, u64::MAX);
        }
        if let Some(writer) = &mut self.end.writer {
            writer.run(now, Port::Stream(&mut port));
        }
        self.resume = (port.slice == 0).then(|| now + PAUSE);
        port.error.map_or(Ok(()), Err)
    }
}

/// A socket with the interface of an application's port.
struct SocketPort<'a> {
    socket: &'a Tcp,
    peer: Option<SocketAddr>,
    shown: &'a Shown,
    is_open: &'a mut bool,
    buffer: &'a mut [u8],
    /// The bytes that may still be written in this slice.
    slice: usize,
    error: Option<io::Error>,
}

impl SocketPort<'_> {
    fn keep<T: Default>(&mut self, result: io::Result<T>) -> T {
        result.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            T::default()
        })
    }
}

impl StreamPort for SocketPort<'_> {
    fn open(&mut self, _: Instant) {
        if let Some(peer) = self.peer {
            let result = self.socket.connect(peer);
            self.keep(result);
        }
    }

    fn is_open(&self) -> bool {
        *self.is_open || self.socket.info().is_ok_and(|info| info.is_open())
    }

    /// Returns no limit. The kernel reports the room in its buffer only on a write.
    fn room(&self) -> u64 {
        u64::MAX
    }

    fn write(&mut self, _: Instant, octets: u64) -> u64 {
        *self.is_open = true;
        let mut written = 0;
        while written < octets && self.slice > 0 && self.error.is_none() {
            let most = self.slice.min(LARGEST_WRITE);
            let chunk = usize::try_from(octets - written).unwrap_or(usize::MAX).min(most);
            let result = self.socket.write(&ZEROS[..chunk]);
            match self.keep(result) {
                0 => break,
                more => {
                    self.slice -= more;
                    written += more as u64;
                }
            }
        }
        self.shown.written.fetch_add(written, Ordering::Relaxed);
        written
    }

    fn close(&mut self, _: Instant) {
        let result = self.socket.finish();
        self.keep(result);
    }

    fn readable(&self) -> u64 {
        self.socket.readable().unwrap_or(0)
    }

    fn read(&mut self, _: Instant, most: u64) -> u64 {
        let mut read = 0;
        while read < most && self.error.is_none() {
            let chunk = usize::try_from(most - read).unwrap_or(usize::MAX).min(self.buffer.len());
            match self.socket.discard(&mut self.buffer[..chunk]) {
                Ok(Some(more)) if more > 0 => {
                    read += more as u64;
                    self.shown.read.fetch_add(more as u64, Ordering::Relaxed);
                }
                Ok(_) => break,
                // A socket that is not connected has no data to read.
                Err(error) if error.kind() == io::ErrorKind::NotConnected => break,
                Err(error) => _ = self.error.get_or_insert(error),
            }
        }
        read
    }
}

/// The data that applications write.
static ZEROS: [u8; LARGEST_WRITE] = [0; LARGEST_WRITE];
