//! The amount of data of a direction, and when they passed.

/// Packets with data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Volume {
    pub(crate) segments: u64,
    pub(crate) packets: u64,
    /// Octets of payload, including retransmissions.
    pub(crate) octets: u64,
    /// Octets of the IP packets, with one segment in each.
    pub(crate) wire_octets: u64,
    /// Packets marked Congestion Experienced.
    pub(crate) marked: u64,
    pub(crate) first: Option<u64>,
    pub(crate) last: u64,
}

impl Volume {
    /// Records a packet of `wire` octets with `length` octets of data, in this number of segments.
    #[inline]
    pub(super) fn packet(&mut self, at: u64, segments: u64, length: u64, wire: u64) {
        self.packets += 1;
        self.segments += segments;
        self.octets += length;
        self.wire_octets += wire + (segments - 1) * wire.saturating_sub(length);
        self.first.get_or_insert(at);
        self.last = at;
    }

    /// Returns the time since the last data, or `None` before the first.
    #[inline]
    pub(super) fn lull(&self, at: u64) -> Option<u64> {
        self.first.map(|_| at.saturating_sub(self.last))
    }

    /// Returns the nanoseconds from the first data to the last.
    pub(crate) fn duration(&self) -> u64 {
        self.first.map_or(0, |first| self.last.saturating_sub(first))
    }

    /// Returns the number of header octets per segment.
    pub(crate) fn headers(&self) -> u64 {
        self.wire_octets.saturating_sub(self.octets) / self.segments.max(1)
    }

    /// Returns the ratio of the octets of packets to those of payload.
    pub(crate) fn overhead(&self) -> f64 {
        self.wire_octets as f64 / self.octets.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_segment_of_a_packet_has_headers_on_the_wire() {
        let mut volume = Volume::default();
        volume.packet(5, 3, 3000, 3040);
        assert_eq!((volume.wire_octets, volume.headers()), (3120, 40));
        assert_eq!((volume.lull(9), volume.duration()), (Some(4), 0));
    }
}
