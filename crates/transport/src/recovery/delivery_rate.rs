//! Measures the delivery rate (draft-ietf-ccwg-bbr, §4.1;
//! draft-cheng-iccrg-delivery-rate-estimation; Linux's `tcp_rate.c`).
//!
//! Each transmission has a [`Stamp`], which records how much data had been delivered when it was
//! sent. A [`Sample`] covers the period from that time to the acknowledgment of the transmission.
//! It contains the data delivered in this period. They are divided by the longer of two times: that
//! in which the data were sent, and that in which they were acknowledged. So neither a burst of
//! packets nor a burst of ACKs looks like bandwidth.

use acklab_base::{Duration, Instant, mul_div};

/// The state of the connection when a transmission was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    /// P.delivered: the number of bytes delivered.
    pub delivered: u64,
    /// P.delivered_time: the time at which P.delivered last changed.
    pub delivered_at: Instant,
    /// P.first_send_time: the start of the period of sending that this transmission's sample
    /// covers.
    pub first_sent_at: Instant,
    /// P.tx_in_flight: the number of bytes in flight, including this transmission.
    pub in_flight: u64,
    /// P.lost: the number of bytes marked lost.
    pub lost: u64,
    /// P.is_app_limited: `true` if the application had nothing more to send.
    pub is_app_limited: bool,
    /// The arrival of the last delivered data, by the receiver's clock; zero if the receiver does
    /// not report it.
    pub received_at: Duration,
}

/// The transmission that was sent last among those that an ACK newly acknowledges.
#[derive(Clone, Copy, Debug)]
pub struct Newest {
    /// The time at which it was sent.
    pub at: Instant,
    /// The number of the transmission in the connection. RFC 8985 orders transmissions of one
    /// instant by sequence number instead.
    pub number: u64,
    /// `true` for a retransmission.
    pub is_retransmission: bool,
}

/// RS: the rate sample of one ACK.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// RS.delivered: the number of bytes delivered in the interval.
    pub delivered: u64,
    /// RS.interval: the interval of the sample.
    pub interval: Duration,
    /// The number of bytes delivered since the newest transmission was sent. `delivered` differs if
    /// the receiver reports the rate over an interval of its choice.
    pub volume: u64,
    /// RS.send_elapsed: the time in which the delivered bytes were sent, without the time until
    /// their acknowledgment.
    pub send_elapsed: Duration,
    /// The interval that the receiver reports, without adjustment, if the receiver reports the
    /// rate.
    pub reported_interval: Option<Duration>,
    /// RS.prior_delivered: the total number of bytes delivered when the newest transmission was
    /// sent. A round trip ends with the first ACK of data that were sent after the round trip
    /// began.
    pub prior_delivered: u64,
    /// RS.tx_in_flight: the number of bytes in flight when the newest transmission was sent.
    pub tx_in_flight: u64,
    /// RS.lost: the number of bytes marked lost since the newest transmission was sent.
    pub lost: u64,
    /// RS.is_app_limited: `true` if the application may have limited the rate.
    pub is_app_limited: bool,
    /// `true` if the newest transmission was a retransmission. Its round-trip time is then
    /// ambiguous (Karn's algorithm).
    pub is_retransmission: bool,
    /// The time since the newest transmission was sent.
    pub rtt: Duration,
    /// The time from the end of the application's last idle period to the sending of the newest
    /// transmission.
    pub since_silence: Duration,
}

impl Sample {
    /// Returns RS.delivery_rate, in bits per second, rounded down.
    #[must_use]
    pub const fn bits_per_second(&self) -> u64 {
        mul_div(self.delivered, 8_000_000_000, if self.interval.is_zero() { 1 } else { self.interval.as_nanos() })
    }

    /// Returns the sample with the rate of the receiver, which reports `delivered` bytes in
    /// `interval`, over the same transmissions.
    ///
    /// The returned rate is at most the sending rate, because nothing is delivered faster than it
    /// was sent (delivery_rate = min(send_rate, ack_rate),
    /// draft-cheng-iccrg-delivery-rate-estimation, §2.2). Packets that are delayed and released
    /// together would exceed the sending rate, and a receiver can report any value. A sending time
    /// below the minimum round-trip time `min_rtt` is replaced by `min_rtt`, because the sender's
    /// sample would be noise (§3.3 of the draft). An interval that includes an idle period of the
    /// application has the application's rate.
    #[must_use]
    pub fn reported(self, delivered: u64, interval: Duration, min_rtt: Duration) -> Self {
        if self.delivered == 0 {
            return self;
        }
        let sending = u128::from(self.send_elapsed.max(min_rtt).as_nanos());
        let least = (sending * u128::from(delivered)).div_ceil(u128::from(self.delivered));
        let least = Duration::from_nanos(u64::try_from(least).unwrap_or(u64::MAX));
        let is_app_limited = self.is_app_limited || interval > self.since_silence;
        Self { delivered, interval: interval.max(least), reported_interval: Some(interval), is_app_limited, ..self }
    }
}

/// C: the connection's state of the estimate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sampler {
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    lost: u64,
    /// The arrival of the last delivered data, by the receiver's clock; zero if the receiver does
    /// not report it.
    received_at: Duration,
    /// The time at which sending resumed after an idle period of the application.
    resumed_at: Option<Instant>,
    /// C.app_limited: the total number of delivered bytes at which the last application-limited
    /// transmission is delivered; zero if there is no such transmission.
    app_limited_until: u64,
}

impl Sampler {
    /// Returns C.delivered: the total number of delivered bytes.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Returns C.lost: the total number of bytes marked lost.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns `true` if sending is application-limited now.
    #[must_use]
    pub const fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    /// Records a transmission (`OnPacketSent`). `in_flight` includes it; `was_idle` is `true` if
    /// nothing was in flight before. Returns its stamp.
    pub fn on_sent(&mut self, now: Instant, in_flight: u64, was_idle: bool) -> Stamp {
        if was_idle {
            (self.first_sent_at, self.delivered_at, self.received_at) = (now, now, Duration::ZERO);
            if self.is_app_limited() {
                self.resumed_at = Some(now);
            }
        }
        Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight,
            lost: self.lost,
            is_app_limited: self.is_app_limited(),
            received_at: self.received_at,
        }
    }

    /// Sets the arrival time of the newest data that the next ACK acknowledges: `received_at`, by
    /// the receiver's clock, or zero if the receiver does not report it. The difference of two of
    /// these times replaces the difference of the ACKs' arrival times, because it excludes delays
    /// of ACKs.
    pub const fn on_receive_time(&mut self, received_at: Duration) {
        self.received_at = received_at;
    }

    /// Records that the application has nothing more to send while the window has room
    /// (`CheckIfApplicationLimited`).
    pub const fn on_app_limited(&mut self, in_flight: u64) {
        let until = self.delivered + in_flight;
        self.app_limited_until = if until == 0 { 1 } else { until };
    }

    /// Records that `octets` bytes were marked lost.
    pub const fn on_lost(&mut self, octets: u64) {
        self.lost += octets;
    }

    /// Returns the sample of an ACK that has delivered `octets` bytes, including `newest` with its
    /// stamp (`GenerateRateSample`). Returns `None` if the interval is shorter than the minimum
    /// round trip, because such a rate is noise.
    pub fn on_ack(
        &mut self,
        now: Instant,
        octets: u64,
        newest: Option<(&Newest, &Stamp)>,
        min_rtt: Option<Duration>,
    ) -> Option<Sample> {
        if octets > 0 {
            self.delivered += octets;
            self.delivered_at = now;
        }
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let (newest, stamp) = newest?;
        self.first_sent_at = newest.at;
        let send_elapsed = newest.at.since(stamp.first_sent_at);
        let tells = !stamp.received_at.is_zero() && self.received_at > stamp.received_at;
        let ack_elapsed = if tells { self.received_at - stamp.received_at } else { now.since(stamp.delivered_at) };
        let interval = send_elapsed.max(ack_elapsed);
        if interval.is_zero() || min_rtt.is_some_and(|min| interval < min) {
            return None;
        }
        let volume = self.delivered - stamp.delivered;
        Some(Sample {
            delivered: volume,
            interval,
            volume,
            send_elapsed,
            reported_interval: None,
            prior_delivered: stamp.delivered,
            tx_in_flight: stamp.in_flight,
            lost: self.lost - stamp.lost,
            is_app_limited: stamp.is_app_limited,
            is_retransmission: newest.is_retransmission,
            rtt: now.since(newest.at),
            since_silence: self.resumed_at.map_or(Duration::MAX, |resumed_at| newest.at.since(resumed_at)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    fn newest(sent_us: u64) -> Newest {
        Newest { at: at(sent_us), number: 1, is_retransmission: false }
    }

    /// Ten segments are sent a millisecond apart. Their ACKs arrive 20 ms later, all together. The
    /// rate is the sending rate.
    #[test]
    fn a_burst_of_acks_is_no_bandwidth() {
        let mut sampler = Sampler::default();
        let stamps: Vec<Stamp> = (0..10).map(|k| sampler.on_sent(at(1000 * k), (k + 1) * MSS, k == 0)).collect();
        let sample = sampler.on_ack(at(29_000), 10 * MSS, Some((&newest(9_000), &stamps[9])), None).unwrap();
        assert_eq!(
            (sample.delivered, sample.interval),
            (10 * MSS, Duration::from_millis(29)),
            "since nothing came before"
        );
        let stamps: Vec<Stamp> =
            (0..10).map(|k| sampler.on_sent(at(29_000 + 1000 * k), (k + 1) * MSS, k == 0)).collect();
        sampler.on_ack(at(49_000), MSS, Some((&newest(29_000), &stamps[0])), None);
        let sample = sampler.on_ack(at(49_001), 9 * MSS, Some((&newest(38_000), &stamps[9])), None).unwrap();
        assert_eq!((sample.delivered, sample.interval), (10 * MSS, Duration::from_micros(20_001)));
        assert_eq!(sample.prior_delivered, 10 * MSS);
    }

    /// Ten segments are sent a millisecond apart, with a round-trip time of 10 ms. The rate is 8
    /// Mbps, whatever the receiver reports.
    #[test]
    fn no_receiver_is_faster_than_the_sender() {
        let (ms, min_rtt) = (Duration::from_millis(1), Duration::from_millis(10));
        let mut sampler = Sampler::default();
        let stamp = sampler.on_sent(at(0), MSS, true);
        let sent = sampler.on_ack(at(20_000), 10 * MSS, Some((&newest(10_000), &stamp)), Some(min_rtt)).unwrap();
        let mbps = |sample: Sample| sample.bits_per_second() / 1_000_000;
        assert_eq!((mbps(sent), mbps(sent.reported(5 * MSS, ms * 10, min_rtt))), (4, 4), "the report counts");
        assert_eq!(mbps(sent.reported(5 * MSS, ms * 6, min_rtt)), 6, "and more precise");
        assert_eq!(mbps(sent.reported(5 * MSS, ms, min_rtt)), 8);
        assert_eq!(mbps(sent.reported(u32::MAX.into(), Duration::from_nanos(1), min_rtt)), 8, "any value may come");
        let burst = Sample { send_elapsed: Duration::ZERO, ..sent };
        assert_eq!(mbps(burst.reported(5 * MSS, ms, min_rtt)), 8, "all at once: in a round trip");
    }

    /// 1000 bytes arrive per millisecond. The ACKs of ten milliseconds arrive together, the second
    /// group 9 ms late. By the receiver's clock, the rate is unchanged.
    #[test]
    fn a_receiver_that_tells_when_data_came_is_not_thought_slow_for_a_late_ack() {
        let rate = |tells: bool| {
            let mut sampler = Sampler::default();
            let told = |ms: u64| if tells { Duration::from_millis(ms) } else { Duration::ZERO };
            let first = sampler.on_sent(at(0), MSS, true);
            sampler.on_receive_time(told(10));
            sampler.on_ack(at(20_000), 10 * MSS, Some((&newest(0), &first)), None);
            let second = sampler.on_sent(at(20_000), MSS, false);
            sampler.on_receive_time(told(20));
            sampler.on_ack(at(39_000), 10 * MSS, Some((&newest(9_000), &second)), None).unwrap().interval
        };
        assert_eq!((rate(false), rate(true)), (Duration::from_millis(19), Duration::from_millis(10)));
    }

    /// Feeds three packets of an application that was idle for 100 ms, and a receiver's report of
    /// them.
    #[test]
    fn a_report_that_covers_a_silence_is_no_rate_of_the_path() {
        let ms = |count| Duration::from_millis(count);
        let mut sampler = Sampler::default();
        let first = sampler.on_sent(at(0), MSS, true);
        sampler.on_app_limited(MSS);
        sampler.on_ack(at(10_000), MSS, Some((&newest(0), &first)), None);
        sampler.on_sent(at(110_000), MSS, true);
        sampler.on_sent(at(111_000), 2 * MSS, false);
        sampler.on_ack(at(120_000), MSS, None, None);
        let stamp = sampler.on_sent(at(121_000), 2 * MSS, false);
        assert!(!stamp.is_app_limited, "it left after an arrival of the second burst");
        let sample = sampler.on_ack(at(131_000), 2 * MSS, Some((&newest(121_000), &stamp)), None).unwrap();
        let is_limited = |interval| sample.reported(2 * MSS, interval, ms(10)).is_app_limited;
        assert_eq!([is_limited(ms(11)), is_limited(ms(111))], [false, true]);
    }

    #[test]
    fn what_is_shorter_than_a_round_trip_is_noise() {
        let mut sampler = Sampler::default();
        let stamp = sampler.on_sent(at(0), MSS, true);
        assert!(sampler.on_ack(at(900), MSS, Some((&newest(0), &stamp)), Some(Duration::from_millis(1))).is_none());
        assert_eq!(sampler.delivered(), MSS);
    }

    #[test]
    fn a_silent_application_marks_what_follows_until_it_is_delivered() {
        let mut sampler = Sampler::default();
        sampler.on_sent(at(0), MSS, true);
        sampler.on_app_limited(MSS);
        let marked = sampler.on_sent(at(10), 2 * MSS, false);
        assert!(marked.is_app_limited);
        sampler.on_ack(at(100), 2 * MSS, Some((&newest(10), &marked)), None);
        assert!(!sampler.is_app_limited());
    }
}
