//! Datagrams that a NIC splits later (UDP generic segmentation offload): a capture at the sender
//! contains several as one.

/// The maximum payload of UDP over IPv4 in an Ethernet frame. A larger one is several datagrams, or
/// one on a path with jumbo frames.
const MAX_WHOLE: u32 = 1500 - 20 - 8;
/// The minimum size of a sender's datagrams with data (RFC 9000, §14).
const MIN_WHOLE: u32 = 1200;

/// The datagrams of one end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offload {
    /// The largest datagram that was captured individually.
    whole: u32,
}

impl Offload {
    /// Returns the size of the datagrams that are captured as one of `length` octets. The last of
    /// them may be smaller. If no datagram of full size was captured individually before, as on a
    /// path with jumbo frames, it is one datagram.
    pub(crate) fn size_of_parts(&mut self, length: u32) -> u32 {
        if length <= MAX_WHOLE {
            self.whole = self.whole.max(length);
            return length;
        }
        if self.whole >= MIN_WHOLE { self.whole } else { length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_datagram_has_parts_of_full_size() {
        let mut offload = Offload::default();
        assert_eq!([40, 1200, 1252, 90].map(|length| offload.size_of_parts(length)), [40, 1200, 1252, 90]);
        assert_eq!(offload.size_of_parts(10 * 1252 + 100), 1252);
    }

    #[test]
    fn without_a_datagram_of_full_size_it_is_one() {
        let mut offload = Offload::default();
        assert_eq!([100, 8952].map(|length| offload.size_of_parts(length)), [100, 8952]);
    }
}
