//! Plays a timeline to a machine.

use crate::driven::Driven;
use crate::script::{Line, Machine as Kind, Options, Script, What, Written};
use acklab_base::random::Seed;
use acklab_base::{Duration, Fate, Instant, Machine, StreamPort};
use acklab_transport::ack::{self, Policy};
use acklab_transport::cc::Controller;
use acklab_transport::recovery::CongestionState;
use acklab_transport::tcp::{Connection, Receiver, Sender, ecn};
use acklab_wire::tcp::{AckRate, Flags, Options as WireOptions, SackBlock, Segment, SeqNumber, Timestamps};
use std::collections::VecDeque;

/// The other end's initial sequence number, close to the end of the number space so that every long
/// timeline wraps.
const PEER: SeqNumber = SeqNumber(u32::MAX - 2500);

enum Subject {
    Sender(Box<Driven>),
    Receiver(Box<Receiver>),
    Connection(Box<Connection>),
}

impl Subject {
    fn machine(&mut self) -> &mut dyn Machine<Datagram = Segment, Outcome = Fate> {
        match self {
            Self::Sender(sender) => &mut **sender,
            Self::Receiver(receiver) => &mut **receiver,
            Self::Connection(connection) => &mut **connection,
        }
    }

    /// Returns the port on which the lines of a script write and read. The traffic of a sender
    /// defines its writes.
    fn port(&mut self) -> Result<&mut dyn StreamPort, String> {
        match self {
            Self::Sender(_) => Err("a sender reads nothing, and writes its traffic".into()),
            Self::Receiver(receiver) => Ok(&mut **receiver),
            Self::Connection(connection) => Ok(&mut **connection),
        }
    }

    /// Returns the connection, for operations of a socket that a port lacks.
    fn connection(&mut self) -> Result<&mut Connection, String> {
        match self {
            Self::Connection(connection) => Ok(connection),
            Self::Sender(_) | Self::Receiver(_) => Err("only a connection has what a socket can do".into()),
        }
    }

    /// Returns the sending half, if there is one.
    fn sending(&self) -> Option<&Sender> {
        match self {
            Self::Sender(sender) => Some(sender),
            Self::Receiver(_) => None,
            Self::Connection(connection) => Some(connection.sending()),
        }
    }

    /// Returns the receiving half, if there is one.
    fn receiving(&self) -> Option<&Receiver> {
        match self {
            Self::Sender(_) => None,
            Self::Receiver(receiver) => Some(receiver),
            Self::Connection(connection) => Some(connection.receiving()),
        }
    }
}

struct Player<'a> {
    script: &'a Script,
    subject: Subject,
    /// The machine's initial sequence number, once it was sent.
    own: Option<SeqNumber>,
    now: Instant,
    /// The segments that were sent and are not yet matched with a line.
    left: VecDeque<(Instant, Segment)>,
}

/// Plays a script. A failure begins with the number of its line.
pub(crate) fn play(script: &Script) -> Result<(), String> {
    let seed = Seed(1);
    let built_in = "timelines are of what is built in";
    let start = script.config.controller_start(seed, "timeline");
    let controller = || Controller::new(&script.config.congestion, &start).expect(built_in);
    let policy = || Policy::new(script.config.ack).expect(built_in);
    let subject = match script.machine {
        Kind::Sender => Subject::Sender(Box::new(Driven::new(
            script.config,
            controller(),
            script.traffic,
            script.stop,
            seed,
            "timeline",
        ))),
        Kind::Receiver => {
            let receiver = Receiver::new(script.config, policy(), seed, "timeline");
            Subject::Receiver(Box::new(receiver.with_reading(script.reading)))
        }
        Kind::Active => {
            let connection = Connection::active(script.config, controller(), policy(), seed, "timeline");
            Subject::Connection(Box::new(connection.with_reading(script.reading)))
        }
        Kind::Passive => {
            let connection = Connection::passive(script.config, controller(), policy(), seed, "timeline");
            Subject::Connection(Box::new(connection.with_reading(script.reading)))
        }
    };
    let mut player = Player { script, subject, own: None, now: Instant::ZERO, left: VecDeque::new() };
    if script.machine == Kind::Active {
        player.subject.port()?.open(Instant::ZERO);
        player.drain();
    }
    if let Some(answered) = script.handshake {
        player.handshake(answered);
    }
    for line in &script.lines {
        player.line(line).map_err(|failure| format!("{}: {failure}", line.number))?;
    }
    let last = script.lines.last().map_or(0, |line| line.number);
    player.nothing_left().map_err(|failure| format!("{last}: {failure}"))
}

impl Player<'_> {
    fn line(&mut self, line: &Line) -> Result<(), String> {
        match &line.what {
            What::Leaves(expected) => return self.leaves(line.at, expected),
            What::Arrives(segment) => {
                self.nothing_leaves_before(line.at)?;
                let segment = self.to_wire(segment);
                self.accept(segment);
            }
            What::Reads(octets) => {
                self.nothing_leaves_before(line.at)?;
                let read = self.subject.port()?.read(self.now, *octets);
                if read != *octets {
                    return Err(format!("expected {octets} octets to read\n        got {read}"));
                }
                self.drain();
            }
            What::Writes(octets, flags) => {
                self.nothing_leaves_before(line.at)?;
                let written = match &mut self.subject {
                    Subject::Connection(connection) => connection.send(self.now, *octets, *flags),
                    subject => subject.port()?.write(self.now, *octets),
                };
                if written != *octets {
                    return Err(format!("expected room for {octets} octets\n        got {written}"));
                }
                self.drain();
            }
            What::Corks(is_corked) => {
                self.nothing_leaves_before(line.at)?;
                self.subject.connection()?.set_corked(*is_corked);
                self.drain();
            }
            What::Pushes => {
                self.nothing_leaves_before(line.at)?;
                self.subject.connection()?.release_held();
                self.drain();
            }
            What::SetsSendBuffer(size) => {
                self.nothing_leaves_before(line.at)?;
                self.subject.connection()?.set_send_buffer(*size);
            }
            What::SetsUserTimeout(limit) => {
                self.nothing_leaves_before(line.at)?;
                self.subject.connection()?.set_user_timeout(Some(*limit));
            }
            What::Refuses(is_refused) => {
                self.nothing_leaves_before(line.at)?;
                self.subject.connection()?.set_refused(*is_refused);
            }
            What::Closes => {
                self.nothing_leaves_before(line.at)?;
                self.subject.port()?.close(self.now);
                self.drain();
            }
            What::Releases => {
                self.nothing_leaves_before(line.at)?;
                self.subject.connection()?.release(self.now);
                self.drain();
            }
            What::Aborts => {
                self.nothing_leaves_before(line.at)?;
                self.subject.connection()?.abort(self.now);
                self.drain();
            }
            What::Holds(states) => {
                self.nothing_leaves_before(line.at)?;
                for (name, expected) in states {
                    let found = self.state(name)?;
                    if found != *expected {
                        return Err(format!("expected {name} {expected}\n        got {name} {found}"));
                    }
                }
            }
            What::Silence => self.nothing_leaves_before(line.at)?,
        }
        Ok(())
    }

    /// Performs the handshake, which scripts omit: the SYN at zero and its answer at `answered`.
    fn handshake(&mut self, answered: Instant) {
        let tick = self.script.config.timestamps;
        let options = Options {
            mss: Some(1460),
            window_scale: self.script.peer.window_scale,
            sack_permitted: true,
            timestamps: tick.map(|_| (0, 0)),
            accurate_ecn: None,
            ack_congestion_control: matches!(self.script.config.ack, ack::PolicyConfig::AckCongestionControl { .. }),
            ack_ratio: None,
            ack_rate: matches!(self.script.config.ack, ack::PolicyConfig::AckRateRequest { .. })
                .then_some(AckRate::Supported),
        };
        let offer = match self.script.config.ecn {
            ecn::EcnConfig::Off => Flags::NONE,
            ecn::EcnConfig::Classic | ecn::EcnConfig::Dctcp => Flags::ECE | Flags::CWR,
            ecn::EcnConfig::Accurate => Flags::AE | Flags::ECE | Flags::CWR,
        };
        // RFC 9768, Table 2: the SYN was not ECN-capable.
        let answer = match self.script.config.ecn {
            ecn::EcnConfig::Off => Flags::NONE,
            ecn::EcnConfig::Classic | ecn::EcnConfig::Dctcp => Flags::ECE,
            ecn::EcnConfig::Accurate => Flags::CWR,
        };
        let syn = Written {
            flags: Flags::SYN | offer,
            window: Some(self.script.peer.window),
            options: Some(options),
            ..Written::default()
        };
        match self.script.machine {
            Kind::Sender | Kind::Active => {
                self.wake(Instant::ZERO);
                self.left.clear();
                self.now = answered;
                let answer = self.to_wire(&Written { flags: Flags::SYN | Flags::ACK | answer, ack: Some(1), ..syn });
                self.accept(answer);
                // The ACK of the handshake is sent first.
                self.left.pop_front();
            }
            Kind::Receiver | Kind::Passive => {
                let syn = self.to_wire(&syn);
                self.accept(syn);
                self.left.clear();
                self.now = answered;
                if self.script.machine == Kind::Passive {
                    let ack = self.to_wire(&Written {
                        flags: Flags::ACK,
                        start: 1,
                        ack: Some(1),
                        options: tick.map(|_| Options { timestamps: Some((0, 0)), ..Options::default() }),
                        ..Written::default()
                    });
                    self.accept(ack);
                }
            }
        }
    }

    fn accept(&mut self, segment: Segment) {
        self.subject.machine().accept(self.now, segment);
        self.drain();
    }

    fn wake(&mut self, at: Instant) {
        self.now = at;
        self.subject.machine().wake(at);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(segment) = self.subject.machine().poll(self.now) {
            if segment.flags.contains(Flags::SYN) {
                self.own.get_or_insert(segment.seq);
            }
            self.left.push_back((self.now, segment));
        }
    }

    /// Advances time to `at`, or until a segment is sent.
    fn pass(&mut self, at: Instant) {
        while self.left.is_empty()
            && let Some(deadline) = self.subject.machine().deadline()
            && deadline <= at
        {
            self.wake(deadline.max(self.now));
        }
    }

    fn nothing_leaves_before(&mut self, at: Instant) -> Result<(), String> {
        self.pass(at);
        self.nothing_left()?;
        self.now = at;
        Ok(())
    }

    fn nothing_left(&self) -> Result<(), String> {
        match self.left.front() {
            None => Ok(()),
            Some((at, segment)) => {
                let got = self.written(segment, true, true);
                Err(format!("expected nothing\n        got {} > {got}", time(*at)))
            }
        }
    }

    fn leaves(&mut self, at: Instant, expected: &Written) -> Result<(), String> {
        self.pass(at);
        let Some((left_at, segment)) = self.left.pop_front() else {
            return Err(format!("expected {} > {expected}\n        got nothing", time(at)));
        };
        let mut got = self.written(&segment, expected.window.is_some(), expected.options.is_some());
        if expected.ack.is_none() {
            got.ack = None;
        }
        if left_at != at || got != *expected {
            return Err(format!("expected {} > {expected}\n        got {} > {got}", time(at), time(left_at)));
        }
        Ok(())
    }

    /// Returns a segment in the syntax of scripts.
    fn written(&self, segment: &Segment, with_window: bool, with_options: bool) -> Written {
        let own = self.own.unwrap_or(segment.seq);
        let options = &segment.options;
        let relative = |number: SeqNumber, initial| number.offset_near(initial, 0);
        Written {
            flags: segment.flags,
            ecn: segment.ecn,
            start: relative(segment.seq, own),
            len: segment.payload,
            ack: segment.flags.contains(Flags::ACK).then(|| relative(segment.ack, PEER)),
            window: with_window.then_some(segment.window),
            sack: options
                .sack
                .as_slice()
                .iter()
                .map(|block| (relative(block.start, PEER), relative(block.end, PEER)))
                .collect(),
            options: with_options.then(|| Options {
                mss: options.mss,
                window_scale: options.window_scale,
                sack_permitted: options.sack_permitted,
                timestamps: options.timestamps.map(|timestamps| (timestamps.value, timestamps.echo)),
                accurate_ecn: options.accurate_ecn,
                ack_congestion_control: options.ack_congestion_control,
                ack_ratio: options.ack_ratio,
                ack_rate: options.ack_rate,
            }),
        }
    }

    fn to_wire(&self, written: &Written) -> Segment {
        let own = self.own.unwrap_or_default();
        let options = written.options.clone().unwrap_or_default();
        Segment {
            ecn: written.ecn,
            seq: SeqNumber::at(PEER, written.start),
            ack: SeqNumber::at(own, written.ack.unwrap_or(0)),
            flags: written.flags,
            window: written.window.unwrap_or(self.script.peer.window),
            options: WireOptions {
                timestamps: options.timestamps.map(|(value, echo)| Timestamps { value, echo }),
                sack: written
                    .sack
                    .iter()
                    .map(|(start, end)| SackBlock { start: SeqNumber::at(own, *start), end: SeqNumber::at(own, *end) })
                    .collect(),
                mss: options.mss,
                window_scale: options.window_scale,
                sack_permitted: options.sack_permitted,
                accurate_ecn: options.accurate_ecn,
                ack_congestion_control: options.ack_congestion_control,
                ack_ratio: options.ack_ratio,
                ack_rate: options.ack_rate,
            },
            payload: written.len,
        }
    }

    fn state(&self, name: &str) -> Result<String, String> {
        let mss = self.script.config.mss.get();
        let segments = |octets: u64| match octets {
            u64::MAX => "infinite".to_owned(),
            _ if octets.is_multiple_of(mss) => (octets / mss).to_string(),
            _ => format!("{octets}B"),
        };
        let duration = |span: Option<Duration>| span.map_or_else(|| "none".to_owned(), |span| span.to_string());
        let (sending, receiving) = (self.subject.sending(), self.subject.receiving());
        let deadline = match &self.subject {
            Subject::Sender(sender) => sender.deadline(),
            Subject::Receiver(receiver) => receiver.deadline(),
            Subject::Connection(connection) => connection.deadline(),
        };
        match (sending, receiving, name) {
            (_, _, "deadline") => Ok(deadline.map_or_else(|| "none".to_owned(), time)),
            (Some(sender), _, "cwnd") => Ok(segments(sender.window().cwnd)),
            (Some(sender), _, "ssthresh") => Ok(segments(sender.window().ssthresh)),
            (Some(sender), _, "pipe") => Ok(segments(sender.in_flight())),
            (Some(sender), _, "reordering") => Ok(sender.reordering().to_string()),
            (Some(sender), _, "srtt") => Ok(duration(sender.rtt().srtt())),
            (Some(sender), _, "room") => Ok(sender.room().to_string()),
            (Some(sender), _, "busy") => Ok(sender.limited_times(self.now).busy.to_string()),
            (Some(sender), _, "by-peer-window") => Ok(sender.limited_times(self.now).by_peer_window.to_string()),
            (Some(sender), _, "by-send-buffer") => Ok(sender.limited_times(self.now).by_send_buffer.to_string()),
            (Some(sender), _, "marked") => Ok(sender.counters().marked_bytes.to_string()),
            (Some(sender), _, "marked-packets") => Ok(sender.reported_marks().packets.to_string()),
            (Some(sender), _, "samples") => Ok(sender.rtt().samples().to_string()),
            (Some(sender), _, "state") => Ok(match sender.congestion_state() {
                CongestionState::Open => "open",
                CongestionState::Disorder => "disorder",
                CongestionState::Reduced => "reduced",
                CongestionState::Recovery => "recovery",
                CongestionState::Loss => "loss",
            }
            .to_owned()),
            (Some(sender), _, "phase") => Ok(match &self.subject {
                Subject::Connection(connection) => connection.state().name().to_lowercase(),
                Subject::Sender(_) | Subject::Receiver(_) => format!("{:?}", sender.phase()).to_lowercase(),
            }),
            (Some(sender), _, "ratio") => {
                Ok(sender.ack_ratio().map_or_else(|| "none".to_owned(), |ratio| ratio.to_string()))
            }
            (_, Some(receiver), "delivered") => Ok(receiver.delivered().to_string()),
            (_, Some(receiver), "readable") => Ok(receiver.readable().to_string()),
            (_, Some(receiver), "piggybacked") => {
                Ok(receiver.counters().acks[ack::Reason::Piggyback.index()].to_string())
            }
            _ => Err(format!("no such state: {name}")),
        }
    }
}

/// Returns an instant in the syntax of scripts.
fn time(at: Instant) -> String {
    at.since(Instant::ZERO).to_string()
}
