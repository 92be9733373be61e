//! Converts the numbers of a script to those on the wire and back. Sequence numbers in a script
//! start at the initial sequence number of each direction, and timestamps at the first timestamp.

use crate::script::{Mark, Packet};
use acklab_base::Ecn;
use acklab_wire::tcp::{Flags, SackBlock, SackBlocks, Segment, SeqNumber, Timestamps};
use std::collections::BTreeMap;

/// The peer's initial sequence number. It is close to the end of the number space, so that longer
/// scripts wrap.
const PEER: SeqNumber = SeqNumber(u32::MAX - 2500);

/// The numbers of a connection.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The initial sequence number of the machine, once a SYN was sent.
    own: SeqNumber,
    /// The initial sequence number of the machine's SYN in the script, usually zero.
    own_in_script: u32,
    peer_in_script: u32,
    /// Sent timestamps, by their value in the script.
    timestamps: BTreeMap<u32, u32>,
    /// The first sent timestamp, in the script and on the wire.
    first: Option<(u32, u32)>,
}

impl Numbers {
    /// Returns `packet` as a segment that arrives. If `scales_echoes` is `true`, a timestamp that
    /// was never sent is determined by its distance from the first. Returns `None` if it echoes an
    /// unknown timestamp.
    pub(crate) fn arriving(&mut self, packet: &Packet, scales_echoes: bool) -> Option<Segment> {
        let is_syn = packet.flags.contains(Flags::SYN);
        let has_ack = packet.flags.contains(Flags::ACK);
        if is_syn {
            self.peer_in_script = packet.seq;
        }
        let peer = PEER.0.wrapping_sub(if is_syn { self.peer_in_script } else { 0 });
        let own = self.own.0.wrapping_sub(if is_syn { self.own_in_script } else { 0 });
        let mut options = packet.options.unwrap_or_default();
        options.sack = shifted(&options.sack, own);
        if let Some(timestamps) = &mut options.timestamps
            && has_ack
        {
            timestamps.echo = self.echo(timestamps.echo, scales_echoes)?;
        }
        Some(Segment {
            ecn: if let Mark::Is(codepoint) = packet.ecn { codepoint } else { Ecn::NotEct },
            seq: SeqNumber(packet.seq.wrapping_add(peer)),
            ack: SeqNumber(if has_ack { packet.ack.wrapping_add(own) } else { 0 }),
            flags: packet.flags,
            window: packet.window.unwrap_or_default(),
            options,
            payload: packet.payload,
        })
    }

    /// Records the initial sequence number of the machine, if the sent `segment` is a SYN.
    pub(crate) fn note_initial(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) {
            self.own = segment.seq;
        }
    }

    fn echo(&self, script: u32, scales_echoes: bool) -> Option<u32> {
        let exact = self.timestamps.get(&script).copied();
        let scaled = || {
            let (first, on_wire) = self.first.filter(|_| scales_echoes)?;
            Some(script.wrapping_sub(first).wrapping_add(on_wire))
        };
        exact.or_else(scaled)
    }

    /// Returns the sent `segment` in the numbers of the script, to be compared with `expected`.
    pub(crate) fn left(&mut self, segment: &Segment, expected: Option<&Packet>) -> Packet {
        let is_syn = segment.flags.contains(Flags::SYN);
        if is_syn {
            self.own = segment.seq;
            self.own_in_script = expected.map_or(0, |packet| packet.seq);
        }
        let own = self.own.0.wrapping_sub(if is_syn { self.own_in_script } else { 0 });
        let peer = PEER.0.wrapping_sub(if is_syn { self.peer_in_script } else { 0 });
        let mut options = segment.options;
        options.sack = shifted(&options.sack, 0u32.wrapping_sub(peer));
        let in_script = expected.and_then(|packet| packet.options).and_then(|options| options.timestamps);
        if let Some(timestamps) = &mut options.timestamps {
            *timestamps = self.timestamps_in_script(*timestamps, in_script);
        }
        let has_ack = segment.flags.contains(Flags::ACK);
        Packet {
            flags: segment.flags,
            has_ace: expected.is_some_and(|packet| packet.has_ace),
            seq: segment.seq.0.wrapping_sub(own),
            payload: segment.payload,
            ack: if has_ack { segment.ack.0.wrapping_sub(peer) } else { 0 },
            window: Some(segment.window),
            ecn: Mark::Is(segment.ecn),
            options: Some(options),
        }
    }

    fn timestamps_in_script(&mut self, left: Timestamps, expected: Option<Timestamps>) -> Timestamps {
        if let Some(expected) = expected {
            self.timestamps.insert(expected.value, left.value);
            self.first.get_or_insert((expected.value, left.value));
        }
        let value = self.first.map_or(left.value, |(script, wire)| left.value.wrapping_sub(wire).wrapping_add(script));
        Timestamps { value, echo: left.echo }
    }
}

fn shifted(blocks: &SackBlocks, by: u32) -> SackBlocks {
    let shifted = |number: SeqNumber| SeqNumber(number.0.wrapping_add(by));
    blocks.as_slice().iter().map(|block| SackBlock { start: shifted(block.start), end: shifted(block.end) }).collect()
}
