//! The frames.

use super::{BlockAck, BlockAckRequest, MacAddress};

/// A frame of 802.11, without its FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Request to send (9.3.1.2).
    Rts(Rts),
    /// Clear to send, the answer to an RTS or sent to its own sender (9.3.1.3).
    Cts(Answer),
    /// Acknowledgment of one frame (9.3.1.4).
    Ack(Answer),
    /// Request for a Block ACK (9.3.1.7).
    BlockAckRequest(BlockAckRequest),
    /// Acknowledgment of a window of frames (9.3.1.8).
    BlockAck(BlockAck),
    /// Data, with QoS or without (9.3.2.1).
    Data(Data<'a>),
    /// Beacon of an access point (9.3.3.2).
    Beacon(Beacon<'a>),
}

/// A beacon, which goes to all stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacon<'a> {
    /// The access point, whose address is the BSSID too.
    pub transmitter: MacAddress,
    /// Its sequence number, of which the low twelve bits count (9.2.4.4.2).
    pub sequence: u16,
    /// Microseconds of the cell's clock when its first bit goes out (9.4.1.10).
    pub timestamp: u64,
    /// Time from one beacon to the next in units of 1024 µs (9.4.1.3).
    pub interval: u16,
    /// The Capability Information field (9.4.1.4).
    pub capabilities: u16,
    /// The elements (9.4.2), one after the other.
    pub elements: &'a [u8],
}

/// Request to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rts {
    /// The Duration/ID field (9.2.5).
    pub duration: u16,
    /// Who shall answer.
    pub receiver: MacAddress,
    /// Who asks.
    pub transmitter: MacAddress,
}

/// A CTS or an ACK, which names only whom it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The Duration/ID field (9.2.5).
    pub duration: u16,
    /// Whom it is for.
    pub receiver: MacAddress,
}

/// A data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// The Duration/ID field (9.2.5).
    pub duration: u16,
    /// Where it runs.
    pub distribution_system: DistributionSystem,
    /// Is it sent again (9.2.4.1.6)?
    pub is_retry: bool,
    /// Does more of the same MSDU follow (9.2.4.1.5)?
    pub has_more_fragments: bool,
    /// Does its sender hold more for the receiver (9.2.4.1.8)?
    pub has_more_data: bool,
    /// Has its sender moved on without an answer to what it sent before? SYNC of TCP/HACK (Salameh et al., ATC '14, §3.4), for which
    /// the paper names no place: here bit 4 of the QoS Control field, and without that the bit +HTC/Order, which no QoS is without.
    pub is_sync: bool,
    /// Address 1: who receives it from the air.
    pub receiver: MacAddress,
    /// Address 2: who sends it into the air.
    pub transmitter: MacAddress,
    /// Address 3: where the MSDU is bound, on its way to an access point; where it comes from, on the way from one; the BSSID, of an
    /// A-MSDU and without an access point (Table 9-30).
    pub address_3: MacAddress,
    /// Its sequence number, of which the low twelve bits count (9.2.4.4.2).
    pub sequence: u16,
    /// Its fragment number, of which the low four bits count (9.2.4.4.3).
    pub fragment: u8,
    /// The QoS Control field, of QoS data.
    pub qos: Option<Qos>,
    /// The MSDU, or the subframes of the A-MSDU: see [`msdu`](super::msdu).
    pub body: &'a [u8],
}

/// The bits To DS and From DS (9.2.4.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistributionSystem {
    /// From one station to another, without an access point.
    Apart,
    /// To an access point.
    To,
    /// From an access point.
    From,
}

/// The QoS Control field of a data frame (9.2.4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// The traffic identifier, of which the low four bits count.
    pub tid: u8,
    /// How it shall be acknowledged.
    pub ack_policy: AckPolicy,
    /// Is the body an A-MSDU?
    pub is_amsdu: bool,
}

/// How a QoS data frame shall be acknowledged (Table 9-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// By an ACK; in an A-MPDU by a Block ACK.
    Normal,
    /// Not at all.
    None,
    /// Without a frame of its own, under power save multi-poll.
    NotExplicit,
    /// By a Block ACK that will be asked for.
    Block,
}

impl AckPolicy {
    pub(super) const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0 => Self::Normal,
            1 => Self::None,
            2 => Self::NotExplicit,
            _ => Self::Block,
        }
    }

    pub(super) const fn bits(self) -> u8 {
        match self {
            Self::Normal => 0,
            Self::None => 1,
            Self::NotExplicit => 2,
            Self::Block => 3,
        }
    }
}

/// The octets of a frame control field without its flags: version 0, type and subtype (Table 9-1).
pub(super) mod kind {
    pub(in super::super) const BEACON: u8 = 0x80;
    pub(in super::super) const RTS: u8 = 0xb4;
    pub(in super::super) const CTS: u8 = 0xc4;
    pub(in super::super) const ACK: u8 = 0xd4;
    pub(in super::super) const BLOCK_ACK_REQUEST: u8 = 0x84;
    pub(in super::super) const BLOCK_ACK: u8 = 0x94;
    pub(in super::super) const DATA: u8 = 0x08;
    pub(in super::super) const QOS_DATA: u8 = 0x88;
}

/// The flags of a frame control field (9.2.4.1.1), its second octet.
pub(super) mod flag {
    pub(in super::super) const TO_DS: u8 = 0x01;
    pub(in super::super) const FROM_DS: u8 = 0x02;
    pub(in super::super) const MORE_FRAGMENTS: u8 = 0x04;
    pub(in super::super) const RETRY: u8 = 0x08;
    pub(in super::super) const MORE_DATA: u8 = 0x20;
    pub(in super::super) const PROTECTED: u8 = 0x40;
    pub(in super::super) const HT_CONTROL: u8 = 0x80;
}

/// SYNC in the first octet of a QoS Control field.
pub(super) const QOS_SYNC: u8 = 0x10;
