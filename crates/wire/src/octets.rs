//! Reads fields from the front of octets.

/// The octets that remain to be read.
pub(crate) struct Octets<'a>(pub(crate) &'a [u8]);

impl<'a> Octets<'a> {
    /// Consumes `count` octets. Returns `None` if fewer octets remain.
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(crate) fn octet(&mut self) -> Option<u8> {
        self.chunk().map(u8::from_be_bytes)
    }

    /// Consumes 16 bits.
    pub(crate) fn quarter(&mut self) -> Option<u16> {
        self.chunk().map(u16::from_be_bytes)
    }

    /// Consumes 32 bits.
    pub(crate) fn half(&mut self) -> Option<u32> {
        self.chunk().map(u32::from_be_bytes)
    }

    /// Consumes 64 bits.
    pub(crate) fn word(&mut self) -> Option<u64> {
        self.chunk().map(u64::from_be_bytes)
    }
}
