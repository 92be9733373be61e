//! Tests properties of any text as a trace. The tests of this crate and the fuzz target
//! `link_trace` share them.

use acklab_base::random::Seed;
use acklab_base::{AckHeader, Bytes, Datagram, Duration, Ecn, FlowKey, Instant, Machine, NodeId};
use acklab_path::link::{Link, LinkConfig};
use acklab_path::server::{Server, Trace};

/// The bytes of a delivery opportunity (Netravali et al., "Mahimahi", USENIX ATC 2015, §4.1).
const OPPORTUNITY: u64 = 1504;
const PACKETS: u64 = 64;

/// A packet that takes a whole opportunity.
#[derive(Clone, Copy, Debug)]
struct Packet;

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        Bytes(OPPORTUNITY)
    }
    fn flow(&self) -> FlowKey {
        FlowKey(0)
    }
    fn destination(&self) -> NodeId {
        NodeId(0)
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ecn(&mut self, _: Ecn) {}
    fn ack_header(&self) -> Option<AckHeader> {
        None
    }
}

/// Checks that any text is either refused with a message of one line, or serves packets in order.
/// It serves at most as many packets as it has opportunities.
///
/// # Panics
/// If the property fails.
pub(crate) fn traces_are_served_or_refused(octets: &[u8]) {
    let text = String::from_utf8_lossy(octets);
    let trace = match Trace::parse(&text) {
        Ok(trace) => trace,
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains(char::is_control), "{message:?}");
            return;
        }
    };
    let server = Server::Trace(trace);
    let mut link = Link::new(&LinkConfig::default(), server.clone(), Seed(1), "link");
    for _ in 0..PACKETS {
        link.accept(Instant::ZERO, Packet);
    }
    let (mut served, mut at_once) = (0, 0);
    while let Some(at) = link.deadline() {
        let before = served;
        while link.poll(at).is_some() {
            served += 1;
        }
        assert!(served > before, "a deadline is that of a packet");
        let time = at.since(Instant::ZERO);
        if time == Duration::ZERO {
            at_once = served;
        } else if time < Duration::from_secs(1 << 30) {
            let rate = server.mean_rate(&(Instant::ZERO..at)).expect("a trace has a rate");
            let opportunities = (rate * time.as_secs_f64() / 8.0 / OPPORTUNITY as f64).round() as u64;
            assert!(served - at_once <= opportunities, "{served} packets in {opportunities}");
        }
    }
    // Each packet takes an opportunity, and each period has at least one opportunity. After the
    // last instant, no packet leaves.
    let last = text.split_whitespace().filter_map(|word| word.parse::<u64>().ok()).max().unwrap_or(0);
    let is_in_time = last.saturating_mul(PACKETS + 1) < u64::MAX / 1_000_000;
    assert!(served == PACKETS || !is_in_time, "{served} packets leave in the end");
}
