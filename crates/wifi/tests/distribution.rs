//! The node at which packets leave a cell, and packets without a route.

use crate::common::packet::{Packet, attach_nodes, place_of};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Instant, Machine, NodeId};
use acklab_wifi::access::Category;
use acklab_wifi::{Cell, CellConfig};
use serde_json::json;

/// Returns an access point and two stations, which are the nodes 0 to 2 of the network.
fn cell() -> Cell<Packet> {
    let settings =
        json!({"name": "cell", "standard": "802.11n", "ap": {"name": "ap"}, "station": [{"name": "sta", "count": 2}]});
    let config: CellConfig = serde_json::from_value(settings).unwrap_or_else(|error| panic!("{error}"));
    let mut cell = Cell::new(&config, Seed(1)).unwrap_or_else(|error| panic!("{error}"));
    attach_nodes(&mut cell);
    cell
}

fn packet_to(to: usize, category: Category) -> Packet {
    Packet { flow: 7, to, category, size: Bytes(1_000), number: 0 }
}

/// Returns the nodes at which the packets in the cell leave it.
fn exits(cell: &mut Cell<Packet>) -> Vec<usize> {
    let mut exits = Vec::new();
    while let Some(now) = cell.deadline() {
        cell.wake(now);
        exits.extend(std::iter::from_fn(|| cell.poll(now)).map(|(node, _)| node));
    }
    exits
}

#[test]
fn a_packet_leaves_where_its_destination_is_attached() {
    let mut cell = cell();
    // A host behind the access point, and a host behind the second station.
    cell.attach(NodeId(8), 0);
    cell.attach(NodeId(9), 2);
    for (enters, to, leaves) in [(0, 1, 1), (1, 8, 0), (0, 9, 2), (1, 9, 2), (2, 1, 1)] {
        // No queue was created in advance for these categories.
        for category in [Category::BestEffort, Category::Voice] {
            cell.accept(Instant::ZERO, (enters, packet_to(to, category)));
            assert_eq!(exits(&mut cell), [leaves], "from {enters} to {to}");
        }
    }
    assert_eq!((cell.unplaced(), cell.take_drop()), (0, None));
}

#[test]
fn a_packet_without_a_route_is_counted_and_reported_as_dropped() {
    let mut cell = cell();
    // To a node that is not attached, to one without an address, and to the node where the packet
    // already is.
    for to in [5, NodeId::NOWHERE.index(), 1] {
        cell.accept(Instant::ZERO, (1, packet_to(to, Category::BestEffort)));
        assert_eq!((cell.take_drop().map(place_of), cell.take_drop()), (Some(7), None));
    }
    assert_eq!((exits(&mut cell), cell.unplaced()), (Vec::new(), 3));
}
