//! The keys of a connection, and their updates (RFC 9001, §6).

use crate::protection;
use acklab_wire::tack::PktSeq;
use acklab_wire::tack::protected::{Head, PHASE};
use rustls::quic::{HeaderProtectionKey, Keys, PacketKey, PacketKeySet, Secrets};

/// The keys of successive phases, and the largest packet number of each direction.
pub(crate) struct Phases {
    mask: Box<dyn HeaderProtectionKey>,
    unmask: Box<dyn HeaderProtectionKey>,
    current: PacketKeySet,
    /// The keys of the previous phase, for late packets.
    previous: Option<Box<dyn PacketKey>>,
    next: PacketKeySet,
    secrets: Secrets,
    phase: bool,
    /// The lowest packet number that has arrived in this phase. Its presence shows that the peer
    /// has the keys of this phase.
    first_arrived: Option<u64>,
    /// The next expected packet number of the peer, and the lowest packet number that may be sent
    /// next.
    expected: u64,
    pub(crate) next_number: u64,
    /// The number of packets sealed in this phase.
    sealed: u64,
    /// The number of packets that could not be opened with any keys (RFC 9001, §6.6).
    failures: u64,
    pub(crate) updates: u64,
    /// `true` if the last opened packet is the newest.
    pub(crate) opened_newest: bool,
}

impl Phases {
    pub(crate) fn new(keys: Keys, mut secrets: Secrets) -> Self {
        let Keys { local, remote } = keys;
        let next = secrets.next_packet_keys();
        Self {
            mask: local.header,
            unmask: remote.header,
            current: PacketKeySet { local: local.packet, remote: remote.packet },
            previous: None,
            next,
            secrets,
            phase: false,
            first_arrived: None,
            expected: 0,
            next_number: 0,
            sealed: 0,
            failures: 0,
            updates: 0,
            opened_newest: false,
        }
    }

    pub(crate) const fn phase(&self) -> bool {
        self.phase
    }

    fn advance(&mut self) {
        let next = std::mem::replace(&mut self.next, self.secrets.next_packet_keys());
        let last = std::mem::replace(&mut self.current, next);
        self.previous = Some(last.remote);
        self.phase = !self.phase;
        (self.first_arrived, self.sealed) = (None, 0);
        self.updates += 1;
    }

    /// Switches to the next keys after `packets` packets were sealed with the present keys, once
    /// the peer is known to have the present keys.
    pub(crate) fn update_after(&mut self, packets: u64) {
        let limit = packets.min(self.current.local.confidentiality_limit() / 2);
        if self.sealed >= limit && self.first_arrived.is_some() {
            self.advance();
        }
    }

    /// Returns `true` if the keys are exhausted: no packet may be sealed or opened any more (RFC
    /// 9001, §6.6).
    pub(crate) fn are_exhausted(&self) -> bool {
        self.sealed >= self.current.local.confidentiality_limit()
            || self.failures >= self.current.remote.integrity_limit()
    }

    /// Seals the packet that begins at `start`. Returns `false` if its number was used before,
    /// because the reuse of a number would reveal plaintext.
    #[must_use]
    pub(crate) fn seal(&mut self, octets: &mut Vec<u8>, start: usize, number_at: usize, number: PktSeq) -> bool {
        let number = number.near(self.next_number);
        if number < self.next_number || self.are_exhausted() {
            return false;
        }
        self.next_number = number + 1;
        self.sealed += 1;
        protection::seal(octets, start, number_at, number, &*self.mask, &*self.current.local)
    }

    /// Opens a packet. Returns its PKT.SEQ and its content. Returns `None` if the peer has not
    /// sealed the packet.
    pub(crate) fn open<'a>(&mut self, packet: &'a mut [u8], head: &Head) -> Option<(PktSeq, &'a [u8])> {
        let (first, number) = protection::unmask(packet, head.number_at, &*self.unmask)?;
        let full = number.near(self.expected);
        let is_current = (first & PHASE != 0) == self.phase;
        let is_before = self.first_arrived.is_none_or(|first| full < first);
        let (key, is_next) = match &self.previous {
            _ if is_current => (&self.current.remote, false),
            Some(previous) if is_before => (previous, false),
            _ => (&self.next.remote, true),
        };
        let Some(payload) = protection::decipher(packet, head.number_at, full, &**key) else {
            self.failures += 1;
            return None;
        };
        if is_next {
            self.advance();
        }
        if is_next || is_current {
            self.first_arrived = Some(self.first_arrived.map_or(full, |first| first.min(full)));
        }
        self.opened_newest = full >= self.expected;
        self.expected = self.expected.max(full + 1);
        Some((number, payload))
    }
}
