//! The rules of channel access on which implementations differ, as data: one field per rule, one
//! value per behaviour, with its source.
//!
//! The machine evaluates these rules and does not depend on the implementation that it imitates. A
//! [`Dialect`] selects a complete set of values. Names of ns-3 functions refer to version 3.37.
//! Names of ns-2 functions refer to `mac/mac-802_11.cc` of version 2.35 unless another file is
//! named.

use crate::config::{Dialect, EifsAfterCollision};

/// The rules of channel access, one value per rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DialectRules {
    pub(super) request: AccessRequest,
    pub(super) sensing: Sensing,
    pub(super) backoff_range: BackoffRange,
    pub(super) dequeue: Dequeue,
    pub(super) timeout: ResponseTimeout,
    pub(super) eifs_end: EifsEnd,
    /// The default of this setting of the scenario.
    pub(super) eifs_after_collision: EifsAfterCollision,
    pub(super) colliding_senders: CollidingSenders,
    pub(super) mimd_limit: MimdLimit,
    pub(super) durations: Durations,
    pub(super) encapsulation: Encapsulation,
    /// `true` if the queue of a failed exchange is served first. Otherwise, the other queues of the
    /// EDCAF are served before it.
    pub(super) serves_failed_first: bool,
    /// `true` if each MPDU of an aggregate is passed up when it ends. `false` if all MPDUs are
    /// passed up at the end of the PPDU.
    pub(super) passes_up_each_mpdu: bool,
    /// `true` if Block ACK requests have a limit of transmissions by default.
    pub(super) limits_requests: bool,
}

/// The procedure by which an idle EDCAF requests the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessRequest {
    /// The EDCAF backs off if the medium is busy. It transmits at the next slot if the medium was
    /// idle for DIFS or AIFS (10.3.4.2).
    Standard,
    /// ns-3's `ChannelAccessManager`.
    Ns3,
    /// The EDCAF always backs off. On an idle medium, the backoff begins DIFS after the frame has
    /// arrived (`Mac802_11::send` with `bugFix_timer_`).
    AlwaysBacksOff,
}

/// The time at which a transmission is sensed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sensing {
    /// After aCCATime of the PHY.
    CcaTime,
    /// After 4 µs, for any modulation (ns-3's `WifiPhy`, `GetPreambleDetectionDuration`).
    FourMicros,
    /// Immediately, with the first bit that arrives (`Mac802_11::recv`).
    FirstBit,
}

/// The range of a backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackoffRange {
    /// 0 to CW (10.3.3).
    ToWindow,
    /// 0 to CW − 1 (`mac-timers.cc`, `BackoffTimer::start`).
    BelowWindow,
}

/// The time at which a frame leaves the queue. Afterwards, the queue discipline cannot drop it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dequeue {
    /// When its EDCAF has won the medium.
    WhenSent,
    /// As soon as the MAC has nothing else to send (`tx_resume` calls `callback_`, `queue.cc`,
    /// `Queue::resume`).
    WhenFree,
}

/// The time for which an initiator waits for a response frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseTimeout {
    /// Until the response frame should have begun: SIFS, a slot and the preamble (10.3.2.9).
    Start,
    /// Until the response frame should have ended, plus twice `DSSS_MaxPropagationDelay`
    /// (`check_pktTx`, `check_pktRTS`).
    End,
}

/// The interval after EIFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EifsEnd {
    /// The first slot follows EIFS, which replaces DIFS or AIFS (10.3.2.3.7).
    FirstSlot,
    /// DIFS follows EIFS, because EIFS is a NAV (`recv_timer`, `navHandler`).
    Difs,
}

/// The senders of a collision that defer for EIFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CollidingSenders {
    /// Senders do not defer, because each was transmitting.
    NeverDefer,
    /// A sender defers if its frame does not end after the other frame: it receives the rest of the
    /// other frame as an error (`recv`: `tx_active_`; `recv_timer`).
    DeferIfOutlasted,
}

/// The effect of a retry limit on a window under MIMD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MimdLimit {
    /// No effect: Kim et al. mention successes and failures only.
    Keeps,
    /// The window is reset to CWmin (`RetransmitDATA`, `RetransmitRTS`: `rst_cw`).
    Resets,
}

/// The precision of durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durations {
    /// DSSS frames take whole microseconds (16.3.4), and duration fields cover them.
    WholeFrames,
    /// DSSS frames take the exact time of their bits, and duration fields are rounded to
    /// microseconds (`txtime`; `mac-802_11.h`, `usec`). So the NAV of bystanders ends up to 0.5 µs
    /// before or after the exchange.
    WholeFields,
}

/// The encapsulation of an IP packet in a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encapsulation {
    /// MAC header, LLC and SNAP, FCS.
    LlcSnap,
    /// 34 octets of MAC header and FCS (`mac-802_11.h`, `hdr_mac802_11`, `getHdrLen11`).
    Ns2,
}

impl DialectRules {
    /// IEEE 802.11-2020.
    const STANDARD: Self = Self {
        request: AccessRequest::Standard,
        sensing: Sensing::CcaTime,
        backoff_range: BackoffRange::ToWindow,
        dequeue: Dequeue::WhenSent,
        timeout: ResponseTimeout::Start,
        eifs_end: EifsEnd::FirstSlot,
        eifs_after_collision: EifsAfterCollision::None,
        colliding_senders: CollidingSenders::NeverDefer,
        mimd_limit: MimdLimit::Keeps,
        durations: Durations::WholeFrames,
        encapsulation: Encapsulation::LlcSnap,
        serves_failed_first: false,
        passes_up_each_mpdu: false,
        limits_requests: true,
    };

    /// The rules of ns-3 3.37 that differ from the standard.
    const NS3: Self = Self {
        request: AccessRequest::Ns3,
        sensing: Sensing::FourMicros,
        serves_failed_first: true,
        passes_up_each_mpdu: true,
        limits_requests: false,
        ..Self::STANDARD
    };

    /// The rules of ns-2.35 that differ from the standard.
    const NS2: Self = Self {
        request: AccessRequest::AlwaysBacksOff,
        sensing: Sensing::FirstBit,
        backoff_range: BackoffRange::BelowWindow,
        dequeue: Dequeue::WhenFree,
        timeout: ResponseTimeout::End,
        eifs_end: EifsEnd::Difs,
        eifs_after_collision: EifsAfterCollision::Always,
        colliding_senders: CollidingSenders::DeferIfOutlasted,
        mimd_limit: MimdLimit::Resets,
        durations: Durations::WholeFields,
        encapsulation: Encapsulation::Ns2,
        // The MAC stores one frame until it is acknowledged or discarded (`pktTx_`).
        serves_failed_first: true,
        ..Self::STANDARD
    };
}

impl Dialect {
    pub(super) const fn rules(self) -> DialectRules {
        match self {
            Self::Standard => DialectRules::STANDARD,
            Self::Ns3 => DialectRules::NS3,
            Self::Ns2 => DialectRules::NS2,
        }
    }
}
