//! The recipient of a Block ACK agreement: the reorder buffer passes packets up in the order of
//! their sequence numbers (10.25.6.6).

use crate::payload::Payload;
use std::collections::BTreeMap;

/// The reorder buffer.
#[derive(Clone, Debug)]
pub(crate) struct Recipient<D> {
    /// The next sequence number to release, unwrapped: WinStartB.
    next: u64,
    buffered: BTreeMap<u64, Payload<D>>,
    window: u64,
}

impl<D> Recipient<D> {
    pub(crate) fn new(window: u16) -> Self {
        Self { next: 0, buffered: BTreeMap::new(), window: u64::from(window) }
    }

    /// Receives a frame under an agreement. Passes frames that are in order to `up`.
    pub(crate) fn receive(&mut self, sequence: u64, packets: Payload<D>, up: &mut impl FnMut(D)) {
        if sequence == self.next && self.buffered.is_empty() {
            self.next += 1;
            return packets.for_each(up);
        }
        if sequence >= self.next + self.window {
            self.advance(sequence + 1 - self.window, up);
        }
        if sequence >= self.next {
            self.buffered.insert(sequence, packets);
            self.release(up);
        }
    }

    /// Receives a frame without an agreement, and passes it up unless it is a duplicate
    /// (10.3.2.14).
    pub(crate) fn receive_alone(&mut self, sequence: u64, packets: Payload<D>, up: &mut impl FnMut(D)) {
        if sequence >= self.next {
            self.next = sequence + 1;
            packets.for_each(up);
        }
    }

    /// Moves the window to `start`. The recipient no longer waits for frames below `start`
    /// (10.25.6.6.3).
    pub(crate) fn advance(&mut self, start: u64, up: &mut impl FnMut(D)) {
        if start <= self.next {
            return;
        }
        let later = self.buffered.split_off(&start);
        std::mem::replace(&mut self.buffered, later).into_values().for_each(|packets| packets.for_each(up));
        self.next = start;
        self.release(up);
    }

    fn release(&mut self, up: &mut impl FnMut(D)) {
        while let Some(entry) = self.buffered.first_entry()
            && *entry.key() == self.next
        {
            entry.remove().for_each(up);
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(recipient: &mut Recipient<u64>, sequence: u64) -> Vec<u64> {
        let mut up = Vec::new();
        recipient.receive(sequence, Payload::One(sequence), &mut |packet| up.push(packet));
        up
    }

    #[test]
    fn a_gap_holds_what_comes_after_it() {
        let mut recipient = Recipient::new(64);
        assert_eq!(receive(&mut recipient, 0), [0]);
        assert!(receive(&mut recipient, 2).is_empty());
        assert!(receive(&mut recipient, 3).is_empty());
        assert_eq!(receive(&mut recipient, 1), [1, 2, 3]);
        assert_eq!(receive(&mut recipient, 4), [4]);
    }

    #[test]
    fn a_repetition_is_not_passed_up_again() {
        let mut recipient = Recipient::new(64);
        receive(&mut recipient, 0);
        assert!(receive(&mut recipient, 0).is_empty());
        receive(&mut recipient, 2);
        assert!(receive(&mut recipient, 2).is_empty());
        assert_eq!(receive(&mut recipient, 1), [1, 2]);
    }

    #[test]
    fn a_frame_beyond_the_window_moves_it() {
        let mut recipient = Recipient::new(64);
        assert!(receive(&mut recipient, 1).is_empty());
        assert_eq!(receive(&mut recipient, 64), [1]);
        let mut up = Vec::new();
        recipient.advance(65, &mut |packet| up.push(packet));
        assert_eq!(up, [64]);
    }
}
