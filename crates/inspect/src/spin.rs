//! Round-trip times by the spin bit of QUIC (RFC 9000, §17.4; RFC 9312, §3.8).
//!
//! A client inverts the bit that it sees and a server repeats it, so that in each direction it changes once a round trip. A change in one
//! direction that follows one in the other tells the part of the round trip between the point of capture and the end that has answered.

/// The header form bit and the fixed bit of a short header (RFC 9000, §17.3.1).
const SHORT: (u8, u8) = (0xc0, 0x40);
/// The spin bit.
const SPIN: u8 = 0x20;
/// A change sooner after the last than this share of the least round trip is one of a reordered packet (RFC 9312, §3.8.2 asks for such a heuristic).
const LEAST_SHARE: u64 = 4;

/// The spin bit of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spin {
    value: Option<bool>,
    /// When the bit changed last.
    changed: Option<u64>,
    least: Option<u64>,
    changes: u64,
}

/// What a packet tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edge {
    /// Time since the change before, in this direction: a round trip.
    pub(crate) whole: Option<u64>,
}

impl Spin {
    /// A packet with this first octet passed at `at`. Returns what a change of the bit tells, or `None` if there was none.
    #[inline]
    pub(crate) fn packet(&mut self, at: u64, first: u8) -> Option<Edge> {
        if first & SHORT.0 != SHORT.1 {
            return None;
        }
        let value = first & SPIN != 0;
        if self.value.replace(value) == Some(value) {
            return None;
        }
        let whole = self.changed.map(|since| at.saturating_sub(since));
        if whole.is_some_and(|whole| self.least.is_some_and(|least| whole < least / LEAST_SHARE)) {
            return None;
        }
        self.changed = Some(at);
        self.changes += 1;
        if let Some(whole) = whole {
            self.least = Some(self.least.map_or(whole, |least| least.min(whole)));
        }
        Some(Edge { whole })
    }

    /// When the bit changed last.
    pub(crate) const fn changed(&self) -> Option<u64> {
        self.changed
    }

    /// Changes so far: an endpoint that does not spin has none or, if it greases the bit, one in two packets.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_tells_a_round_trip() {
        let mut spin = Spin::default();
        assert_eq!(spin.packet(0, 0xc3), None);
        assert_eq!(spin.packet(1, 0x40), Some(Edge { whole: None }));
        assert_eq!(spin.packet(50, 0x40), None);
        assert_eq!(spin.packet(101, 0x60), Some(Edge { whole: Some(100) }));
        // A packet of before that arrives late, and the next that shows the present value.
        assert_eq!(spin.packet(103, 0x40), None);
        assert_eq!(spin.packet(105, 0x60), None);
        assert_eq!(spin.packet(205, 0x40), Some(Edge { whole: Some(104) }));
    }
}
