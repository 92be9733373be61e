//! Compares a packet with the packet that a script expects (`verify_tcp` and
//! `verify_outbound_live_tcp_options` of packetdrill's `run_packet.c`).

use crate::script::{Mark, Packet};
use acklab_base::{Duration, Ecn};
use acklab_wire::tcp::{FieldOrder, Options};

/// The rules for the comparison of timestamps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timestamps {
    /// The tick of the clock. Without a tick, values are not compared.
    pub(crate) tick: Option<Duration>,
    /// The maximum deviation of a value.
    pub(crate) tolerated: Duration,
}

/// Returns `true` if `found` equals `expected`. The echoed timestamp is not compared, as in
/// packetdrill.
pub(crate) fn is_as_expected(expected: &Packet, found: &Packet, timestamps: Timestamps) -> bool {
    // All nine bits, with or without a digit for the ACE field.
    expected.flags == found.flags
        && (expected.seq, expected.payload, expected.ack) == (found.seq, found.payload, found.ack)
        && (expected.window.is_none() || expected.window == found.window)
        && marks_are_equal(expected.ecn, found.ecn)
        && options_are_equal(expected.options.as_ref(), found.options.as_ref(), timestamps)
}

fn marks_are_equal(expected: Mark, found: Mark) -> bool {
    match (expected, found) {
        (Mark::Unspecified, _) => true,
        (Mark::Capable, Mark::Is(codepoint)) => codepoint.is_capable() && codepoint != Ecn::Ce,
        _ => expected == found,
    }
}

fn options_are_equal(expected: Option<&Options>, found: Option<&Options>, timestamps: Timestamps) -> bool {
    let (Some(expected), Some(found)) = (expected, found) else { return true };
    let are_close = match (expected.timestamps, found.timestamps) {
        (None, None) => true,
        (Some(expected), Some(found)) => timestamps.tick.is_none_or(|tick| {
            let ticks = u64::from(found.value.wrapping_sub(expected.value).cast_signed().unsigned_abs());
            tick.saturating_mul(ticks) <= timestamps.tolerated
        }),
        _ => false,
    };
    let rest = |options: &Options| Options { timestamps: None, accurate_ecn: None, ..*options };
    are_close
        && rest(expected) == rest(found)
        && expected.mss.is_some() == found.mss.is_some()
        && counters(expected) == counters(found)
}

/// Returns the counters of an AccECN option, in the order ECT(0), CE, ECT(1). Both orders on the
/// wire are equivalent (RFC 9768, §3.2.3).
fn counters(options: &Options) -> Option<[Option<u32>; 3]> {
    let option = options.accurate_ecn?;
    let field = |at: usize| option.fields().get(at).copied();
    Some(match option.order() {
        FieldOrder::Ect0First => [field(0), field(1), field(2)],
        FieldOrder::Ect1First => [field(2), field(1), field(0)],
    })
}
