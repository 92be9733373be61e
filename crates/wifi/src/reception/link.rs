//! The reception of the frames of one PPDU.

use acklab_base::Bytes;

/// The reception of PPDUs of one mode by one node from another at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    header: f64,
    fixed_success: f64,
    errors_per_octet: f64,
    /// The last size and its probability of success: most frames of an aggregate have the size of
    /// the previous one.
    last: (u64, f64),
}

impl Link {
    /// A link on which nothing is received.
    pub const LOST: Self = Self { header: 0.0, ..Self::fixed(0.0) };

    pub(super) const fn fixed(success: f64) -> Self {
        Self { header: 1.0, fixed_success: success, errors_per_octet: 0.0, last: (0, success) }
    }

    /// Returns a link with these probabilities of decoding the signal fields and of an error per
    /// octet.
    pub(super) const fn with_errors(header: f64, errors_per_octet: f64) -> Self {
        Self { header, errors_per_octet, ..Self::fixed(1.0) }
    }

    /// Returns the probability that the signal fields are decoded. If they are not, the whole PPDU
    /// is lost.
    #[must_use]
    pub const fn header(&self) -> f64 {
        self.header
    }

    /// Returns the probability that a frame of `octets` is received, given that the signal fields
    /// are decoded.
    pub fn success(&mut self, octets: Bytes) -> f64 {
        if octets.0 != self.last.0 {
            let success = self.fixed_success * libm::exp(-self.errors_per_octet * octets.0 as f64);
            self.last = (octets.0, success);
        }
        self.last.1
    }
}
