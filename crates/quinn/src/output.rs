//! Builds outgoing datagrams.

use crate::connection::Connection;
use crate::datagram::Datagram;
use crate::tap::{Packet, Space};
use acklab_base::{Ecn, Instant};
use acklab_wire::quic::Frame;
use bytes::Bytes;
use quinn_proto::EcnCodepoint;

/// The minimum number of unsent bytes in quinn-proto, as a multiple of a datagram. Other unsent
/// bytes remain in acklab's buffer, where they can be discarded.
const LEAD: u64 = 4;
/// The minimum size of a piece passed to quinn-proto, as a fraction of the outstanding bytes: 1
/// divided by this. For each packet, quinn-proto searches a list of the unacknowledged pieces
/// (`SendBuffer::get`). If each piece were one datagram, the cost per packet would be proportional
/// to the window.
const PIECES: u64 = 16;
/// The content of all streams.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

impl Connection {
    /// Returns the next datagram that must be sent now. The passing of time has no effect before
    /// the deadline.
    pub(crate) fn output(&mut self, now: Instant) -> Option<Datagram> {
        if self.is_idle {
            return None;
        }
        if let Some(octets) = self.outside.pop_front() {
            self.counters.udp_bytes += octets.len() as u64;
            return Some(Datagram::new(octets, Ecn::NotEct, self.tap.take_encrypted(), None));
        }
        let held = self.held_until(now);
        if held.is_none()
            && let Some(datagram) = self.transmit(now)
        {
            return Some(datagram);
        }
        self.note_limit();
        self.is_idle = true;
        self.deadline = self.next_deadline(now, held);
        None
    }

    /// Returns when the controller permits data to be sent, if its rate blocks them now. If the
    /// window is full, quinn-proto sends only probes (RFC 9002, §6.2.4), which are not paced.
    fn held_until(&self, now: Instant) -> Option<Instant> {
        let is_everything_acknowledged = self.sender.acknowledged().next() == self.outgoing.buffer.sendable();
        if is_everything_acknowledged || !self.is_open || !self.sender.has_room(self.settings.datagram()) {
            return None;
        }
        self.sender.holds_until(now)
    }

    /// Returns `true` if there is new data to send.
    pub(crate) fn has_data(&self) -> bool {
        self.is_open && self.outgoing.buffer.sendable() > self.sender.sent()
    }

    fn next_deadline(&mut self, now: Instant, held: Option<Instant>) -> Option<Instant> {
        let (_, connection) = self.connection.as_mut()?;
        let due = connection.poll_timeout().map(|at| self.epoch.of_std(at).max(now));
        let controller = self.sender.controller_at().map(|at| at.max(now));
        Instant::earliest(Instant::earliest(due, held), controller)
    }

    fn transmit(&mut self, now: Instant) -> Option<Datagram> {
        self.hand_over();
        let at = self.epoch.to_std(now);
        let (_, connection) = self.connection.as_mut()?;
        let mut octets = Vec::with_capacity(self.settings.datagram() as usize);
        let transmit = self.entropy.lend(|| connection.poll_transmit(at, 1, &mut octets));
        let packet_size = u64::from(connection.current_mtu());
        let packets = self.tap.take_encrypted();
        let Some(transmit) = transmit else {
            self.note_application_limit();
            return None;
        };
        let is_mtu_probe = octets.len() as u64 > packet_size;
        for packet in &packets {
            self.sender.on_sent(now, packet, is_mtu_probe);
            self.count(packet);
        }
        self.counters.udp_bytes += octets.len() as u64;
        let ecn = match transmit.ecn {
            Some(EcnCodepoint::Ect0) if self.settings.ecn => Ecn::Ect0,
            _ => Ecn::NotEct,
        };
        self.follow_up(now);
        let datagram = Datagram::new(octets, ecn, packets, self.log.lines());
        self.counters.acks_sent += u64::from(datagram.acknowledges && datagram.payload == 0);
        self.last_carried_data = datagram.payload > 0;
        Some(datagram)
    }

    fn count(&mut self, packet: &Packet) {
        self.counters.packets += 1;
        self.counters.overhead_bytes += u64::from(packet.overhead);
        if packet.space != Space::Data {
            self.counters.handshake_bytes += u64::from(packet.length);
        }
        let acks = packet.frames.iter().filter(|frame| matches!(frame, Frame::Ack(_))).count();
        self.counters.ack_frames_sent += acks as u64;
    }

    /// Records that quinn-proto has nothing to send. If no written data are unsent, the application
    /// is the limit.
    fn note_application_limit(&mut self) {
        if self.is_open && !self.has_data() {
            self.sender.on_app_limited();
        }
    }

    /// Records why nothing is sent. The data accepted by quinn-proto are within the peer's flow
    /// control. If some are unsent, the limit is the window or pacing. The pacing is that of
    /// quinn-proto, or of a controller that sets a rate.
    fn note_limit(&mut self) {
        let Some((_, connection)) = &self.connection else { return };
        let packet = connection.current_mtu().into();
        let sent = self.sender.sent();
        let delayed =
            if self.outgoing.handed > sent { self.outgoing.buffer.sendable().saturating_sub(sent) } else { 0 };
        self.sender.note_limit(packet, delayed);
    }

    /// Passes the application's data that will be sent soon to quinn-proto.
    fn hand_over(&mut self) {
        let (Some(stream), Some((_, connection))) = (self.outgoing.stream, &mut self.connection) else { return };
        let outgoing = &mut self.outgoing;
        if outgoing.is_finished {
            return;
        }
        let (sent, acknowledged) = (self.sender.sent(), self.sender.acknowledged().next());
        let lead = LEAD * self.settings.datagram();
        let end = outgoing.buffer.sendable().min(end_of_piece(sent, acknowledged, outgoing.handed, lead));
        let mut send = connection.send_stream(stream);
        while outgoing.handed < end {
            let octets = ZEROS.len().min((end - outgoing.handed) as usize);
            match send.write_chunks(&mut [Bytes::from_static(&ZEROS[..octets])]) {
                Ok(written) => outgoing.handed += written.bytes as u64,
                Err(_) => return,
            }
        }
        if outgoing.buffer.end() == Some(outgoing.handed) {
            outgoing.is_finished = send.finish().is_ok();
        }
    }
}

/// Returns the offset up to which available data are passed to quinn-proto. quinn-proto has the
/// bytes below `handed`, has sent the bytes below `sent`, and the bytes below `acknowledged` have
/// arrived. It requires at least `lead` unsent bytes.
fn end_of_piece(sent: u64, acknowledged: u64, handed: u64, lead: u64) -> u64 {
    if handed >= sent + lead {
        return handed;
    }
    sent + (2 * lead).max(sent.saturating_sub(acknowledged) / PIECES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 50,000 packets; each ACK that arrives releases one packet.
    #[test]
    fn what_is_outstanding_is_handed_over_in_few_pieces() {
        const DATAGRAM: u64 = 1200;
        let (mut sent, mut handed, mut ends) = (0, 0, std::collections::VecDeque::new());
        for acknowledged in (0..100_000).map(|packet: u64| packet.saturating_sub(50_000) * DATAGRAM) {
            let end = end_of_piece(sent, acknowledged, handed, LEAD * DATAGRAM);
            if end > handed {
                ends.push_back(end);
                handed = end;
            }
            sent += DATAGRAM;
            assert!(sent <= handed, "quinn-proto always has the next packet");
            while ends.front().is_some_and(|end| *end <= acknowledged) {
                ends.pop_front();
            }
        }
        assert!(ends.len() < 4 * PIECES as usize, "{} pieces", ends.len());
    }
}
