//! Counts of packets that cannot be opened.

use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The maximum number of names that are counted separately. Chosen: a file of random octets has
/// thousands of EtherTypes.
const MAX_NAMES: usize = 200;
/// The name of the protocols beyond [`MAX_NAMES`].
const FURTHER: &str = "further protocols";
/// Fragments of incomplete datagrams.
const INCOMPLETE: &str = "incomplete IP fragments";

/// The reasons why no connection is found behind a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Closed {
    /// The protocol is not decoded.
    Protocol(Cow<'static, str>),
    /// The snap length of the capture cut off this header.
    Cut(&'static str),
    /// This header contradicts itself, or the frame ends within it.
    Damaged(&'static str),
}

impl Closed {
    pub(super) const fn protocol(name: &'static str) -> Self {
        Self::Protocol(Cow::Borrowed(name))
    }
}

/// Packets without a connection, by the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unopened {
    /// Packets by the innermost protocol that is not decoded.
    pub closed: BTreeMap<Cow<'static, str>, u64>,
    /// Packets by the header that the snap length cut off. Packets with truncated TCP options are
    /// followed nevertheless.
    pub cut: BTreeMap<&'static str, u64>,
    /// Packets by the header that contradicts itself, or within which the frame ends.
    pub damaged: BTreeMap<&'static str, u64>,
    /// Retransmissions of 802.11 frames.
    pub retried: u64,
    /// Packets that are not followed, because a header is damaged or truncated.
    #[serde(skip)]
    pub(crate) unreadable: u64,
}

impl Unopened {
    #[cold]
    pub(super) fn count(&mut self, closed: Closed) {
        match closed {
            Closed::Protocol(name) => self.count_protocol(name, 1),
            Closed::Cut(name) => {
                self.unreadable += 1;
                *self.cut.entry(name).or_default() += 1;
            }
            Closed::Damaged(name) => {
                self.unreadable += 1;
                *self.damaged.entry(name).or_default() += 1;
            }
        }
    }

    /// Reverts the count of packets of a protocol.
    pub(super) fn withdraw(&mut self, closed: Closed, count: u64) {
        let Closed::Protocol(name) = closed else { return };
        let name = if self.closed.contains_key(&name) { name } else { FURTHER.into() };
        if let Some(counted) = self.closed.get_mut(&name) {
            *counted = counted.saturating_sub(count);
        }
        self.closed.retain(|_, count| *count > 0);
    }

    /// Counts a packet that is followed without its TCP options.
    pub(super) fn cut_options(&mut self) {
        *self.cut.entry("TCP options").or_default() += 1;
    }

    /// Counts fragments of datagrams that stay incomplete.
    pub(super) fn incomplete_fragments(&mut self, count: u64) {
        if count > 0 {
            self.count_protocol(INCOMPLETE.into(), count);
        }
    }

    fn count_protocol(&mut self, name: Cow<'static, str>, count: u64) {
        let is_known = self.closed.len() < MAX_NAMES || self.closed.contains_key(&name);
        *self.closed.entry(if is_known { name } else { FURTHER.into() }).or_default() += count;
    }

    /// Packets of protocols that are not decoded.
    pub(crate) fn others(&self) -> u64 {
        self.closed.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_names_is_bounded_and_no_packet_is_lost() {
        let mut unopened = Unopened::default();
        for number in 0..1000 {
            unopened.count(Closed::Protocol(format!("EtherType {number}").into()));
            unopened.count(Closed::protocol("ARP"));
        }
        assert_eq!(unopened.closed.len(), MAX_NAMES + 1);
        assert_eq!(unopened.closed["ARP"], 1000);
        assert_eq!(unopened.others(), 2000);
    }

    #[test]
    fn packets_of_a_connection_after_all_are_taken_back() {
        let mut unopened = Unopened::default();
        (0..3).for_each(|_| unopened.count(Closed::protocol("UDP")));
        unopened.withdraw(Closed::protocol("UDP"), 2);
        assert_eq!(unopened.closed["UDP"], 1);
        unopened.withdraw(Closed::protocol("UDP"), 1);
        assert!(unopened.closed.is_empty());
    }

    #[test]
    fn headers_that_cannot_be_read_are_counted_by_name() {
        let mut unopened = Unopened::default();
        unopened.count(Closed::Cut("TCP"));
        unopened.count(Closed::Damaged("IPv4"));
        unopened.cut_options();
        assert_eq!(unopened.unreadable, 2);
        assert_eq!(unopened.cut, [("TCP", 1), ("TCP options", 1)].into());
        assert_eq!(unopened.damaged, [("IPv4", 1)].into());
    }
}
