//! Processes arriving datagrams and expired timers.

use crate::connection::Connection;
use crate::datagram::Datagram;
use crate::tap::Packet;
use crate::watch::STREAM;
use acklab_base::{Ecn, Fate, Instant};
use acklab_transport::reading::Reading;
use acklab_wire::quic::Frame;
use bytes::BytesMut;
use quinn_proto::{DatagramEvent, EcnCodepoint};

/// The reason for which a datagram is ignored: none of its packets could be decrypted.
const UNREADABLE: &str = "refused_unreadable";

impl Connection {
    /// Processes a datagram. quinn-proto does not report whether a decrypted packet is a duplicate.
    pub(crate) fn input(&mut self, now: Instant, datagram: &Datagram) -> Fate {
        let before = self.stream_events.is_recording().then(|| self.stream_state());
        if datagram.payload > 0 {
            self.newest_arrival = now;
        }
        self.pass_on(now, datagram);
        let decrypted = self.tap.take_decrypted();
        let received = self.incoming.octets.received();
        for packet in datagram.packets.iter() {
            if decrypted.contains(&(packet.space, packet.number)) {
                self.record(now, packet);
            }
        }
        self.counters.acks_received += u64::from(datagram.acknowledges && datagram.payload == 0);
        self.counters.arrived_packets += u64::from(self.incoming.octets.received() > received);
        self.counters.marked_packets += u64::from(datagram.ecn == Ecn::Ce && datagram.payload > 0);
        self.follow_up(now);
        if let Some(before) = before {
            self.stream_events.push_changes(STREAM, &before, &self.stream_state());
        }
        if decrypted.is_empty() { Fate::Refused(UNREADABLE) } else { Fate::Taken }
    }

    /// Passes the bytes to quinn-proto.
    fn pass_on(&mut self, now: Instant, datagram: &Datagram) {
        let (at, peer) = (self.epoch.to_std(now), self.peer());
        let ecn = EcnCodepoint::from_bits(datagram.ecn.bits());
        let octets = BytesMut::from(&datagram.octets[..]);
        let mut response = Vec::new();
        let (endpoint, connection) = (&mut self.endpoint, &mut self.connection);
        let accepted = self.entropy.lend(|| {
            match endpoint.handle(at, peer, None, ecn, octets, &mut response)? {
                DatagramEvent::ConnectionEvent(_, event) => {
                    if let Some((_, connection)) = connection {
                        connection.handle_event(event);
                    }
                }
                DatagramEvent::NewConnection(incoming) if connection.is_none() => {
                    return endpoint.accept(incoming, at, &mut response, None).ok();
                }
                // The flow has only one connection.
                DatagramEvent::NewConnection(incoming) => endpoint.ignore(incoming),
                DatagramEvent::Response(_) => {}
            }
            None
        });
        if accepted.is_some() {
            self.connection = accepted;
        }
        if !response.is_empty() {
            self.outside.push_back(response);
        }
    }

    /// Records the content of a packet that quinn-proto could decrypt.
    fn record(&mut self, now: Instant, packet: &Packet) {
        for frame in packet.frames.iter() {
            match frame {
                Frame::Ack(ack) => {
                    self.counters.ack_frames_received += 1;
                    self.sender.on_acked(now, packet.space, &ack.ranges);
                }
                Frame::Stream(stream) => {
                    if stream.length > 0 {
                        self.note_arrival(stream.offset..stream.end());
                        self.incoming.octets.insert(stream.offset..stream.end());
                    }
                    if stream.is_end {
                        self.incoming.end = Some(stream.end());
                    }
                }
                _ => {}
            }
        }
    }

    pub(crate) fn expire(&mut self, now: Instant) {
        let at = self.epoch.to_std(now);
        self.sender.wake_controller(now);
        if let Some((_, connection)) = &mut self.connection {
            if connection.poll_timeout().is_some_and(|due| due <= at) {
                self.entropy.lend(|| connection.handle_timeout(at));
            }
            self.follow_up(now);
        }
    }

    /// Handles readable data on the peer's stream.
    pub(crate) fn on_readable(&mut self, now: Instant) {
        match self.reading {
            Reading::AtOnce => _ = self.read_octets(now, u64::MAX),
            // Only the end of the stream is unread, and the application will not read it.
            Reading::OnDemand if self.incoming.end == Some(self.incoming.read) => _ = self.read_octets(now, 0),
            Reading::OnDemand => {}
        }
    }

    /// Reads at most `maximum` bytes of the peer's stream. Returns the number of bytes read.
    pub(crate) fn read_octets(&mut self, now: Instant, maximum: u64) -> u64 {
        let (Some(stream), Some((_, connection))) = (self.incoming.stream, &mut self.connection) else { return 0 };
        let mut recv = connection.recv_stream(stream);
        let Ok(mut chunks) = recv.read(true) else { return 0 };
        let mut left = maximum;
        loop {
            let is_last = self.incoming.end == Some(self.incoming.read);
            if left == 0 && !is_last {
                break;
            }
            match chunks.next(usize::try_from(left).unwrap_or(usize::MAX)) {
                Ok(Some(chunk)) => {
                    let octets = chunk.bytes.len() as u64;
                    left -= octets;
                    self.incoming.read += octets;
                }
                Ok(None) => {
                    self.incoming.is_at_end = true;
                    break;
                }
                Err(_) => break,
            }
        }
        if chunks.finalize().should_transmit() {
            self.is_idle = false;
        }
        if self.incoming.is_at_end {
            self.close_if_done(now);
        }
        maximum - left
    }
}
