//! A custom transport: `cargo run --profile quick -p acklab-lab --example own_transport`
//!
//! Stop-and-wait ARQ: one packet is in flight, and the next is sent when it is acknowledged.
//! Packets and acknowledgments carry one bit, the parity of the packet's number (Bartlett,
//! Scantlebury and Wilkinson, CACM 12(5), 1969); a packet that is not acknowledged in time is
//! retransmitted. This file contains both endpoints, their packets and their settings. The network,
//! probes, tables, series and captures use only the contracts that it implements.

use acklab_base::endpoint::counter;
use acklab_base::{
    Bytes, Content, CounterValue, Duration, Ecn, Endpoint, Event, Fate, Instant, Machine, Port, StreamPort, Vitals,
};
use acklab_lab::transports::{Endpoints, TransportStart};
use acklab_lab::{Results, RunOptions, Strategies, run, scenario};
use acklab_wire::ipv4::{self, Carried, Extent, IPV4_HEADER, Ipv4Fields};
use acklab_wire::pdu::{EncodeError, Pdu};
use std::error::Error;
use std::path::PathBuf;

const SCENARIO: &str = r#"
duration = "10s"
seed = 42

[[link]]
name = "wire"
from = "a"
to = "b"
forward = { rate = "10Mbps", delay = "5ms", loss = { model = "independent", probability = 0.01 } }
reverse = { rate = "10Mbps", delay = "5ms" }

[[flow]]
name = "arq"
from = "a"
to = "b"
transport = { protocol = "custom", name = "stop-and-wait", timeout = "50ms" }
traffic = { model = "fixed", size = "500kB" }

[measure]
series = ["operating_point", "throughput", "packets", "events"]

[[capture]]
point = "a"
file = "a.pcapng"
"#;

/// The first of IP's experimental protocol numbers (RFC 3692, §2.1).
const PROTOCOL: u8 = 253;
const PAYLOAD: u64 = 1000;
/// Header octets: the parity, and whether the frame is an acknowledgment.
const HEADER: u64 = 2;

/// A data frame, or without payload an acknowledgment.
#[derive(Clone, Copy, Debug)]
struct Frame {
    parity: bool,
    payload: u32,
    /// The offset of its data in the stream. It is not transmitted: with one packet in flight, both
    /// ends know it.
    offset: u64,
}

impl Pdu for Frame {
    fn protocol(&self) -> u8 {
        PROTOCOL
    }

    fn wire_len(&self) -> Bytes {
        Bytes(IPV4_HEADER + HEADER + u64::from(self.payload))
    }

    fn payload(&self) -> u32 {
        self.payload
    }

    fn encode(
        &self,
        endpoints: acklab_wire::Endpoints,
        fields: Ipv4Fields,
        extent: Extent,
        octets: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let header = [self.parity.into(), u8::from(self.payload == 0)];
        let carried = Carried { protocol: PROTOCOL, ecn: Ecn::NotEct, header: &header, payload: self.payload };
        Ok(ipv4::encode(&carried, endpoints, fields, extent, octets)?)
    }
}

/// The sender. Its application has written all octets below `written`, and the peer has received
/// all below `acknowledged`.
#[derive(Default)]
struct Sender {
    timeout: Duration,
    is_open: bool,
    is_closed: bool,
    written: u64,
    acknowledged: u64,
    parity: bool,
    /// When the packet in flight was sent, and whether it must be retransmitted.
    outstanding: Option<(Instant, bool)>,
    rtt: (u64, Duration),
    packets: u64,
    retransmissions: u64,
    event: Option<Event>,
}

impl Sender {
    const fn unacknowledged(&self) -> u64 {
        self.written - self.acknowledged
    }
}

impl Machine for Sender {
    type Datagram = Frame;
    type Outcome = Fate;

    fn accept(&mut self, now: Instant, frame: Frame) -> Fate {
        let Some((sent_at, _)) = self.outstanding.take_if(|_| frame.parity == self.parity) else {
            return Fate::Duplicate;
        };
        self.rtt = (self.rtt.0 + 1, now.since(sent_at));
        (self.acknowledged, self.parity) = (self.written, !self.parity);
        if self.is_closed {
            self.event = Some(Event::Finished);
        }
        Fate::Taken
    }

    fn wake(&mut self, now: Instant) {
        if let Some((_, again)) = self.outstanding.as_mut().filter(|(sent_at, _)| *sent_at + self.timeout <= now) {
            *again = true;
            self.event = Some(Event::RetransmissionTimeout { backoff: 1 });
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.outstanding.map(|(sent_at, _)| sent_at + self.timeout)
    }

    fn poll(&mut self, now: Instant) -> Option<Frame> {
        let again = match self.outstanding {
            None => false,
            Some((_, true)) => true,
            Some((_, false)) => return None,
        };
        if self.unacknowledged() == 0 {
            return None;
        }
        (self.packets, self.retransmissions) = (self.packets + 1, self.retransmissions + u64::from(again));
        self.outstanding = Some((now, false));
        Some(Frame { parity: self.parity, payload: self.unacknowledged() as u32, offset: self.acknowledged })
    }
}

impl StreamPort for Sender {
    fn open(&mut self, _: Instant) {
        self.is_open = true;
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn room(&self) -> u64 {
        if self.unacknowledged() == 0 { PAYLOAD } else { 0 }
    }

    fn write(&mut self, _: Instant, octets: u64) -> u64 {
        let taken = octets.min(self.room());
        self.written += taken;
        taken
    }

    fn close(&mut self, _: Instant) {
        self.is_closed = true;
    }
}

impl Endpoint for Sender {
    fn vitals(&self) -> Vitals {
        Vitals {
            window: Some(PAYLOAD),
            in_flight: Some(if self.outstanding.is_some() { self.unacknowledged() } else { 0 }),
            rtt_samples: self.rtt.0,
            latest_rtt: self.rtt.1,
            smoothed_rtt: (self.rtt.0 > 0).then_some(self.rtt.1),
            written: self.written,
            acknowledged: self.acknowledged,
            ..Vitals::default()
        }
    }

    fn content(&self, frame: &Frame) -> Content {
        Content { payload: frame.payload, acknowledges: frame.payload == 0 }
    }

    fn offset(&self, frame: &Frame) -> u64 {
        frame.offset
    }

    fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        to(counter::DATA_PACKETS, "packets", CounterValue::Count(self.packets));
        to(counter::RETRANSMISSIONS, "packets", CounterValue::Count(self.retransmissions));
        to(counter::ACKNOWLEDGED_BYTES, "B", CounterValue::Count(self.acknowledged));
    }

    fn take_event(&mut self) -> Option<Event> {
        self.event.take()
    }

    fn port(&mut self) -> Port<'_> {
        Port::Stream(self)
    }
}

/// The receiver. It acknowledges each packet at once, including duplicates.
#[derive(Default)]
struct Receiver {
    expected: bool,
    received: u64,
    due: Option<Frame>,
    acks: u64,
}

impl Machine for Receiver {
    type Datagram = Frame;
    type Outcome = Fate;

    fn accept(&mut self, _: Instant, frame: Frame) -> Fate {
        self.due = Some(Frame { payload: 0, ..frame });
        if frame.parity != self.expected {
            return Fate::Duplicate;
        }
        (self.received, self.expected) = (self.received + u64::from(frame.payload), !self.expected);
        Fate::Taken
    }

    fn wake(&mut self, _: Instant) {}

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn poll(&mut self, _: Instant) -> Option<Frame> {
        self.acks += u64::from(self.due.is_some());
        self.due.take()
    }
}

impl Endpoint for Receiver {
    fn vitals(&self) -> Vitals {
        Vitals { received: self.received, read: Some(self.received), ..Vitals::default() }
    }

    fn content(&self, frame: &Frame) -> Content {
        Content { payload: frame.payload, acknowledges: frame.payload == 0 }
    }

    fn offset(&self, frame: &Frame) -> u64 {
        frame.offset
    }

    fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        to(counter::ACKS_SENT, "packets", CounterValue::Count(self.acks));
    }

    fn port(&mut self) -> Port<'_> {
        Port::None
    }
}

/// Creates both endpoints of a flow, with the settings of the scenario.
fn stop_and_wait(start: &TransportStart<'_>) -> Result<Endpoints, String> {
    let setting = start.settings.get("timeout").and_then(|value| value.as_str()).unwrap_or("1s");
    let timeout =
        setting.parse().map_err(|_| format!("timeout: found \"{setting}\", expected a duration such as \"50ms\""))?;
    let sender = Sender { timeout, ..Sender::default() };
    Ok(Endpoints::new(PROTOCOL, sender, Receiver::default(), Bytes(PAYLOAD), Bytes(IPV4_HEADER + HEADER)))
}

/// Runs the scenario with the changes in `sets`, and with captures in the given folder, if any.
pub(crate) fn results(sets: &[String], captures: Option<PathBuf>) -> Result<Results, Box<dyn Error>> {
    let strategies = Strategies::default().with_transport("stop-and-wait", stop_and_wait);
    let scenario = scenario::load_for(SCENARIO, "own_transport", sets, None, &strategies)?;
    Ok(run(&scenario, &RunOptions { captures, strategies, ..RunOptions::default() }, || true)?)
}

#[allow(dead_code, reason = "the tests have this file as a module")]
fn main() -> Result<(), Box<dyn Error>> {
    let captures = PathBuf::from("out/own_transport");
    std::fs::create_dir_all(&captures)?;
    for table in results(&[], Some(captures))?.tables {
        let batch = table.clone().into_arrow()?;
        println!("{:<16} {:>5} rows, {} columns", table.name(), batch.num_rows(), batch.num_columns());
    }
    Ok(())
}
