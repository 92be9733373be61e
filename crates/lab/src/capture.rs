//! Captures: what passed a point of the path, or the air of a cell, as a pcapng file that Wireshark opens.
//!
//! A file holds one interface, named after its point; another point has a file of its own. Times have nanoseconds, and the
//! start of the run is 1970-01-01T00:00:00Z. Addresses and ports are those of
//! [`Endpoints::of_connection`](acklab_wire::Endpoints::of_connection).
//!
//! Payload is zeros, so [`Extent::Headers`] leaves it out but for the header of UDP's test traffic: a packet keeps its length and its
//! checksums, and takes at most 112 octets of the file. tshark then cannot verify the TCP and UDP checksums of packets with payload,
//! and says so.
//!
//! The identification of a packet counts the packets of its direction at this point. It tells a retransmission from its
//! original, but does not find a packet again in the capture of another point.

pub mod air;
mod file;

pub use air::AirCapture;

use crate::packet::Packet;
use acklab_base::{Datagram, FlowKey, Instant};
use acklab_wire::ipv4::Extent;
use acklab_wire::pdu::EncodeError;
use file::{CaptureFile, Interface};
use pcap_file::DataLink;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Why a capture is not written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There can be no such file.
    #[error("cannot create the capture {}: {source}", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file does not take what is written to it.
    #[error("cannot write the capture {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// What a transport sends cannot be a packet.
    #[error("cannot record a packet in the capture {}: {source}", path.display())]
    Packet {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: EncodeError,
    },
}

/// A capture of packets that is being written.
///
/// What was recorded is safe once [`finish`](Self::finish) has said so. A capture that is dropped before is closed as well
/// as may be.
pub struct Capture {
    file: CaptureFile,
    extent: Extent,
    octets: Vec<u8>,
    identification: BTreeMap<FlowKey, u16>,
}

impl Capture {
    /// Start the capture of `point` in the file `path`, which is made anew.
    ///
    /// The scenario's `title`, if it has one, becomes the comment of the file. `extent` tells how much of each packet is kept.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path, point: &str, title: Option<&str>, extent: Extent) -> Result<Self, Error> {
        let most_octets = match extent {
            Extent::Headers => 80,
            Extent::Whole => u32::from(u16::MAX),
        };
        let interface = Interface { name: point, link_type: DataLink::IPV4, most_octets };
        Ok(Self {
            file: CaptureFile::create(path, title, &interface)?,
            extent,
            octets: Vec::new(),
            identification: BTreeMap::new(),
        })
    }

    /// Record that `packet` passes the point at `now`.
    ///
    /// # Errors
    /// If it does not fit a packet, which leaves the capture as it was, or the file takes no more, after which it is of
    /// no use.
    pub fn record(&mut self, now: Instant, packet: &Packet) -> Result<(), Error> {
        let identification = self.identification.entry(packet.flow()).or_default();
        packet
            .encode(*identification, self.extent, &mut self.octets)
            .map_err(|source| self.file.packet_error(source))?;
        *identification = identification.wrapping_add(1);
        self.file.write(now, &self.octets, packet.wire_len().get() as u32)
    }

    /// Hand to the system all that was recorded.
    ///
    /// # Errors
    /// If the file does not take it.
    pub fn finish(self) -> Result<(), Error> {
        self.file.finish()
    }
}
