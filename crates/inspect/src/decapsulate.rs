//! Decapsulation of the IP packets in a captured frame.
//!
//! A [`Decapsulator`] opens one header after the other, until it finds an IP packet that is not a
//! tunnel, or a protocol that it does not decode. It counts frames that it cannot open by the name
//! of the protocol, so that a report always accounts for the whole file. Each header is a function
//! of the frame; only fragments and 802.11 retransmissions need memory, which is bounded.
//!
//! | module | opens |
//! |---|---|
//! | [`link_type`] | the number of the link type of a capture |
//! | `frame` | the octets that remain |
//! | `closed` | counts of frames that cannot be opened |
//! | `names` | names of protocols by their numbers |
//! | `plausible` | decides whether octets look like an IP packet or an Ethernet frame |
//! | `ethernet` | Ethernet, with a type or a length |
//! | `ether_type` | protocols by EtherType |
//! | `tags` | VLAN tags and others between the addresses and the type |
//! | `llc` | LLC and SNAP |
//! | `loopback` | loopback, and pseudo-headers of packet filters |
//! | `arcnet` | ARCNET |
//! | `cooked` | Linux cooked captures |
//! | `nflog` | netfilter's log |
//! | `pktap` | Apple's pseudo-header |
//! | `juniper` | pseudo-headers of Juniper routers |
//! | `ppp` | PPP, with and without its HDLC framing |
//! | `hdlc` | Cisco HDLC and frame relay |
//! | `pppoe` | PPP over Ethernet |
//! | `monitor` | pseudo-headers of 802.11: radiotap, Prism, AVS, PPI |
//! | `dot11` | 802.11 data frames |
//! | `retries` | retransmitted frames of 802.11 |
//! | `mpls` | label stacks, and pseudowires behind them |
//! | `nsh` | the network service header |
//! | `ip` | IP packets, and IP in IP |
//! | `routes` | the ends of packets on a source route |
//! | `fragments` | reassembly of IP fragments |
//! | `gre` | GRE |
//! | `erspan` | ERSPAN, mirrored frames in GRE |
//! | `udp` | tunnels over UDP, by their ports |
//! | `vxlan`, `geneve`, `gtp`, `teredo`, `l2tp`, `capwap`, `lisp`, `tzsp`, `ayiya` | each of these tunnels |

mod arcnet;
mod ayiya;
mod capwap;
mod closed;
mod cooked;
mod dot11;
mod erspan;
mod ether_type;
mod ethernet;
mod fragments;
mod frame;
mod geneve;
mod gre;
mod gtp;
mod hdlc;
mod ip;
mod juniper;
mod l2tp;
pub mod link_type;
mod lisp;
mod llc;
mod loopback;
mod monitor;
mod mpls;
mod names;
mod nflog;
mod nsh;
mod pktap;
mod plausible;
mod ppp;
mod pppoe;
mod retries;
mod routes;
mod tags;
mod teredo;
mod tzsp;
mod udp;
mod vxlan;

pub use closed::Unopened;
pub use link_type::LinkType;

use acklab_base::Datagram;
use acklab_wire::IpPacket;
use closed::Closed;
use fragments::Fragments;
use frame::Frame;
use retries::Retries;
use std::iter::Chain;
use std::{option, vec};

/// The maximum number of headers that are opened in a frame. Chosen: far more than any network
/// uses, and few enough to bound the work for a crafted frame.
const MAX_HEADERS: u32 = 32;

/// The type of the next header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    /// The header of a link type.
    Link(LinkType),
    /// Destination and source of Ethernet, and a type or a length.
    Ethernet,
    /// The header of this EtherType.
    EtherType(u16),
    /// LLC.
    Llc,
    /// PPP, with or without address and control field.
    Ppp,
    /// A stack of MPLS labels.
    Mpls,
    /// An 802.11 frame.
    Dot11 {
        /// `true` if it ends with its FCS.
        has_fcs: bool,
        /// `true` if its MAC header is padded to a multiple of four octets.
        is_padded: bool,
    },
    /// The subframes of an A-MSDU.
    Amsdu,
    /// IPv4 or IPv6.
    Ip,
}

/// The next header and its octets, or the reason why there is none.
type Opened<'a> = Result<(Layer, Frame<'a>), Closed>;

/// The IP packets in a frame that are neither tunnels nor fragments. Only an 802.11 aggregate has
/// several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    first: Option<IpPacket>,
    more: Vec<IpPacket>,
}

impl Found {
    fn push(&mut self, packet: IpPacket) {
        match self.first {
            None => self.first = Some(packet),
            Some(_) => self.more.push(packet),
        }
    }

    /// Returns the first packet.
    pub(crate) const fn first(&self) -> Option<&IpPacket> {
        self.first.as_ref()
    }
}

impl IntoIterator for Found {
    type Item = IpPacket;
    type IntoIter = Chain<option::IntoIter<IpPacket>, vec::IntoIter<IpPacket>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.more)
    }
}

/// Opens captured frames, and counts those that cannot be opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decapsulator {
    fragments: Fragments,
    retries: Retries,
    unopened: Unopened,
    found: Found,
    /// Memory of returned packets, for reuse.
    spare: Vec<Vec<u8>>,
}

impl Decapsulator {
    /// Opens a frame of `length` octets that was captured at `at`, of which `octets` are present.
    pub(crate) fn frame(&mut self, at: u64, link_type: LinkType, octets: &[u8], length: u32) -> Found {
        self.open(at, Layer::Link(link_type), Frame::new(octets, length as usize), MAX_HEADERS);
        std::mem::take(&mut self.found)
    }

    /// Accepts a packet whose memory can be reused.
    #[inline]
    pub(crate) fn reuse(&mut self, mut packet: IpPacket) {
        self.spare.push(packet.take_octets());
    }

    /// Counts a packet that belongs to no connection.
    pub(crate) fn refuse(&mut self, packet: &IpPacket) {
        self.unopened.count(ip::refused(packet));
    }

    /// Reverts the count of `before` packets of the same flow, because they belong to a connection
    /// after all.
    pub(crate) fn withdraw(&mut self, packet: &IpPacket, before: u64) {
        if before > 0 {
            self.unopened.withdraw(ip::refused(packet), before);
        }
    }

    /// Returns the counts of unopened packets.
    pub(crate) fn finish(mut self) -> Unopened {
        self.unopened.incomplete_fragments(self.fragments.pending());
        self.unopened
    }

    fn open(&mut self, at: u64, layer: Layer, frame: Frame<'_>, headers: u32) {
        if let Err(closed) = self.try_open(at, layer, frame, headers) {
            self.unopened.count(closed);
        }
    }

    fn try_open(&mut self, at: u64, mut layer: Layer, mut frame: Frame<'_>, headers: u32) -> Result<(), Closed> {
        for left in (0..headers).rev() {
            (layer, frame) = match layer {
                Layer::Link(link_type) => link_type.open(frame)?,
                Layer::Ethernet => ethernet::open(frame)?,
                Layer::EtherType(number) => ether_type::open(number, frame)?,
                Layer::Llc => llc::open(frame)?,
                Layer::Ppp => ppp::open(frame)?,
                Layer::Mpls => mpls::open(frame)?,
                Layer::Dot11 { has_fcs, is_padded } => {
                    let (data, inner) = dot11::open(frame, has_fcs, is_padded)?;
                    if self.retries.is_repeated(&data) {
                        self.unopened.retried += 1;
                        return Ok(());
                    }
                    // The first fragment has the headers. The length of IP is that of the whole
                    // packet.
                    if data.fragment > 0 {
                        return Err(Closed::protocol("802.11 fragments behind the first"));
                    }
                    inner
                }
                Layer::Amsdu => {
                    frame.take::<{ dot11::SUBFRAME_HEADER }>("A-MSDU")?;
                    dot11::msdus(frame).for_each(|msdu| self.open(at, Layer::Llc, msdu, left));
                    return Ok(());
                }
                Layer::Ip => match self.ip(at, frame, left)? {
                    Some(inner) => inner,
                    None => return Ok(()),
                },
            };
        }
        Err(Closed::protocol("too many headers"))
    }

    /// Opens an IP packet. Returns the contents of a tunnel.
    fn ip<'a>(&mut self, at: u64, frame: Frame<'a>, headers: u32) -> Result<Option<(Layer, Frame<'a>)>, Closed> {
        let packet = ip::parse(frame, self.spare.pop().unwrap_or_default())?;
        let frame = frame.at_most(packet.wire_len().get() as usize);
        let Some(protocol) = packet.protocol() else {
            self.fragment(at, &packet, frame, headers);
            return Ok(None);
        };
        let carried = frame.skip(packet.headers(), "IP")?;
        let tunnel = match protocol {
            ip::TCP => None,
            ip::UDP => udp::tunnel(carried),
            _ => ip::tunnel(protocol, carried),
        };
        if let Some(tunnel) = tunnel {
            return tunnel.map(Some);
        }
        let packet = if protocol == ip::TCP { self.segment(packet, frame)? } else { packet };
        self.found.push(packet);
        Ok(None)
    }

    /// Returns a packet of TCP whose header can be read.
    fn segment(&mut self, packet: IpPacket, frame: Frame<'_>) -> Result<IpPacket, Closed> {
        let (packet, are_options_cut) = ip::with_header_of_tcp(packet, frame)?;
        if are_options_cut {
            self.unopened.cut_options();
        }
        Ok(packet)
    }

    fn fragment(&mut self, at: u64, packet: &IpPacket, frame: Frame<'_>, headers: u32) {
        let whole = self.fragments.accept(at, packet, frame, &mut self.unopened);
        if let Some((octets, length)) = whole {
            self.open(at, Layer::Ip, Frame::new(&octets, length), headers);
        }
    }
}
