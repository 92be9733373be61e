//! What the NIC knows of TCP/HACK: octets that go on the next answer, each from an instant on. It has no part in TCP.

use acklab_base::{Bytes, Instant};
use acklab_wire::rohc::{self, FRAME_HEADER, Octets};
use std::collections::VecDeque;

/// The descriptors for one peer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nic {
    table: VecDeque<Descriptor>,
}

/// One compressed ACK.
#[derive(Clone, Debug)]
struct Descriptor {
    /// Its number, which tells the peer the first of an answer.
    msn: u16,
    octets: Octets,
    /// When it is with the NIC.
    ready: Instant,
}

impl Nic {
    pub(crate) fn push(&mut self, msn: u16, octets: Octets, ready: Instant) {
        self.table.push_back(Descriptor { msn, octets, ready });
    }

    /// The first `count` have arrived, or are not wanted any more.
    pub(crate) fn drop_first(&mut self, count: usize) {
        self.table.drain(..count);
    }

    /// Those from the one at `place` on are not wanted.
    pub(crate) fn truncate(&mut self, place: usize) {
        self.table.truncate(place);
    }

    /// Appends to an answer what was ready when the PPDU began that it answers, as far as `most` octets go. Tells how many ACKs, and
    /// the octets of those behind the first `known`.
    pub(crate) fn append(
        &self,
        began: Instant,
        most: Option<Bytes>,
        known: usize,
        out: &mut Vec<u8>,
    ) -> (usize, usize) {
        let mut left = most.map_or(usize::MAX, |most| most.get() as usize).saturating_sub(FRAME_HEADER);
        let fits = |descriptor: &&Descriptor| {
            let size = descriptor.octets.len();
            let fits = descriptor.ready <= began && size <= left;
            left = left.saturating_sub(size);
            fits
        };
        let count = self.table.iter().take_while(fits).count();
        rohc::write_frame(self.table.iter().take(count).map(|one| (one.msn, one.octets.as_slice())), out);
        (count, self.table.iter().take(count).skip(known).map(|one| one.octets.len()).sum())
    }
}
