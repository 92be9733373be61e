//! Both directions of a connection, and its handshake.

use crate::clock::{EndClocks, JumpEvidence};
use crate::direction::Direction;
use crate::duplicates::Duplicates;
use crate::handshake::{Handshake, ToEnd};
use crate::packet::Packet;
use crate::quic::handshake::{QuicHandshake, Sides};
use crate::quic::header::{LongHeader, is_long};
use crate::quic::ids::Ids;
use crate::quic::offload::Offload;
use crate::quic::recognise::Datagram;
use crate::quic::spin::Spins;
use acklab_wire::quic::ConnectionId;
use acklab_wire::tcp::{Flags, Segment};
use serde::Serialize;
use std::net::SocketAddr;

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// QUIC. Only its headers and the spin bit can be read.
    Quic,
    /// The log of an endpoint in qlog: QUIC, or a transport that uses its terms.
    Log,
}

/// A connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) protocol: Protocol,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) packets: u64,
    pub(crate) octets: u64,
    /// Steps of the capture's clock up to the last packet.
    steps: u64,
    end_clocks: EndClocks,
    handshake: Handshake,
    pub(crate) duplicates: Duplicates,
    /// The directions, by the end that sends the data.
    pub(crate) directions: [Direction; 2],
    quic_handshake: QuicHandshake,
    ids: Ids,
    /// Evidence that a connection over UDP is QUIC.
    pub(crate) evidence: Option<String>,
    pub(crate) spins: Spins,
    offload: [Offload; 2],
    offsets: [u64; 2],
}

impl Connection {
    pub(crate) fn new(ends: [SocketAddr; 2], protocol: Protocol, at: u64, windows: usize) -> Self {
        Self {
            ends,
            protocol,
            first: at,
            last: at,
            packets: 0,
            octets: 0,
            steps: 0,
            end_clocks: EndClocks::default(),
            handshake: Handshake::default(),
            duplicates: Duplicates::default(),
            directions: [Direction::new(windows), Direction::new(windows)],
            quic_handshake: QuicHandshake::default(),
            ids: Ids::default(),
            evidence: None,
            spins: Spins::default(),
            offload: <[Offload; 2]>::default(),
            offsets: [0; 2],
        }
    }

    /// Returns `true` if a segment that the end `from` sends opens another connection between the
    /// same ports.
    #[inline]
    pub(crate) fn is_another(&self, from: usize, segment: &Segment) -> bool {
        self.handshake.is_another(from, segment)
    }

    /// Records that a packet has passed at `at`, after this number of `steps` of the capture's
    /// clock.
    #[inline]
    pub(crate) fn advance(&mut self, at: u64, steps: u64) {
        self.last = self.last.max(at);
        if steps != self.steps {
            self.steps = steps;
            self.cut();
        }
    }

    /// Excludes intervals across a step of the clock from all measurements of time.
    #[cold]
    fn cut(&mut self) {
        self.end_clocks.cut();
        self.handshake.cut();
        self.quic_handshake.cut();
        self.spins.cut();
        self.directions.iter_mut().for_each(Direction::cut);
    }

    /// Returns the evidence of a segment of the end `from` at `at` on a jump of the times.
    pub(crate) fn jump_evidence(&self, at: i128, jump: i128, from: usize, segment: &Segment) -> JumpEvidence {
        if self.is_another(from, segment) {
            return JumpEvidence::Another;
        }
        let by_clock = self.end_clocks.jump_evidence(at, jump, from, segment.options.timestamps);
        if let Some(shows) = by_clock.filter(|shows| *shows != JumpEvidence::Silent) {
            return shows;
        }
        let [data, answered] = [&self.directions[from], &self.directions[1 - from]];
        let is_old = data.delivery.repeats(segment);
        let answered = answered.delivery.answered_by(segment);
        if jump < 0 {
            return match self.end_clocks.is_back(at, from) {
                true if is_old => JumpEvidence::Passed,
                true if answered.is_some() || segment.payload > 0 => JumpEvidence::Stepped(from, None),
                _ => JumpEvidence::Silent,
            };
        }
        match answered.or_else(|| data.continued_by(segment)) {
            _ if is_old => JumpEvidence::Repeated,
            Some(place) => JumpEvidence::GoesOn(from, place),
            None if by_clock.is_none() => JumpEvidence::Clockless,
            None => JumpEvidence::Silent,
        }
    }

    /// Processes a TCP segment that the end `from` has sent. Returns `false` if it is a copy that
    /// the capture made.
    #[inline]
    pub(crate) fn segment(&mut self, from: usize, packet: &Packet<'_>) -> bool {
        let (ahead, behind) = self.directions[from].round_trip.minimum();
        if self.duplicates.is_copy(from, packet, ahead.zip(behind).map(|(ahead, behind)| ahead + behind)) {
            return false;
        }
        self.packets += 1;
        self.octets += packet.wire;
        let segment = packet.segment;
        self.end_clocks.packet(packet.at, from, segment.options.timestamps);
        self.handshake.segment(from, segment);
        if segment.flags.contains(Flags::SYN) {
            self.syn(from, packet);
        } else if !self.handshake.is_complete() {
            let to_end = self.handshake.complete(packet.at, from, segment);
            self.handshake_took(to_end);
        }
        let carries = self.directions[from].send(packet);
        self.directions[1 - from].answer(packet, carries);
        true
    }

    #[cold]
    fn syn(&mut self, from: usize, packet: &Packet<'_>) {
        let is_new = self.directions[from].delivery.begin(packet.segment);
        let to_end = self.handshake.syn(packet.at, from, packet.segment, is_new);
        self.handshake_took(to_end);
        self.directions[1 - from].offer(packet.segment, self.handshake.scales());
    }

    fn handshake_took(&mut self, to_end: Option<ToEnd>) {
        if let Some(ToEnd { end, nanos }) = to_end {
            self.directions[1 - end].round_trip.handshake_ahead(nanos);
            self.directions[end].round_trip.handshake_behind(nanos);
        }
    }

    /// Returns `true` if a datagram that the end `from` sends opens another connection of QUIC
    /// between the same sockets.
    #[inline]
    pub(crate) fn is_another_of_quic(&self, from: usize, datagram: &Datagram<'_>) -> bool {
        is_long(datagram.head)
            && LongHeader::read(datagram.head, datagram.length as usize)
                .is_some_and(|header| self.ids.is_another(from, &header))
    }

    /// Processes a datagram of QUIC that the end `from` has sent. Returns the ID by which it is
    /// addressed, if the datagram shows it for the first time.
    pub(crate) fn datagram(&mut self, from: usize, datagram: &Datagram<'_>) -> Option<ConnectionId> {
        let Datagram { head, length, wire, .. } = *datagram;
        self.packets += 1;
        self.octets += wire;
        self.advance(datagram.at, datagram.steps);
        let at = self.last;
        self.count(at, from, length, wire);
        let mut id = None;
        if is_long(head)
            && let Some(header) = LongHeader::read(head, length as usize)
        {
            id = self.ids.process(from, &header);
            if let Some((client, sides)) = self.quic_handshake.packet(at, from, &header) {
                self.sides_took(client, sides);
            }
        }
        let first = head.first().copied().unwrap_or_default();
        if let Some((end, whole)) = self.spins.packet(at, from, first) {
            self.directions[end].round_trip.whole(whole);
        }
        id
    }

    /// Counts a datagram, or the several datagrams that a NIC sends for it.
    fn count(&mut self, at: u64, from: usize, length: u32, wire: u64) {
        let headers = wire.saturating_sub(length.into());
        let size = self.offload[from].size_of_parts(length).max(1);
        let mut left = length;
        loop {
            let part = left.min(size);
            let start = self.offsets[from];
            self.offsets[from] += u64::from(part);
            self.directions[from].count_datagram(at, start, part, u64::from(part) + headers);
            left -= part;
            if left == 0 {
                return;
            }
        }
    }

    /// Records the times from the point of capture to both ends, by the handshake of QUIC.
    fn sides_took(&mut self, client: usize, sides: Sides) {
        let [one, other] = &mut self.directions;
        let (of_client, of_server) = if client == 0 { (one, other) } else { (other, one) };
        if let Some(nanos) = sides.to_server {
            of_client.round_trip.handshake_ahead(nanos);
            of_server.round_trip.handshake_behind(nanos);
        }
        if let Some(nanos) = sides.to_client {
            of_server.round_trip.handshake_ahead(nanos);
            of_client.round_trip.handshake_behind(nanos);
        }
    }

    /// Returns the number of windows of packets that each direction keeps.
    pub(crate) const fn windows(&self) -> usize {
        self.directions[0].trace.max_windows()
    }
}
