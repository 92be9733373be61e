//! Copies of datagrams. A QUIC sender never sends the same datagram twice: each packet has a unique
//! number, which is part of its encryption (RFC 9000, §12.3; RFC 9001, §5).

use super::FAR;
use acklab_base::FlowKey;
use std::collections::VecDeque;

/// Datagrams that are searched for copies; *chosen*: copies at one point follow each other
/// immediately.
const MAX_RECENT: usize = 32;
/// Octets that are compared: those of the longest header (RFC 9000, §17.3.1), and seven encrypted
/// ones.
const HEAD: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Recent {
    at: u64,
    flow: FlowKey,
    identification: Option<u16>,
    length: usize,
    head: [u8; HEAD],
}

/// The last datagrams of a capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Datagrams {
    recent: VecDeque<Recent>,
}

impl Datagrams {
    /// Returns the time since the datagram of which this datagram is a copy, in nanoseconds. `head`
    /// is the captured part of its `length` octets.
    pub(crate) fn copy_of(
        &mut self,
        at: u64,
        flow: FlowKey,
        identification: Option<u16>,
        head: &[u8],
        length: usize,
    ) -> Option<u64> {
        let head = *head.first_chunk::<HEAD>()?;
        let is_copy = |recent: &&Recent| {
            (recent.flow, recent.identification, recent.length) == (flow, identification, length) && recent.head == head
        };
        let near = self.recent.iter().rev().take_while(|recent| at.saturating_sub(recent.at) <= FAR);
        if let Some(first) = near.into_iter().find(is_copy) {
            return Some(at.saturating_sub(first.at));
        }
        if self.recent.len() == MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Recent { at, flow, identification, length, head });
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_octets_are_the_same_datagram() {
        let mut datagrams = Datagrams::default();
        let mut copy_of =
            |at, flow, identification, octet| datagrams.copy_of(at, FlowKey(flow), identification, &[octet; 40], 1200);
        assert_eq!(copy_of(0, 1, Some(7), 5), None);
        assert_eq!(copy_of(3000, 1, Some(7), 5), Some(3000));
        // Datagrams of another flow, with another identification, with other octets, and much
        // later.
        assert_eq!(copy_of(4000, 2, Some(7), 5), None);
        assert_eq!(copy_of(4000, 1, Some(8), 5), None);
        assert_eq!(copy_of(4000, 1, Some(7), 6), None);
        assert_eq!(copy_of(FAR + 1, 1, Some(7), 5), None);
    }

    #[test]
    fn a_head_that_is_cut_off_is_inconclusive() {
        let mut datagrams = Datagrams::default();
        assert_eq!(datagrams.copy_of(0, FlowKey(1), None, &[0; 8], 1200), None);
        assert_eq!(datagrams.copy_of(1, FlowKey(1), None, &[0; 8], 1200), None);
    }
}
