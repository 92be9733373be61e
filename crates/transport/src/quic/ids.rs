//! Connection ids (RFC 9000, §5.1). There is no migration: each end keeps its id.

use super::space;
use acklab_base::random::Stream;
use acklab_wire::quic::{ConnectionId, Header, Long, LongKind, Short};

/// What packets are addressed to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    /// What the peer addresses packets to.
    local: ConnectionId,
    /// What packets to the peer are addressed to.
    remote: ConnectionId,
    /// Server: what the client addressed its first packet to.
    original: ConnectionId,
    has_remote: bool,
}

impl Ids {
    pub(super) fn new(random: &mut Stream) -> Self {
        let mut id = || ConnectionId::of_word(random.below(u64::MAX));
        // A client's first packets are addressed to an id of its own invention (§7.2).
        let (local, remote) = (id(), id());
        Self { local, remote, original: local, has_remote: false }
    }

    /// Server: the client's first packet was addressed to `destination`.
    pub(super) const fn accept(&mut self, destination: ConnectionId) {
        self.original = destination;
    }

    /// Returns `true` if packets to this id are for this end.
    #[inline]
    pub(super) fn are_mine(&self, destination: &ConnectionId) -> bool {
        *destination == self.local || *destination == self.original
    }

    /// A packet of the peer names its id.
    pub(super) const fn learn(&mut self, source: ConnectionId) {
        if !self.has_remote {
            (self.remote, self.has_remote) = (source, true);
        }
    }

    /// The header of a packet of a space. `spin` is the spin bit of a short one.
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
