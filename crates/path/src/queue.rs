//! Who waits for the server, who is turned away, and who is marked.
//!
//! The packet in service does not wait: a limit of 20 packets lets 20 wait behind it.

mod ack_filter;
mod codel;
mod fifo;

pub(crate) use ack_filter::Outcome;
pub(crate) use fifo::Waiting;

use crate::counters::Tally;
use ack_filter::AckFilter;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, Ecn, Instant};
use codel::CoDel;
use fifo::Fifo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Config {
    /// First in, first out; what does not fit is dropped at the tail.
    Fifo {
        /// What it may hold; without a limit, everything.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
        /// Mark a packet that finds more than this waiting, if its transport understands marks: DCTCP's K (RFC 8257, §3.1).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(example = "20packets")]
        mark_above: Option<Limit>,
    },
    /// Controlled delay: drops or marks at the head while packets wait longer than `target` (RFC 8289).
    #[serde(rename = "codel")]
    CoDel {
        /// What it may hold; without a limit, everything.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
        /// The waiting time that it aims at (RFC 8289, §4.3).
        #[serde(default = "target")]
        #[schemars(example = "5ms")]
        target: Duration,
        /// Act after packets have waited longer for so long: a round trip, long for the path (RFC 8289, §4.2).
        #[serde(default = "interval")]
        #[schemars(example = "100ms")]
        interval: Duration,
        /// Mark instead of dropping where the transport understands marks.
        #[serde(default)]
        ecn: bool,
    },
    /// A FIFO in which the newest pure ACK of a flow overwrites the older one in place.
    AckFilter {
        /// What it may hold; without a limit, everything.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
        /// Which ACKs are never overwritten.
        #[serde(default)]
        keeps: Keeps,
    },
}

/// Which ACKs an ACK filter never overwrites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// Those that say something which the newer one may not: duplicates, those with SACK blocks, those whose ECN flags differ.
    #[default]
    News,
    /// Duplicates: those with the number of the newer one, or of the one before them (Kim et al., VTC 2006, Figure 1).
    Duplicates,
    /// None: the newest takes the place of whatever ACK of its flow waits.
    Nothing,
}

impl Default for Config {
    fn default() -> Self {
        Self::Fifo { limit: None, mark_above: None }
    }
}

/// TARGET of RFC 8289, §5.3.
const fn target() -> Duration {
    Duration::from_millis(5)
}

/// INTERVAL of RFC 8289, §5.3.
const fn interval() -> Duration {
    Duration::from_millis(100)
}

impl Config {
    /// What the queue may hold, if there is a limit.
    #[must_use]
    pub const fn limit(&self) -> Option<Limit> {
        let (Self::Fifo { limit, .. } | Self::CoDel { limit, .. } | Self::AckFilter { limit, .. }) = self;
        *limit
    }
}

/// A queue at work.
#[derive(Clone, Debug)]
pub(crate) enum Queue<D> {
    Fifo(Fifo),
    CoDel(CoDel<D>),
    AckFilter(AckFilter<D>),
}

impl<D: Datagram> Queue<D> {
    pub(crate) fn new(config: Config) -> Self {
        match config {
            Config::Fifo { limit, mark_above } => Self::Fifo(Fifo::new(limit, mark_above)),
            Config::CoDel { limit, target, interval, ecn } => Self::CoDel(CoDel::new(limit, target, interval, ecn)),
            Config::AckFilter { limit, keeps } => Self::AckFilter(AckFilter::new(limit, keeps)),
        }
    }

    /// Could a packet that need not wait for the server go straight through? In a FIFO it could not come before those that wait:
    /// they leave no later than it does.
    pub(crate) fn holds_nobody(&self) -> bool {
        match self {
            Self::Fifo(_) => true,
            Self::CoDel(codel) => codel.is_empty(),
            Self::AckFilter(filter) => filter.len() == 0,
        }
    }

    /// A packet went straight through.
    pub(crate) fn passed_by(&mut self) {
        if let Self::CoDel(codel) = self {
            codel.passed_by();
        }
    }

    /// When the head of a queue that holds its packets arrived.
    pub(crate) fn head_arrived(&self) -> Option<Instant> {
        match self {
            Self::Fifo(_) => None,
            Self::CoDel(codel) => codel.head_arrived(),
            Self::AckFilter(filter) => filter.head_arrived(),
        }
    }

    /// Takes the head, which leaves a queue that holds its packets now; none if it is dropped instead.
    pub(crate) fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<D> {
        match self {
            Self::Fifo(_) => None,
            Self::CoDel(codel) => codel.take_head(leaves, tally),
            Self::AckFilter(filter) => filter.take_head(leaves, tally),
        }
    }
}

/// Marks `packet`, if its transport understands that and nobody has done so before (RFC 3168, §5).
pub(crate) fn mark(packet: &mut impl Datagram) -> bool {
    let is_markable = matches!(packet.ecn(), Ecn::Ect0 | Ecn::Ect1);
    if is_markable {
        packet.set_ecn(Ecn::Ce);
    }
    is_markable
}

/// Is there room for one more of `size` beside `packets` that hold `bytes`?
fn has_room(limit: Option<Limit>, packets: usize, bytes: Bytes, size: Bytes) -> bool {
    match limit {
        None => true,
        Some(Limit::Packets(most)) => (packets as u64) < most,
        Some(Limit::Bytes(most)) => bytes + size <= most,
    }
}
