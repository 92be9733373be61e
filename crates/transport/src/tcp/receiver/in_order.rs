//! Processes segments in order. Such a segment is the next segment of a stream without gaps, and
//! carries only data. Most segments are of this kind and skip most of the processing (header
//! prediction: Jacobson, 1990; the fast path of Linux's `tcp_rcv_established`).

use super::input::entry;
use super::{Agreed, Receiver};
use crate::ack::Arrival;
use acklab_base::{Fate, Instant};
use acklab_wire::tcp::{Flags, Segment, SeqNumber};

impl Receiver {
    /// Returns `true` if `segment` is the next segment of the stream, no data are missing, and the
    /// segment carries only data.
    #[inline]
    pub(super) fn is_in_order(&self, segment: &Segment, agreed: &Agreed) -> bool {
        #[cfg(test)]
        if self.takes_long_way {
            return false;
        }
        let options = &segment.options;
        segment.payload > 0
            && segment.seq == SeqNumber::at(agreed.first, self.stream.next())
            && self.stream.beyond().is_empty()
            && !segment.flags.intersects(Flags::SYN | Flags::FIN)
            && self.fin.is_none()
            && self.syn_sent_at.is_none()
            && self.echo.has_nothing_to_note(segment)
            && options.ack_ratio.is_none()
            && options.ack_rate.is_none()
            && u64::from(segment.payload) <= self.config.mss.get()
            && self.window.takes_at_once(segment.payload)
            && self.measures_nothing()
    }

    /// Processes a segment that [is in order](Self::is_in_order). The omitted steps would have no
    /// effect.
    #[inline]
    pub(super) fn take_in_order(&mut self, now: Instant, segment: &Segment, agreed: &Agreed) -> Fate {
        let (start, octets) = (self.stream.next(), u64::from(segment.payload));
        let end = start + octets;
        if let Some(timestamps) = segment.options.timestamps
            && start <= self.last_ack_sent
        {
            self.timestamp_to_echo = timestamps.value;
        }
        self.counters.data_segments += 1;
        let ends_write = self.ends_write(segment);
        let arrival = self.stream.insert(start..end);
        debug_assert_eq!(arrival, Arrival::InOrder);
        self.acknowledger.enter(now, entry(segment, start..end, octets));
        if ends_write {
            self.tell_end_of_write();
        }
        self.acknowledger.decide(now, Arrival::InOrder, self.stream.held(agreed.has_sack));
        Fate::Taken
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::config::{Preset, TcpConfig};
    use super::super::super::ecn::EcnConfig;
    use super::super::super::sender::Sender;
    use super::*;
    use crate::ack::{Policy, PolicyConfig};
    use crate::cc::Controller;
    use crate::reading::Reading;
    use acklab_base::random::Seed;
    use acklab_base::{Bytes, Duration, Ecn, Machine, StreamPort};
    use proptest::prelude::*;
    use proptest::sample::select;

    fn receiver(config: TcpConfig, reading: Reading) -> Receiver {
        let policy = Policy::new(config.ack).expect("it is built in");
        Receiver::new(config, policy, Seed(1), "f").with_reading(reading)
    }

    proptest! {
        /// Without the fast path, a receiver sends the same segments and has the same state. The
        /// test covers loss, delay, marks, truncation, requests for ACKs, and an application that
        /// reads late.
        #[test]
        fn the_short_way_leads_where_the_long_one_does(
            preset in select(vec![Preset::Rfc, Preset::Linux, Preset::Ns3]),
            policy in select(PolicyConfig::built_in().collect::<Vec<_>>()),
            ecn in select(vec![EcnConfig::Off, EcnConfig::Classic, EcnConfig::Dctcp, EcnConfig::Accurate]),
            (reads_at_once, sack, writes) in (any::<bool>(), any::<bool>(), prop::collection::vec(1u64..20_000, 1..20)),
            fates in prop::collection::vec(0u8..40, 1..200),
        ) {
            let mut config = preset.config();
            (config.ack, config.ecn, config.sack, config.receive_buffer) = (policy, ecn, sack, Bytes(40_000));
            let controller = Controller::new(&config.congestion, &config.controller_start(Seed(1), "f"));
            let mut sender = Sender::new(config, controller.expect("it is built in"), Seed(1), "f");
            let reading = if reads_at_once { Reading::AtOnce } else { Reading::OnDemand };
            let (mut short, mut long) = (receiver(config, reading), receiver(config, reading));
            long.takes_long_way = true;
            let (mut fates, mut writes) = (fates.into_iter().cycle(), writes.into_iter().cycle());
            let mut flying: Vec<(Instant, Segment)> = Vec::new();
            let mut now = Instant::ZERO;
            for step in 0..400 {
                sender.wake(now);
                sender.open(now);
                sender.write(now, writes.next().unwrap_or_default());
                while let Some(mut segment) = sender.poll(now) {
                    let delay = match fates.next() {
                        Some(0) => continue,
                        Some(1) => 19,
                        _ => 10,
                    };
                    if fates.next() == Some(2) {
                        segment.ecn = Ecn::Ce;
                    }
                    flying.push((now + Duration::from_millis(delay), segment));
                }
                for (_, segment) in flying.extract_if(.., |(at, _)| *at <= now) {
                    prop_assert_eq!(short.accept(now, segment), long.accept(now, segment));
                }
                for receiver in [&mut short, &mut long] {
                    receiver.wake(now);
                    if fates.clone().next() != Some(3) {
                        receiver.read(now, 10_000);
                    }
                }
                while let Some(ack) = short.poll(now) {
                    prop_assert_eq!(Some(ack), long.poll(now));
                    sender.accept(now, ack);
                }
                prop_assert_eq!(None, long.poll(now));
                // Formatting the states takes longer than the rest of the test.
                if step % 10 == 9 {
                    long.takes_long_way = false;
                    prop_assert_eq!(format!("{short:?}"), format!("{long:?}"));
                    long.takes_long_way = true;
                }
                now += Duration::from_millis(1);
            }
        }
    }
}
