//! Reports the largest packet of the path to observers.

use crate::mtu::Search;
use acklab_base::Event;
use acklab_wire::tack::BELOW;

/// Returns the event that reports the size of datagrams, after a possible change by the search.
pub(super) const fn datagram_size(search: &Search) -> Event {
    Event::DatagramSize { octets: search.size() - BELOW }
}
