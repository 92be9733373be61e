//! Opens a connection: Open, Accept, and the first packet with the server's connection ID.
//!
//! An Open is addressed to connection 0, because there is none yet, and carries the client's ID.
//! The Accept carries the server's ID, echoes the departure time of the Open and reports the time
//! since its arrival. From these the client has its first round-trip time (Li et al., SIGCOMM 2020,
//! Figure 4a), even if either was repeated. A packet addressed to the server's ID then confirms
//! that the Accept has arrived. Both are repeated by the probe timeout, the Accept within the
//! [limit for unvalidated addresses](super::amplification). Both are padded, so that a path on
//! which the connection opens carries packets of the base size.

use super::connection::{Connection, Phase};
use super::refusal::Refusal;
use super::timing::RoundTrips;
use crate::ack::Reason;
use crate::streams::Side;
use acklab_base::event::Closing;
use acklab_base::{Duration, Event, Instant};
use acklab_wire::tack::{BELOW, ConnectionId, Frame, Packet, Parameters, PktSeq, Timestamp, VERSION, time::micros};

/// The destination of packets before the connection has an ID.
pub(super) const NO_CONNECTION: ConnectionId = ConnectionId(0);

/// The pending steps of the handshake.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    /// An Open or an Accept is due.
    is_due: bool,
    /// Opens or Accepts that have left, and when the last of them left.
    sent: u32,
    sent_at: Instant,
    /// The last Open received: its departure time and when it arrived.
    opened: Option<(Timestamp, Instant)>,
    /// The last Open sent: its number and departure time.
    asked: Option<(PktSeq, Timestamp)>,
}

/// The server supports none of the client's versions (RFC 9000, §6.2: the client abandons the
/// attempt).
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

    /// Repeats an unanswered Open at once. The driver calls this if the server requires more in it.
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

    /// Handles an Open in a packet that left at `departed`.
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
            // The client has not received the Accept.
            Phase::Accepting | Phase::Established if self.side == Side::Server && source == self.remote => {}
            _ => return Err(Refusal::Phase),
        }
        if self.phase == Phase::Accepting {
            self.handshake.opened = Some((departed, now));
            self.handshake.is_due = true;
        }
        Ok(())
    }

    /// Handles an Accept that arrived at `arrived` by the clock of this end.
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
            // The server has not received the confirmation of this end.
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
        // A server that may not repeat its Accept waits for packets that this end repeats (RFC
        // 9002, §6.2.2.1).
        self.idle.ask();
        self.establish(now);
        Ok(())
    }

    fn agree(&mut self, parameters: &Parameters) {
        self.streams.on_parameters(parameters.window, parameters.streams);
        self.limit_packets(BELOW + u64::from(parameters.payload));
        self.idle.agree(Duration::from_millis(parameters.idle.into()));
    }

    /// Records that an Open has left.
    pub(super) const fn note_open(&mut self, packet: &Packet) {
        self.handshake.asked = Some((packet.number, packet.departed));
    }

    /// Handles the server's list of versions, which excludes that of the Open. The packet repeats
    /// the Open's number and departure time.
    pub(super) fn on_versions(&mut self, packet: &Packet, versions: &[u8]) -> Result<(), Refusal> {
        let is_answer = self.handshake.asked == Some((packet.number, packet.departed));
        if self.phase != Phase::Opening || !is_answer || versions.contains(&VERSION) {
            return Err(Refusal::Phase);
        }
        self.end(Closing::ProtocolViolation, NO_VERSION);
        Ok(())
    }

    /// Handles a packet addressed to this end's ID: the client has received the Accept.
    pub(super) fn confirm(&mut self, now: Instant) {
        if self.phase != Phase::Accepting {
            return;
        }
        self.handshake.is_due = false;
        // As with TCP, an answer that was retransmitted yields no sample (RFC 6298, §3).
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
