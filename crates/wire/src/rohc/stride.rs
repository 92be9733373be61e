//! The step by which ACK numbers advance (RFC 6846, §8.2: `ack_stride`, `field_scaling`).

use super::wlsb::Lsb;

/// The scaled ACK number of `rnd_4` and `seq_4`.
pub(super) const ACK_SCALED: Lsb = Lsb::new(4, 3, 32);
/// The number of consecutive equal advances after which the step is sent. Sending the step costs
/// five to seven octets more than an ACK number, and saves one octet in each later ACK.
const CONFIDENCE: u8 = 4;
/// The largest advance in steps that the four bits of a scaled ACK number can encode.
const REACH: u32 = 12;

/// Estimates the step: the greatest common divisor of recent advances. With delayed ACKs, the step
/// is the maximum segment size, or twice the maximum segment size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StrideEstimator {
    step: u16,
    run: u8,
}

impl StrideEstimator {
    /// Returns the stride for an ACK that advances by `advance` octets, while `current` is in use.
    pub(super) fn next(&mut self, current: u16, advance: u32) -> u16 {
        let Ok(advance) = u16::try_from(advance) else { return current };
        if advance == 0 {
            return current;
        }
        if self.step != 0 && advance.is_multiple_of(self.step) {
            self.run = self.run.saturating_add(1);
        } else {
            let common = common_divisor(self.step, advance);
            self.step = if u32::from(advance) <= REACH * u32::from(common) { common } else { advance };
            self.run = 1;
        }
        let divides = |stride: u16| stride != 0 && advance.is_multiple_of(stride);
        let is_better =
            !divides(current) && self.run >= CONFIDENCE && u32::from(advance) <= REACH * u32::from(self.step);
        if is_better { self.step } else { current }
    }

    /// Returns the stride to send in an IR, where it costs only two octets: two equal advances
    /// suffice.
    pub(super) const fn guess(&self) -> u16 {
        if self.run < 2 { 0 } else { self.step }
    }

    /// Resets the estimate after the decompressor has lost the stride. The stride is
    /// retransmitted after enough equal advances.
    pub(super) fn forget(&mut self) {
        self.run = 0;
    }
}

/// Returns the greatest common divisor (Euclid's algorithm).
fn common_divisor(mut a: u16, mut b: u16) -> u16 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Divides an ACK number by the stride. Returns the quotient and the remainder.
pub(super) const fn scaled(stride: u16, ack: u32) -> (u32, u32) {
    (ack / stride as u32, ack % stride as u32)
}

/// Returns `true` if the low bits of the scaled `ack` are unambiguous relative to `reference`.
pub(super) const fn reaches(stride: u16, reference: u32, ack: u32) -> bool {
    let ((from, residue), (to, left)) = (scaled(stride, reference), scaled(stride, ack));
    residue == left && ACK_SCALED.reaches(from, to)
}

/// Returns the ACK number with these scaled low bits, or `None` if the stride is unknown.
pub(super) const fn decode(stride: u16, reference: u32, code: u32) -> Option<u32> {
    if stride == 0 {
        return None;
    }
    let (from, residue) = scaled(stride, reference);
    Some(ACK_SCALED.decode(from, code).wrapping_mul(stride as u32).wrapping_add(residue))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strides(advances: &[u32]) -> Vec<u16> {
        let (mut estimate, mut current) = (StrideEstimator::default(), 0);
        let mut next = |advance: &u32| {
            current = estimate.next(current, *advance);
            current
        };
        advances.iter().map(&mut next).collect()
    }

    #[test]
    fn a_constant_step_is_used_after_four() {
        assert_eq!(strides(&[2896; 5]), [0, 0, 0, 2896, 2896]);
    }

    #[test]
    fn delayed_acks_of_one_to_four_segments_share_the_segment() {
        assert_eq!(strides(&[2896, 1448, 4344, 5792, 1448, 2896]), [0, 0, 0, 0, 1448, 1448]);
    }

    #[test]
    fn duplicates_and_a_single_odd_one_change_nothing() {
        assert_eq!(
            strides(&[2896, 2896, 2896, 2896, 0, 0, 2896, 1448, 2896]),
            [0, 0, 0, 2896, 2896, 2896, 2896, 2896, 2896]
        );
    }

    #[test]
    fn without_a_common_step_there_is_none() {
        assert_eq!(strides(&[1000, 1001, 1003, 1007, 1013, 1019, 70_000]), [0; 7]);
    }

    #[test]
    fn a_scaled_number_ends_where_the_sequence_space_wraps() {
        let last = u32::MAX - 5000;
        let (near, past) = (last + 1448, last.wrapping_add(4 * 1448));
        assert!(reaches(1448, last, near) && !reaches(1448, last, past));
        assert_eq!(decode(1448, last, ACK_SCALED.code(scaled(1448, near).0)), Some(near));
        assert_eq!(decode(0, last, 1), None);
    }
}
