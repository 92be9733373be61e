//! Base headers for a sequential IP-ID (RFC 6846, §8.2: `seq_1` … `seq_8`).

use super::{
    Base, TTL, Unchanged, ip_id_offset, msn, push, reaches, reaches_ip_id, set_ack, set_ip_id_offset, set_rsf,
    set_scaled_ack, set_seq, set_ttl, ttl, window,
};
use crate::rohc::context::{References, State};
use crate::rohc::crc::Crc;
use crate::rohc::octets::{Fields, Octets, Reader};
use crate::rohc::wlsb::Lsb;
use crate::rohc::{Error, stride};

/// `ip_id_lsb(behavior, 4, 3)` of most formats.
const ID: Lsb = Lsb::new(4, 3, 16);

/// Discriminator, IP-ID, 16 bits of the sequence number, MSN, push, CRC.
const ONE: Fields<6> = Fields([4, 4, 16, 4, 1, 3]);
const ONE_IS: u32 = 0b1010;
const ONE_SEQ: Lsb = Lsb::new(16, 32_767, 32);

/// Discriminator, IP-ID, 16 bits of the ACK number, MSN, push, CRC.
const THREE: Fields<6> = Fields([4, 4, 16, 4, 1, 3]);
const THREE_IS: u32 = 0b1001;
const THREE_ACK: Lsb = Lsb::new(16, 16_383, 32);

/// Discriminator, scaled ACK number, IP-ID, MSN, push, CRC.
const FOUR: Fields<6> = Fields([1, 4, 3, 4, 1, 3]);
const FOUR_ID: Lsb = Lsb::new(3, 1, 16);

/// Discriminator, IP-ID, 16 bits of the ACK number, 16 of the sequence number, MSN, push, CRC.
const FIVE: Fields<7> = Fields([4, 4, 16, 16, 4, 1, 3]);
const FIVE_IS: u32 = 0b1000;
const FIVE_ACK: Lsb = THREE_ACK;
const FIVE_SEQ: Lsb = ONE_SEQ;

/// Discriminator, 15 bits of the window, IP-ID, 16 bits of the ACK number, MSN, push, CRC.
const SEVEN: Fields<7> = Fields([4, 15, 5, 16, 4, 1, 3]);
const SEVEN_IS: u32 = 0b1100;
const SEVEN_WINDOW: Lsb = Lsb::new(15, 16_383, 16);
const SEVEN_ID: Lsb = Lsb::new(5, 3, 16);
const SEVEN_ACK: Lsb = Lsb::new(16, 32_767, 32);

/// Discriminator, IP-ID, list, CRC, MSN, push, TTL, ECN, 15 bits of the ACK number, RST/SYN/FIN, 14
/// bits of the sequence number.
const EIGHT: Fields<11> = Fields([4, 4, 1, 7, 4, 1, 3, 1, 15, 2, 14]);
const EIGHT_IS: u32 = 0b1011;
const EIGHT_ACK: Lsb = Lsb::new(15, 8191, 32);
const EIGHT_SEQ: Lsb = Lsb::new(14, 8191, 32);

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
        let id = |lsb| reaches_ip_id(lsb, new, references);
        let is_long_possible = unchanged.window && id(ID) && seq(EIGHT_SEQ) && ack(EIGHT_ACK);
        if has_list || !unchanged.ttl || !unchanged.ecn_used {
            return (is_long_possible && reaches(TTL, new, references, ttl)).then_some(Self::Eight);
        }
        let is_seventh_possible =
            unchanged.seq && id(SEVEN_ID) && ack(SEVEN_ACK) && reaches(SEVEN_WINDOW, new, references, window);
        if !unchanged.window {
            return is_seventh_possible.then_some(Self::Seven);
        }
        if unchanged.seq && unchanged.ack_scaled && id(FOUR_ID) {
            Some(Self::Four)
        } else if unchanged.seq && ack(THREE_ACK) && id(ID) {
            Some(Self::Three)
        } else if unchanged.ack && seq(ONE_SEQ) && id(ID) {
            Some(Self::One)
        } else if seq(FIVE_SEQ) && ack(FIVE_ACK) && id(ID) {
            Some(Self::Five)
        } else if is_seventh_possible {
            Some(Self::Seven)
        } else {
            is_long_possible.then_some(Self::Eight)
        }
    }

    pub(super) fn write(self, new: &State, crc: u32, has_list: u32, out: &mut Octets) {
        let (seq, ack, id, msn, push) = (new.seq(), new.ack_number(), ip_id_offset(new), msn(new), push(new));
        match self {
            Self::One => ONE.pack([ONE_IS, ID.code(id), ONE_SEQ.code(seq), msn, push, crc], out),
            Self::Three => THREE.pack([THREE_IS, ID.code(id), THREE_ACK.code(ack), msn, push, crc], out),
            Self::Four => {
                let scaled = stride::ACK_SCALED.code(stride::scaled(new.ack_stride, ack).0);
                FOUR.pack([0, scaled, FOUR_ID.code(id), msn, push, crc], out);
            }
            Self::Five => {
                let (ack, seq) = (FIVE_ACK.code(ack), FIVE_SEQ.code(seq));
                FIVE.pack([FIVE_IS, ID.code(id), ack, seq, msn, push, crc], out);
            }
            Self::Seven => {
                let (window, id, ack) = (SEVEN_WINDOW.code(window(new)), SEVEN_ID.code(id), SEVEN_ACK.code(ack));
                SEVEN.pack([SEVEN_IS, window, id, ack, msn, push, crc], out);
            }
            Self::Eight => {
                let (ttl, ecn, no_rsf) = (TTL.code(ttl(new)), u32::from(new.ecn_used), 0);
                let (id, ack, seq) = (ID.code(id), EIGHT_ACK.code(ack), EIGHT_SEQ.code(seq));
                EIGHT.pack([EIGHT_IS, id, has_list, crc, msn, push, ttl, ecn, ack, no_rsf, seq], out);
            }
        }
    }
}

pub(super) fn read(next: &mut State, reader: &mut Reader) -> Result<Base, Error> {
    let octet = reader.peek()?;
    if octet >> 7 == 0 {
        let [_, ack, id, msn, push, crc] = FOUR.unpack(reader)?;
        let lacks_stride = !set_scaled_ack(next, ack);
        set_ip_id_offset(next, FOUR_ID, id);
        return Ok(Base { lacks_stride, ..Base::of(msn, push, crc, next) });
    }
    match u32::from(octet >> 4) {
        ONE_IS => {
            let [_, id, seq, msn, push, crc] = ONE.unpack(reader)?;
            set_seq(next, ONE_SEQ, seq);
            set_ip_id_offset(next, ID, id);
            Ok(Base::of(msn, push, crc, next))
        }
        THREE_IS => {
            let [_, id, ack, msn, push, crc] = THREE.unpack(reader)?;
            set_ack(next, THREE_ACK, ack);
            set_ip_id_offset(next, ID, id);
            Ok(Base::of(msn, push, crc, next))
        }
        FIVE_IS => {
            let [_, id, ack, seq, msn, push, crc] = FIVE.unpack(reader)?;
            set_seq(next, FIVE_SEQ, seq);
            set_ack(next, FIVE_ACK, ack);
            set_ip_id_offset(next, ID, id);
            Ok(Base::of(msn, push, crc, next))
        }
        SEVEN_IS => {
            let [_, code, id, ack, msn, push, crc] = SEVEN.unpack(reader)?;
            next.ack.segment.window = SEVEN_WINDOW.decode(window(next), code) as u16;
            set_ack(next, SEVEN_ACK, ack);
            set_ip_id_offset(next, SEVEN_ID, id);
            Ok(Base::of(msn, push, crc, next))
        }
        EIGHT_IS => {
            let [_, id, list, crc, msn, push, ttl, ecn, ack, rsf, seq] = EIGHT.unpack(reader)?;
            set_seq(next, EIGHT_SEQ, seq);
            set_ack(next, EIGHT_ACK, ack);
            set_ip_id_offset(next, ID, id);
            set_ttl(next, ttl);
            set_rsf(next, rsf);
            next.ecn_used = ecn == 1;
            Ok(Base { crc: (Crc::Seven, crc as u8), has_list: list == 1, ..Base::of(msn, push, crc, next) })
        }
        _ => Err(Error::Format { octet }),
    }
}
