//! Retransmissions of 802.11 frames, detected as by a receiver (IEEE Std 802.11-2020, 10.3.2.14):
//! by the retry bit, the transmitter, the traffic identifier and the sequence number.

use acklab_wire::dot11::Data;
use std::collections::BTreeMap;

/// Sequence numbers have twelve bits (9.2.4.4.2).
const NUMBERS: u16 = 1 << 12;
/// The maximum number of transmitters that are stored. Chosen: more stations than a cell has.
const MAX_TRANSMITTERS: usize = 512;
/// The traffic identifier of a frame without QoS, whose sequence numbers have a separate counter.
const WITHOUT_QOS: u8 = 16;

/// Transmitter, receiver, traffic identifier.
type Key = ([u8; 6], [u8; 6], u8);

/// The frames of all transmitters.
#[derive(Clone, Debug, Default)]
pub(super) struct Retries {
    seen: BTreeMap<Key, Seen>,
    /// The number of frames so far. It serves as the clock by which the transmitter that was silent
    /// longest is evicted.
    frames: u64,
}

/// The last 4,096 sequence numbers of a transmitter.
#[derive(Clone, Debug)]
struct Seen {
    newest: u16,
    numbers: [u64; NUMBERS as usize / 64],
    last: u64,
}

impl Retries {
    /// Stores this frame, and returns `true` if it is a retransmission.
    pub(super) fn is_repeated(&mut self, data: &Data<'_>) -> bool {
        self.frames += 1;
        // A fragment counts as a part of its MSDU.
        if data.fragment > 0 {
            return false;
        }
        let key = (data.transmitter.0, data.receiver.0, data.qos.map_or(WITHOUT_QOS, |qos| qos.tid));
        if self.seen.len() >= MAX_TRANSMITTERS && !self.seen.contains_key(&key) {
            self.make_room();
        }
        let seen = self.seen.entry(key).or_insert_with(|| Seen::before(data.sequence));
        seen.last = self.frames;
        let was_seen = seen.see(data.sequence);
        was_seen && data.is_retry
    }

    #[cold]
    fn make_room(&mut self) {
        if let Some((&key, _)) = self.seen.iter().min_by_key(|(_, seen)| seen.last) {
            self.seen.remove(&key);
        }
    }
}

impl Seen {
    /// Creates the state before this number.
    fn before(number: u16) -> Self {
        Self { newest: number.wrapping_sub(1) % NUMBERS, numbers: [0; NUMBERS as usize / 64], last: 0 }
    }

    /// Stores this number, and returns `true` if it was seen before.
    fn see(&mut self, number: u16) -> bool {
        let number = number % NUMBERS;
        let ahead = number.wrapping_sub(self.newest) % NUMBERS;
        // Half of the number space counts as newer (10.24.7.1).
        if (1..NUMBERS / 2).contains(&ahead) {
            for passed in 1..=ahead {
                let place = usize::from((self.newest + passed) % NUMBERS);
                self.numbers[place / 64] &= !(1 << (place % 64));
            }
            self.newest = number;
        }
        let (word, bit) = (usize::from(number) / 64, 1 << (number % 64));
        let was_seen = self.numbers[word] & bit != 0;
        self.numbers[word] |= bit;
        was_seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_wire::dot11::{AckPolicy, DistributionSystem, MacAddress, Qos};

    fn data(transmitter: u8, tid: Option<u8>, sequence: u16, is_retry: bool) -> Data<'static> {
        let address = |last: u8| MacAddress([2, 0, 0, 0, 1, last]);
        Data {
            duration: 0,
            distribution_system: DistributionSystem::To,
            is_retry,
            has_more_fragments: false,
            has_more_data: false,
            is_sync: false,
            receiver: address(0),
            transmitter: address(transmitter),
            address_3: address(0),
            sequence,
            fragment: 0,
            qos: tid.map(|tid| Qos { tid, ack_policy: AckPolicy::Normal, is_amsdu: false }),
            body: &[],
        }
    }

    #[test]
    fn a_retry_is_repeated_if_its_number_was_seen() {
        let mut retries = Retries::default();
        assert!(!retries.is_repeated(&data(1, None, 10, true)), "the capture missed the first transmission");
        assert!(retries.is_repeated(&data(1, None, 10, true)));
        assert!(!retries.is_repeated(&data(1, None, 10, false)), "without the retry bit it is another frame");
    }

    #[test]
    fn transmitters_and_traffic_identifiers_have_numbers_of_their_own() {
        let mut retries = Retries::default();
        assert!(!retries.is_repeated(&data(1, Some(0), 10, false)));
        for other in [data(2, Some(0), 10, true), data(1, Some(1), 10, true), data(1, None, 10, true)] {
            assert!(!retries.is_repeated(&other));
        }
        assert!(retries.is_repeated(&data(1, Some(0), 10, true)));
    }

    #[test]
    fn frames_of_an_aggregate_come_again_out_of_order() {
        let mut retries = Retries::default();
        for sequence in 4090..4090 + 20 {
            assert!(!retries.is_repeated(&data(1, Some(0), sequence % 4096, false)));
        }
        for sequence in [4091, 4095, 0, 7] {
            assert!(retries.is_repeated(&data(1, Some(0), sequence, true)), "{sequence}");
        }
    }

    #[test]
    fn numbers_are_used_again_after_4096_frames() {
        let mut retries = Retries::default();
        for sequence in 0..4096 {
            assert!(!retries.is_repeated(&data(1, Some(0), sequence, false)));
        }
        assert!(!retries.is_repeated(&data(1, Some(0), 0, true)));
    }

    #[test]
    fn the_number_of_transmitters_is_bounded() {
        let mut retries = Retries::default();
        for transmitter in 0..=255 {
            for tid in 0..4 {
                retries.is_repeated(&data(transmitter, Some(tid), 0, false));
            }
        }
        assert_eq!(retries.seen.len(), MAX_TRANSMITTERS);
        assert!(retries.is_repeated(&data(255, Some(3), 0, true)));
    }
}
