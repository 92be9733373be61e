//! The configuration of one link direction.

use crate::mtu::MtuStep;
use crate::server::RateStep;
use crate::{demand, duplicate, gate, jitter, loss, queue, spacer, thinner};
use acklab_base::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkConfig {
    /// Serialisation rate. Without `rate`, `steps` or `trace`, packets take no time to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Rates that change with time, instead of `rate`. The first step is at 0s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<RateStep>>,
    /// A recorded link, instead of `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceFile>,
    /// Propagation delay, one way.
    #[schemars(example = "7.5ms")]
    pub delay: Duration,
    /// Link-layer octets that are serialised with each IP packet.
    #[schemars(example = "2B")]
    pub overhead: Bytes,
    /// The maximum size of an IP packet on the link. Larger packets are dropped silently, like
    /// packets that must not be fragmented on a path that filters ICMP (RFC 2923, §2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1500B")]
    pub mtu: Option<Bytes>,
    /// Sizes that change with time, instead of `mtu`. The first step is at 0s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu_steps: Option<Vec<MtuStep>>,
    /// The ACK thinner, which holds pure ACKs before they join the queue, as drivers do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinner: Option<thinner::ThinnerConfig>,
    /// The queue in front of the link.
    pub queue: queue::QueueConfig,
    /// The number of packets that the device takes from the queue before it sends them, like the
    /// transmit rings of drivers and ns-3's devices. These packets are included neither in the
    /// queue's limit nor in its length.
    #[serde(skip_serializing_if = "is_zero")]
    pub device_queue: u32,
    /// The gate, which releases packets in bursts, as a link that compresses ACKs does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<gate::GateConfig>,
    /// Capacity that is requested and assigned, as on the return channel of a satellite terminal;
    /// `rate` is the rate of the carrier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand: Option<demand::DemandConfig>,
    /// Loss of packets after they have been sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<loss::LossConfig>,
    /// Duplicated packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<duplicate::DuplicateConfig>,
    /// Extra delay of every packet. Packets keep their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<jitter::JitterConfig>,
    /// Extra delay of some packets. Later packets overtake them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<jitter::Reorder>,
    /// Spreads ACKs over time at the far end, and restores missing ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spacer: Option<spacer::SpacerConfig>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The file of a recorded link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// A file in mahimahi's format, relative to the scenario.
    #[schemars(example = "lte.trace")]
    pub file: String,
}
