//! The protocol data unit of a transport, whichever it is: what an IPv4 packet carries.

use crate::ipv4::Extent;
use crate::tcp::Segment;
use crate::udp::UserDatagram;
use crate::{Endpoints, tcp, udp};
use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowId};

/// What an IPv4 packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pdu {
    /// TCP.
    Tcp(Segment),
    /// UDP.
    Udp(UserDatagram),
}

/// Why it has no octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Of a segment.
    #[error(transparent)]
    Tcp(#[from] tcp::EncodeError),
    /// Of a datagram.
    #[error(transparent)]
    Udp(#[from] udp::EncodeError),
}

impl Pdu {
    /// Put its octets in place of those in `octets`, as [`tcp::encode`] and [`udp::encode`] do.
    ///
    /// # Errors
    /// Those of either; `octets` is empty then.
    pub fn encode(
        &self,
        endpoints: Endpoints,
        identification: u16,
        extent: Extent,
        octets: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        match self {
            Self::Tcp(segment) => Ok(tcp::encode(segment, endpoints, identification, extent, octets)?),
            Self::Udp(datagram) => Ok(udp::encode(datagram, endpoints, identification, extent, octets)?),
        }
    }
}

impl Pdu {
    /// Octets of its payload.
    #[must_use]
    pub const fn payload(&self) -> u32 {
        match self {
            Self::Tcp(segment) => segment.payload,
            Self::Udp(datagram) => datagram.payload,
        }
    }
}

impl From<Segment> for Pdu {
    fn from(segment: Segment) -> Self {
        Self::Tcp(segment)
    }
}

impl From<UserDatagram> for Pdu {
    fn from(datagram: UserDatagram) -> Self {
        Self::Udp(datagram)
    }
}

impl Datagram for Pdu {
    fn wire_len(&self) -> Bytes {
        match self {
            Self::Tcp(segment) => segment.wire_len(),
            Self::Udp(datagram) => datagram.wire_len(),
        }
    }

    fn flow(&self) -> FlowId {
        match self {
            Self::Tcp(segment) => segment.flow,
            Self::Udp(datagram) => datagram.flow,
        }
    }

    fn ecn(&self) -> Ecn {
        match self {
            Self::Tcp(segment) => segment.ecn,
            Self::Udp(datagram) => datagram.ecn,
        }
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        match self {
            Self::Tcp(segment) => segment.ecn = ecn,
            Self::Udp(datagram) => datagram.ecn = ecn,
        }
    }

    fn ack_header(&self) -> Option<AckHeader> {
        match self {
            Self::Tcp(segment) => segment.ack_header(),
            Self::Udp(datagram) => datagram.ack_header(),
        }
    }

    fn is_pure_ack(&self) -> bool {
        matches!(self, Self::Tcp(segment) if segment.is_pure_ack())
    }
}
