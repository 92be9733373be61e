//! Segments for tests.

use acklab_base::Ecn;
use acklab_wire::tcp::{
    AccurateEcn, AckRate, FieldOrder, Flags, Options, SackBlock, SackBlocks, Segment, SeqNumber, Timestamps,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Returns a full segment.
pub(crate) fn data() -> Segment {
    Segment {
        ecn: Ecn::Ect0,
        seq: SeqNumber(0xdead_beef),
        ack: SeqNumber(0x0102_0304),
        flags: Flags::ACK | Flags::PSH,
        window: 502,
        options: Options { timestamps: Some(Timestamps { value: 10, echo: 9 }), ..Options::default() },
        payload: 1448,
    }
}

/// Returns a pure ACK.
pub(crate) fn ack() -> Segment {
    Segment { ecn: Ecn::NotEct, flags: Flags::ACK, payload: 0, ..data() }
}

fn sack_blocks(maximum: usize) -> impl Strategy<Value = SackBlocks> {
    let block = any::<(u32, u32)>().prop_map(|(start, end)| SackBlock { start: SeqNumber(start), end: SeqNumber(end) });
    vec(block, 0..=maximum).prop_map(SackBlocks::from_iter)
}

fn accurate_ecn() -> impl Strategy<Value = AccurateEcn> {
    (any::<bool>(), vec(any::<u64>(), 0..=AccurateEcn::MAX)).prop_map(|(ect0_first, counters)| {
        let order = if ect0_first { FieldOrder::Ect0First } else { FieldOrder::Ect1First };
        AccurateEcn::new(order, &counters)
    })
}

/// Options of a segment with or without SYN: those that are permitted there, as many as fit.
fn options(syn: bool) -> BoxedStrategy<Options> {
    let timestamps = option::of(any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo }));
    if syn {
        (timestamps, any::<(Option<u16>, Option<u8>, bool, bool, bool)>())
            .prop_map(|(timestamps, (mss, window_scale, sack_permitted, ack_congestion_control, has_rate))| Options {
                timestamps,
                mss,
                window_scale,
                sack_permitted,
                ack_congestion_control,
                ack_rate: has_rate.then_some(AckRate::Supported),
                ..Options::default()
            })
            .boxed()
    } else {
        (timestamps, any::<Option<u8>>(), option::of(0..=AckRate::MAX), option::of(accurate_ecn()))
            .prop_flat_map(|(timestamps, ack_ratio, ack_rate, accurate_ecn)| {
                let ack_rate = ack_rate.map(AckRate::Every);
                let others = [timestamps.is_some(), ack_ratio.is_some(), ack_rate.is_some(), accurate_ecn.is_some()];
                let maximum = 4 - others.iter().filter(|is_there| **is_there).count();
                let sack = sack_blocks(maximum);
                sack.prop_map(move |sack| Options {
                    timestamps,
                    sack,
                    ack_ratio,
                    ack_rate,
                    accurate_ecn,
                    ..Options::default()
                })
            })
            .boxed()
    }
}

prop_compose! {
    pub(crate) fn any_segment()(bits in 0u16..512)(
        options in options(Flags::from_bits(bits).contains(Flags::SYN)),
        payload in prop_oneof![Just(0u32), 1u32..3000, 65_400u32..=65_455],
        (seq, ack, window, ecn) in any::<(u32, u32, u16, u8)>(),
        bits in Just(bits),
    ) -> Segment {
        Segment {
            ecn: Ecn::from_bits(ecn),
            seq: SeqNumber(seq),
            ack: SeqNumber(ack),
            flags: Flags::from_bits(bits),
            window,
            options,
            payload,
        }
    }
}
