//! Captures: the packets that pass a point of the network, or the air of a cell, in a pcapng file
//! for Wireshark.
//!
//! A file has one interface, named after its point; each point has its own file. Times have a
//! resolution of nanoseconds, and the start of the run is 1970-01-01T00:00:00Z. Each node has one
//! address, and each flow has a separate port
//! ([`Endpoints::of_nodes`](acklab_wire::Endpoints::of_nodes)). The file contains the names of the
//! nodes.
//!
//! Payload consists of zeros. [`Extent::Headers`] therefore omits it, except for the header of
//! UDP's test traffic. A packet keeps its length field and its checksums, and takes at most 112
//! octets of the file. tshark reports that it then cannot verify the TCP and UDP checksums of
//! packets with payload. Encrypted datagrams are written completely. The TLS secrets of their
//! connection are written before them in a Decryption Secrets Block, so that Wireshark can decrypt
//! them.
//!
//! A real socket provides datagrams without IP and UDP headers. [`Capture::record_datagram`] adds
//! these headers to recorded datagrams.
//!
//! The IPv4 identification of a packet is the number of earlier packets of its flow at this point.
//! It distinguishes a retransmission from the original, but does not identify a packet across the
//! captures of different points.

pub mod air;
mod file;

pub use air::AirCapture;
pub use pcap_file::DataLink;

use crate::observed::Observed;
use acklab_base::{Ecn, FlowKey, Instant};
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::pdu::EncodeError;
use acklab_wire::udp;
use file::{CaptureFile, Interface};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A datagram of a UDP socket, as the socket sends or receives it.
#[derive(Clone, Copy, Debug)]
pub struct SocketDatagram<'a> {
    /// The address of the sending socket.
    pub source: SocketAddr,
    /// The address of the receiving socket.
    pub destination: SocketAddr,
    /// The ECN field of its packet.
    pub ecn: Ecn,
    /// The octets that the socket sends or receives.
    pub payload: &'a [u8],
    /// The TLS secrets that decrypt the payload, if known: lines in the format of `SSLKEYLOGFILE`
    /// (RFC 9850).
    pub secrets: Option<&'a Arc<str>>,
}

/// The reasons why a capture cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be created.
    #[error("cannot create the capture {}: {source}", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Writing to the file failed.
    #[error("cannot write the capture {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A protocol data unit cannot be encoded as a packet.
    #[error("cannot record a packet in the capture {}: {source}", path.display())]
    Packet {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: EncodeError,
    },
}

/// A capture of packets that is being written.
///
/// The file is complete only after [`finish`](Self::finish) has returned `Ok`. If the capture is
/// dropped without this call, errors are ignored.
pub struct Capture {
    file: CaptureFile,
    extent: Extent,
    octets: Vec<u8>,
    identification: BTreeMap<FlowKey, u16>,
    /// The next IP identification of datagrams between two sockets, by source and destination.
    sockets: BTreeMap<[SocketAddr; 2], u16>,
}

impl Capture {
    /// Creates or replaces the file `path` for a capture of `point`.
    ///
    /// `title`, if any, becomes the comment of the file. `extent` sets how much of each packet is
    /// written.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(path: &Path, point: &str, title: Option<&str>, extent: Extent) -> Result<Self, Error> {
        Self::create_for(DataLink::IPV4, path, point, title, extent)
    }

    /// Creates or replaces the file `path` for a capture of the datagrams of the UDP socket called
    /// `socket`, of IPv4 or IPv6.
    ///
    /// `title`, if any, becomes the comment of the file.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create_for_socket(path: &Path, socket: &str, title: Option<&str>) -> Result<Self, Error> {
        Self::create_for(DataLink::RAW, path, socket, title, Extent::Whole)
    }

    /// Like [`create`](Self::create), for packets with this link type.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create_for(
        link_type: DataLink,
        path: &Path,
        point: &str,
        title: Option<&str>,
        extent: Extent,
    ) -> Result<Self, Error> {
        // Datagrams of QUIC are written completely, and extension headers of IPv6 may have any
        // length.
        let interface = Interface { name: point, link_type, most_octets: u16::MAX.into() };
        Ok(Self {
            file: CaptureFile::create(path, title, &interface)?,
            extent,
            octets: Vec::new(),
            identification: BTreeMap::new(),
            sockets: BTreeMap::new(),
        })
    }

    /// Records the names of the hosts with these addresses.
    ///
    /// # Errors
    /// If writing fails.
    pub fn name_hosts(&mut self, hosts: &[(IpAddr, String)]) -> Result<(), Error> {
        self.file.name_hosts(hosts)
    }

    /// Records that `packet` passes the point at `now`.
    ///
    /// # Errors
    /// If the packet cannot be encoded (the capture is then unchanged), or if writing fails (the
    /// capture is then unusable).
    pub fn record(&mut self, now: Instant, packet: &impl Observed) -> Result<(), Error> {
        let identification = self.identification.entry(packet.flow()).or_default();
        packet
            .encode(*identification, self.extent, &mut self.octets)
            .map_err(|source| self.file.packet_error(source))?;
        *identification = identification.wrapping_add(1);
        if let Some(secrets) = packet.secrets() {
            self.file.reveal(secrets)?;
        }
        self.file.write(now, &self.octets, packet.wire_len().get() as u32)
    }

    /// Records that a UDP socket sends or receives `datagram` at `now`.
    ///
    /// # Errors
    /// If the datagram is longer than an IP packet may be (the capture is then unchanged), or if
    /// writing fails (the capture is then unusable).
    pub fn record_datagram(&mut self, now: Instant, datagram: &SocketDatagram<'_>) -> Result<(), Error> {
        let SocketDatagram { source, destination, ecn, payload, secrets } = *datagram;
        let identification = self.sockets.entry([source, destination]).or_default();
        let fields = Ipv4Fields { identification: *identification, ..Ipv4Fields::default() };
        let encoded = udp::encode_between([source, destination], ecn, payload, fields, &mut self.octets);
        encoded.map_err(|source| self.file.packet_error(source.into()))?;
        *identification = identification.wrapping_add(1);
        if let Some(secrets) = secrets {
            self.file.reveal(secrets)?;
        }
        self.file.write(now, &self.octets, self.octets.len() as u32)
    }

    /// Writes all buffered records to the file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> Result<(), Error> {
        self.file.finish()
    }
}
