//! One end of a connection that carries data in both directions. The end opens or accepts the
//! connection, sends data and receives data.
//!
//! The halves of an end are a [`Sender`] and a [`Receiver`]. Each segment of one half also carries
//! the state of the other half: data segments carry the acknowledgment of arrived data (RFC 9293,
//! §3.8.6.3). An acknowledgment without data is a separate segment, with the next sequence number.
//!
//! | module | contents |
//! |---|---|
//! | `handshake` | SYN, SYN-ACK and the ACK of the SYN-ACK, at both ends |
//! | `input` | an arriving segment: the sending half processes its acknowledgment, the receiving
//! half its data and FIN |
//! | `output` | the next segment, with an acknowledgment |
//! | `port` | the interface through which the application writes and reads |
//! | `reset` | RST: sent for segments that belong to no connection, and received |
//! | `challenge` | the limit of challenge ACKs |
//! | `state` | the states of RFC 9293 |
//! | `endpoint` | vitals, counters and events |
//! | `watch` | changes of the stream, for a driver that stores its bytes |
//!
//! If only one end sends data, one half suffices at each end: a [`Sender`] at one end and a
//! [`Receiver`] at the other.

mod challenge;
mod endpoint;
mod handshake;
mod input;
mod output;
mod port;
mod reset;
mod state;
mod watch;

pub use state::State;
pub(in crate::tcp) use watch::STREAM;

use super::config::TcpConfig;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::ack::Policy;
use crate::cc::Controller;
use crate::reading::Reading;
use acklab_base::random::Seed;
use acklab_base::{Event, Fate, Instant, Machine, StreamEvents};
use acklab_wire::tcp::{Segment, SeqNumber};
use challenge::Challenges;

/// One end of a connection with both of its halves.
#[derive(Debug)]
pub struct Connection {
    sending: Sender,
    receiving: Receiver,
    /// The kind of the segment that was last accepted or polled.
    last: Way,
    /// `true` if the peer's FIN arrived before this end sent its FIN.
    is_closed_by_peer: bool,
    /// `true` if the application has closed both directions.
    is_released: bool,
    challenges: Challenges,
    /// The RST that is sent next.
    reset: Option<Segment>,
    stream_events: StreamEvents,
}

/// The direction of a segment, and the half that sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The segment has arrived.
    In,
    /// The sending half has sent the segment.
    Out,
    /// The receiving half has sent the segment.
    OutAck,
}

impl Connection {
    /// Creates the end that opens the connection. `name` identifies its random streams.
    #[must_use]
    pub fn active(config: TcpConfig, controller: Controller, policy: Policy, seed: Seed, name: &str) -> Self {
        let initial = initial(seed, name, "isn");
        Self::of(&config, Sender::opening(config, controller, initial), Receiver::numbered(config, policy, initial))
    }

    /// Creates the end that listens. `name` is the name of the opening end.
    #[must_use]
    pub fn passive(config: TcpConfig, controller: Controller, policy: Policy, seed: Seed, name: &str) -> Self {
        let initial = initial(seed, name, "receiver-isn");
        Self::of(&config, Sender::listening(config, controller, initial), Receiver::numbered(config, policy, initial))
    }

    fn of(config: &TcpConfig, sending: Sender, mut receiving: Receiver) -> Self {
        receiving.set_may_send(true);
        let rules = config.dialect.rules();
        Self {
            sending,
            receiving,
            last: Way::In,
            is_closed_by_peer: false,
            is_released: false,
            challenges: Challenges::new(rules.challenge_limit),
            reset: None,
            stream_events: StreamEvents::default(),
        }
    }

    /// Sets when the application reads. Call before opening.
    #[must_use]
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.receiving = self.receiving.with_reading(reading);
        self
    }

    /// Returns the half that sends data.
    #[must_use]
    pub const fn sending(&self) -> &Sender {
        &self.sending
    }

    /// Returns the half that receives data and acknowledges.
    #[must_use]
    pub const fn receiving(&self) -> &Receiver {
        &self.receiving
    }

    /// Drains the events of the sending half.
    pub fn drain_events(&mut self) -> impl Iterator<Item = Event> + '_ {
        self.sending.drain_events()
    }
}

/// Returns an initial sequence number. The name of the random stream is `isn` for a sender and
/// `receiver-isn` for a receiver.
fn initial(seed: Seed, name: &str, stream: &str) -> SeqNumber {
    SeqNumber(seed.stream(&format!("flow/{name}/{stream}")).below(1 << 32) as u32)
}

impl Machine for Connection {
    type Datagram = Segment;
    type Outcome = Fate;

    fn accept(&mut self, now: Instant, segment: Segment) -> Fate {
        self.input(now, &segment)
    }

    fn wake(&mut self, now: Instant) {
        if self.is_aborted() {
            return;
        }
        self.sending.wake(now);
        if self.sending.take_syn_ack_timeout() {
            self.receiving.repeat_syn_ack();
        }
        self.receiving.wake(now);
    }

    fn deadline(&self) -> Option<Instant> {
        if self.is_aborted() {
            return None;
        }
        Instant::earliest(self.sending.deadline(), self.receiving.deadline())
    }

    fn poll(&mut self, now: Instant) -> Option<Segment> {
        self.next_segment(now)
    }
}
