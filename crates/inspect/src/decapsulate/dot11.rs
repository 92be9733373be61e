//! Data frames of 802.11 (IEEE Std 802.11-2020, 9.3.2).

use super::Layer;
use super::closed::Closed;
use super::frame::Frame;
pub(super) use acklab_wire::dot11::msdu::SUBFRAME_HEADER;
use acklab_wire::dot11::{self, Data, DecodeError};
use std::borrow::Cow;

const NAME: &str = "802.11";
/// Octets of the frame check sequence (9.2.4.8).
const FCS: usize = 4;
/// Both service access points of SNAP, and the control field of an unnumbered information frame.
/// Most bodies begin with these octets.
const SNAP: [u8; 3] = [0xaa, 0xaa, 0x03];

/// The offset of the Sequence Control field, after three addresses (9.3.2.1).
const SEQUENCE_CONTROL: usize = 22;
/// Octets of the longest header: four addresses, QoS Control, HT Control (9.3.2.1).
const MAX_HEADER: usize = 36;

/// Opens a data frame. Returns its header without the body, and the body.
pub(super) fn open(
    mut frame: Frame<'_>,
    has_fcs: bool,
    is_padded: bool,
) -> Result<(Data<'static>, (Layer, Frame<'_>)), Closed> {
    if has_fcs {
        frame = frame.without_last(FCS);
    }
    let header = header_of(&frame.octets[..frame.octets.len().min(MAX_HEADER)]);
    let Some(&control) = header.first() else { return Err(frame.ends_before(1, NAME)) };
    if let Some(name) = without_data(control) {
        return Err(Closed::protocol(name));
    }
    let data = match dot11::decode_without_fcs(&header) {
        Ok(dot11::Frame::Data(data)) => data,
        Ok(_) => return Err(Closed::protocol("802.11 control")),
        Err(DecodeError::Protected) => return Err(Closed::protocol("802.11, encrypted")),
        Err(DecodeError::Cut { missing }) => {
            return Err(frame.ends_before(frame.octets.len() + missing, NAME));
        }
        Err(_) => return Err(Closed::protocol("802.11, other frames")),
    };
    let length = header.len() - data.body.len();
    let padding = if is_padded { length.next_multiple_of(4) - length } else { 0 };
    let body = behind_mesh_control(frame.skip(length + padding, NAME)?);
    let layer = if data.qos.is_some_and(|qos| qos.is_amsdu) { Layer::Amsdu } else { Layer::Llc };
    Ok((Data { body: &[], ..data }, (layer, body)))
}

/// Returns the header in the order of transmission. In CAPWAP, some access points swap the octets
/// of the Frame Control and Sequence Control fields. Then the second octet is that of a data frame,
/// and the first is not.
fn header_of(octets: &[u8]) -> Cow<'_, [u8]> {
    let is_data = |control: u8| control & 0x0f == 0x08;
    match *octets {
        [first, second, ..] if !is_data(first) && is_data(second) && is_swapped(first) => {
            let mut header = octets.to_vec();
            header.swap(0, 1);
            if header.len() > SEQUENCE_CONTROL + 1 {
                header.swap(SEQUENCE_CONTROL, SEQUENCE_CONTROL + 1);
            }
            header.into()
        }
        _ => octets.into(),
    }
}

/// Returns `true` if an octet contains flags, not a type. The version in the octet of the type is
/// zero (9.2.4.1.2). Flags of data frames have a non-zero direction there.
const fn is_swapped(first: u8) -> bool {
    first & 0b11 != 0
}

/// Returns the name of frames without data, by the type and subtype in their first octet (Table
/// 9-1).
const fn without_data(control: u8) -> Option<&'static str> {
    match (control >> 2 & 0b11, control >> 4) {
        (0, _) => Some("802.11 management"),
        (1, _) => Some("802.11 control"),
        (2, subtype) if subtype & 0b100 != 0 => Some("802.11 without data"),
        (3, _) => Some("802.11 extension"),
        _ => None,
    }
}

/// Skips the Mesh Control field (9.2.4.7.3): flags, TTL, sequence number, and up to two addresses.
/// Outside of a mesh, the bit that announces it has another meaning, so the LLC header decides.
fn behind_mesh_control(body: Frame<'_>) -> Frame<'_> {
    /// The two flag bits with the number of additional addresses, and their reserved value.
    const EXTENSION: u8 = 0b11;
    let is_llc = |frame: &Frame<'_>| frame.octets.starts_with(&SNAP);
    if is_llc(&body) {
        return body;
    }
    let addresses = body.octets.first().map_or(0, |flags| usize::from(flags & EXTENSION));
    body.skip(6 + 6 * addresses, NAME).ok().filter(is_llc).unwrap_or(body)
}

/// Returns the MSDUs of an A-MSDU (9.3.2.2.2). The snap length may have truncated the last one, and
/// cut off those after it.
pub(super) fn msdus(mut frame: Frame<'_>) -> impl Iterator<Item = Frame<'_>> {
    std::iter::from_fn(move || {
        let (header, rest) = frame.take::<SUBFRAME_HEADER>(NAME).ok()?;
        let length = usize::from(u16::from_be_bytes([header[12], header[13]]));
        let msdu = rest.at_most(length);
        // Each subframe except the last is padded to a multiple of four octets.
        let end = (SUBFRAME_HEADER + length).next_multiple_of(4) - SUBFRAME_HEADER;
        frame = rest.skip(end, NAME).unwrap_or_else(|_| rest.at_most(0));
        Some(msdu)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_wire::dot11::msdu::{self, Subframe};
    use acklab_wire::dot11::{AckPolicy, DistributionSystem, MacAddress, Qos, encode};

    const STATION: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const PLAIN: Data<'_> = Data {
        duration: 0,
        distribution_system: DistributionSystem::To,
        is_retry: false,
        has_more_fragments: false,
        has_more_data: false,
        is_sync: false,
        receiver: STATION,
        transmitter: STATION,
        address_3: STATION,
        sequence: 7,
        fragment: 0,
        qos: None,
        body: &[],
    };

    fn octets_of(data: &Data<'_>) -> Vec<u8> {
        let mut octets = Vec::new();
        encode(&dot11::Frame::Data(*data), &mut octets);
        octets
    }

    fn msdu(packet: &[u8]) -> Vec<u8> {
        let mut octets = Vec::new();
        msdu::append(msdu::IPV4, packet, &mut octets);
        octets
    }

    /// Returns the layer and the octets of the body of a frame with its FCS.
    fn opened(octets: &[u8]) -> Result<(Layer, Vec<u8>), Closed> {
        open(Frame::new(octets, octets.len()), true, false).map(|(_, (layer, body))| (layer, body.octets.to_vec()))
    }

    #[test]
    fn the_body_follows_the_header_with_and_without_qos_and_a_fourth_address() {
        let body = msdu(&[0x45]);
        let qos = Qos { tid: 0, ack_policy: AckPolicy::Normal, is_amsdu: false };
        let between = DistributionSystem::Between { address_4: STATION };
        for distribution_system in
            [DistributionSystem::To, DistributionSystem::From, DistributionSystem::Apart, between]
        {
            for qos in [None, Some(qos)] {
                let octets = octets_of(&Data { distribution_system, qos, body: &body, ..PLAIN });
                assert_eq!(opened(&octets), Ok((Layer::Llc, body.clone())));
            }
        }
    }

    #[test]
    fn ht_control_padding_and_mesh_control_are_left_out() {
        let body = msdu(&[0x45]);
        let qos = Some(Qos { tid: 0, ack_policy: AckPolicy::Normal, is_amsdu: false });
        let mut octets = octets_of(&Data { qos, body: &body, ..PLAIN });
        octets[1] |= 0x80;
        octets.splice(26..26, [1, 2, 3, 4]);
        assert_eq!(opened(&octets), Ok((Layer::Llc, body.clone())));

        let mut octets = octets_of(&Data { qos, body: &body, ..PLAIN });
        octets.splice(26..26, [0, 0]);
        let (_, (_, inner)) = open(Frame::new(&octets, octets.len()), true, true).unwrap();
        assert_eq!(inner.octets, body);

        let with_address = [&[1, 31, 0, 0, 0, 9, 2, 0, 0, 0, 0, 2][..], &body].concat();
        assert_eq!(opened(&octets_of(&Data { qos, body: &with_address, ..PLAIN })), Ok((Layer::Llc, body)));
    }

    #[test]
    fn swapped_control_fields_are_read() {
        let body = msdu(&[0x45]);
        let mut octets = octets_of(&Data { body: &body, ..PLAIN });
        octets.swap(0, 1);
        octets.swap(22, 23);
        let (data, _) = open(Frame::new(&octets, octets.len()), true, false).unwrap();
        assert_eq!((data.sequence, data.fragment), (7, 0));
        assert_eq!(opened(&octets), Ok((Layer::Llc, body)));
    }

    #[test]
    fn msdus_of_an_aggregate_are_separated() {
        let bodies = [msdu(&[0x45, 1]), msdu(&[0x45, 2, 3])];
        let mut aggregate = Vec::new();
        for msdu in &bodies {
            Subframe { destination: STATION, source: STATION, msdu }.append(&mut aggregate);
        }
        let found: Vec<_> = msdus(Frame::new(&aggregate, aggregate.len())).map(|msdu| msdu.octets.to_vec()).collect();
        assert_eq!(found, bodies);
        let qos = Some(Qos { tid: 0, ack_policy: AckPolicy::Normal, is_amsdu: true });
        assert_eq!(opened(&octets_of(&Data { qos, body: &aggregate, ..PLAIN })), Ok((Layer::Amsdu, aggregate.clone())));
        // The snap length cut the second MSDU, which has 11 octets on the wire.
        let cut: Vec<_> = msdus(Frame::new(&aggregate[..42], aggregate.len())).collect();
        assert_eq!(cut.iter().map(|msdu| (msdu.octets.len(), msdu.length)).collect::<Vec<_>>(), [(10, 10), (4, 11)]);
    }

    #[test]
    fn frames_without_readable_data_are_named() {
        let closed = |octets: &[u8]| opened(octets).unwrap_err();
        assert_eq!(closed(&[0x80, 0, 0, 0, 0]), Closed::protocol("802.11 management"));
        assert_eq!(closed(&[0xd4, 0, 0, 0, 0]), Closed::protocol("802.11 control"));
        assert_eq!(closed(&[0xc8, 0, 0, 0, 0]), Closed::protocol("802.11 without data"));
        let mut octets = octets_of(&PLAIN);
        octets[1] |= 0x40;
        assert_eq!(closed(&octets), Closed::protocol("802.11, encrypted"));
        assert_eq!(closed(&octets_of(&PLAIN)[..20]), Closed::Damaged(NAME));
    }
}
