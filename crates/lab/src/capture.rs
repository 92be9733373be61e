//! Captures: what passed a point of the path, as a pcapng file that Wireshark opens.
//!
//! A file holds one interface, named after its point; another point has a file of its own. Times have nanoseconds, and the
//! start of the run is 1970-01-01T00:00:00Z. Addresses and ports are those of [`Endpoints::of`].
//!
//! Payload is zeros, so [`Extent::Headers`] leaves it out but for the header of UDP's test traffic: a packet keeps its length and its
//! checksums, and takes at most 112 octets of the file. tshark then cannot verify the TCP and UDP checksums of packets with payload,
//! and says so.
//!
//! The identification of a packet counts the packets of its direction at this point. It tells a retransmission from its
//! original, but does not find a packet again in the capture of another point.

use acklab_base::{Datagram, FlowId, Instant};
use acklab_wire::ipv4::Extent;
use acklab_wire::pdu::EncodeError;
use acklab_wire::{Endpoints, Pdu};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgWriteError, PcapNgWriter};
use pcap_file::{DataLink, Endianness};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What wrote the file, in its section header.
const APPLICATION: &str = concat!("acklab ", env!("CARGO_PKG_VERSION"));
/// Octets that are gathered before they go to the file.
const BUFFER: usize = 1 << 16;

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

/// A capture that is being written.
///
/// What was recorded is safe once [`finish`](Self::finish) has said so. A capture that is dropped before is closed as well
/// as may be.
pub struct Capture {
    writer: PcapNgWriter<BufWriter<File>>,
    path: PathBuf,
    extent: Extent,
    octets: Vec<u8>,
    identification: BTreeMap<FlowId, u16>,
}

impl Capture {
    /// Start the capture of `point` in the file `path`, which is made anew.
    ///
    /// The scenario's `title`, if it has one, becomes the comment of the file. `extent` tells how much of each packet is kept.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path, point: &str, title: Option<&str>, extent: Extent) -> Result<Self, Error> {
        let error = |source| Error::Create { path: path.to_owned(), source };
        let file = File::create(path).map_err(error)?;
        let writer = start(BufWriter::with_capacity(BUFFER, file), point, title, extent);
        Ok(Self {
            writer: writer.map_err(|refused| error(reason(refused)))?,
            path: path.to_owned(),
            extent,
            octets: Vec::new(),
            identification: BTreeMap::new(),
        })
    }

    /// Record that `pdu` passes the point at `now`.
    ///
    /// # Errors
    /// If it does not fit a packet, which leaves the capture as it was, or the file takes no more, after which it is of
    /// no use.
    pub fn record(&mut self, now: Instant, pdu: &Pdu) -> Result<(), Error> {
        let flow = pdu.flow();
        let identification = self.identification.entry(flow).or_default();
        pdu.encode(Endpoints::of(flow), *identification, self.extent, &mut self.octets)
            .map_err(|source| Error::Packet { path: self.path.clone(), source })?;
        *identification = identification.wrapping_add(1);
        let packet = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(now.as_nanos()),
            original_len: pdu.wire_len().get() as u32,
            data: Cow::Borrowed(&self.octets),
            options: Vec::new(),
        };
        self.writer.write_pcapng_block(packet).map_err(|refused| self.write_error(reason(refused)))?;
        Ok(())
    }

    /// Hand to the system all that was recorded.
    ///
    /// # Errors
    /// If the file does not take it.
    pub fn finish(mut self) -> Result<(), Error> {
        self.writer.get_mut().flush().map_err(|source| self.write_error(source))
    }

    fn write_error(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }
}

/// Write what comes before the packets. The octets are the same on every machine, so they do not follow its endianness.
fn start<W: Write>(
    file: W,
    point: &str,
    title: Option<&str>,
    extent: Extent,
) -> Result<PcapNgWriter<W>, PcapNgWriteError> {
    let comment = title.map(|title| SectionHeaderOption::Common(CommonOption::Comment(title.into())));
    let application = SectionHeaderOption::UserApplication(APPLICATION.into());
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: comment.into_iter().chain([application]).collect(),
        ..SectionHeaderBlock::default()
    };
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::IPV4,
        snaplen: match extent {
            Extent::Headers => 80,
            Extent::Whole => u32::from(u16::MAX),
        },
        options: vec![
            InterfaceDescriptionOption::IfName(point.into()),
            InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO),
        ],
    };
    let mut writer = PcapNgWriter::with_section_header(file, section)?;
    writer.write_pcapng_block(interface)?;
    Ok(writer)
}

/// What the system said, or what the format has no room for.
fn reason(error: PcapNgWriteError) -> io::Error {
    match error {
        PcapNgWriteError::Io(source) => source,
        PcapNgWriteError::Validation { source, .. } => io::Error::other(source.to_string()),
        other => io::Error::other(other),
    }
}
