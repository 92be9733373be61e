//! Context identifiers.

use crate::Endpoints;
use etherparse::IpNumber;
use md5::{Digest, Md5};
use std::fmt;

/// Names a context: in ROHC a small CID (RFC 5795, §5.2.1), 0 to 15; in TCP/HACK any octet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cid(pub u8);

impl Cid {
    /// How many small CIDs there are.
    pub const SMALL: u8 = 16;

    /// The one that both ends of TCP/HACK compute on their own (Salameh et al., ATC '14, §3.3.2): the lowest octet of the
    /// MD5 hash (RFC 1321) of the five-tuple. The paper does not say in which order: here as the headers have it,
    /// protocol first, then the addresses, then the ports.
    ///
    /// Two connections in some of 256 share a CID; the first one keeps it, and the other goes uncompressed.
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

/// Contexts by their CIDs.
#[derive(Clone, Debug)]
pub(super) struct Contexts<T>(Vec<Option<Box<T>>>);

impl<T> Contexts<T> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn get(&mut self, cid: Cid) -> Option<&mut T> {
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
