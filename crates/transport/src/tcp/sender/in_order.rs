//! Processes ACKs in order: no data are missing, and the ACK only advances snd.una. Most ACKs are
//! of this kind and skip most of the processing (header prediction: Jacobson, 1990; the fast path
//! of Linux's `tcp_ack`).

use super::Sender;
use super::inform::AckReport;
use crate::recovery::CongestionState;
use acklab_base::Instant;
use acklab_wire::tcp::Segment;

impl Sender {
    /// Returns `true` if no data are missing, and `segment` only reports that all data below `ack`
    /// have arrived.
    #[inline]
    pub(super) fn is_in_order(&self, segment: &Segment, ack: u64) -> bool {
        #[cfg(test)]
        if self.takes_long_way {
            return false;
        }
        self.congestion.state == CongestionState::Open
            && ack > self.board.una()
            && self.board.is_in_order()
            && segment.options.sack.is_empty()
            && self.loss.probe.episode.is_none()
            && !self.may_be_overtaken()
            && !self.congestion.undo.is_refuted_by_dsack()
            && self.marks.has_no_effect(segment)
    }

    /// Processes an ACK that [is in order](Self::is_in_order). The omitted steps would have no
    /// effect.
    #[inline]
    pub(super) fn take_in_order(&mut self, now: Instant, segment: &Segment, ack: u64) -> AckReport {
        let prior_flight = self.board.pipe();
        self.begin_ack(now, segment);
        let advance = self.board.advance(ack);
        let delivered = self.newly_delivered(advance.bytes);
        self.counters.delivered += delivered;
        self.note_acknowledged();
        let rtt = self.sample_rtt(now, segment, &advance, None);
        if self.detects_by_time() && self.note_delivery(now) {
            let overtaken_by = self.overtaken_by();
            debug_assert!(overtaken_by.is_none(), "what is delivered in order overtakes nothing");
        }
        self.loss.duplicates = 0;
        self.timing.restart(now);
        AckReport { delivered, marked: 0, prior_flight, rtt, growth: advance.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::config::Preset;
    use super::super::super::receiver::Receiver;
    use super::*;
    use crate::ack::Policy;
    use crate::cc::Controller;
    use crate::recovery::Detection;
    use acklab_base::random::Seed;
    use acklab_base::{Duration, Machine, StreamPort};
    use proptest::prelude::*;
    use proptest::sample::select;

    /// A path with a round-trip time of 20 ms. Each value is the fate of the next segment or ACK:
    /// zero is a loss, one a long delay.
    struct Path {
        fates: std::iter::Cycle<std::vec::IntoIter<u8>>,
        flying: Vec<(Instant, Segment)>,
    }

    impl Path {
        fn new(fates: Vec<u8>) -> Self {
            Self { fates: fates.into_iter().cycle(), flying: Vec::new() }
        }

        fn carry(&mut self, now: Instant, segment: Segment) {
            let delay = match self.fates.next() {
                Some(0) => return,
                Some(1) => 19,
                _ => 10,
            };
            self.flying.push((now + Duration::from_millis(delay), segment));
        }

        fn arriving(&mut self, now: Instant) -> Vec<Segment> {
            let arrived = self.flying.extract_if(.., |(at, _)| *at <= now);
            arrived.map(|(_, segment)| segment).collect()
        }
    }

    proptest! {
        /// Without the fast path, a sender sends the same segments and has the same state, for any
        /// loss and reordering.
        #[test]
        fn the_short_way_leads_where_the_long_one_does(
            preset in select(vec![Preset::Rfc, Preset::Linux, Preset::Ns3]),
            detection in select(vec![Detection::DupThresh, Detection::Rack]),
            (sack, undo, paced) in (any::<bool>(), any::<bool>(), any::<bool>()),
            (there, back) in (prop::collection::vec(0u8..40, 1..200), prop::collection::vec(0u8..40, 1..200)),
        ) {
            let mut config = preset.config();
            (config.detection, config.sack, config.undo) = (detection, sack, undo);
            config.pacing = if paced { crate::pacing::PacingConfig::Always } else { crate::pacing::PacingConfig::Never };
            let seed = Seed(1);
            let sender = || {
                let controller = Controller::new(&config.congestion, &config.controller_start(seed, "f"));
                Sender::new(config, controller.expect("it is built in"), seed, "f")
            };
            let policy = Policy::new(config.ack).expect("it is built in");
            let mut receiver = Receiver::new(config, policy, seed, "f");
            let (mut short, mut long) = (sender(), sender());
            long.takes_long_way = true;
            let (mut there, mut back) = (Path::new(there), Path::new(back));
            let mut now = Instant::ZERO;
            for _ in 0..400 {
                let acks = back.arriving(now);
                let has_taken_acks = !acks.is_empty();
                for ack in acks {
                    prop_assert_eq!(short.accept(now, ack), long.accept(now, ack));
                }
                for sender in [&mut short, &mut long] {
                    sender.wake(now);
                    sender.open(now);
                    sender.write(now, 1 << 20);
                }
                while let Some(segment) = short.poll(now) {
                    prop_assert_eq!(Some(segment), long.poll(now));
                    there.carry(now, segment);
                }
                prop_assert_eq!(None, long.poll(now));
                if has_taken_acks {
                    long.takes_long_way = false;
                    prop_assert_eq!(format!("{short:?}"), format!("{long:?}"));
                    long.takes_long_way = true;
                }
                there.arriving(now).into_iter().for_each(|segment| _ = receiver.accept(now, segment));
                receiver.wake(now);
                while let Some(ack) = receiver.poll(now) {
                    back.carry(now, ack);
                }
                now += Duration::from_millis(1);
            }
        }
    }
}
