//! Transfers through a proxy whose sides are stopped, killed or cut off during the transfer. Each
//! program reads all octets and the end, or gets an error. It never mistakes a part for the whole.
//!
//! Each side is a separate process, which this binary starts as the test `side`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "truncation/lossy.rs"]
mod lossy;
#[path = "common/side.rs"]
mod side;
#[path = "truncation/transfer.rs"]
mod transfer;

use acklab_base::random::{Seed, Stream};
use lossy::Lossy;
use side::{Far, Near};
use std::time::{Duration, Instant};
use transfer::{End, Target, Transfer};

/// The time within which an end detects the loss of the other end: the idle timeout of 30 s, and
/// some probes.
const MOST: Duration = Duration::from_secs(60);

/// The entry point of the processes that this test starts.
#[test]
fn side() {
    side::run();
}

/// A fault of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    StopNear,
    StopFar,
    KillNear,
    KillFar,
    /// The far side is killed and restarted at its port.
    RestartFar,
    /// From now on, no datagram passes.
    Cut,
    /// No datagram passes for half a second.
    Pause,
}

const FAULTS: [Fault; 7] =
    [Fault::StopNear, Fault::StopFar, Fault::KillNear, Fault::KillFar, Fault::RestartFar, Fault::Cut, Fault::Pause];

/// A proxy, with a program and a target that transfer octets through it.
struct World {
    lossy: Lossy,
    /// The share of datagrams that are lost.
    loss: f64,
    far: Far,
    near: Near,
    target: Target,
}

impl World {
    fn new(loss: f64, drain: Duration, seed: u64, back: usize) -> Self {
        let target = Target::serve(back);
        let far = Far::start(drain);
        let lossy = Lossy::between(far.port, Seed(seed));
        let near = Near::start(&far, lossy.port, target.port, drain);
        lossy.lose(loss);
        Self { lossy, loss, far, near, target }
    }

    fn strike(&mut self, fault: Fault) {
        match fault {
            Fault::StopNear => self.near.side.stop(),
            Fault::StopFar => self.far.side.stop(),
            Fault::KillNear => self.near.side.kill(),
            Fault::KillFar => self.far.side.kill(),
            Fault::RestartFar => self.far.restart(),
            Fault::Cut => self.lossy.lose(1.0),
            Fault::Pause => {
                self.lossy.lose(1.0);
                std::thread::sleep(Duration::from_millis(500));
                self.lossy.lose(self.loss);
            }
        }
    }
}

/// A case: the faults, and the time from each to the next.
#[derive(Clone, Debug)]
struct Case {
    faults: Vec<(Duration, Fault)>,
    loss: f64,
    drain: Duration,
    /// The number of octets that the program and the target send.
    sizes: [usize; 2],
    seed: u64,
}

impl Case {
    fn random(number: u64) -> Self {
        let mut random = Seed(number).stream("truncation");
        let pick = |random: &mut Stream, most: u64| random.below(most) as usize;
        let first = FAULTS[(number % FAULTS.len() as u64) as usize];
        let delay = |random: &mut Stream| Duration::from_millis(random.below(400));
        let mut faults = vec![(delay(&mut random), first)];
        for _ in 0..pick(&mut random, 3) {
            faults.push((delay(&mut random), FAULTS[pick(&mut random, FAULTS.len() as u64)]));
        }
        Self {
            faults,
            loss: [0.0, 0.0, 0.1, 0.3][pick(&mut random, 4)],
            drain: Duration::from_millis([0, 0, 300][pick(&mut random, 3)]),
            // Without faults, each transfer takes half a second, or almost no time.
            sizes: [0, 1].map(|_| [0, 1000, 4_000_000, 4_000_000][pick(&mut random, 4)]),
            seed: number,
        }
    }

    /// Returns how the transfers of the program and of the target ended.
    fn run(&self) -> [End; 2] {
        let mut world = World::new(self.loss, self.drain, self.seed, self.sizes[1]);
        let program = Transfer::begin(world.near.address, self.sizes[0]);
        for (delay, fault) in &self.faults {
            std::thread::sleep(*delay);
            world.strike(*fault);
        }
        let ends = [program.end(MOST), world.target.end(MOST)];
        ends.map(|end| end.unwrap_or_else(|| panic!("{self:?}: no end")))
    }
}

/// Runs the interleavings that the seeds give, with each fault first in turn. `ACKLAB_CASES=1000`
/// runs more.
#[test]
fn each_program_sees_all_octets_and_the_end_or_an_error() {
    const AT_ONCE: u64 = 14;
    let cases: u64 = std::env::var("ACKLAB_CASES").map_or(AT_ONCE, |cases| cases.parse().unwrap());
    let run = |worker: u64| {
        (worker..cases)
            .step_by(AT_ONCE as usize)
            .map(|number| {
                let case = Case::random(number);
                let [program, target] = case.run();
                println!("{case:?}: the program {program:?}, the target {target:?}");
                assert!(program.is_right(case.sizes[1]), "{case:?}: the program {program:?}");
                assert!(target.is_right(case.sizes[0]), "{case:?}: the target {target:?}");
                [program, target]
            })
            .collect::<Vec<_>>()
    };
    let ends: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|worker| scope.spawn(move || run(worker))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).flatten().collect()
    });
    let errors = ends.iter().filter(|end| matches!(end, End::Error(_))).count();
    assert!(errors > 0 && errors < ends.len(), "some are cut off, and some are not: {ends:?}");
}

/// Returns a transfer in progress, of which a part has passed.
fn in_the_middle(drain: Duration, sizes: [usize; 2]) -> (World, Transfer) {
    let world = World::new(0.0, drain, 1, sizes[1]);
    let program = Transfer::begin(world.near.address, sizes[0]);
    std::thread::sleep(Duration::from_millis(200));
    (world, program)
}

/// Downloads and uploads that take a second. None has finished after 0.2 s.
#[test]
fn what_is_unfinished_when_a_side_stops_is_reset_at_both_programs() {
    const LONG: usize = 8_000_000;
    for fault in [Fault::StopNear, Fault::StopFar] {
        for sizes in [[0, LONG], [LONG, 0], [LONG, LONG]] {
            let (mut world, program) = in_the_middle(Duration::ZERO, sizes);
            world.strike(fault);
            let ends = [program.end(MOST), world.target.end(MOST)];
            // A direction without octets may have ended earlier.
            for (end, size) in ends.iter().zip([sizes[1], sizes[0]]).filter(|(_, size)| *size > 0) {
                assert!(matches!(end, Some(End::Error(_))), "{fault:?}, {size} octets: {end:?}");
            }
        }
    }
}

#[test]
fn what_is_unfinished_when_a_side_stops_has_the_time_to_drain() {
    const LONG: usize = 8_000_000;
    for fault in [Fault::StopNear, Fault::StopFar] {
        let (mut world, program) = in_the_middle(MOST, [LONG, LONG]);
        world.strike(fault);
        let ends = [program.end(MOST), world.target.end(MOST)];
        assert_eq!(ends, [Some(End::All(LONG)), Some(End::All(LONG))], "{fault:?}");
        let side = if fault == Fault::StopNear { &mut world.near.side } else { &mut world.far.side };
        let start = Instant::now();
        side.wait();
        assert!(start.elapsed() < MOST / 2, "it ends when all transfers have");
    }
}

#[test]
fn a_second_demand_ends_what_drains() {
    let (mut world, program) = in_the_middle(MOST, [usize::MAX, 0]);
    world.strike(Fault::StopNear);
    std::thread::sleep(Duration::from_millis(300));
    let refused = Transfer::begin(world.near.address, 10);
    assert!(matches!(refused.end(MOST), Some(End::Error(_))), "nothing new begins");
    let start = Instant::now();
    world.strike(Fault::StopNear);
    world.near.side.wait();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(matches!(program.end(MOST), Some(End::Error(_))));
    assert!(matches!(world.target.end(MOST), Some(End::Error(_))));
}
