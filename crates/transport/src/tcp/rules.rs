//! Where stacks depart from the RFCs in loss recovery, as data: one field per rule, one value per reading of it, with its source.
//!
//! A state machine asks a rule and never which stack it imitates. A [`Dialect`] chooses a whole table; Linux follows that of the RFCs, and
//! where it does not, the difference is a setting of its own in [`Config`](super::Config).

use super::config::Dialect;
use crate::recovery::scoreboard::SackedRetransmission;

/// How loss recovery is read. Functions named without a file are those of ns-3.37's `tcp-socket-base.cc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether a retransmission that SACK acknowledges is still in flight.
    pub sacked_retransmission: SackedRetransmission,
    /// What a partial ACK may send beyond the window.
    pub partial_ack: PartialAck,
    /// How often PRR counts the delivery of a partial ACK with SACK news.
    pub prr_delivery: PrrDelivery,
    /// What an ACK with SACK news does outside a recovery.
    pub disorder: Disorder,
    /// By how much the ACK that ends a recovery grows the window.
    pub exit_growth: ExitGrowth,
    /// Which timeouts lower the slow-start threshold.
    pub timeout_threshold: TimeoutThreshold,
    /// What ends the count of duplicate ACKs.
    pub duplicate_count: DuplicateCount,
    /// What is sent regardless of the window if nothing lost waits for its retransmission.
    pub forced_retransmission: ForcedRetransmission,
}

/// What a partial ACK may send beyond the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialAck {
    /// Nothing (RFC 6675, §5, step C: only while cwnd − pipe is at least one SMSS).
    WithinWindow,
    /// One segment, unless the head was retransmitted already (ns-3's `ProcessAck` calls `DoRetransmit`).
    SendsHead,
}

/// How often PRR counts the delivery of a partial ACK with SACK news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrrDelivery {
    /// Once (RFC 9937, §6).
    Once,
    /// Twice (ns-3 calls `DoRecovery` in `DupAck` and then in `ProcessAck`).
    Twice,
}

/// What an ACK with SACK news does outside a recovery, if it advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disorder {
    /// It grows the window (RFC 5681, §3.1) and restarts the timer (RFC 6298, §5.3), as any ACK of new data.
    GrowsAndRestarts,
    /// Neither (ns-3's `ProcessAck` in `CA_DISORDER`).
    Holds,
}

/// By how much the ACK that ends a recovery grows the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitGrowth {
    /// Not after a fast recovery: the window is the threshold (RFC 5681, §3.2, step 6). After a timeout by all that it
    /// acknowledges: slow start goes on (RFC 5681, §3.1).
    Deflates,
    /// After a fast recovery by all that it acknowledges, after a timeout by what lies beyond the recovery point (ns-3's
    /// `ProcessAck`).
    Grows,
}

/// Which timeouts lower the slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutThreshold {
    /// The first for a window of losses: not a repeated one (RFC 5681, §3.1), nor one in a recovery that has lowered it (Linux's
    /// `tcp_enter_loss`).
    First,
    /// Each (ns-3's `ReTxTimeout`).
    Each,
}

/// What ends the count of duplicate ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateCount {
    /// Any ACK that advances, also if it brings SACK news (RFC 6675, §5: a cumulative ACK resets `DupAcks`).
    EndsWithAnyAdvance,
    /// Only one without SACK news (ns-3's `ProcessAck`).
    EndsWithoutSackNews,
}

/// What is sent regardless of the window if nothing lost waits for its retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcedRetransmission {
    /// Nothing: everything lost has been retransmitted already (RFC 6675, §5, step 4.3, retransmits what is presumed lost).
    OnlyLost,
    /// New data if there is some, else the head once more (ns-3's `EnterRecovery` calls `DoRetransmit`).
    AtLeastHead,
}

impl Rules {
    /// What the RFCs say, and Linux follows.
    pub const RFC: Self = Self {
        sacked_retransmission: SackedRetransmission::LeavesFlight,
        partial_ack: PartialAck::WithinWindow,
        prr_delivery: PrrDelivery::Once,
        disorder: Disorder::GrowsAndRestarts,
        exit_growth: ExitGrowth::Deflates,
        timeout_threshold: TimeoutThreshold::First,
        duplicate_count: DuplicateCount::EndsWithAnyAdvance,
        forced_retransmission: ForcedRetransmission::OnlyLost,
    };

    /// ns-3.37's rules. Each of them changes its results.
    pub const NS3: Self = Self {
        sacked_retransmission: SackedRetransmission::StaysInFlight,
        partial_ack: PartialAck::SendsHead,
        prr_delivery: PrrDelivery::Twice,
        disorder: Disorder::Holds,
        exit_growth: ExitGrowth::Grows,
        timeout_threshold: TimeoutThreshold::Each,
        duplicate_count: DuplicateCount::EndsWithoutSackNews,
        forced_retransmission: ForcedRetransmission::AtLeastHead,
    };
}

impl Dialect {
    /// Its rules.
    #[must_use]
    pub const fn rules(self) -> Rules {
        match self {
            Self::Rfc => Rules::RFC,
            Self::Ns3 => Rules::NS3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule on which all tables agree is no rule.
    #[test]
    fn the_tables_differ_in_every_rule() {
        let (rfc, ns3) = (Dialect::Rfc.rules(), Dialect::Ns3.rules());
        let same = [
            rfc.sacked_retransmission == ns3.sacked_retransmission,
            rfc.partial_ack == ns3.partial_ack,
            rfc.prr_delivery == ns3.prr_delivery,
            rfc.disorder == ns3.disorder,
            rfc.exit_growth == ns3.exit_growth,
            rfc.timeout_threshold == ns3.timeout_threshold,
            rfc.duplicate_count == ns3.duplicate_count,
            rfc.forced_retransmission == ns3.forced_retransmission,
        ];
        assert_eq!(same, [false; 8]);
    }
}
