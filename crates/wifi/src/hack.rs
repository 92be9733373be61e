//! TCP/HACK: TCP's ACKs inside the acknowledgements of the link (Salameh, Zhushi, Handley, Jamieson and Karp: HACK: Hierarchical
//! ACKs for Efficient Wireless Medium Utilization, USENIX ATC '14).
//!
//! Two nodes that exchange frames of a traffic class have an [`End`] each way: who sends ACKs that way, and who receives them. The
//! sender is split as in the paper (§3.3.1): the driver knows TCP, the NIC appends opaque octets within SIFS.
//!
//! | module | holds |
//! |---|---|
//! | `config` | what a scenario says |
//! | `driver` | which ACKs wait for an answer, until when they are kept, when they go as they are |
//! | `nic` | the table of descriptors, and what of it goes on an answer |
//! | `counters` | what a node has done |

pub mod config;
pub mod counters;
pub(crate) mod driver;
pub(crate) mod nic;

pub use config::{Config, Variant};
pub use counters::Counters;

use crate::originator::Mpdu;
use crate::packet::Packet;
use acklab_wire::rohc::Decompressor;
use driver::Driver;

/// ACKs from one node to another in one traffic class.
#[derive(Clone, Debug)]
pub(crate) struct End<D> {
    /// Of the node that sends ACKs.
    pub(crate) driver: Driver<D>,
    /// The octets on the answer that is on the air.
    pub(crate) appended: Vec<u8>,
    /// Somebody watches how long ACKs wait.
    pub(crate) is_timed: bool,
    /// Of the node that receives them.
    pub(crate) decompressor: Decompressor,
}

impl<D: Packet> End<D> {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            driver: Driver::new(config),
            appended: Vec::new(),
            is_timed: false,
            decompressor: Decompressor::new(config.compression()),
        }
    }

    /// A packet has come in a frame of its own. An ACK begins or refreshes the context of its flow.
    pub(crate) fn receives_plain(&mut self, packet: &D) {
        if let Some(ack) = packet.ack() {
            self.decompressor.observe(&ack);
        }
    }

    /// The packets of this frame have come so, as their sender now knows, or it has given them up and will never know.
    pub(crate) fn leaves_window(&mut self, frame: &Mpdu<D>) {
        for ack in frame.packets.as_slice().iter().filter_map(Packet::ack) {
            if frame.is_given_up {
                self.driver.lost(ack.endpoints);
            } else {
                self.driver.arrived(&ack);
            }
        }
    }
}
