//! The applications of flows over UDP.

use super::super::end::Shown;
use acklab_app::Writer;
use acklab_base::{Arrival, DatagramPort, Ecn, Instant, Port};
use acklab_live::WallClock;
use acklab_live::socket::{Interest, Udp, Watch};
use acklab_wire::udp::{TEST_HEADER, UserDatagram};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// One end of a flow over UDP. An end with a writer sends; an end without a writer receives.
pub(in super::super) struct DatagramEnd {
    pub(in super::super) socket: Udp,
    pub(in super::super) writer: Option<Writer>,
    pub(in super::super) shown: Arc<Shown>,
}

/// A running end.
pub(super) struct DatagramWorker {
    end: DatagramEnd,
    /// Payload sizes that were written while the socket had no room.
    waiting: VecDeque<u32>,
    /// The number of datagrams sent.
    sent: u64,
}

impl DatagramWorker {
    pub(super) fn new(end: DatagramEnd, watch: &Watch, number: usize) -> io::Result<Self> {
        watch.add(&end.socket, number, Interest::Both)?;
        Ok(Self { end, waiting: VecDeque::new(), sent: 0 })
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let writer = self.end.writer.as_ref().and_then(Writer::deadline);
        Instant::earliest(writer, self.end.shown.with_reader(|reader| reader.deadline()).flatten())
    }

    pub(super) fn shown(&self) -> &Shown {
        &self.end.shown
    }

    /// Stops the application of this end.
    pub(super) fn give_up(&mut self) {
        self.end.writer = None;
        self.waiting.clear();
    }

    pub(super) fn run(&mut self, now: Instant, clock: WallClock, buffer: &mut [u8]) -> io::Result<()> {
        let DatagramEnd { socket, writer, shown } = &mut self.end;
        let mut port = DatagramSocket {
            socket,
            shown,
            waiting: &mut self.waiting,
            sent: &mut self.sent,
            clock,
            buffer,
            error: None,
        };
        if let Some(writer) = writer {
            writer.run(now, Port::Datagram(&mut port));
            port.send_waiting();
        }
        shown.with_reader(|reader| reader.run(now, Port::Datagram(&mut port)));
        // Like a program, the end also reads datagrams that it does not play.
        while port.receive().is_some() {}
        port.error.map_or(Ok(()), Err)
    }
}

/// A socket with the interface of an application's port.
struct DatagramSocket<'a> {
    socket: &'a Udp,
    shown: &'a Shown,
    waiting: &'a mut VecDeque<u32>,
    sent: &'a mut u64,
    clock: WallClock,
    buffer: &'a mut [u8],
    error: Option<io::Error>,
}

impl DatagramSocket<'_> {
    /// Sends queued payloads while the socket has room.
    fn send_waiting(&mut self) {
        while let Some(payload) = self.waiting.front().copied() {
            let number = *self.sent + 1;
            let datagram = UserDatagram { ecn: Ecn::NotEct, number, sent_at: self.clock.now(), payload };
            let Some(octets) = self.buffer.get_mut(..payload as usize) else { return };
            octets.fill(0);
            octets[..TEST_HEADER as usize].copy_from_slice(&datagram.test_header());
            match self.socket.send(octets) {
                Ok(true) => {
                    *self.sent = number;
                    self.waiting.pop_front();
                }
                Ok(false) => return,
                Err(error) => {
                    self.error.get_or_insert(error);
                    return;
                }
            }
        }
    }
}

impl DatagramPort for DatagramSocket<'_> {
    fn send(&mut self, _: Instant, octets: u32) {
        self.shown.written.fetch_add(u64::from(octets), Ordering::Relaxed);
        self.waiting.push_back(octets);
        self.send_waiting();
    }

    fn receive(&mut self) -> Option<Arrival> {
        let header = &mut self.buffer[..TEST_HEADER as usize];
        match self.socket.receive(header) {
            Ok(Some(length)) => {
                let number = UserDatagram::number_in(header.first_chunk()?);
                Some(Arrival { number: number.saturating_sub(1), octets: length as u64 })
            }
            Ok(None) => None,
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }
}
