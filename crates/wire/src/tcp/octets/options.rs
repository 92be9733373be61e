//! Encoding and decoding of TCP options.

use super::DecodeError;
use crate::ipv4;
use crate::tcp::{AccurateEcn, AckRate, FieldOrder, Flags, Options, SackBlock, SackBlocks, SeqNumber, Timestamps};
use etherparse::tcp_option::{
    KIND_END, KIND_MAXIMUM_SEGMENT_SIZE, KIND_NOOP, KIND_SELECTIVE_ACK, KIND_SELECTIVE_ACK_PERMITTED, KIND_TIMESTAMP,
    KIND_WINDOW_SCALE,
};

const ROOM: usize = Options::ROOM as usize;
/// `AccECN0` and `AccECN1` (RFC 9768, §3.2.3).
pub(crate) const KIND_ACCURATE_ECN: [u8; 2] = [172, 174];

/// The option kind that experiments share. Each experiment has an identifier in the two octets
/// after the length (RFC 4727, §7; RFC 6994, §3).
pub(crate) const KIND_EXPERIMENT: u8 = 253;
/// The experiment identifier of the two options of RFC 5690, to which no kinds were assigned: the
/// number of the RFC, which is not registered. The two options differ in length.
const ACK_CONGESTION_CONTROL: [u8; 2] = [0x56, 0x90];
/// The other kind that experiments share, with the same identifiers (RFC 6994, §3). Implementations
/// of TARR send it (packetdrill, ns-3).
const KIND_OTHER_EXPERIMENT: u8 = 254;
/// The experiment identifier of TARR (IANA, TCP Experimental Option Experiment Identifiers).
const ACK_RATE: [u8; 2] = [0x00, 0xac];
/// The number of reserved bits below the seven bits of R, the requested number of segments per ACK.
const ACK_RATE_SHIFT: u8 = 1;

/// The option kinds that [`Options`] represents.
const KNOWN: [u8; 5] =
    [KIND_MAXIMUM_SEGMENT_SIZE, KIND_WINDOW_SCALE, KIND_SELECTIVE_ACK_PERMITTED, KIND_SELECTIVE_ACK, KIND_TIMESTAMP];

/// Options as laid out in a header.
pub(super) struct Layout {
    octets: [u8; ROOM],
    len: usize,
}

impl Layout {
    const EMPTY: Self = Self { octets: [0; ROOM], len: 0 };

    /// Arranges `options` in the order of Linux (`tcp_options_write`): MSS, timestamps (with
    /// SACK-permitted in place of their padding), window scale, SACK. The options of RFC 5690, of
    /// TARR (which Linux lacks) and AccECN are last. Padding between options is omitted if the
    /// options do not fit otherwise. Returns `None` if they do not fit in a header.
    #[inline]
    pub(super) fn of(options: &Options) -> Option<Self> {
        let mut layout = Self::EMPTY;
        if !options.has_nothing_but_timestamps() {
            layout.put_many(options)?;
        } else if let Some(timestamps) = options.timestamps {
            layout.put_timestamps(timestamps);
        }
        Some(layout)
    }

    /// Adds timestamps after two NOPs, the only options of most segments.
    fn put_timestamps(&mut self, Timestamps { value, echo }: Timestamps) {
        self.octets[..4].copy_from_slice(&[KIND_NOOP, KIND_NOOP, KIND_TIMESTAMP, 10]);
        self.octets[4..8].copy_from_slice(&value.to_be_bytes());
        self.octets[8..12].copy_from_slice(&echo.to_be_bytes());
        self.len = 12;
    }

    #[cold]
    fn put_many(&mut self, options: &Options) -> Option<()> {
        let is_dense = options.aligned_len() > Options::ROOM;
        let nops = |count: usize| if is_dense { &[] } else { &[KIND_NOOP; 3][..count] };
        let layout = self;
        if let Some(mss) = options.mss {
            layout.put(&[KIND_MAXIMUM_SEGMENT_SIZE, 4])?.put(&mss.to_be_bytes())?;
        }
        if options.sack_permitted {
            let padding = nops(if options.timestamps.is_some() { 0 } else { 2 });
            layout.put(padding)?.put(&[KIND_SELECTIVE_ACK_PERMITTED, 2])?;
        }
        if let Some(Timestamps { value, echo }) = options.timestamps {
            let padding = nops(if options.sack_permitted { 0 } else { 2 });
            layout.put(padding)?.put(&[KIND_TIMESTAMP, 10])?;
            layout.put(&value.to_be_bytes())?.put(&echo.to_be_bytes())?;
        }
        if let Some(shift) = options.window_scale {
            layout.put(nops(1))?.put(&[KIND_WINDOW_SCALE, 3, shift])?;
        }
        let [high, low] = ACK_CONGESTION_CONTROL;
        if options.ack_congestion_control {
            layout.put(&[KIND_EXPERIMENT, 4, high, low])?;
        }
        if !options.sack.is_empty() {
            let blocks = options.sack.as_slice();
            let padding = nops(if options.ack_ratio.is_some() { 1 } else { 2 });
            layout.put(padding)?.put(&[KIND_SELECTIVE_ACK, 2 + 8 * blocks.len() as u8])?;
            for SackBlock { start, end } in blocks {
                layout.put(&start.0.to_be_bytes())?.put(&end.0.to_be_bytes())?;
            }
        }
        if let Some(ratio) = options.ack_ratio {
            let padding = nops(if options.sack.is_empty() { 3 } else { 0 });
            layout.put(padding)?.put(&[KIND_EXPERIMENT, 5, high, low, ratio])?;
        }
        if let Some(option) = options.ack_rate {
            let padding = option.wire_len().next_multiple_of(4) - option.wire_len();
            let [high, low] = ACK_RATE;
            layout.put(nops(padding as usize))?.put(&[KIND_OTHER_EXPERIMENT, option.wire_len() as u8, high, low])?;
            if let AckRate::Every(segments) = option {
                layout.put(&[segments.min(AckRate::MAX) << ACK_RATE_SHIFT])?;
            }
        }
        if let Some(option) = options.accurate_ecn {
            let padding = option.len().next_multiple_of(4) - option.len();
            let kind = KIND_ACCURATE_ECN[option.order() as usize];
            layout.put(nops(padding as usize))?.put(&[kind, option.len() as u8])?;
            for field in option.fields() {
                layout.put(&field.to_be_bytes()[1..])?;
            }
        }
        if is_dense {
            let padding = layout.len.next_multiple_of(4) - layout.len;
            layout.put(&[KIND_NOOP; 3][..padding])?;
        }
        debug_assert_eq!(layout.len as u64, options.wire_len(), "the layout has the length that `wire_len` returns");
        Some(())
    }

    fn put(&mut self, octets: &[u8]) -> Option<&mut Self> {
        let end = self.len + octets.len();
        self.octets.get_mut(self.len..end)?.copy_from_slice(octets);
        self.len = end;
        Some(self)
    }

    /// Returns the length of the options in octets.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Returns the [sum](ipv4::sum) of the options for the checksum.
    pub(super) fn sum(&self) -> u64 {
        if self.len == 0 { 0 } else { ipv4::sum(&self.octets[..self.len]) }
    }

    /// Returns the options, followed by zeros.
    pub(super) const fn padded(&self) -> &[u8; ROOM] {
        &self.octets
    }
}

/// Decodes the options of a header with `flags`.
///
/// Unknown options are skipped (RFC 9293, MUST-6). MSS, window scale, SACK-permitted and ACK
/// Congestion Control Permitted are valid on a SYN only. SACK and ACK Ratio are valid only without
/// SYN (RFC 9293, §3.7.1; RFC 7323, §2.2; RFC 2018, §2 and §3; RFC 5690, §4.1 and §4.2). AccECN is
/// not valid on a SYN without ACK (RFC 9768, §3.2.3.2.1). TARR on a SYN announces support; on other
/// segments, it contains a request. The last instance of a repeated option is used.
pub(crate) fn read(octets: &[u8], flags: Flags) -> Result<Options, DecodeError> {
    let mut options = Options::default();
    for option in each(octets) {
        let (kind, value) = option?;
        if !take(kind, value, &mut options) {
            return Err(DecodeError::OptionLength { kind, len: value.len() as u8 + 2 });
        }
    }
    Ok(if flags.contains(Flags::SYN) {
        let accurate_ecn = options.accurate_ecn.filter(|_| flags.contains(Flags::ACK));
        let ack_rate = options.ack_rate.filter(|option| *option == AckRate::Supported);
        Options { sack: SackBlocks::default(), ack_ratio: None, ack_rate, accurate_ecn, ..options }
    } else {
        let ack_rate = options.ack_rate.filter(|option| *option != AckRate::Supported);
        let (sack_permitted, ack_congestion_control) = (false, false);
        Options { mss: None, window_scale: None, sack_permitted, ack_congestion_control, ack_rate, ..options }
    })
}

/// Returns `true` if there is an option other than timestamps, SACK and the kinds in `besides`, or
/// an option that cannot be decoded.
pub(crate) fn has_others(octets: &[u8], besides: &[u8]) -> bool {
    each(octets).any(|option| match option {
        Ok((KIND_TIMESTAMP | KIND_SELECTIVE_ACK, _)) => false,
        Ok((kind, _)) => !besides.contains(&kind),
        Err(_) => true,
    })
}

/// Iterates over the kinds and values of the options in these octets. An error ends the iteration.
fn each(octets: &[u8]) -> impl Iterator<Item = Result<(u8, &[u8]), DecodeError>> {
    let mut rest = octets;
    std::iter::from_fn(move || {
        while let [KIND_NOOP, tail @ ..] = rest {
            rest = tail;
        }
        let (kind, tail) = rest.split_first().filter(|(kind, _)| **kind != KIND_END)?;
        let value = value_of(*kind, tail);
        rest = value.as_ref().map_or(&[], |value| &tail[1 + value.len()..]);
        Some(value.map(|value| (*kind, value)))
    })
}

/// Returns the value of an option of this `kind`. `octets` begins with its length.
fn value_of(kind: u8, octets: &[u8]) -> Result<&[u8], DecodeError> {
    let (&len, tail) = octets.split_first().ok_or(DecodeError::OptionWithoutLength { kind })?;
    let size = usize::from(len).checked_sub(2).ok_or(DecodeError::OptionLength { kind, len })?;
    tail.get(..size).ok_or(DecodeError::OptionTooLong { kind, len, room: 1 + octets.len() })
}

/// Stores the option of this `kind` in `options`. Returns `false` if the length of `value` is
/// invalid for the kind.
pub(crate) fn take(kind: u8, value: &[u8], options: &mut Options) -> bool {
    match (kind, value.as_chunks()) {
        (KIND_MAXIMUM_SEGMENT_SIZE, ([], &[high, low])) => options.mss = Some(u16::from_be_bytes([high, low])),
        (KIND_WINDOW_SCALE, ([], &[shift])) => options.window_scale = Some(shift),
        (KIND_SELECTIVE_ACK_PERMITTED, ([], [])) => options.sack_permitted = true,
        (KIND_TIMESTAMP, (&[pair], [])) => {
            let [value, echo] = words(pair);
            options.timestamps = Some(Timestamps { value, echo });
        }
        (KIND_SELECTIVE_ACK, (pairs @ [_, ..], [])) => {
            let block = |[start, end]: [u32; 2]| SackBlock { start: SeqNumber(start), end: SeqNumber(end) };
            options.sack = pairs.iter().map(|pair| block(words(*pair))).collect();
        }
        // RFC 9768, §3.2.3: if the length has none of the defined values, the complete fields
        // within it are used.
        (kind, _) if KIND_ACCURATE_ECN.contains(&kind) => {
            let order = if kind == KIND_ACCURATE_ECN[0] { FieldOrder::Ect0First } else { FieldOrder::Ect1First };
            let counters =
                value.as_chunks().0.iter().map(|&[high, middle, low]| u32::from_be_bytes([0, high, middle, low]));
            let counters: [Option<u32>; AccurateEcn::MAX] = {
                let mut counters = counters;
                std::array::from_fn(|_| counters.next())
            };
            let len = counters.iter().flatten().count();
            let counters = counters.map(|counter| u64::from(counter.unwrap_or_default()));
            options.accurate_ecn = Some(AccurateEcn::new(order, &counters[..len]));
        }
        (KIND_EXPERIMENT | KIND_OTHER_EXPERIMENT, _) => match value.split_first_chunk() {
            Some((&ACK_CONGESTION_CONTROL, [])) if kind == KIND_EXPERIMENT => options.ack_congestion_control = true,
            Some((&ACK_CONGESTION_CONTROL, &[ratio])) if kind == KIND_EXPERIMENT => options.ack_ratio = Some(ratio),
            Some((&ACK_RATE, [])) => options.ack_rate = Some(AckRate::Supported),
            Some((&ACK_RATE, &[rate])) => options.ack_rate = Some(AckRate::Every(rate >> ACK_RATE_SHIFT)),
            _ => {}
        },
        (kind, _) => return !KNOWN.contains(&kind),
    }
    true
}

fn words([a, b, c, d, e, f, g, h]: [u8; 8]) -> [u32; 2] {
    [u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMESTAMPS: Timestamps = Timestamps { value: 0x0102_0304, echo: 0x0506_0708 };

    fn laid_out(options: &Options) -> Vec<u8> {
        Layout::of(options).map(|layout| layout.octets[..layout.len].to_vec()).expect("these options fit")
    }

    fn block(start: u32, end: u32) -> SackBlock {
        SackBlock { start: SeqNumber(start), end: SeqNumber(end) }
    }

    #[test]
    fn a_syn_has_the_layout_of_linux() {
        let syn = Options {
            mss: Some(1460),
            sack_permitted: true,
            timestamps: Some(TIMESTAMPS),
            window_scale: Some(7),
            ..Options::default()
        };
        assert_eq!(
            laid_out(&syn),
            [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7],
            "tcpdump of Linux: mss 1460,sackOK,TS val … ecr …,nop,wscale 7"
        );
        assert_eq!(laid_out(&Options { timestamps: None, ..syn }), [2, 4, 0x05, 0xb4, 1, 1, 4, 2, 1, 3, 3, 7]);
    }

    #[test]
    fn timestamps_and_sack_stand_behind_two_nops() {
        let mut options = Options { timestamps: Some(TIMESTAMPS), ..Options::default() };
        assert_eq!(laid_out(&options), [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
        options.sack = [block(1, 2), block(3, 4)].into_iter().collect();
        let sack = [1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4];
        assert_eq!(laid_out(&options)[12..], sack);
    }

    #[test]
    fn the_options_of_ack_congestion_control_are_experiments() {
        let permitted = Options { ack_congestion_control: true, ..Options::default() };
        assert_eq!(laid_out(&permitted), [253, 4, 0x56, 0x90]);
        assert_eq!(read(&laid_out(&permitted), Flags::SYN), Ok(permitted));
        assert_eq!(read(&laid_out(&permitted), Flags::ACK), Ok(Options::default()));
        let mut ratio = Options { ack_ratio: Some(4), ..Options::default() };
        assert_eq!(laid_out(&ratio), [1, 1, 1, 253, 5, 0x56, 0x90, 4]);
        assert_eq!(read(&laid_out(&ratio), Flags::SYN), Ok(Options::default()));
        ratio.sack = [block(1, 2)].into_iter().collect();
        assert_eq!(laid_out(&ratio), [1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 253, 5, 0x56, 0x90, 4]);
        assert_eq!(read(&laid_out(&ratio), Flags::ACK), Ok(ratio));
        let other_experiments = [253, 2, 253, 5, 0x56, 0x91, 7, 254, 5, 0x56, 0x90, 7, 253, 6, 0x56, 0x90, 7, 7];
        assert_eq!(read(&other_experiments, Flags::ACK), Ok(Options::default()));
    }

    #[test]
    fn a_request_for_an_ack_rate_is_an_experiment_with_seven_bits() {
        let with = |ack_rate| Options { ack_rate: Some(ack_rate), ..Options::default() };
        let (supported, request) = (with(AckRate::Supported), with(AckRate::Every(4)));
        assert_eq!(laid_out(&supported), [254, 4, 0x00, 0xac]);
        assert_eq!(
            laid_out(&request),
            [1, 1, 1, 254, 5, 0x00, 0xac, 8],
            "packetdrill reads the octet without its lowest bit"
        );
        assert_eq!(laid_out(&with(AckRate::Every(200)))[7], 254, "127 at most");
        assert_eq!(read(&[254, 5, 0x00, 0xac, 9], Flags::ACK), Ok(request), "the reserved bit is ignored");
        assert_eq!(
            read(&[253, 5, 0x00, 0xac, 8], Flags::ACK),
            Ok(request),
            "the two kinds are one space (RFC 6994, §3)"
        );
        assert_eq!(read(&laid_out(&supported), Flags::SYN), Ok(supported));
        assert_eq!(read(&laid_out(&supported), Flags::ACK), Ok(Options::default()));
        assert_eq!(read(&laid_out(&request), Flags::SYN), Ok(Options::default()));
    }

    #[test]
    fn forty_octets_are_the_most() {
        let blocks = |count| (0..count).map(|start| block(start, start + 1)).collect();
        assert_eq!(laid_out(&Options { sack: blocks(4), ..Options::default() }).len(), 36);
        let with_timestamps =
            |count| Options { timestamps: Some(TIMESTAMPS), sack: blocks(count), ..Options::default() };
        assert_eq!(laid_out(&with_timestamps(3)).len(), 40);
        assert!(Layout::of(&with_timestamps(4)).is_none());
    }

    #[test]
    fn the_counters_of_accurate_ecn_stand_last_and_aligned() {
        let counters = |order, counters: &[u64]| Some(AccurateEcn::new(order, counters));
        let with = |accurate_ecn| laid_out(&Options { accurate_ecn, ..Options::default() });
        assert_eq!(with(counters(FieldOrder::Ect0First, &[1, 0x0203_0405])), [172, 8, 0, 0, 1, 3, 4, 5]);
        assert_eq!(with(counters(FieldOrder::Ect1First, &[1, 2, 3])), [1, 174, 11, 0, 0, 1, 0, 0, 2, 0, 0, 3]);
        assert_eq!(with(counters(FieldOrder::Ect0First, &[])), [1, 1, 172, 2]);
    }

    #[test]
    fn where_nothing_else_helps_they_are_packed() {
        let options = Options {
            timestamps: Some(TIMESTAMPS),
            sack: [block(1, 2), block(3, 4)].into_iter().collect(),
            accurate_ecn: Some(AccurateEcn::new(FieldOrder::Ect0First, &[1, 2, 3])),
            ..Options::default()
        };
        let packed = laid_out(&options);
        assert_eq!((packed.len(), options.wire_len()), (40, 40), "aligned they would take 44");
        assert_eq!(read(&packed, Flags::ACK), Ok(options));
    }

    #[test]
    fn counters_of_odd_lengths_are_read_as_far_as_they_go() {
        let option = |octets: &[u8]| read(octets, Flags::ACK).unwrap().accurate_ecn.unwrap();
        assert_eq!(option(&[172, 6, 0, 0, 7, 9]).fields(), [7]);
        assert_eq!(option(&[174, 16, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 5]).fields(), [1, 2, 3]);
        assert_eq!(read(&[172, 5, 0, 0, 7], Flags::SYN).unwrap().accurate_ecn, None, "never on a SYN");
    }

    #[test]
    fn options_without_padding_are_read_too() {
        let dense = [3, 3, 9, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 2, 4, 0xff, 0xff, 0, 99];
        let expected = Options {
            mss: Some(0xffff),
            window_scale: Some(9),
            sack_permitted: true,
            timestamps: Some(TIMESTAMPS),
            ..Options::default()
        };
        assert_eq!(read(&dense, Flags::SYN), Ok(expected));
    }

    #[test]
    fn unknown_options_are_skipped() {
        let fast_open_then_scale = [34, 6, 0xca, 0xfe, 0xca, 0xfe, 3, 3, 2];
        assert_eq!(read(&fast_open_then_scale, Flags::SYN).unwrap().window_scale, Some(2));
    }

    #[test]
    fn options_out_of_place_do_not_count() {
        let mss_and_sack = [2, 4, 5, 180, 1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        assert_eq!(read(&mss_and_sack, Flags::SYN), Ok(Options { mss: Some(1460), ..Options::default() }));
        let sack = [block(1, 2)].into_iter().collect();
        assert_eq!(read(&mss_and_sack, Flags::ACK), Ok(Options { sack, ..Options::default() }));
    }

    #[test]
    fn wrong_lengths_are_named() {
        let refused = |octets: &[u8]| read(octets, Flags::SYN).unwrap_err().to_string();
        assert_eq!(refused(&[1, 8, 10, 0, 0]), "TCP option 8: found length 10, expected at most 4");
        assert_eq!(refused(&[2]), "TCP option 2 is cut off before its length");
        assert_eq!(refused(&[34, 0]), "TCP option 34: length 0 is invalid");
        for octets in
            [&[2u8, 3, 0] as &[u8], &[3, 2], &[4, 3, 0], &[8, 9, 0, 0, 0, 0, 0, 0, 0], &[5, 2], &[5, 6, 0, 0, 0, 0]]
        {
            assert!(refused(octets).ends_with("is invalid"), "{octets:?}");
        }
    }
}
