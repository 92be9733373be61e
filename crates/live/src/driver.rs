//! The driver that runs a world in real time.

use crate::{WakeLatency, WallClock};
use acklab_base::{Duration, Instant, MachineId, World};
use acklab_drive::Agenda;
use rustix::event::Timespec;
use rustix::event::epoll;
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The interval between calls of the callback that may stop a run: short for a user, and long
/// enough to cost nothing.
const CALL_INTERVAL: Duration = Duration::from_millis(20);
/// The maximum number of packets that are read from one device before other devices and deadlines
/// are handled.
const BATCH: usize = 64;
/// The maximum number of devices that one wait reports.
const EVENTS: usize = 64;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The time was reached.
    Done,
    /// The callback stopped the run.
    Stopped,
}

/// The devices of a driver. For devices that send without a flush, a function that reads implements
/// this trait.
pub trait Devices<W> {
    /// Reads a packet from the device with a number, and passes it at `now` to the machine behind
    /// the device. Returns this machine, or `None` if no packet waits.
    ///
    /// # Errors
    /// If the device fails.
    fn read(&mut self, world: &mut W, device: usize, now: Instant) -> io::Result<Option<MachineId>>;

    /// Sends the world's deliveries since the last call, before the driver sleeps. Called at least
    /// every 20 ms unless the process stalls.
    ///
    /// # Errors
    /// If a device fails.
    fn flush(&mut self, _world: &mut W) -> io::Result<()> {
        Ok(())
    }
}

impl<W, F: FnMut(&mut W, usize, Instant) -> io::Result<Option<MachineId>>> Devices<W> for F {
    fn read(&mut self, world: &mut W, device: usize, now: Instant) -> io::Result<Option<MachineId>> {
        self(world, device, now)
    }
}

/// Runs a world in real time.
///
/// The world's time is exact. A machine whose deadline has passed is woken with the deadline as its
/// time, not with the later time of the clock. Delays therefore do not accumulate along a path.
/// Packets enter the world at the time at which they are read, after all machines whose deadlines
/// lie before. The driver sleeps between deadlines, unless it
/// [wakes early](Self::wake_early_while).
#[derive(Debug)]
pub struct Driver {
    clock: WallClock,
    agenda: Agenda,
    epoll: OwnedFd,
    /// The number of devices.
    devices: u64,
    /// The world's time.
    now: Instant,
    next_call: Instant,
    wakes: u64,
    wake_latency: WakeLatency,
    wakes_early: Arc<AtomicBool>,
}

impl Driver {
    /// Creates a driver for `world` without devices. Drains all machines at time zero.
    ///
    /// # Errors
    /// If the system does not allow another descriptor.
    pub fn new(world: &mut impl World, clock: WallClock) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let now = Instant::ZERO;
        let agenda = Agenda::new(world, now);
        let wake_latency = WakeLatency::default();
        let wakes_early = Arc::default();
        Ok(Self { clock, agenda, epoll, devices: 0, now, next_call: now, wakes: 0, wake_latency, wakes_early })
    }

    /// While `is_awake` is `true`, the driver sets its timers earlier than deadlines, by the usual
    /// latency of wake-ups. For the remaining microseconds, it polls its devices. This reduces the
    /// lateness of deliveries by the latency. There is no additional cost if idle processors also
    /// poll ([`AwakeProcessors`](crate::AwakeProcessors)).
    pub fn wake_early_while(&mut self, is_awake: Arc<AtomicBool>) {
        self.wakes_early = is_awake;
    }

    /// Adds a device. Devices are numbered from zero.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn watch(&mut self, device: impl AsFd) -> io::Result<()> {
        epoll::add(&self.epoll, device, epoll::EventData::new_u64(self.devices), epoll::EventFlags::IN)?;
        self.devices += 1;
        Ok(())
    }

    /// Returns the number of wake-ups of machines so far.
    #[must_use]
    pub const fn wakes(&self) -> u64 {
        self.wakes
    }

    /// Runs `world` until the clock shows `until`. Handles all deadlines before it.
    ///
    /// `devices` are the watched devices. Calls `goes_on` from time to time, and stops if it
    /// returns `false`.
    ///
    /// # Errors
    /// If a device fails.
    pub fn run<W: World>(
        &mut self,
        world: &mut W,
        until: Instant,
        mut devices: impl Devices<W>,
        mut goes_on: impl FnMut() -> bool,
    ) -> io::Result<Outcome> {
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            let now = self.clock.now();
            self.catch_up(world, now, until);
            devices.flush(world)?;
            if now >= self.next_call {
                self.next_call = now + CALL_INTERVAL;
                if !goes_on() {
                    return Ok(Outcome::Stopped);
                }
            }
            if now >= until {
                self.now = until;
                return Ok(Outcome::Done);
            }
            self.wait(&mut events, until)?;
            for event in events.drain(..) {
                self.read(world, event.data.u64() as usize, until, &mut devices)?;
            }
        }
    }

    /// Runs `world` ahead of the clock until no machine has a deadline, but at most for the time
    /// `most`. All packets are delivered immediately, in their order. The world must not be run
    /// afterwards.
    pub fn settle<W: World>(&mut self, world: &mut W, most: Duration) {
        let until = self.now.max(self.clock.now()) + most;
        self.catch_up(world, until, until);
    }

    /// Wakes all machines whose deadlines lie before `until` and not after `now`.
    #[inline]
    fn catch_up<W: World>(&mut self, world: &mut W, now: Instant, until: Instant) {
        while let Some((at, machine)) = self.agenda.next()
            && at <= now
            && at < until
        {
            self.now = self.now.max(at);
            self.wakes += 1;
            self.agenda.wake(world, machine, self.now);
        }
    }

    /// Sleeps until the next deadline or until a packet arrives.
    fn wait(&mut self, events: &mut Vec<epoll::Event>, until: Instant) -> io::Result<()> {
        let mut wake = until.min(self.next_call);
        if let Some((at, _)) = self.agenda.next() {
            wake = wake.min(at);
        }
        let now = self.clock.now();
        let wakes_early = self.wakes_early.load(Ordering::Relaxed);
        let early = if wakes_early { self.wake_latency.usual() } else { Duration::ZERO };
        let time = wake.since(now).saturating_sub(early);
        let nanos = time.as_nanos();
        let timeout = Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ };
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), Some(&timeout)) {
            Ok(0) if wakes_early && !time.is_zero() => {
                self.wake_latency.add(self.clock.now().since(now + time));
                Ok(())
            }
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the packets that wait at `device`, at most one batch, each with its own time of
    /// reading.
    fn read<W: World>(
        &mut self,
        world: &mut W,
        device: usize,
        until: Instant,
        devices: &mut impl Devices<W>,
    ) -> io::Result<()> {
        for _ in 0..BATCH {
            let now = self.clock.now();
            if now >= until {
                break;
            }
            self.catch_up(world, now, until);
            self.now = self.now.max(now);
            let Some(machine) = devices.read(world, device, self.now)? else { break };
            self.agenda.drain(world, machine, self.now);
        }
        Ok(())
    }
}
