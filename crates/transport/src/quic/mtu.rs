//! Finds the largest datagram that the path carries (RFC 9000, §14). The [search](crate::mtu) sends
//! probes that contain a `PING` and padding.

use super::connection::Connection;
use super::draft::Draft;
use super::output::pad_by;
use super::settings::ConnectionConfig;
use super::space;
use crate::mtu::Search;
use acklab_base::Instant;
use acklab_wire::quic::{Datagram, Frame, Frames, MIN_INITIAL};

/// The sizes of datagrams.
#[derive(Debug)]
pub(super) struct PathMtu {
    /// Size of the largest datagram that this end sends, in bytes.
    largest: u64,
    /// Size of the largest datagram that both ends accept, in bytes.
    most: u64,
    /// The search for the largest datagram that the path carries. Without a search, the path is
    /// assumed to carry `most` bytes.
    search: Option<Box<Search>>,
    black_holes: u64,
}

impl PathMtu {
    pub(super) fn new(config: &ConnectionConfig) -> Self {
        let search = || Box::new(Search::new(config.first_datagram(), config.datagram));
        Self {
            largest: config.datagram,
            most: config.datagram,
            search: config.mtu_discovery.then(search),
            black_holes: 0,
        }
    }

    /// Returns the size of the largest datagram that this end sends.
    pub(super) const fn largest(&self) -> u64 {
        self.largest
    }

    /// Returns the number of times that the path stopped carrying datagrams of the size in use.
    pub(super) const fn black_holes(&self) -> u64 {
        self.black_holes
    }

    /// Applies the peer's `max_udp_payload_size` (RFC 9000, §18.2), and starts the search for
    /// larger datagrams.
    pub(super) fn on_parameters(&mut self, most: u64) {
        self.most = self.most.min(most.max(MIN_INITIAL));
        if let Some(search) = &mut self.search {
            search.start(most);
        }
    }

    /// Returns the size of the largest datagram that may be sent now. Probes of the probe timeout
    /// have the base size, which every path carries. The losses that caused the timeout may be due
    /// to larger packets.
    #[inline]
    fn room(&self, is_probing: bool) -> u64 {
        self.search.as_ref().map_or(self.most, |search| if is_probing { search.base() } else { self.size(search) })
    }

    fn size(&self, search: &Search) -> u64 {
        search.size().min(self.most)
    }

    /// Handles the acknowledgment of the packet of this number.
    #[inline]
    pub(super) fn on_acknowledged(&mut self, number: u64, octets: u64) {
        if let Some(search) = &mut self.search {
            search.on_acknowledged(number, octets);
        }
    }

    /// Handles the loss of the packet of this number. Returns `true` if the packet was a probe of
    /// the MTU.
    pub(super) fn on_lost(&mut self, number: u64, octets: u64) -> bool {
        self.search.as_mut().is_some_and(|search| search.on_lost(number, octets))
    }

    /// Returns the size of datagrams after an ACK or a timer if it has changed. The packet size of
    /// congestion control then changes too (RFC 9002, §7.2).
    #[inline]
    pub(super) fn settle(&mut self) -> Option<u64> {
        let finds_black_hole = self.search.as_mut()?.finds_black_hole();
        self.black_holes += u64::from(finds_black_hole);
        self.search.as_ref().map(|search| self.size(search))
    }
}

impl Connection {
    /// Returns the size of the largest datagram that may be sent now.
    #[inline]
    pub(super) fn room_of_datagram(&self) -> u64 {
        self.mtu.room(self.spaces.are_probing())
    }

    /// Returns `true` if probes of the MTU may be sent. An end that sends no data needs no probes.
    #[inline]
    pub(super) fn may_probe_mtu(&self) -> bool {
        self.mtu.search.is_some() && self.sender.counters().packets > 0
    }

    /// Returns a probe of the MTU, if a probe is due and the window permits its size (RFC 9000,
    /// §14.4).
    #[inline]
    pub(super) fn mtu_probe(&mut self, now: Instant) -> Option<Datagram> {
        if self.may_probe_mtu() { self.due_mtu_probe(now) } else { None }
    }

    #[inline(never)]
    fn due_mtu_probe(&mut self, now: Instant) -> Option<Datagram> {
        let may_probe = self.is_confirmed() && !self.spaces.are_probing() && self.sender.may_send(now);
        let search = self.mtu.search.as_mut().filter(|_| may_probe)?;
        let octets = search.due(now)?;
        let id = space::Id::Application;
        let number = self.sender.next_number(id);
        search.on_sent(number);
        let mut frames = Frames::default();
        frames.push(Frame::Ping);
        let mut packet = self.packet(id, number, frames);
        let missing = octets.saturating_sub(packet.wire_len());
        pad_by(&mut packet, missing);
        let octets = packet.wire_len();
        let draft = Draft { number, octets, is_ack_eliciting: true, is_in_flight: true, ..Draft::new(id, 0) };
        self.commit(now, draft);
        Some(self.datagram(now, packet.into(), octets, false))
    }
}
