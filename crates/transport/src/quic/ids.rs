//! Connection IDs (RFC 9000, §5.1). Connections do not migrate, so each end keeps its ID.

use super::space;
use acklab_base::random::Stream;
use acklab_wire::quic::{ConnectionId, Header, Long, LongKind, Short};

/// The connection IDs in the headers of packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    /// The connection ID in packets from the peer.
    local: ConnectionId,
    /// The connection ID in packets to the peer.
    remote: ConnectionId,
    /// Server: the destination connection ID of the client's first packet.
    original: ConnectionId,
    has_remote: bool,
}

impl Ids {
    pub(super) fn new(random: &mut Stream) -> Self {
        let mut id = || ConnectionId::of_word(random.below(u64::MAX));
        // The client chooses the destination connection ID of its first packets (§7.2).
        let (local, remote) = (id(), id());
        Self { local, remote, original: local, has_remote: false }
    }

    /// Records, at a server, the destination connection ID of the client's first packet.
    pub(super) const fn accept(&mut self, destination: ConnectionId) {
        self.original = destination;
    }

    /// Returns `true` if this ID belongs to this end.
    #[inline]
    pub(super) fn are_mine(&self, destination: &ConnectionId) -> bool {
        *destination == self.local || *destination == self.original
    }

    /// Records the peer's ID from the header of its packet.
    pub(super) const fn learn(&mut self, source: ConnectionId) {
        if !self.has_remote {
            (self.remote, self.has_remote) = (source, true);
        }
    }

    /// Returns the header of a packet of a space. `spin` is the spin bit in a short header.
    pub(super) fn header(&self, id: space::Id, spin: bool) -> Header {
        let (destination, source) = (self.remote, self.local);
        let long = |kind| Header::Long(Box::new(Long { kind, destination, source }));
        match id {
            space::Id::Initial => long(LongKind::Initial { token: Vec::new() }),
            space::Id::Handshake => long(LongKind::Handshake),
            space::Id::Application => Header::Short(Short { destination, spin, ..Short::default() }),
        }
    }
}
