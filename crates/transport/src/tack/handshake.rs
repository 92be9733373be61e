//! Opens a connection: Open, Accept, and the first packet with the server's connection ID.
//!
//! An Open carries the client's ID. It is addressed to connection 0, because no connection exists
//! yet. The Accept carries the server's ID, the departure time of the Open and the time since the
//! Open arrived. From these times, the client computes its first round-trip time (Li et al.,
//! SIGCOMM 2020, Figure 4a), even if the Open or the Accept was repeated. A packet addressed to the
//! server's ID confirms that the Accept has arrived. Open and Accept are repeated after the probe
//! timeout. The [limit for unvalidated addresses](super::amplification) applies to the Accept. Both
//! frames are padded to the base packet size, so that an open connection implies that the path
//! carries such packets.

use super::connection::{Connection, Phase};
use super::refusal::Refusal;
use super::timing::RoundTrips;
use crate::ack::Reason;
use crate::streams::Side;
use acklab_base::event::Closing;
use acklab_base::{Duration, Event, Instant};
use acklab_wire::tack::{BELOW, ConnectionId, Frame, Packet, Parameters, PktSeq, Timestamp, VERSION, time::micros};

/// The connection ID in an Open.
pub(super) const NO_CONNECTION: ConnectionId = ConnectionId(0);

/// The pending steps of the handshake.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    /// `true` if an Open or an Accept is due.
    is_due: bool,
    /// Number of Opens or Accepts sent, and the time of the last.
    sent: u32,
    sent_at: Instant,
    /// The last Open received: its departure time and its arrival time.
    opened: Option<(Timestamp, Instant)>,
    /// The last Open sent: its number and departure time.
    asked: Option<(PktSeq, Timestamp)>,
}

/// Code: the server supports none of the client's versions. The client then abandons the attempt
/// (RFC 9000, §6.2).
const NO_VERSION: u32 = 1 << 31 | 0x11;

impl Handshake {
    /// Repeats the Open or the Accept after a timeout without an answer.
    pub(super) const fn repeat(&mut self) {
        self.is_due = true;
    }
}

impl Connection {
    fn parameters(&self) -> Box<Parameters> {
        let idle = self.settings.idle_timeout.as_nanos() / 1_000_000;
        Box::new(Parameters {
            window: self.settings.receive_buffer.get(),
            streams: self.settings.streams,
            payload: u16::try_from(self.settings.packet.get() - BELOW).unwrap_or(u16::MAX),
            idle: u32::try_from(idle).unwrap_or(u32::MAX),
            others: Vec::new(),
        })
    }

    /// Opens the connection for the application.
    pub(super) fn open_connection(&mut self) {
        if self.phase == Phase::Idle {
            self.phase = Phase::Opening;
            self.handshake.is_due = true;
            self.output.note_change();
        }
    }

    /// Repeats an unanswered Open immediately. The driver calls this if the server requires more
    /// data in the Open.
    pub fn repeat_open(&mut self) {
        if self.phase == Phase::Opening {
            self.handshake.repeat();
            self.output.note_change();
        }
    }

    /// Returns the frame that is due.
    pub(super) fn handshake_frame(&mut self, now: Instant) -> Option<Frame> {
        let is_again = self.sender.probe().is_second();
        if !std::mem::take(&mut self.handshake.is_due) && !is_again {
            return None;
        }
        (self.handshake.sent, self.handshake.sent_at) = (self.handshake.sent + 1, now);
        let (source, parameters) = (self.local, self.parameters());
        match (self.side, self.handshake.opened) {
            (Side::Client, _) => Some(Frame::Open { source, parameters }),
            (Side::Server, Some((echo, at))) => {
                Some(Frame::Accept { source, parameters, echo, delay: micros(now.since(at)) })
            }
            (Side::Server, None) => None,
        }
    }

    /// Handles an Open in a packet that was sent at `departed`.
    pub(super) fn on_open(
        &mut self,
        now: Instant,
        departed: Timestamp,
        source: ConnectionId,
        parameters: &Parameters,
    ) -> Result<(), Refusal> {
        match self.phase {
            Phase::Listening => {
                self.phase = Phase::Accepting;
                self.remote = source;
                self.agree(parameters);
            }
            // The Accept was lost: the client repeats its Open.
            Phase::Accepting | Phase::Established if self.side == Side::Server && source == self.remote => {}
            _ => return Err(Refusal::Phase),
        }
        if self.phase == Phase::Accepting {
            self.handshake.opened = Some((departed, now));
            self.handshake.is_due = true;
        }
        Ok(())
    }

    /// Handles an Accept. `arrived` is its arrival time by the clock of this end.
    pub(super) fn on_accept(
        &mut self,
        now: Instant,
        arrived: Timestamp,
        source: ConnectionId,
        parameters: &Parameters,
        echo: Timestamp,
        delay: u32,
    ) -> Result<(), Refusal> {
        match self.phase {
            Phase::Opening => {}
            // The confirmation was lost: the server repeats its Accept.
            Phase::Established if self.side == Side::Client && source == self.remote => {
                self.receiver.acknowledger.demand(now, Reason::Handshake);
                return Ok(());
            }
            _ => return Err(Refusal::Phase),
        }
        let sample = RoundTrips::sample_of(arrived, echo, delay)?;
        self.remote = source;
        self.agree(parameters);
        self.sender.acknowledge_all(now);
        self.sender.sample(now, sample);
        self.receiver.on_handshake(now, sample);
        self.receiver.acknowledger.demand(now, Reason::Handshake);
        // A server at its limit may not repeat its Accept. It waits for packets that the client
        // repeats (RFC 9002, §6.2.2.1).
        self.idle.ask();
        self.establish(now);
        Ok(())
    }

    fn agree(&mut self, parameters: &Parameters) {
        self.streams.on_parameters(parameters.window, parameters.streams);
        self.limit_packets(BELOW + u64::from(parameters.payload));
        self.idle.agree(Duration::from_millis(parameters.idle.into()));
    }

    /// Records that an Open was sent.
    pub(super) const fn note_open(&mut self, packet: &Packet) {
        self.handshake.asked = Some((packet.number, packet.departed));
    }

    /// Handles the server's list of versions, which excludes the version of the Open. The packet
    /// repeats the number and the departure time of the Open.
    pub(super) fn on_versions(&mut self, packet: &Packet, versions: &[u8]) -> Result<(), Refusal> {
        let is_answer = self.handshake.asked == Some((packet.number, packet.departed));
        if self.phase != Phase::Opening || !is_answer || versions.contains(&VERSION) {
            return Err(Refusal::Phase);
        }
        self.end(Closing::ProtocolViolation, NO_VERSION);
        Ok(())
    }

    /// Handles a packet addressed to the server's ID, which confirms that the client has received
    /// the Accept.
    pub(super) fn confirm(&mut self, now: Instant) {
        if self.phase != Phase::Accepting {
            return;
        }
        self.handshake.is_due = false;
        // As in TCP, a retransmitted Accept yields no sample (RFC 6298, §3).
        if self.handshake.sent == 1 {
            let sample = now.since(self.handshake.sent_at);
            self.sender.sample(now, sample);
            self.receiver.on_handshake(now, sample);
        }
        self.sender.acknowledge_all(now);
        self.establish(now);
    }

    fn establish(&mut self, now: Instant) {
        self.phase = Phase::Established;
        self.sender.on_established(now);
        self.events.push(Event::Established);
        self.output.note_change();
    }
}
