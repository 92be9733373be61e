//! The effects of the calls of a script.

use super::Machine;
use crate::names;
use crate::refusal::Refusal;
use crate::script::{Argument, Call, O_NONBLOCK, O_RDWR};
use crate::stack::Answer;
use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, StreamPort};
use acklab_transport::reading::Reading;
use acklab_transport::tcp::Connection;
use acklab_transport::tcp::connection::State;
use acklab_transport::tcp::sender::SendFlags;
use std::collections::BTreeMap;

/// A script has no seed. Only the initial sequence number is random, and the script cannot observe
/// it.
const SEED: Seed = Seed(1);
/// The name of the connection, which identifies its random streams.
const NAME: &str = "script";

/// A call in progress.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    line: usize,
    call: Call,
    /// The number of octets that the call has written so far.
    written: u64,
}

impl Pending {
    pub(super) fn new(line: usize, call: &Call) -> Self {
        Self { line, call: call.clone(), written: 0 }
    }
}

/// The sockets of a script, by their number in the script.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    open: BTreeMap<i64, Socket>,
}

#[derive(Clone, Copy, Debug)]
struct Socket {
    role: Role,
    is_non_blocking: bool,
    /// `true` once writing has been shut down.
    is_write_shut: bool,
    /// `true` once reading has been shut down.
    is_read_shut: bool,
    /// `true` if the socket listens, and its connection has been accepted.
    has_accepted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Fresh,
    Listening,
    Connected,
}

impl Socket {
    const fn new(role: Role) -> Self {
        Self { role, is_non_blocking: false, is_write_shut: false, is_read_shut: false, has_accepted: false }
    }
}

/// The result of attempting a call: its return value, or `None` if it blocks.
type Attempt = Result<Option<Answer>, Refusal>;

const DONE: Attempt = Ok(Some(Answer::Returns(0)));

fn returns(number: i64) -> Attempt {
    Ok(Some(Answer::Returns(number)))
}

fn fails(error: &str) -> Attempt {
    Ok(Some(Answer::Fails(error.to_owned())))
}

impl Machine<'_> {
    /// Attempts a call.
    pub(super) fn attempt(&mut self, pending: &mut Pending) -> Attempt {
        let Pending { line, call, written } = pending;
        let outside = |what: String| Err(Refusal::out_of_scope(*line, what));
        let name = call.name.as_str();
        if name == "socket" {
            return self.socket(call, &outside);
        }
        let Some(number) = call.number(0) else { return outside(format!("{name} without a socket")) };
        let Some(socket) = self.sockets.open.get(&number).copied() else {
            return outside(format!("{name} of {number}, which is no socket of TCP"));
        };
        match name {
            "bind" => DONE,
            "listen" => self.listen(number, &outside),
            "accept" => self.accept_socket(call, number, socket),
            "connect" => self.connect(number, socket, &outside),
            "fcntl" => self.fcntl(call, number, socket, &outside),
            "setsockopt" => self.set_option(call, socket, &outside),
            "getsockopt" => self.get_option(call, &outside),
            "write" | "send" | "sendmsg" => self.write(call, socket, written, &outside),
            "read" | "recv" => self.read(call, socket, &outside),
            "ioctl" => self.ioctl(call, &outside),
            "shutdown" => self.shutdown(call, number, &outside),
            "close" => self.close(number),
            _ => outside(format!("the call {name}")),
        }
    }

    fn socket(&mut self, call: &Call, outside: &dyn Fn(String) -> Attempt) -> Attempt {
        let is =
            |at: usize, name: &str| matches!(call.arguments.get(at), Some(Argument::Names(names)) if names == &[name]);
        if !is(1, "SOCK_STREAM") || !is(2, "IPPROTO_TCP") {
            return outside("a socket of another protocol than TCP".to_owned());
        }
        let Some(number) = call.result.filter(|number| *number >= 0) else {
            return outside("an unavailable socket".to_owned());
        };
        if self.sockets.open.is_empty() {
            // The options of earlier sockets do not apply to this socket.
            (self.start.receive_buffer, self.start.max_payload) = (None, None);
        }
        self.sockets.open.insert(number, Socket::new(Role::Fresh));
        returns(number)
    }

    fn connection(&self, is_active: bool) -> Result<Connection, String> {
        let config = self.start.config(is_active)?;
        let (controller, policy) = (self.strategy)(&config)?;
        let end = if is_active { Connection::active } else { Connection::passive };
        Ok(end(config, controller, policy, SEED, NAME).with_reading(Reading::OnDemand))
    }

    /// Makes `connection` the connection under test.
    fn adopt(&mut self, connection: Connection) {
        self.connection = Some(Box::new(connection));
        if let Some(connection) = &mut self.connection {
            connection.set_refused(self.is_refused);
        }
        (self.established, self.error) = (None, None);
    }

    fn listen(&mut self, number: i64, outside: &dyn Fn(String) -> Attempt) -> Attempt {
        match self.connection(false) {
            Ok(connection) => self.adopt(connection),
            Err(fault) => return outside(fault),
        }
        self.change(number, |socket| socket.role = Role::Listening);
        DONE
    }

    /// Returns `true` if there is a connection whose handshake has begun.
    fn has_begun(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.state() != State::Listen)
    }

    /// Applies the options that were set after the listening end began to listen.
    fn begin_anew(&mut self, outside: &dyn Fn(String) -> Attempt) -> Attempt {
        if self.connection.is_some() {
            match self.connection(false) {
                Ok(connection) => self.connection = Some(Box::new(connection)),
                Err(fault) => return outside(fault),
            }
        }
        DONE
    }

    fn accept_socket(&mut self, call: &Call, listening: i64, socket: Socket) -> Attempt {
        let is_established = self.connection.as_ref().is_some_and(|connection| connection.is_open());
        match (is_established, call.result) {
            (true, Some(number)) if number >= 0 => {
                self.sockets.open.insert(number, Socket::new(Role::Connected));
                self.change(listening, |socket| socket.has_accepted = true);
                returns(number)
            }
            (true, _) => returns(i64::MAX),
            (false, _) if socket.is_non_blocking => fails("EAGAIN"),
            (false, _) => Ok(None),
        }
    }

    fn connect(&mut self, number: i64, socket: Socket, outside: &dyn Fn(String) -> Attempt) -> Attempt {
        if socket.role == Role::Fresh {
            match self.connection(true) {
                Ok(mut connection) => {
                    connection.open(self.now);
                    self.adopt(connection);
                }
                Err(fault) => return outside(fault),
            }
            self.change(number, |socket| socket.role = Role::Connected);
            return if socket.is_non_blocking { fails("EINPROGRESS") } else { Ok(None) };
        }
        if let Some(error) = self.error.take() {
            return fails(error);
        }
        let is_open = self.connection.as_ref().is_some_and(|connection| connection.is_open());
        match (is_open, socket.is_non_blocking) {
            (true, true) => fails("EISCONN"),
            (true, false) => DONE,
            (false, true) => fails("EALREADY"),
            (false, false) => Ok(None),
        }
    }

    fn fcntl(&mut self, call: &Call, number: i64, socket: Socket, outside: &dyn Fn(String) -> Attempt) -> Attempt {
        match call.arguments.get(1..) {
            Some([Argument::Names(command), ..]) if command == &["F_GETFL"] => {
                returns(O_RDWR | if socket.is_non_blocking { O_NONBLOCK } else { 0 })
            }
            Some([Argument::Names(command), Argument::Names(flags)]) if command == &["F_SETFL"] => {
                let is_non_blocking = flags.iter().any(|flag| flag == "O_NONBLOCK");
                self.change(number, |socket| socket.is_non_blocking = is_non_blocking);
                DONE
            }
            _ => outside("a command of fcntl".to_owned()),
        }
    }

    fn set_option(&mut self, call: &Call, socket: Socket, outside: &dyn Fn(String) -> Attempt) -> Attempt {
        let option = call.option();
        let value = call.option_value();
        let connection = self.connection.as_mut().filter(|_| socket.role == Role::Connected);
        match (option, value) {
            ("SO_REUSEADDR", Some(_)) => DONE,
            // acklab has no Nagle algorithm to disable, but data that more writes would delay are
            // sent.
            ("TCP_NODELAY", Some(value)) => {
                if let Some(connection) = connection.filter(|_| value != 0) {
                    connection.release_held();
                }
                DONE
            }
            ("TCP_CORK", Some(value)) if connection.is_some() => {
                if let Some(connection) = connection {
                    connection.set_corked(value != 0);
                }
                DONE
            }
            ("SO_SNDBUF" | "SO_SNDBUFFORCE", Some(size)) => {
                if let Some(connection) = connection {
                    connection.set_send_buffer(size.unsigned_abs());
                }
                DONE
            }
            ("TCP_USER_TIMEOUT", Some(millis)) if connection.is_some() => {
                let limit = Some(Duration::from_millis(millis.unsigned_abs())).filter(|limit| !limit.is_zero());
                if let Some(connection) = connection {
                    connection.set_user_timeout(limit);
                }
                DONE
            }
            // Simulated packets are not fragmented, and their class is not used.
            ("IP_MTU_DISCOVER", _) => DONE,
            ("IP_TOS", Some(octet)) if octet & 0b11 == 0 => DONE,
            ("SO_RCVBUF" | "SO_RCVBUFFORCE", Some(size)) if !self.has_begun() => {
                self.start.receive_buffer = Some(Bytes(size.unsigned_abs()));
                self.begin_anew(outside)
            }
            ("TCP_MAXSEG", Some(size)) if !self.has_begun() => {
                self.start.max_payload = Some(size.unsigned_abs());
                self.begin_anew(outside)
            }
            _ => outside(format!("the option {option} of a socket")),
        }
    }

    fn get_option(&mut self, call: &Call, outside: &dyn Fn(String) -> Attempt) -> Attempt {
        let option = call.option();
        let Some(expected) = call.option_value() else { return outside(format!("the option {option} of a socket")) };
        let found = match (option, &self.connection) {
            ("SO_ERROR", Some(_)) => self.error.take().and_then(names::number).unwrap_or(0),
            ("TCP_MAXSEG", _) if !self.has_begun() && self.start.max_payload.is_some() => {
                self.start.max_payload.unwrap_or_default() as i64
            }
            ("TCP_MAXSEG", Some(connection)) => connection.sending().window().mss as i64,
            ("SO_SNDBUF", Some(connection)) if connection.sending().send_buffer().is_some() => {
                connection.sending().send_buffer().unwrap_or_default() as i64
            }
            _ => return outside(format!("the option {option} of a socket")),
        };
        if found == expected { DONE } else { fails(&format!("{option} {found}")) }
    }

    fn write(
        &mut self,
        call: &Call,
        socket: Socket,
        written: &mut u64,
        outside: &dyn Fn(String) -> Attempt,
    ) -> Attempt {
        let Some(octets) = call.octets() else { return outside(format!("this form of {}", call.name)) };
        let (mut is_non_blocking, mut flags) = (socket.is_non_blocking, SendFlags::default());
        for flag in call.flags() {
            match flag.as_str() {
                "MSG_DONTWAIT" => is_non_blocking = true,
                "MSG_MORE" => flags.more = true,
                "MSG_EOR" => flags.ends_record = true,
                "MSG_NOSIGNAL" | "0" => {}
                _ => return outside(format!("the flag {flag} of {}", call.name)),
            }
        }
        if socket.is_write_shut {
            return fails("EPIPE");
        }
        let now = self.now;
        let Some(connection) = self.connection.as_mut().filter(|_| socket.role == Role::Connected) else {
            return fails("ENOTCONN");
        };
        if let Some(error) = self.error.take() {
            return fails(error);
        }
        if connection.is_aborted() {
            return fails("EPIPE");
        }
        if connection.is_open() {
            *written += connection.send(now, octets - *written, flags);
        }
        match *written {
            all if all == octets => returns(all as i64),
            0 if is_non_blocking => fails("EAGAIN"),
            part if is_non_blocking => returns(part as i64),
            _ => Ok(None),
        }
    }

    fn read(&mut self, call: &Call, socket: Socket, outside: &dyn Fn(String) -> Attempt) -> Attempt {
        let Some(octets) = call.octets() else { return outside(format!("this form of {}", call.name)) };
        let mut is_non_blocking = socket.is_non_blocking;
        for flag in call.flags() {
            match flag.as_str() {
                "MSG_DONTWAIT" => is_non_blocking = true,
                "0" => {}
                _ => return outside(format!("the flag {flag} of {}", call.name)),
            }
        }
        let now = self.now;
        let Some(connection) = self.connection.as_mut().filter(|_| socket.role == Role::Connected) else {
            return fails("ENOTCONN");
        };
        if octets == 0 {
            return DONE;
        }
        match connection.read(now, octets) {
            0 if connection.is_at_end() || socket.is_read_shut => DONE,
            0 if connection.is_aborted() => self.error.take().map_or(DONE, fails),
            0 if is_non_blocking => fails("EAGAIN"),
            0 => Ok(None),
            read => returns(read as i64),
        }
    }

    /// Handles `ioctl(4, SIOCINQ, [1000]) = 0`, which returns the number of readable octets.
    fn ioctl(&self, call: &Call, outside: &dyn Fn(String) -> Attempt) -> Attempt {
        match (&call.arguments[1..], &self.connection) {
            ([Argument::Names(request), Argument::List(list)], Some(connection)) if request == &["SIOCINQ"] => {
                let found = connection.readable() as i64;
                if list == &[Argument::Number(found)] { DONE } else { fails(&format!("SIOCINQ {found}")) }
            }
            _ => outside("this request of ioctl".to_owned()),
        }
    }

    fn shutdown(&mut self, call: &Call, number: i64, outside: &dyn Fn(String) -> Attempt) -> Attempt {
        let Some(Argument::Names(how)) = call.arguments.get(1) else {
            return outside("this form of shutdown".to_owned());
        };
        let (reads, writes) = match how.first().map(String::as_str) {
            Some("SHUT_RD") => (true, false),
            Some("SHUT_WR") => (false, true),
            Some("SHUT_RDWR") => (true, true),
            _ => return outside("this form of shutdown".to_owned()),
        };
        self.change(number, |socket| {
            socket.is_read_shut |= reads;
            socket.is_write_shut |= writes;
        });
        if writes && let Some(connection) = &mut self.connection {
            connection.close(self.now);
        }
        DONE
    }

    fn close(&mut self, number: i64) -> Attempt {
        let socket = self.sockets.open.remove(&number);
        if let (Some(socket), Some(connection)) = (socket, &mut self.connection) {
            match socket.role {
                Role::Connected => connection.release(self.now),
                // A connection that waits to be accepted is closed with the listening socket
                // (Linux's `inet_csk_listen_stop`).
                Role::Listening if !socket.has_accepted => connection.abort(self.now),
                Role::Listening | Role::Fresh => {}
            }
        }
        DONE
    }

    fn change(&mut self, number: i64, change: impl FnOnce(&mut Socket)) {
        if let Some(socket) = self.sockets.open.get_mut(&number) {
            change(socket);
        }
    }
}
