//! Commands on the nodes of an emulated network.

use super::addresses;
use crate::error::Error;
use acklab_base::{Duration, Instant, NodeId};
use acklab_live::Wait;
use acklab_live::{Household, Namespace, RunDelays, WallClock};
use acklab_wire::IpVersion;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The interval between checks of the commands.
const PATIENCE: Duration = Duration::from_millis(5);
/// The interval between measurements of how long the commands waited for a processor.
const SAMPLING: Duration = Duration::from_millis(100);
/// The time between the request to a command to end and its forced end.
const GRACE: Duration = Duration::from_millis(500);

/// A command to start.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) node: String,
    pub(super) namespace: Namespace,
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    pub(super) directory: Option<PathBuf>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) start: Instant,
    pub(super) stop: Option<Instant>,
    /// The file for the command's output. If `None`, the output is written to this process's
    /// output.
    pub(super) output: Option<PathBuf>,
    /// `true` if the command uses the terminal. The run ends when the command ends.
    pub(super) is_foreground: bool,
}

/// The outcome of a command.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub(super) name: String,
    pub(super) node: String,
    pub(super) command: String,
    pub(super) started: Option<Instant>,
    pub(super) ended: Option<Instant>,
    /// The exit status, if the command has exited by itself.
    pub(super) status: Option<i32>,
    /// The signal that ended the command.
    pub(super) signal: Option<i32>,
    /// The reason why the command could not be started.
    pub(super) failure: Option<String>,
    pub(super) is_foreground: bool,
    /// The time that the command's threads waited for a processor.
    pub(super) waits: Vec<Wait>,
}

impl Report {
    /// Returns the largest share of a second for which one of the command's threads waited for a
    /// processor.
    pub(super) fn worst_waiting(&self) -> Option<f64> {
        self.waits.iter().map(|wait| wait.share).max_by(f64::total_cmp)
    }
}

/// Replaces `{name}` by the IPv4 address and `{name.ipv6}` by the IPv6 address of the node with
/// this name.
pub(super) fn with_addresses(command: &str, nodes: &BTreeMap<String, NodeId>) -> String {
    let mut text = String::new();
    let mut rest = command;
    while let Some(open) = rest.find('{') {
        let (before, behind) = rest.split_at(open);
        text.push_str(before);
        let named = behind[1..].split_once('}').and_then(|(name, after)| {
            let (name, is_v6) = name.strip_suffix(".ipv6").map_or((name, false), |name| (name, true));
            let node = *nodes.get(name)?;
            let version = if is_v6 { IpVersion::V6 } else { IpVersion::V4 };
            Some((addresses::of(node, version).to_string(), after))
        });
        match named {
            Some((address, after)) => {
                text.push_str(&address);
                rest = after;
            }
            None => {
                text.push('{');
                rest = &behind[1..];
            }
        }
    }
    text + rest
}

/// Returns the nodes whose addresses `command` contains.
pub(super) fn nodes_in<'a>(
    command: &str,
    nodes: &'a BTreeMap<String, NodeId>,
) -> impl Iterator<Item = NodeId> + use<'a> {
    let command = command.to_owned();
    let is_named =
        move |name: &String| command.contains(&format!("{{{name}}}")) || command.contains(&format!("{{{name}.ipv6}}"));
    nodes.iter().filter(move |(name, _)| is_named(name)).map(|(_, node)| *node)
}

/// The thread that starts and ends the commands.
pub(super) struct Commands {
    stop: Arc<AtomicBool>,
    foreground_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<Outcomes>>>,
}

/// The outcomes of all commands.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    pub(super) reports: Vec<Report>,
    /// The time that threads which commands left in the background waited for a processor.
    pub(super) waits_of_orphans: Vec<Wait>,
}

impl Commands {
    /// Starts the thread. The commands start at their times.
    ///
    /// # Errors
    /// If the system does not allow another thread.
    pub(super) fn start(jobs: Vec<Job>, clock: WallClock) -> io::Result<Self> {
        let (stop, foreground_ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (is_over, tell) = (Arc::clone(&stop), Arc::clone(&foreground_ended));
        let supervise = move || supervise(jobs, clock, &is_over, &tell);
        let thread = std::thread::Builder::new().name("commands".to_owned()).spawn(supervise)?;
        Ok(Self { stop, foreground_ended, thread: Some(thread) })
    }

    /// Returns `true` if the command that uses the terminal has ended.
    pub(super) fn has_foreground_ended(&self) -> bool {
        self.foreground_ended.load(Ordering::Relaxed)
    }

    /// Ends all commands, and returns their outcomes.
    pub(super) fn finish(mut self) -> Result<Outcomes, Error> {
        self.stop.store(true, Ordering::Relaxed);
        let joined = self.thread.take().map(JoinHandle::join);
        let outcomes = joined.unwrap_or_else(|| Ok(Ok(Outcomes::default())));
        outcomes
            .unwrap_or_else(|_| Err(io::Error::other("the thread of the commands panicked")))
            .map_err(|source| Error::Host { what: "cannot run the commands".to_owned(), source })
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Running {
    job: Job,
    report: Report,
    child: Option<Child>,
    /// When the command was requested to end.
    asked: Option<Instant>,
    delays: RunDelays,
}

fn supervise(
    jobs: Vec<Job>,
    clock: WallClock,
    stop: &AtomicBool,
    foreground_ended: &AtomicBool,
) -> io::Result<Outcomes> {
    // All processes that the commands start end when this thread ends.
    let household = Household::new()?;
    clock.wait_for_start();
    let mut all: Vec<Running> = jobs.into_iter().map(|job| Running::new(job, clock.now())).collect();
    let (mut orphans, mut next_sample) = (RunDelays::new(clock.now()), clock.now());
    loop {
        let now = clock.now();
        if now >= next_sample {
            next_sample = now + SAMPLING;
            all.iter_mut().for_each(|running| running.sample(now));
            orphans.sample_descendants(now, household.first());
        }
        let is_over = stop.load(Ordering::Relaxed);
        for running in &mut all {
            running.supervise(&household, now, is_over);
            if running.job.is_foreground && running.has_ended() {
                foreground_ended.store(true, Ordering::Relaxed);
            }
        }
        if is_over && all.iter().all(|running| running.child.is_none()) {
            let reports = all.into_iter().map(|running| running.end(now)).collect();
            return Ok(Outcomes { reports, waits_of_orphans: orphans.finish(now) });
        }
        std::thread::sleep(std::time::Duration::from_nanos(PATIENCE.as_nanos()));
    }
}

impl Running {
    fn new(job: Job, now: Instant) -> Self {
        let report = Report {
            name: job.name.clone(),
            node: job.node.clone(),
            command: job.words.last().filter(|_| !job.is_foreground).cloned().unwrap_or_else(|| job.words.join(" ")),
            started: None,
            ended: None,
            status: None,
            signal: None,
            failure: None,
            is_foreground: job.is_foreground,
            waits: Vec::new(),
        };
        Self { job, report, child: None, asked: None, delays: RunDelays::new(now) }
    }

    /// Reads how long the command's threads have waited for a processor.
    fn sample(&mut self, now: Instant) {
        match &self.child {
            Some(child) => self.delays.sample_family(now, child.id()),
            None => self.delays.pass(now),
        }
    }

    fn end(self, now: Instant) -> Report {
        Report { waits: self.delays.finish(now), ..self.report }
    }

    const fn has_ended(&self) -> bool {
        self.report.ended.is_some() || self.report.failure.is_some()
    }

    fn supervise(&mut self, household: &Household, now: Instant, is_over: bool) {
        let has_begun = self.report.started.is_some() || self.report.failure.is_some();
        if !has_begun && !is_over && now >= self.job.start {
            match self.spawn(household) {
                Ok(child) => (self.child, self.report.started) = (Some(child), Some(now)),
                Err(error) => self.report.failure = Some(error.to_string()),
            }
        }
        let Some(child) = &mut self.child else { return };
        if let Ok(Some(status)) = child.try_wait() {
            self.report.ended = Some(now);
            (self.report.status, self.report.signal) = (status.code(), status.signal());
            self.child = None;
            return;
        }
        let is_due = is_over || self.job.stop.is_some_and(|stop| stop <= now);
        match self.asked {
            None if is_due => {
                self.asked = Some(now);
                acklab_live::household::ask_to_end(child);
            }
            Some(asked) if now.since(asked) > GRACE => acklab_live::household::force_to_end(child),
            _ => {}
        }
    }

    fn spawn(&self, household: &Household) -> io::Result<Child> {
        let job = &self.job;
        let mut command = Command::new(&job.words[0]);
        command.args(&job.words[1..]).envs(job.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &job.directory {
            command.current_dir(directory);
        }
        if !job.is_foreground {
            command.stdin(Stdio::null());
            acklab_live::household::lead_a_group(&mut command);
            match &job.output {
                Some(path) => {
                    let file = File::create(path)?;
                    command.stdout(file.try_clone()?).stderr(file);
                }
                // Standard output is reserved for the results.
                None => _ = command.stdout(Stdio::null()).stderr(Stdio::null()),
            }
        }
        household.start(command, &job.namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_with_the_name_of_a_node_are_its_address() {
        let nodes = BTreeMap::from([("ap".to_owned(), NodeId(0)), ("server".to_owned(), NodeId(1))]);
        let text = with_addresses("ping6 {server.ipv6}; awk '{print}' {server} ${HOME} {ap", &nodes);
        assert_eq!(text, "ping6 2001:db8::2; awk '{print}' 10.0.0.2 ${HOME} {ap");
        assert_eq!(nodes_in("curl http://{server}/", &nodes).collect::<Vec<_>>(), [NodeId(1)]);
    }
}
