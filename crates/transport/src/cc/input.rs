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
    /// The acknowledged data that count for growth: none in a fast recovery.
    pub acked: Acked,
    /// The newly acknowledged bytes, cumulatively or selectively.
    pub delivered: u64,
    /// The bytes delivered since the connection began, including this ACK.
    pub total_delivered: u64,
    /// The bytes marked lost because of it.
    pub lost: u64,
    /// The delivered bytes that the network marked Congestion Experienced, if the receiver reports
    /// them.
    pub marked: u64,
    /// The estimated bytes in flight after it.
    pub in_flight: u64,
    /// The estimated bytes in flight before it.
    pub prior_in_flight: u64,
    /// The end of the acknowledged data: snd.una for TCP; the largest acknowledged number plus one
    /// for packet numbers.
    pub acked_to: Position,
    /// The end of the data sent: snd.nxt for TCP; otherwise the next packet number.
    pub sent_to: Position,
    /// The round-trip time of the oldest segment that it acknowledges (RFC 6298, §3), or `None` if
    /// it gives no sample.
    pub rtt: Option<Duration>,
    /// The time since the last transmission among those that it delivers, or `None` if that one is
    /// a retransmission. Unlike [`rtt`](Self::rtt), it excludes the time for which earlier segments
    /// waited for this one (`ca_rtt_us` of Linux's `tcp_clean_rtx_queue`, the input of Linux's
    /// delay-based controllers).
    pub newest_rtt: Option<Duration>,
    /// The departure of the transmission that `newest_rtt` measures. It may be earlier than
    /// `newest_rtt` ago, because TACK's round trip excludes the receiver's waiting time.
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
    /// When pacing releases the next segment: now, unless pacing delays it.
    pub departure: Instant,
    /// `true` if the ACK may increase the window: not in a fast recovery, and only if the window
    /// limits sending.
    pub may_grow: bool,
}

/// A transmission. Sizes are bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it left.
    pub now: Instant,
    /// Its payload.
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
    /// When it was marked.
    pub now: Instant,
    /// When it left.
    pub sent_at: Instant,
    /// Its payload.
    pub bytes: u64,
    /// The position of its first byte or packet.
    pub start: Position,
    /// The position after its last byte or packet.
    pub end: Position,
    /// The state recorded when it left, if the controller [reads
    /// rates](super::CongestionControl::wants_delivery_rate).
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
    /// The receiver echoed a mark (RFC 3168).
    Mark,
    /// The retransmission timer expired.
    Timeout,
}
