//! The beginning and the end of a TCP connection: its initial sequence numbers, and the round-trip
//! times of its handshake.

use acklab_wire::tcp::{Flags, Segment, SeqNumber};

/// The handshake of a connection (RFC 9293, §3.5), and whether it was closed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Handshake {
    /// The sequence number of each end's SYN, or the number before its first captured segment.
    first: [Option<SeqNumber>; 2],
    /// `true` if an end has sent anything except SYNs.
    has_sent: [bool; 2],
    /// `true` once a FIN or RST has passed.
    is_closed: bool,
    opener: usize,
    syn: Option<u64>,
    /// When the SYN-ACK passed, and the number that it acknowledges.
    syn_ack: Option<(u64, SeqNumber)>,
    is_repeated: bool,
    is_complete: bool,
    scales: bool,
}

/// The round-trip time between the point of capture and an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ToEnd {
    pub(crate) end: usize,
    pub(crate) nanos: u64,
}

impl Handshake {
    /// Returns `true` if a segment that the end `from` sends opens another connection between the
    /// same ports.
    ///
    /// A SYN with another number opens another connection, and so does one with the same number
    /// after the connection was closed. A repeated SYN does not open another one. The SYN of the
    /// other end belongs to this connection if that end has sent nothing else (simultaneous open,
    /// RFC 9293, §3.5). So does any SYN-ACK for the SYN of this connection, because SYN cookies
    /// change their number (RFC 4987, §3.6).
    pub(crate) fn is_another(&self, from: usize, segment: &Segment) -> bool {
        if !segment.flags.contains(Flags::SYN) {
            return false;
        }
        let first = self.first[from];
        let is_other = first.is_some_and(|first| first != segment.seq);
        if segment.flags.contains(Flags::ACK) {
            let is_for = |syn: SeqNumber| SeqNumber(syn.0.wrapping_add(1)) == segment.ack;
            let is_for_this =
                self.first[1 - from].is_some_and(is_for) || self.syn_ack.is_some_and(|(_, ack)| ack == segment.ack);
            return is_other && !is_for_this;
        }
        let is_reopened = self.is_closed && self.syn_ack.is_some() && self.has_sent == [true; 2];
        is_other || is_reopened || first.is_none() && self.has_sent[1 - from]
    }

    /// Records a segment of the end `from`.
    #[inline]
    pub(crate) fn segment(&mut self, from: usize, segment: &Segment) {
        let is_syn = segment.flags.contains(Flags::SYN);
        let number = if is_syn { segment.seq } else { SeqNumber(segment.seq.0.wrapping_sub(1)) };
        self.first[from].get_or_insert(number);
        self.has_sent[from] |= !is_syn;
        self.is_closed |= segment.flags.intersects(Flags::FIN | Flags::RST);
    }

    /// Records a SYN of the end `from`. For a SYN-ACK, returns the round-trip time to its sender.
    #[cold]
    pub(crate) fn syn(&mut self, at: u64, from: usize, segment: &Segment, is_new: bool) -> Option<ToEnd> {
        self.first[from] = Some(segment.seq);
        self.is_repeated |= !is_new;
        if !segment.flags.contains(Flags::ACK) {
            self.opener = from;
            self.syn = Some(at);
            self.is_complete = false;
            self.scales = segment.options.window_scale.is_some();
            return None;
        }
        // This is another SYN-ACK for the same SYN.
        self.is_repeated |= self.syn_ack.is_some();
        self.syn_ack = Some((at, segment.ack));
        self.scales &= segment.options.window_scale.is_some();
        let syn = self.syn.filter(|_| !self.is_repeated && self.opener != from)?;
        Some(ToEnd { end: from, nanos: at.saturating_sub(syn) })
    }

    /// Records a step of the capture's clock. The remaining handshake yields no round-trip time.
    pub(crate) fn cut(&mut self) {
        self.is_repeated = true;
    }

    /// Returns `true` if both ends scale their windows, as far as known (RFC 7323, §2.2).
    pub(crate) const fn scales(&self) -> bool {
        self.scales
    }

    /// Returns `true` if the ACK of the SYN-ACK has passed.
    #[inline]
    pub(crate) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Records a segment of the end `from` that is not a SYN. For the ACK of the SYN-ACK, returns
    /// the round-trip time to the end that opened the connection.
    #[cold]
    pub(crate) fn complete(&mut self, at: u64, from: usize, segment: &Segment) -> Option<ToEnd> {
        let is_ack = from == self.opener && segment.flags.contains(Flags::ACK);
        let (syn_ack, _) = self.syn_ack.filter(|_| is_ack)?;
        self.is_complete = true;
        (!self.is_repeated).then(|| ToEnd { end: from, nanos: at.saturating_sub(syn_ack) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYN: Flags = Flags::SYN;
    const ACK: Flags = Flags::ACK;

    fn segment(flags: Flags, seq: u32, ack: u32) -> Segment {
        Segment { flags, seq: SeqNumber(seq), ack: SeqNumber(ack), ..Segment::default() }
    }

    /// Returns for each segment whether it begins another connection than the previous one.
    fn others(segments: &[(usize, Segment)]) -> Vec<bool> {
        let mut handshake = Handshake::default();
        let mut found = Vec::new();
        for (from, segment) in segments {
            let is_another = handshake.is_another(*from, segment);
            if is_another {
                handshake = Handshake::default();
            }
            handshake.segment(*from, segment);
            if segment.flags.contains(SYN) {
                handshake.syn(0, *from, segment, true);
            }
            found.push(is_another);
        }
        found
    }

    #[test]
    fn a_syn_with_another_number_opens_another_connection() {
        let open = [(0, segment(SYN, 5, 0)), (1, segment(SYN | ACK, 9, 6)), (0, segment(ACK, 6, 10))];
        let found = others(&[&open[..], &[(0, segment(SYN, 5, 0)), (0, segment(SYN, 77, 0))]].concat());
        assert_eq!(found, [false, false, false, false, true]);
    }

    #[test]
    fn any_syn_after_the_end_opens_another_connection() {
        let open = [(0, segment(SYN, 5, 0)), (1, segment(SYN | ACK, 9, 6)), (0, segment(ACK, 6, 10))];
        let close = [(1, segment(Flags::FIN | ACK, 10, 6)), (0, segment(SYN, 5, 0)), (1, segment(SYN, 300, 0))];
        assert_eq!(others(&[&open[..], &close].concat()), [false, false, false, false, true, false]);
    }

    /// A client repeats a SYN that was refused (Windows, after half a second).
    #[test]
    fn a_refused_syn_is_repeated() {
        let found = others(&[(0, segment(SYN, 5, 0)), (1, segment(Flags::RST | ACK, 0, 6)), (0, segment(SYN, 5, 0))]);
        assert_eq!(found, [false; 3]);
    }

    #[test]
    fn a_syn_ack_for_another_syn_opens_another_connection() {
        // Only the server was captured.
        let found =
            others(&[(1, segment(SYN | ACK, 9, 6)), (1, segment(ACK, 10, 6)), (1, segment(SYN | ACK, 900, 77))]);
        assert_eq!(found, [false, false, true]);
    }

    #[test]
    fn the_syns_of_both_ends_open_one_connection() {
        let found = others(&[
            (0, segment(SYN, 5, 0)),
            (1, segment(SYN, 9, 0)),
            (0, segment(SYN | ACK, 5, 10)),
            (1, segment(SYN | ACK, 9, 6)),
        ]);
        assert_eq!(found, [false; 4]);
    }

    #[test]
    fn cookies_change_the_number_of_a_syn_ack() {
        let found = others(&[(0, segment(SYN, 5, 0)), (1, segment(SYN | ACK, 9, 6)), (1, segment(SYN | ACK, 33, 6))]);
        assert_eq!(found, [false; 3]);
    }

    #[test]
    fn a_syn_behind_data_in_mid_flow_opens_another_connection() {
        let found = others(&[(0, segment(ACK, 1000, 9)), (0, segment(SYN, 999, 0)), (0, segment(SYN, 5000, 0))]);
        // The first segment is the SYN of the data, which follow it in the file.
        assert_eq!(found, [false, false, true]);
        // A server's data, and a SYN of its client.
        assert_eq!(others(&[(0, segment(ACK, 1000, 9)), (1, segment(SYN, 5, 0))]), [false, true]);
    }

    #[test]
    fn a_handshake_shows_both_sides() {
        let mut handshake = Handshake::default();
        assert_eq!(handshake.syn(0, 0, &segment(SYN, 5, 0), true), None);
        assert_eq!(handshake.syn(30, 1, &segment(SYN | ACK, 9, 6), true), Some(ToEnd { end: 1, nanos: 30 }));
        assert_eq!(handshake.complete(35, 0, &segment(ACK, 6, 10)), Some(ToEnd { end: 0, nanos: 5 }));
    }
}
