//! Context identifiers.

use crate::Endpoints;
use etherparse::IpNumber;
use md5::{Digest, Md5};
use std::fmt;

/// A context identifier: a small CID from 0 to 15 in ROHC (RFC 5795, §5.2.1), any octet in
/// TCP/HACK.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cid(pub u8);

impl Cid {
    /// The number of small CIDs.
    pub const SMALL: u8 = 16;

    /// Returns the CID that both ends of TCP/HACK compute (Salameh et al., ATC '14, §3.3.2): the
    /// last octet of the MD5 hash (RFC 1321) of the five-tuple. The paper does not give the order
    /// of its fields; here, the order is protocol, addresses, ports, as in the headers.
    ///
    /// Two connections may have the same CID. The first connection keeps the CID. The ACKs of the
    /// other connection are not compressed.
    #[must_use]
    pub fn of(endpoints: Endpoints) -> Self {
        let (from, to) = (endpoints.source, endpoints.destination);
        let hash = Md5::new()
            .chain_update([IpNumber::TCP.0])
            .chain_update(from.ip().octets())
            .chain_update(to.ip().octets())
            .chain_update(from.port().to_be_bytes())
            .chain_update(to.port().to_be_bytes())
            .finalize();
        Self(hash[15])
    }
}

impl fmt::Display for Cid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CID {}", self.0)
    }
}

impl fmt::Debug for Cid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A flow is assumed to have ended after this number of headers of other flows: four rounds of as
/// many flows as there are CIDs. If an active flow is assumed to have ended, it costs an IR. Each
/// header of a new flow that waits for a CID also costs an IR.
const QUIET: u64 = 4 * Cid::SMALL as u64;

/// The assignment of the small CIDs to flows, which may outnumber the CIDs.
///
/// A new flow evicts an ended one. If no flow has ended, new flows evict one another until one of
/// them sends a second header: insertion in the LRU position (Qureshi, Jaleel, Patt, Steely and
/// Emer: Adaptive Insertion Policies for High Performance Caching, ISCA '07, §4.1). If seventeen
/// flows send headers in turn, two of them share one CID. Evicting the least recently used flow
/// would always evict the flow that sends next, so that every header is an IR.
#[derive(Clone, Debug)]
pub(super) struct SmallCids {
    /// The number of headers that have been compressed.
    clock: u64,
    /// For each CID, the value of `clock` when its flow sent its last header. `None` if the CID is
    /// free.
    used: [Option<u64>; Cid::SMALL as usize],
    /// The CID that new flows share, while none of these flows has sent a second header.
    shared: Option<Cid>,
    /// The last MSN of each CID. A new flow continues from it (RFC 6846, §6.1.1), so that its IR is
    /// not mistaken for a duplicate.
    last_msns: [u16; Cid::SMALL as usize],
}

impl SmallCids {
    /// Returns a table in which all CIDs are free, and the first MSN is zero.
    pub(super) const fn new() -> Self {
        let (used, last_msns) = ([None; Cid::SMALL as usize], [u16::MAX; Cid::SMALL as usize]);
        Self { clock: 0, used, shared: None, last_msns }
    }

    /// Records that the flow with this CID sends a header.
    pub(super) fn hit(&mut self, cid: Cid) {
        self.clock += 1;
        self.used[usize::from(cid.0)] = Some(self.clock);
        self.shared = self.shared.filter(|shared| *shared != cid);
    }

    /// Assigns a CID to a new flow, which sends a header: a free CID, or the CID of an evicted
    /// flow.
    pub(super) fn assign(&mut self) -> Cid {
        self.clock += 1;
        let last_use = |cid: &Cid| self.used[usize::from(cid.0)];
        let oldest = (0..Cid::SMALL).map(Cid).min_by_key(last_use).unwrap_or_default();
        let has_ended = last_use(&oldest).is_none_or(|used| self.clock - used > QUIET);
        let cid = if has_ended { oldest } else { *self.shared.get_or_insert(oldest) };
        self.used[usize::from(cid.0)] = Some(self.clock);
        cid
    }

    /// Stores the last MSN of a flow that has lost its CID. Ignores the CIDs of TCP/HACK.
    pub(super) fn note_last_msn(&mut self, cid: Cid, msn: u16) {
        if let Some(last) = self.last_msns.get_mut(usize::from(cid.0)) {
            *last = msn;
        }
    }

    /// Frees the CID of a flow that has ended. Ignores the CIDs of TCP/HACK.
    pub(super) fn free(&mut self, cid: Cid) {
        if let Some(used) = self.used.get_mut(usize::from(cid.0)) {
            *used = None;
        }
        self.shared = self.shared.filter(|shared| *shared != cid);
    }

    /// Returns the last MSN that was sent with this CID.
    pub(super) fn last_msn(&self, cid: Cid) -> u16 {
        self.last_msns[usize::from(cid.0)]
    }
}

/// Contexts by their CIDs.
#[derive(Clone, Debug)]
pub(super) struct Contexts<T>(Vec<Option<Box<T>>>);

impl<T> Contexts<T> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn get(&self, cid: Cid) -> Option<&T> {
        self.0.get(usize::from(cid.0))?.as_deref()
    }

    pub(super) fn get_mut(&mut self, cid: Cid) -> Option<&mut T> {
        self.0.get_mut(usize::from(cid.0))?.as_deref_mut()
    }

    pub(super) fn set(&mut self, cid: Cid, context: T) -> &mut T {
        let place = usize::from(cid.0);
        if self.0.len() <= place {
            self.0.resize_with(place + 1, || None);
        }
        self.0[place].insert(Box::new(context))
    }

    pub(super) fn remove(&mut self, cid: Cid) {
        if let Some(place) = self.0.get_mut(usize::from(cid.0)) {
            *place = None;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Cid, &T)> {
        self.0.iter().enumerate().filter_map(|(place, context)| Some((Cid(place as u8), context.as_deref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_five_tuple() {
        // printf '\006\012\200\000\001\012\000\000\001\000\011\300\000' | md5sum
        assert_eq!(Cid::of(Endpoints::of_connection(0).reverse()), Cid(0x8d));
    }
}
