//! Encodes frames.

use super::block_ack::{FRAGMENT_OF_64, FRAGMENT_OF_256, FRAGMENT_OF_512, FRAGMENT_OF_1024, control};
use super::frame::{QOS_SYNC, flag, kind};
use super::{Beacon, BlockAck, BlockAckRequest, BlockBitmap, Data, DistributionSystem, Frame, MacAddress};
use acklab_base::Duration;

/// The largest duration that a Duration/ID field can announce (Table 9-9).
const LONGEST: u64 = 32_767;

/// Returns the Duration/ID field that announces `medium_busy` after the frame: in microseconds,
/// rounded up (9.2.5.1).
#[must_use]
pub const fn duration_field(medium_busy: Duration) -> u16 {
    let micros = medium_busy.as_nanos().div_ceil(1_000);
    (if micros < LONGEST { micros } else { LONGEST }) as u16
}

/// Replaces the contents of `octets` with the octets of `frame` and its FCS.
pub fn encode(frame: &Frame<'_>, octets: &mut Vec<u8>) {
    encode_with(frame, &[], octets);
}

/// Like [`encode`], but inserts the octets that TCP/HACK appends to a response frame, between the
/// last field and the FCS. Receivers without TCP/HACK ignore these octets.
pub fn encode_with(frame: &Frame<'_>, appended: &[u8], octets: &mut Vec<u8>) {
    octets.clear();
    match frame {
        Frame::Rts(rts) => {
            start(kind::RTS, 0, rts.duration, octets);
            octets.extend_from_slice(&rts.receiver.0);
            octets.extend_from_slice(&rts.transmitter.0);
        }
        Frame::Cts(cts) => {
            start(kind::CTS, 0, cts.duration, octets);
            octets.extend_from_slice(&cts.receiver.0);
        }
        Frame::Ack(ack) => {
            start(kind::ACK, 0, ack.duration, octets);
            octets.extend_from_slice(&ack.receiver.0);
        }
        Frame::BlockAckRequest(request) => block_ack_request(request, octets),
        Frame::BlockAck(frame) => block_ack(frame, octets),
        Frame::Data(frame) => data(frame, octets),
        Frame::Beacon(frame) => beacon(frame, octets),
    }
    octets.extend_from_slice(appended);
    octets.extend_from_slice(&fcs(octets));
}

/// Returns the frame check sequence of these octets (9.2.4.8), in the order of transmission: the
/// CRC-32 of IEEE 802.3, least significant octet first.
pub(super) fn fcs(octets: &[u8]) -> [u8; 4] {
    crc32fast::hash(octets).to_le_bytes()
}

fn start(kind: u8, flags: u8, duration: u16, octets: &mut Vec<u8>) {
    octets.extend_from_slice(&[kind, flags]);
    octets.extend_from_slice(&duration.to_le_bytes());
}

fn block_ack_request(request: &BlockAckRequest, octets: &mut Vec<u8>) {
    start(kind::BLOCK_ACK_REQUEST, 0, request.duration, octets);
    octets.extend_from_slice(&request.receiver.0);
    octets.extend_from_slice(&request.transmitter.0);
    octets.extend_from_slice(&compressed(request.tid).to_le_bytes());
    octets.extend_from_slice(&(request.start << 4).to_le_bytes());
}

fn block_ack(frame: &BlockAck, octets: &mut Vec<u8>) {
    start(kind::BLOCK_ACK, 0, frame.duration, octets);
    octets.extend_from_slice(&frame.receiver.0);
    octets.extend_from_slice(&frame.transmitter.0);
    octets.extend_from_slice(&compressed(frame.tid).to_le_bytes());
    let fragment = match frame.bitmap {
        BlockBitmap::Of64(_) => FRAGMENT_OF_64,
        BlockBitmap::Of256(_) => FRAGMENT_OF_256,
        BlockBitmap::Of512(_) => FRAGMENT_OF_512,
        BlockBitmap::Of1024(_) => FRAGMENT_OF_1024,
    };
    octets.extend_from_slice(&(frame.start << 4 | fragment).to_le_bytes());
    frame.bitmap.words().iter().for_each(|word| octets.extend_from_slice(&word.to_le_bytes()));
}

fn compressed(tid: u8) -> u16 {
    control::COMPRESSED | u16::from(tid) << control::TID_SHIFT
}

fn data(frame: &Data<'_>, octets: &mut Vec<u8>) {
    let when = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    let (directions, address_4) = match frame.distribution_system {
        DistributionSystem::Apart => (0, None),
        DistributionSystem::To => (flag::TO_DS, None),
        DistributionSystem::From => (flag::FROM_DS, None),
        DistributionSystem::Between { address_4 } => (flag::TO_DS | flag::FROM_DS, Some(address_4)),
    };
    let flags = directions
        | when(frame.has_more_fragments, flag::MORE_FRAGMENTS)
        | when(frame.is_retry, flag::RETRY)
        | when(frame.has_more_data, flag::MORE_DATA)
        | when(frame.is_sync && frame.qos.is_none(), flag::HT_CONTROL);
    let kind = if frame.qos.is_some() { kind::QOS_DATA } else { kind::DATA };
    start(kind, flags, frame.duration, octets);
    for address in [frame.receiver, frame.transmitter, frame.address_3] {
        octets.extend_from_slice(&address.0);
    }
    let sequence_control = frame.sequence << 4 | u16::from(frame.fragment & 0xf);
    octets.extend_from_slice(&sequence_control.to_le_bytes());
    octets.extend(address_4.into_iter().flat_map(|address| address.0));
    if let Some(qos) = frame.qos {
        let low = qos.tid & 0xf | when(frame.is_sync, QOS_SYNC) | qos.ack_policy.bits() << 5 | when(qos.is_amsdu, 0x80);
        octets.extend_from_slice(&[low, 0]);
    }
    octets.extend_from_slice(frame.body);
}

/// A group-addressed frame is not acknowledged, so its Duration field is zero (9.2.5.2).
fn beacon(frame: &Beacon<'_>, octets: &mut Vec<u8>) {
    start(kind::BEACON, 0, 0, octets);
    for address in [MacAddress::BROADCAST, frame.transmitter, frame.transmitter] {
        octets.extend_from_slice(&address.0);
    }
    octets.extend_from_slice(&(frame.sequence << 4).to_le_bytes());
    octets.extend_from_slice(&frame.timestamp.to_le_bytes());
    octets.extend_from_slice(&frame.interval.to_le_bytes());
    octets.extend_from_slice(&frame.capabilities.to_le_bytes());
    octets.extend_from_slice(frame.elements);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_rounded_up_and_has_fifteen_bits() {
        let field = |nanos| duration_field(Duration::from_nanos(nanos));
        assert_eq!((field(0), field(1), field(44_000), field(44_001)), (0, 1, 44, 45));
        assert_eq!((field(32_767_000), field(u64::MAX)), (32_767, 32_767));
    }
}
