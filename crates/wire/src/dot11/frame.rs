//! The frames as typed values.

use super::{BlockAck, BlockAckRequest, MacAddress};

/// A frame of 802.11, without its FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Request to send (9.3.1.2).
    Rts(Rts),
    /// Clear to send: the response to an RTS, or a CTS-to-self (9.3.1.3).
    Cts(Response),
    /// Acknowledgment of one frame (9.3.1.4).
    Ack(Response),
    /// Request for a Block ACK (9.3.1.7).
    BlockAckRequest(BlockAckRequest),
    /// Acknowledgment of a window of frames (9.3.1.8).
    BlockAck(BlockAck),
    /// Data, with QoS or without (9.3.2.1).
    Data(Data<'a>),
    /// Beacon of an access point (9.3.3.2).
    Beacon(Beacon<'a>),
}

/// A beacon, which is broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacon<'a> {
    /// The address of the access point, which is also the BSSID.
    pub transmitter: MacAddress,
    /// The sequence number (9.2.4.4.2). Only the low twelve bits are used.
    pub sequence: u16,
    /// The time of the cell's clock when the first bit of the beacon is sent, in microseconds
    /// (9.4.1.10).
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
    /// Receiver address: the station that must respond.
    pub receiver: MacAddress,
    /// Transmitter address: the station that requests the medium.
    pub transmitter: MacAddress,
}

/// A CTS or an ACK. Its only address is the receiver address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// The Duration/ID field (9.2.5).
    pub duration: u16,
    /// Receiver address.
    pub receiver: MacAddress,
}

/// A data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// The Duration/ID field (9.2.5).
    pub duration: u16,
    /// The direction of the frame: to or from the distribution system, or neither.
    pub distribution_system: DistributionSystem,
    /// `true` in a retransmission (9.2.4.1.6).
    pub is_retry: bool,
    /// `true` if more fragments of the same MSDU follow (9.2.4.1.5).
    pub has_more_fragments: bool,
    /// `true` if the sender has more frames for the receiver (9.2.4.1.8).
    pub has_more_data: bool,
    /// SYNC of TCP/HACK (Salameh et al., ATC '14, §3.4): `true` if the sender sends new data
    /// although its previous frame was not acknowledged. The paper does not specify the position of
    /// the bit. Here, it is bit 4 of the QoS Control field. In a frame without QoS, it is the bit
    /// +HTC/Order, which has no other use there.
    pub is_sync: bool,
    /// Address 1: the station that receives the frame over the air.
    pub receiver: MacAddress,
    /// Address 2: the station that transmits the frame.
    pub transmitter: MacAddress,
    /// Address 3: the destination of an MSDU sent to an access point; the source of an MSDU sent by
    /// an access point; the BSSID of an A-MSDU, and of a frame between two stations (Table 9-30).
    pub address_3: MacAddress,
    /// The sequence number (9.2.4.4.2). Only the low twelve bits are used.
    pub sequence: u16,
    /// The fragment number (9.2.4.4.3). Only the low four bits are used.
    pub fragment: u8,
    /// The QoS Control field. Only for QoS data.
    pub qos: Option<Qos>,
    /// The MSDU, or the subframes of the A-MSDU: see [`msdu`](super::msdu).
    pub body: &'a [u8],
}

/// The bits To DS and From DS (9.2.4.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistributionSystem {
    /// Neither: from one station to another.
    Apart,
    /// To an access point.
    To,
    /// From an access point.
    From,
    /// Both: between access points or mesh stations, in a frame with four addresses.
    Between {
        /// Address 4: the source of an MSDU, or the BSSID or source of an A-MSDU (Table 9-30).
        address_4: MacAddress,
    },
}

/// The QoS Control field of a data frame (9.2.4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// The traffic identifier. Only the low four bits are used.
    pub tid: u8,
    /// The ACK policy.
    pub ack_policy: AckPolicy,
    /// `true` if the body is an A-MSDU.
    pub is_amsdu: bool,
}

/// The acknowledgment that a QoS data frame requires (Table 9-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// An ACK; for a frame in an A-MPDU, a Block ACK.
    Normal,
    /// No acknowledgment.
    None,
    /// No dedicated frame, under power save multi-poll.
    NotExplicit,
    /// A Block ACK after a Block ACK request.
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

/// The first octet of a Frame Control field: version 0, type and subtype (Table 9-1).
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

/// The second octet of a Frame Control field (9.2.4.1.1).
pub(super) mod flag {
    pub(in super::super) const TO_DS: u8 = 0x01;
    pub(in super::super) const FROM_DS: u8 = 0x02;
    pub(in super::super) const MORE_FRAGMENTS: u8 = 0x04;
    pub(in super::super) const RETRY: u8 = 0x08;
    pub(in super::super) const MORE_DATA: u8 = 0x20;
    pub(in super::super) const PROTECTED: u8 = 0x40;
    pub(in super::super) const HT_CONTROL: u8 = 0x80;
}

/// The SYNC bit in the first octet of a QoS Control field.
pub(super) const QOS_SYNC: u8 = 0x10;
