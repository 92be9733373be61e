//! The FIN of a direction, whose ACK shows a round trip.

use acklab_wire::tcp::SeqNumber;

/// The FIN of a direction without data, until it is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fin {
    /// The number after it, and when it passed. It has no time once it was retransmitted or
    /// acknowledged, because its ACK is ambiguous (Karn's rule).
    sent: Option<(SeqNumber, Option<u64>)>,
}

impl Fin {
    /// Records that a FIN passes at `at`, with the number `end` after it.
    pub(super) fn pass(&mut self, end: SeqNumber, at: u64) {
        let is_retransmitted = self.sent.is_some_and(|(number, _)| number == end);
        self.sent = Some((end, (!is_retransmitted).then_some(at)));
    }

    /// Returns the nanoseconds from the FIN to its first ACK, if `ack` is that ACK.
    pub(super) fn acknowledge(&mut self, ack: SeqNumber, at: u64) -> Option<u64> {
        let (number, sent) = self.sent.as_mut()?;
        (*number == ack).then(|| sent.take()).flatten().map(|sent| at.saturating_sub(sent))
    }

    /// Drops the time of the FIN, because the capture's clock has stepped.
    pub(super) fn cut(&mut self) {
        if let Some((_, sent)) = &mut self.sent {
            *sent = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: SeqNumber = SeqNumber(7);

    #[test]
    fn the_first_ack_of_a_fin_shows_a_round_trip_once() {
        let mut fin = Fin::default();
        assert_eq!(fin.acknowledge(END, 5), None, "no FIN has passed");
        fin.pass(END, 10);
        assert_eq!(fin.acknowledge(SeqNumber(6), 12), None, "an ACK of the data before");
        assert_eq!(fin.acknowledge(END, 30), Some(20));
        assert_eq!(fin.acknowledge(END, 40), None);
    }

    #[test]
    fn the_ack_of_a_retransmitted_fin_shows_nothing() {
        let mut fin = Fin::default();
        fin.pass(END, 10);
        fin.pass(END, 20);
        assert_eq!(fin.acknowledge(END, 30), None);
    }
}
