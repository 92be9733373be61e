//! The largest packet of the path, in the terms of those who observe the connection.

use crate::mtu::Search;
use acklab_base::Event;
use acklab_wire::tack::BELOW;

/// The search may have changed the size of packets: the event that tells the size of datagrams.
pub(super) const fn datagram_size(search: &Search) -> Event {
    Event::DatagramSize { octets: search.size() - BELOW }
}
