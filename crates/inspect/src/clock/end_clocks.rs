//! Measures the passed time by other clocks than the capture's: by the timestamps of both ends of a
//! connection (RFC 7323, §3). Kohno, Broido, Claffy, *Remote Physical Device Fingerprinting*, IEEE
//! S&P 2005, identify hosts by them.

use super::jump::{JumpEvidence, Passed};
use super::timeline::WINDOW;
use crate::receiver_clock::known_tick;
use acklab_wire::tcp::Timestamps;

/// Ticks after which a tick is measured. By then, delays hardly change which known tick is the
/// nearest.
const MEASURED: u32 = 20;
/// The share by which a measured tick may deviate.
const OFF: f64 = 0.1;
/// Possible ticks of an end, in nanoseconds: 1 µs of Linux's `RTAX_FEATURE_TCP_USEC_TS` up to the 1
/// s of RFC 7323, §5.4.
const TICKS: (f64, f64) = (1e3, 1e9);

/// The clocks of both ends of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EndClocks {
    ends: [Option<End>; 2],
}

/// One end.
#[derive(Clone, Copy, Debug)]
struct End {
    /// When its last packet passed.
    last: u64,
    stamps: Option<Stamps>,
}

/// The timestamps of an end.
#[derive(Clone, Copy, Debug)]
struct Stamps {
    /// The first timestamp, and when it passed. `None` after a step of the capture's clock.
    first: Option<(u64, u32)>,
    last: u32,
    /// The tick in nanoseconds, if it is measured.
    tick: Option<f64>,
}

impl EndClocks {
    /// Records a packet that the end `from` sent at `at`.
    #[inline]
    pub(crate) fn packet(&mut self, at: u64, from: usize, clocks: Option<Timestamps>) {
        let end = self.ends[from].get_or_insert(End { last: at, stamps: None });
        end.last = at;
        if let Some(Timestamps { value, .. }) = clocks {
            let stamps = end.stamps.get_or_insert(Stamps { first: None, last: value, tick: None });
            stamps.first.get_or_insert((at, value));
            stamps.last = value;
        }
    }

    /// Records a step of the capture's clock: ticks are not measured across it.
    pub(crate) fn cut(&mut self) {
        for end in self.ends.iter_mut().flatten() {
            let last = end.last;
            if let Some(stamps) = &mut end.stamps {
                stamps.tick = stamps.tick(last);
                stamps.first = None;
            }
        }
    }

    /// Returns the evidence of a timestamp on a `jump`. The packet of an end was captured at `at`,
    /// which may be earlier than the last packet of this end. Returns `None` without timestamps.
    pub(crate) fn jump_evidence(
        &self,
        at: i128,
        jump: i128,
        from: usize,
        clocks: Option<Timestamps>,
    ) -> Option<JumpEvidence> {
        Some(JumpEvidence::of(self.passed(at, from, clocks?)?, jump, from))
    }

    /// Returns `true` if `at` is long before the last packet of an end.
    pub(crate) fn is_back(&self, at: i128, from: usize) -> bool {
        self.ends[from].is_some_and(|end| at + i128::from(WINDOW) <= i128::from(end.last))
    }

    /// Returns the time from the last packet of an end to its packet at `at`.
    fn passed(&self, at: i128, from: usize, clocks: Timestamps) -> Option<Passed> {
        let End { last, stamps } = self.ends[from]?;
        let stamps = stamps?;
        let ticks = f64::from(clocks.value.wrapping_sub(stamps.last).cast_signed());
        let tick = stamps.tick(last);
        let (short, long) = tick.map_or(TICKS, |tick| (tick * (1.0 - OFF), tick * (1.0 + OFF)));
        let low = |ticks: f64| ticks * if ticks > 0.0 { short } else { long };
        let high = |ticks: f64| ticks * if ticks > 0.0 { long } else { short };
        let bounds = (low(ticks - 1.0), high(ticks + 1.0));
        Some(Passed { captured: (at - i128::from(last)) as f64, bounds, is_measured: tick.is_some() })
    }
}

impl Stamps {
    /// Returns the tick, if it is measured by the time of the newest timestamp at `last`.
    fn tick(&self, last: u64) -> Option<f64> {
        let measured = self.first.and_then(|(at, value)| {
            let seen = self.last.wrapping_sub(value);
            let is_enough = (MEASURED..u32::MAX / 2).contains(&seen) && last > at;
            is_enough.then(|| (last - at) as f64 / f64::from(seen))
        });
        measured.map(|tick| known_tick(tick).unwrap_or(tick)).or(self.tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn clocks(value: u32) -> Timestamps {
        Timestamps { value, echo: 0 }
    }

    #[test]
    fn a_measured_tick_bounds_the_time() {
        let mut end_clocks = EndClocks::default();
        end_clocks.packet(1000 * MS, 1, Some(clocks(5)));
        end_clocks.packet(1900 * MS, 1, Some(clocks(905)));
        // An hour later by the clock of the capture, 20 ms by that of the end.
        let passed = end_clocks.passed(i128::from(3_601_900 * MS), 1, clocks(925)).unwrap();
        assert!((passed.captured - 3.6e12).abs() < 1.0);
        assert!(passed.bounds.0 > 17e6 && passed.bounds.1 < 24e6 && passed.is_measured, "{passed:?}");
        assert_eq!(end_clocks.passed(0, 0, clocks(1)), None, "the other end has sent nothing");
    }

    /// The time of a step is not part of the tick.
    #[test]
    fn a_tick_outlives_a_step() {
        let mut end_clocks = EndClocks::default();
        end_clocks.packet(0, 1, Some(clocks(0)));
        end_clocks.packet(900 * MS, 1, Some(clocks(900)));
        end_clocks.cut();
        end_clocks.packet(900 * MS, 1, Some(clocks(2900)));
        let passed = end_clocks.passed(i128::from(2900 * MS), 1, clocks(4900)).unwrap();
        assert!((passed.bounds.0..passed.bounds.1).contains(&2e9), "{passed:?}");
    }

    #[test]
    fn an_unknown_tick_is_between_a_microsecond_and_a_second() {
        let mut end_clocks = EndClocks::default();
        end_clocks.packet(0, 0, Some(clocks(5)));
        let passed = end_clocks.passed(1, 0, clocks(7)).unwrap();
        assert_eq!((passed.bounds, passed.is_measured), ((1e3, 3e9), false));
    }
}
