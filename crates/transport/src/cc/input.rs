//! The inputs of a controller: ACKs, transmissions, losses. Sizes are bytes.

use super::{Acked, Position};
use crate::recovery::CongestionState;
use crate::recovery::delivery_rate::{Sample, Stamp};
use acklab_base::{Duration, Instant};

/// One ACK, after loss recovery has processed it. Sizes are bytes.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The arrival of the ACK.
    pub now: Instant,
    /// The acknowledged data by which the window may grow: none in a fast recovery.
    pub acked: Acked,
    /// The newly acknowledged bytes, cumulatively or selectively.
    pub delivered: u64,
    /// The bytes delivered since the connection began, including this ACK.
    pub total_delivered: u64,
    /// The number of bytes marked lost because of this ACK.
    pub lost: u64,
    /// The delivered bytes that the network marked Congestion Experienced, if the receiver reports
    /// them.
    pub marked: u64,
    /// The estimated number of bytes in flight after this ACK.
    pub in_flight: u64,
    /// The estimated number of bytes in flight before this ACK.
    pub prior_in_flight: u64,
    /// The end of the acknowledged data: snd.una for TCP; the largest acknowledged number plus one
    /// for packet numbers.
    pub acked_to: Position,
    /// The end of the data sent: snd.nxt for TCP; otherwise the next packet number.
    pub sent_to: Position,
    /// The round-trip time of the oldest segment that this ACK acknowledges (RFC 6298, §3), or
    /// `None` without a sample.
    pub rtt: Option<Duration>,
    /// The time since the last sent of the transmissions that this ACK delivers, or `None` if it is
    /// a retransmission. Unlike [`rtt`](Self::rtt), it excludes the time for which earlier segments
    /// waited for this one (`ca_rtt_us` of Linux's `tcp_clean_rtx_queue`, the input of Linux's
    /// delay-based controllers).
    pub newest_rtt: Option<Duration>,
    /// The sending time of the transmission that `newest_rtt` measures. It may be earlier than
    /// `newest_rtt` ago, because TACK's round-trip time excludes the receiver's waiting time.
    pub newest_sent_at: Option<Instant>,
    /// Smoothed round-trip time, or `None` before the first sample.
    pub srtt: Option<Duration>,
    /// The minimum round-trip time of the connection.
    pub min_rtt: Option<Duration>,
    /// The sample of the delivery rate, for controllers that [read
    /// it](super::CongestionControl::wants_delivery_rate).
    pub rate: Option<Sample>,
    /// The state of congestion control.
    pub state: CongestionState,
    /// `true` if the receiver supports SACK.
    pub has_sack: bool,
    /// `true` if the window limited sending just before the ACK arrived.
    pub window_limited: bool,
    /// The time at which pacing releases the next segment: now, unless pacing delays it.
    pub departure: Instant,
    /// `true` if the ACK may increase the window: outside fast recovery, and only if the window
    /// limits sending.
    pub may_grow: bool,
}

/// A transmission. Sizes are bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The time at which it was sent.
    pub now: Instant,
    /// The size of its payload, in bytes.
    pub bytes: u64,
    /// The estimated bytes in flight, including this transmission.
    pub in_flight: u64,
    /// The position after its last byte or packet.
    pub end: Position,
    /// `true` for a retransmission.
    pub is_retransmission: bool,
    /// `true` if the application limits the sending rate at present.
    pub is_app_limited: bool,
}

/// A transmission that was marked lost. Sizes are bytes.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// The time at which it was marked lost.
    pub now: Instant,
    /// The time at which it was sent.
    pub sent_at: Instant,
    /// The size of its payload, in bytes.
    pub bytes: u64,
    /// The position of its first byte or packet.
    pub start: Position,
    /// The position after its last byte or packet.
    pub end: Position,
    /// The state recorded when it was sent, if the controller
    /// [reads rates](super::CongestionControl::wants_delivery_rate).
    pub stamp: Stamp,
    /// The bytes delivered since the connection began, including the present ACK.
    pub total_delivered: u64,
    /// The bytes marked lost since the connection began, including this transmission, if the
    /// controller reads rates.
    pub total_lost: u64,
}

/// The cause of a congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Loss was detected.
    Loss,
    /// The receiver echoed a congestion mark (RFC 3168).
    Mark,
    /// The retransmission timer expired.
    Timeout,
}
