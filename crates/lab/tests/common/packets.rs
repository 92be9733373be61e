//! Packets of the first connection of a run.

use acklab_base::{Instant, NodeId};
use acklab_lab::packet::{Packet, Route};
use acklab_wire::Endpoints;
use acklab_wire::pdu::Pdu;

/// Returns a packet from the client (node 0) to the server (node 1), or in the other direction.
pub(crate) fn packet<P: Pdu + Clone>(pdu: P, is_from_client: bool, born: Instant) -> Packet {
    let client = Endpoints::of_connection(0);
    let (endpoints, to) = if is_from_client { (client, NodeId(1)) } else { (client.reverse(), NodeId(0)) };
    let route = Route::new(pdu.protocol(), endpoints, to);
    Packet::new(pdu, route, born)
}
