//! What the ends of a flow count.

use acklab_transport::ack::Reason;
use acklab_transport::{tcp, udp};

/// Counts of both ends, since the start or in a window; octets are payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    /// Packets with data that the sender has sent.
    pub(crate) sent: u64,
    /// Octets of those.
    pub(crate) sent_bytes: u64,
    /// New octets that the receiver has taken.
    pub(crate) received: u64,
    /// Octets that its application has read.
    pub(crate) delivered: u64,
    /// Octets that the sender's application has written.
    pub(crate) written: u64,
    /// What only one transport counts.
    transport: OfTransport,
}

#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are two of these a flow, and most flows are TCP's")]
enum OfTransport {
    Tcp(TcpTotals),
    Udp(UdpTotals),
}

/// What only TCP counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpTotals {
    pub(crate) sender: tcp::sender::Counters,
    pub(crate) acks_sent: u64,
    /// Data packets that arrived marked.
    pub(crate) marked: u64,
    pub(crate) acks_by_reason: [u64; Reason::COUNT],
}

/// What only UDP counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UdpTotals {
    pub(crate) receiver: udp::receiver::Counters,
    /// The jitter at the end, in nanoseconds.
    pub(crate) jitter: Option<f64>,
}

impl Totals {
    /// Of TCP, since the start.
    pub(crate) fn of_tcp(sender: &tcp::Sender, receiver: &tcp::Receiver) -> Self {
        Self {
            sent: sender.counters().data_segments,
            sent_bytes: sender.counters().data_bytes,
            received: receiver.received(),
            delivered: receiver.delivered(),
            written: sender.written(),
            transport: OfTransport::Tcp(TcpTotals {
                sender: *sender.counters(),
                acks_sent: receiver.counters().acks_sent(),
                marked: receiver.counters().marked,
                acks_by_reason: receiver.counters().acks,
            }),
        }
    }

    /// Of UDP, since the start.
    pub(crate) fn of_udp(sender: &udp::Sender, receiver: &udp::Receiver) -> Self {
        Self {
            sent: sender.counters().datagrams,
            sent_bytes: sender.counters().bytes,
            received: receiver.counters().bytes,
            delivered: receiver.counters().bytes,
            written: sender.written(),
            transport: OfTransport::Udp(UdpTotals { receiver: *receiver.counters(), jitter: receiver.jitter() }),
        }
    }

    /// What has been counted since `before`, which is of the same ends.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            sent_bytes: self.sent_bytes - before.sent_bytes,
            received: self.received - before.received,
            delivered: self.delivered - before.delivered,
            written: self.written - before.written,
            transport: match (self.transport, before.transport) {
                (OfTransport::Tcp(now), OfTransport::Tcp(before)) => OfTransport::Tcp(now.since(&before)),
                (OfTransport::Udp(now), OfTransport::Udp(before)) => OfTransport::Udp(now.since(&before)),
                (now, _) => now,
            },
        }
    }

    /// What only TCP counts, of a flow over TCP.
    pub(crate) const fn tcp(&self) -> Option<&TcpTotals> {
        match &self.transport {
            OfTransport::Tcp(totals) => Some(totals),
            OfTransport::Udp(_) => None,
        }
    }

    /// What only UDP counts, of a flow over UDP.
    pub(crate) const fn udp(&self) -> Option<&UdpTotals> {
        match &self.transport {
            OfTransport::Udp(totals) => Some(totals),
            OfTransport::Tcp(_) => None,
        }
    }
}

impl TcpTotals {
    fn since(&self, before: &Self) -> Self {
        let (now, then) = (&self.sender, &before.sender);
        let mut acks_by_reason = self.acks_by_reason;
        acks_by_reason.iter_mut().zip(&before.acks_by_reason).for_each(|(count, before)| *count -= before);
        Self {
            sender: tcp::sender::Counters {
                data_segments: now.data_segments - then.data_segments,
                data_bytes: now.data_bytes - then.data_bytes,
                retransmissions: now.retransmissions - then.retransmissions,
                timeouts: now.timeouts - then.timeouts,
                tail_loss_probes: now.tail_loss_probes - then.tail_loss_probes,
                undone: now.undone - then.undone,
                acks: now.acks - then.acks,
                delivered: now.delivered - then.delivered,
                recoveries: now.recoveries - then.recoveries,
                recovery_time: now.recovery_time - then.recovery_time,
                mark_reductions: now.mark_reductions - then.mark_reductions,
                marked_bytes: now.marked_bytes - then.marked_bytes,
            },
            acks_sent: self.acks_sent - before.acks_sent,
            marked: self.marked - before.marked,
            acks_by_reason,
        }
    }
}

impl UdpTotals {
    fn since(&self, before: &Self) -> Self {
        let (now, then) = (&self.receiver, &before.receiver);
        Self {
            receiver: udp::receiver::Counters {
                datagrams: now.datagrams - then.datagrams,
                bytes: now.bytes - then.bytes,
                reordered: now.reordered - then.reordered,
                duplicates: now.duplicates - then.duplicates,
                passed_over: now.passed_over - then.passed_over,
            },
            jitter: self.jitter,
        }
    }

    /// Of the datagrams that should have arrived, the share that has not.
    pub(crate) fn share_lost(&self) -> Option<f64> {
        let lost = self.receiver.lost();
        let expected = lost + self.receiver.datagrams;
        (expected > 0).then(|| lost as f64 / expected as f64)
    }
}
