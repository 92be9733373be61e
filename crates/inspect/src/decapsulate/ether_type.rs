//! The protocols of EtherTypes (IEEE Registration Authority, "EtherType").

use super::frame::Frame;
use super::{Layer, Opened, names, nsh, pppoe, tags};

pub(super) const IPV4: u16 = 0x0800;
pub(super) const IPV6: u16 = 0x86dd;
pub(super) const ARP: u16 = 0x0806;
pub(super) const MPLS: u16 = 0x8847;
pub(super) const MPLS_MULTICAST: u16 = 0x8848;
pub(super) const PPPOE_SESSION: u16 = 0x8864;
/// Bridged Ethernet, as announced by GRE and Geneve (RFC 1701, "Transparent Ethernet Bridging").
const BRIDGED: u16 = 0x6558;
/// PPP, as announced by GRE (RFC 2637, §4.1).
const PPP: u16 = 0x880b;
pub(super) const NSH: u16 = 0x894f;
/// Jumbo frames with LLC (draft-ietf-isis-ext-eth-01, §4).
const LONG_LLC: u16 = 0x8870;

pub(super) fn open(number: u16, frame: Frame<'_>) -> Opened<'_> {
    match number {
        IPV4 | IPV6 => Ok((Layer::Ip, frame)),
        MPLS | MPLS_MULTICAST => Ok((Layer::Mpls, frame)),
        BRIDGED => Ok((Layer::Ethernet, frame)),
        PPP => Ok((Layer::Ppp, frame)),
        LONG_LLC => Ok((Layer::Llc, frame)),
        PPPOE_SESSION => pppoe::open(frame),
        NSH => nsh::open(frame),
        _ => tags::open(number, frame).unwrap_or_else(|| Err(names::ether_type(number))),
    }
}
