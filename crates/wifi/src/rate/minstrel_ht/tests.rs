//! Minstrel-HT as a whole on a synthetic channel.

mod kernel;

use super::super::channel::synthetic;
use super::*;
use crate::phy::{Guard, Standard, Width};
use acklab_base::Bytes;
use acklab_base::random::Seed;
use proptest::prelude::*;

const FRAME: Bytes = Bytes(1_500);
/// Backoff, interframe spaces and response frame.
const OVERHEAD: Duration = Duration::from_micros(150);
/// Transmissions of a frame before it is given up (dot11ShortRetryLimit).
const LIMIT: u32 = 7;

fn capabilities(standard: Standard, streams: u8) -> Capabilities {
    let generation = standard.generation();
    Capabilities { standard, width: generation.width, guard: generation.guard, streams, is_short_preamble: true }
}

/// A saturated sender that sends probes as single frames, and its results.
struct Sender {
    control: Option<MinstrelHt>,
    stream: Stream,
    now: Instant,
    attempt: u32,
    mpdus: u32,
    probes: u32,
    /// Time on probes.
    probing: Duration,
    delivered: u64,
    modes: Vec<Mode>,
}

impl Sender {
    fn new(capabilities: Capabilities, seed: u64) -> Self {
        let control = MinstrelHt::new(capabilities, &mut Seed(seed).stream("rate")).unwrap();
        Self::with(Some(control), capabilities, seed)
    }

    fn with(control: Option<MinstrelHt>, capabilities: Capabilities, seed: u64) -> Self {
        Self {
            control,
            stream: Seed(seed).stream("channel"),
            now: Instant::ZERO,
            attempt: 0,
            mpdus: if capabilities.standard.has_qos() { 16 } else { 1 },
            probes: 0,
            probing: Duration::ZERO,
            delivered: 0,
            modes: Vec::new(),
        }
    }

    /// Sends for this time, at `fixed` without a rate control. Returns bits per second.
    fn run(&mut self, time: Duration, fixed: Mode, success: impl Fn(Mode) -> f64) -> f64 {
        let (end, before) = (self.now + time, self.delivered);
        while self.now < end {
            let mode = self.control.as_mut().map_or(fixed, |control| control.choose(self.now, self.attempt));
            self.modes.push(mode);
            let is_probe = self.control.as_ref().is_some_and(MinstrelHt::is_probe);
            let mpdus = if is_probe { 1 } else { self.mpdus };
            let probability = success(mode);
            let delivered = (0..mpdus).filter(|_| self.stream.chance(probability)).count() as u32;
            let airtime = mode.duration(Bytes(FRAME.0 * u64::from(mpdus))) + OVERHEAD;
            self.now += airtime;
            if is_probe {
                self.probes += 1;
                self.probing += airtime;
            }
            if let Some(control) = &mut self.control {
                control.report(self.now, mode, mpdus, delivered);
            }
            self.attempt = if delivered == mpdus || self.attempt + 1 == LIMIT { 0 } else { self.attempt + 1 };
            self.delivered += u64::from(delivered) * FRAME.0 * 8;
        }
        (self.delivered - before) as f64 / time.as_secs_f64()
    }
}

/// Returns the maximum goodput of a single mode, and the mode.
fn best(capabilities: Capabilities, snr_db: f64) -> (f64, Mode) {
    let modes = capabilities.modes().into_iter();
    let goodputs = modes.map(|mode| {
        let mut sender = Sender::with(None, capabilities, 1);
        (sender.run(Duration::from_secs(1), mode, |mode| synthetic(mode, snr_db, FRAME)), mode)
    });
    goodputs.max_by(|one, other| one.0.total_cmp(&other.0)).unwrap()
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn after_a_second_it_carries_nearly_what_the_best_mode_does() {
    let cases = [
        (capabilities(Standard::B, 1), 6.0),
        (capabilities(Standard::A, 1), 14.0),
        (capabilities(Standard::G, 1), 30.0),
        (capabilities(Standard::N, 1), 17.0),
        (capabilities(Standard::N, 2), 30.0),
        (capabilities(Standard::Ac, 2), 28.0),
        (capabilities(Standard::Ax, 2), 45.0),
        (capabilities(Standard::Be, 2), 56.0),
    ];
    for (capabilities, snr_db) in cases {
        let (maximum, mode) = best(capabilities, snr_db);
        let mut shares: Vec<f64> = (0..11)
            .map(|seed| {
                let mut sender = Sender::new(capabilities, seed);
                sender.run(SECOND, mode, |mode| synthetic(mode, snr_db, FRAME));
                sender.run(SECOND, mode, |mode| synthetic(mode, snr_db, FRAME)) / maximum
            })
            .collect();
        shares.sort_by(f64::total_cmp);
        // The difference is the cost of probes and of the retries after them.
        assert!(
            shares[5] > 0.8 && shares[0] > 0.7,
            "{} at {snr_db} dB: {shares:.2?} of {mode:?}",
            capabilities.standard
        );
    }
}

#[test]
fn it_follows_a_step_down_and_a_step_up() {
    let capabilities = capabilities(Standard::N, 2);
    for seed in 0..10 {
        let mut sender = Sender::new(capabilities, seed);
        for snr_db in [32.0, 14.0, 32.0] {
            let (maximum, mode) = best(capabilities, snr_db);
            // The statistics of a formerly good rate decay over some intervals, in each of eight
            // groups.
            sender.run(SECOND * 2, mode, |mode| synthetic(mode, snr_db, FRAME));
            let goodput = sender.run(SECOND, mode, |mode| synthetic(mode, snr_db, FRAME));
            assert!(goodput > 0.85 * maximum, "seed {seed} at {snr_db} dB: {goodput} of {maximum}");
        }
    }
}

#[test]
fn probes_are_few() {
    for (standard, snr_db) in [(Standard::B, 6.0), (Standard::A, 14.0), (Standard::N, 20.0), (Standard::Ac, 28.0)] {
        let mut sender = Sender::new(capabilities(standard, 1), 5);
        let time = SECOND * 4;
        sender.run(time, Mode::ofdm(0), |mode| synthetic(mode, snr_db, FRAME));
        // Every 20 ms, and after each update, which comes every 50 ms.
        assert!((100..=240).contains(&sender.probes), "{standard}: {}", sender.probes);
        assert!(sender.probing.as_secs_f64() < 0.1 * time.as_secs_f64(), "{standard}: {:?}", sender.probing);
    }
}

#[test]
fn a_dead_rate_is_left_before_the_interval_ends() {
    let capabilities = capabilities(Standard::N, 2);
    let mut sender = Sender::new(capabilities, 2);
    sender.run(SECOND, Mode::ofdm(0), |mode| if mode.streams == 2 || mode.mcs < 3 { 1.0 } else { 0.0 });
    let control = sender.control.as_mut().unwrap();
    let dead = control.table.rates[control.selection.best[0]].mode;
    assert_eq!(dead.streams, 2);
    control.updated = sender.now;
    control.report(sender.now, dead, 1_000, 2);
    let instead = control.table.rates[control.selection.best[0]].mode;
    assert_ne!(instead, dead);
}

#[test]
fn a_chain_goes_on_only_without_any_response() {
    let capabilities = capabilities(Standard::A, 1);
    let mut sender = Sender::new(capabilities, 2);
    sender.run(SECOND, Mode::ofdm(0), |mode| f64::from(u8::from(mode.mcs < 5)));
    let control = sender.control.as_mut().unwrap();
    control.sampler.probe(sender.now);
    let first = control.choose(sender.now, 0);
    control.report(sender.now, first, 16, 3);
    assert_eq!((control.choose(sender.now, 6), control.is_fallback()), (first, false));
    for _ in 0..6 {
        control.report(sender.now, first, 1, 0);
    }
    assert!(control.choose(sender.now, 6) < first);
    assert!(control.is_fallback());
}

#[test]
fn a_seed_decides_all() {
    let modes = |seed| {
        let mut sender = Sender::new(capabilities(Standard::N, 2), seed);
        sender.run(SECOND, Mode::ofdm(0), |mode| synthetic(mode, 25.0, FRAME));
        sender.modes
    };
    assert_eq!(modes(11), modes(11));
    assert_ne!(modes(11), modes(12));
}

#[test]
fn without_any_mode_there_is_none() {
    let capabilities = Capabilities { guard: Guard::Ns1600, ..capabilities(Standard::N, 1) };
    assert_eq!(MinstrelHt::new(capabilities, &mut Seed(1).stream("rate")).unwrap_err(), Refusal::NoMode(capabilities));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn each_mode_is_defined_and_within_what_both_can_do(
        standard in prop::sample::select(Standard::ALL),
        width in prop::sample::select(vec![Width::Mhz20, Width::Mhz40]),
        is_shortest in any::<bool>(),
        streams in 1..=4u8,
        seed in any::<u64>(),
        reports in prop::collection::vec((0..30u64, 0..9u32, 1..64u32, 0.0..1.0f64), 1..400),
    ) {
        let guard = if is_shortest { standard.generation().guard } else { Guard::Ns800 };
        let capabilities = Capabilities { standard, width, guard, streams, is_short_preamble: is_shortest };
        let mut control = MinstrelHt::new(capabilities, &mut Seed(seed).stream("rate")).unwrap();
        let mut now = Instant::ZERO;
        for (millis, attempt, attempted, share) in reports {
            now += Duration::from_millis(millis);
            let mode = control.choose(now, attempt);
            prop_assert!(mode.is_defined());
            prop_assert!(mode.streams <= streams && mode.width <= width && mode.guard >= guard);
            control.report(now, mode, attempted, (f64::from(attempted) * share) as u32);
            let rates = control.table.rates.iter().map(|rate| rate.statistics.probability);
            prop_assert!(rates.into_iter().all(|probability| (0..=statistics::ONE).contains(&probability)));
        }
    }
}
