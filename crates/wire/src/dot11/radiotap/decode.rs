//! Decodes radiotap headers.

use super::{
    Ampdu, Channel, Eht, He, Header, Ht, Modulation, Vht, ampdu, eht, field, flag, he, mcs, timestamp, tlv, u_sig,
    value, vht,
};

/// The reasons why octets do not begin with a radiotap header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Octets are missing.
    #[error("the radiotap header ends where {missing} more octets were expected")]
    Cut {
        /// Octets that are missing.
        missing: usize,
    },
    /// A version other than 0.
    #[error("found a radiotap header of version {0}, expected 0")]
    Version(u8),
}

/// Returns the radiotap header at the start of `octets`, and the octets after it.
///
/// Skips fields that [`Header`] lacks, further namespaces, and everything after a field of unknown
/// length.
///
/// # Errors
/// If `octets` do not begin with a radiotap header.
pub fn decode(octets: &[u8]) -> Result<(Header, &[u8]), DecodeError> {
    let Some(([version, _, len @ ..], _)) = octets.split_first_chunk::<4>() else {
        return Err(DecodeError::Cut { missing: 4 - octets.len() });
    };
    if *version != 0 {
        return Err(DecodeError::Version(*version));
    }
    let len = usize::from(u16::from_le_bytes(*len));
    let (all, frame) = octets.split_at_checked(len).ok_or_else(|| DecodeError::Cut { missing: len - octets.len() })?;

    let mut fields = Fields { octets: all, at: 4 };
    let present = fields.word()?;
    let mut further = present;
    while further & 1 << field::EXTENDED != 0 {
        further = fields.word()?;
    }
    let mut header = Header::default();
    for (field, (len, alignment)) in field::SHAPES.into_iter().enumerate() {
        if present & 1 << field != 0 {
            read(field as u32, fields.take(len, alignment)?, &mut header);
        }
    }
    if present & 1 << field::TLV != 0 {
        items(&mut fields, &mut header)?;
    }
    Ok((header, frame))
}

struct Fields<'a> {
    octets: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn take(&mut self, len: usize, alignment: usize) -> Result<&'a [u8], DecodeError> {
        let start = self.at.next_multiple_of(alignment);
        self.at = start + len;
        self.octets.get(start..self.at).ok_or_else(|| DecodeError::Cut { missing: self.at - self.octets.len() })
    }

    fn word(&mut self) -> Result<u32, DecodeError> {
        self.take(4, 1).map(|octets| number(octets) as u32)
    }
}

/// Returns up to eight octets as a little-endian number.
fn number(octets: &[u8]) -> u64 {
    octets.iter().rev().fold(0, |number, octet| number << 8 | u64::from(*octet))
}

fn read(field: u32, octets: &[u8], header: &mut Header) {
    match field {
        field::TSFT => header.tsft = Some(number(octets)),
        field::FLAGS => {
            let has = |flag: u8| octets[0] & flag != 0;
            header.has_short_preamble = has(flag::SHORT_PREAMBLE);
            header.has_fcs = has(flag::FCS);
            header.is_padded = has(flag::PADDED);
            header.is_damaged = has(flag::BAD_FCS);
        }
        field::RATE => header.modulation = Some(Modulation::Legacy(octets[0])),
        field::CHANNEL => {
            header.channel =
                Some(Channel { frequency: number(&octets[..2]) as u16, flags: number(&octets[2..]) as u16 });
        }
        field::SIGNAL => header.signal = Some(octets[0].cast_signed()),
        field::NOISE => header.noise = Some(octets[0].cast_signed()),
        field::MCS => header.modulation = ht(octets).map(Modulation::Ht).or(header.modulation),
        field::AMPDU => header.ampdu = Some(ampdu_status(octets)),
        field::VHT => header.modulation = vht(octets).map(Modulation::Vht).or(header.modulation),
        field::TIMESTAMP if octets[10] == timestamp::NANOSECONDS_AT_END => header.end = Some(number(&octets[..8])),
        field::HE => header.modulation = he(octets).map(Modulation::He).or(header.modulation),
        _ => {}
    }
}

/// Reads the list of items up to the end of the header.
fn items(fields: &mut Fields<'_>, header: &mut Header) -> Result<(), DecodeError> {
    let mut width = None;
    while fields.at.next_multiple_of(tlv::ALIGNMENT) < fields.octets.len() {
        let head = fields.take(tlv::HEADER, tlv::ALIGNMENT)?;
        let (kind, len) = (number(&head[..2]) as u16, number(&head[2..]) as usize);
        let item = fields.take(len, 1)?;
        match kind {
            tlv::U_SIG => width = u_sig_width(item),
            tlv::EHT => header.modulation = eht_of(item).map(Modulation::Eht).or(header.modulation),
            _ => {}
        }
    }
    if let Some(Modulation::Eht(rate)) = &mut header.modulation {
        rate.width = width;
    }
    Ok(())
}

/// Returns the word at this index. Octets that an item omits at its end are zero.
fn word_of(item: &[u8], place: usize) -> u32 {
    let at = item.len().min(place);
    number(&item[at..item.len().min(place + 4)]) as u32
}

fn u_sig_width(item: &[u8]) -> Option<u16> {
    let common = word_of(item, 0);
    let is_eht = common & u_sig::VERSION_KNOWN != 0 && common & u_sig::VERSION == 0;
    (is_eht && common & u_sig::WIDTH_KNOWN != 0)
        .then(|| value(&u_sig::WIDTHS, common >> u_sig::WIDTH_SHIFT & u_sig::WIDTH_MASK))
        .flatten()
}

fn eht_of(item: &[u8]) -> Option<Eht> {
    let (known, common) = (word_of(item, 0), word_of(item, 4));
    let users = (eht::USERS..item.len()).step_by(4).map(|place| word_of(item, place));
    let user = users.into_iter().find(|user| user & eht::CAPTURED != 0)?;
    (user & eht::MCS_KNOWN != 0 && user & eht::STREAMS_KNOWN != 0).then(|| Eht {
        mcs: (user >> eht::MCS_SHIFT & 0xf) as u8,
        streams: (user >> eht::STREAMS_SHIFT & 0xf) as u8 + 1,
        width: None,
        guard: (known & eht::GUARD_KNOWN != 0)
            .then(|| value(&he::GUARDS, (common >> eht::GUARD_SHIFT & 0b11) as u16))
            .flatten(),
        training: (known & eht::TRAINING_KNOWN != 0)
            .then(|| value(&he::TRAININGS, (common >> eht::TRAINING_SHIFT & 0b11) as u16))
            .flatten(),
        is_ldpc: (user & eht::CODING_KNOWN != 0).then_some(user & eht::LDPC != 0),
    })
}

fn ht(octets: &[u8]) -> Option<Ht> {
    let (known, flags, index) = (octets[0], octets[1], octets[2]);
    let knows = |bit: u8| known & bit != 0;
    knows(mcs::INDEX_KNOWN).then(|| Ht {
        mcs: index,
        // Codes 2 and 3 are also 20 MHz, in the lower or the upper half of 40 MHz.
        width: knows(mcs::WIDTH_KNOWN).then_some(if flags & mcs::WIDTH == mcs::MHZ_40 { 40 } else { 20 }),
        guard: knows(mcs::GUARD_KNOWN).then_some(if flags & mcs::SHORT_GUARD != 0 { 400 } else { 800 }),
        is_ldpc: knows(mcs::CODING_KNOWN).then_some(flags & mcs::LDPC != 0),
        stbc: knows(mcs::STBC_KNOWN).then_some(flags >> mcs::STBC_SHIFT & 0b11),
        extension: knows(mcs::EXTENSION_KNOWN)
            .then_some(u8::from(knows(mcs::EXTENSION_HIGH)) << 1 | u8::from(flags & mcs::EXTENSION_LOW != 0)),
    })
}

fn ampdu_status(octets: &[u8]) -> Ampdu {
    let flags = number(&octets[4..6]) as u16;
    let state = |known: u16, is_set: u16| (flags & known != 0).then_some(flags & is_set != 0);
    Ampdu {
        reference: number(&octets[..4]) as u32,
        is_last: state(ampdu::LAST_KNOWN, ampdu::LAST),
        is_single: state(ampdu::EOF_KNOWN, ampdu::EOF),
    }
}

fn vht(octets: &[u8]) -> Option<Vht> {
    let known = number(&octets[..2]) as u16;
    let (flags, width, user, coding) = (octets[2], octets[3], octets[4], octets[8]);
    // The first user is present if it has spatial streams.
    (user & 0xf != 0).then(|| Vht {
        mcs: user >> 4,
        streams: user & 0xf,
        width: (known & vht::WIDTH_KNOWN != 0).then(|| value(&vht::WIDTHS, width & 0x1f)).flatten(),
        guard: (known & vht::GUARD_KNOWN != 0).then_some(if flags & vht::SHORT_GUARD != 0 { 400 } else { 800 }),
        is_ldpc: coding & vht::LDPC != 0,
        is_stbc: (known & vht::STBC_KNOWN != 0).then_some(flags & vht::STBC != 0),
    })
}

fn he(octets: &[u8]) -> Option<He> {
    let word = |index: usize| number(&octets[2 * index..2 * index + 2]) as u16;
    let (data1, data2, data3, data5, data6) = (word(0), word(1), word(2), word(4), word(5));
    (data1 & he::FORMAT == 0 && data1 & he::MCS_KNOWN != 0).then(|| He {
        mcs: (data3 >> he::MCS_SHIFT & 0xf) as u8,
        streams: (data6 & 0xf) as u8,
        width: (data1 & he::WIDTH_KNOWN != 0).then(|| value(&he::WIDTHS, data5 & 0xf)).flatten(),
        guard: (data2 & he::GUARD_KNOWN != 0).then(|| value(&he::GUARDS, data5 >> he::GUARD_SHIFT & 0b11)).flatten(),
        training: value(&he::TRAININGS, data5 >> he::TRAINING_SHIFT & 0b11),
        is_ldpc: (data1 & he::CODING_KNOWN != 0).then_some(data3 & he::LDPC != 0),
        is_stbc: (data1 & he::STBC_KNOWN != 0).then_some(data3 & he::STBC != 0),
    })
}
