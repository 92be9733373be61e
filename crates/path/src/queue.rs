//! Who waits for the server, who is turned away, and who is marked.
//!
//! The packet in service does not wait: a limit of 20 packets lets 20 wait behind it.

mod ack_filter;
mod buffer;
mod codel;
mod fifo;
mod held;
#[cfg(test)]
mod sample;
mod settled;

pub use buffer::Buffer;
pub(crate) use held::Held;
pub(crate) use settled::{Settled, Waiting};

use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, Ecn};
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
    /// A FIFO in which the newest pure ACK of a flow stands for an older one.
    AckFilter {
        /// What it may hold; without a limit, everything.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
        /// Which ACKs never go.
        #[serde(default)]
        keeps: Keeps,
        /// Where the newest waits.
        #[serde(default)]
        place: Place,
    },
    /// A FIFO with the ACK filter of CAKE: an older pure ACK goes if a newer one says more and, but for `aggressive`, another such one
    /// still stands between them (Linux's `cake_ack_filter`).
    CakeAckFilter {
        /// What it may hold; without a limit, everything.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
        /// Leave one ACK instead of two (tc-cake's `ack-filter-aggressive`).
        #[serde(default)]
        aggressive: bool,
    },
}

/// Which ACKs an ACK filter lets stand beside the newest of their flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// Those that say something which the newer one may not: duplicates, those with SACK blocks, those whose ECN flags differ.
    #[default]
    News,
    /// Those with the number of the newer one; the first with a smaller one goes (Kim et al., VTC 2006, Figure 1).
    Duplicates,
    /// None: the newest goes, whatever it says.
    Nothing,
}

/// Where the newest ACK waits that an older one has made room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Where the older one stood, so no delay is added (Kim et al., VTC 2006, §II-A).
    #[default]
    InPlace,
    /// At the tail, where it would have stood without a filter: the older one is only removed (RFC 3449, "ACK Filtering").
    Tail,
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
        let (Self::Fifo { limit, .. }
        | Self::CoDel { limit, .. }
        | Self::AckFilter { limit, .. }
        | Self::CakeAckFilter { limit, .. }) = self;
        *limit
    }

    /// The same discipline for an owner that minds the limit itself.
    #[must_use]
    pub const fn without_limit(mut self) -> Self {
        let (Self::Fifo { limit, .. }
        | Self::CoDel { limit, .. }
        | Self::AckFilter { limit, .. }
        | Self::CakeAckFilter { limit, .. }) = &mut self;
        *limit = None;
        self
    }
}

/// What became of a packet that asked to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict<D> {
    /// It waits.
    Queued,
    /// It waits, and this older ACK of its flow no longer does.
    Replaced(D),
    /// This one was turned away.
    Dropped(D),
}

/// The queue of a link. What a FIFO does to a packet is settled when it arrives, so it need not hold it.
#[derive(Clone, Debug)]
pub(crate) enum Queue<D> {
    Settled(Settled),
    Held(Held<D>),
}

impl<D: Datagram> Queue<D> {
    pub(crate) fn new(config: Config) -> Self {
        match config {
            Config::Fifo { limit, mark_above } => Self::Settled(Settled::new(limit, mark_above)),
            _ => Self::Held(Held::new(config)),
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

/// Is there room for one more of `size` beside `packets` that hold `bytes`? For owners of several buffers with one limit, too.
#[must_use]
#[inline]
pub fn has_room(limit: Option<Limit>, packets: usize, bytes: Bytes, size: Bytes) -> bool {
    match limit {
        None => true,
        Some(Limit::Packets(most)) => (packets as u64) < most,
        Some(Limit::Bytes(most)) => bytes + size <= most,
    }
}
