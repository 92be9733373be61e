use super::*;
use crate::quic::Settings;
use crate::quic::arrived::Arrived;
use crate::recovery::manager::{Context, PersistentCongestion, Report};
use crate::recovery::packets::Lost;
use crate::tcp::Preset;
use acklab_base::Ecn;
use acklab_base::random::Seed;
use proptest::collection::vec;
use proptest::prelude::*;

const ID: Id = Id::Application;

/// An owner of packets without content.
struct NoOwner;

impl Context<Content> for NoOwner {
    fn on_acked(&mut self, _number: u64, _packet: &Packet<Content>) -> bool {
        true
    }

    fn on_lost(&mut self, _lost: Lost<Content>) -> bool {
        true
    }

    fn sent(&self) -> u64 {
        0
    }

    fn push(&mut self, _event: Event) {}
}

fn sender() -> Sender {
    let start = Preset::Rfc.config().controller_start(Seed(1), "f");
    let controller = Controller::new(&cc::ControllerConfig::NEW_RENO, &start).unwrap();
    Sender::new(&Settings::default().config(), controller)
}

/// Handles an ACK of these ranges. Returns the result.
fn acknowledge(sender: &mut Sender, now: Instant, ranges: &AckRanges) -> String {
    let prior_in_flight = sender.in_flight();
    let progress = sender.acknowledge(now, ID, ranges).unwrap();
    if let Some(rtt) = progress.rtt {
        sender.sample(now, rtt, Duration::ZERO);
    }
    let persistent = PersistentCongestion::Reported(false);
    let report = Report { progress, prior_in_flight, marked: None, rate: None, persistent };
    sender.recovery.detect(now, ID as usize, &sender.thresholds);
    sender.recovery.settle(now, ID as usize, &report, &mut NoOwner);
    format!("{progress:?} {} {:?}", sender.in_flight(), sender.loss_at(ID))
}

proptest! {
    /// The sender skips ranges that equal the ranges of the last frame. Skipping has no effect on
    /// the result, whether packets and frames are lost, late or out of order.
    #[test]
    fn ranges_that_are_repeated_bring_nothing(fates in vec(0u8..16, 1..200), most in 1usize..6) {
        let (mut one, mut other, mut arrived) = (sender(), sender(), Arrived::default());
        let (mut late, mut held, mut now) = (Vec::new(), Vec::new(), Instant::ZERO);
        for fate in fates {
            now += Duration::from_millis(1);
            let content = Content::default;
            let packet = || Packet { at: now, octets: 1000, is_ack_eliciting: true, is_in_flight: true, content: content() };
            let number = one.send(ID, packet(), 0, false);
            prop_assert_eq!(other.send(ID, packet(), 0, false), number);
            match fate {
                0 => {}
                1 => late.push(number),
                2 => late.drain(..).for_each(|number| _ = arrived.insert(now, number, Ecn::NotEct)),
                _ => _ = arrived.insert(now, number, Ecn::NotEct),
            }
            let Some(ack) = arrived.ack(now, 3, most) else { continue };
            let is_held = fate == 3;
            if fate == 4 {
                arrived.on_reported(ack.ranges.largest() / 2);
            }
            held.push(ack.ranges);
            if is_held {
                continue;
            }
            for ranges in held.drain(..).rev() {
                let mut all: Vec<_> = ranges.iter().cloned().collect();
                let alone = AckRanges::new(all.remove(0), OlderRanges::new(all));
                let brought = acknowledge(&mut one, now, &ranges);
                prop_assert_eq!(brought, acknowledge(&mut other, now, &alone));
            }
        }
    }
}
