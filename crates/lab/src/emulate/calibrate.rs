//! Measures the capacity of this machine: packets per second through one link, and their lateness
//! under a moderate load.

use super::hosts::{self, RealWorld};
use super::stage::Stage;
use super::{EmulateOptions, Foreground, host_error};
use crate::assemble::Parts;
use crate::error::Error;
use crate::scenario;
use acklab_base::{Duration, Instant};
use acklab_live::idling::{IdleProcessors, Wakefulness};
use acklab_live::realtime::{Granted, Privileges};
use acklab_live::socket::Udp;
use acklab_live::{Driver, Outcome, Standstill, WallClock, realtime};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One link without a rate, so that only the machine limits it.
const SCENARIO: &str = r#"
duration = "60min"
seed = 1
flow = []
[[link]]
name = "wire"
from = "sender"
to = "receiver"
forward = { delay = "1ms" }
reverse = { delay = "1ms" }
"#;
/// The duration of each measurement, after a settling time of the same length.
const PHASE: Duration = Duration::from_secs(1);
/// A full packet of 1500 octets.
const PAYLOAD: usize = 1472;
/// The packets that the moderate load sends each millisecond.
const MODERATE: u64 = 5;
/// The packets per call of the flood. Batches make sending cheaper than carrying.
const AT_ONCE: usize = 40;
/// The pace value that means the maximum rate.
const FLOOD: u64 = u64::MAX;
/// The port of the Discard protocol (RFC 863).
const PORT: u16 = 9;
/// The time for which stalls of the processor are observed. The kernel takes a processor from
/// real-time threads after 950 ms (`sched_rt_runtime_us`, and the server for fair threads).
const WATCH: Duration = Duration::from_millis(900);

/// The capacity of this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Packets of 1500 bytes per second through one link.
    pub packets_per_second: f64,
    /// The capacity in Mbps.
    pub mbps: f64,
    /// The processor time per packet, in microseconds, of the thread that carries packets.
    pub cpu_us_per_packet: f64,
    /// The median lateness at 5000 packets per second, in microseconds.
    pub p50_lateness_us: f64,
    /// The 99th percentile of lateness at 5000 packets per second, in microseconds.
    pub p99_lateness_us: f64,
    /// The stalls of the processor in the last 900 ms, measured without load.
    pub standstill: Standstill,
    /// The share of a processor that the hypervisor took in the worst second. `None` if the kernel
    /// does not report it.
    pub stolen: Option<f64>,
    /// The privileges that the thread that carries packets obtained.
    pub granted: Granted,
}

/// Measures this machine for five seconds. Idle processors behave as in an emulation. Calls
/// `goes_on` periodically, and stops if it returns `false`. The calling thread carries the packets
/// and should end afterwards.
///
/// # Errors
/// If the process lacks a permission, or if `goes_on` returned `false`.
pub fn calibrate(processors: IdleProcessors, goes_on: impl FnMut() -> bool) -> Result<Calibration, Error> {
    let scenario = scenario::load(SCENARIO, "calibration", &[], None).map_err(|refusal| {
        host_error("cannot read the scenario of the calibration")(io::Error::other(refusal.to_string()))
    })?;
    let foreground = Some(Foreground { node: "sender".to_owned(), words: Vec::new() });
    let options = EmulateOptions { foreground, ..EmulateOptions::default() };
    let parts = Parts::new(&scenario, &options.run)?;
    let mut stage = Stage::new(&scenario, &options, &parts)?;
    let clock = WallClock::start();
    let (mut world, ..) = stage.populate(&scenario, &options, parts, clock)?;
    let address = |node: &str| stage.address_of(node).map(|address| SocketAddr::from((address, PORT)));
    let socket = |node: &str, peer: &str| {
        let made = Udp::between(&stage.namespace_of(node)?, address(node)?, address(peer)?);
        made.map_err(host_error(format!("cannot make the socket of node \"{node}\"")))
    };
    // The receiver has a peer, like a TCP connection, so that the kernel finds the socket before it
    // looks up a route.
    let (sender, _receiver) = (socket("sender", "receiver")?, socket("receiver", "sender")?);
    sender.cut_into_datagrams(PAYLOAD as u16).map_err(host_error("cannot send many packets at once"))?;

    let pace = Arc::new(AtomicU64::new(MODERATE));
    let source = Source::start(sender, Arc::clone(&pace)).map_err(host_error("cannot start the sender"))?;
    let privileges = Privileges::of_carrier(Wakefulness::keep(processors, clock));
    let driver = hosts::driver_of(&mut world, clock, &privileges)?;
    let mut bench = Bench { driver, world, goes_on, until: Instant::ZERO };
    bench.run()?;
    bench.run()?;
    let late =
        |share| bench.world.hosts.outlet.lateness().quantile(share).map_or(0.0, |late| late.as_nanos() as f64 / 1e3);
    let (p50_lateness_us, p99_lateness_us) = (late(0.5), late(0.99));
    pace.store(FLOOD, Ordering::Relaxed);
    bench.run()?;
    let before = realtime::cpu_time();
    bench.run()?;
    let cpu = (realtime::cpu_time() - before).as_secs_f64();
    drop(source);
    let packets = bench.world.hosts.outlet.lateness().count() as f64;
    let packets_per_second = packets / PHASE.as_secs_f64();
    let standstill = Standstill::measure(WATCH);
    Ok(Calibration {
        packets_per_second,
        mbps: packets_per_second * 1500.0 * 8.0 / 1e6,
        cpu_us_per_packet: cpu * 1e6 / packets.max(1.0),
        p50_lateness_us,
        p99_lateness_us,
        standstill,
        stolen: privileges.wakefulness().worst_second().map(|second| second.share),
        granted: privileges.granted(),
    })
}

struct Bench<G> {
    driver: Driver,
    world: RealWorld,
    goes_on: G,
    until: Instant,
}

impl<G: FnMut() -> bool> Bench<G> {
    /// Runs for one phase. The measurement covers only this phase.
    fn run(&mut self) -> Result<(), Error> {
        self.until += PHASE;
        self.world.hosts.outlet.reset();
        let outcome = self.driver.run(&mut self.world, self.until, hosts::read, &mut self.goes_on);
        match outcome.map_err(host_error("a TUN device failed"))? {
            Outcome::Done => Ok(()),
            Outcome::Stopped => Err(Error::Stopped),
        }
    }
}

/// A thread that sends packets at a pace.
struct Source {
    pace: Arc<AtomicU64>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Source {
    fn start(socket: Udp, pace: Arc<AtomicU64>) -> io::Result<Self> {
        let current = Arc::clone(&pace);
        let send = move || {
            realtime::enter(realtime::LOAD);
            let packets = [0; PAYLOAD * AT_ONCE];
            loop {
                // A full queue drops packets, which is not an error here.
                match current.load(Ordering::Relaxed) {
                    0 => return,
                    FLOOD => _ = socket.send(&packets),
                    burst => {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                        (0..burst).for_each(|_| _ = socket.send(&packets[..PAYLOAD]));
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("sender".to_owned()).spawn(send)?;
        Ok(Self { pace, thread: Some(thread) })
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.pace.store(0, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
