//! Losses that the receiver reports (Li et al., SIGCOMM 2020, §5.1), instead of the sender's own
//! [detection](super::loss).

use super::{Lost, Packet, Packets, State};
use crate::recovery::delivery_rate::Stamp;
use std::ops::Range;

impl<T> Packets<T> {
    /// Returns the number of a packet that needs no acknowledgment. No state is stored for the
    /// packet.
    pub fn pass(&mut self) -> u64 {
        let number = self.next_number();
        self.push(State::Acknowledged { until: number + 1 }, Stamp::default());
        self.acknowledged += 1;
        if self.settled == number {
            self.settle();
        }
        number
    }

    /// Processes a report that the numbers of `range` are lost. Appends the outstanding packets of
    /// `range` to `lost`. A packet is lost once, even if it is reported repeatedly.
    pub fn lose(&mut self, range: Range<u64>, lost: &mut Vec<Lost<T>>) {
        for number in range.start.max(self.settled)..range.end.min(self.next_number()) {
            self.mark_lost(number, lost);
        }
    }

    /// Retires the packet with this number: it is neither acknowledged nor lost. Returns the packet
    /// if it was outstanding.
    pub fn retire(&mut self, number: u64) -> Option<Packet<T>> {
        let state = self.states.get_mut(number.checked_sub(self.first)? as usize)?;
        if !matches!(state, State::Outstanding(_)) {
            return None;
        }
        let acknowledged = State::Acknowledged { until: number + 1 };
        let State::Outstanding(packet) = std::mem::replace(state, acknowledged) else { return None };
        self.uncount(&packet);
        self.acknowledged += 1;
        Some(packet)
    }

    /// Removes the entries below the lowest outstanding number, except losses that are not yet
    /// [forgotten](Self::forget_lost).
    pub fn settle(&mut self) {
        while self.settled < self.next_number()
            && !matches!(self.states[(self.settled - self.first) as usize], State::Outstanding(_))
        {
            self.pass_settled();
        }
        while self.first < self.settled && !matches!(self.states.front(), Some(State::Lost { .. })) {
            self.pop();
        }
    }

    /// Returns how many of the stored numbers were acknowledged, or needed no acknowledgment.
    #[must_use]
    pub const fn remembered_acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Returns the lowest stored number. An acknowledgment of a lower number has no effect.
    #[must_use]
    pub const fn lowest_remembered(&self) -> u64 {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Instant;

    fn board(packets: u64) -> Packets<u64> {
        let mut board = Packets::default();
        for content in 0..packets {
            let at = Instant::from_nanos(content);
            let packet = Packet { at, octets: 100, is_ack_eliciting: true, is_in_flight: true, content };
            board.send(packet, Stamp::default());
        }
        board
    }

    fn lose(board: &mut Packets<u64>, range: Range<u64>) -> Vec<u64> {
        let mut lost = Vec::new();
        board.lose(range, &mut lost);
        board.settle();
        lost.into_iter().map(|lost| lost.packet.content).collect()
    }

    #[test]
    fn a_packet_is_lost_once_and_nothing_else_is() {
        let mut board = board(6);
        board.acknowledge(Instant::ZERO, std::iter::once(2..3), &mut Vec::new()).unwrap();
        assert_eq!(lose(&mut board, 0..4), [0, 1, 3]);
        assert_eq!(lose(&mut board, 0..4), [0; 0]);
        assert_eq!(lose(&mut board, 3..100), [4, 5], "no number is lost that was never used");
        assert_eq!((board.in_flight(), board.has_ack_eliciting(), board.lowest_remembered()), (0, false, 0));
    }

    #[test]
    fn what_arrives_after_all_was_lost_needlessly() {
        let mut board = board(3);
        lose(&mut board, 0..2);
        let progress = board.acknowledge(Instant::ZERO, std::iter::once(0..3), &mut Vec::new()).unwrap();
        assert_eq!((progress.spuriously_lost, progress.packets), (2, 3));
        board.settle();
        assert_eq!(board.lowest_remembered(), 3);
        assert_eq!(lose(&mut board, 0..3), [0; 0]);
    }

    #[test]
    fn what_is_retired_is_neither_lost_nor_acknowledged() {
        let mut board = board(3);
        let retired = [1, 1, 7].map(|number| board.retire(number).map(|packet| packet.content));
        assert_eq!(retired, [Some(1), None, None]);
        assert_eq!(board.in_flight(), 200);
        assert_eq!(lose(&mut board, 0..2), [0]);
        let progress = board.acknowledge(Instant::ZERO, std::iter::once(0..3), &mut Vec::new()).unwrap();
        assert_eq!((progress.packets, progress.octets, progress.late_octets), (2, 200, 100));
    }

    #[test]
    fn numbers_that_pass_settle_at_once() {
        let mut board: Packets<u64> = Packets::default();
        assert_eq!((board.pass(), board.pass(), board.lowest_remembered()), (0, 1, 2));
        let packet = Packet { at: Instant::ZERO, octets: 1, is_ack_eliciting: true, is_in_flight: true, content: 0 };
        board.send(packet, Stamp::default());
        assert_eq!((board.pass(), board.lowest_remembered()), (3, 2));
        assert!(board.acknowledge(Instant::ZERO, std::iter::once(0..4), &mut Vec::new()).is_ok());
        board.settle();
        assert_eq!(board.lowest_remembered(), 4);
    }
}
