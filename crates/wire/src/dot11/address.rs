//! MAC addresses of simulated stations.

use std::fmt;

/// An address of a station (9.2.4.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

/// The first octet of an individual address that is locally administered (IEEE Std 802-2014, 8.4).
const LOCAL: u8 = 0x02;

impl MacAddress {
    /// All stations.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Returns the address of the node with this index: 02:00:00:00:00:01 for index 0, and so on.
    #[must_use]
    pub const fn of_node(index: u32) -> Self {
        let octets = (index as u64 + 1).to_be_bytes();
        Self([LOCAL, octets[3], octets[4], octets[5], octets[6], octets[7]])
    }

    /// Returns the index that [`of_node`](Self::of_node) maps to this address, or `None` if no
    /// index does.
    #[must_use]
    pub fn node(self) -> Option<u32> {
        let [first, b, c, d, e, f] = self.0;
        let number = u64::from_be_bytes([0, 0, 0, b, c, d, e, f]);
        (first == LOCAL).then(|| u32::try_from(number.checked_sub(1)?).ok())?
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_found_by_its_address() {
        assert_eq!(MacAddress::of_node(0).to_string(), "02:00:00:00:00:01");
        assert_eq!(MacAddress::of_node(255).to_string(), "02:00:00:00:01:00");
        for index in [0, 1, 254, 255, 65_535, u32::MAX] {
            assert_eq!(MacAddress::of_node(index).node(), Some(index));
        }
    }

    #[test]
    fn other_addresses_are_no_node() {
        for octets in [[2, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1], [0xff; 6], [2, 1, 0, 0, 0, 1]] {
            assert_eq!(MacAddress(octets).node(), None, "{octets:?}");
        }
    }
}
