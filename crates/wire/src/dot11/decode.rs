//! Decoding of frames.

use super::block_ack::{FRAGMENT_OF_64, FRAGMENT_OF_256, FRAGMENT_OF_512, FRAGMENT_OF_1024, control};
use super::encode::fcs;
use super::frame::{QOS_SYNC, flag, kind};
use super::{
    AckPolicy, Beacon, BlockAck, BlockAckRequest, BlockBitmap, Data, DistributionSystem, Frame, MacAddress, Qos,
    Response, Rts,
};

/// The reasons why octets cannot be decoded as a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Octets are missing.
    #[error("the frame ends where {missing} more octets were expected")]
    Cut {
        /// Octets that are missing.
        missing: usize,
    },
    /// The FCS does not match the octets.
    #[error("the frame check sequence is wrong")]
    Fcs,
    /// The type of frame is not supported.
    #[error(
        "found a frame whose frame control begins with {0:#04x}, expected data, beacon, RTS, CTS, ACK or Block ACK"
    )]
    Kind(u8),
    /// The body is encrypted.
    #[error("the frame is encrypted")]
    Protected,
    /// A Block ACK or Block ACK request of another variant.
    #[error("found a Block ACK of type {0}, expected 2 (compressed)")]
    BlockAckType(u16),
    /// A Block ACK with a bitmap of another size.
    #[error("found a Block ACK with fragment number {0}, expected 0, 4, 8 or 10, a bitmap of 64 to 1024 frames")]
    BitmapSize(u16),
}

/// Decodes the frame in these octets, which end with its FCS.
///
/// # Errors
/// If the octets are damaged, or not a supported frame.
pub fn decode(octets: &[u8]) -> Result<Frame<'_>, DecodeError> {
    let Some((frame, check)) = octets.split_last_chunk::<4>() else {
        return Err(DecodeError::Cut { missing: 4 - octets.len() });
    };
    if fcs(frame) != *check { Err(DecodeError::Fcs) } else { decode_without_fcs(frame) }
}

/// Decodes the frame in these octets, which do not include the FCS.
///
/// # Errors
/// If the octets are not a supported frame.
pub fn decode_without_fcs(octets: &[u8]) -> Result<Frame<'_>, DecodeError> {
    let mut rest = Rest(octets);
    let [kind, flags] = rest.take()?;
    let duration = rest.number()?;
    Ok(match kind {
        kind::RTS => Frame::Rts(Rts { duration, receiver: rest.address()?, transmitter: rest.address()? }),
        kind::CTS => Frame::Cts(Response { duration, receiver: rest.address()? }),
        kind::ACK => Frame::Ack(Response { duration, receiver: rest.address()? }),
        kind::BLOCK_ACK_REQUEST => Frame::BlockAckRequest(block_ack_request(duration, &mut rest)?),
        kind::BLOCK_ACK => Frame::BlockAck(block_ack(duration, &mut rest)?),
        kind::DATA | kind::QOS_DATA => Frame::Data(data(kind == kind::QOS_DATA, flags, duration, rest)?),
        kind::BEACON => Frame::Beacon(beacon(rest)?),
        other => return Err(DecodeError::Kind(other)),
    })
}

fn block_ack_request(duration: u16, rest: &mut Rest<'_>) -> Result<BlockAckRequest, DecodeError> {
    let (receiver, transmitter, tid) = (rest.address()?, rest.address()?, compressed(rest.number()?)?);
    Ok(BlockAckRequest { duration, receiver, transmitter, tid, start: rest.number()? >> 4 })
}

fn block_ack(duration: u16, rest: &mut Rest<'_>) -> Result<BlockAck, DecodeError> {
    let (receiver, transmitter, tid) = (rest.address()?, rest.address()?, compressed(rest.number()?)?);
    let sequence_control = rest.number()?;
    let bitmap = match sequence_control & 0xf {
        FRAGMENT_OF_64 => BlockBitmap::Of64(rest.word()?),
        FRAGMENT_OF_256 => BlockBitmap::Of256(rest.words()?),
        FRAGMENT_OF_512 => BlockBitmap::Of512(rest.words()?),
        FRAGMENT_OF_1024 => BlockBitmap::Of1024(rest.words()?),
        other => return Err(DecodeError::BitmapSize(other)),
    };
    Ok(BlockAck { duration, receiver, transmitter, tid, start: sequence_control >> 4, bitmap })
}

/// Returns the TID of a BA or BAR Control field of the compressed variant.
fn compressed(field: u16) -> Result<u8, DecodeError> {
    match field & control::TYPE {
        control::COMPRESSED => Ok((field >> control::TID_SHIFT) as u8),
        other => Err(DecodeError::BlockAckType(other >> 1)),
    }
}

fn data(is_qos: bool, flags: u8, duration: u16, mut rest: Rest<'_>) -> Result<Data<'_>, DecodeError> {
    let has = |flag: u8| flags & flag != 0;
    if has(flag::PROTECTED) {
        return Err(DecodeError::Protected);
    }
    let (receiver, transmitter, address_3) = (rest.address()?, rest.address()?, rest.address()?);
    let sequence_control = rest.number()?;
    let distribution_system = match (has(flag::TO_DS), has(flag::FROM_DS)) {
        (false, false) => DistributionSystem::Apart,
        (true, false) => DistributionSystem::To,
        (false, true) => DistributionSystem::From,
        (true, true) => DistributionSystem::Between { address_4: rest.address()? },
    };
    let mut is_sync = !is_qos && has(flag::HT_CONTROL);
    let qos = if is_qos {
        let [low, _] = rest.take()?;
        is_sync = low & QOS_SYNC != 0;
        let qos = Qos { tid: low & 0xf, ack_policy: AckPolicy::from_bits(low >> 5), is_amsdu: low & 0x80 != 0 };
        if has(flag::HT_CONTROL) {
            // Skip the HT Control field (9.2.4.6), which is not used here.
            rest.take::<4>()?;
        }
        Some(qos)
    } else {
        None
    };
    Ok(Data {
        duration,
        distribution_system,
        is_retry: has(flag::RETRY),
        has_more_fragments: has(flag::MORE_FRAGMENTS),
        has_more_data: has(flag::MORE_DATA),
        is_sync,
        receiver,
        transmitter,
        address_3,
        sequence: sequence_control >> 4,
        fragment: (sequence_control & 0xf) as u8,
        qos,
        body: rest.0,
    })
}

fn beacon(mut rest: Rest<'_>) -> Result<Beacon<'_>, DecodeError> {
    let (_, transmitter, _) = (rest.address()?, rest.address()?, rest.address()?);
    let sequence = rest.number()? >> 4;
    let (timestamp, interval, capabilities) = (rest.word()?, rest.number()?, rest.number()?);
    Ok(Beacon { transmitter, sequence, timestamp, interval, capabilities, elements: rest.0 })
}

/// The octets that remain to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let present = self.0.len();
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(|| DecodeError::Cut { missing: N - present })?;
        self.0 = rest;
        Ok(*taken)
    }

    fn number(&mut self) -> Result<u16, DecodeError> {
        self.take().map(u16::from_le_bytes)
    }

    fn word(&mut self) -> Result<u64, DecodeError> {
        self.take().map(u64::from_le_bytes)
    }

    fn words<const N: usize>(&mut self) -> Result<[u64; N], DecodeError> {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.word()?;
        }
        Ok(words)
    }

    fn address(&mut self) -> Result<MacAddress, DecodeError> {
        self.take().map(MacAddress)
    }
}
