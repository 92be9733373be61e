//! acklab's TCP as a [`Stack`]: a [`Connection`] in virtual time, and its sockets.
//!
//! | module | contents |
//! |---|---|
//! | `sockets` | the effects of the calls of a script |
//! | `info` | `tcp_info` of a connection |
//! | `start` | the settings that a connection begins with, from the caller, the variables and the script |

mod info;
mod sockets;
mod start;

use crate::refusal::Refusal;
use crate::script::{Call, Script};
use crate::shell::{Order, REFUSES};
use crate::stack::{Answer, Departures, Stack};
use acklab_base::{Instant, Machine as _, StreamPort as _};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::tcp::connection::State;
use acklab_transport::tcp::{Connection, Settings, TcpConfig};
use acklab_wire::tcp::Segment;
use info::Ages;
use sockets::{Pending, Sockets};
use start::Start;

/// Creates the congestion controller and the ACK policy of a connection. An error names the one
/// that is missing.
pub type Strategy<'a> = dyn Fn(&TcpConfig) -> Result<(Controller, Policy), String> + 'a;

/// acklab's TCP.
pub struct Machine<'a> {
    strategy: &'a Strategy<'a>,
    start: Start,
    now: Instant,
    sockets: Sockets,
    connection: Option<Box<Connection>>,
    pending: Option<Pending>,
    ended: Option<(Instant, Answer)>,
    /// The time at which the connection was established.
    established: Option<Instant>,
    /// The error that ended the connection, until a call reports it (`sk_err`).
    error: Option<&'static str>,
    /// `true` if the device refuses outgoing packets.
    is_refused: bool,
}

impl<'a> Machine<'a> {
    /// Returns a TCP with `settings` for the connection of `script`.
    #[must_use]
    pub fn new(settings: &Settings, strategy: &'a Strategy<'a>, script: &Script) -> Self {
        Self {
            strategy,
            start: Start::new(settings, script),
            now: Instant::ZERO,
            sockets: Sockets::default(),
            connection: None,
            pending: None,
            ended: None,
            established: None,
            error: None,
            is_refused: false,
        }
    }

    fn drain(&mut self, left: &mut Departures) {
        if let Some(connection) = &mut self.connection {
            while let Some(segment) = connection.poll(self.now) {
                // The device also refuses ACKs, and they are not retransmitted.
                if !self.is_refused {
                    left.push_back((self.now, segment));
                }
            }
        }
    }

    /// Continues a call that blocks, as far as possible.
    fn resume(&mut self, left: &mut Departures) -> Result<(), Refusal> {
        if let Some(mut pending) = self.pending.take() {
            match self.attempt(&mut pending)? {
                Some(answer) => self.ended = Some((self.now, answer)),
                None => self.pending = Some(pending),
            }
            self.drain(left);
        }
        Ok(())
    }

    /// Like [`resume`](Self::resume), for a call that was attempted before and is therefore in
    /// scope.
    fn resume_known(&mut self, left: &mut Departures) {
        let _ = self.resume(left);
    }
}

/// Returns the error of a connection that a RST ends in this state (Linux's `tcp_reset`).
const fn error_of_reset(before: State) -> Option<&'static str> {
    match before {
        State::SynSent => Some("ECONNREFUSED"),
        State::CloseWait => Some("EPIPE"),
        _ => Some("ECONNRESET"),
    }
}

impl Stack for Machine<'_> {
    fn now(&self) -> Instant {
        self.now
    }

    fn pass(&mut self, until: Instant, left: &mut Departures) {
        while left.is_empty() && self.ended.is_none() {
            let deadline = self.connection.as_ref().and_then(|connection| connection.deadline());
            match (deadline, &mut self.connection) {
                (Some(deadline), Some(connection)) if deadline <= until => {
                    self.now = self.now.max(deadline);
                    let is_over = connection.is_aborted();
                    connection.wake(self.now);
                    if connection.is_aborted() && !is_over {
                        self.error = Some("ETIMEDOUT");
                    }
                    self.drain(left);
                    self.resume_known(left);
                }
                _ => {
                    self.now = self.now.max(until);
                    return;
                }
            }
        }
    }

    fn inject(&mut self, segment: Segment, left: &mut Departures) {
        match &mut self.connection {
            Some(connection) => {
                let before = connection.state();
                connection.accept(self.now, segment);
                if connection.is_open() {
                    self.established.get_or_insert(self.now);
                }
                if connection.is_aborted() && before != State::Closed {
                    self.error = error_of_reset(before);
                }
            }
            // Without a connection, the host responds.
            None => left.extend(Connection::refusal(&segment).map(|refusal| (self.now, refusal))),
        }
        self.drain(left);
        self.resume_known(left);
    }

    fn begin(&mut self, line: usize, call: &Call, left: &mut Departures) -> Result<(), Refusal> {
        self.ended = None;
        self.pending = Some(Pending::new(line, call));
        self.resume(left)
    }

    fn ended(&mut self) -> Option<(Instant, Answer)> {
        self.ended.take()
    }

    fn set(&mut self, order: &Order) -> Result<(), Refusal> {
        if order.key == REFUSES {
            self.is_refused = order.value == "1";
            if let Some(connection) = &mut self.connection {
                connection.set_refused(self.is_refused);
            }
            return Ok(());
        }
        if self.connection.is_some() && self.start.is_changed_by(order)? {
            let message = format!("the variable {} set to {} during the connection", order.key, order.value);
            return Err(Refusal::out_of_scope(order.line, message));
        }
        self.start.adopt(order)
    }

    fn info(&self, name: &str) -> Option<i64> {
        info::field(self.connection.as_ref()?, Ages { now: self.now, established: self.established }, name)
    }
}
