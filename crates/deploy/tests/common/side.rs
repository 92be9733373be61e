//! A side of a proxy as a process, which can be killed and measured.

#![allow(dead_code, reason = "each test binary uses a part")]

use acklab_deploy::tools::proxy::{connect, listen};
use acklab_deploy::tools::trust::Trust;
use acklab_deploy::tools::{run_until, state};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// An environment variable of the process of a side: its task, as words.
const SIDE: &str = "ACKLAB_TEST_SIDE";
/// The prefix of the line with the words that other sides need.
const READY: &str = "ready ";
const HOST: &str = "127.0.0.1";

/// A running process.
pub(crate) struct Side {
    child: Child,
    /// Kept open for later output.
    _output: BufReader<ChildStdout>,
}

impl Side {
    /// Starts a process, and returns the words that it prints when it is ready.
    fn start(words: &str) -> (Self, String) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "side", "--nocapture"])
            .env(SIDE, words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let ready = output.by_ref().lines().map(Result::unwrap).find_map(|line| {
            let (_, ready) = line.split_once(READY)?;
            Some(ready.to_owned())
        });
        let ready = ready.unwrap_or_else(|| panic!("{words}: it does not begin"));
        (Self { child, _output: output }, ready)
    }

    /// Requests a stop. A process that has ended needs none.
    pub(crate) fn stop(&mut self) {
        _ = writeln!(self.child.stdin.as_mut().unwrap());
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.wait();
    }

    /// Returns the memory that the process occupies, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let fields = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).unwrap();
        fields.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * rustix::param::page_size() as u64
    }

    /// Limits the address space of the process to its current size plus `more`.
    pub(crate) fn limit_memory(&self, more: u64) {
        let fields = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).unwrap();
        let pages: u64 = fields.split_whitespace().next().unwrap().parse().unwrap();
        let limit = Some(pages * rustix::param::page_size() as u64 + more);
        let process = Pid::from_child(&self.child);
        prlimit(Some(process), Resource::As, Rlimit { current: limit, maximum: limit }).unwrap();
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn wait(&mut self) {
        // `Child::wait` would close the input, which requests a stop.
        while self.is_running() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

pub(crate) struct Far {
    pub(crate) side: Side,
    pub(crate) port: u16,
    pub(crate) fingerprint: String,
    pub(crate) token: String,
    folder: PathBuf,
    drain: Duration,
}

impl Far {
    pub(crate) fn start(drain: Duration) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("acklab-truncation-{}-{number}", std::process::id()));
        let (side, ready) = Side::start(&words("far", drain, [&folder.display().to_string(), "0"]));
        let [port, fingerprint, token] = ready.split(' ').collect::<Vec<_>>()[..] else { panic!("{ready}") };
        let (fingerprint, token) = (fingerprint.to_owned(), token.to_owned());
        Self { side, port: port.parse().unwrap(), fingerprint, token, folder, drain }
    }

    /// Kills the process, and starts another one with the same keys and the same port.
    pub(crate) fn restart(&mut self) {
        self.side.kill();
        let (folder, port) = (self.folder.display().to_string(), self.port.to_string());
        self.side = Side::start(&words("far", self.drain, [&folder, &port])).0;
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}

pub(crate) struct Near {
    pub(crate) side: Side,
    /// The address whose connections are forwarded to the target.
    pub(crate) address: SocketAddr,
}

impl Near {
    /// Starts a near side that reaches the far side at `port`.
    pub(crate) fn start(far: &Far, port: u16, target: u16, drain: Duration) -> Self {
        let (port, target) = (port.to_string(), target.to_string());
        let (side, ready) = Side::start(&words("near", drain, [&far.fingerprint, &far.token, &port, &target]));
        Self { side, address: ready.parse().unwrap() }
    }
}

fn words<const N: usize>(side: &str, drain: Duration, others: [&str; N]) -> String {
    format!("{side} {} {}", drain.as_millis(), others.join(" "))
}

/// Runs the process of a side. A line of its input is a request to stop, and the end of the input
/// is two.
pub(crate) fn run() {
    let Ok(words) = std::env::var(SIDE) else { return };
    let demands = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&demands);
    std::thread::spawn(move || {
        std::io::stdin().lines().map_while(Result::ok).for_each(|_| _ = counter.fetch_add(1, Ordering::Relaxed));
        counter.store(2, Ordering::Relaxed);
    });
    let demands = || demands.load(Ordering::Relaxed);
    let drain = |text: &str| Duration::from_millis(text.parse().unwrap());
    match words.split(' ').collect::<Vec<_>>()[..] {
        ["far", time, folder, port] => {
            let folder = PathBuf::from(folder);
            let options = listen::Options {
                addresses: vec![HOST.parse().unwrap()],
                port: port.parse().unwrap(),
                identity: state::identity(&folder).unwrap(),
                reset_key: state::reset_key(&folder).unwrap(),
                token: state::token(&folder).unwrap(),
                allow: vec!["*".parse().unwrap()],
            };
            let token = options.token.to_string();
            let tool = |stop| {
                listen::listen(options, stop, |far| println!("{READY}{} {} {token}", far.port, far.fingerprint), |_| {})
            };
            run_until(demands, drain(time), tool).unwrap();
        }
        ["near", time, fingerprint, token, port, target] => {
            let options = connect::Options {
                host: HOST.to_owned(),
                port: port.parse().unwrap(),
                trust: Trust::Fingerprint(fingerprint.parse().unwrap()),
                token: token.parse().unwrap(),
                socks: None,
                forwards: vec![format!("0:{HOST}:{target}").parse().unwrap()],
                keys: None,
            };
            let tool = |stop| connect::connect(options, stop, |bound| println!("{READY}{}", bound[0]), |_| {});
            run_until(demands, drain(time), tool).unwrap();
        }
        _ => panic!("{words}"),
    }
}
