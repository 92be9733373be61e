use super::persistent::duration;
use super::timeout::probe_timeout;
use super::*;
use crate::recovery::rtt::Estimator;
use proptest::prelude::*;

const MS: fn(u64) -> Duration = Duration::from_millis;
/// 9/8 of a round-trip time of 80 ms.
const THRESHOLD: Duration = Duration::from_millis(90);

fn at(ms: u64) -> Instant {
    Instant::ZERO + MS(ms)
}

fn packet(ms: u64) -> Packet<u64> {
    Packet { at: at(ms), octets: 1200, is_ack_eliciting: true, is_in_flight: true, content: ms }
}

/// Returns packets that are sent a millisecond apart, from 0 ms on.
fn board(packets: u64) -> Packets<u64> {
    let mut board = Packets::default();
    (0..packets).for_each(|ms| {
        board.send(packet(ms), Stamp::default());
    });
    board
}

fn acknowledge(board: &mut Packets<u64>, ms: u64, ranges: &[(u64, u64)]) -> (Vec<u64>, Progress) {
    let mut acknowledged = Vec::new();
    let ranges = ranges.iter().map(|(first, last)| *first..*last + 1);
    let progress = board.acknowledge(at(ms), ranges, &mut acknowledged).unwrap();
    (acknowledged.into_iter().map(|(number, _)| number).collect(), progress)
}

fn lost(board: &mut Packets<u64>, ms: u64) -> Vec<u64> {
    let mut lost = Vec::new();
    board.detect_losses(at(ms), 3, THRESHOLD, &mut lost);
    lost.into_iter().map(|lost| lost.number).collect()
}

fn measured(ms: u64) -> Estimator {
    let mut rtt = Estimator::default();
    rtt.sample(MS(ms));
    rtt
}

/// RFC 9002, §6.1.1: "The RECOMMENDED initial value for the packet reordering threshold
/// (kPacketThreshold) is 3".
#[test]
fn three_packets_behind_is_lost() {
    let mut board = board(6);
    acknowledge(&mut board, 80, &[(4, 4)]);
    assert_eq!(lost(&mut board, 80), [0, 1]);
    assert_eq!(board.in_flight(), 3 * 1200, "2, 3 and 5");
    assert_eq!(board.loss_at(), Some(at(92)), "packet 2 left at 2 ms");
}

/// §6.1.2: "Once a later packet within the same packet number space has been acknowledged, an
/// endpoint SHOULD declare an earlier packet lost if it was sent a threshold amount of time in the
/// past."
#[test]
fn what_left_long_ago_is_lost_once_a_later_one_is_acknowledged() {
    let mut board = board(4);
    assert!(lost(&mut board, 500).is_empty(), "nothing was acknowledged");
    acknowledge(&mut board, 80, &[(2, 2)]);
    assert!(lost(&mut board, 89).is_empty());
    assert_eq!(board.loss_at(), Some(at(90)));
    assert_eq!(lost(&mut board, 90), [0]);
    assert_eq!(lost(&mut board, 91), [1]);
    assert_eq!((board.loss_at(), board.in_flight()), (None, 1200), "3 is later than what was acknowledged");
}

/// §6.1.2: "max(kTimeThreshold * max(smoothed_rtt, latest_rtt), kGranularity)", 9/8 and 1 ms;
/// §6.2.2: 333 ms before a sample.
#[test]
fn the_time_threshold() {
    assert_eq!(Thresholds::RFC.time_threshold(&measured(80)), MS(90));
    let mut slower = measured(80);
    slower.sample(MS(160));
    assert_eq!(Thresholds::RFC.time_threshold(&slower), MS(180), "the latest round trip is the longer one");
    assert_eq!(Thresholds::RFC.time_threshold(&Estimator::default()), Duration::from_micros(374_625));
    let mut tiny = Estimator::default();
    tiny.sample(Duration::from_micros(10));
    assert_eq!(Thresholds::RFC.time_threshold(&tiny), GRANULARITY);
}

/// §5.1: "the largest acknowledged packet number is newly acknowledged, and at least one of the
/// newly acknowledged packets was ack-eliciting."
#[test]
fn only_the_largest_number_gives_a_round_trip() {
    let mut board = board(3);
    board.send(Packet { is_ack_eliciting: false, is_in_flight: false, ..packet(3) }, Stamp::default());
    assert_eq!(acknowledge(&mut board, 50, &[(1, 1)]).1.rtt, Some(MS(49)));
    let (numbers, progress) = acknowledge(&mut board, 60, &[(0, 1)]);
    assert_eq!((numbers, progress.rtt, progress.is_reordered), (vec![0], None, true));
    assert_eq!(acknowledge(&mut board, 61, &[(3, 3)]).1.rtt, None, "a packet of ACKs alone");
    assert_eq!((board.in_flight(), board.has_ack_eliciting()), (1200, true), "2 is out");
}

/// RFC 9000, §13.1: "An endpoint SHOULD treat receipt of an acknowledgment for a packet it did not
/// send as a connection error"; §21.4: numbers are skipped to detect receivers that acknowledge
/// packets they have not received.
#[test]
fn what_was_never_sent_cannot_be_acknowledged() {
    let mut board = board(2);
    assert_eq!(board.skip(), 2);
    board.send(packet(3), Stamp::default());
    let mut none = Vec::new();
    assert_eq!(board.acknowledge(at(9), std::iter::once(3..5), &mut none).unwrap_err(), NeverSent(4));
    assert_eq!(board.acknowledge(at(9), std::iter::once(0..4), &mut none).unwrap_err(), NeverSent(2));
    assert!(none.is_empty() && board.largest_acknowledged().is_none() && board.in_flight() == 3 * 1200);
    assert_eq!(acknowledge(&mut board, 9, &[(3, 3), (0, 1)]).0, [3, 0, 1]);
    assert_eq!((board.in_flight(), lost(&mut board, 9).len(), board.states.len()), (0, 0, 0), "nothing is kept");
}

/// A packet that was considered lost and arrives is reported once, and its content is returned
/// once.
#[test]
fn a_loss_that_was_none() {
    let mut board = board(5);
    acknowledge(&mut board, 80, &[(4, 4)]);
    assert_eq!(lost(&mut board, 80), [0, 1]);
    let (numbers, progress) = acknowledge(&mut board, 81, &[(1, 4)]);
    assert_eq!((numbers, progress.packets, progress.spuriously_lost), (vec![2, 3], 3, 1));
    assert_eq!(progress.octets, 3 * 1200);
    assert_eq!(acknowledge(&mut board, 82, &[(1, 4)]).1.packets, 0);
    board.forget_lost(at(1));
    assert_eq!(acknowledge(&mut board, 83, &[(0, 4)]).1.packets, 0, "0 was forgotten");
}

/// §6.2.1: "PTO = smoothed_rtt + max(4*rttvar, kGranularity) + max_ack_delay"; §6.2.2: kInitialRtt
/// "results in handshakes starting with a PTO of 1 second" (999 ms); §6.2.1: each expiry doubles
/// it.
#[test]
fn the_probe_timeout() {
    assert_eq!(probe_timeout(&measured(80), Thresholds::RFC.initial_rtt, MS(25), 0), MS(80 + 4 * 40 + 25));
    assert_eq!(probe_timeout(&measured(80), Thresholds::RFC.initial_rtt, MS(25), 2), MS(4 * 265));
    assert_eq!(probe_timeout(&Estimator::default(), Thresholds::RFC.initial_rtt, Duration::ZERO, 0), MS(999));
    assert_eq!(probe_timeout(&measured(80), Thresholds::RFC.initial_rtt, MS(25), 99), Duration::MAX);
    let mut board = board(3);
    board.send(Packet { is_ack_eliciting: false, is_in_flight: false, ..packet(9) }, Stamp::default());
    assert_eq!(board.probe_at(MS(265)), Some(at(267)), "what need not be acknowledged starts nothing");
    acknowledge(&mut board, 80, &[(1, 1)]);
    lost(&mut board, 80);
    assert_eq!(board.probe_at(MS(265)), None, "the time threshold goes first");
    acknowledge(&mut board, 81, &[(0, 2)]);
    lost(&mut board, 81);
    assert_eq!(board.probe_at(MS(265)), None, "nothing is out that must be acknowledged");
}

/// §7.6.3, the example: one acknowledged packet, seven that leave from t = 1 to t = 8 and are lost,
/// and the acknowledgment of a ninth at t = 12.2. "The congestion period is calculated as the time
/// between the oldest and newest lost packets: 8 - 1 = 7."
#[test]
fn the_example_of_persistent_congestion() {
    let mut board = Packets::default();
    for seconds in [0, 1, 2, 3, 4, 5, 6, 8, 12] {
        board.send(packet(1000 * seconds), Stamp::default());
    }
    acknowledge(&mut board, 1200, &[(0, 0)]);
    lost(&mut board, 1200);
    acknowledge(&mut board, 12_200, &[(8, 8)]);
    assert_eq!(lost(&mut board, 12_200), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(board.longest_loss(at(0), 0), MS(7000));
    assert_eq!(board.longest_loss(at(1000), 0), MS(6000), "what left before the first measurement does not count");
    assert_eq!(board.longest_loss(at(0), 7), MS(7000), "the last of them makes the run as long");
    acknowledge(&mut board, 12_300, &[(4, 4)]);
    assert_eq!(board.longest_loss(at(0), 0), MS(3000), "5 s to 8 s: something between came in after all");
    assert_eq!(board.longest_loss(at(0), 4), MS(3000), "the run from 1 s to 3 s is not looked at again");
    board.forget_lost(at(20_000));
    assert_eq!(board.longest_loss(at(0), 0), Duration::ZERO);
    let base = 600 + 4 * 300 + 200;
    assert_eq!(duration(&measured(600), MS(200)), Some(MS(3 * base)), "the example: 2 * 3 = 6");
    assert_eq!(duration(&Estimator::default(), MS(25)), None, "§7.6.2: not before a round trip was measured");
}

#[test]
fn an_abandoned_number_space_gives_everything_back() {
    let mut board = board(3);
    acknowledge(&mut board, 5, &[(1, 1)]);
    assert_eq!(board.outstanding().map(|(number, _)| number).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(board.abandon().map(|packet| packet.content).collect::<Vec<_>>(), [0, 2]);
    assert_eq!((board.in_flight(), board.has_ack_eliciting(), board.next_number()), (0, false, 3));
}

/// The stamp is that of the in-flight packet that was sent last. A later packet that does not count
/// as in flight has no stamp, but its round-trip time is measured.
#[test]
fn the_newest_packet_in_flight_tells_the_rate() {
    let mut board = Packets::default().keeping_stamps(true);
    (0..5).for_each(|k| {
        board.send(packet(k), Stamp { delivered: 100 * k, ..Stamp::default() });
    });
    board.send(Packet { is_in_flight: false, ..packet(5) }, Stamp::default());
    let newest = |progress: Progress| progress.newest.map(|(newest, stamp)| (newest.number, stamp.delivered));
    let (_, progress) = acknowledge(&mut board, 9, &[(3, 3), (0, 1)]);
    assert_eq!(newest(progress), Some((3, 300)));
    let (_, progress) = acknowledge(&mut board, 10, &[(4, 5)]);
    assert_eq!((newest(progress), progress.rtt), (Some((4, 400)), Some(MS(5))));
    board.send(Packet { is_in_flight: false, ..packet(6) }, Stamp::default());
    let (_, progress) = acknowledge(&mut board, 10, &[(6, 6)]);
    assert_eq!((newest(progress), progress.rtt), (None, Some(MS(4))), "nothing that was in flight");
}

/// The board as RFC 9002 describes it, without caching.
#[derive(Default)]
struct Plain {
    packets: Vec<(u64, bool, State)>,
    largest: Option<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Out,
    Acknowledged,
    Lost,
}

impl Plain {
    fn acknowledge(&mut self, first: usize, last: usize) -> Vec<u64> {
        self.largest = self.largest.max(Some(last));
        let mut new = Vec::new();
        for number in first..=last {
            if self.packets[number].2 == State::Out {
                new.push(number as u64);
            }
            self.packets[number].2 = State::Acknowledged;
        }
        new
    }

    fn lost(&mut self, now: u64) -> Vec<u64> {
        let Some(largest) = self.largest else { return Vec::new() };
        let mut lost = Vec::new();
        for (number, (sent, _, state)) in self.packets.iter_mut().enumerate() {
            let is_late = number + 3 <= largest || *sent + 90 <= now;
            if *state == State::Out && number < largest && is_late {
                *state = State::Lost;
                lost.push(number as u64);
            }
        }
        lost
    }

    /// Returns the longest run of losses that includes the number `since` or a later one.
    fn longest(&self, since: usize) -> u64 {
        let lost = |number: usize| {
            self.packets[number].1 && self.packets[number].2 == State::Lost && self.packets[number].0 > 50
        };
        let mut longest = 0;
        for first in (0..self.packets.len()).filter(|number| lost(*number)) {
            let until = self.packets[first..].iter().take_while(|(.., state)| *state != State::Acknowledged).count();
            let last = (first..first + until).rfind(|number| lost(*number)).unwrap_or(first);
            if (first..first + until).any(|number| number >= since && self.packets[number].2 == State::Lost) {
                longest = longest.max(self.packets[last].0 - self.packets[first].0);
            }
        }
        longest
    }
}

proptest! {
    #[test]
    fn it_agrees_with_the_text(steps in proptest::collection::vec((0u8..8, 0u64..40, 0usize..30, 0usize..8), 1..200)) {
        let (mut board, mut plain, mut now) = (Packets::default(), Plain::default(), 0);
        for (kind, pause, place, length) in steps {
            now += pause;
            match kind {
                0..=4 => {
                    let is_ack_eliciting = kind > 0;
                    let one = Packet { is_ack_eliciting, is_in_flight: is_ack_eliciting, ..packet(now) };
                    prop_assert_eq!(board.send(one, Stamp::default()), plain.packets.len() as u64);
                    plain.packets.push((now, is_ack_eliciting, State::Out));
                }
                5 | 6 if !plain.packets.is_empty() => {
                    let last = plain.packets.len() - 1 - place.min(plain.packets.len() - 1);
                    let first = last.saturating_sub(length);
                    let numbers = acknowledge(&mut board, now, &[(first as u64, last as u64)]).0;
                    prop_assert_eq!(numbers, plain.acknowledge(first, last));
                    prop_assert_eq!(lost(&mut board, now), plain.lost(now));
                }
                _ => prop_assert_eq!(lost(&mut board, now), plain.lost(now)),
            }
            let out = plain.packets.iter().filter(|(_, counts, state)| *counts && *state == State::Out).count() as u64;
            prop_assert_eq!((board.in_flight(), board.has_ack_eliciting()), (out * 1200, out > 0));
            prop_assert_eq!(board.longest_loss(at(50), 0), MS(plain.longest(0)));
            prop_assert_eq!(board.longest_loss(at(50), place as u64), MS(plain.longest(place)));
            prop_assert_eq!(board.outstanding().count(), plain.packets.iter().filter(|(.., state)| *state == State::Out).count());
        }
    }
}
