//! Reasons for refusing packets of datagrams before a transport receives them.

/// The reason why a packet is refused. A refusal only increments a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Refused {
    /// The packet is not a protected packet of this version.
    #[error("the datagram is no packet of this version")]
    Form,
    /// The packet is addressed to another connection.
    #[error("the packet is addressed to another connection")]
    Connection,
    /// The peer has not sealed the packet: it is forged, corrupted or of another connection.
    #[error("the packet is forged or corrupted")]
    Forged,
    /// The packet arrived before the keys that open it, and there is no room to store it.
    #[error("the packet came before its keys")]
    Early,
    /// The packet is protected by keys that are no longer in use.
    #[error("the packet came after its keys were discarded")]
    Late,
    /// The content is not a sequence of frames, or contains frames that are not permitted at this
    /// level.
    #[error("the packet holds what has no place in it")]
    Frames,
    /// The packet opens a connection, but is smaller than the minimum or has no complete
    /// ClientHello.
    #[error("the datagram cannot open a connection")]
    Hello,
    /// The bytes of the handshake are too far ahead, or contradict earlier bytes.
    #[error("the octets of the handshake have no place")]
    Crypto,
}

impl Refused {
    /// All reasons, with the names of their counters.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Form, "refused_form"),
        (Self::Connection, "refused_connection"),
        (Self::Forged, "refused_forged"),
        (Self::Early, "refused_early"),
        (Self::Late, "refused_late"),
        (Self::Frames, "refused_frames"),
        (Self::Hello, "refused_hello"),
        (Self::Crypto, "refused_crypto"),
    ];
}

/// The number of refused packets, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusedCounts([u64; Refused::ALL.len()]);

impl RefusedCounts {
    /// Counts a packet.
    pub const fn count(&mut self, refused: Refused) {
        self.0[refused as usize] += 1;
    }

    /// Returns the number of packets that were refused for this reason.
    #[must_use]
    pub const fn of(&self, refused: Refused) -> u64 {
        self.0[refused as usize]
    }

    /// Returns the number of all refused packets.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns all counts, with the names of their counters.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Refused::ALL.into_iter().zip(self.0).map(|((_, name), count)| (name, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_place() {
        for (place, (refused, _)) in Refused::ALL.into_iter().enumerate() {
            assert_eq!(refused as usize, place);
        }
        let mut counts = RefusedCounts::default();
        counts.count(Refused::Late);
        assert_eq!((counts.of(Refused::Late), counts.total()), (1, 1));
        assert_eq!(counts.iter().find(|(_, count)| *count > 0), Some(("refused_late", 1)));
    }
}
