//! Both directions of a connection, and its handshake.

use crate::quic::handshake::QuicHandshake;
use crate::quic::spin::Spins;
use crate::report::{Connection as Described, Protocol};
use crate::way::Way;
use acklab_wire::tcp::{Flags, Segment};
use std::net::SocketAddr;

/// The times of a handshake, by the end that opened the connection.
#[derive(Clone, Copy, Debug, Default)]
struct Handshake {
    opener: usize,
    syn: Option<u64>,
    syn_ack: Option<u64>,
    is_repeated: bool,
    is_complete: bool,
    scales: bool,
}

/// A connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) protocol: Protocol,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) packets: u64,
    pub(crate) octets: u64,
    handshake: Handshake,
    /// The directions, by the end that sends the data.
    pub(crate) ways: [Way; 2],
    quic_handshake: QuicHandshake,
    pub(crate) spins: Spins,
    offsets: [u64; 2],
}

impl Connection {
    pub(crate) fn new(ends: [SocketAddr; 2], protocol: Protocol, at: u64, runs: usize) -> Self {
        Self {
            ends,
            protocol,
            first: at,
            last: at,
            packets: 0,
            octets: 0,
            handshake: Handshake::default(),
            ways: [Way::new(runs), Way::new(runs)],
            quic_handshake: QuicHandshake::default(),
            spins: Spins::default(),
            offsets: [0; 2],
        }
    }

    /// The end `from` has sent a segment, in a packet of `wire` octets.
    #[inline]
    pub(crate) fn segment(&mut self, at: u64, from: usize, segment: &Segment, wire: u64, identification: Option<u16>) {
        if segment.flags.contains(Flags::SYN) {
            self.syn(at, from, segment);
        } else if !self.handshake.is_complete {
            self.after_handshake(at, from, segment);
        }
        self.ways[from].send(at, segment, wire);
        self.ways[1 - from].answer(at, segment, wire, identification);
    }

    #[cold]
    fn syn(&mut self, at: u64, from: usize, segment: &Segment) {
        let is_new = self.ways[from].begin(segment);
        let handshake = &mut self.handshake;
        handshake.is_repeated |= !is_new;
        if segment.flags.contains(Flags::ACK) {
            handshake.syn_ack = Some(at);
            handshake.scales &= segment.options.window_scale.is_some();
            let scales = handshake.scales;
            if let Some(syn) = handshake.syn.filter(|_| !handshake.is_repeated && handshake.opener != from) {
                // To the end that accepts and back.
                self.ways[1 - from].round_trip.handshake_ahead(at.saturating_sub(syn));
                self.ways[from].round_trip.handshake_behind(at.saturating_sub(syn));
            }
            self.ways[1 - from].offer(segment, scales);
        } else {
            handshake.opener = from;
            handshake.syn = Some(at);
            handshake.is_complete = false;
            handshake.scales = segment.options.window_scale.is_some();
            self.ways[1 - from].offer(segment, true);
        }
    }

    #[cold]
    fn after_handshake(&mut self, at: u64, from: usize, segment: &Segment) {
        let Handshake { opener, syn_ack, is_repeated, .. } = self.handshake;
        let Some(syn_ack) = syn_ack.filter(|_| from == opener && segment.flags.contains(Flags::ACK)) else { return };
        self.handshake.is_complete = true;
        if !is_repeated {
            // To the end that opens and back.
            self.ways[1 - from].round_trip.handshake_ahead(at.saturating_sub(syn_ack));
            self.ways[from].round_trip.handshake_behind(at.saturating_sub(syn_ack));
        }
    }

    /// The end `from` has sent a datagram of QUIC that begins with `head` and has `length` octets, in a packet of `wire` octets.
    pub(crate) fn datagram(&mut self, at: u64, from: usize, head: &[u8], length: u32, wire: u64) {
        let start = self.offsets[from];
        self.offsets[from] += u64::from(length);
        self.ways[from].count_datagram(at, start, length, wire);
        if let Some((client, sides)) = self.quic_handshake.packet(at, from, head) {
            let [one, other] = &mut self.ways;
            let (of_client, of_server) = if client == 0 { (one, other) } else { (other, one) };
            if let Some(nanos) = sides.to_server {
                of_client.round_trip.handshake_ahead(nanos);
                of_server.round_trip.handshake_behind(nanos);
            }
            if let Some(nanos) = sides.to_client {
                of_server.round_trip.handshake_ahead(nanos);
                of_client.round_trip.handshake_behind(nanos);
            }
        }
        let first = head.first().copied().unwrap_or_default();
        if let Some((end, whole)) = self.spins.packet(at, from, first) {
            self.ways[end].round_trip.whole(whole);
        }
    }

    /// What there is to tell of the connection.
    pub(crate) fn describe(&self) -> Described {
        Described::of(self)
    }
}
