//! Converts any frame of 802.11 to octets and back, and any octets to frames.

#[path = "properties/dot11_decode.rs"]
mod dot11_decode;

use acklab_wire::dot11::msdu::Subframe;
use acklab_wire::dot11::radiotap::{self, Ampdu, Channel, Eht, He, Header, Ht, Modulation, Vht};
use acklab_wire::dot11::{
    AckPolicy, BlockAck, BlockAckRequest, BlockBitmap, Data, DecodeError, DistributionSystem, Frame, MacAddress, Qos,
    Response, Rts, decode, encode,
};
use dot11_decode::what_decodes_survives_the_round_trip;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn octets_of(frame: &Frame<'_>) -> Vec<u8> {
    let mut octets = Vec::new();
    encode(frame, &mut octets);
    octets
}

fn address() -> impl Strategy<Value = MacAddress> {
    any::<[u8; 6]>().prop_map(MacAddress)
}

prop_compose! {
    fn any_data()(
        duration: u16,
        distribution_system in (0u8..4, address()).prop_map(|(kind, address_4)| match kind {
            0 => DistributionSystem::Apart,
            1 => DistributionSystem::To,
            2 => DistributionSystem::From,
            _ => DistributionSystem::Between { address_4 },
        }),
        (is_retry, has_more_fragments, has_more_data, is_sync) in any::<(bool, bool, bool, bool)>(),
        (receiver, transmitter, address_3) in (address(), address(), address()),
        (sequence, fragment) in (0u16..4096, 0u8..16),
        qos in option::of((0u8..16, select(vec![
            AckPolicy::Normal, AckPolicy::None, AckPolicy::NotExplicit, AckPolicy::Block,
        ]), any::<bool>()).prop_map(|(tid, ack_policy, is_amsdu)| Qos { tid, ack_policy, is_amsdu })),
    ) -> Data<'static> {
        Data {
            duration, distribution_system, is_retry, has_more_fragments, has_more_data, is_sync, receiver, transmitter, address_3,
            sequence, fragment, qos, body: &[],
        }
    }
}

fn any_control() -> impl Strategy<Value = Frame<'static>> {
    let ends = (any::<u16>(), address(), address(), 0u8..16, 0u16..4096);
    (ends, any::<[u64; 16]>(), 0..8).prop_map(|((duration, receiver, transmitter, tid, start), words, kind)| {
        let response = Response { duration, receiver };
        let block = |bitmap| Frame::BlockAck(BlockAck { duration, receiver, transmitter, tid, start, bitmap });
        match kind {
            0 => Frame::Rts(Rts { duration, receiver, transmitter }),
            1 => Frame::Cts(response),
            2 => Frame::Ack(response),
            3 => Frame::BlockAckRequest(BlockAckRequest { duration, receiver, transmitter, tid, start }),
            4 => block(BlockBitmap::Of64(words[0])),
            5 => block(BlockBitmap::holding(&words[..4])),
            6 => block(BlockBitmap::holding(&words[..8])),
            _ => block(BlockBitmap::Of1024(words)),
        }
    })
}

fn any_modulation() -> impl Strategy<Value = Modulation> {
    let narrow = option::of(select(vec![20, 40]));
    let wide = option::of(select(vec![20, 40, 80, 160]));
    let short = option::of(select(vec![400, 800]));
    let widest = option::of(select(vec![20, 40, 80, 160, 320]));
    let long = option::of(select(vec![800, 1600, 3200]));
    let training = option::of(select(vec![1, 2, 4]));
    prop_oneof![
        any::<u8>().prop_map(Modulation::Legacy),
        (any::<u8>(), narrow, short.clone(), any::<Option<bool>>(), option::of(0u8..4), option::of(0u8..4)).prop_map(
            |(mcs, width, guard, is_ldpc, stbc, extension)| {
                Modulation::Ht(Ht { mcs, width, guard, is_ldpc, stbc, extension })
            }
        ),
        (0u8..16, 1u8..9, wide.clone(), short, any::<bool>(), any::<Option<bool>>()).prop_map(
            |(mcs, streams, width, guard, is_ldpc, is_stbc)| {
                Modulation::Vht(Vht { mcs, streams, width, guard, is_ldpc, is_stbc })
            }
        ),
        (0u8..16, 1u8..17, widest, long.clone(), training.clone(), any::<Option<bool>>()).prop_map(
            |(mcs, streams, width, guard, training, is_ldpc)| {
                Modulation::Eht(Eht { mcs, streams, width, guard, training, is_ldpc })
            }
        ),
        (0u8..16, 1u8..9, wide, long, training, any::<[Option<bool>; 2]>()).prop_map(
            |(mcs, streams, width, guard, training, [is_ldpc, is_stbc])| {
                Modulation::He(He { mcs, streams, width, guard, training, is_ldpc, is_stbc })
            }
        ),
    ]
}

prop_compose! {
    fn any_header()(
        (tsft, end) in any::<(Option<u64>, Option<u64>)>(),
        (has_short_preamble, has_fcs, is_padded, is_damaged) in any::<(bool, bool, bool, bool)>(),
        channel: Option<(u16, u16)>,
        (signal, noise) in any::<(Option<i8>, Option<i8>)>(),
        modulation in option::of(any_modulation()),
        ampdu: Option<(u32, Option<bool>, Option<bool>)>,
    ) -> Header {
        Header {
            tsft, has_short_preamble, has_fcs, is_padded, is_damaged,
            channel: channel.map(|(frequency, flags)| Channel { frequency, flags }),
            signal, noise, modulation,
            ampdu: ampdu.map(|(reference, is_last, is_single)| Ampdu { reference, is_last, is_single }),
            end,
        }
    }
}

proptest! {
    #[test]
    fn any_data_frame_survives_the_round_trip(data in any_data(), body in vec(any::<u8>(), 0..200)) {
        let frame = Frame::Data(Data { body: &body, ..data });
        let octets = octets_of(&frame);
        prop_assert_eq!(decode(&octets), Ok(frame));
    }

    #[test]
    fn any_control_frame_does(frame in any_control()) {
        let octets = octets_of(&frame);
        prop_assert_eq!(decode(&octets), Ok(frame));
    }

    #[test]
    fn any_header_does(header in any_header(), before in vec(any::<u8>(), 0..9), frame in vec(any::<u8>(), 0..9)) {
        let mut octets = before.clone();
        radiotap::append(&header, &mut octets);
        octets.extend_from_slice(&frame);
        prop_assert_eq!(radiotap::decode(&octets[before.len()..]), Ok((header, &frame[..])));
    }

    #[test]
    fn any_octets_do(octets in vec(any::<u8>(), 0..200)) {
        what_decodes_survives_the_round_trip(&octets);
    }

    #[test]
    fn any_damage_to_a_frame_does(
        header in any_header(),
        data in any_data(),
        msdus in vec(vec(any::<u8>(), 0..20), 0..4),
        control in any_control(),
        is_data: bool,
        damage in vec(any::<(Index, u8)>(), 0..8),
        end in any::<Index>(),
    ) {
        let mut body = Vec::new();
        for msdu in &msdus {
            Subframe { destination: data.receiver, source: data.transmitter, msdu }.append(&mut body);
        }
        let frame = if is_data { Frame::Data(Data { body: &body, ..data }) } else { control };
        let mut octets = Vec::new();
        radiotap::append(&header, &mut octets);
        octets.extend_from_slice(&octets_of(&frame));
        for (place, octet) in damage {
            *place.get_mut(&mut octets) = octet;
        }
        what_decodes_survives_the_round_trip(&octets);
        what_decodes_survives_the_round_trip(&octets[..end.index(octets.len())]);
    }

    #[test]
    fn any_flip_in_a_frame_is_noticed(frame in any_control(), bit in any::<Index>()) {
        let mut octets = octets_of(&frame);
        let bit = bit.index(octets.len() * 8);
        octets[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(decode(&octets), Err(DecodeError::Fcs));
    }
}
