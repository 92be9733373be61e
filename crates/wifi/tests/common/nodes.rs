//! Networks that consist of a cell.

#![allow(unreachable_pub, reason = "others pass it on")]

use acklab_base::NodeId;
use acklab_wifi::{Cell, Packet};

/// Attaches each node of the cell to the node of the network with the same number.
pub fn attach_nodes<D: Packet>(cell: &mut Cell<D>) {
    for node in 0..cell.counters().len() {
        cell.attach(NodeId(node as u32), node);
    }
}
