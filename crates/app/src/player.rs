//! A reader that plays a video and measures the effects on its viewer: stalls and damage.
//!
//! | module | contents |
//! |---|---|
//! | [`arrivals`] | the arrived parts of the frames that are not shown yet |
//! | [`picture`] | damage as a viewer sees it |

mod arrivals;
mod picture;

use crate::AfterStall;
use crate::video::Frames;
use acklab_base::{CounterValue, Duration, Instant, Port};
use arrivals::Arrivals;
use picture::Picture;

/// Names of a player's counters.
pub mod counter {
    /// The number of frames shown.
    pub const FRAMES: &str = "frames_shown";
    /// The number of frames shown with missing parts.
    pub const DAMAGED_FRAMES: &str = "frames_damaged";
    /// The number of frames shown with artefacts: damaged frames, and frames that were decoded from
    /// frames with artefacts.
    pub const FRAMES_WITH_ARTEFACTS: &str = "frames_with_artefacts";
    /// The number of runs of consecutive frames with artefacts.
    pub const MACROBLOCKING: &str = "macroblocking";
    /// The number of stalls.
    pub const STALLS: &str = "stalls";
    /// The time spent in stalls, including a stall in progress.
    pub const STALL_TIME: &str = "stall_time";
    /// The time since playback began, including stalls.
    pub const PLAYBACK_TIME: &str = "playback_time";
}

/// An application that plays a video.
#[derive(Clone, Debug)]
pub struct Player {
    arrivals: Arrivals,
    picture: Picture,
    buffer: Duration,
    /// The size of `buffer` in frames.
    buffered_frames: u64,
    after_stall: AfterStall,
    /// The time at which the viewer stops.
    stop: Option<Instant>,
    /// `true` if frames may be lost, because they are datagrams or messages with a deadline.
    is_lossy: bool,
    /// The time at which playback began.
    began: Option<Instant>,
    /// The time at which the next frame is due, once the first has arrived.
    due: Option<Instant>,
    /// The time at which the current stall of playback began.
    stalled: Option<Instant>,
    stalls: u64,
    stall_time: Duration,
}

impl Player {
    /// Returns an application that plays the video of `frames` until `stop`.
    #[must_use]
    pub fn new(frames: Frames, buffer: Duration, after_stall: AfterStall, stop: Option<Instant>) -> Self {
        let video = *frames.video();
        Self {
            arrivals: Arrivals::new(frames),
            picture: Picture::new(video.refresh),
            buffer,
            buffered_frames: buffer
                .saturating_mul(u64::from(video.frame_rate))
                .as_nanos()
                .div_ceil(1_000_000_000)
                .max(1),
            after_stall,
            stop,
            is_lossy: video.deadline.is_some(),
            began: None,
            due: None,
            stalled: None,
            stalls: 0,
            stall_time: Duration::ZERO,
        }
    }

    /// Reads arrived data and shows the frames that are due.
    pub fn run(&mut self, now: Instant, port: Port<'_>) {
        match port {
            Port::Stream(port) => {
                self.arrivals.take_octets(port.read(now, u64::MAX));
                if let Some(messages) = port.messages().filter(|_| self.is_lossy) {
                    while let Some(arrival) = messages.receive(now) {
                        self.arrivals.take_message(arrival);
                    }
                }
            }
            Port::Datagram(port) => {
                self.is_lossy = true;
                while let Some(arrival) = port.receive() {
                    self.arrivals.take_datagram(arrival);
                }
            }
            Port::None => {}
        }
        if self.stop.is_none_or(|stop| now < stop) {
            self.play(now);
        }
    }

    /// Returns when the application must run next, or `None` if it only waits for data.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.due.filter(|due| self.stalled.is_none() && self.stop.is_none_or(|stop| *due < stop))
    }

    /// Calls `to` with the name, unit and value of each counter, always in the same order.
    pub fn report_counters(&self, now: Instant, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        let until = self.stop.map_or(now, |stop| now.min(stop));
        let since = |start: Option<Instant>| start.map_or(Duration::ZERO, |start| until.since(start.min(until)));
        let stall_time = self.stall_time + since(self.stalled);
        for (name, unit, count) in [
            (counter::FRAMES, "", self.picture.frames),
            (counter::DAMAGED_FRAMES, "", self.picture.damaged),
            (counter::FRAMES_WITH_ARTEFACTS, "", self.picture.with_artefacts),
            (counter::MACROBLOCKING, "", self.picture.runs),
            (counter::STALLS, "", self.stalls),
            (counter::STALL_TIME, "ns", stall_time.as_nanos()),
            (counter::PLAYBACK_TIME, "ns", since(self.began).as_nanos()),
        ] {
            to(name, unit, CounterValue::Count(count));
        }
    }

    /// Returns `true` if the next frame can be shown, complete or damaged.
    fn is_ready(&self) -> bool {
        self.arrivals.is_complete() || (self.is_lossy && self.arrivals.is_passed_over())
    }

    fn play(&mut self, now: Instant) {
        if self.due.is_none() && self.is_ready() {
            let begin = now + self.buffer;
            (self.began, self.due) = (Some(begin), Some(begin));
        }
        while let Some(due) = self.due
            && due <= now
        {
            if !self.is_ready() {
                return self.stall(due);
            }
            let mut shown_at = due;
            if self.stalled.is_some() && self.after_stall == AfterStall::Shift {
                if self.arrivals.ready(self.is_lossy) < self.buffered_frames {
                    return;
                }
                self.end_stall(now);
                shown_at = now;
            }
            self.picture.show(self.arrivals.show());
            self.due = Some(shown_at + self.arrivals.interval());
        }
        self.end_stall(now);
    }

    const fn stall(&mut self, since: Instant) {
        if self.stalled.is_none() {
            self.stalled = Some(since);
            self.stalls += 1;
        }
    }

    fn end_stall(&mut self, now: Instant) {
        if let Some(since) = self.stalled.take() {
            self.stall_time += now.since(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Mailbox, Pipe};
    use crate::video::tests::even;
    use acklab_base::random::Seed;
    use acklab_base::{Arrival, StreamPort};

    const FRAME: u64 = 1316;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Returns a player of frames of one datagram each, every 1/60 s, with a buffer of 50 ms.
    fn player(after_stall: AfterStall) -> Player {
        let frames = Frames::new(even(60, 2, None), Seed(1).stream("source"));
        Player::new(frames, Duration::from_millis(50), after_stall, None)
    }

    /// Runs the player at its deadlines up to `until`.
    fn run_until<'a>(player: &mut Player, until: Instant, port: impl Fn() -> Port<'a>) {
        while let Some(due) = player.deadline().filter(|due| *due <= until) {
            player.run(due, port());
        }
    }

    /// Delivers `octets` of a stream at `ms`.
    fn deliver(player: &mut Player, ms: u64, octets: u64) {
        run_until(player, at(ms), || Port::None);
        let mut pipe = Pipe { readable: octets, ..Pipe::default() };
        player.run(at(ms), Port::Stream(&mut pipe));
        assert_eq!(pipe.readable(), 0);
    }

    fn counts(player: &Player, now: Instant) -> Vec<u64> {
        let mut counts = Vec::new();
        player.report_counters(now, &mut |_, _, value| {
            if let CounterValue::Count(count) = value {
                counts.push(count);
            }
        });
        counts
    }

    /// Returns the number of frames shown, the number of stalls, and the milliseconds of stalls and
    /// of playback.
    fn played(player: &Player, ms: u64) -> (u64, u64, u64, u64) {
        let counts = counts(player, at(ms));
        (counts[0], counts[4], counts[5] / 1_000_000, counts[6] / 1_000_000)
    }

    #[test]
    fn playback_begins_a_buffer_after_the_first_frame() {
        let mut player = player(AfterStall::CatchUp);
        deliver(&mut player, 10, FRAME - 1);
        assert_eq!(player.deadline(), None);
        deliver(&mut player, 20, 1);
        assert_eq!(player.deadline(), Some(at(70)));
        deliver(&mut player, 25, 5 * FRAME);
        run_until(&mut player, at(100), || Port::None);
        assert_eq!(played(&player, 100), (2, 0, 0, 30), "frames are due at 70 and 86.7 ms");
    }

    #[test]
    fn a_live_player_catches_up_after_a_stall() {
        let mut player = player(AfterStall::CatchUp);
        deliver(&mut player, 0, FRAME);
        // Frames are due at 50, 66.7, 83.3 and 100 ms, so three are overdue at 110 ms.
        run_until(&mut player, at(109), || Port::None);
        assert_eq!((played(&player, 109), player.deadline()), ((1, 1, 42, 59), None), "a stall counts before it ends");
        deliver(&mut player, 110, FRAME);
        assert_eq!(played(&player, 110), (2, 1, 43, 60), "the next frame is overdue as well");
        deliver(&mut player, 112, 2 * FRAME);
        assert_eq!(played(&player, 112), (4, 1, 45, 62));
        assert_eq!(player.deadline().map(|due| due.as_nanos() / 1_000_000), Some(116), "the fifth frame is not late");
    }

    #[test]
    fn a_patient_player_fills_its_buffer_and_plays_later() {
        let mut player = player(AfterStall::Shift);
        deliver(&mut player, 0, FRAME);
        run_until(&mut player, at(80), || Port::None);
        deliver(&mut player, 80, 2 * FRAME);
        assert_eq!((played(&player, 80).0, player.deadline()), (1, None), "50 ms are three frames");
        deliver(&mut player, 90, FRAME);
        assert_eq!(played(&player, 100), (2, 1, 23, 50));
        assert_eq!(player.deadline().map(|due| due.as_nanos() / 1_000_000), Some(106));
    }

    #[test]
    fn a_frame_of_datagrams_is_damaged_if_a_later_one_has_begun() {
        let mut player = player(AfterStall::CatchUp);
        let datagrams = |numbers: &[u64]| {
            let arrivals = numbers.iter().map(|number| Arrival { number: *number, octets: FRAME + 12 });
            Mailbox::of(arrivals)
        };
        player.run(at(0), Port::Datagram(&mut datagrams(&[0, 2])));
        // Number 1 is lost, and playback stalls at number 3 at 100 ms.
        while let Some(due) = player.deadline() {
            player.run(due, Port::Datagram(&mut datagrams(&[])));
        }
        assert_eq!(played(&player, 105), (3, 1, 5, 55));
        player.run(at(105), Port::Datagram(&mut datagrams(&[4])));
        assert_eq!((played(&player, 105), player.deadline().is_some()), ((4, 1, 5, 55), true));
        run_until(&mut player, at(120), || Port::None);
        assert_eq!(
            counts(&player, at(120))[..4],
            [5, 2, 5 - 1, 1],
            "each damaged frame is followed by two that refresh it"
        );
        player.run(at(130), Port::Datagram(&mut datagrams(&[1])));
        assert_eq!(counts(&player, at(130))[1], 2, "what arrives late changes nothing");
    }

    #[test]
    fn the_viewer_turns_away() {
        let frames = Frames::new(even(60, 2, None), Seed(1).stream("source"));
        let mut player = Player::new(frames, Duration::ZERO, AfterStall::CatchUp, Some(at(30)));
        deliver(&mut player, 0, FRAME);
        run_until(&mut player, at(100), || Port::None);
        assert_eq!(played(&player, 100), (1, 1, 13, 30));
        deliver(&mut player, 101, 9 * FRAME);
        assert_eq!((played(&player, 200), player.deadline()), ((1, 1, 13, 30), None));
    }
}
