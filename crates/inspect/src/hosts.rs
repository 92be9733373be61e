//! IPv4 identifications of hosts, over all packets that they send.
//!
//! Many hosts number their packets with one counter for all connections (Bellovin, *A Technique for
//! Counting NATted Hosts*, IMW 2002; Salutari, Cicalese, Rossi, *A Closer Look at IP-ID Behavior in
//! the Wild*, PAM 2018). Numbers that are missing in one connection then belong to other packets,
//! some of which may be in the capture.

use acklab_base::FlowKey;
use std::collections::{BTreeMap, VecDeque};

/// The maximum number of hosts that are stored. Above it, all are dropped.
const MAX_HOSTS: usize = 4096;
/// Packets of a host in which those between two packets of a connection are searched.
const MAX_RECENT: usize = 32;
/// The packets that a host has sent between two packets of one of its flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Between {
    pub(crate) packets: u32,
    /// Packets whose number the flow has skipped.
    pub(crate) skipped: u32,
}

/// The hosts of a capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    by_address: BTreeMap<[u8; 4], usize>,
    recent: Vec<VecDeque<(FlowKey, u16)>>,
    /// The host of the last packet, and of the one before, because packets arrive in trains.
    last: [Option<([u8; 4], usize)>; 2],
}

impl Hosts {
    /// Records a packet of `flow` that a host has sent. Returns the packets that it has sent since
    /// the previous packet of that flow.
    #[inline]
    pub(crate) fn packet(&mut self, source: [u8; 4], flow: FlowKey, identification: u16) -> Between {
        let place = self.place(source);
        let recent = &mut self.recent[place];
        let between = match recent.back() {
            Some((last, _)) if *last != flow => between(recent, flow, identification),
            _ => Between::default(),
        };
        if recent.len() == MAX_RECENT {
            recent.pop_front();
        }
        recent.push_back((flow, identification));
        between
    }

    #[inline]
    fn place(&mut self, source: [u8; 4]) -> usize {
        if let Some((_, place)) = self.last.iter().flatten().find(|(address, _)| *address == source) {
            return *place;
        }
        if self.recent.len() == MAX_HOSTS && !self.by_address.contains_key(&source) {
            *self = Self::default();
        }
        let next = self.recent.len();
        let place = *self.by_address.entry(source).or_insert(next);
        if place == next {
            self.recent.push(VecDeque::new());
        }
        self.last = [Some((source, place)), self.last[0]];
        place
    }
}

fn between(recent: &VecDeque<(FlowKey, u16)>, flow: FlowKey, identification: u16) -> Between {
    let Some(own) = recent.iter().rposition(|(one, _)| *one == flow) else { return Between::default() };
    let (_, before) = recent[own];
    let numbers = 1..identification.wrapping_sub(before);
    let skipped = recent.iter().skip(own + 1).filter(|(_, other)| numbers.contains(&other.wrapping_sub(before)));
    Between { packets: (recent.len() - own - 1) as u32, skipped: skipped.count() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: [u8; 4] = [192, 0, 2, 1];

    #[test]
    fn numbers_that_a_flow_skips_are_those_of_another() {
        let mut hosts = Hosts::default();
        hosts.packet(HOST, FlowKey(1), 100);
        hosts.packet(HOST, FlowKey(2), 101);
        hosts.packet([192, 0, 2, 2], FlowKey(3), 102);
        hosts.packet(HOST, FlowKey(2), 103);
        assert_eq!(hosts.packet(HOST, FlowKey(1), 104), Between { packets: 2, skipped: 2 });
        // The number of another counter.
        hosts.packet(HOST, FlowKey(2), 30_000);
        assert_eq!(hosts.packet(HOST, FlowKey(1), 106), Between { packets: 1, skipped: 0 });
    }

    #[test]
    fn memory_is_bounded() {
        let mut hosts = Hosts::default();
        for number in 0..3 * MAX_HOSTS as u32 {
            hosts.packet(number.to_be_bytes(), FlowKey(1), 5);
        }
        assert!(hosts.recent.len() <= MAX_HOSTS);
    }
}
