//! Datagrams to send.

use acklab_base::Ecn;

/// Datagrams in the order of sending, contiguous in memory.
#[derive(Debug, Default)]
pub struct Outbox {
    pub(crate) octets: Vec<u8>,
    ends: Vec<(usize, Ecn)>,
}

impl Outbox {
    /// Ends the current datagram after its bytes were appended. It is sent with this ECN field.
    pub(crate) fn end(&mut self, ecn: Ecn) {
        self.ends.push((self.octets.len(), ecn));
    }

    /// Returns the offset at which the current datagram begins.
    pub(crate) fn start(&self) -> usize {
        self.ends.last().map_or(0, |(end, _)| *end)
    }

    /// Returns the datagrams with their ECN fields.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Ecn)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, ecn))| (&self.octets[start..*end], *ecn))
    }

    /// Moves the datagrams of `other` to the end of this outbox.
    pub fn append(&mut self, other: &mut Self) {
        let base = self.octets.len();
        self.octets.append(&mut other.octets);
        self.ends.extend(other.ends.drain(..).map(|(end, ecn)| (base + end, ecn)));
    }

    /// Appends a datagram.
    pub fn push(&mut self, octets: &[u8]) {
        self.octets.extend_from_slice(octets);
        self.end(Ecn::NotEct);
    }

    /// Returns the number of datagrams.
    #[must_use]
    pub const fn datagrams(&self) -> usize {
        self.ends.len()
    }

    /// Returns runs of datagrams with the same size and ECN field. The last datagram of a run may
    /// be shorter. Each run has its bytes, the size and the ECN field.
    pub fn runs(&self) -> impl Iterator<Item = (&[u8], usize, Ecn)> {
        let mut datagrams = self.iter().map(|(octets, ecn)| (octets.len(), ecn)).peekable();
        let mut start = 0;
        std::iter::from_fn(move || {
            let (size, ecn) = datagrams.next()?;
            let (from, mut last) = (start, size);
            start += size;
            while let Some((next, _)) =
                datagrams.next_if(|(next, other)| last == size && *next <= size && *other == ecn)
            {
                start += next;
                last = next;
            }
            Some((&self.octets[from..start], size, ecn))
        })
    }

    /// Returns the bytes of all datagrams.
    #[must_use]
    pub const fn octets(&self) -> usize {
        self.octets.len()
    }

    /// Returns `true` if there is no datagram.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all datagrams, but keeps the memory.
    pub fn clear(&mut self) {
        self.octets.clear();
        self.ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_datagrams_form_runs() {
        let mut outbox = Outbox::default();
        for (size, ecn) in
            [(3, Ecn::Ect0), (3, Ecn::Ect0), (2, Ecn::Ect0), (2, Ecn::Ect0), (2, Ecn::NotEct), (4, Ecn::NotEct)]
        {
            outbox.octets.resize(outbox.octets.len() + size, 0);
            outbox.end(ecn);
        }
        let runs: Vec<_> = outbox.runs().map(|(octets, size, ecn)| (octets.len(), size, ecn)).collect();
        assert_eq!(runs, [(8, 3, Ecn::Ect0), (2, 2, Ecn::Ect0), (2, 2, Ecn::NotEct), (4, 4, Ecn::NotEct)]);
        let mut other = Outbox::default();
        other.append(&mut outbox);
        assert_eq!((other.datagrams(), other.octets(), outbox.is_empty()), (6, 16, true));
    }
}
