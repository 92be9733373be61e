//! What the NIC knows of TCP/HACK: octets that go on the next answer, each from an instant on. It has no part in TCP.

use acklab_base::{Bytes, Instant};
use acklab_wire::rohc::{self, FRAME_HEADER};
use std::collections::VecDeque;

/// The descriptors for one peer, and the octets that they are of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nic {
    table: VecDeque<Descriptor>,
    octets: VecDeque<u8>,
}

/// One compressed ACK.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    /// Its number, which tells the peer the first of an answer.
    msn: u16,
    size: u16,
    /// When it is with the NIC.
    ready: Instant,
}

impl Nic {
    pub(crate) fn push(&mut self, msn: u16, octets: &[u8], ready: Instant) {
        self.table.push_back(Descriptor { msn, size: octets.len() as u16, ready });
        self.octets.extend(octets);
    }

    /// The first `count` have arrived, or are not wanted any more.
    pub(crate) fn drop_first(&mut self, count: usize) {
        self.octets.drain(..size_of(&self.table, 0..count));
        self.table.drain(..count);
    }

    /// Those from the one at `place` on are not wanted.
    pub(crate) fn truncate(&mut self, place: usize) {
        self.octets.truncate(size_of(&self.table, 0..place));
        self.table.truncate(place);
    }

    /// Appends to an answer what was ready when the PPDU began that it answers, as far as `most` octets go. Tells how many ACKs, and
    /// the octets of those behind the first `known`.
    pub(crate) fn append(
        &mut self,
        began: Instant,
        most: Option<Bytes>,
        known: usize,
        out: &mut Vec<u8>,
    ) -> (usize, usize) {
        let mut left = most.map_or(usize::MAX, |most| most.get() as usize).saturating_sub(FRAME_HEADER);
        let fits = |descriptor: &&Descriptor| {
            let size = usize::from(descriptor.size);
            let fits = descriptor.ready <= began && size <= left;
            left = left.saturating_sub(size);
            fits
        };
        let count = self.table.iter().take_while(fits).count();
        let mut rest: &[u8] = self.octets.make_contiguous();
        let acks = self.table.iter().take(count).map(|descriptor| {
            let (octets, behind) = rest.split_at(usize::from(descriptor.size));
            rest = behind;
            (descriptor.msn, octets)
        });
        rohc::write_frame(acks, out);
        (count, size_of(&self.table, known.min(count)..count))
    }
}

/// Octets of the descriptors in this range.
fn size_of(table: &VecDeque<Descriptor>, range: std::ops::Range<usize>) -> usize {
    table.range(range).map(|descriptor| usize::from(descriptor.size)).sum()
}
