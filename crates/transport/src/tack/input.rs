//! Handles packets that arrive.

use super::amplification::MIN_PACKET;
use super::connection::{Connection, Phase};
use super::handshake::NO_CONNECTION;
use super::receiver::Arrived;
use super::refusal::Refusal;
use crate::ack::Reason;
use crate::streams::Side;
use acklab_base::{Fate, Instant};
use acklab_wire::Pdu as _;
use acklab_wire::tack::{Frame, Packet, Timestamp};

/// The times of a packet's arrival.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// The processing time.
    now: Instant,
    /// The arrival time, by the clock of the receiver.
    arrived: Timestamp,
    /// The departure time, by the clock of the sender.
    departed: Timestamp,
    number: u64,
}

impl Connection {
    /// Sets the arrival time `at` of the next packet, which the host processes later. Round-trip
    /// times, delays and the delivery rate then exclude the time that the packet waits in the host.
    #[inline]
    pub const fn date_next(&mut self, at: Instant) {
        self.arrives_at = Some(at);
    }

    pub(super) fn input(&mut self, now: Instant, packet: &Packet) -> Fate {
        let taken = self.take_packet(now, packet);
        self.close_if_done();
        self.output.note_change();
        match taken {
            Ok(()) => Fate::Taken,
            Err(refusal) => {
                self.refusals.count(refusal);
                refusal.fate()
            }
        }
    }

    fn take_packet(&mut self, now: Instant, packet: &Packet) -> Result<(), Refusal> {
        let at = self.arrives_at.take().map_or(now, |at| at.min(now));
        let opens = packet.connection == NO_CONNECTION;
        if let Some(Frame::Versions(versions)) = packet.frames.last() {
            return self.on_versions(packet, versions);
        }
        self.check_phase(packet, opens)?;
        if let Phase::Closed { .. } = self.phase {
            self.take_after_end(packet);
            return Ok(());
        }
        let number = self.receiver.check_number(packet.number)?;
        packet.frames.iter().try_for_each(|frame| self.check_frame(frame, opens))?;
        self.idle.on_arrival(now);
        if opens {
            self.amplification.on_arrival(packet.wire_len().get());
        }
        if !opens {
            self.confirm(now);
        }
        let (arrived, departed) = (self.clock.stamp(at), packet.departed);
        if self.phase == Phase::Established && packet.frames.is_ack_eliciting() {
            let payload = u64::from(packet.frames.payload());
            self.receiver.take(now, &Arrived { number, at, departed, arrived, payload, ecn: packet.ecn });
        } else {
            self.receiver.pass(number);
            if self.phase != Phase::Established {
                self.receiver.time_handshake(departed, arrived);
            }
        }
        let arrival = Arrival { now, arrived, departed, number };
        for frame in packet.frames.iter() {
            if let Err(refusal) = self.take_frame(&arrival, frame) {
                self.refusals.count(refusal);
            }
        }
        Ok(())
    }

    /// Refuses a packet that belongs to another connection, or is not permitted in this phase.
    fn check_phase(&self, packet: &Packet, opens: bool) -> Result<(), Refusal> {
        if opens {
            // A repeated Open is accepted only from the peer of this connection.
            let is_of_peer = |frame: &Frame| matches!(frame, Frame::Open { source, .. } if *source == self.remote);
            return match self.phase {
                Phase::Listening => check_size(packet),
                _ if self.side == Side::Server && packet.frames.iter().any(is_of_peer) => check_size(packet),
                _ => Err(Refusal::Phase),
            };
        }
        if packet.connection != self.local {
            return Err(Refusal::Connection);
        }
        match self.phase {
            Phase::Idle | Phase::Listening => Err(Refusal::Phase),
            // Packets that overtake the Accept are refused. No packet is recorded before the
            // Accept.
            Phase::Opening if !packet.frames.iter().any(|frame| matches!(frame, Frame::Accept { .. })) => {
                Err(Refusal::Phase)
            }
            _ => Ok(()),
        }
    }

    /// Checks that this frame is acceptable. A packet with an unacceptable frame is refused whole
    /// and is not acknowledged.
    #[inline]
    fn check_frame(&self, frame: &Frame, opens: bool) -> Result<(), Refusal> {
        match frame {
            Frame::Stream(stream) if !opens => self.streams.check(stream),
            Frame::Reset { stream, size, .. } if !opens => self.check_reset(*stream, *size),
            Frame::Blocked { stream } | Frame::Stop { stream, .. } if !opens => {
                self.streams.check_id(*stream).map(|_| ())
            }
            Frame::Open { .. } if opens => Ok(()),
            Frame::Padding(_) | Frame::Extension(_) | Frame::Crypto(_) | Frame::Token(_) => Ok(()),
            Frame::Open { .. } | Frame::Versions(_) => Err(Refusal::Phase),
            _ if opens => Err(Refusal::Phase),
            _ => Ok(()),
        }
    }

    fn check_reset(&self, stream: u32, size: u64) -> Result<(), Refusal> {
        match self.streams.check_id(stream)? {
            Some(stream) => Ok(stream.incoming.check_reset(size)?),
            None => Ok(()),
        }
    }

    fn take_frame(&mut self, arrival: &Arrival, frame: &Frame) -> Result<(), Refusal> {
        let Arrival { now, arrived, departed, number } = *arrival;
        match frame {
            Frame::Stream(stream) => {
                let had_all = stream.is_end
                    && self.streams.table.get(stream.id).is_some_and(|known| known.incoming.is_finished());
                self.streams.insert(stream.id, stream.offset, stream.end(), stream.is_end);
                if stream.is_end && !had_all {
                    self.receiver.acknowledger.demand(now, Reason::Fin);
                } else if self.streams.has_released(stream.id, self.settings.mss()) {
                    self.receiver.acknowledger.demand(now, Reason::WindowUpdate);
                }
                Ok(())
            }
            Frame::Tack(tack) => self.on_tack(now, arrived, number, tack),
            Frame::Loss(loss) => self.on_loss(now, loss),
            Frame::EcnCounts(counts) => self.sender.read_counts(*counts),
            Frame::Window { stream, limit } => self.streams.on_window(*stream, *limit),
            Frame::Blocked { stream } => {
                self.streams.require_window_update(*stream);
                self.receiver.acknowledger.demand(now, Reason::WindowUpdate);
                Ok(())
            }
            Frame::Ping => {
                self.receiver.on_ping(now);
                Ok(())
            }
            Frame::Sync(sync) => self.receiver.on_sync(sync),
            Frame::Forget { below } => self.receiver.on_forget(*below, number),
            Frame::Reset { stream, size, code } => {
                self.streams.on_reset(*stream, *size, *code);
                Ok(())
            }
            Frame::Close { code } => {
                self.on_close(*code);
                Ok(())
            }
            Frame::Open { source, parameters } => self.on_open(now, departed, *source, parameters),
            Frame::Accept { source, parameters, echo, delay } => {
                self.on_accept(now, arrived, *source, parameters, *echo, *delay)
            }
            Frame::Streams { limit } => {
                self.streams.on_limit(*limit);
                Ok(())
            }
            Frame::Stop { stream, code } => {
                self.streams.on_stop(*stream, *code);
                Ok(())
            }
            Frame::Challenge(value) => {
                self.path.on_challenge(*value);
                Ok(())
            }
            Frame::Response(value) => {
                self.path.on_response(*value);
                Ok(())
            }
            Frame::Crypto(_) | Frame::Token(_) | Frame::Padding(_) | Frame::Extension(_) | Frame::Versions(_) => Ok(()),
        }
    }
}

/// Checks that a packet that opens a connection has at least the base size (RFC 9000, §14.1).
fn check_size(packet: &Packet) -> Result<(), Refusal> {
    if packet.wire_len().get() < MIN_PACKET { Err(Refusal::Small) } else { Ok(()) }
}
