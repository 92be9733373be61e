//! The NIC's part of TCP/HACK: octets to append to the next response frame, each from an instant on. It knows nothing of TCP.

use acklab_base::{Bytes, Instant};
use acklab_wire::rohc::{self, FRAME_HEADER};
use std::collections::VecDeque;

/// The descriptors for one peer, and their octets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nic {
    table: VecDeque<Descriptor>,
    octets: VecDeque<u8>,
}

/// One compressed ACK.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    /// Its master sequence number. The peer learns that of the first ACK in a response frame.
    msn: u16,
    size: u16,
    /// When the NIC has it.
    ready: Instant,
}

impl Nic {
    pub(crate) fn push(&mut self, msn: u16, octets: &[u8], ready: Instant) {
        self.table.push_back(Descriptor { msn, size: octets.len() as u16, ready });
        self.octets.extend(octets);
    }

    /// Removes the first `count`, which have arrived or were superseded.
    pub(crate) fn drop_first(&mut self, count: usize) {
        self.octets.drain(..size_of(&self.table, 0..count));
        self.table.drain(..count);
    }

    /// Removes all from `place` on.
    pub(crate) fn truncate(&mut self, place: usize) {
        self.octets.truncate(size_of(&self.table, 0..place));
        self.table.truncate(place);
    }

    /// Appends at most `most` octets of ACKs to a response frame. The ACKs were ready when the eliciting PPDU `began`. Returns the
    /// number of ACKs, and the octets of those after the first `known`.
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

/// The octets of the descriptors in this range.
fn size_of(table: &VecDeque<Descriptor>, range: std::ops::Range<usize>) -> usize {
    table.range(range).map(|descriptor| usize::from(descriptor.size)).sum()
}
