//! Tests backoffs with slots of 9 µs and SIFS of 16 µs, as at 5 GHz. Times are in microseconds.

use super::*;
use crate::access::Category;
use crate::phy::Standard;

const SLOT: u64 = 9;
/// AIFS of two slots: DIFS.
const AIFS: u64 = 34;

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

fn medium(counts_at_aifs: bool, views: usize) -> Contention {
    Contention::new(Duration::from_micros(SLOT), counts_at_aifs, views)
}

fn dcf() -> Contention {
    medium(false, 1)
}

fn edca() -> Contention {
    medium(true, 1)
}

/// Returns a lane of `aifsn` slots behind SIFS.
fn lane(contention: &mut Contention, view: usize, aifsn: u8) -> LaneId {
    let parameters = Parameters { aifsn, ..Parameters::of(Standard::A, Category::BestEffort) };
    contention.lane(view, &parameters, Duration::from_micros(16 + SLOT * u64::from(aifsn)), Duration::from_micros(4))
}

/// Starts a backoff of `slots` of `edcaf` at `now`.
fn backs_off(contention: &mut Contention, edcaf: u32, lane: LaneId, now: u64, slots: u64) {
    let count = contention.count(lane, at(now)) + slots;
    contention.wait(EdcafId(edcaf), lane, count);
}

/// Returns who transmits at the next deadline, and when.
fn next(contention: &mut Contention) -> (u64, Vec<u32>) {
    let due = contention.due().expect("nobody waits");
    let mut edcafs = Vec::new();
    contention.take_due(due, &mut edcafs);
    (due.as_nanos() / 1_000, edcafs.into_iter().map(|edcaf| edcaf.0).collect())
}

/// Simulates a transmission from `from` to `to` that all can decode.
fn transmission(contention: &mut Contention, view: usize, from: u64, to: u64) {
    contention.busy(view, at(from));
    contention.idle(view, at(to), RxEnd::Correct);
}

/// Returns a reception with an error, after which nodes defer `extra` microseconds longer than
/// AIFS.
fn erroneous(extra: u64) -> RxEnd {
    RxEnd::Erroneous(Duration::from_micros(extra))
}

#[test]
fn a_backoff_begins_behind_aifs_and_the_smallest_wins() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    backs_off(&mut contention, 1, lane, 0, 5);
    backs_off(&mut contention, 2, lane, 0, 3);
    assert_eq!(next(&mut contention), (AIFS + 3 * SLOT, vec![2]));
    assert_eq!(next(&mut contention), (AIFS + 5 * SLOT, vec![1]));
    assert_eq!(contention.due(), None);
}

#[test]
fn equal_backoffs_end_together() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    (1..=3).for_each(|edcaf| backs_off(&mut contention, edcaf, lane, 0, 4));
    assert_eq!(next(&mut contention), (AIFS + 4 * SLOT, vec![1, 2, 3]));
}

#[test]
fn dcf_keeps_the_slot_in_which_it_was_interrupted_and_edca_counts_it() {
    for (mut contention, left) in [(dcf(), 2), (edca(), 1)] {
        let lane = lane(&mut contention, 0, 2);
        backs_off(&mut contention, 1, lane, 0, 5);
        // Three whole slots have passed.
        transmission(&mut contention, 0, AIFS + 3 * SLOT, 1_000);
        assert_eq!(next(&mut contention), (1_000 + AIFS + left * SLOT, vec![1]));
    }
}

#[test]
fn in_dcf_none_but_the_sender_can_use_the_slot_behind_difs() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    backs_off(&mut contention, 1, lane, 0, 4);
    transmission(&mut contention, 0, AIFS + 3 * SLOT, 500);
    backs_off(&mut contention, 2, lane, 500, 0);
    assert_eq!(next(&mut contention), (500 + AIFS, vec![2]));
}

#[test]
fn in_edca_a_backoff_one_slot_longer_ends_behind_the_next_aifs() {
    let mut contention = edca();
    let lane = lane(&mut contention, 0, 2);
    backs_off(&mut contention, 1, lane, 0, 4);
    transmission(&mut contention, 0, AIFS + 3 * SLOT, 500);
    backs_off(&mut contention, 2, lane, 500, 0);
    assert_eq!(next(&mut contention), (500 + AIFS, vec![1, 2]));
}

#[test]
fn nothing_is_counted_if_the_medium_becomes_busy_within_aifs() {
    for mut contention in [dcf(), edca()] {
        let lane = lane(&mut contention, 0, 2);
        backs_off(&mut contention, 1, lane, 0, 2);
        transmission(&mut contention, 0, AIFS - 1, 200);
        assert_eq!(next(&mut contention), (200 + AIFS + 2 * SLOT, vec![1]));
    }
}

#[test]
fn a_longer_aifs_counts_fewer_slots() {
    let mut contention = edca();
    let (short, long) = (lane(&mut contention, 0, 2), lane(&mut contention, 0, 7));
    backs_off(&mut contention, 1, short, 0, 9);
    backs_off(&mut contention, 2, long, 0, 9);
    // Six slots behind the short AIFS, one behind the long one, each counted with the slot in which
    // the transmission begins.
    transmission(&mut contention, 0, AIFS + 6 * SLOT, 1_000);
    assert_eq!(next(&mut contention), (1_000 + AIFS + 2 * SLOT, vec![1]));
    assert_eq!(next(&mut contention), (1_000 + AIFS + 5 * SLOT + 7 * SLOT, vec![2]));
}

#[test]
fn a_packet_that_arrives_within_a_slot_waits_for_its_end() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    backs_off(&mut contention, 1, lane, AIFS + 2 * SLOT + 1, 0);
    assert_eq!(next(&mut contention), (AIFS + 3 * SLOT, vec![1]));
}

#[test]
fn while_two_are_on_the_air_the_medium_stays_busy() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    backs_off(&mut contention, 1, lane, 0, 3);
    contention.busy(0, at(10));
    contention.busy(0, at(10));
    contention.idle(0, at(100), RxEnd::Correct);
    assert!(contention.is_busy(lane, at(150)) && contention.due().is_none() && contention.idle_from(0).is_none());
    contention.idle(0, at(300), RxEnd::Correct);
    assert_eq!(contention.idle_from(0), Some(at(300)));
    assert_eq!(next(&mut contention), (300 + AIFS + 3 * SLOT, vec![1]));
}

#[test]
fn a_reservation_is_as_good_as_a_transmission() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    backs_off(&mut contention, 1, lane, 0, 1);
    contention.busy(0, at(10));
    contention.reserve(0, at(400), 1, None);
    contention.idle(0, at(100), RxEnd::Correct);
    assert!(contention.is_busy(lane, at(399)) && !contention.is_busy(lane, at(400)));
    assert_eq!(next(&mut contention), (400 + AIFS + SLOT, vec![1]));
}

#[test]
fn eifs_and_a_reservation_run_side_by_side() {
    for (reserved, begins) in [(150, 160), (400, 400)] {
        let mut contention = dcf();
        let lane = lane(&mut contention, 0, 2);
        backs_off(&mut contention, 1, lane, 0, 1);
        contention.busy(0, at(10));
        contention.reserve(0, at(reserved), 1, None);
        contention.idle(0, at(100), erroneous(60));
        assert_eq!(next(&mut contention), (begins + AIFS + SLOT, vec![1]));
    }
}

#[test]
fn a_straggler_counts_from_its_timeout() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    transmission(&mut contention, 0, 50, 100);
    contention.wait_after_timeout(EdcafId(1), lane, at(145), 2);
    backs_off(&mut contention, 2, lane, 100, 8);
    assert_eq!(next(&mut contention), (145 + AIFS + 2 * SLOT, vec![1]));
    assert_eq!(next(&mut contention), (100 + AIFS + 8 * SLOT, vec![2]));
}

#[test]
fn a_straggler_joins_the_others_at_the_next_transmission() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    transmission(&mut contention, 0, 50, 100);
    contention.wait_after_timeout(EdcafId(1), lane, at(145), 6);
    // The transmission begins before its first slot, so it keeps all six. Another one has counted
    // two of six.
    contention.wait_after_timeout(EdcafId(2), lane, at(127), 6);
    transmission(&mut contention, 0, 127 + AIFS + 2 * SLOT, 500);
    assert_eq!(next(&mut contention), (500 + AIFS + 4 * SLOT, vec![2]));
    assert_eq!(next(&mut contention), (500 + AIFS + 6 * SLOT, vec![1]));
}

#[test]
fn a_straggler_waits_while_the_other_collider_is_still_on_the_air() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    contention.busy(0, at(50));
    contention.busy(0, at(50));
    contention.idle(0, at(100), RxEnd::Correct);
    contention.wait_after_timeout(EdcafId(1), lane, at(145), 1);
    assert_eq!(contention.due(), None);
    contention.idle(0, at(900), RxEnd::Correct);
    contention.wait_after_timeout(EdcafId(2), lane, at(945), 1);
    assert_eq!(next(&mut contention), (900 + AIFS + SLOT, vec![1]));
    assert_eq!(next(&mut contention), (945 + AIFS + SLOT, vec![2]));
}

#[test]
fn a_backoff_that_ends_before_another_can_be_sensed_ends_all_the_same() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    transmission(&mut contention, 0, 50, 100);
    // Two and four microseconds after the slots of the lane.
    contention.wait_after_timeout(EdcafId(1), lane, at(100 + 5 * SLOT + 2), 0);
    contention.wait_after_timeout(EdcafId(2), lane, at(100 + 5 * SLOT + 4), 0);
    backs_off(&mut contention, 3, lane, 100, 5);
    let begins = 100 + AIFS + 5 * SLOT;
    assert_eq!(next(&mut contention), (begins, vec![3]));
    contention.busy(0, at(begins));
    assert_eq!(next(&mut contention), (begins + 2, vec![1]));
    contention.busy(0, at(begins + 2));
    assert_eq!(contention.due(), None);
    contention.idle(0, at(800), RxEnd::Correct);
    contention.idle(0, at(802), RxEnd::Correct);
    assert_eq!(next(&mut contention), (802 + AIFS, vec![2]));
}

#[test]
fn views_are_idle_and_busy_by_themselves() {
    let mut contention = medium(false, 2);
    let (here, there) = (lane(&mut contention, 0, 2), lane(&mut contention, 1, 2));
    backs_off(&mut contention, 1, here, 0, 3);
    backs_off(&mut contention, 2, there, 0, 4);
    transmission(&mut contention, 0, AIFS + SLOT, 700);
    assert_eq!(next(&mut contention), (AIFS + 4 * SLOT, vec![2]));
    assert_eq!(next(&mut contention), (700 + AIFS + 2 * SLOT, vec![1]));
}

#[test]
fn functions_with_the_same_aifs_share_a_lane() {
    let mut contention = medium(true, 2);
    let first = lane(&mut contention, 0, 3);
    assert_eq!(lane(&mut contention, 0, 3), first);
    assert_ne!(lane(&mut contention, 0, 7), first);
    assert_ne!(lane(&mut contention, 1, 3), first);
}

#[test]
fn a_lane_that_is_new_knows_how_the_medium_is() {
    let mut contention = dcf();
    lane(&mut contention, 0, 2);
    contention.busy(0, at(50));
    let late = lane(&mut contention, 0, 3);
    backs_off(&mut contention, 1, late, 60, 0);
    assert_eq!(contention.due(), None);
    contention.idle(0, at(100), RxEnd::Correct);
    assert_eq!(next(&mut contention), (100 + AIFS + SLOT, vec![1]));
}

#[test]
fn those_who_have_sent_in_a_busy_period_do_not_wait_for_eifs() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    backs_off(&mut contention, 2, lane, 0, 1);
    contention.busy(0, at(10));
    contention.busy(0, at(10));
    contention.idle(0, at(50), RxEnd::Correct);
    contention.wait_after_timeout(EdcafId(1), lane, at(95), 3);
    contention.idle(0, at(100), erroneous(60));
    assert_eq!(next(&mut contention), (100 + AIFS + 3 * SLOT, vec![1]));
    assert_eq!(next(&mut contention), (100 + 60 + AIFS + SLOT, vec![2]));
}

#[test]
fn a_nav_is_reset_unless_a_ppdu_begins() {
    for (begins, expected) in [(None, 180), (Some(150), 400)] {
        let mut contention = dcf();
        let lane = lane(&mut contention, 0, 2);
        backs_off(&mut contention, 1, lane, 0, 1);
        contention.busy(0, at(10));
        contention.reserve(0, at(400), 2, Some(at(180)));
        contention.idle(0, at(60), RxEnd::Correct);
        if let Some(begins) = begins {
            transmission(&mut contention, 0, begins, begins + 20);
        }
        contention.reset_navs(at(180));
        assert_eq!(next(&mut contention), (expected + AIFS + SLOT, vec![1]));
    }
}

#[test]
fn a_nav_forbids_a_cts_to_all_but_its_holder() {
    let mut contention = dcf();
    contention.reserve(0, at(400), 2, None);
    contention.reserve(0, at(300), 3, None);
    let forbids = |now, initiator| contention.forbids_cts(0, at(now), initiator);
    assert_eq!([forbids(399, 2), forbids(399, 3), forbids(400, 3)], [false, true, false]);
}

/// The error of a transmission that ends first applies once the medium is idle, unless a frame is
/// received correctly since.
#[test]
fn eifs_begins_when_the_medium_is_idle_after_an_error() {
    for (last, extra) in [(RxEnd::Undetected, 60), (RxEnd::Correct, 0), (erroneous(40), 40)] {
        let mut contention = dcf();
        let lane = lane(&mut contention, 0, 2);
        backs_off(&mut contention, 1, lane, 0, 1);
        contention.busy(0, at(10));
        contention.busy(0, at(12));
        contention.idle(0, at(50), erroneous(60));
        contention.idle(0, at(100), last);
        assert_eq!(next(&mut contention), (100 + extra + AIFS + SLOT, vec![1]));
    }
}

#[test]
fn of_transmissions_that_end_together_the_error_decides() {
    for ends in [[erroneous(60), RxEnd::Correct], [RxEnd::Correct, erroneous(60)]] {
        let mut contention = dcf();
        let lane = lane(&mut contention, 0, 2);
        backs_off(&mut contention, 1, lane, 0, 1);
        contention.busy(0, at(10));
        contention.busy(0, at(10));
        for end in ends {
            contention.idle(0, at(50), end);
        }
        assert_eq!(next(&mut contention), (50 + 60 + AIFS + SLOT, vec![1]));
    }
}

/// An error applies to the busy period in which it occurs, not to the next one.
#[test]
fn eifs_is_over_once_a_frame_is_received_correctly() {
    let mut contention = dcf();
    let lane = lane(&mut contention, 0, 2);
    backs_off(&mut contention, 1, lane, 0, 4);
    contention.busy(0, at(10));
    contention.idle(0, at(50), erroneous(60));
    transmission(&mut contention, 0, 70, 90);
    assert_eq!(next(&mut contention), (90 + AIFS + 4 * SLOT, vec![1]));
}
