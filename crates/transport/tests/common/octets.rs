//! Choices derived from bytes, which come from a fuzzer or from a seeded stream.

/// The remaining bytes. After the last byte, each choice is the first option.
#[derive(Clone, Copy)]
pub(crate) struct Octets<'a>(&'a [u8]);

impl<'a> Octets<'a> {
    pub(crate) const fn new(octets: &'a [u8]) -> Self {
        Self(octets)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn octet(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Returns any number of 32 bits.
    pub(crate) fn word(&mut self) -> u32 {
        u32::from_be_bytes([self.octet(), self.octet(), self.octet(), self.octet()])
    }

    /// Returns a number from 0 to `bound` − 1, or zero if that range is empty.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let octet = u64::from(self.octet());
        let wide = if bound > 256 { octet << 8 | u64::from(self.octet()) } else { octet };
        wide % bound.max(1)
    }

    /// Returns `true` with the probability 1/`times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}
