//! IPv4 identifications of one sender.

/// Numbers of IPv4 packets of one sender, if it counts them for each connection (RFC 6864 leaves that open; Linux does so for TCP, from a random
/// number on). Captures of simulations count from zero at the point of capture, and so cannot tell that a packet is missing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identifications {
    last: Option<u16>,
    is_of_capture: bool,
    pub(crate) steps: u64,
    /// Steps that no counter makes: none, back, or far ahead.
    pub(crate) irregular: u64,
    /// Numbers that were skipped.
    pub(crate) skipped: u64,
}

/// A step that a counter of one connection does not make between two of its packets.
const LONG_STEP: u16 = 512;

impl Identifications {
    #[inline]
    pub(crate) fn packet(&mut self, identification: u16) {
        let Some(last) = self.last.replace(identification) else { return };
        self.is_of_capture |= self.steps == 0 && (last, identification) == (0, 1);
        self.steps += 1;
        match identification.wrapping_sub(last) {
            0 | LONG_STEP.. => self.irregular += 1,
            step => self.skipped += u64::from(step - 1),
        }
    }

    /// The share of packets that were sent and did not pass, or `None` if the sender does not count its packets.
    pub(crate) fn missing(&self) -> Option<f64> {
        // One step in fifty may be irregular, where packets overtook each other.
        let is_counter = !self.is_of_capture && self.steps >= 50 && self.irregular * 50 <= self.steps;
        is_counter.then(|| self.skipped as f64 / (self.skipped + self.steps) as f64)
    }
}
