//! A datagram arrives.

use super::Association;
use crate::error::Lost;
use acklab_base::event::Closing;
use acklab_base::{Ecn, Endpoint, Fate, Instant};
use acklab_secure::{Hello, Piece, Step};
use acklab_transport::tack::Phase;
use acklab_wire::tack::Packet;
use std::net::SocketAddr;

impl Association {
    /// The first datagram of the client, or one that it repeats.
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

    /// The server knows other versions than that of the Open.
    pub(crate) fn receive_versions(&mut self, now: Instant, from: SocketAddr, answer: &Packet) {
        if from == self.path.address() {
            self.accept(now, answer);
        }
    }

    /// A datagram is taken at `now`, which has arrived at `at`.
    pub(crate) fn receive(&mut self, now: Instant, at: Instant, from: SocketAddr, ecn: Ecn, datagram: &mut [u8]) {
        self.counters.datagrams_received += 1;
        self.counters.octets_received += datagram.len() as u64;
        self.take(now, at, from, ecn, datagram);
        while let Some((mut early, ecn)) = self.session.take_early() {
            self.take(now, at, from, ecn, &mut early);
        }
    }

    fn take(&mut self, now: Instant, at: Instant, from: SocketAddr, ecn: Ecn, datagram: &mut [u8]) {
        let mut pieces = std::mem::take(&mut self.pieces);
        // What is refused was counted.
        if let Ok(Some(packet)) = self.session.open(datagram, ecn, &mut pieces) {
            self.path.on_arrival(from, datagram.len());
            if from != self.path.address() && self.session.opened_newest() && self.session.is_server() {
                self.follow(now, from, datagram.len());
            }
            self.machine.date_next(at);
            self.take_packet(now, &packet, datagram, &pieces);
        }
        self.pieces = pieces;
        self.take_steps(now);
    }

    fn take_packet(&mut self, now: Instant, packet: &Packet, datagram: &[u8], pieces: &[Piece]) {
        let fate = self.accept(now, packet);
        if let Fate::Refused(_) | Fate::Duplicate = fate {
            return;
        }
        self.take_stream_events(|stream, range| {
            let holds = |piece: &&Piece| {
                let end = piece.offset + piece.at.len() as u64;
                piece.stream == stream && piece.offset <= range.start && range.end <= end
            };
            let piece = pieces.iter().find(holds)?;
            let start = piece.at.start + (range.start - piece.offset) as usize;
            datagram.get(start..start + (range.end - range.start) as usize)
        });
        self.check_path(now);
        self.drain(now);
    }

    /// What has happened to streams. `octets_of` returns the octets that have arrived.
    pub(super) fn take_stream_events<'d>(
        &mut self,
        octets_of: impl Fn(u32, &std::ops::Range<u64>) -> Option<&'d [u8]>,
    ) {
        while let Some((id, event)) = self.machine.take_stream_event() {
            self.on_stream_event(id, event, |range| octets_of(id, range));
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

    /// Tells applications what has changed.
    pub(crate) fn look(&mut self, now: Instant) {
        self.take_stream_events(|_, _| None);
        self.tell_readers(now);
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
