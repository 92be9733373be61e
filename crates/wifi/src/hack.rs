//! TCP/HACK: TCP ACKs inside the acknowledgments of the link (Salameh, Zhushi, Handley, Jamieson
//! and Karp: HACK: Hierarchical ACKs for Efficient Wireless Medium Utilization, USENIX ATC '14).
//!
//! Two nodes that exchange frames of a traffic class have an [`End`] for each direction: the state
//! of the node that sends ACKs and of the node that receives them. The sender is split as in the
//! paper (§3.3.1): the driver handles TCP, and the NIC appends opaque octets within SIFS.
//!
//! | module | holds |
//! |---|---|
//! | `config` | the settings of a scenario |
//! | `driver` | which ACKs are held for a response frame, how long they are retained, when they are sent uncompressed |
//! | `nic` | the descriptors, and the octets that are appended to a response frame |
//! | `counters` | the counters of a node |

pub mod config;
pub mod counters;
pub(crate) mod driver;
pub(crate) mod nic;

pub use config::{HackConfig, Variant};
pub use counters::Counters;

use crate::originator::Mpdu;
use crate::packet::Packet;
use acklab_wire::rohc::{Decompressor, Numbers};
use driver::Driver;

/// The state of compressed ACKs from one node to another in one traffic class.
#[derive(Clone, Debug)]
pub(crate) struct End<D> {
    /// The state of the node that sends ACKs.
    pub(crate) driver: Driver<D>,
    /// The octets appended to the response frame on the air.
    pub(crate) appended: Vec<u8>,
    /// `true` if the hold timer runs.
    pub(crate) is_timed: bool,
    /// The state of the node that receives ACKs.
    pub(crate) decompressor: Decompressor,
}

impl<D: Packet> End<D> {
    /// Returns an end that uses a Block ACK window of `window` frames.
    pub(crate) fn new(config: HackConfig, window: u16) -> Self {
        let numbers = Numbers::of_window(window);
        Self {
            driver: Driver::new(config, numbers),
            appended: Vec::new(),
            is_timed: false,
            decompressor: Decompressor::new(config.compression(numbers)),
        }
    }

    /// Processes a packet that arrived in a data frame. An uncompressed ACK establishes or
    /// refreshes the context of its flow.
    pub(crate) fn receives_plain(&mut self, packet: &D) {
        if let Some(ack) = packet.ack() {
            self.decompressor.observe(&ack);
        }
    }

    /// Records that the frame has left the transmit window: the sender has received an
    /// acknowledgment of the packets, or has given up the frame.
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
