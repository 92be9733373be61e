//! The payload of a data frame.

/// One packet, stored in place, or the packets of an A-MSDU.
#[derive(Clone, Debug, Default)]
pub(crate) enum Payload<D> {
    /// The payload has been moved to the peer.
    #[default]
    Gone,
    /// One packet, as in most frames.
    One(D),
    /// An A-MSDU.
    Several(Vec<D>),
}

impl<D> Payload<D> {
    pub(crate) fn push(&mut self, packet: D) {
        *self = match std::mem::take(self) {
            Self::Gone => Self::One(packet),
            Self::One(first) => Self::Several(vec![first, packet]),
            Self::Several(mut packets) => {
                packets.push(packet);
                Self::Several(packets)
            }
        };
    }

    pub(crate) fn as_slice(&self) -> &[D] {
        match self {
            Self::Gone => &[],
            Self::One(packet) => std::slice::from_ref(packet),
            Self::Several(packets) => packets,
        }
    }

    /// Passes its packets to `up` in their order.
    pub(crate) fn for_each(self, up: &mut impl FnMut(D)) {
        match self {
            Self::Gone => {}
            Self::One(packet) => up(packet),
            Self::Several(packets) => packets.into_iter().for_each(up),
        }
    }
}
