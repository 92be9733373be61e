//! Packet number spaces (RFC 9000, §12.3): Initial, Handshake and application data.

use super::arrived::Arrived;
use crate::ack::Ranges;
use crate::streams::Outgoing;
use acklab_wire::quic::{Packet, PacketType};
use std::ops::{Index, IndexMut};

/// Number of handshake bytes that every end must accept out of order (§7.5).
const MAX_AHEAD: u64 = 4096;
/// Maximum number of packets that wait for their keys (RFC 9001, §5.7): the packets of an initial
/// window.
const MAX_WAITING: usize = 10;

/// A packet number space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Id {
    Initial,
    Handshake,
    Application,
}

impl Id {
    pub(super) const ALL: [Self; 3] = [Self::Initial, Self::Handshake, Self::Application];

    pub(super) const fn of(packet: PacketType) -> Self {
        match packet {
            PacketType::Initial => Self::Initial,
            PacketType::Handshake => Self::Handshake,
            PacketType::OneRtt => Self::Application,
        }
    }
}

/// The state of the keys, without which an end cannot send or read packets of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    NotYet,
    Available,
    Discarded,
}

/// The state of a space at one end.
#[derive(Debug)]
pub(super) struct Space {
    pub(super) keys: Keys,
    pub(super) arrived: Arrived,
    /// Handshake bytes that this end sends, and handshake bytes that have arrived.
    pub(super) crypto: Outgoing,
    pub(super) crypto_arrived: Ranges,
    /// `true` if an ACK is due. In the spaces of the handshake, an ACK is due immediately
    /// (§13.2.1).
    pub(super) owes_ack: bool,
    /// Number of ack-eliciting packets that must be sent regardless of the congestion window (RFC
    /// 9002, §6.2.4).
    pub(super) probes: u32,
    /// Packets whose keys are not available yet.
    pub(super) waiting: Vec<Packet>,
}

impl Space {
    fn new(keys: Keys) -> Self {
        Self {
            keys,
            arrived: Arrived::default(),
            crypto: Outgoing::new(0, u64::MAX, u64::MAX),
            crypto_arrived: Ranges::default(),
            owes_ack: false,
            probes: 0,
            waiting: Vec::new(),
        }
    }

    pub(super) fn is_usable(&self) -> bool {
        self.keys == Keys::Available
    }

    /// Returns `true` if handshake bytes up to this offset can be buffered.
    pub(super) fn buffers(&self, end: u64) -> bool {
        end <= self.crypto_arrived.next() + MAX_AHEAD.max(MAX_HANDSHAKE)
    }

    /// Stores a packet that arrived before its keys. Returns `false` if too many packets wait.
    pub(super) fn wait(&mut self, packet: &Packet) -> bool {
        let has_room = self.waiting.len() < MAX_WAITING;
        if has_room {
            self.waiting.push(packet.clone());
        }
        has_room
    }

    fn discard(&mut self) {
        self.keys = Keys::Discarded;
        (self.owes_ack, self.probes) = (false, 0);
        self.waiting.clear();
    }
}

/// Maximum size of a flight of TLS, in bytes.
pub(super) const MAX_HANDSHAKE: u64 = 1 << 16;

/// The three spaces.
#[derive(Debug)]
pub(super) struct Spaces {
    spaces: [Space; 3],
    /// `true` if packets wait in a space whose keys have become available.
    has_waiting: bool,
    /// `true` if the keys of the handshake's spaces are discarded.
    is_past_handshake: bool,
}

impl Spaces {
    pub(super) fn new() -> Self {
        Self {
            spaces: [Keys::Available, Keys::NotYet, Keys::NotYet].map(Space::new),
            has_waiting: false,
            is_past_handshake: false,
        }
    }

    /// Installs the keys of a space. Stored packets of the space can then be read.
    pub(super) fn install(&mut self, id: Id) {
        let space = &mut self.spaces[id as usize];
        if space.keys == Keys::NotYet {
            space.keys = Keys::Available;
            self.has_waiting |= !space.waiting.is_empty();
        }
    }

    /// Discards the keys of a space (RFC 9001, §4.9). Returns `false` if the keys were already
    /// discarded.
    pub(super) fn discard(&mut self, id: Id) -> bool {
        if self[id].keys == Keys::Discarded {
            return false;
        }
        self[id].discard();
        self.is_past_handshake =
            self[Id::Initial].keys == Keys::Discarded && self[Id::Handshake].keys == Keys::Discarded;
        true
    }

    /// Returns `true` if `predicate` is true for a space. After the handshake at both ends, checks
    /// only application data.
    #[inline]
    pub(super) fn any(&self, predicate: impl Fn(Id) -> bool) -> bool {
        if self.is_past_handshake { predicate(Id::Application) } else { Id::ALL.into_iter().any(predicate) }
    }

    /// Returns the minimum of `of` over the same spaces as [`any`](Self::any).
    #[inline]
    pub(super) fn least<T: Ord>(&self, of: impl Fn(Id) -> Option<T>) -> Option<T> {
        if self.is_past_handshake { of(Id::Application) } else { Id::ALL.into_iter().filter_map(of).min() }
    }

    /// Returns `true` if stored packets can now be read, and clears the flag.
    pub(super) const fn take_waiting(&mut self) -> bool {
        std::mem::replace(&mut self.has_waiting, false)
    }

    /// Returns `true` if packets must be sent regardless of the congestion window.
    #[inline]
    pub(super) fn are_probing(&self) -> bool {
        self.any(|id| self[id].probes > 0)
    }

    /// Returns `true` if the handshake is complete at both ends and no probe is due. Then only
    /// packets of application data are sent.
    #[inline]
    pub(super) fn are_settled(&self) -> bool {
        self.is_past_handshake && self[Id::Application].probes == 0
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Space> {
        self.spaces.iter()
    }
}

impl Index<Id> for Spaces {
    type Output = Space;

    #[inline]
    fn index(&self, id: Id) -> &Space {
        &self.spaces[id as usize]
    }
}

impl IndexMut<Id> for Spaces {
    #[inline]
    fn index_mut(&mut self, id: Id) -> &mut Space {
        &mut self.spaces[id as usize]
    }
}
