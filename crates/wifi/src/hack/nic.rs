//! The NIC's part of TCP/HACK: octets to append to the next response frame. Each ACK may be
//! appended from a certain instant on. The NIC does not parse TCP.

use acklab_base::{Bytes, Instant};
use acklab_wire::rohc::{self, Numbers};
use std::collections::VecDeque;

/// The descriptors for one peer, and their octets.
#[derive(Clone, Debug)]
pub(crate) struct Nic {
    numbers: Numbers,
    table: VecDeque<Descriptor>,
    octets: VecDeque<u8>,
}

/// One compressed ACK.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    /// The master sequence number (MSN) of the ACK, one more than the MSN of the previous ACK. The
    /// peer receives the number of the first ACK in a response frame.
    msn: u16,
    size: u16,
    /// The time at which the NIC received the descriptor.
    ready: Instant,
}

impl Nic {
    pub(crate) const fn new(numbers: Numbers) -> Self {
        Self { numbers, table: VecDeque::new(), octets: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, msn: u16, octets: &[u8], ready: Instant) {
        debug_assert!(self.table.back().is_none_or(|last| last.msn.wrapping_add(1) == msn), "{msn} does not follow");
        self.table.push_back(Descriptor { msn, size: octets.len() as u16, ready });
        self.octets.extend(octets);
    }

    /// Removes the first `count` descriptors, whose ACKs have arrived or were superseded.
    pub(crate) fn drop_first(&mut self, count: usize) {
        self.octets.drain(..size_of(&self.table, 0..count));
        self.table.drain(..count);
    }

    /// Removes all descriptors from index `place` on.
    pub(crate) fn truncate(&mut self, place: usize) {
        self.octets.truncate(size_of(&self.table, 0..place));
        self.table.truncate(place);
    }

    /// Appends at most `maximum` octets of ACKs to a response frame. The ACKs were ready when the
    /// eliciting PPDU `began`. Returns the number of appended ACKs, and the octets of the ACKs
    /// after the first `known` ACKs.
    pub(crate) fn append(
        &mut self,
        began: Instant,
        maximum: Option<Bytes>,
        known: usize,
        out: &mut Vec<u8>,
    ) -> (usize, usize) {
        let Some(first) = self.table.front() else { return (0, 0) };
        let room = maximum.map_or(usize::MAX, |maximum| maximum.get() as usize).saturating_sub(self.numbers.octets());
        let (mut count, mut size, mut fresh) = (0, 0, 0);
        for descriptor in &self.table {
            let octets = usize::from(descriptor.size);
            if descriptor.ready > began || size + octets > room {
                break;
            }
            fresh += if count < known { 0 } else { octets };
            (count, size) = (count + 1, size + octets);
        }
        rohc::write_frame(self.numbers, first.msn, &self.octets.make_contiguous()[..size], out);
        (count, fresh)
    }
}

/// Returns the octets of the descriptors in this range.
fn size_of(table: &VecDeque<Descriptor>, range: std::ops::Range<usize>) -> usize {
    table.range(range).map(|descriptor| usize::from(descriptor.size)).sum()
}
