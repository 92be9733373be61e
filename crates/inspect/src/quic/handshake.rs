//! Round-trip times by the handshake of QUIC (RFC 9312, §3.8.1).
//!
//! Long headers can be read. An end acknowledges handshake packets immediately (RFC 9000, §13.2.1).
//! It addresses its response to the connection ID that the other end has announced (§7.2). This
//! distinguishes a response from unsolicited packets. The first packet of the server shows the part
//! of the round trip after the point of capture. The first packet that the client addresses to the
//! server's ID shows the part before it.

use super::header::{Kind, LongHeader};
use acklab_wire::quic::ConnectionId;

/// The inverse of the share of a round trip that a pause may take. No probe timeout is shorter than
/// a round trip (RFC 9002, §6.2.1). So an end that paused for less than half of one has not
/// retransmitted.
const PAUSE: u64 = 2;

/// The packets of one end before it receives a packet from the other.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// The end.
    from: usize,
    /// When its first packet passed.
    first: u64,
    last: u64,
    /// The longest pause between its packets.
    pause: u64,
    destination: ConnectionId,
    source: ConnectionId,
}

/// A handshake.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuicHandshake {
    flights: [Option<Flight>; 2],
    is_over: bool,
}

/// The times to the client and back, and to the server and back. `None` if a packet may have been
/// repeated, because the response does not show which copy it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) to_server: Option<u64>,
    pub(crate) to_client: Option<u64>,
}

impl QuicHandshake {
    /// Records a step of the capture's clock. The rest of the handshake gives no round trip.
    pub(crate) fn cut(&mut self) {
        self.is_over = true;
    }

    /// Processes a datagram of the end `from` that begins with this header. The packet that
    /// completes the times to both ends returns them once, with the end that is the client.
    #[cold]
    pub(crate) fn packet(&mut self, at: u64, from: usize, header: &LongHeader) -> Option<(usize, Sides)> {
        if self.is_over || matches!(header.kind, Kind::Negotiation | Kind::Cut) {
            return None;
        }
        let LongHeader { destination, source, .. } = *header;
        let [client, server] = &mut self.flights;
        let begin = Flight { from, first: at, last: at, pause: 0, destination, source };
        match (client, server) {
            (client @ None, _) => *client = Some(begin),
            (Some(client), None) if from == client.from => client.go_on(at),
            (Some(client), server @ None) if destination == client.source => *server = Some(begin),
            (Some(client), Some(server)) if from == client.from && destination == server.source => {
                self.is_over = true;
                // If an end does not change its ID, its response looks like packets that it might
                // have sent unsolicited.
                if server.source == client.destination {
                    return None;
                }
                let whole = at.saturating_sub(client.first);
                let side = |flight: &Flight, answer: u64| {
                    (flight.pause < whole / PAUSE).then(|| answer.saturating_sub(flight.first))
                };
                let sides = Sides { to_server: side(client, server.first), to_client: side(server, at) };
                return Some((from, sides));
            }
            (_, Some(server)) if from == server.from => server.go_on(at),
            _ => {}
        }
        None
    }
}

impl Flight {
    fn go_on(&mut self, at: u64) {
        self.pause = self.pause.max(at.saturating_sub(self.last));
        self.last = at;
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::long;
    use super::*;

    /// Returns a long header of version 1.
    fn header(destination: &[u8], source: &[u8]) -> LongHeader {
        let octets = long(0xe0, 1, [destination, source], &[25], 60);
        LongHeader::read(&octets, octets.len()).unwrap()
    }

    const CLIENT: &[u8] = &[1; 8];
    const SERVER: &[u8] = &[2; 5];
    const FIRST: &[u8] = &[3; 8];

    fn sides_of(packets: &[(u64, usize, LongHeader)]) -> Vec<(usize, Sides)> {
        let mut handshake = QuicHandshake::default();
        packets.iter().filter_map(|(at, from, header)| handshake.packet(*at, *from, header)).collect()
    }

    #[test]
    fn each_flight_shows_a_side() {
        let found = sides_of(&[
            (0, 0, header(FIRST, CLIENT)),
            (80, 1, header(CLIENT, SERVER)),
            (81, 1, header(CLIENT, SERVER)),
            (100, 0, header(SERVER, CLIENT)),
            (180, 1, header(CLIENT, SERVER)),
        ]);
        assert_eq!(found, [(0, Sides { to_server: Some(80), to_client: Some(20) })]);
    }

    /// A ClientHello of two datagrams. The second passes after the server has responded to the
    /// first.
    #[test]
    fn the_rest_of_a_flight_is_no_answer() {
        let found = sides_of(&[
            (0, 0, header(FIRST, CLIENT)),
            (2, 1, header(CLIENT, SERVER)),
            (5, 0, header(FIRST, CLIENT)),
            (100, 0, header(SERVER, CLIENT)),
        ]);
        assert_eq!(found, [(0, Sides { to_server: Some(2), to_client: Some(98) })]);
    }

    #[test]
    fn a_flight_that_was_repeated_is_inconclusive() {
        let found = sides_of(&[
            (0, 0, header(FIRST, CLIENT)),
            (300, 0, header(FIRST, CLIENT)),
            (380, 1, header(CLIENT, SERVER)),
            (400, 0, header(SERVER, CLIENT)),
        ]);
        assert_eq!(found, [(0, Sides { to_server: None, to_client: Some(20) })]);
    }
}
