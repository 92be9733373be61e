use super::*;
use crate::recovery::DUP_THRESH;
use acklab_base::Duration;
use proptest::prelude::*;

fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    (0..segments).for_each(|k| board.send(Instant::from_nanos(k), 100, Stamp::default()));
    board
}

fn found(lost: u64, retransmissions_lost: bool, wait_us: Option<u64>) -> Detected {
    Detected { lost, retransmissions_lost, wait: wait_us.map(Duration::from_micros) }
}

/// Retransmissions that were sent later cannot have been acknowledged.
fn since(latest: Instant) -> Limits {
    Limits { latest, ..Limits::default() }
}

fn range(first: u64, last: u64) -> Range<u64> {
    first * 100..(last + 1) * 100
}

#[test]
fn three_sacked_above_mean_lost() {
    let mut board = board(10);
    assert_eq!(board.sack([range(1, 2)].into_iter()), (200, Some((Instant::from_nanos(1), Instant::from_nanos(2)))));
    assert_eq!(board.detect_losses(), 0);
    assert_eq!(board.sack([range(1, 3)].into_iter()).0, 100);
    assert_eq!(board.detect_losses(), 100);
    assert_eq!(board.next_lost(), Some(0..100));
    assert_eq!(board.pipe(), 1000 - 300 - 100);
    board.retransmit(Instant::from_nanos(20), 0, Stamp::default());
    assert_eq!(board.pipe(), 700);
    assert_eq!(board.next_lost(), None);
}

#[test]
fn an_acknowledged_retransmission_gives_no_round_trip_time() {
    let mut board = board(5);
    board.sack([range(1, 3)].into_iter());
    board.detect_losses();
    board.retransmit(Instant::from_nanos(9), 0, Stamp::default());
    let advance = board.advance(400);
    assert_eq!((advance.bytes, advance.newly_delivered, advance.sent_at), (400, 100, None));
    assert!(advance.retransmission_acked);
    assert_eq!(board.advance(500).sent_at, Some(Instant::from_nanos(4)));
    assert!(board.is_empty());
}

#[test]
fn after_a_timeout_all_but_the_sacked_is_sent_again() {
    let mut board = board(4);
    board.sack([range(2, 2)].into_iter());
    board.mark_all_lost();
    assert_eq!(board.pipe(), 0);
    let mut again = Vec::new();
    while let Some(segment) = board.next_lost() {
        board.retransmit(Instant::from_nanos(50), segment.start, Stamp::default());
        again.push(segment.start / 100);
    }
    assert_eq!(again, [0, 1, 3]);
    assert_eq!(board.pipe(), 300);
}

#[test]
fn reports_of_a_receiver_that_let_go_of_the_oldest_are_void() {
    let mut board = board(4);
    board.sack([range(1, 2)].into_iter());
    assert!(!board.clear_reneged_sacks(), "the oldest is not reported");
    board.advance(100);
    assert!(board.clear_reneged_sacks());
    board.mark_all_lost();
    assert_eq!((board.sacked(), board.lost(), board.next_lost()), (0, 300, Some(100..200)));
    assert_eq!(board.sack([range(2, 2)].into_iter()).0, 100, "what is reported anew counts");
}

#[test]
fn by_time_what_was_out_too_long_is_lost() {
    let us = |us| Instant::ZERO + Duration::from_micros(us);
    let mut board = Scoreboard::default();
    (0..4).for_each(|k| board.send(us(100 * k), 100, Stamp::default()));
    board.begin_ack(since(us(0)));
    board.sack([range(2, 2)].into_iter());
    let newest = board.delivery().newest.unwrap().number;
    let reach = Duration::from_micros(1050);
    assert_eq!(board.detect_by_time(us(1000), newest, reach), found(0, false, Some(150)), "until both are due");
    assert_eq!(board.detect_by_time(us(1060), newest, reach), found(100, false, Some(90)));
    board.retransmit(us(1060), 0, Stamp::default());
    assert_eq!(
        board.detect_by_time(us(1150), newest, reach),
        found(100, false, None),
        "the one that left last is not examined"
    );
    board.retransmit(us(1150), 100, Stamp::default());
    // The second retransmission is delivered. The first one and the segment that was never examined
    // are now late.
    board.begin_ack(since(us(2150)));
    board.sack([range(1, 1)].into_iter());
    let newest = board.delivery().plausible.unwrap().0;
    assert_eq!(board.detect_by_time(us(2200), newest, reach), found(200, true, None));
    assert_eq!(board.next_lost(), Some(0..100));
}

#[test]
fn after_a_timeout_what_left_lately_stays_in_flight() {
    let us = |us| Instant::ZERO + Duration::from_micros(us);
    let mut board = Scoreboard::default();
    (0..4).for_each(|k| board.send(us(1000 * k), 100, Stamp::default()));
    board.mark_timed_out(us(4000), Duration::from_micros(2500));
    assert_eq!((board.lost(), board.pipe()), (200, 200));
    board.unmark_lost();
    assert_eq!((board.lost(), board.pipe(), board.next_lost()), (0, 400, None));
}

#[test]
fn what_arrives_after_its_successor_was_reordered_unless_it_was_sent_again() {
    let mut board = board(6);
    board.begin_ack(since(Instant::ZERO));
    board.sack([range(2, 3)].into_iter());
    assert_eq!(board.delivery().reordered_from, None);
    board.retransmit(Instant::from_nanos(50), 0, Stamp::default());
    board.begin_ack(since(Instant::ZERO));
    board.advance(100);
    assert_eq!(board.delivery().reordered_from, None);
    assert!(board.delivery().plausible.is_none(), "its ACK came too soon to be that of the retransmission");
    board.begin_ack(since(Instant::ZERO));
    board.advance(200);
    assert!(board.delivery().reordered_from.is_some());
}

#[test]
fn a_partly_acknowledged_segment_keeps_its_rest() {
    let mut board = board(2);
    assert_eq!(board.advance(150).bytes, 150);
    assert_eq!(board.head(), Some(150..200));
    assert_eq!(board.pipe(), 50);
}

/// The definition in the RFC, without shortcuts.
#[derive(Clone, Default)]
struct Plain {
    una: u64,
    segments: Vec<(u64, bool, bool, bool)>,
}

impl Plain {
    fn sums(&self) -> (u64, u64, u64) {
        let live = self.segments.iter().filter(|(k, ..)| *k >= self.una);
        live.fold((0, 0, 0), |(pipe, sacked, lost), (_, is_sacked, is_lost, again)| {
            let in_network = !is_sacked && (!is_lost || *again);
            (pipe + u64::from(in_network), sacked + u64::from(*is_sacked), lost + u64::from(*is_lost))
        })
    }

    /// Returns the result of RFC 6675, §4, NextSeg, rule 3, by its text.
    fn unjudged(&self) -> Option<u64> {
        let highest = self.segments.iter().rposition(|(_, sacked, ..)| *sacked)?;
        let live = self.segments[..highest].iter().filter(|(k, ..)| *k >= self.una);
        live.filter(|(_, sacked, _, again)| !sacked && !again).map(|(k, ..)| *k).next()
    }

    fn detect(&mut self) {
        for index in 0..self.segments.len() {
            let above = self.segments[index + 1..].iter().filter(|(_, sacked, ..)| *sacked).count();
            let (k, sacked, lost, _) = &mut self.segments[index];
            if *k >= self.una && !*sacked && above >= DUP_THRESH as usize {
                *lost = true;
            }
        }
    }
}

proptest! {
    #[test]
    fn sums_agree_with_the_plain_definition(steps in proptest::collection::vec((0u8..5, 0u64..40, 0u64..6), 1..200)) {
        let (mut board, mut plain) = (Scoreboard::default(), Plain::default());
        for (kind, place, length) in steps {
            let sent = plain.segments.len() as u64;
            match kind {
                0 | 1 => {
                    board.send(Instant::ZERO, 100, Stamp::default());
                    plain.segments.push((sent, false, false, false));
                }
                2 if sent > plain.una => {
                    let first = plain.una + 1 + place % (sent - plain.una);
                    let last = (first + length).min(sent.saturating_sub(1));
                    if first <= last {
                        board.sack([range(first, last)].into_iter());
                        for (_, sacked, lost, again) in &mut plain.segments[first as usize..=last as usize] {
                            (*sacked, *lost, *again) = (true, false, *again && *sacked);
                        }
                        board.detect_losses();
                        plain.detect();
                    }
                }
                3 => {
                    if let Some(segment) = board.next_lost() {
                        let index = (segment.start / 100) as usize;
                        let expected = plain.segments.iter().position(|(k, sacked, lost, again)| *k >= plain.una && !*sacked && *lost && !*again);
                        prop_assert_eq!(Some(index), expected);
                        board.retransmit(Instant::ZERO, segment.start, Stamp::default());
                        plain.segments[index].3 = true;
                    }
                }
                4 => {
                    let ack = (plain.una + length).min(sent);
                    board.advance(ack * 100);
                    plain.una = ack;
                }
                _ => {}
            }
            let (pipe, sacked, lost) = plain.sums();
            prop_assert_eq!((board.pipe(), board.sacked(), board.lost()), (pipe * 100, sacked * 100, lost * 100));
            prop_assert_eq!(board.clone().next_unsacked(), plain.unjudged().map(|k| range(k, k)));
            if kind == 1 {
                // The call changes the start of the next search.
                let _ = board.next_unsacked();
            }
        }
    }
}

/// Returns a board's reports on an ACK.
fn told(board: &Scoreboard, advance: Advance) -> (Advance, u64, Option<(u64, Instant)>, Option<Instant>, u64) {
    let delivery = board.delivery();
    let newest = delivery.newest.map_or(0, |newest| newest.number);
    (advance, delivery.segments, delivery.plausible, delivery.last_entered, newest + delivery.stamp.delivered)
}

proptest! {
    /// A board that records outcomes examines each segment of an ACK. Another board uses a faster
    /// path where possible.
    #[test]
    fn the_short_way_through_an_ack_tells_the_same(steps in proptest::collection::vec((0u8..6, 0u64..400, 1u64..6), 1..100)) {
        let mut boards = [false, true].map(|keeps| Scoreboard::default().keeping_stamps(true).keeping_outcomes(keeps));
        for (time, (kind, place, length)) in steps.into_iter().enumerate() {
            let now = Instant::from_nanos(time as u64);
            let results = boards.each_mut().map(|board| {
                let (una, nxt) = (board.una(), board.nxt());
                board.begin_ack(since(now));
                let mut advance = Advance::default();
                match kind {
                    0..=2 => board.send(now, length * 10, Stamp { delivered: 1000 * place, ..Stamp::default() }),
                    3 => {
                        let start = una + 10 + place / 10 * 10;
                        board.sack(std::iter::once(start..(start + 50).min(nxt.max(start))));
                        board.detect_losses();
                    }
                    4 => {
                        if let Some(segment) = board.next_lost() {
                            board.retransmit(now, segment.start, Stamp::default());
                        }
                    }
                    _ => advance = board.advance((una + place).min(nxt)),
                }
                (told(board, advance), board.pipe(), board.una(), board.segments.len(), board.stamps.len())
            });
            prop_assert_eq!(&results[0], &results[1]);
        }
    }
}
