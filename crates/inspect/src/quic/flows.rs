//! Datagrams of UDP, and the connections of QUIC that they belong to.

use super::header::is_long;
use super::ids::Directory;
use super::recognise::{Datagram, Others, Recognised};
use crate::clock::Clock;
use crate::connection::Protocol;
use crate::slots::{Ends, Place, Slots};
use acklab_base::{Datagram as _, FlowKey};
use acklab_wire::IpPacket;
use acklab_wire::quic::ConnectionId;
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// The maximum number of directions that several connections share. Above it, those of ended
/// connections are dropped.
const MAX_SHARED: usize = 1 << 16;

/// The flows of UDP.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    /// Flows that are not known to be QUIC.
    others: Others,
    /// The connection IDs.
    directory: Directory,
    /// Directions that several connections share.
    shared: BTreeSet<FlowKey>,
}

/// The owner of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belongs {
    /// A connection of QUIC. The number is the count of earlier datagrams that were attributed to
    /// other traffic.
    ToConnection(u64),
    /// Other traffic, as far as is known so far.
    ToOthers,
}

impl Flows {
    /// Attributes a datagram in a packet.
    #[inline]
    pub(crate) fn datagram<P>(
        &mut self,
        slots: &mut Slots,
        packet: &IpPacket,
        datagram: &Datagram<'_>,
        clock: &Clock<P>,
    ) -> Belongs {
        if let Some(place) = slots.look_up(packet.flow()) {
            self.known(slots, place, packet, datagram, clock);
            return Belongs::ToConnection(0);
        }
        match Ends::of(packet) {
            Some(ends) => self.unknown(slots, &ends, datagram, clock),
            None => Belongs::ToOthers,
        }
    }

    /// Returns the number of flows that are not known to be QUIC.
    pub(crate) fn others(&self) -> u64 {
        self.others.count()
    }

    /// Processes a datagram of a flow that is QUIC.
    #[inline]
    fn known<P>(
        &mut self,
        slots: &mut Slots,
        mut place: Place,
        packet: &IpPacket,
        datagram: &Datagram<'_>,
        clock: &Clock<P>,
    ) {
        let is_another = slots.connection(place.slot).is_another_of_quic(place.from.into(), datagram);
        if (is_another || self.shared.contains(&packet.flow()))
            && let Some(ends) = Ends::of(packet)
        {
            place = if is_another {
                self.share(slots, &ends, datagram, clock)
            } else {
                self.by_id(slots, &ends, datagram).unwrap_or(place)
            };
        }
        let id = slots.connection(place.slot).datagram(place.from.into(), datagram);
        if let Some((id, [socket, _])) = id.zip(packet.sockets()) {
            self.store_id(slots, place, socket, id);
        }
    }

    /// Stores the ID of a sender that a datagram has shown.
    #[cold]
    fn store_id(&mut self, slots: &Slots, Place { slot, from }: Place, socket: SocketAddr, id: ConnectionId) {
        self.directory.insert(socket, id, (slots.serial(slot), from), |serial| slots.slot_of(serial).is_some());
    }

    /// Passes a datagram to its connection.
    fn pass(&mut self, slots: &mut Slots, place: Place, ends: &Ends, datagram: &Datagram<'_>) {
        if let Some(id) = slots.connection(place.slot).datagram(place.from.into(), datagram) {
            self.store_id(slots, place, ends.sockets[0], id);
        }
    }

    /// Returns the connection whose ID is in a datagram with a short header.
    #[cold]
    fn by_id(&self, slots: &Slots, ends: &Ends, datagram: &Datagram<'_>) -> Option<Place> {
        let (serial, to) = self.directory.find(ends.sockets[1], datagram.head)?;
        Some(Place { slot: slots.slot_of(serial)?, from: 1 - to })
    }

    /// Processes a datagram of a flow that is not known to be QUIC.
    #[cold]
    fn unknown<P>(&mut self, slots: &mut Slots, ends: &Ends, datagram: &Datagram<'_>, clock: &Clock<P>) -> Belongs {
        if !is_long(datagram.head)
            && let Some(place) = self.by_id(slots, ends, datagram)
        {
            // A NAT has mapped the connection to another address (RFC 9000, §9.3).
            slots.follow(place.slot, ends.keys, place.from);
            self.pass(slots, place, ends, datagram);
            return Belongs::ToConnection(0);
        }
        let Some(Recognised { evidence, datagrams }) = self.others.datagram(ends.keys, datagram) else {
            return Belongs::ToOthers;
        };
        let [before @ .., last] = datagrams.as_slice() else { return Belongs::ToOthers };
        let first = before.first().unwrap_or(last);
        // The end that sent the first datagram becomes the first end.
        let is_forward = first.from == last.from;
        let begun = if is_forward { *ends } else { ends.reversed() };
        let slot = slots.begin(first.at, &begun, Protocol::Quic, clock);
        slots.connection(slot).evidence = Some(evidence);
        for waiting in before {
            slots.connection(slot).datagram(usize::from(waiting.from != first.from), &waiting.datagram());
        }
        self.pass(slots, Place { slot, from: u8::from(!is_forward) }, ends, datagram);
        Belongs::ToConnection(before.len() as u64)
    }

    /// Begins another connection between the sockets of a followed connection.
    #[cold]
    fn share<P>(&mut self, slots: &mut Slots, ends: &Ends, datagram: &Datagram<'_>, clock: &Clock<P>) -> Place {
        if self.shared.len() >= MAX_SHARED {
            self.shared.retain(|key| slots.look_up(*key).is_some());
        }
        self.shared.extend(ends.keys);
        let slot = slots.begin(datagram.at, ends, Protocol::Quic, clock);
        slots.connection(slot).evidence = Some("a further Initial packet between sockets that speak QUIC".to_owned());
        Place { slot, from: 0 }
    }
}
