//! The results of a measurement.

use super::protocol::{Plan, Report, Side};
use serde::Serialize;

/// One measurement of one transport.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The round, counted from 0.
    pub round: u32,
    /// The contender's name.
    pub contender: String,
    /// The transport: `tack`, `quic` or `tcp`.
    pub transport: String,
    /// The sender's congestion controller.
    pub congestion: Option<String>,
    /// `true` if the server sent the data.
    pub reverse: bool,
    /// The number of parallel streams.
    pub streams: u32,
    /// The time from the first received byte to the end, in seconds.
    pub seconds: f64,
    /// The number of bytes that the receiving application has read in this time.
    pub octets: u64,
    /// The goodput in Mbps: `octets` divided by `seconds`.
    pub goodput: f64,
    /// The number of data packets that the sender has sent, including retransmissions.
    pub data_packets: u64,
    /// The number of retransmitted packets.
    pub retransmissions: u64,
    /// The share of retransmitted packets in the data packets, in percent. `None` if no data packet
    /// was sent.
    pub retransmitted_share: Option<f64>,
    /// The number of acknowledgments that the receiver has sent: packets without data (over QUIC,
    /// ACK frames).
    pub acks: u64,
    /// The number of ACKs per second.
    pub acks_per_second: f64,
    /// The mean of the sender's smoothed round-trip time under load, in milliseconds.
    pub mean_rtt: Option<f64>,
    /// The 95th percentile of these samples, in milliseconds.
    pub p95_rtt: Option<f64>,
    /// Processor time of the sender's process, in seconds.
    pub cpu_sender: f64,
    /// Processor time of the receiver's process, in seconds.
    pub cpu_receiver: f64,
    /// Processor time of both ends, in seconds per 10⁹ bytes.
    pub cpu_per_gigabyte: Option<f64>,
}

impl Row {
    pub(super) fn new(round: u32, plan: &Plan, received: Report, sender: Side, receiver: &Side) -> Self {
        let Report { seconds, octets } = received;
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let in_time = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let cpu = sender.cpu_seconds + receiver.cpu_seconds;
        Self {
            round,
            contender: plan.contender.name.clone(),
            transport: plan.contender.protocol().to_owned(),
            congestion: sender.congestion.or_else(|| plan.contender.congestion()),
            reverse: plan.reverse,
            streams: plan.streams,
            seconds,
            octets,
            goodput: in_time(octets as f64 * 8e-6),
            data_packets: sender.data_packets,
            retransmissions: sender.retransmissions,
            retransmitted_share: share(sender.retransmissions, sender.data_packets).map(|share| share * 100.0),
            acks: receiver.acks,
            acks_per_second: in_time(receiver.acks as f64),
            mean_rtt: sender.mean_rtt,
            p95_rtt: sender.p95_rtt,
            cpu_sender: sender.cpu_seconds,
            cpu_receiver: receiver.cpu_seconds,
            cpu_per_gigabyte: (octets > 0).then(|| cpu / (octets as f64 * 1e-9)),
        }
    }
}
