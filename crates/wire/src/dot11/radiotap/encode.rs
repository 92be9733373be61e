//! Encodes radiotap headers.

use super::{
    Ampdu, Channel, Eht, He, Header, Ht, Modulation, Vht, ampdu, code, eht, field, flag, he, mcs, timestamp, tlv,
    u_sig, vht,
};

/// Version and padding octet, length, one presence word.
const FIXED: usize = 8;

/// Appends the octets of `header` to `octets`. Values without a code are marked as unknown.
pub fn append(header: &Header, octets: &mut Vec<u8>) {
    let mut fields = Fields { start: octets.len(), octets, present: 0 };
    fields.octets.extend_from_slice(&[0; FIXED]);
    if let Some(micros) = header.tsft {
        fields.put(field::TSFT, &micros.to_le_bytes());
    }
    fields.put(field::FLAGS, &[flags(header)]);
    if let Some(Modulation::Legacy(rate)) = header.modulation {
        fields.put(field::RATE, &[rate]);
    }
    if let Some(Channel { frequency, flags }) = header.channel {
        fields.put(field::CHANNEL, &pair(frequency, flags));
    }
    if let Some(signal) = header.signal {
        fields.put(field::SIGNAL, &signal.to_le_bytes());
    }
    if let Some(noise) = header.noise {
        fields.put(field::NOISE, &noise.to_le_bytes());
    }
    if let Some(Modulation::Ht(rate)) = header.modulation {
        fields.put(field::MCS, &ht(rate));
    }
    if let Some(ampdu) = header.ampdu {
        fields.put(field::AMPDU, &ampdu_status(ampdu));
    }
    if let Some(Modulation::Vht(rate)) = header.modulation {
        fields.put(field::VHT, &vht(rate));
    }
    if let Some(nanos) = header.end {
        let [a, b, c, d, e, f, g, h] = nanos.to_le_bytes();
        fields.put(field::TIMESTAMP, &[a, b, c, d, e, f, g, h, 0, 0, timestamp::NANOSECONDS_AT_END, 0]);
    }
    if let Some(Modulation::He(rate)) = header.modulation {
        fields.put(field::HE, &he(rate));
    }
    if let Some(Modulation::Eht(rate)) = header.modulation {
        fields.put_item(tlv::U_SIG, &u_sig_of(rate));
        fields.put_item(tlv::EHT, &eht_of(rate));
    }
    fields.finish();
}

struct Fields<'a> {
    start: usize,
    octets: &'a mut Vec<u8>,
    present: u32,
}

impl Fields<'_> {
    /// Appends a field. Each field is aligned relative to the start of the header.
    fn put(&mut self, field: u32, value: &[u8]) {
        let (len, alignment) = field::SHAPES[field as usize];
        debug_assert_eq!(value.len(), len, "field {field}");
        let at = (self.octets.len() - self.start).next_multiple_of(alignment);
        self.octets.resize(self.start + at, 0);
        self.octets.extend_from_slice(value);
        self.present |= 1 << field;
    }

    /// Appends an item of the list that ends the header.
    fn put_item(&mut self, kind: u16, value: &[u8]) {
        let at = (self.octets.len() - self.start).next_multiple_of(tlv::ALIGNMENT);
        self.octets.resize(self.start + at, 0);
        self.octets.extend_from_slice(&kind.to_le_bytes());
        self.octets.extend_from_slice(&(value.len() as u16).to_le_bytes());
        self.octets.extend_from_slice(value);
        self.present |= 1 << field::TLV;
    }

    fn finish(self) {
        let len = (self.octets.len() - self.start) as u16;
        let fixed = &mut self.octets[self.start..self.start + FIXED];
        fixed[2..4].copy_from_slice(&len.to_le_bytes());
        fixed[4..].copy_from_slice(&self.present.to_le_bytes());
    }
}

fn pair(low: u16, high: u16) -> [u8; 4] {
    (u32::from(low) | u32::from(high) << 16).to_le_bytes()
}

fn flags(header: &Header) -> u8 {
    let when = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    when(header.has_short_preamble, flag::SHORT_PREAMBLE)
        | when(header.has_fcs, flag::FCS)
        | when(header.is_padded, flag::PADDED)
        | when(header.is_damaged, flag::BAD_FCS)
}

fn ht(rate: Ht) -> [u8; 3] {
    let (width_known, width) = match rate.width {
        Some(20) => (mcs::WIDTH_KNOWN, 0),
        Some(40) => (mcs::WIDTH_KNOWN, mcs::MHZ_40),
        _ => (0, 0),
    };
    let (guard_known, guard) = match rate.guard {
        Some(400) => (mcs::GUARD_KNOWN, mcs::SHORT_GUARD),
        Some(800) => (mcs::GUARD_KNOWN, 0),
        _ => (0, 0),
    };
    let (coding_known, coding) = match rate.is_ldpc {
        Some(is_ldpc) => (mcs::CODING_KNOWN, if is_ldpc { mcs::LDPC } else { 0 }),
        None => (0, 0),
    };
    let (stbc_known, stbc) = rate.stbc.map_or((0, 0), |streams| (mcs::STBC_KNOWN, (streams & 0b11) << mcs::STBC_SHIFT));
    let (extension_known, extension) = rate.extension.map_or((0, 0), |streams| {
        let high = if streams & 0b10 != 0 { mcs::EXTENSION_HIGH } else { 0 };
        (mcs::EXTENSION_KNOWN | high, if streams & 0b01 != 0 { mcs::EXTENSION_LOW } else { 0 })
    });
    let known = mcs::INDEX_KNOWN | mcs::FORMAT_KNOWN | width_known | guard_known | coding_known | stbc_known;
    [known | extension_known, width | guard | coding | stbc | extension, rate.mcs]
}

fn ampdu_status(status: Ampdu) -> [u8; 8] {
    let bits = |state: Option<bool>, known: u16, is_set: u16| match state {
        None => 0,
        Some(false) => known,
        Some(true) => known | is_set,
    };
    let flags =
        bits(status.is_last, ampdu::LAST_KNOWN, ampdu::LAST) | bits(status.is_single, ampdu::EOF_KNOWN, ampdu::EOF);
    (u64::from(status.reference) | u64::from(flags) << 32).to_le_bytes()
}

fn vht(rate: Vht) -> [u8; 12] {
    let (width_known, width) = match rate.width.and_then(|width| code(&vht::WIDTHS, width)) {
        Some(width) => (vht::WIDTH_KNOWN, width),
        None => (0, 0),
    };
    let (guard_known, guard) = match rate.guard {
        Some(400) => (vht::GUARD_KNOWN, vht::SHORT_GUARD),
        Some(800) => (vht::GUARD_KNOWN, 0),
        _ => (0, 0),
    };
    let (stbc_known, stbc) = match rate.is_stbc {
        Some(is_stbc) => (vht::STBC_KNOWN, if is_stbc { vht::STBC } else { 0 }),
        None => (0, 0),
    };
    let [low, high] = (width_known | guard_known | stbc_known).to_le_bytes();
    let coding = if rate.is_ldpc { vht::LDPC } else { 0 };
    [low, high, guard | stbc, width, rate.mcs << 4 | rate.streams & 0xf, 0, 0, 0, coding, 0, 0, 0]
}

fn he(rate: He) -> [u8; 12] {
    let width = rate.width.and_then(|width| code(&he::WIDTHS, width));
    let guard = rate.guard.and_then(|guard| code(&he::GUARDS, guard));
    let training = rate.training.and_then(|training| code(&he::TRAININGS, training));
    let when = |is_known: bool, bit: u16| if is_known { bit } else { 0 };
    let words = [
        he::MCS_KNOWN
            | when(rate.is_ldpc.is_some(), he::CODING_KNOWN)
            | when(rate.is_stbc.is_some(), he::STBC_KNOWN)
            | when(width.is_some(), he::WIDTH_KNOWN),
        when(guard.is_some(), he::GUARD_KNOWN),
        u16::from(rate.mcs & 0xf) << he::MCS_SHIFT
            | when(rate.is_ldpc == Some(true), he::LDPC)
            | when(rate.is_stbc == Some(true), he::STBC),
        0,
        width.unwrap_or(0) | guard.unwrap_or(0) << he::GUARD_SHIFT | training.unwrap_or(0) << he::TRAINING_SHIFT,
        u16::from(rate.streams & 0xf),
    ];
    let mut octets = [0; 12];
    octets.chunks_exact_mut(2).zip(words).for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
    octets
}

fn u_sig_of(rate: Eht) -> [u8; u_sig::LEN] {
    let width = rate.width.and_then(|width| code(&u_sig::WIDTHS, width));
    let width = width.map_or(0, |width| u_sig::WIDTH_KNOWN | width << u_sig::WIDTH_SHIFT);
    words([u_sig::VERSION_KNOWN | width, u_sig::SINGLE_USER, u_sig::TYPE])
}

fn eht_of(rate: Eht) -> [u8; eht::LEN] {
    let guard = rate.guard.and_then(|guard| code(&he::GUARDS, guard));
    let training = rate.training.and_then(|training| code(&he::TRAININGS, training));
    let when = |is_known: bool, bit: u32| if is_known { bit } else { 0 };
    let known = when(guard.is_some(), eht::GUARD_KNOWN) | when(training.is_some(), eht::TRAINING_KNOWN);
    let common =
        u32::from(guard.unwrap_or(0)) << eht::GUARD_SHIFT | u32::from(training.unwrap_or(0)) << eht::TRAINING_SHIFT;
    let user = eht::MCS_KNOWN
        | eht::STREAMS_KNOWN
        | eht::CAPTURED
        | when(rate.is_ldpc.is_some(), eht::CODING_KNOWN)
        | when(rate.is_ldpc == Some(true), eht::LDPC)
        | u32::from(rate.mcs & 0xf) << eht::MCS_SHIFT
        | u32::from(rate.streams.wrapping_sub(1) & 0xf) << eht::STREAMS_SHIFT;
    words([known, common, 0, 0, 0, 0, 0, 0, 0, 0, user])
}

fn words<const WORDS: usize, const LEN: usize>(words: [u32; WORDS]) -> [u8; LEN] {
    let mut octets = [0; LEN];
    octets.chunks_exact_mut(4).zip(words).for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
    octets
}
