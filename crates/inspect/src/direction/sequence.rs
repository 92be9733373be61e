//! The sequence space of a direction: 32-bit numbers as places on a line that does not wrap.

use acklab_wire::tcp::SeqNumber;

/// The place of the first byte. Bytes before it have places as well. Places are congruent with
/// distances from the first number.
pub(crate) const START: u64 = 1 << 32;
/// A jump longer than any window permits (RFC 7323, §2.3).
const LARGEST_WINDOW: u64 = 1 << 30;

/// The data of a direction: those that have passed, and those that the receiver has acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SequenceSpace {
    /// The number of the byte at [`START`].
    origin: Option<SeqNumber>,
    /// The place after the last byte that has passed the point.
    pub(crate) highest: u64,
    /// The place before which the receiver has all bytes.
    pub(crate) acknowledged: u64,
    /// The place after the last byte of the direction, if its FIN has passed.
    end: Option<u64>,
    /// The number after the last segment that was beyond any window.
    stray: Option<SeqNumber>,
    /// The place after the data of the SYN, until the next data pass.
    after_syn: Option<u64>,
}

/// The place of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Its first byte.
    At(u64),
    /// Farther away than any window. A single such segment may belong to another connection.
    Stray,
    /// Farther away, and shortly after the previous segment, which was a stray: the capture has a
    /// hole.
    Anew,
}

impl Default for SequenceSpace {
    fn default() -> Self {
        Self { origin: None, highest: START, acknowledged: START, end: None, stray: None, after_syn: None }
    }
}

impl SequenceSpace {
    /// Sets the number of the first byte by the sender's SYN.
    pub(super) fn begin(&mut self, first: SeqNumber) {
        *self = Self { origin: Some(first), ..Self::default() };
    }

    /// Returns `true` if the first byte of this direction would have the number `first`.
    pub(super) fn begins_with(&self, first: SeqNumber) -> bool {
        self.origin == Some(first)
    }

    pub(super) const fn is_known(&self) -> bool {
        self.origin.is_some()
    }

    /// Returns the place of data that begin with `seq`. The first data of a capture that begins in
    /// mid-flow set the origin.
    pub(super) fn place_of_data(&mut self, seq: SeqNumber, length: u32) -> Place {
        let origin = *self.origin.get_or_insert(seq);
        let mut place = seq.offset_near(origin, self.highest);
        if place.abs_diff(self.highest) <= LARGEST_WINDOW {
            self.stray = None;
            // A program that writes captures may not use a number for the SYN.
            if self.after_syn.take() == Some(place + 1) {
                self.origin = Some(SeqNumber(origin.0.wrapping_sub(1)));
                place += 1;
            }
            return Place::At(place);
        }
        let after = SeqNumber(seq.0.wrapping_add(length));
        let follows = |stray: SeqNumber| u64::from(seq.0.wrapping_sub(stray.0)) <= LARGEST_WINDOW;
        match self.stray.replace(after) {
            Some(stray) if follows(stray) => {
                self.begin(seq);
                Place::Anew
            }
            _ => Place::Stray,
        }
    }

    /// Returns the place of the data of the SYN with `seq`. The SYN uses a number itself (RFC 9293,
    /// §3.4; TCP Fast Open, RFC 7413).
    #[cold]
    pub(super) fn place_of_syn_data(&mut self, seq: SeqNumber, length: u32) -> Place {
        let place = self.place_of_data(SeqNumber(seq.0.wrapping_add(1)), length);
        if let Place::At(start) = place {
            self.after_syn = Some(start + u64::from(length));
        }
        place
    }

    /// Returns the place that an ACK with this number acknowledges. Returns `None` if no data have
    /// passed or no window reaches it.
    pub(super) fn place_of_ack(&self, ack: SeqNumber) -> Option<u64> {
        let near = self.acknowledged.max(self.highest.saturating_sub(LARGEST_WINDOW));
        let place = ack.offset_near(self.origin?, near);
        // The FIN uses a number, but is not a byte of data.
        let place = if self.end.is_some_and(|end| place == end + 1) { place - 1 } else { place };
        (place <= self.highest + LARGEST_WINDOW).then_some(place)
    }

    /// Returns the place of the byte with this number, which has passed or may follow.
    pub(super) fn place_of(&self, seq: SeqNumber) -> Option<u64> {
        self.origin.map(|origin| seq.offset_near(origin, self.highest))
    }

    /// Returns the place of a number in a SACK block.
    pub(super) fn place_in_block(&self, number: SeqNumber) -> u64 {
        self.origin.map_or(START, |origin| number.offset_near(origin, self.highest))
    }

    /// Records a FIN with this number, after `payload` bytes.
    pub(super) fn finish(&mut self, seq: SeqNumber, payload: u32) {
        if let Some(origin) = self.origin {
            let place = seq.offset_near(origin, self.highest);
            self.end = Some(place + u64::from(payload));
        }
    }

    /// Returns the number of bytes that have passed and are not acknowledged.
    pub(super) const fn flight(&self) -> u64 {
        self.highest.saturating_sub(self.acknowledged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(space: &mut SequenceSpace, seq: u32, length: u32) -> Place {
        let place = space.place_of_data(SeqNumber(seq), length);
        if let Place::At(start) = place {
            space.highest = space.highest.max(start + u64::from(length));
        }
        place
    }

    #[test]
    fn data_of_a_syn_follow_its_number() {
        let mut space = SequenceSpace::default();
        space.begin(SeqNumber(101));
        assert_eq!(space.place_of_syn_data(SeqNumber(100), 50), Place::At(START));
        space.highest = START + 50;
        assert_eq!(space.place_of_data(SeqNumber(151), 10), Place::At(START + 50));
    }

    #[test]
    fn a_capture_that_takes_no_number_for_the_syn_is_in_sequence() {
        let mut space = SequenceSpace::default();
        space.begin(SeqNumber(1));
        assert_eq!(space.place_of_syn_data(SeqNumber(0), 86), Place::At(START));
        space.highest = START + 86;
        assert_eq!(space.place_of_data(SeqNumber(86), 100), Place::At(START + 86));
        space.highest = START + 186;
        assert_eq!(space.place_of_data(SeqNumber(186), 100), Place::At(START + 186));
    }

    #[test]
    fn places_do_not_wrap() {
        let mut space = SequenceSpace::default();
        space.begin(SeqNumber(u32::MAX - 999));
        assert_eq!(at(&mut space, u32::MAX - 999, 1000), Place::At(START));
        assert_eq!(at(&mut space, 0, 1000), Place::At(START + 1000));
        assert_eq!(space.place_of_ack(SeqNumber(1000)), Some(START + 2000));
    }

    /// A single segment of another connection changes nothing. Two successive ones show a hole in
    /// the capture.
    #[test]
    fn numbers_begin_anew_at_the_second_stray() {
        let mut space = SequenceSpace::default();
        assert_eq!(at(&mut space, 1000, 100), Place::At(START));
        assert_eq!(at(&mut space, 3_000_000_000, 100), Place::Stray);
        assert_eq!(at(&mut space, 1100, 100), Place::At(START + 100));
        assert_eq!(at(&mut space, 3_000_000_000, 100), Place::Stray);
        assert_eq!(at(&mut space, 3_000_000_100, 100), Place::Anew);
        assert_eq!(at(&mut space, 3_000_000_100, 100), Place::At(START));
    }

    #[test]
    fn the_number_of_a_fin_is_no_byte() {
        let mut space = SequenceSpace::default();
        at(&mut space, 1000, 100);
        assert_eq!(space.place_of_ack(SeqNumber(1101)), Some(START + 101));
        space.finish(SeqNumber(1100), 0);
        assert_eq!(space.place_of_ack(SeqNumber(1101)), Some(START + 100));
    }

    #[test]
    fn without_data_there_is_no_place() {
        assert_eq!(SequenceSpace::default().place_of_ack(SeqNumber(5)), None);
    }
}
