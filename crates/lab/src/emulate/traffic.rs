//! The applications of flows, which write to the kernel's sockets and read from them.
//!
//! One thread runs all applications. It is separate from the thread that carries packets, which
//! would otherwise wait while the kernel copies written data. There is one exception: if an
//! application reads on arrival, the thread that carries packets reads its data after each packet.
//!
//! | module | contents |
//! |---|---|
//! | `stream` | the applications of connections |
//! | `datagrams` | the applications of flows over UDP |

pub(super) mod datagrams;
pub(super) mod stream;

use acklab_base::{Duration, Instant};
use acklab_live::Wait;
use acklab_live::socket::Watch;
use acklab_live::{RunDelays, WallClock, realtime};
use datagrams::DatagramWorker;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
pub use stream::Pace;
use stream::{CHUNK, StreamWorker};

/// The interval between checks whether the thread must end.
const PATIENCE: Duration = Duration::from_millis(20);
/// The interval between measurements of how long the thread waited for a processor. Each costs some
/// microseconds.
const SAMPLING: Duration = Duration::from_secs(1);

/// One end of a flow.
pub(super) enum TrafficEnd {
    /// The end of a connection.
    Stream(stream::StreamEnd),
    /// The end of a flow over UDP.
    Datagrams(datagrams::DatagramEnd),
}

/// The thread of the applications.
pub(super) struct Applications {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Wait>>>,
}

impl Applications {
    /// Starts the applications.
    ///
    /// # Errors
    /// If the system permits no further thread or descriptor.
    pub(super) fn start(ends: Vec<TrafficEnd>, pace: Pace, clock: WallClock) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let watch = Watch::new()?;
        let mut workers = Vec::new();
        for (number, end) in (0..).zip(ends) {
            workers.push(match end {
                TrafficEnd::Stream(end) => Worker::Stream(StreamWorker::new(end, pace, &watch, number)?),
                TrafficEnd::Datagrams(end) => Worker::Datagrams(DatagramWorker::new(end, &watch, number)?),
            });
        }
        let is_over = Arc::clone(&stop);
        let work = move || {
            realtime::share_a_processor();
            realtime::enter(realtime::APPLICATIONS);
            clock.wait_for_start();
            run(&mut workers, &watch, clock, &is_over)
        };
        let thread = std::thread::Builder::new().name("applications".to_owned()).spawn(work)?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Ends the applications. Returns how long their thread waited for a processor.
    pub(super) fn finish(mut self) -> Vec<Wait> {
        self.join()
    }

    fn join(&mut self) -> Vec<Wait> {
        self.stop.store(true, Ordering::Relaxed);
        // A thread that panicked has already printed a message.
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Applications {
    fn drop(&mut self) {
        self.join();
    }
}

fn run(workers: &mut [Worker], watch: &Watch, clock: WallClock, stop: &AtomicBool) -> Vec<Wait> {
    let mut buffer = vec![0; CHUNK];
    let mut ready = Vec::new();
    let (mut delays, mut next_sample) = (RunDelays::new(clock.now()), clock.now());
    (0..workers.len()).for_each(|number| workers[number].run(clock.now(), clock, watch, number, &mut buffer));
    while !stop.load(Ordering::Relaxed) {
        let now = clock.now();
        if now >= next_sample {
            next_sample = now + SAMPLING;
            delays.sample_this_thread(now);
        }
        for (number, worker) in workers.iter_mut().enumerate() {
            if worker.deadline().is_some_and(|deadline| deadline <= now) {
                worker.run(now, clock, watch, number, &mut buffer);
            }
        }
        let deadline = workers.iter().filter_map(Worker::deadline).min();
        let wait = deadline.map_or(PATIENCE, |deadline| deadline.since(clock.now()).min(PATIENCE));
        if watch.wait(wait, &mut ready).is_err() {
            break;
        }
        for number in ready.drain(..) {
            workers[number].run(clock.now(), clock, watch, number, &mut buffer);
        }
    }
    delays.sample_this_thread(clock.now());
    // Without a flow, the thread has nothing to do.
    if workers.is_empty() { Vec::new() } else { delays.finish(clock.now()) }
}

/// A running end.
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
