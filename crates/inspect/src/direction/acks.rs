//! Counts of ACKs of a direction, and of those that carry data.

/// The receiver's packets with acknowledgments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acks {
    /// ACKs without data.
    pub(crate) pure: u64,
    /// IP octets of these.
    pub(crate) octets: u64,
    /// Pure ACKs that acknowledge nothing new while data are outstanding.
    pub(crate) duplicates: u64,
    /// ACKs with or without data.
    all: u64,
    /// Octets that packets with data are the first to acknowledge.
    ridden: u64,
    /// Octets that were acknowledged in order, without losses or reordering.
    ordered: u64,
    /// When further data were last acknowledged.
    pub(super) last_advance: u64,
}

impl Acks {
    /// Records an ACK in a packet of `wire` octets.
    #[inline]
    pub(super) fn packet(&mut self, is_pure: bool, wire: u64) {
        self.all += 1;
        if is_pure {
            self.pure += 1;
            self.octets += wire;
        }
    }

    /// Records that an ACK has acknowledged this number of further octets.
    #[inline]
    pub(super) fn advance(&mut self, at: u64, octets: u64, is_pure: bool) {
        self.last_advance = at;
        self.ridden += if is_pure { 0 } else { octets };
    }

    /// Records that this number of octets was acknowledged in order.
    #[inline]
    pub(super) fn in_order(&mut self, octets: u64) {
        self.ordered += octets;
    }

    /// Returns `true` if there were ACKs.
    pub(super) const fn are_seen(&self) -> bool {
        self.all > 0
    }

    /// Returns the share of the acknowledged octets that are acknowledged by packets with data, not
    /// by pure ACKs.
    pub(super) fn ridden(&self, acknowledged: u64) -> f64 {
        self.ridden as f64 / acknowledged.max(1) as f64
    }

    /// Returns the share of the acknowledged octets that were acknowledged in order, without losses
    /// or reordering.
    pub(super) fn ordered(&self, acknowledged: u64) -> f64 {
        self.ordered as f64 / acknowledged.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acks_ride_on_data_or_are_pure() {
        let mut acks = Acks::default();
        acks.packet(true, 52);
        acks.advance(1, 300, true);
        acks.packet(false, 1500);
        acks.advance(2, 100, false);
        assert_eq!((acks.pure, acks.octets, acks.last_advance), (1, 52, 2));
        assert!((acks.ridden(400) - 0.25).abs() < 1e-12);
    }
}
