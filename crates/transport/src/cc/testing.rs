//! Provides inputs for the tests of controllers.

use super::{Ack, Acked, Dialect, Growth, Position, Sent, SlowStart, Start};
use crate::recovery::CongestionState;
use crate::recovery::delivery_rate::Sample;
use acklab_base::random::Seed;
use acklab_base::{Duration, Instant};

pub(super) const MSS: u64 = 1000;

pub(super) fn start(growth: Growth) -> Start {
    Start {
        mss: MSS,
        initial_window: 10 * MSS,
        growth,
        slow_start: SlowStart::Classic {},
        dialect: Dialect::Reference,
        paced: false,
        burst: None,
        random: Seed(1).stream("controller"),
    }
}

/// Returns an ACK for whole segments in the open state that may increase the window.
pub(super) fn ack(now: Instant, segments: u64, rtt: Duration) -> Ack {
    let bytes = segments * MSS;
    Ack {
        now,
        acked: Acked { bytes, segments },
        delivered: bytes,
        total_delivered: bytes,
        lost: 0,
        marked: 0,
        in_flight: 0,
        prior_in_flight: bytes,
        acked_to: Position::default(),
        sent_to: Position::default(),
        rtt: Some(rtt),
        newest_rtt: Some(rtt),
        newest_sent_at: Some(now.saturating_sub(rtt)),
        srtt: Some(rtt),
        min_rtt: Some(rtt),
        rate: None,
        state: CongestionState::Open,
        has_sack: true,
        window_limited: false,
        departure: now,
        may_grow: true,
    }
}

/// Returns the transmission of a full-sized segment, after which `in_flight` bytes are in flight.
pub(super) fn sent(now: Instant, in_flight: u64) -> Sent {
    Sent { now, bytes: MSS, in_flight, end: Position(0), is_retransmission: false, is_app_limited: false }
}

/// Returns a sample of `delivered` bytes in a millisecond. `prior_delivered` bytes had been
/// delivered when the newest of them was sent.
pub(super) fn sample(delivered: u64, prior_delivered: u64) -> Sample {
    Sample {
        delivered,
        interval: Duration::from_millis(1),
        volume: delivered,
        send_elapsed: Duration::from_millis(1),
        reported_interval: None,
        prior_delivered,
        tx_in_flight: 0,
        lost: 0,
        is_app_limited: false,
        is_retransmission: false,
        rtt: Duration::from_millis(1),
        since_silence: Duration::MAX,
    }
}
