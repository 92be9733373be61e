//! The inputs of a controller: ACKs, transmissions, losses. Sizes are in octets.

use super::{Acked, Position};
use crate::recovery::CongestionState;
use crate::recovery::delivery_rate::{Sample, Stamp};
use acklab_base::{Duration, Instant};

/// One ACK, after loss recovery has processed it. Sizes in octets.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// What it acknowledged, as far as that counts for growth: nothing in a fast recovery.
    pub acked: Acked,
    /// What it newly acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Delivered since the connection began, this ACK included.
    pub total_delivered: u64,
    /// What was marked lost because of it.
    pub lost: u64,
    /// Of what it delivered, the octets that the network marked Congestion Experienced, if the
    /// receiver reports them.
    pub marked: u64,
    /// Estimated to be in flight after it.
    pub in_flight: u64,
    /// Estimated to be in flight before it.
    pub prior_in_flight: u64,
    /// All below is acknowledged: snd.una of TCP; the number after the largest acknowledged one
    /// where packets are numbered.
    pub acked_to: Position,
    /// All below was sent: snd.nxt of TCP, the next packet number elsewhere.
    pub sent_to: Position,
    /// The round-trip time of the oldest segment that it acknowledges (RFC 6298, §3), or `None` if
    /// it gives no sample.
    pub rtt: Option<Duration>,
    /// The time since the last transmission among those that it delivers, or `None` if that one is
    /// a retransmission. Unlike [`rtt`](Self::rtt), it excludes the time for which earlier segments
    /// waited for this one (`ca_rtt_us` of Linux's `tcp_clean_rtx_queue`, which delay-based
    /// controllers are given there).
    pub newest_rtt: Option<Duration>,
    /// When the transmission left of which `newest_rtt` is the round trip. That may be longer ago:
    /// the round trip of TACK is without the time for which the receiver waited.
    pub newest_sent_at: Option<Instant>,
    /// Smoothed round-trip time, or `None` before the first sample.
    pub srtt: Option<Duration>,
    /// The shortest round-trip time of the connection.
    pub min_rtt: Option<Duration>,
    /// The sample of the delivery rate, for controllers that [read
    /// it](super::CongestionControl::wants_delivery_rate).
    pub rate: Option<Sample>,
    /// The state of congestion control.
    pub state: CongestionState,
    /// The receiver acknowledges selectively.
    pub has_sack: bool,
    /// Sending was limited by the window just before it arrived.
    pub window_limited: bool,
    /// When pacing lets the next segment leave: now, unless pacing delays it.
    pub departure: Instant,
    /// The window may grow by it: not in a fast recovery, and not while something other than the
    /// window limits sending.
    pub may_grow: bool,
}

/// A transmission. Sizes in octets.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it left.
    pub now: Instant,
    /// Its payload.
    pub bytes: u64,
    /// Estimated to be in flight, this transmission included.
    pub in_flight: u64,
    /// The position after its last octet or packet.
    pub end: Position,
    /// It is a retransmission.
    pub is_retransmission: bool,
    /// The application limits the sending rate at present.
    pub is_app_limited: bool,
}

/// A transmission that was marked lost. Sizes in octets.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When it was marked.
    pub now: Instant,
    /// When it left.
    pub sent_at: Instant,
    /// Its payload.
    pub bytes: u64,
    /// The position of its first octet or packet.
    pub start: Position,
    /// The position after its last octet or packet.
    pub end: Position,
    /// The state recorded when it left, if the controller [reads
    /// rates](super::CongestionControl::wants_delivery_rate).
    pub stamp: Stamp,
    /// Delivered since the connection began, the present ACK included.
    pub total_delivered: u64,
    /// Marked lost since the connection began, this included, if the controller reads rates.
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
