//! The degree of reordering: the number of segments by which the path may displace a packet
//! (`reordering` of Linux's `tcp_sock`).
//!
//! The degree replaces `DupThresh` in stacks that measure it. Without SACK, this number of
//! duplicate ACKs indicates a loss. If the degree exceeds [`DUP_THRESH`], the window grows with all
//! delivered data, in order or not.

use super::DUP_THRESH;

/// `tcp_max_reordering`: the maximum degree.
const LARGEST: u32 = 300;

/// The degree of reordering.
#[derive(Clone, Copy, Debug)]
pub struct Reordering {
    degree: u32,
}

impl Default for Reordering {
    /// `tcp_reordering`.
    fn default() -> Self {
        Self { degree: DUP_THRESH }
    }
}

impl Reordering {
    /// Returns the degree, in segments.
    #[must_use]
    pub const fn degree(&self) -> u32 {
        self.degree
    }

    /// Returns `true` if packets are displaced further than [`DUP_THRESH`] permits.
    #[must_use]
    pub const fn is_high(&self) -> bool {
        self.degree > DUP_THRESH
    }

    /// Processes an arrival that was `octets` bytes late (`tcp_check_sack_reordering`).
    pub fn on_displacement(&mut self, octets: u64, mss: u64) {
        if octets > u64::from(self.degree) * mss {
            self.degree = u32::try_from(octets.div_ceil(mss.max(1))).unwrap_or(LARGEST).min(LARGEST);
        }
    }

    /// Processes duplicate ACKs, without SACK, that are more than the segments that can have
    /// arrived. `outstanding` is the number of outstanding segments (`tcp_check_reno_reordering`).
    pub fn on_excess_duplicates(&mut self, outstanding: usize) {
        self.degree = u32::try_from(outstanding).unwrap_or(LARGEST).min(LARGEST);
    }

    /// Lowers the degree after a timeout, because it was too high if enough segments were SACKed
    /// (`tcp_enter_loss`).
    pub fn on_timeout(&mut self) {
        self.degree = self.degree.min(DUP_THRESH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_degree_is_the_farthest_displacement_in_segments() {
        let mut reordering = Reordering::default();
        reordering.on_displacement(3000, 1000);
        assert!(!reordering.is_high(), "three segments are what DupThresh allows");
        reordering.on_displacement(4500, 1000);
        assert_eq!(reordering.degree(), 5, "rounded up");
        reordering.on_displacement(4000, 1000);
        assert_eq!(reordering.degree(), 5, "a smaller one does not lower it");
        reordering.on_displacement(1_000_000, 1000);
        assert_eq!(reordering.degree(), LARGEST);
        reordering.on_timeout();
        assert_eq!(reordering.degree(), DUP_THRESH);
    }
}
