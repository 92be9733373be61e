//! Two kernels at the ends of a world that delays every packet by 5 ms.
//!
//! The tests need the permission to create namespaces and TUN devices. Without it, they report that
//! they were skipped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use acklab_base::{Alarms, Duration, Instant, MachineId, World};
use acklab_live::netlink::{Device, Metrics, Netlink};
use acklab_live::socket::{Options, Tcp};
use acklab_live::{Driver, Household, Namespace, Outcome, Outlet, Tun, WallClock};
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const DELAY: Duration = Duration::from_millis(5);

/// Machine `i` carries the packets that device `i` reads to the other device.
struct Wire {
    outlet: Outlet,
    clock: WallClock,
    flying: [VecDeque<(Instant, Vec<u8>)>; 2],
}

impl World for Wire {
    fn machines(&self) -> usize {
        2
    }

    fn wake(&mut self, machine: MachineId, now: Instant, alarms: &mut impl Alarms) {
        let from = machine.0 as usize;
        while self.flying[from].front().is_some_and(|(at, _)| *at <= now) {
            if let Some((at, packet)) = self.flying[from].pop_front() {
                assert!(at <= self.clock.now(), "a packet that is due at {at:?} is delivered early");
                self.outlet.deliver(1 - from, at, &packet);
            }
        }
        self.drain(machine, now, alarms);
    }

    fn drain(&mut self, machine: MachineId, _: Instant, alarms: &mut impl Alarms) {
        alarms.set(machine, self.flying[machine.0 as usize].front().map(|(at, _)| *at));
    }
}

fn read(wire: &mut Wire, device: usize, now: Instant) -> io::Result<Option<MachineId>> {
    let mut octets = Vec::with_capacity(2_000);
    if !wire.outlet.devices()[device].read(&mut octets)? {
        return Ok(None);
    }
    wire.flying[device].push_back((now + DELAY, octets));
    Ok(Some(MachineId(device as u32)))
}

struct Host {
    namespace: Namespace,
    tun: Tun,
}

fn address(host: usize) -> IpAddr {
    IpAddr::from([10, 0, 0, host as u8 + 1])
}

/// Creates two hosts with routes to each other. Returns `None` if the system does not allow them.
fn hosts() -> Option<[Host; 2]> {
    let host = |number: usize| {
        let namespace = Namespace::new().map_err(|why| eprintln!("skipped: {why}")).ok()?;
        let tun = Tun::new(&namespace, "test0").map_err(|why| eprintln!("skipped: {why}")).ok()?;
        let netlink = Netlink::new(&namespace).unwrap();
        let index = tun.index();
        netlink.configure(index, Device { mtu: 1500, queue_len: 1_000, gso_max_segs: 1 }).unwrap();
        netlink.bring_up(index).unwrap();
        netlink.add_address(index, address(number)).unwrap();
        let metrics = Metrics { quick_ack: true, initial_window: Some(4), min_rto_ms: Some(300) };
        netlink.add_route(index, address(1 - number), &metrics).unwrap();
        Some(Host { namespace, tun })
    };
    Some([host(0)?, host(1)?])
}

/// Checks that a connection of the kernel crosses the world, and that no packet is delivered early.
fn cross(wakes_early: bool) {
    let Some([one, other]) = hosts() else { return };
    let at = |host: usize, port: u16| SocketAddr::new(address(host), port);
    let options = Options { congestion: Some("reno".to_owned()), mss: Some(1_012), ..Options::default() };
    let listens = Tcp::bound(&other.namespace, at(1, 7_000), &options).unwrap();
    listens.listen().unwrap();
    let connects = Tcp::bound(&one.namespace, at(0, 7_001), &options).unwrap();

    let clock = WallClock::start();
    let outlet = Outlet::new(vec![one.tun, other.tun], clock);
    let mut wire = Wire { outlet, clock, flying: [VecDeque::new(), VecDeque::new()] };
    let mut driver = Driver::new(&mut wire, clock).unwrap();
    if wakes_early {
        driver.wake_early_while(Arc::new(AtomicBool::new(true)));
    }
    wire.outlet.devices().iter().for_each(|tun| driver.watch(tun).unwrap());
    connects.connect(at(1, 7_000)).unwrap();
    // The handshake takes a round trip and a half, and the data less than six round trips. The rest
    // is a margin for a busy machine.
    let mut until = Instant::ZERO + DELAY * 20;
    assert_eq!(driver.run(&mut wire, until, read, || true).unwrap(), Outcome::Done);
    let accepted = listens.accept().unwrap().expect("the connection is established");
    assert!(connects.info().unwrap().is_open());
    let written = connects.write(&[7; 20_000]).unwrap();
    until += DELAY * 40;
    driver.run(&mut wire, until, read, || true).unwrap();
    let arrived = accepted.discard(&mut [0; 30_000]).unwrap();
    assert_eq!(arrived, Some(written), "all that was written has arrived");
    let info = connects.info().unwrap();
    // Timestamps take 12 octets of each segment.
    assert_eq!(info.snd_mss(), 1_000);
    // A busy machine may delay packets, but cannot make them arrive early.
    assert!((10_000..200_000).contains(&info.rtt_us()), "{info:?}, expected a round trip of 10 ms");
    assert_eq!((info.unacked(), info.total_retrans()), (0, 0));
    assert!(wire.outlet.lateness().count() >= 20 && wire.outlet.refused() == 0);
}

#[test]
fn a_connection_of_the_kernel_crosses_the_world() {
    cross(false);
}

/// When the latency of 32 wake-ups is known, the timers are set earlier than the deadlines. The
/// idle driver has 50 wake-ups per second.
#[test]
fn a_driver_that_wakes_early_delivers_nothing_early() {
    cross(true);
}

#[test]
fn the_driver_stops_when_it_is_told_to() {
    let Some([one, other]) = hosts() else { return };
    let clock = WallClock::start();
    let outlet = Outlet::new(vec![one.tun, other.tun], clock);
    let mut wire = Wire { outlet, clock, flying: [VecDeque::new(), VecDeque::new()] };
    let mut driver = Driver::new(&mut wire, clock).unwrap();
    let mut calls = 0;
    let outcome = driver.run(&mut wire, Instant::ZERO + Duration::from_secs(60), read, || {
        calls += 1;
        calls < 3
    });
    assert_eq!(outcome.unwrap(), Outcome::Stopped);
    assert!(clock.now() < Instant::ZERO + Duration::from_secs(5));
}

/// A grandchild that ignores the signals of its terminal ends with the household.
#[test]
fn grandchildren_end_with_the_household() {
    let Some([one, _other]) = hosts() else { return };
    let household = Household::new().unwrap();
    let mark = format!("{}.{}", 86_000 + std::process::id() % 1_000, std::process::id());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("(trap '' TERM HUP INT; exec sleep {mark}) & sleep 0.2")]).stdout(Stdio::null());
    household.start(command, &one.namespace).unwrap().wait().unwrap();
    assert!(is_running(&mark), "the grandchild outlives the child");
    drop(household);
    assert!(!is_running(&mark), "nothing outlives the household");
}

fn is_running(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        command.starts_with(b"sleep") && String::from_utf8_lossy(&command).contains(mark)
    })
}

/// A namespace disappears with its last descriptor: no process reports its number afterwards.
#[test]
fn a_namespace_is_gone_when_it_is_dropped() {
    let Some([one, other]) = hosts() else { return };
    let number = |namespace: &Namespace| rustix::fs::fstat(namespace.as_fd()).unwrap().st_ino;
    let (inside, outside) = (number(&one.namespace), number(&other.namespace));
    assert_ne!(inside, outside);
    let own = || std::fs::read_link("/proc/thread-self/ns/net").unwrap().to_string_lossy().into_owned();
    let before = own();
    assert_ne!(one.namespace.inside(|| Ok(own())).unwrap(), before);
    assert_eq!(own(), before, "the thread is back in its own");
    drop(one);
    let is_held = std::fs::read_dir("/proc/self/fd").unwrap().flatten().any(|entry| {
        std::fs::read_link(entry.path()).is_ok_and(|link| link.to_string_lossy() == format!("net:[{inside}]"))
    });
    assert!(!is_held);
}

/// Three packets that are due at the same time are as late as the first. The time that the host
/// takes for them is reported separately.
#[test]
fn packets_of_one_instant_are_as_late_as_the_first() {
    let Some([one, other]) = hosts() else { return };
    let clock = WallClock::start();
    let mut outlet = Outlet::new(vec![one.tun, other.tun], clock);
    // An echo request of four octets to the other host. The test does not need an answer.
    let packet = [
        0x45, 0, 0, 32, 0, 0, 0, 0, 64, 1, 0x66, 0xdb, 10, 0, 0, 1, 10, 0, 0, 2, 8, 0, 0xf7, 0xff, 0, 0, 0, 0, 0, 0, 0,
        0,
    ];
    let due = clock.now();
    outlet.deliver(1, due, &packet);
    let late = outlet.lateness().max().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(5));
    outlet.deliver(1, due, &packet);
    assert_eq!((outlet.lateness().count(), outlet.lateness().max()), (2, Some(late)));
    assert!(outlet.longest_handover() >= Duration::from_millis(5));
    outlet.deliver(0, due, &packet);
    assert!(outlet.lateness().max().unwrap() >= Duration::from_millis(5), "another host waits for this one");
}
