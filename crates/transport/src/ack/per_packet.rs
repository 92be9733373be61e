//! Every segment at once, as ns-2's `TCPSink` does and as CCperf sets ns-3.

use super::{Decision, Reason};

pub(super) const fn decide() -> Decision {
    Decision::Now(Reason::EverySegment)
}
