//! Datagrams that are to be sent.

use acklab_base::Ecn;

/// Datagrams in the order of sending, one behind the other in the same memory.
#[derive(Debug, Default)]
pub struct Outbox {
    pub(crate) octets: Vec<u8>,
    ends: Vec<(usize, Ecn)>,
}

impl Outbox {
    /// Ends the datagram whose octets were appended. It is sent with this ECN field.
    pub(crate) fn end(&mut self, ecn: Ecn) {
        self.ends.push((self.octets.len(), ecn));
    }

    /// Where the datagram begins that is being written.
    pub(crate) fn start(&self) -> usize {
        self.ends.last().map_or(0, |(end, _)| *end)
    }

    /// The datagrams with their ECN fields.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Ecn)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, ecn))| (&self.octets[start..*end], *ecn))
    }

    /// Octets of all datagrams.
    #[must_use]
    pub const fn octets(&self) -> usize {
        self.octets.len()
    }

    /// Returns `true` if there is no datagram.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all datagrams, and keeps the memory.
    pub fn clear(&mut self) {
        self.octets.clear();
        self.ends.clear();
    }
}
