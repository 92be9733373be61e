//! Tests BBR behind a gate: a bottleneck that releases ACKs in bursts more than a round-trip time
//! apart.
//!
//! The sender sends its window of two bandwidth-delay products in less than the gap between two
//! bursts, and idles for the rest of the gap. It then measures a lower delivery rate and computes a
//! smaller window from it, which repeats in each gap. If the ACK aggregation is added to the
//! window, the sender no longer idles.

use super::super::super::testing::{MSS, ack, start};
use super::super::*;
use crate::cc::Growth;
use crate::recovery::delivery_rate::{Newest, Sampler, Stamp};
use std::collections::VecDeque;

/// At 20 Mbps, a segment takes 0.4 ms.
const SPACING: Duration = Duration::from_micros(400);
const LINE: u64 = 20;
const RTT: Duration = Duration::from_millis(40);

/// Returns the goodput in Mbps over the second half of 20 s, with ACKs that are sent only at
/// multiples of `gap`.
fn goodput(gap: Duration, compensates: bool) -> u64 {
    let mut bbr = Bbr::new(&Config::PUBLISHED, &start(Growth::PerSegment));
    let mut window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
    let (mut sampler, mut now, end) = (Sampler::default(), Instant::ZERO, Instant::ZERO + Duration::from_secs(20));
    bbr.on_established(now, &mut window, Some(RTT));
    if !compensates {
        bbr.constants.extra_acked_gain = Gain::percent(0);
    }
    let mut in_flight: VecDeque<(Instant, Instant, Stamp)> = VecDeque::new();
    let (mut departure, mut free, mut total, mut half) = (now, now, 0, 0);
    while now < end {
        let acked = in_flight.iter().take_while(|(_, arrives, _)| *arrives <= now).count() as u64;
        if acked > 0 {
            let prior = in_flight.len() as u64 * MSS;
            let (sent, _, stamp) = in_flight.drain(..acked as usize).next_back().unwrap();
            total += acked * MSS;
            half += if now.since(Instant::ZERO) > Duration::from_secs(10) { acked * MSS } else { 0 };
            let newest = Newest { at: sent, number: total, is_retransmission: false };
            let rate = sampler.on_ack(now, acked * MSS, Some((&newest, &stamp)), Some(RTT));
            let ack = Ack {
                total_delivered: total,
                in_flight: in_flight.len() as u64 * MSS,
                prior_in_flight: prior,
                newest_rtt: Some(now.since(sent)),
                rate,
                departure: departure.max(now),
                ..ack(now, acked, now.since(sent))
            };
            bbr.on_ack(&mut window, &ack);
            if bbr.limits_itself() {
                sampler.on_app_limited(ack.in_flight);
            }
        }
        let sent = in_flight.len() as u64 * MSS;
        if sent + MSS <= window.cwnd && departure <= now {
            free = free.max(now) + SPACING;
            let arrives = (free + RTT).next_multiple_of(gap);
            in_flight.push_back((now, arrives, sampler.on_sent(now, sent + MSS, sent == 0)));
            departure = now + Duration::from_nanos(MSS * 8_000_000_000 / bbr.pacing.bits_per_second());
            continue;
        }
        let next = in_flight.front().map(|(_, arrives, _)| *arrives);
        let may_send = (sent + MSS <= window.cwnd).then_some(departure);
        now = Instant::earliest(next, may_send).unwrap_or(end);
    }
    half * 8 / 10_000_000
}

#[test]
fn without_compensation_a_gap_of_more_than_a_round_trip_stalls_the_window() {
    let gap = Duration::from_millis(100);
    let (without, with) = (goodput(gap, false), goodput(gap, true));
    assert!(without < LINE / 4, "{without} Mbps");
    assert!(with >= LINE * 9 / 10, "{with} Mbps");
}

#[test]
fn a_gap_of_half_a_round_trip_needs_none() {
    assert!(goodput(Duration::from_millis(20), false) >= LINE * 9 / 10);
}

/// Linux compensates at most 100 ms (`bbr_extra_acked_max_us`).
#[test]
fn compensation_ends_at_a_tenth_of_a_second() {
    let gap = |ms| goodput(Duration::from_millis(ms), true);
    assert!(gap(200) < LINE / 2, "{} Mbps", gap(200));
}
