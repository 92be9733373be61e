//! Connection IDs (RFC 9000, §5.1): they attribute a datagram from another address, or one between
//! two sockets that share several connections.
//!
//! IDs in long headers are visible. Later ones are encrypted. An end that migrates on purpose uses
//! one of those (RFC 9000, §9.5), but a NAT that maps a connection to another port does not change
//! the ID.

use super::header::{Kind, LongHeader, MAX_ID};
use acklab_wire::quic::ConnectionId;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The minimum length of an ID that identifies a connection: at random, four octets match an ID in
/// one of four thousand million datagrams.
const MIN_ID: usize = 4;
/// The maximum number of IDs of an end that are stored: the client's Initial packets before and
/// after Retry use several, and the server's as well.
const MAX_IDS: usize = 4;

/// The maximum number of IDs of all connections. Above it, those of ended connections are dropped.
/// Chosen: twice the number of followed connections.
const MAX_ALL: usize = 1 << 16;

/// The known IDs of all connections, by the socket to which they address packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    /// The number of the connection, and the end that has the ID.
    by_id: BTreeMap<(SocketAddr, ConnectionId), (u64, u8)>,
    /// A bit for each length of the IDs of a socket.
    lengths: BTreeMap<SocketAddr, u32>,
}

impl Directory {
    /// Stores that `id` addresses an end of a connection at `socket`. `is_followed` returns whether
    /// the connection with a given number is still followed.
    pub(crate) fn insert(
        &mut self,
        socket: SocketAddr,
        id: ConnectionId,
        end: (u64, u8),
        is_followed: impl Fn(u64) -> bool,
    ) {
        if id.octets().len() < MIN_ID {
            return;
        }
        if self.by_id.len() >= MAX_ALL {
            self.by_id.retain(|_, (serial, _)| is_followed(*serial));
            self.lengths.clear();
            let lengths = &mut self.lengths;
            self.by_id.keys().for_each(|(socket, id)| add_length(lengths, *socket, id));
        }
        add_length(&mut self.lengths, socket, &id);
        self.by_id.insert((socket, id), end);
    }

    /// Returns the number of the connection of a datagram with a short header to `socket`, and the
    /// end at that socket.
    pub(crate) fn find(&self, socket: SocketAddr, datagram: &[u8]) -> Option<(u64, u8)> {
        let lengths = *self.lengths.get(&socket)?;
        let behind = datagram.get(1..)?;
        let ids = (MIN_ID..=MAX_ID).filter(|length| lengths >> length & 1 != 0);
        let id = |length: usize| ConnectionId::new(behind.get(..length)?);
        ids.filter_map(id).find_map(|id| self.by_id.get(&(socket, id)).copied())
    }
}

fn add_length(lengths: &mut BTreeMap<SocketAddr, u32>, socket: SocketAddr, id: &ConnectionId) {
    *lengths.entry(socket).or_default() |= 1 << id.octets().len();
}

/// The IDs of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    /// The end that sent the first Initial packet.
    client: Option<usize>,
    /// IDs to which the client sent Initial packets.
    original: Vec<ConnectionId>,
    /// IDs that each end has chosen.
    chosen: [Vec<ConnectionId>; 2],
    /// `true` if the server has sent more than Version Negotiation and Retry.
    is_answered: bool,
}

impl Ids {
    /// Processes a packet of the end `from` with this header. Returns its ID if it is new.
    pub(crate) fn process(&mut self, from: usize, header: &LongHeader) -> Option<ConnectionId> {
        match header.kind {
            Kind::Cut => return None,
            Kind::Negotiation | Kind::Retry => {}
            _ if self.client.is_some_and(|client| client != from) => self.is_answered = true,
            Kind::Handshake => {}
            Kind::Initial | Kind::ZeroRtt | Kind::Unknown => {
                self.client = Some(from);
                if self.original.len() < MAX_IDS && !self.original.contains(&header.destination) {
                    self.original.push(header.destination);
                }
            }
        }
        let chosen = &mut self.chosen[from];
        let is_new = header.kind != Kind::Negotiation && chosen.len() < MAX_IDS && !chosen.contains(&header.source);
        is_new.then(|| {
            chosen.push(header.source);
            header.source
        })
    }

    /// Returns `true` if a packet of the end `from` opens another connection between the same
    /// sockets. Such a packet is an Initial packet after the server of this connection has
    /// responded, and both of its IDs are unknown.
    ///
    /// An end without its own ID cannot share a socket among connections (RFC 9000, §5.1). The
    /// first ID that a client addresses has at least eight octets (§7.2).
    pub(crate) fn is_another(&self, from: usize, header: &LongHeader) -> bool {
        const MIN_FIRST: usize = 8;
        let LongHeader { kind, destination, source, .. } = header;
        matches!(kind, Kind::Initial | Kind::ZeroRtt)
            && self.is_answered
            && destination.octets().len() >= MIN_FIRST
            && !source.octets().is_empty()
            && !self.chosen[1 - from].contains(destination)
            && !self.original.contains(destination)
            && !self.chosen[from].contains(source)
    }
}

#[cfg(test)]
mod tests {
    use super::super::version::{Types, Version};
    use super::*;

    fn id(octets: &[u8]) -> ConnectionId {
        ConnectionId::new(octets).unwrap()
    }

    fn header(kind: Kind, destination: &[u8], source: &[u8]) -> LongHeader {
        LongHeader {
            number: 1,
            version: Version::Current(Types::One),
            kind,
            destination: id(destination),
            source: id(source),
        }
    }

    const CLIENT: &[u8] = &[1; 8];
    const SERVER: &[u8] = &[2; 8];
    const FIRST: &[u8] = &[3; 8];

    #[test]
    fn a_datagram_from_another_port_has_the_id_of_its_connection() {
        let server: SocketAddr = "192.0.2.1:443".parse().unwrap();
        let mut directory = Directory::default();
        directory.insert(server, id(SERVER), (5, 1), |_| true);
        directory.insert(server, id(&[9; 3]), (6, 1), |_| true);
        let datagram = [&[0x40][..], SERVER, &[0; 30]].concat();
        assert_eq!(directory.find(server, &datagram), Some((5, 1)));
        assert_eq!(directory.find("192.0.2.2:443".parse().unwrap(), &datagram), None);
        assert_eq!(directory.find(server, &[&[0x40][..], &[9; 30]].concat()), None, "three octets are too few");
    }

    #[test]
    fn ids_of_connections_that_have_ended_are_dropped() {
        let server: SocketAddr = "192.0.2.1:443".parse().unwrap();
        let mut directory = Directory::default();
        for serial in 0..=MAX_ALL as u64 {
            directory.insert(server, ConnectionId::of_word(serial), (serial, 1), |serial| serial % 2 == 0);
        }
        assert_eq!(directory.by_id.len(), MAX_ALL / 2 + 1);
    }

    #[test]
    fn a_first_packet_to_another_id_is_another_connection() {
        let mut ids = Ids::default();
        let again = header(Kind::Initial, &[4; 8], &[5; 8]);
        assert_eq!(ids.process(0, &header(Kind::Initial, FIRST, CLIENT)), Some(id(CLIENT)));
        assert_eq!(ids.process(1, &header(Kind::Retry, CLIENT, &[7; 8])), Some(id(&[7; 8])));
        // The client follows Retry, or tries again with other IDs.
        assert!(!ids.is_another(0, &header(Kind::Initial, &[7; 8], CLIENT)) && !ids.is_another(0, &again));
        ids.process(0, &header(Kind::Initial, &[7; 8], CLIENT));
        assert_eq!(ids.process(1, &header(Kind::Handshake, CLIENT, SERVER)), Some(id(SERVER)));
        assert!(!ids.is_another(0, &header(Kind::Initial, SERVER, CLIENT)));
        assert!(!ids.is_another(0, &header(Kind::Initial, &[7; 8], CLIENT)));
        assert!(ids.is_another(0, &again));
        assert!(!ids.is_another(0, &header(Kind::Handshake, &[4; 8], &[5; 8])));
        // A client may address an ID of NEW_CONNECTION_ID in the rest of its handshake, as quic-go
        // does.
        assert!(
            !ids.is_another(0, &header(Kind::Initial, &[4; 8], CLIENT))
                && !ids.is_another(0, &header(Kind::Initial, &[4; 8], &[]))
        );
    }

    #[test]
    fn negotiation_of_a_version_is_no_answer() {
        let mut ids = Ids::default();
        let greased =
            LongHeader { number: 0x1a2a_3a4a, version: Version::Greased, ..header(Kind::Unknown, FIRST, CLIENT) };
        ids.process(0, &greased);
        assert_eq!(ids.process(1, &header(Kind::Negotiation, CLIENT, FIRST)), None);
        assert!(!ids.is_another(0, &header(Kind::Initial, &[4; 8], &[5; 8])));
    }
}
