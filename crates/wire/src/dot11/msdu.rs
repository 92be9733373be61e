//! The body of a data frame: an MSDU (a packet behind LLC and SNAP headers), or an A-MSDU.

use super::MacAddress;

/// The EtherType of IPv4.
pub const IPV4: u16 = etherparse::EtherType::IPV4.0;
/// The EtherType of IPv6.
pub const IPV6: u16 = etherparse::EtherType::IPV6.0;

/// Returns the EtherType of an IP packet, according to the IP version in its first octet.
#[must_use]
pub fn ether_type(packet: &[u8]) -> u16 {
    if packet.first().is_some_and(|first| first >> 4 == 6) { IPV6 } else { IPV4 }
}

/// The header of LLC (both service access points of SNAP, and an unnumbered information frame; IEEE
/// Std 802-2014, 9.4; RFC 1042), followed by the organisation code (OUI) that denotes EtherTypes.
const SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];
/// Octets of LLC and SNAP headers.
pub const SNAP_HEADER: usize = SNAP.len() + 2;
/// Octets of an A-MSDU subframe header (9.3.2.2.2).
pub const SUBFRAME_HEADER: usize = 14;

/// The reasons why octets are not an MSDU or an A-MSDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MsduError {
    /// There is no SNAP header.
    #[error("the MSDU does not begin with the LLC and SNAP headers of an EtherType")]
    NoSnap,
    /// The A-MSDU ends within a subframe.
    #[error("the A-MSDU ends where {missing} more octets were expected")]
    Cut {
        /// Octets that are missing.
        missing: usize,
    },
}

/// Appends the MSDU that carries `packet` to `octets`.
pub fn append(ether_type: u16, packet: &[u8], octets: &mut Vec<u8>) {
    octets.extend_from_slice(&SNAP);
    octets.extend_from_slice(&ether_type.to_be_bytes());
    octets.extend_from_slice(packet);
}

/// Returns the EtherType of an MSDU and its packet.
///
/// # Errors
/// If the MSDU has no LLC and SNAP headers.
pub fn packet(msdu: &[u8]) -> Result<(u16, &[u8]), MsduError> {
    let rest = msdu.strip_prefix(&SNAP).ok_or(MsduError::NoSnap)?;
    let (ether_type, packet) = rest.split_first_chunk().ok_or(MsduError::NoSnap)?;
    Ok((u16::from_be_bytes(*ether_type), packet))
}

/// One MSDU of an A-MSDU (9.3.2.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subframe<'a> {
    /// Destination address (DA).
    pub destination: MacAddress,
    /// Source address (SA).
    pub source: MacAddress,
    /// The MSDU.
    pub msdu: &'a [u8],
}

impl Subframe<'_> {
    /// Appends the subframe to the A-MSDU in `octets`, after padding the last subframe there to a
    /// multiple of four octets.
    ///
    /// # Panics
    /// If the MSDU has more than 65535 octets, which no frame can carry.
    pub fn append(&self, octets: &mut Vec<u8>) {
        octets.resize(octets.len().next_multiple_of(4), 0);
        octets.extend_from_slice(&self.destination.0);
        octets.extend_from_slice(&self.source.0);
        let len = u16::try_from(self.msdu.len()).expect("no frame carries an MSDU of more than 65535 octets");
        octets.extend_from_slice(&len.to_be_bytes());
        octets.extend_from_slice(self.msdu);
    }
}

/// Returns the subframes of the A-MSDU in these octets.
///
/// # Errors
/// If the A-MSDU ends within a subframe. The iterator yields nothing after an error.
pub fn subframes(amsdu: &[u8]) -> impl Iterator<Item = Result<Subframe<'_>, MsduError>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = amsdu.get(at..).filter(|rest| !rest.is_empty())?;
        let subframe = first(rest);
        at = match &subframe {
            Ok(subframe) => (at + SUBFRAME_HEADER + subframe.msdu.len()).next_multiple_of(4),
            Err(_) => amsdu.len(),
        };
        Some(subframe)
    })
}

fn first(octets: &[u8]) -> Result<Subframe<'_>, MsduError> {
    let Some((header, rest)) = octets.split_first_chunk::<SUBFRAME_HEADER>() else {
        return Err(MsduError::Cut { missing: SUBFRAME_HEADER - octets.len() });
    };
    let [a, b, c, d, e, f, source @ .., high, low] = *header;
    let len = usize::from(u16::from_be_bytes([high, low]));
    let msdu = rest.get(..len).ok_or_else(|| MsduError::Cut { missing: len - rest.len() })?;
    Ok(Subframe { destination: MacAddress([a, b, c, d, e, f]), source: MacAddress(source), msdu })
}
