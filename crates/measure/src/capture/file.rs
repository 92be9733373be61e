//! The pcapng file of a capture.

use super::Error;
use acklab_base::Instant;
use acklab_wire::pdu::EncodeError;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, Ipv6Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::blocks::unknown::UnknownBlock;
use pcap_file::pcapng::{PcapNgWriteError, PcapNgWriter};
use pcap_file::{DataLink, Endianness};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The application in the section header.
const APPLICATION: &str = concat!("acklab ", env!("CARGO_PKG_VERSION"));
/// Size of the write buffer in octets.
const BUFFER: usize = 1 << 16;

/// The block type of a Decryption Secrets Block (draft-ietf-opsawg-pcapng, §4.7).
const DECRYPTION_SECRETS: u32 = 0x0000_000a;
/// Its type of secrets for TLS: lines in the format of `SSLKEYLOGFILE`.
const TLS_KEY_LOG: u32 = 0x544c_534b;

/// The interface description of a file.
pub(super) struct Interface<'a> {
    /// The name of the capture point.
    pub(super) name: &'a str,
    /// The link type, which defines the first header of a packet.
    pub(super) link_type: DataLink,
    /// The maximum number of octets written of a packet; zero for no limit.
    pub(super) most_octets: u32,
}

/// A file with one interface.
pub(super) struct CaptureFile {
    writer: PcapNgWriter<BufWriter<File>>,
    path: PathBuf,
    /// The lines of TLS secrets in the file.
    secrets: BTreeSet<String>,
    /// The secrets of the last packet that had secrets.
    last_secrets: Option<Arc<str>>,
}

impl CaptureFile {
    pub(super) fn create(path: &Path, title: Option<&str>, interface: &Interface<'_>) -> Result<Self, Error> {
        let error = |source| Error::Create { path: path.to_owned(), source };
        // A symbolic link could point to any file of the user.
        if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return Err(error(io::Error::other("found a symbolic link, expected no file or a regular one")));
        }
        let file = File::create(path).map_err(error)?;
        let writer = start(BufWriter::with_capacity(BUFFER, file), title, interface);
        Ok(Self {
            writer: writer.map_err(|refused| error(reason(refused)))?,
            path: path.to_owned(),
            secrets: BTreeSet::new(),
            last_secrets: None,
        })
    }

    /// Writes the TLS secrets of the next packet, unless the file already contains them. A reader
    /// needs them before the packet.
    pub(super) fn reveal(&mut self, secrets: &Arc<str>) -> Result<(), Error> {
        if self.last_secrets.as_ref().is_some_and(|last| Arc::ptr_eq(last, secrets)) {
            return Ok(());
        }
        self.last_secrets = Some(Arc::clone(secrets));
        let new: String =
            secrets.lines().filter(|line| !self.secrets.contains(*line)).flat_map(|line| [line, "\n"]).collect();
        if new.is_empty() {
            return Ok(());
        }
        self.secrets.extend(new.lines().map(str::to_owned));
        let mut body = Vec::with_capacity(new.len() + 12);
        body.extend_from_slice(&TLS_KEY_LOG.to_le_bytes());
        body.extend_from_slice(&(new.len() as u32).to_le_bytes());
        body.extend_from_slice(new.as_bytes());
        let block = UnknownBlock::new(DECRYPTION_SECRETS, body.len() as u32, &body);
        self.writer.write_pcapng_block(block).map_err(|refused| self.write_error(reason(refused)))?;
        Ok(())
    }

    /// Writes the captured `octets` of a packet whose original length is `original_len`.
    pub(super) fn write(&mut self, at: Instant, octets: &[u8], original_len: u32) -> Result<(), Error> {
        let packet = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(at.as_nanos()),
            original_len,
            data: Cow::Borrowed(octets),
            options: Vec::new(),
        };
        self.writer.write_pcapng_block(packet).map_err(|refused| self.write_error(reason(refused)))?;
        Ok(())
    }

    /// Writes a name resolution block with these names of addresses.
    pub(super) fn name_hosts(&mut self, hosts: &[(IpAddr, String)]) -> Result<(), Error> {
        let record = |(address, name): &(IpAddr, String)| {
            let names = vec![Cow::Owned(name.clone())];
            match *address {
                IpAddr::V4(ip_addr) => Record::Ipv4(Ipv4Record { ip_addr, names }),
                IpAddr::V6(ip_addr) => Record::Ipv6(Ipv6Record { ip_addr, names }),
            }
        };
        let block = NameResolutionBlock { records: hosts.iter().map(record).collect(), options: Vec::new() };
        self.writer.write_pcapng_block(block).map_err(|refused| self.write_error(reason(refused)))?;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.writer.get_mut().flush().map_err(|source| self.write_error(source))
    }

    /// Returns the error for a packet that cannot be encoded.
    pub(super) fn packet_error(&self, source: EncodeError) -> Error {
        Error::Packet { path: self.path.clone(), source }
    }

    fn write_error(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }
}

/// Writes the section header and the interface description. The file is little-endian on every
/// machine, so that runs give equal files.
fn start<W: Write>(
    file: W,
    title: Option<&str>,
    interface: &Interface<'_>,
) -> Result<PcapNgWriter<W>, PcapNgWriteError> {
    let comment = title.map(|title| SectionHeaderOption::Common(CommonOption::Comment(title.into())));
    let application = SectionHeaderOption::UserApplication(APPLICATION.into());
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: comment.into_iter().chain([application]).collect(),
        ..SectionHeaderBlock::default()
    };
    let interface = InterfaceDescriptionBlock {
        linktype: interface.link_type,
        snaplen: interface.most_octets,
        options: vec![
            InterfaceDescriptionOption::IfName(interface.name.into()),
            InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO),
        ],
    };
    let mut writer = PcapNgWriter::with_section_header(file, section)?;
    writer.write_pcapng_block(interface)?;
    Ok(writer)
}

/// Converts the error of the pcapng library.
fn reason(error: PcapNgWriteError) -> io::Error {
    match error {
        PcapNgWriteError::Io(source) => source,
        PcapNgWriteError::Validation { source, .. } => io::Error::other(source.to_string()),
        other => io::Error::other(other),
    }
}
