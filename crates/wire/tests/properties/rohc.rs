//! Properties of compression for any sequence of ACKs, which the tests of this crate and the fuzz
//! target `rohc_decompress` share.

use acklab_base::Ecn;
use acklab_wire::Endpoints;
use acklab_wire::ipv4::Ipv4Fields;
use acklab_wire::rohc::{
    Ack, Checksum, Compressor, Decompressed, Decompressor, Error, MAX_REFERENCES, Octets, Profile, RohcConfig,
    write_frame,
};
use acklab_wire::tcp::{
    AccurateEcn, FieldOrder, Flags, Options, SackBlock, SackBlocks, Segment, SeqNumber, Timestamps,
};
use std::collections::VecDeque;

/// Draws choices from octets, and zeros after their end.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn u8(&mut self) -> u8 {
        let (&octet, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        octet
    }

    fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.u8(), self.u8()])
    }

    fn u32(&mut self) -> u32 {
        u32::from(self.u16()) << 16 | u32::from(self.u16())
    }

    fn below(&mut self, end: u8) -> u8 {
        self.u8() % end
    }

    /// Returns `true` once in `every` times.
    fn rarely(&mut self, every: u8) -> bool {
        self.below(every) == every - 1
    }
}

/// Changes `ack` to the next ACK of its flow: usually as a TCP receiver does, sometimes
/// arbitrarily.
fn advance(ack: &mut Ack, ids: u8, choices: &mut Choices) {
    let mss = if choices.rarely(16) { 1 + u32::from(choices.u16()) } else { 1448 };
    let segment = &mut ack.segment;
    let advance = match choices.below(16) {
        0..9 => 2 * mss,
        9..12 => mss * u32::from(choices.below(16)),
        12 | 13 => 0,
        14 => u32::from(choices.u16()),
        _ => choices.u32(),
    };
    segment.ack.0 = segment.ack.0.wrapping_add(advance);
    if choices.rarely(8) {
        segment.window = choices.u16();
    }
    if choices.rarely(16) {
        segment.seq.0 = segment.seq.0.wrapping_add(if choices.rarely(4) { choices.u32() } else { mss });
    }
    if choices.rarely(32) {
        segment.flags = Flags::ACK | Flags::from_ace(choices.u8());
    }
    if choices.rarely(32) {
        segment.flags = segment.flags | Flags::PSH;
    }
    if choices.rarely(64) {
        segment.ecn = Ecn::from_bits(choices.u8());
    }
    options(&mut segment.options, segment.ack.0, mss, choices);

    let ip = &mut ack.ip;
    ip.identification = match ids {
        0 => 0,
        1 => ip.identification.wrapping_add(1),
        2 => ip.identification.swap_bytes().wrapping_add(1).swap_bytes(),
        _ => choices.u16(),
    };
    if choices.rarely(64) {
        ip.identification = choices.u16();
    }
    if choices.rarely(128) {
        *ip = Ipv4Fields {
            dscp: choices.u8() & 0x3f,
            dont_fragment: choices.rarely(2),
            time_to_live: choices.u8(),
            ..*ip
        };
    }
}

fn options(options: &mut Options, ack: u32, mss: u32, choices: &mut Choices) {
    if choices.rarely(64) {
        options.timestamps = match options.timestamps {
            None => Some(Timestamps { value: choices.u32(), echo: choices.u32() }),
            Some(_) => None,
        };
    }
    if let Some(Timestamps { value, echo }) = &mut options.timestamps {
        let mut tick = |clock: &mut u32| {
            *clock = clock.wrapping_add(match choices.below(16) {
                0..5 => 0,
                5..12 => 1,
                12..15 => u32::from(choices.u8()),
                _ => choices.u32() >> (choices.u8() & 31),
            });
        };
        tick(value);
        tick(echo);
    }
    if choices.rarely(8) {
        options.sack = SackBlocks::default();
        let mut base = ack;
        for _ in 0..choices.below(4) {
            let far = |choices: &mut Choices| if choices.rarely(8) { choices.u32() } else { mss };
            let start = base.wrapping_add(far(choices));
            let end = start.wrapping_add(far(choices));
            options.sack.push(SackBlock { start: SeqNumber(start), end: SeqNumber(end) });
            base = end;
        }
    }
    if choices.rarely(32) {
        let counters: Vec<u64> = (0..choices.below(4)).map(|_| u64::from(choices.u32())).collect();
        let order = if choices.rarely(2) { FieldOrder::Ect0First } else { FieldOrder::Ect1First };
        options.accurate_ecn = choices.rarely(2).then(|| AccurateEcn::new(order, &counters));
    }
    if choices.rarely(128) {
        options.ack_ratio = choices.rarely(2).then(|| choices.u8());
    }
    if options.wire_len() > Options::ROOM {
        *options = Options { timestamps: options.timestamps, ..Options::default() };
    }
}

fn first(connection: u32, choices: &mut Choices) -> Ack {
    let timestamps = choices.rarely(2).then(|| Timestamps { value: choices.u32(), echo: choices.u32() });
    let segment = Segment {
        ecn: Ecn::NotEct,
        seq: SeqNumber(choices.u32()),
        ack: SeqNumber(choices.u32()),
        flags: Flags::ACK,
        window: choices.u16(),
        options: Options { timestamps, ..Options::default() },
        payload: 0,
    };
    let ip = Ipv4Fields { identification: choices.u16(), ..Ipv4Fields::default() };
    Ack { ip, ..Ack::of(segment, Endpoints::of_connection(connection).reverse()) }
}

struct Flow {
    ack: Ack,
    /// The behavior of the flow's IP-ID.
    ids: u8,
    /// The number of consecutive compressed ACKs that were lost.
    lost: u8,
}

fn flows(choices: &mut Choices) -> Vec<Flow> {
    let count = if choices.rarely(4) { 1 + choices.below(24) } else { 1 };
    let flow = |connection| {
        let ids = choices.below(4);
        let mut ack = first(connection, choices);
        if ids == 0 {
            ack.ip.identification = 0;
        }
        Flow { ack, ids, lost: 0 }
    };
    (0..u32::from(count)).map(flow).collect()
}

/// Checks that the decompressor restores any ACKs of any flows exactly, if fewer are lost in a row
/// than the configuration allows. Neither end may panic on any octets in place of a compressed ACK.
/// Returns the number of ACKs, and their octets when compressed.
///
/// # Panics
/// If the property is violated.
pub(crate) fn acks_come_out_as_they_went_in(octets: &[u8]) -> (u64, u64) {
    let mut choices = Choices(octets);
    let references = 1 + choices.below(MAX_REFERENCES as u8);
    let checksum = if choices.rarely(2) { Checksum::Carried } else { Checksum::Elided };
    if choices.rarely(2) {
        packets(RohcConfig { checksum, references, ..RohcConfig::standard() }, &mut choices)
    } else {
        frames(RohcConfig { checksum, references, ..RohcConfig::hack() }, &mut choices)
    }
}

fn packets(config: RohcConfig, choices: &mut Choices) -> (u64, u64) {
    let (mut compressor, mut decompressor) = (Compressor::new(config), Decompressor::new(config));
    let mut flows = flows(choices);
    let (mut acks, mut sum, mut octets) = (0, 0, Octets::new());
    while !choices.is_empty() {
        let place = usize::from(choices.u8()) % flows.len();
        let flow = &mut flows[place];
        advance(&mut flow.ack, flow.ids, choices);
        compressor.compress(&flow.ack, &mut octets).expect("a pure ACK is compressed");
        acks += 1;
        sum += octets.len() as u64;
        let is_lost = choices.rarely(4) && flow.lost + 1 < config.references;
        flow.lost = if is_lost { flow.lost + 1 } else { 0 };
        if is_lost {
            continue;
        }
        damage(&decompressor, &octets, choices);
        let mut out = None;
        let done = decompressor.decompress(&octets, |_, ack| out = Some(*ack));
        assert_eq!(done, Ok(Decompressed { acks: 1, duplicates: 0 }), "{:?}: {octets:02x?}", flow.ack);
        is_the_same(&out.expect("it was delivered"), &flow.ack);
        if choices.rarely(16) {
            let again = decompressor.decompress(&octets, |_, _| {});
            assert_eq!(again, Ok(Decompressed { acks: 0, duplicates: 1 }), "{octets:02x?}");
        }
    }
    (acks, sum)
}

fn is_the_same(out: &Ack, went_in: &Ack) {
    assert_eq!(out, went_in);
    assert_eq!(out.headers(), went_in.headers());
}

/// A decompressor may accept or refuse damaged octets, but does not panic.
fn damage(decompressor: &Decompressor, octets: &[u8], choices: &mut Choices) {
    if !choices.rarely(8) {
        return;
    }
    let (mut other, mut octets) = (decompressor.clone(), octets.to_vec());
    for _ in 0..choices.below(4) {
        let place = usize::from(choices.u8()) % octets.len();
        octets[place] = choices.u8();
    }
    octets.truncate(octets.len() - usize::from(choices.u8()) % (octets.len() + 1) / 2);
    while choices.rarely(4) {
        octets.push(choices.u8());
    }
    let _ = other.decompress(&octets, |_, _| {});
    let _ = other.decompress(choices.0, |_, _| {});
}

/// A frame has eight bits of its first number. They represent numbers up to 128 beyond the last
/// number that arrived (Salameh et al., §3.4). The driver does not exceed this range.
const MAX_UNCONFIRMED: u32 = 128;

/// Runs a client that keeps its compressed ACKs until a frame with them is confirmed, or
/// discards them and continues with uncompressed ones.
fn frames(config: RohcConfig, choices: &mut Choices) -> (u64, u64) {
    let (mut compressor, mut decompressor) = (Compressor::new(config), Decompressor::new(config));
    let mut flows = flows(choices);
    // The number, the octets, the ACK, and `true` if the ACK has been delivered.
    let mut kept: VecDeque<(u16, Octets, Ack, bool)> = VecDeque::new();
    let (mut acks, mut sum, mut octets, mut frame) = (0, 0, Octets::new(), Vec::new());
    // Numbers used since the last frame arrived.
    let mut unconfirmed = 0;
    while !choices.is_empty() {
        match choices.below(8) {
            // An ACK is held.
            0..5 => {
                let place = usize::from(choices.u8()) % flows.len();
                let flow = &mut flows[place];
                advance(&mut flow.ack, flow.ids, choices);
                acks += 1;
                match compressor.compress(&flow.ack, &mut octets) {
                    Some(msn) if kept.len() < 64 && unconfirmed < MAX_UNCONFIRMED => {
                        unconfirmed += 1;
                        sum += octets.len() as u64;
                        kept.push_back((msn, octets.clone(), flow.ack, false));
                    }
                    // The driver has no room for the ACK, and does not use its number.
                    Some(msn) => {
                        compressor.rewind(msn);
                        kept.iter().for_each(|(_, _, ack, _)| compressor.discard(ack.endpoints));
                        kept.clear();
                        compressor.discard(flow.ack.endpoints);
                        uncompressed(&flow.ack, &mut compressor, &mut decompressor);
                    }
                    None => uncompressed(&flow.ack, &mut compressor, &mut decompressor),
                }
            }
            // A link-layer acknowledgment with all held ACKs arrives. The client may receive the
            // confirmation.
            5 | 6 => {
                frame.clear();
                let Some((first, ..)) = kept.front() else { continue };
                let follow = kept.iter().zip(0..).all(|((msn, ..), place)| msn.wrapping_sub(*first) == place);
                assert!(follow, "the numbers of a frame are consecutive");
                let octets: Vec<u8> = kept.iter().flat_map(|(_, octets, ..)| octets.iter().copied()).collect();
                write_frame(config.numbers, *first, &octets, &mut frame);
                damage(&decompressor, &frame, choices);
                let mut out = Vec::new();
                let done = decompressor.decompress(&frame, |_, ack| out.push(*ack));
                let new = kept.iter().filter(|(.., is_delivered)| !is_delivered).map(|(_, _, ack, _)| *ack);
                let new: Vec<Ack> = new.collect();
                let duplicates = kept.len() - new.len();
                assert_eq!(done, Ok(Decompressed { acks: new.len(), duplicates }), "{frame:02x?}");
                out.iter().zip(&new).for_each(|(out, went_in)| is_the_same(out, went_in));
                kept.iter_mut().for_each(|(.., is_delivered)| *is_delivered = true);
                unconfirmed = 0;
                if choices.rarely(2) {
                    kept.clear();
                }
            }
            // No more data follow, so the stored ACKs are discarded.
            _ => {
                kept.iter().for_each(|(_, _, ack, _)| compressor.discard(ack.endpoints));
                kept.clear();
            }
        }
    }
    (acks, sum)
}

fn uncompressed(ack: &Ack, compressor: &mut Compressor, decompressor: &mut Decompressor) {
    compressor.observe(ack);
    decompressor.observe(ack);
}

/// Checks that a decompressor with or without contexts accepts any octets or returns an error,
/// without a panic.
///
/// # Panics
/// If the property is violated.
pub(crate) fn any_octets_are_accepted_or_refused(octets: &[u8]) {
    for config in [RohcConfig::standard(), RohcConfig::hack()] {
        let mut choices = Choices(octets);
        let ack = first(0, &mut choices);
        let (mut compressor, mut decompressor) = (Compressor::new(config), Decompressor::new(config));
        uncompressed(&ack, &mut compressor, &mut decompressor);
        let mut introduction = Octets::new();
        if config.profile == Profile::Standard && compressor.compress(&ack, &mut introduction).is_some() {
            assert!(decompressor.decompress(&introduction, |_, _| {}).is_ok());
        }
        let refused: Result<_, Error> = decompressor.decompress(octets, |_, ack| assert!(ack.headers().is_ok()));
        if let Err(error) = refused {
            assert!(!error.to_string().is_empty());
        }
    }
}
