//! Two hosts on this machine, and the cost of a transfer between them. Shared with
//! `benches/rivals`, which has other dependencies.

use bytes::Bytes;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::process::Command;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const REPEATS: usize = 3;
pub(crate) const CHUNK: usize = 1 << 18;
pub(crate) const HERE: &str = "10.200.0.1";
pub(crate) const THERE: &str = "10.200.0.2";

/// Returns the processor time of this process, in seconds.
pub(crate) fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Two hosts and the cable between them.
pub(crate) struct Hosts {
    names: [String; 2],
}

fn run(words: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    let status = Command::new(words[0]).args(&words[1..]).status().unwrap();
    assert!(status.success(), "{words:?}");
}

impl Hosts {
    pub(crate) fn new() -> Self {
        let names = ["here", "there"].map(|name| format!("acklab-{name}-{}", std::process::id()));
        let [here, there] = &names;
        names.iter().for_each(|name| run(&format!("ip netns add {name}")));
        run(&format!("ip link add bench0 netns {here} type veth peer name bench1 netns {there}"));
        for (name, device, address) in [(here, "bench0", HERE), (there, "bench1", THERE)] {
            run(&format!("ip -n {name} address add {address}/24 dev {device}"));
            run(&format!("ip -n {name} link set {device} up"));
            run(&format!("ip -n {name} link set lo up"));
        }
        Self { names }
    }

    pub(crate) fn set_mtu(&self, mtu: u32) {
        for (name, device) in self.names.iter().zip(["bench0", "bench1"]) {
            run(&format!("ip -n {name} link set {device} mtu {mtu}"));
        }
    }

    /// Limits the rate of the first host.
    pub(crate) fn limit(&self, rate: Option<&str>) {
        let name = &self.names[0];
        match rate {
            Some(rate) => {
                run(&format!("tc -n {name} qdisc add dev bench0 root tbf rate {rate} burst 128k latency 20ms"));
            }
            None => run(&format!("tc -n {name} qdisc del dev bench0 root")),
        }
    }

    /// Opens sockets on a host.
    pub(crate) fn on<T>(&self, host: usize, open: impl FnOnce() -> T) -> T {
        let own = File::open("/proc/thread-self/ns/net").unwrap();
        let other = File::open(format!("/run/netns/{}", self.names[host])).unwrap();
        move_into_link_name_space(other.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        let opened = open();
        move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        opened
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.names.iter().for_each(|name| run(&format!("ip netns del {name}")));
    }
}

pub(crate) fn address(host: &str, port: u16) -> SocketAddr {
    SocketAddr::new(host.parse().unwrap(), port)
}

/// The cost of one transfer.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) gigabits_per_second: f64,
    pub(crate) seconds_per_gigabyte: f64,
    pub(crate) acknowledgments: Option<u64>,
    pub(crate) packets: Option<u64>,
}

impl Cost {
    pub(crate) fn of(size: usize, start: Instant, before: f64) -> Self {
        let (took, spent, gigabytes) = (start.elapsed().as_secs_f64(), processor_time() - before, size as f64 / 1e9);
        Self {
            gigabits_per_second: gigabytes * 8.0 / took,
            seconds_per_gigabyte: spent / gigabytes,
            acknowledgments: None,
            packets: None,
        }
    }
}

fn pattern() -> Bytes {
    (0..CHUNK).map(|place| (place * 131 % 251) as u8).collect()
}

/// Returns the bytes to send: `size` bytes, in chunks.
pub(crate) fn chunks(size: usize) -> impl Iterator<Item = Bytes> {
    let pattern = pattern();
    (0..size).step_by(CHUNK).map(move |start| pattern.slice(..CHUNK.min(size - start)))
}

/// Receives and counts the bytes.
pub(crate) struct Sink {
    /// The expected value of the bytes.
    expected: Option<Bytes>,
    count: usize,
}

impl Sink {
    /// Creates a sink that counts octets, as `iperf3` does.
    pub(crate) const fn counting() -> Self {
        Self { expected: None, count: 0 }
    }

    /// Creates a sink that checks each octet as well. It fetches all of them into the caches of its
    /// processor.
    pub(crate) fn checking() -> Self {
        Self { expected: Some(pattern()), count: 0 }
    }

    pub(crate) fn take(&mut self, mut octets: &[u8]) {
        let Some(expected) = &self.expected else {
            self.count += octets.len();
            return;
        };
        while !octets.is_empty() {
            let expected = &expected[self.count % CHUNK..];
            let (head, tail) = octets.split_at(octets.len().min(expected.len()));
            assert!(head == &expected[..head.len()], "as it was sent");
            self.count += head.len();
            octets = tail;
        }
    }

    pub(crate) fn finish(&self, size: usize) {
        assert_eq!(self.count, size);
    }
}

/// Reads up to the end into a buffer.
pub(crate) async fn read(mut from: impl AsyncRead + Unpin, size: usize) {
    let (mut sink, mut buffer) = (Sink::counting(), vec![0; CHUNK]);
    while let read @ 1.. = from.read(&mut buffer).await.unwrap() {
        sink.take(&buffer[..read]);
    }
    sink.finish(size);
}

/// Writes from a buffer.
pub(crate) async fn write(to: &mut (impl AsyncWrite + Unpin), size: usize) {
    for chunk in chunks(size) {
        to.write_all(&chunk).await.unwrap();
    }
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

pub(crate) fn tell(name: &str, cost: &Cost) {
    let Cost { gigabits_per_second, seconds_per_gigabyte, acknowledgments, packets } = *cost;
    let count = |count: Option<u64>| count.map_or("–".to_owned(), |count| count.to_string());
    let each = match (packets, acknowledgments) {
        (Some(packets), Some(acks)) => format!("{:.1}", packets as f64 / acks.max(1) as f64),
        _ => "–".to_owned(),
    };
    let acks = count(acknowledgments);
    println!("{name:<34} {gigabits_per_second:>8.2} {seconds_per_gigabyte:>10.2} {acks:>10} {each:>16}");
}

/// Returns the lowest cost of several runs of each contender. The contenders take turns.
pub(crate) fn compare<C>(
    hosts: &Hosts,
    title: &str,
    size: usize,
    contenders: &[(&str, C)],
    transfer: impl Fn(&C, &Hosts, usize) -> Cost,
) {
    println!("\n{title:<34} {:>8} {:>10} {:>10} {:>16}", "Gbps", "CPU s/GB", "ACKs", "packets for one");
    let mut best: Vec<Option<Cost>> = vec![None; contenders.len()];
    for _ in 0..REPEATS {
        for ((_, contender), best) in contenders.iter().zip(&mut best) {
            let cost = transfer(contender, hosts, size);
            if best.is_none_or(|best| cost.seconds_per_gigabyte < best.seconds_per_gigabyte) {
                *best = Some(cost);
            }
        }
    }
    for ((name, _), cost) in contenders.iter().zip(best) {
        cost.iter().for_each(|cost| tell(name, cost));
    }
}
