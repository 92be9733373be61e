//! The applications of flows: what they write to the sockets of the kernel, and read from them.
//!
//! One thread runs all of them. It is not the thread that carries packets, which would wait for the kernel to copy what is written. Only
//! where the application of a connection reads all data on arrival, the thread that carries packets reads them, after each packet.
//!
//! | module | contents |
//! |---|---|
//! | `stream` | the applications of connections |
//! | `datagrams` | the applications of flows over UDP |

pub(super) mod datagrams;
pub(super) mod stream;

use acklab_base::{Duration, Instant};
use acklab_live::WallClock;
use acklab_live::realtime;
use acklab_live::socket::Watch;
use datagrams::DatagramWorker;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use stream::{CHUNK, StreamWorker};

/// The interval at which the thread looks whether it should end.
const PATIENCE: Duration = Duration::from_millis(20);

/// One end of a flow.
pub(super) enum TrafficEnd {
    /// Of a connection.
    Stream(stream::StreamEnd),
    /// Of a flow over UDP.
    Datagrams(datagrams::DatagramEnd),
}

/// The thread of the applications.
pub(super) struct Applications {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Applications {
    /// Starts the applications.
    ///
    /// # Errors
    /// If the system does not allow another thread or descriptor.
    pub(super) fn start(ends: Vec<TrafficEnd>, clock: WallClock) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let watch = Watch::new()?;
        let mut workers = Vec::new();
        for (number, end) in (0..).zip(ends) {
            workers.push(match end {
                TrafficEnd::Stream(end) => Worker::Stream(StreamWorker::new(end, &watch, number)?),
                TrafficEnd::Datagrams(end) => Worker::Datagrams(DatagramWorker::new(end, &watch, number)?),
            });
        }
        let is_over = Arc::clone(&stop);
        let work = move || {
            realtime::share_a_processor();
            realtime::enter(realtime::APPLICATIONS);
            run(&mut workers, &watch, clock, &is_over);
        };
        let thread = std::thread::Builder::new().name("applications".to_owned()).spawn(work)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Applications {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has printed why.
            let _ = thread.join();
        }
    }
}

fn run(workers: &mut [Worker], watch: &Watch, clock: WallClock, stop: &AtomicBool) {
    let mut buffer = vec![0; CHUNK];
    let mut ready = Vec::new();
    (0..workers.len()).for_each(|number| workers[number].run(clock.now(), clock, watch, number, &mut buffer));
    while !stop.load(Ordering::Relaxed) {
        let now = clock.now();
        for (number, worker) in workers.iter_mut().enumerate() {
            if worker.deadline().is_some_and(|deadline| deadline <= now) {
                worker.run(now, clock, watch, number, &mut buffer);
            }
        }
        let deadline = workers.iter().filter_map(Worker::deadline).min();
        let wait = deadline.map_or(PATIENCE, |deadline| deadline.since(clock.now()).min(PATIENCE));
        if watch.wait(wait, &mut ready).is_err() {
            return;
        }
        for number in ready.drain(..) {
            workers[number].run(clock.now(), clock, watch, number, &mut buffer);
        }
    }
}

/// One end at work.
enum Worker {
    Stream(StreamWorker),
    Datagrams(DatagramWorker),
}

impl Worker {
    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Stream(worker) => worker.deadline(),
            Self::Datagrams(worker) => worker.deadline(),
        }
    }

    fn run(&mut self, now: Instant, clock: WallClock, watch: &Watch, number: usize, buffer: &mut [u8]) {
        let done = match self {
            Self::Stream(worker) => worker.run(now, watch, number, buffer),
            Self::Datagrams(worker) => worker.run(now, clock, buffer),
        };
        let Err(error) = done else { return };
        let shown = match self {
            Self::Stream(worker) => {
                worker.give_up();
                worker.shown()
            }
            Self::Datagrams(worker) => {
                worker.give_up();
                worker.shown()
            }
        };
        let _ = shown.failure.set(error.to_string());
    }
}
