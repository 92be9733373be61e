//! Base headers for an IP-ID that is random or zero (RFC 6846, §8.2: `rnd_1` … `rnd_8`).

use super::{
    Base, TTL, Unchanged, msn, push, reaches, set_ack, set_rsf, set_scaled_ack, set_seq, set_ttl, ttl, window,
};
use crate::rohc::context::{References, State};
use crate::rohc::crc::Crc;
use crate::rohc::octets::{Fields, Octets, Reader};
use crate::rohc::wlsb::Lsb;
use crate::rohc::{Error, stride};

/// Discriminator, 18 bits of the sequence number, MSN, push, CRC.
const ONE: Fields<5> = Fields([6, 18, 4, 1, 3]);
const ONE_IS: u32 = 0b10_1110;
const ONE_SEQ: Lsb = Lsb::new(18, 65_535, 32);

/// Discriminator, 15 bits of the ACK number, MSN, push, CRC.
const THREE: Fields<5> = Fields([1, 15, 4, 1, 3]);
const THREE_ACK: Lsb = Lsb::new(15, 8191, 32);

/// Discriminator, scaled ACK number, MSN, push, CRC.
const FOUR: Fields<5> = Fields([4, 4, 4, 1, 3]);
const FOUR_IS: u32 = 0b1101;

/// Discriminator, push, MSN, CRC, 14 bits of the sequence number, 15 of the ACK number.
const FIVE: Fields<6> = Fields([3, 1, 4, 3, 14, 15]);
const FIVE_IS: u32 = 0b100;
const FIVE_SEQ: Lsb = Lsb::new(14, 8191, 32);
const FIVE_ACK: Lsb = THREE_ACK;

/// Discriminator, 18 bits of the ACK number, window, MSN, push, CRC.
const SEVEN: Fields<6> = Fields([6, 18, 16, 4, 1, 3]);
const SEVEN_IS: u32 = 0b10_1111;
const SEVEN_ACK: Lsb = Lsb::new(18, 65_535, 32);

/// Discriminator, RST/SYN/FIN, list, CRC, MSN, push, TTL, ECN, 16 bits of the sequence number and
/// of the ACK number.
const EIGHT: Fields<10> = Fields([5, 2, 1, 7, 4, 1, 3, 1, 16, 16]);
const EIGHT_IS: u32 = 0b1_0110;
const EIGHT_SEQ: Lsb = Lsb::new(16, 65_535, 32);
const EIGHT_ACK: Lsb = Lsb::new(16, 16_383, 32);

/// The formats by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rohc) enum Format {
    One,
    Three,
    Four,
    Five,
    Seven,
    Eight,
}

impl Format {
    pub(super) const fn octets(self) -> usize {
        match self {
            Self::One => ONE.octets(),
            Self::Three => THREE.octets(),
            Self::Four => FOUR.octets(),
            Self::Five => FIVE.octets(),
            Self::Seven => SEVEN.octets(),
            Self::Eight => EIGHT.octets(),
        }
    }

    /// Returns the shortest format that can encode `new`, if there is one.
    pub(super) fn shortest(new: &State, references: &References, unchanged: Unchanged, has_list: bool) -> Option<Self> {
        let seq = |lsb| reaches(lsb, new, references, State::seq);
        let ack = |lsb| reaches(lsb, new, references, State::ack_number);
        if has_list || !unchanged.ttl || !unchanged.ecn_used {
            let is_possible =
                unchanged.window && seq(EIGHT_SEQ) && ack(EIGHT_ACK) && reaches(TTL, new, references, ttl);
            return is_possible.then_some(Self::Eight);
        }
        if !unchanged.window {
            return (unchanged.seq && ack(SEVEN_ACK)).then_some(Self::Seven);
        }
        let shortest = if unchanged.seq {
            if unchanged.ack_scaled {
                Self::Four
            } else if ack(THREE_ACK) {
                Self::Three
            } else if ack(SEVEN_ACK) {
                Self::Seven
            } else {
                return None;
            }
        } else if unchanged.ack && seq(ONE_SEQ) {
            Self::One
        } else if seq(FIVE_SEQ) && ack(FIVE_ACK) {
            Self::Five
        } else if seq(EIGHT_SEQ) && ack(EIGHT_ACK) {
            Self::Eight
        } else {
            return None;
        };
        Some(shortest)
    }

    pub(super) fn write(self, new: &State, crc: u32, has_list: u32, out: &mut Octets) {
        let (seq, ack, msn, push) = (new.seq(), new.ack_number(), msn(new), push(new));
        match self {
            Self::One => ONE.pack([ONE_IS, ONE_SEQ.code(seq), msn, push, crc], out),
            Self::Three => THREE.pack([0, THREE_ACK.code(ack), msn, push, crc], out),
            Self::Four => {
                let scaled = stride::ACK_SCALED.code(stride::scaled(new.ack_stride, ack).0);
                FOUR.pack([FOUR_IS, scaled, msn, push, crc], out);
            }
            Self::Five => FIVE.pack([FIVE_IS, push, msn, crc, FIVE_SEQ.code(seq), FIVE_ACK.code(ack)], out),
            Self::Seven => SEVEN.pack([SEVEN_IS, SEVEN_ACK.code(ack), window(new), msn, push, crc], out),
            Self::Eight => {
                let (ttl, ecn, no_rsf) = (TTL.code(ttl(new)), u32::from(new.ecn_used), 0);
                let (seq, ack) = (EIGHT_SEQ.code(seq), EIGHT_ACK.code(ack));
                EIGHT.pack([EIGHT_IS, no_rsf, has_list, crc, msn, push, ttl, ecn, seq, ack], out);
            }
        }
    }
}

pub(super) fn read(next: &mut State, reader: &mut Reader) -> Result<Base, Error> {
    let octet = reader.peek()?;
    if octet >> 7 == 0 {
        let [_, ack, msn, push, crc] = THREE.unpack(reader)?;
        set_ack(next, THREE_ACK, ack);
        Ok(Base::of(msn, push, crc, next))
    } else if u32::from(octet >> 4) == FOUR_IS {
        let [_, ack, msn, push, crc] = FOUR.unpack(reader)?;
        let lacks_stride = !set_scaled_ack(next, ack);
        Ok(Base { lacks_stride, ..Base::of(msn, push, crc, next) })
    } else if u32::from(octet >> 5) == FIVE_IS {
        let [_, push, msn, crc, seq, ack] = FIVE.unpack(reader)?;
        set_seq(next, FIVE_SEQ, seq);
        set_ack(next, FIVE_ACK, ack);
        Ok(Base::of(msn, push, crc, next))
    } else if u32::from(octet >> 2) == ONE_IS {
        let [_, seq, msn, push, crc] = ONE.unpack(reader)?;
        set_seq(next, ONE_SEQ, seq);
        Ok(Base::of(msn, push, crc, next))
    } else if u32::from(octet >> 2) == SEVEN_IS {
        let [_, ack, window, msn, push, crc] = SEVEN.unpack(reader)?;
        set_ack(next, SEVEN_ACK, ack);
        next.ack.segment.window = window as u16;
        Ok(Base::of(msn, push, crc, next))
    } else if u32::from(octet >> 3) == EIGHT_IS {
        let [_, rsf, list, crc, msn, push, ttl, ecn, seq, ack] = EIGHT.unpack(reader)?;
        set_seq(next, EIGHT_SEQ, seq);
        set_ack(next, EIGHT_ACK, ack);
        set_ttl(next, ttl);
        set_rsf(next, rsf);
        next.ecn_used = ecn == 1;
        Ok(Base { crc: (Crc::Seven, crc as u8), has_list: list == 1, ..Base::of(msn, push, crc, next) })
    } else {
        Err(Error::Format { octet })
    }
}
