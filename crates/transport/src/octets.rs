//! The octets of a stream, which a driver keeps by their offsets: endpoints count them, and tell by
//! [stream events](acklab_base::StreamEvent) which of them have arrived and which need not be kept.

use std::collections::VecDeque;
use std::ops::Range;

/// The octets that an application has written, from the first that the peer has not acknowledged.
#[derive(Clone, Debug, Default)]
pub struct Written {
    start: u64,
    octets: VecDeque<u8>,
}

impl Written {
    /// The offset behind the last octet.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start + self.octets.len() as u64
    }

    /// The octets that are kept.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.octets.len()
    }

    /// Keeps what was written, as far as the endpoint has accepted it.
    pub fn append(&mut self, octets: &[u8]) {
        self.octets.extend(octets);
    }

    /// Appends the octets of `range` to `to`. Returns `false`, and appends nothing, if they are not all kept.
    pub fn copy(&self, range: Range<u64>, to: &mut Vec<u8>) -> bool {
        if range.start < self.start || range.end > self.end() {
            return false;
        }
        // Slice by slice, since an iterator over a ring copies octet by octet.
        let (from, until) = (self.place(range.start), self.place(range.end));
        let (front, back) = self.octets.as_slices();
        let split = front.len();
        to.extend_from_slice(&front[from.min(split)..until.min(split)]);
        to.extend_from_slice(&back[from.saturating_sub(split)..until.saturating_sub(split)]);
        true
    }

    /// Frees the octets below `offset`, which the peer has acknowledged.
    pub fn free(&mut self, offset: u64) {
        let offset = offset.clamp(self.start, self.end());
        self.octets.drain(..self.place(offset));
        self.start = offset;
    }

    fn place(&self, offset: u64) -> usize {
        (offset - self.start) as usize
    }
}

/// The octets that have arrived, in order or not, from the first that the application has not read.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    start: u64,
    octets: VecDeque<u8>,
}

impl Arrived {
    /// The offset of the octet that is read next.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Keeps octets that begin at `offset`. What lies below the octet that is read next is dropped. The endpoint's receive window bounds how far
    /// they lie ahead, and so what is kept.
    pub fn put(&mut self, offset: u64, octets: &[u8]) {
        let Some(octets) = octets.get(self.start.saturating_sub(offset) as usize..) else { return };
        let place = (offset.max(self.start) - self.start) as usize;
        let end = place + octets.len();
        if self.octets.len() == place {
            self.octets.extend(octets);
            return;
        }
        if self.octets.len() < end {
            self.octets.resize(end, 0);
        }
        let (front, back) = self.octets.as_mut_slices();
        let split = front.len();
        let (head, tail) = octets.split_at(split.clamp(place, end) - place);
        front[place.min(split)..end.min(split)].copy_from_slice(head);
        back[place.saturating_sub(split)..end.saturating_sub(split)].copy_from_slice(tail);
    }

    /// Forgets the next `count` octets, which the endpoint has let its application read.
    ///
    /// # Panics
    /// If fewer are kept.
    pub fn drop(&mut self, count: u64) {
        self.octets.drain(..count as usize);
        self.start += count;
    }

    /// Moves the next `count` octets, which the endpoint has let its application read, to the end of `to`.
    ///
    /// # Panics
    /// If fewer are kept.
    pub fn take(&mut self, count: u64, to: &mut Vec<u8>) {
        self.give(count, |octets| to.extend_from_slice(octets));
    }

    /// Gives the next `count` octets, which the endpoint has let its application read, to `to`, in one piece or two.
    ///
    /// # Panics
    /// If fewer are kept.
    pub fn give(&mut self, count: u64, mut to: impl FnMut(&[u8])) {
        let (front, back) = self.octets.as_slices();
        let split = (count as usize).min(front.len());
        to(&front[..split]);
        to(&back[..count as usize - split]);
        self.drop(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_kept_until_it_is_acknowledged() {
        let mut written = Written::default();
        written.append(b"acknowledge");
        let copy = |written: &Written, range| {
            let mut octets = Vec::new();
            written.copy(range, &mut octets).then_some(octets)
        };
        assert_eq!(copy(&written, 2..5), Some(b"kno".to_vec()));
        written.free(5);
        written.free(3);
        assert_eq!((written.kept(), written.end()), (6, 11));
        assert_eq!((copy(&written, 4..6), copy(&written, 5..12)), (None, None));
        assert_eq!(copy(&written, 5..11), Some(b"wledge".to_vec()));
    }

    #[test]
    fn what_arrives_is_read_in_order() {
        let (mut arrived, mut read) = (Arrived::default(), Vec::new());
        arrived.put(4, b"owledge");
        arrived.put(0, b"ackn");
        arrived.take(6, &mut read);
        arrived.put(3, b"now");
        arrived.put(4, b"owl");
        arrived.take(5, &mut read);
        assert_eq!((read.as_slice(), arrived.start()), (b"acknowledge".as_slice(), 11));
    }
}
