//! Decides whether a flow of UDP is QUIC.
//!
//! One packet is enough if its long header is of a known version and all of its fields fit, or if
//! it is a Version Negotiation. An unregistered version number needs a response of the other end
//! with the IDs of the request. If the number exercises version negotiation, the size of a first
//! datagram is enough. Short headers alone need [`MIN_DATAGRAMS`](super::short::MIN_DATAGRAMS)
//! datagrams. Ports are not used.

use super::header::{Kind, LongHeader, is_long};
use super::short::Shorts;
use super::version::{self, Version};
use acklab_base::FlowKey;
use std::collections::BTreeMap;

/// The minimum size of a datagram with a client's first packet (RFC 9000, §14.1).
const MIN_FIRST: u32 = 1200;
/// Octets of a datagram that are stored while its flow is undetermined: those of a long header with
/// the longest IDs.
const MAX_KEPT: usize = 64;
/// The maximum number of undetermined flows. Above it, the oldest end, and their later datagrams
/// count as new flows.
const MAX_FLOWS: usize = 1 << 16;

/// A datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram<'a> {
    pub(crate) at: u64,
    /// Steps of the capture's clock before it.
    pub(crate) steps: u64,
    /// Its first octets.
    pub(crate) head: &'a [u8],
    /// The number of its octets.
    pub(crate) length: u32,
    /// Octets of the packet.
    pub(crate) wire: u64,
}

/// A datagram that waits until its flow is determined.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) at: u64,
    pub(crate) from: usize,
    steps: u64,
    head: Vec<u8>,
    length: u32,
    wire: u64,
}

impl Waiting {
    pub(crate) fn datagram(&self) -> Datagram<'_> {
        Datagram { at: self.at, steps: self.steps, head: &self.head, length: self.length, wire: self.wire }
    }
}

/// A flow that is QUIC, with the evidence and the datagrams so far.
#[derive(Clone, Debug)]
pub(crate) struct Recognised {
    pub(crate) evidence: String,
    /// The datagrams so far. The last of them decided.
    pub(crate) datagrams: Vec<Waiting>,
}

/// A flow that is undetermined, or not QUIC.
#[derive(Clone, Debug)]
struct Candidate {
    /// The direction of its first datagram.
    forward: FlowKey,
    last: u64,
    /// For each end, its last long header of an unknown version.
    requested: [Option<LongHeader>; 2],
    shorts: Shorts,
    waiting: Vec<Waiting>,
}

/// The flows of UDP that are not known to be QUIC.
#[derive(Clone, Debug, Default)]
pub(crate) struct Others {
    flows: BTreeMap<FlowKey, Candidate>,
    /// Flows that are no longer followed.
    ended: u64,
}

impl Others {
    /// Processes a datagram of a flow that is not known to be QUIC. The keys are those of its
    /// directions, the datagram's own first. Returns the flow when it becomes known to be QUIC. It
    /// is then no longer followed here.
    pub(crate) fn datagram(&mut self, [key, reverse]: [FlowKey; 2], datagram: &Datagram<'_>) -> Option<Recognised> {
        if self.flows.len() >= MAX_FLOWS {
            self.make_room();
        }
        let name = key.min(reverse);
        let flow = self.flows.entry(name).or_insert_with(|| Candidate {
            forward: key,
            last: datagram.at,
            requested: [None; 2],
            shorts: Shorts::default(),
            waiting: Vec::new(),
        });
        flow.last = flow.last.max(datagram.at);
        let evidence = flow.evidence(usize::from(flow.forward != key), datagram)?;
        let datagrams = self.flows.remove(&name)?.waiting;
        Some(Recognised { evidence, datagrams })
    }

    /// Returns the flows that were not recognised.
    pub(crate) fn count(&self) -> u64 {
        self.ended + self.flows.len() as u64
    }

    /// Ends those flows, half of all, that were silent for longest.
    #[cold]
    fn make_room(&mut self) {
        let mut order: Vec<(u64, FlowKey)> = self.flows.iter().map(|(key, flow)| (flow.last, *key)).collect();
        order.sort_unstable();
        order.truncate(order.len() / 2);
        self.ended += order.len() as u64;
        for (_, key) in order {
            self.flows.remove(&key);
        }
    }
}

impl Candidate {
    /// Processes a datagram of the end `from`. Returns the evidence that the flow is QUIC, if it is
    /// sufficient.
    fn evidence(&mut self, from: usize, datagram: &Datagram<'_>) -> Option<String> {
        if is_long(datagram.head) {
            let header = LongHeader::read(datagram.head, datagram.length as usize)?;
            self.keep(from, datagram);
            if let Some(evidence) = of_long(&header, datagram.length) {
                return Some(evidence);
            }
            if self.requested[1 - from].is_some_and(|requested| header.answers(&requested)) {
                return Some(format!(
                    "long headers of {} in both directions, the second to the connection id of the first (RFC 8999, section 5.1)",
                    version::name(header.number)
                ));
            }
            self.requested[from] = Some(header);
            return None;
        }
        if self.shorts.is_decided() {
            return None;
        }
        if !self.shorts.datagram(from, datagram.head) {
            // Earlier datagrams do not belong to a connection either.
            self.waiting.clear();
            return None;
        }
        self.keep(from, datagram);
        let evidence = self.shorts.evidence();
        if evidence.is_none() && self.shorts.is_decided() {
            self.waiting.clear();
        }
        evidence
    }

    fn keep(&mut self, from: usize, datagram: &Datagram<'_>) {
        const MAX_WAITING: usize = super::short::MIN_DATAGRAMS as usize;
        if self.waiting.len() == MAX_WAITING {
            self.waiting.remove(0);
        }
        let head = datagram.head[..datagram.head.len().min(MAX_KEPT)].to_vec();
        self.waiting.push(Waiting {
            at: datagram.at,
            from,
            steps: datagram.steps,
            head,
            length: datagram.length,
            wire: datagram.wire,
        });
    }
}

/// Returns the evidence of one long header, in a datagram of `length` octets.
fn of_long(header: &LongHeader, length: u32) -> Option<String> {
    let ids = [header.destination, header.source].map(|id| id.octets().len());
    let kind = match header.kind {
        Kind::Initial => "Initial packet",
        Kind::ZeroRtt => "0-RTT packet",
        Kind::Handshake => "Handshake packet",
        Kind::Retry => "Retry packet",
        Kind::Negotiation => "Version Negotiation packet",
        Kind::Unknown | Kind::Cut => "packet",
    };
    let what = match header.version {
        Version::Negotiation => "versions that are known".to_owned(),
        version if version.is_known() => version::name(header.number),
        Version::Greased if length >= MIN_FIRST => {
            format!("{}, which asks for other versions", version::name(header.number))
        }
        _ => return None,
    };
    if header.kind == Kind::Cut {
        return Some(format!("long header of {what}, cut by the capture, in a datagram of {length} bytes"));
    }
    Some(format!(
        "long header of {what}: {kind} with connection ids of {} and {} bytes, in a datagram of {length} bytes",
        ids[0], ids[1]
    ))
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::long;
    use super::*;

    const FLOW: [FlowKey; 2] = [FlowKey(1), FlowKey(2)];
    const BACK: [FlowKey; 2] = [FlowKey(2), FlowKey(1)];
    const ID: &[u8] = &[7; 8];

    fn pass(others: &mut Others, flow: [FlowKey; 2], head: &[u8]) -> Option<Recognised> {
        others.datagram(
            flow,
            &Datagram { at: 5, steps: 0, head, length: head.len() as u32, wire: 28 + head.len() as u64 },
        )
    }

    #[test]
    fn one_initial_packet_is_enough() {
        let mut others = Others::default();
        let initial = long(0xc3, 1, [ID, &[]], &[0, 0x44, 0x9e], 1200);
        let found = pass(&mut others, FLOW, &initial).unwrap();
        assert_eq!(
            found.evidence,
            "long header of version 1 (RFC 9000): Initial packet with connection ids of 8 and 0 bytes, in a datagram of 1200 bytes"
        );
        assert_eq!((found.datagrams.len(), others.count()), (1, 0));
    }

    #[test]
    fn a_version_that_nobody_knows_needs_an_answer() {
        let mut others = Others::default();
        let question = long(0xc0, 0x0bad_cafe, [ID, &[1; 5]], &[], 100);
        assert!(pass(&mut others, FLOW, &question).is_none());
        assert!(pass(&mut others, FLOW, &question).is_none());
        let found = pass(&mut others, BACK, &long(0xc0, 0x0bad_cafe, [&[1; 5], ID], &[], 100)).unwrap();
        assert_eq!(found.datagrams.iter().map(|waiting| waiting.from).collect::<Vec<_>>(), [0, 0, 1]);
    }

    #[test]
    fn a_greased_version_needs_the_size_of_a_first_datagram() {
        let greased = |length| long(0xc0, 0x1a2a_3a4a, [ID, ID], &[], length);
        assert!(pass(&mut Others::default(), FLOW, &greased(1199)).is_none());
        assert!(pass(&mut Others::default(), FLOW, &greased(1200)).is_some());
    }

    /// DNS over the ports of the example: identifications 0xc000 to 0xcfff.
    #[test]
    fn dns_is_another_protocol_whatever_its_identification() {
        let mut others = Others::default();
        for id in 0xc000..=0xcfff_u16 {
            for (flow, flags, answers) in [(FLOW, 0x0100_u16, 0), (BACK, 0x8180, 1), (FLOW, 0, 0)] {
                let mut dns = Vec::new();
                [id, flags, 1, answers, 0, 0].iter().for_each(|word| dns.extend_from_slice(&word.to_be_bytes()));
                dns.extend_from_slice(b"\x03www\x07example\x03com\x00\x00\x01\x00\x01");
                dns.resize(dns.len() + 16 * usize::from(answers), 0xc0);
                assert!(pass(&mut others, flow, &dns).is_none(), "{id:x}");
            }
        }
        assert_eq!(others.count(), 1);
    }

    #[test]
    fn the_number_of_flows_is_bounded() {
        let mut others = Others::default();
        for number in 0..(MAX_FLOWS as u64 + 10) {
            pass(&mut others, [FlowKey(2 * number), FlowKey(2 * number + 1)], b"text");
        }
        assert!(others.flows.len() <= MAX_FLOWS);
        assert_eq!(others.count(), MAX_FLOWS as u64 + 10);
    }
}
