//! Handles arriving datagrams.

use super::{Association, NO_MEMORY};
use crate::error::Lost;
use acklab_base::event::Closing;
use acklab_base::{Ecn, Endpoint, Fate, Instant, StreamEvent};
use acklab_secure::{Hello, Piece, Step};
use acklab_transport::tack::Phase;
use acklab_wire::tack::Packet;
use std::net::SocketAddr;
use std::ops::Range;

impl Association {
    /// Receives the first datagram of the client, or a repetition of it.
    pub(crate) fn receive_hello(&mut self, now: Instant, from: SocketAddr, hello: &Hello) {
        if from != self.path.address() {
            return;
        }
        self.take_steps(now);
        if self.lost.is_none() {
            self.session.on_hello();
            self.accept(now, &hello.packet);
        }
        self.look(now);
    }

    /// Handles the server's version negotiation.
    pub(crate) fn receive_versions(&mut self, now: Instant, from: SocketAddr, answer: &Packet) {
        if from == self.path.address() {
            self.accept(now, answer);
        }
    }

    /// Receives a datagram at `now`. It arrived at the host at `at`.
    pub(crate) fn receive(&mut self, now: Instant, at: Instant, from: SocketAddr, ecn: Ecn, datagram: &mut [u8]) {
        self.receive_at(now, at, from, ecn, datagram, 0..datagram.len());
    }

    /// Receives a datagram at `place` in `memory`. During a [run](super::run::Run), octets of
    /// streams may be moved to the beginning of `memory`.
    pub(crate) fn receive_at(
        &mut self,
        now: Instant,
        at: Instant,
        from: SocketAddr,
        ecn: Ecn,
        memory: &mut [u8],
        place: Range<usize>,
    ) {
        self.counters.datagrams_received += 1;
        self.counters.octets_received += place.len() as u64;
        self.take(now, at, from, ecn, memory, place);
        while let Some((mut early, ecn)) = self.session.take_early() {
            // This datagram is not in the memory of the batch.
            let run = self.run.suspend();
            let place = 0..early.len();
            self.take(now, at, from, ecn, &mut early, place);
            self.run = run;
        }
    }

    fn take(&mut self, now: Instant, at: Instant, from: SocketAddr, ecn: Ecn, memory: &mut [u8], place: Range<usize>) {
        let mut pieces = std::mem::take(&mut self.pieces);
        let (start, octets) = (place.start, place.len());
        let mut packet = Packet::default();
        // The session has already counted refused packets.
        if let Ok(true) = self.session.open(&mut memory[place], ecn, &mut packet, &mut pieces) {
            self.path.on_arrival(from, octets);
            if from != self.path.address() && self.session.opened_newest() && self.session.is_server() {
                self.follow(now, from, octets);
            }
            self.machine.date_next(at);
            self.take_packet(now, &packet, memory, start, &pieces);
        }
        self.pieces = pieces;
        self.take_steps(now);
    }

    /// Handles a packet whose datagram begins at `start` in `memory`.
    fn take_packet(&mut self, now: Instant, packet: &Packet, memory: &mut [u8], start: usize, pieces: &[Piece]) {
        let fate = self.accept(now, packet);
        if let Fate::Refused(_) | Fate::Duplicate = fate {
            return;
        }
        while let Some((id, event)) = self.machine.take_stream_event() {
            let StreamEvent::Arrived(range) = event else {
                self.on_stream_event(id, &event);
                continue;
            };
            let holds = |piece: &&Piece| {
                let end = piece.offset + piece.at.len() as u64;
                piece.stream == id && piece.offset <= range.start && range.end <= end
            };
            if let Some(piece) = pieces.iter().find(holds) {
                let start = start + piece.at.start + (range.start - piece.offset) as usize;
                self.arrive(id, range.start, memory, start..start + (range.end - range.start) as usize);
            }
        }
        self.check_path(now);
        // An ACK policy that counts packets must decide after each packet.
        if !self.machine.may_acknowledge_together() {
            self.drain(now);
        }
    }

    fn take_steps(&mut self, now: Instant) {
        while let Some(step) = self.session.take_step() {
            match step {
                Step::Repeat => self.machine.repeat_open(),
                Step::Complete => {}
                Step::Failed { code, reason } => {
                    self.session.seal_failure(code, &mut self.waiting);
                    self.end(now, Lost::Handshake { code, reason });
                }
            }
        }
    }

    /// Notifies applications of changes. Readers are not included, because they are
    /// [notified together](Self::notify_readers).
    pub(crate) fn look(&mut self, now: Instant) {
        if self.has_no_memory && self.lost.is_none() {
            self.machine.abort(NO_MEMORY);
            self.end(now, Lost::Memory);
        }
        while let Some((id, event)) = self.machine.take_stream_event() {
            self.on_stream_event(id, &event);
        }
        if !self.left.is_empty() {
            self.sweep_streams(now);
        }
        if self.is_established() {
            self.wakers.established.drain(..).for_each(std::task::Waker::wake);
            self.wakers.may_open.drain(..).for_each(std::task::Waker::wake);
        }
        self.record(now);
        if let Phase::Closed { code } = self.machine.phase() {
            self.end(
                now,
                match self.machine.closing() {
                    Some(Closing::ProtocolViolation) => Lost::Violation { code },
                    Some(Closing::IdleTimeout) => Lost::TimedOut,
                    Some(Closing::Reset) => Lost::Reset,
                    _ => Lost::Peer { code },
                },
            );
        }
    }
}
