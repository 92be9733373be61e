//! Reads a pcapng file (draft-ietf-opsawg-pcapng).
//!
//! The crate `pcap-file`, which writes captures here, refuses a file with an unexpected option.
//! This parser reads only the blocks of packets and interfaces, and five options. It skips all
//! other blocks and options.

mod block;
mod interface;

use super::pcap::MAX_RECORD;
use super::{Inspected, Progress, Stop, without_fcs};
use acklab_base::Instant;
use acklab_inspect::{Inspector, LinkType, Options};
use block::{Blocks, Body, kind};
use interface::Interface;
use std::io::Read;

pub(super) fn read(file: impl Read, progress: &mut Progress<'_>) -> Result<Inspected, Stop> {
    let mut blocks = Blocks::new(file);
    let mut packets = Packets::default();
    let cut = loop {
        match blocks.next() {
            Ok(None) => break None,
            Ok(Some((kind, body))) => {
                if let Err(found) = packets.block(kind, body) {
                    break Some(super::damaged_at(blocks.octets(), &found));
                }
            }
            Err(reason) => break Some(reason),
        }
        progress.packet()?;
    };
    Ok(Inspected { report: packets.inspector.finish(), cut })
}

/// The packets of a file, and the interfaces of the section.
struct Packets {
    inspector: Inspector,
    interfaces: Vec<Interface>,
    /// The time of the last packet. Simple packets have no time of their own.
    last: Instant,
}

impl Default for Packets {
    fn default() -> Self {
        Self { inspector: Inspector::new(Options::default()), interfaces: Vec::new(), last: Instant::ZERO }
    }
}

impl Packets {
    /// Parses a block. Returns a description of the fault if the block is malformed.
    fn block(&mut self, kind: u32, mut body: Body<'_>) -> Result<(), String> {
        match kind {
            kind::SECTION => self.interfaces.clear(),
            kind::INTERFACE => self.interfaces.push(Interface::of(body).ok_or("found half of an interface")?),
            kind::ENHANCED_PACKET => {
                let interface = body.number();
                self.packet(interface, body).ok_or("found half of a packet")?;
            }
            // The number of dropped packets follows the number of the interface.
            kind::PACKET => {
                let interface = body.pair().zip(body.pair()).map(|(interface, _)| interface.into());
                self.packet(interface, body).ok_or("found half of a packet")?;
            }
            kind::SIMPLE_PACKET => self.simple_packet(body).ok_or("found half of a packet")?,
            _ => {}
        }
        Ok(())
    }

    /// Returns the packet whose interface number was read: time, lengths, bytes, options.
    fn packet(&mut self, interface: Option<u32>, mut body: Body<'_>) -> Option<()> {
        let interface = self.interfaces.get(interface? as usize).copied();
        let ticks = u64::from(body.number()?) << 32 | u64::from(body.number()?);
        let (captured, length) = (body.number()?, body.number()?);
        let octets = body.take(captured.min(MAX_RECORD) as usize)?;
        self.last = interface.map_or(self.last, |interface| interface.instant(ticks));
        let fcs = match interface {
            Some(Interface { fcs: Some(fcs), .. }) => fcs,
            _ => body.options().find_map(fcs_of_packet).unwrap_or(0),
        };
        let (octets, length) = without_fcs(octets, length, fcs);
        let link_type = interface.map_or(LinkType::UNDEFINED, |interface| interface.link_type);
        self.inspector.frame(self.last, link_type, octets, length);
        Some(())
    }

    /// Reads a simple packet, which belongs to the first interface: its length, and its bytes up to
    /// the snap length.
    fn simple_packet(&mut self, mut body: Body<'_>) -> Option<()> {
        let length = body.number()?;
        let interface = self.interfaces.first().copied();
        let snap = interface.map_or(0, |interface| interface.snap_length);
        let captured = if snap == 0 { length } else { length.min(snap) };
        let octets = body.up_to(captured.min(MAX_RECORD) as usize);
        let (octets, length) = without_fcs(octets, length, interface.and_then(|interface| interface.fcs).unwrap_or(0));
        let link_type = interface.map_or(LinkType::UNDEFINED, |interface| interface.link_type);
        self.inspector.frame(self.last, link_type, octets, length);
        Some(())
    }
}

/// Returns the number of FCS bytes from the flags of a packet (`epb_flags`, bits 5 to 8).
fn fcs_of_packet((code, mut value): (u16, Body<'_>)) -> Option<u32> {
    const FLAGS: u16 = 2;
    (code == FLAGS).then(|| value.number().map(|flags| flags >> 5 & 0xf))?
}
