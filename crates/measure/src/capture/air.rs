//! Captures of a cell's air, as an ideal monitor would record it. They contain every frame in the
//! order of its start, including collided ones.
//!
//! Each frame has a radiotap header. The time of a record is the start of the PPDU. The radiotap
//! timestamp is the end of the PPDU, without the signal extension. TSFT is the microsecond in which
//! the PSDU began. (Wireshark interprets TSFT as the end, unless the preference
//! `wlan_radio.tsf_at_end` is off.) The frames of an A-MPDU share these times and the reference
//! number.
//!
//! Signal and noise are the values at the receiver of a frame. They are present if the channel
//! model of the cell defines them.
//!
//! A frame that its receiver could not decode has the bad-FCS flag and an FCS in which every bit is
//! inverted; its other octets are unchanged. [`Extent::Headers`] omits the octets after the last
//! TCP header of a frame, and the FCS of a truncated frame.

mod mode;

use super::Error;
use super::file::{CaptureFile, Interface};
use crate::observed::Observed;
use acklab_base::FlowKey;
use acklab_wifi::phy::{Band, Format};
use acklab_wifi::ppdu::{self, Mpdu, Outcome, Ppdu};
use acklab_wire::dot11::{
    AckPolicy, Beacon, BlockAck, BlockAckRequest, BlockBitmap, Data, DistributionSystem, Frame, MacAddress, Qos,
    Response, Rts, duration_field, encode, encode_with, msdu, radiotap,
};
use acklab_wire::ipv4::Extent;
use mode::{channel, modulation};
use pcap_file::DataLink;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

/// Length of the FCS in octets (9.2.4.8).
const FCS: usize = 4;

/// Length of a time unit in nanoseconds (3.1), the unit of the beacon interval.
const TIME_UNIT: u64 = 1_024_000;
/// The capability of an access point (9.4.1.4).
const ESS: u16 = 0x0001;
/// The elements of a beacon (9.4.2): SSID, OFDM rates with the mandatory ones marked, channel, an
/// empty TIM, country, ERP.
const ELEMENTS: [u8; 40] = [
    0, 8, b't', b'h', b'e', b' ', b'c', b'e', b'l', b'l', //
    1, 8, 0x8c, 0x12, 0x98, 0x24, 0xb0, 0x48, 0x60, 0x6c, //
    3, 1, 1, //
    5, 4, 0, 1, 0, 0, //
    7, 6, b'X', b'X', b' ', 1, 11, 20, //
    42, 1, 0,
];

/// Identifies a data frame across its retransmissions: transmitter, receiver, TID and sequence
/// number.
type Exchange = (usize, Option<usize>, Option<u8>, u16);

/// A capture of a cell's air that is being written.
///
/// The file is complete only after [`finish`](Self::finish) has returned `Ok`.
pub struct AirCapture {
    file: CaptureFile,
    extent: Extent,
    access_point: u32,
    band: Band,
    ampdus: u32,
    beacons: u16,
    /// The next identification of each flow.
    identification: BTreeMap<FlowKey, u16>,
    /// The IP identifications of the packets in a frame. A retransmission of the frame has the same
    /// identifications.
    identified: BTreeMap<Exchange, Vec<u16>>,
    packet: Vec<u8>,
    subframe: Vec<u8>,
    body: Vec<u8>,
    frame: Vec<u8>,
    record: Vec<u8>,
}

impl AirCapture {
    /// Creates or replaces the file `path` for a capture of the cell called `cell`, whose access
    /// point is node `access_point`.
    ///
    /// `title`, if any, becomes the comment of the file. `extent` sets how much of each frame is
    /// written.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(
        path: &Path,
        cell: &str,
        access_point: u32,
        band: Band,
        title: Option<&str>,
        extent: Extent,
    ) -> Result<Self, Error> {
        let interface = Interface { name: cell, link_type: DataLink::IEEE802_11_RADIOTAP, most_octets: 0 };
        Ok(Self {
            file: CaptureFile::create(path, title, &interface)?,
            extent,
            access_point,
            band,
            ampdus: 0,
            beacons: 0,
            identification: BTreeMap::new(),
            identified: BTreeMap::new(),
            packet: Vec::new(),
            subframe: Vec::new(),
            body: Vec::new(),
            frame: Vec::new(),
            record: Vec::new(),
        })
    }

    /// Records the names of the hosts with these addresses.
    ///
    /// # Errors
    /// If writing fails.
    pub fn name_hosts(&mut self, hosts: &[(IpAddr, String)]) -> Result<(), Error> {
        self.file.name_hosts(hosts)
    }

    /// Records a PPDU. The caller passes PPDUs in the order of their start.
    ///
    /// # Errors
    /// If a segment cannot be encoded or writing fails; the capture is then unusable.
    pub fn record_ppdu<P: Observed>(&mut self, ppdu: &Ppdu<P>) -> Result<(), Error> {
        let (receiver, transmitter) = addresses(ppdu);
        let duration = duration_field(ppdu.reserved);
        let frame = match &ppdu.frame {
            ppdu::Frame::Data(mpdus) => return self.record_data(ppdu, mpdus),
            ppdu::Frame::Rts => Frame::Rts(Rts { duration, receiver, transmitter }),
            ppdu::Frame::Cts => Frame::Cts(Response { duration, receiver }),
            ppdu::Frame::Ack => Frame::Ack(Response { duration, receiver }),
            ppdu::Frame::BlockAck { tid, start, bitmap } => {
                let bitmap = BlockBitmap::holding(bitmap);
                Frame::BlockAck(BlockAck { duration, receiver, transmitter, tid: *tid, start: *start, bitmap })
            }
            ppdu::Frame::BlockAckRequest { tid, start } => {
                let (tid, start) = (*tid, *start);
                Frame::BlockAckRequest(BlockAckRequest { duration, receiver, transmitter, tid, start })
            }
            ppdu::Frame::Beacon { interval } => {
                self.beacons = self.beacons.wrapping_add(1);
                Frame::Beacon(Beacon {
                    transmitter,
                    sequence: self.beacons,
                    timestamp: first_bit(ppdu),
                    interval: (interval.as_nanos() / TIME_UNIT) as u16,
                    capabilities: ESS,
                    elements: &ELEMENTS,
                })
            }
        };
        encode_with(&frame, &ppdu.appended, &mut self.frame);
        let kept = self.frame.len();
        self.write(ppdu, kept, ppdu.outcome != Outcome::Received, None)
    }

    /// Writes all buffered records to the file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> Result<(), Error> {
        self.file.finish()
    }

    fn record_data<P: Observed>(&mut self, ppdu: &Ppdu<P>, mpdus: &[Mpdu<P>]) -> Result<(), Error> {
        let is_ampdu = mpdus.len() > 1 || ppdu.mode.format.phy().is_always_a_mpdu;
        for (index, mpdu) in mpdus.iter().enumerate() {
            let kept = self.encode_data(ppdu, mpdu)?;
            let ampdu = is_ampdu.then_some(radiotap::Ampdu {
                reference: self.ampdus,
                is_last: Some(index + 1 == mpdus.len()),
                is_single: Some(mpdus.len() == 1),
            });
            self.write(ppdu, kept, ppdu.outcome != Outcome::Received || !mpdu.is_received, ampdu)?;
        }
        self.ampdus = self.ampdus.wrapping_add(u32::from(is_ampdu));
        Ok(())
    }

    /// Encodes the frame into `self.frame`, and returns the number of octets that must be written.
    fn encode_data<P: Observed>(&mut self, ppdu: &Ppdu<P>, mpdu: &Mpdu<P>) -> Result<usize, Error> {
        let (receiver, transmitter) = addresses(ppdu);
        let is_amsdu = mpdu.is_a_msdu;
        let identifications = self.identify(ppdu, mpdu);
        self.body.clear();
        // The octets after the last header.
        let mut payload = 0;
        for (packet, identification) in mpdu.packets.iter().zip(identifications) {
            packet
                .encode(identification, Extent::Whole, &mut self.packet)
                .map_err(|source| self.file.packet_error(source))?;
            payload = packet.payload() as usize;
            if let Some(secrets) = packet.secrets() {
                self.file.reveal(secrets)?;
            }
            if is_amsdu {
                self.subframe.clear();
                msdu::append(msdu::ether_type(&self.packet), &self.packet, &mut self.subframe);
                let subframe = msdu::Subframe { destination: receiver, source: transmitter, msdu: &self.subframe };
                subframe.append(&mut self.body);
            } else {
                msdu::append(msdu::ether_type(&self.packet), &self.packet, &mut self.body);
            }
        }
        // The access point is a router. It is therefore the source or the destination of each frame
        // and never relays a frame.
        let distribution_system = if ppdu.from as u32 == self.access_point {
            DistributionSystem::From
        } else if ppdu.to.is_some_and(|to| to as u32 == self.access_point) {
            DistributionSystem::To
        } else {
            DistributionSystem::Apart
        };
        let data = Data {
            duration: duration_field(ppdu.reserved),
            distribution_system,
            is_retry: mpdu.is_retry,
            has_more_fragments: false,
            has_more_data: mpdu.has_more,
            is_sync: mpdu.is_sync,
            receiver,
            transmitter,
            address_3: MacAddress::of_node(self.access_point),
            sequence: mpdu.sequence,
            fragment: 0,
            qos: mpdu.tid.map(|tid| Qos { tid, ack_policy: AckPolicy::Normal, is_amsdu }),
            body: &self.body,
        };
        encode(&Frame::Data(data), &mut self.frame);
        Ok(match self.extent {
            Extent::Headers if payload > 0 => self.frame.len() - payload - FCS,
            Extent::Headers | Extent::Whole => self.frame.len(),
        })
    }

    /// Returns the IPv4 identifications of the packets in a frame.
    fn identify<P: Observed>(&mut self, ppdu: &Ppdu<P>, mpdu: &Mpdu<P>) -> Vec<u16> {
        let exchange = (ppdu.from, ppdu.to, mpdu.tid, mpdu.sequence);
        if let Some(same) = self.identified.get(&exchange)
            && mpdu.is_retry
            && same.len() == mpdu.packets.len()
        {
            return same.clone();
        }
        let next = mpdu.packets.iter().map(|packet| {
            let identification = self.identification.entry(packet.flow()).or_default();
            let own = *identification;
            *identification = identification.wrapping_add(1);
            own
        });
        let new: Vec<u16> = next.collect();
        self.identified.insert(exchange, new.clone());
        new
    }

    /// Writes a radiotap header and the first `kept` octets of `self.frame`.
    fn write<P>(
        &mut self,
        ppdu: &Ppdu<P>,
        kept: usize,
        is_damaged: bool,
        ampdu: Option<radiotap::Ampdu>,
    ) -> Result<(), Error> {
        if is_damaged {
            let end = self.frame.len();
            self.frame[end - FCS..].iter_mut().for_each(|octet| *octet = !*octet);
        }
        let header = radiotap::Header {
            tsft: Some(first_bit(ppdu)),
            has_short_preamble: ppdu.mode.format == Format::ShortDsss,
            has_fcs: true,
            is_padded: false,
            is_damaged,
            channel: Some(channel(self.band, ppdu.mode)),
            signal: ppdu.signal.map(|signal| level(signal.power_dbm)),
            noise: ppdu.signal.map(|signal| level(signal.noise_dbm)),
            modulation: Some(modulation(ppdu.mode)),
            ampdu,
            end: Some((ppdu.at + ppdu.duration).as_nanos()),
        };
        self.record.clear();
        radiotap::append(&header, &mut self.record);
        let len = self.record.len() + self.frame.len();
        self.record.extend_from_slice(&self.frame[..kept]);
        self.file.write(ppdu.at, &self.record, len as u32)
    }
}

/// Returns a power level in whole dBm, the unit of radiotap.
fn level(dbm: f64) -> i8 {
    dbm.round().clamp(f64::from(i8::MIN), f64::from(i8::MAX)) as i8
}

/// Returns the microsecond in which the PSDU begins.
fn first_bit<P>(ppdu: &Ppdu<P>) -> u64 {
    (ppdu.at + ppdu.mode.preamble()).as_nanos() / 1_000
}

/// Returns the addresses of receiver and transmitter. A frame without a receiver is a CTS-to-self.
fn addresses<P>(ppdu: &Ppdu<P>) -> (MacAddress, MacAddress) {
    (MacAddress::of_node(ppdu.to.unwrap_or(ppdu.from) as u32), MacAddress::of_node(ppdu.from as u32))
}
