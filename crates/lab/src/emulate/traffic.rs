//! The applications of flows: what they write to the sockets of the kernel, and read from them.
//!
//! One thread runs all of them. It is not the thread that carries packets, which would wait for the kernel to copy what is written.

use super::end::Shown;
use acklab_app::{Reader, Reading, Writer};
use acklab_base::{Duration, Instant, Port, StreamPort};
use acklab_live::WallClock;
use acklab_live::realtime;
use acklab_live::socket::{Tcp, Watch};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The interval at which the thread looks whether it should end.
const PATIENCE: Duration = Duration::from_millis(20);
/// The octets of one system call.
const CHUNK: usize = 256 << 10;

/// One end of a flow.
pub(super) struct Speaker {
    /// The socket that connects, or that accepts one connection.
    pub(super) socket: Tcp,
    /// The address to connect to; without it, the socket accepts.
    pub(super) peer: Option<SocketAddr>,
    pub(super) writer: Option<Writer>,
    pub(super) reading: Reading,
    pub(super) shown: Arc<Shown>,
}

/// The thread of the applications.
pub(super) struct Applications {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Applications {
    /// Starts the applications.
    ///
    /// # Errors
    /// If the system does not allow another thread or descriptor.
    pub(super) fn start(speakers: Vec<Speaker>, clock: WallClock) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let watch = Watch::new()?;
        let mut ends = Vec::new();
        for (number, speaker) in (0..).zip(speakers) {
            ends.push(Talk::new(speaker, &watch, number)?);
        }
        let is_over = Arc::clone(&stop);
        let talk = move || {
            realtime::enter(realtime::APPLICATIONS);
            run(&mut ends, &watch, clock, &is_over);
        };
        let thread = std::thread::Builder::new().name("applications".to_owned()).spawn(talk)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Applications {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has printed why.
            let _ = thread.join();
        }
    }
}

fn run(ends: &mut [Talk], watch: &Watch, clock: WallClock, stop: &AtomicBool) {
    let mut buffer = vec![0; CHUNK];
    let mut ready = Vec::new();
    (0..ends.len()).for_each(|number| ends[number].run(clock.now(), watch, number, &mut buffer));
    while !stop.load(Ordering::Relaxed) {
        let now = clock.now();
        for (number, end) in ends.iter_mut().enumerate() {
            if end.deadline().is_some_and(|deadline| deadline <= now) {
                end.run(now, watch, number, &mut buffer);
            }
        }
        let deadline = ends.iter().filter_map(Talk::deadline).min();
        let wait = deadline.map_or(PATIENCE, |deadline| deadline.since(clock.now()).min(PATIENCE));
        if watch.wait(wait, &mut ready).is_err() {
            return;
        }
        for number in ready.drain(..) {
            ends[number].run(clock.now(), watch, number, &mut buffer);
        }
    }
}

/// One end at work.
struct Talk {
    speaker: Speaker,
    reader: Option<Reader>,
    /// The connection, once it is accepted; for the end that connects, its socket.
    connection: Option<Tcp>,
    is_open: bool,
}

impl Talk {
    fn new(speaker: Speaker, watch: &Watch, number: usize) -> io::Result<Self> {
        let reader = (!speaker.reading.is_at_once()).then(|| Reader::new(speaker.reading, |_| None));
        watch.add(&speaker.socket, number)?;
        let connection = match speaker.peer {
            None => {
                speaker.socket.listen()?;
                None
            }
            Some(_) => {
                let _ = speaker.shown.socket.set(speaker.socket.try_clone()?);
                Some(speaker.socket.try_clone()?)
            }
        };
        Ok(Self { speaker, reader, connection, is_open: false })
    }

    fn deadline(&self) -> Option<Instant> {
        let writer = self.speaker.writer.as_ref().filter(|_| self.connection.is_some()).and_then(Writer::deadline);
        Instant::earliest(writer, self.reader.as_ref().and_then(Reader::deadline))
    }

    fn run(&mut self, now: Instant, watch: &Watch, number: usize, buffer: &mut [u8]) {
        if let Err(error) = self.try_run(now, watch, number, buffer) {
            let _ = self.speaker.shown.failure.set(error.to_string());
            self.speaker.writer = None;
            self.reader = None;
            self.connection = None;
        }
    }

    fn try_run(&mut self, now: Instant, watch: &Watch, number: usize, buffer: &mut [u8]) -> io::Result<()> {
        if self.connection.is_none() && self.speaker.peer.is_none() {
            let Some(accepted) = self.speaker.socket.accept()? else { return Ok(()) };
            watch.add(&accepted, number)?;
            let _ = self.speaker.shown.socket.set(accepted.try_clone()?);
            self.connection = Some(accepted);
            self.is_open = true;
        }
        let Some(socket) = &self.connection else { return Ok(()) };
        let mut port = SocketPort {
            socket,
            peer: self.speaker.peer,
            shown: &self.speaker.shown,
            is_open: &mut self.is_open,
            buffer,
            error: None,
        };
        match &mut self.reader {
            Some(reader) => reader.run(now, Port::Stream(&mut port)),
            None => _ = port.read(now, u64::MAX),
        }
        if let Some(writer) = &mut self.speaker.writer {
            writer.run(now, Port::Stream(&mut port));
        }
        port.error.map_or(Ok(()), Err)
    }
}

/// A socket as the port of an application.
struct SocketPort<'a> {
    socket: &'a Tcp,
    peer: Option<SocketAddr>,
    shown: &'a Shown,
    is_open: &'a mut bool,
    buffer: &'a mut [u8],
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

    /// The kernel says how much room there is only when it is written to.
    fn room(&self) -> u64 {
        u64::MAX
    }

    fn write(&mut self, _: Instant, octets: u64) -> u64 {
        *self.is_open = true;
        let mut written = 0;
        while written < octets && self.error.is_none() {
            let chunk = usize::try_from(octets - written).unwrap_or(usize::MAX).min(CHUNK);
            let result = self.socket.write(&ZEROS[..chunk]);
            match self.keep(result) {
                0 => break,
                more => written += more as u64,
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
                Ok(Some(more)) if more > 0 => read += more as u64,
                Ok(_) => break,
                // A socket that is not connected yet has nothing to read.
                Err(error) if error.kind() == io::ErrorKind::NotConnected => break,
                Err(error) => _ = self.error.get_or_insert(error),
            }
        }
        read
    }
}

/// What applications write.
static ZEROS: [u8; CHUNK] = [0; CHUNK];
