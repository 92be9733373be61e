//! The largest datagram that the path carries (RFC 9000, §14): the [search](crate::mtu) for it, with probes that hold a `PING` and padding.

use super::connection::Connection;
use super::output::{Draft, pad_by};
use super::sent::Content;
use super::space;
use acklab_base::{Event, Instant};
use acklab_wire::quic::{Datagram, Frame, Frames};
use acklab_wire::sequence::Sequence;

impl Connection {
    /// The largest datagram that may leave now. Probes of the probe timeout have the size that every path carries, since the loss of larger
    /// packets may be what the timeout is due to.
    #[inline]
    pub(super) fn room_of_datagram(&self) -> u64 {
        self.mtu.as_ref().map_or(self.output.most(), |mtu| {
            let is_probing = self.spaces.iter().any(|space| space.probes > 0);
            if is_probing { mtu.base() } else { mtu.size().min(self.output.most()) }
        })
    }

    /// A probe of the path's MTU, if one is due and the window lets it leave (RFC 9000, §14.4). An end that sends no data needs none.
    #[inline(never)]
    pub(super) fn mtu_probe(&mut self, now: Instant) -> Option<Datagram> {
        let may_probe = self.handshake.is_confirmed
            && self.counters.packets > 0
            && self.spaces.iter().all(|space| space.probes == 0)
            && self.window_is_open(now);
        let octets = self.mtu.as_mut().filter(|_| may_probe)?.due(now)?;
        let id = space::Id::Application;
        let number = self.spaces[id].board.next_number();
        let mut frames = Frames::default();
        frames.push(Frame::Ping);
        let mut packet = self.packet(id, number, frames);
        let missing = octets.saturating_sub(packet.wire_len());
        pad_by(&mut packet, missing);
        if let Some(mtu) = &mut self.mtu {
            mtu.on_sent(number);
        }
        let content = Content::default();
        let draft = Draft { id, number, packet, content, reason: None, octets_of_streams: 0, repeats: false };
        let mut packets = Sequence::default();
        packets.push(self.commit(now, draft));
        Some(self.datagram(now, packets))
    }

    /// Returns `true` if the lost packet was a probe of the path's MTU.
    pub(super) fn is_lost_probe(&mut self, id: space::Id, number: u64, octets: u64) -> bool {
        id == space::Id::Application && self.mtu.as_mut().is_some_and(|mtu| mtu.on_lost(number, octets))
    }

    /// What an ACK or a timer has brought is settled: the size of datagrams may have changed, and with it that of a packet in the eyes of
    /// congestion control (RFC 9002, §7.2).
    #[inline(never)]
    pub(super) fn settle_mtu(&mut self) {
        let Some(mtu) = &mut self.mtu else { return };
        self.counters.black_holes += u64::from(mtu.finds_black_hole());
        let size = mtu.size().min(self.output.most());
        if size != self.congestion.window.mss {
            self.congestion.window.mss = size;
            self.events.push_back(Event::DatagramSize { octets: size });
        }
    }
}
