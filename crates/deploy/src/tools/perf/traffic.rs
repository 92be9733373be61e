//! Sends, receives and counts the bytes of a measurement.

use super::channel::{Carrier, Counted, Receiving, Sending};
use super::protocol::{Plan, Report, Side};
use crate::tools::ToolError;
use crate::tools::error::with_causes;
use bytes::Bytes;
use ring::rand::{SecureRandom, SystemRandom};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinSet, consume_budget};
use tokio::time::{Instant, sleep_until};

/// The bytes per write of an application, as with iperf3 over TCP.
const BLOCK: usize = 128 << 10;
/// The interval at which an application writes with a set bitrate.
const PACE: Duration = Duration::from_millis(10);
/// The minimum write with a set bitrate: the payload of a packet.
const MIN_BLOCK: usize = 1200;
/// The interval between samples of the round-trip time.
const SAMPLE: Duration = Duration::from_millis(20);
/// The timeout of a measurement in which no data arrive. It equals the timeout of a TACK
/// connection.
const SILENCE: Duration = Duration::from_secs(30);

/// Returns the processor time that this process has used, in seconds.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The counters of this side's connections since the creation of the meter.
pub(super) struct Meter {
    carriers: Vec<Carrier>,
    before: Counted,
    cpu_before: f64,
}

fn total(carriers: &[Carrier]) -> Counted {
    carriers.iter().map(Carrier::counted).fold(Counted::default(), |sum, one| Counted {
        data_packets: sum.data_packets + one.data_packets,
        retransmissions: sum.retransmissions + one.retransmissions,
        acks: sum.acks + one.acks,
    })
}

impl Meter {
    pub(super) fn start(carriers: Vec<Carrier>) -> Self {
        Self { before: total(&carriers), carriers, cpu_before: cpu_seconds() }
    }

    /// Returns the present values of the connections' counters.
    pub(super) fn read(&self, load: Option<&Load>, received: Option<Report>) -> Side {
        let (now, cpu_seconds) = (total(&self.carriers), cpu_seconds() - self.cpu_before);
        let rtts = load.map(Load::rtts);
        Side {
            received,
            data_packets: now.data_packets.saturating_sub(self.before.data_packets),
            retransmissions: now.retransmissions.saturating_sub(self.before.retransmissions),
            acks: now.acks.saturating_sub(self.before.acks),
            cpu_seconds,
            mean_rtt: rtts.as_ref().and_then(|rtts| rtts.mean),
            p95_rtt: rtts.and_then(|rtts| rtts.p95),
            congestion: self.carriers.first().and_then(Carrier::kernel_congestion),
        }
    }
}

impl Meter {
    /// Ends the logs of the meter's connections.
    pub(super) fn finish_logs(&self) -> Result<(), ToolError> {
        self.carriers.iter().try_for_each(Carrier::finish_log)
    }
}

/// Ends the meter's connections immediately.
impl Drop for Meter {
    fn drop(&mut self) {
        self.carriers.drain(..).for_each(Carrier::abort);
    }
}

/// Applications that send.
pub(super) struct Load {
    writers: JoinSet<io::Result<Sending>>,
    /// Ended streams. They keep their connections open.
    ended: Vec<Sending>,
    /// Samples of the smoothed round-trip time, in milliseconds.
    rtts: Vec<f64>,
}

struct Rtts {
    mean: Option<f64>,
    p95: Option<f64>,
}

impl Load {
    pub(super) fn start(halves: Vec<Sending>, plan: &Plan) -> Result<Self, ToolError> {
        // Random bytes, so that no device on the path compresses them.
        let mut block = vec![0; BLOCK];
        SystemRandom::new()
            .fill(&mut block)
            .map_err(|_| ToolError::failed("data", "the system gives no random numbers"))?;
        let block = Bytes::from(block);
        let mut writers = JoinSet::new();
        for (half, number) in halves.into_iter().zip(0..) {
            writers.spawn(write(half, block.clone(), plan.octets_of(number), plan.bitrate));
        }
        Ok(Self { writers, ended: Vec::new(), rtts: Vec::new() })
    }

    /// Sends data, and samples the round-trip times of the meter's connections. Returns only if a
    /// connection is lost. If the future is dropped, no data are lost.
    pub(super) async fn run(&mut self, meter: &Meter) -> ToolError {
        let mut ticks = tokio::time::interval(SAMPLE);
        loop {
            tokio::select! {
                Some(written) = self.writers.join_next() => match written {
                    Ok(Ok(half)) => self.ended.push(half),
                    Ok(Err(error)) => return ToolError::failed("the connection is lost while it sends", error),
                    Err(error) => return ToolError::failed("sender", error),
                },
                _ = ticks.tick() => {
                    let now = meter.carriers.iter().filter_map(Carrier::rtt).map(|rtt| rtt.as_secs_f64() * 1e3);
                    self.rtts.extend(now);
                }
            }
        }
    }

    fn rtts(&self) -> Rtts {
        let mut sorted = self.rtts.clone();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        // The percentile by the nearest-rank method.
        let rank = (count * 95).div_ceil(100).saturating_sub(1);
        Rtts { mean: (count > 0).then(|| sorted.iter().sum::<f64>() / count as f64), p95: sorted.get(rank).copied() }
    }
}

async fn write(mut to: Sending, block: Bytes, octets: Option<u64>, bitrate: Option<u64>) -> io::Result<Sending> {
    let size = bitrate.map_or(BLOCK, |rate| {
        let paced = rate as f64 / 8.0 * PACE.as_secs_f64();
        (paced as usize).clamp(MIN_BLOCK, BLOCK)
    });
    let (start, mut written) = (Instant::now(), 0u64);
    while octets.is_none_or(|octets| written < octets) {
        let left = octets.map_or(u64::MAX, |octets| octets - written);
        let size = (size as u64).min(left) as usize;
        to.write_chunk(block.slice(..size)).await?;
        written += size as u64;
        match bitrate {
            Some(rate) => sleep_until(start + Duration::from_secs_f64(written as f64 * 8.0 / rate as f64)).await,
            // A connection that accepts all data immediately must let the others run.
            None => consume_budget().await,
        }
    }
    to.shutdown().await?;
    Ok(to)
}

/// The sums of the counters of several readers.
#[derive(Default)]
struct Tally {
    octets: AtomicU64,
    /// The time at which the first byte arrived.
    begin: watch::Sender<Option<Instant>>,
}

async fn read(mut from: Receiving, tally: Arc<Tally>) -> io::Result<()> {
    let mut buffer = vec![0; BLOCK];
    loop {
        let count = from.skim(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        if tally.octets.fetch_add(count as u64, Ordering::Relaxed) == 0 {
            tally.begin.send_replace(Some(Instant::now()));
        }
        consume_budget().await;
    }
}

/// Applications that receive. They continue until they are dropped. No sender therefore stops
/// before it is notified of the end.
pub(super) struct Sink {
    readers: JoinSet<io::Result<()>>,
    tally: Arc<Tally>,
}

impl Sink {
    pub(super) fn start(halves: Vec<Receiving>) -> Self {
        let (mut readers, tally) = (JoinSet::new(), Arc::new(Tally::default()));
        for half in halves {
            readers.spawn(read(half, Arc::clone(&tally)));
        }
        Self { readers, tally }
    }

    /// Receives the data of the plan, and reports them after each interval.
    pub(super) async fn run(
        &mut self,
        plan: &Plan,
        reports: &mpsc::UnboundedSender<Report>,
    ) -> Result<Report, ToolError> {
        let Self { readers, tally } = self;
        let mut begun = tally.begin.subscribe();
        let octets = || tally.octets.load(Ordering::Relaxed);
        let begin = {
            let first = tokio::time::timeout(SILENCE, begun.wait_for(Option::is_some)).await;
            first.ok().and_then(Result::ok).and_then(|begin| *begin).ok_or_else(silent)?
        };
        let report = |now: Instant| Report { seconds: (now - begin).as_secs_f64(), octets: octets() };
        let end = plan.seconds.map(|seconds| begin + Duration::from_secs_f64(seconds));
        let mut next = begin + plan.report_every();
        let (mut before, mut changed) = (octets(), begin);
        loop {
            let wake = end.map_or(next, |end| end.min(next));
            tokio::select! {
                joined = readers.join_next() => match joined {
                    None => {
                        let last = report(Instant::now());
                        return match (plan.octets, plan.seconds) {
                            (Some(octets), _) if last.octets < octets => Err(ToolError::failed(
                                "receiver",
                                format_args!("the sender has ended: found {} octets, expected {octets}", last.octets),
                            )),
                            (_, Some(seconds)) if last.seconds < seconds => Err(ToolError::failed(
                                "receiver",
                                format_args!("the sender has ended: found {:.3} s of data, expected {seconds} s", last.seconds),
                            )),
                            _ => Ok(last),
                        };
                    }
                    Some(Ok(Ok(()))) => {}
                    Some(Ok(Err(error))) => return Err(ToolError::failed("the connection is lost while it receives", with_causes(&error))),
                    Some(Err(error)) => return Err(ToolError::failed("receiver", error)),
                },
                () = sleep_until(wake) => {
                    let now = Instant::now();
                    let current = report(now);
                    if end.is_some_and(|end| now >= end) {
                        return Ok(current);
                    }
                    next += plan.report_every();
                    // After the end of the measurement, the report has no receiver.
                    _ = reports.send(current);
                    if current.octets > before {
                        (before, changed) = (current.octets, now);
                    } else if now - changed > SILENCE {
                        return Err(silent());
                    }
                }
            }
        }
    }
}

fn silent() -> ToolError {
    ToolError::failed("receiver", format_args!("nothing has arrived for {} s", SILENCE.as_secs()))
}
