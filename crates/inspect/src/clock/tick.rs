//! Estimates the tick of a capture's clock: the step of its times.
//!
//! Files have times in microseconds or nanoseconds, but the ticks of clocks are often coarser: 1 µs
//! in most capture programs, 1, 4 or 10 ms in kernels that read the time at a timer, 15.6 ms in
//! Windows. A decimal tick shows in times that are multiples of it. Any other tick shows in frames
//! that share a time, and in other distances that are multiples of the period of a timer. Packets
//! at even distances, as after a bottleneck, show the same pattern for periods that no timer has.

use crate::quantiles::{median, quantile_of};

/// The number of decimal steps that are tried: from 1 ns to 1 s.
const DECADES: usize = 10;
/// The minimum number of times for a decimal step. With fewer, all may be multiples of ten of any
/// unit at random.
const MIN_TIMES: u32 = 16;
/// The decimal step with fewer times: that of most files.
const MICROSECOND: u64 = 1_000;
/// The minimum share of times that are multiples of a step. In merged files, the others come from
/// other clocks.
const MULTIPLES: f64 = 0.99;
/// The longest decimal step in nanoseconds that some times may contradict: that of most files. With
/// a longer step, times between the steps show that packets arrive at even distances, unless frames
/// share times.
const CONTRADICTED: u64 = MICROSECOND;
/// The number of first frames that are all examined, and the interval at which later frames are
/// examined.
const SAMPLED: (u64, u64) = (4096, 64);
/// The maximum number of distances that are kept.
const MAX_DISTANCES: usize = 4096;
/// The minimum number of distances for a tick.
const MIN_DISTANCES: usize = 20;
/// The longest distance that is kept, in nanoseconds: some ticks of 15.6 ms.
const LONGEST: u64 = 150_000_000;
/// Interrupts per second of the timers that clocks count: Linux (kernel/Kconfig.hz,
/// arch/mips/Kconfig, arch/alpha), Windows (64; 1/10.0144 ms before), and the 8254 of a PC
/// (1,193,182 Hz / 65,536).
const TIMERS: [f64; 12] =
    [1193182.0 / 65536.0, 24.0, 48.0, 64.0, 99.856, 100.0, 128.0, 250.0, 256.0, 300.0, 1000.0, 1024.0];
/// The share of its period by which a timer may deviate: a tenth of a millisecond in 15.625 ms.
const TIMER_OFF: f64 = 0.01;
/// The maximum distance, in ticks, that is compared with multiples of a tick.
const COMPARED: f64 = 8.5;
/// The share of a tick by which distances may deviate. In whole microseconds 15.625 ms are 15.625
/// or 15.626, and in tenths of milliseconds 15.6 or 15.7.
const OFF: f64 = 0.05;
/// The minimum share of distances that are multiples of the tick.
const AGREE: f64 = 0.95;
/// Two limits of the share of frames with the same time as the previous frame. From the first share
/// on, a clock is coarse if distances of several ticks occur. From the second share on it is always
/// coarse: data with their ACKs, or requests with their replies, would be half of all frames.
const SHARED: (f64, f64) = (0.2, 0.8);
/// The minimum share of distances of several ticks.
const SEVERAL: f64 = 0.05;

/// The times of frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ticks {
    frames: u64,
    last: Option<u64>,
    /// The number of times that end in each number of zeros.
    zeros: [u32; DECADES],
    /// Frames with the same time as the previous frame.
    shared: u64,
    /// Frames with a later or earlier time than the previous frame.
    apart: u64,
    distances: Vec<u32>,
}

impl Ticks {
    /// Reads the time of a frame in nanoseconds.
    #[inline]
    pub(crate) fn read(&mut self, nanos: u64) {
        self.frames += 1;
        if self.frames <= SAMPLED.0 || self.frames.is_multiple_of(SAMPLED.1) {
            self.zeros[zeros_of(nanos)] += 1;
        }
        if let Some(last) = self.last.replace(nanos) {
            if nanos == last {
                self.shared += 1;
            } else {
                self.apart += 1;
                if self.distances.len() < MAX_DISTANCES && nanos > last && nanos - last <= LONGEST {
                    self.distances.push((nanos - last) as u32);
                }
            }
        }
    }

    /// Returns the tick in nanoseconds.
    pub(crate) fn tick(&self) -> f64 {
        let decimal = self.decimal();
        self.of_distances(decimal).unwrap_or(decimal)
    }

    /// Returns the largest decimal step that divides the times.
    fn decimal(&self) -> f64 {
        let times: u32 = self.zeros.iter().sum();
        if times < MIN_TIMES {
            return MICROSECOND as f64;
        }
        let shares_times = self.share() >= SHARED.0;
        let mut multiples = times;
        let mut step = 1_u64;
        for zeros in &self.zeros[..DECADES - 1] {
            multiples -= zeros;
            let is_contradicted = step >= CONTRADICTED && !shares_times && multiples < times;
            if is_contradicted || f64::from(multiples) < MULTIPLES * f64::from(times) {
                break;
            }
            step *= 10;
        }
        step as f64
    }

    /// Returns the share of frames with the same time as the previous frame.
    fn share(&self) -> f64 {
        self.shared as f64 / (self.shared + self.apart).max(1) as f64
    }

    /// Returns the tick of a clock that counts in steps much longer than `decimal`.
    fn of_distances(&self, decimal: f64) -> Option<f64> {
        let share = self.share();
        if self.distances.len() < MIN_DISTANCES || share < SHARED.0 {
            return None;
        }
        let mut distances: Vec<f64> = self.distances.iter().map(|&nanos| f64::from(nanos)).collect();
        distances.sort_by(f64::total_cmp);
        let shortest = quantile_of(&distances, 1.0 - MULTIPLES)?;
        let mut single: Vec<f64> = distances.iter().copied().filter(|distance| *distance < 1.5 * shortest).collect();
        let tick = median(&mut single).filter(|tick| *tick >= 2.0 * decimal && is_of_a_timer(*tick))?;
        let compared: Vec<f64> = distances.iter().map(|distance| distance / tick).filter(|n| *n < COMPARED).collect();
        let all = compared.len() as f64;
        let agree = compared.iter().filter(|n| (*n - n.round()).abs() <= OFF && n.round() >= 1.0).count() as f64;
        let several = compared.iter().filter(|n| n.round() >= 2.0).count() as f64;
        let is_coarse = share >= SHARED.1 || several >= SEVERAL * all;
        (agree >= AGREE * all && is_coarse).then_some(tick)
    }
}

/// Returns `true` if a timer has this period in nanoseconds.
fn is_of_a_timer(tick: f64) -> bool {
    TIMERS.iter().any(|rate| (tick * rate / 1e9 - 1.0).abs() <= TIMER_OFF)
}

/// Returns the zeros at the end of a number, up to nine.
#[inline]
fn zeros_of(mut nanos: u64) -> usize {
    let mut zeros = 0;
    while zeros < DECADES - 1 && nanos.is_multiple_of(10) {
        nanos /= 10;
        zeros += 1;
    }
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the tick that is found for frames at intervals of 10 to 500 µs. Their clock counts
    /// in steps of `tick` from 1970 on, and their file has times in steps of `resolution`.
    fn tick_of(tick: u64, resolution: u64) -> f64 {
        let mut ticks = Ticks::default();
        let (mut state, mut at) = (1_u64, 1_700_000_000_123_456_789_u64);
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            at += 10_000 + (state >> 33) % 490_000;
            ticks.read(at / tick * tick / resolution * resolution);
        }
        ticks.tick()
    }

    #[test]
    fn decimal_steps_are_exact() {
        for tick in [1, 1_000, 10_000, 1_000_000, 10_000_000] {
            assert!((tick_of(tick, 1) - tick as f64).abs() < f64::EPSILON, "{tick}: {}", tick_of(tick, 1));
        }
    }

    #[test]
    fn the_clock_of_windows_has_sixty_four_ticks_a_second() {
        assert!((tick_of(15_625_000, 1_000) - 15_625_000.0).abs() < 1_000.0);
        assert!((tick_of(4_000_000, 1_000) - 4e6).abs() < 1.0, "HZ=250");
    }

    /// Data every 20 ms, each with an ACK at the same microsecond.
    #[test]
    fn even_packets_are_no_ticks() {
        let mut ticks = Ticks::default();
        (0..2000_u64).for_each(|n| ticks.read(1_700_000_000_000_123_000 + n / 2 * 20_000_000));
        assert!((ticks.tick() - 1e3).abs() < f64::EPSILON, "{}", ticks.tick());
    }

    /// Data of 1500 bytes after a bottleneck of 8 Mbps, 1.5 ms apart or a multiple of it, each with
    /// its ACK. No timer has 667 interrupts per second.
    #[test]
    fn the_time_of_a_packet_is_no_tick() {
        let mut ticks = Ticks::default();
        let mut at = 1_700_000_000_000_123_000_u64;
        for n in 0..2000_u64 {
            at += if n % 8 == 0 { 4_500_000 } else { 1_500_000 };
            ticks.read(at);
            ticks.read(at);
        }
        assert!((ticks.tick() - 1e3).abs() < f64::EPSILON, "{}", ticks.tick());
    }

    /// A message every 10 ms, and one reply in 200 that arrives 10 µs later: the reply shows that
    /// the clock has a finer tick.
    #[test]
    fn one_time_between_the_steps_contradicts_a_decimal_step() {
        let mut ticks = Ticks::default();
        for n in 0..800_u64 {
            let at = 1_700_000_000_000_000_000 + n * 10_000_000;
            ticks.read(at);
            if n % 200 == 100 {
                ticks.read(at + 10_000);
            }
        }
        assert!((ticks.tick() - 1e4).abs() < f64::EPSILON, "{}", ticks.tick());
    }

    #[test]
    fn few_times_show_nothing() {
        let mut ticks = Ticks::default();
        (0..8).for_each(|n| ticks.read(n * 1_000_000_000));
        assert!((ticks.tick() - 1e3).abs() < f64::EPSILON);
    }
}
