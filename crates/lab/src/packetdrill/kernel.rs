//! Plays scripts against the TCP of this machine's kernel, as packetdrill does: in real time, with
//! a TUN device in a network namespace instead of the network.

use crate::error::Error;
use acklab_base::{Duration, Instant};
use acklab_live::netlink::{Device, Metrics, Netlink};
use acklab_live::socket::{Interest, Options, Tcp, Watch};
use acklab_live::{Namespace, Tun, WallClock};
use acklab_packetdrill::script::{Argument, Call, O_NONBLOCK, O_RDWR};
use acklab_packetdrill::stack::{Answer, Departures};
use acklab_packetdrill::{Order, Refusal, Stack};
use acklab_wire::ipv4::{Checksums, Extent, Ipv4Fields};
use acklab_wire::tcp::{Segment, decode};
use acklab_wire::{Endpoints, Pdu};
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// The address of the kernel and the address of the peer, whose packets the script contains. The
/// network is reserved for tests of devices (RFC 2544, appendix C.2.2).
const LOCAL: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const REMOTE: Ipv4Addr = Ipv4Addr::new(198, 19, 0, 1);
/// The listening port of both ends, and the port from which connections are opened.
const PORT: u16 = 8080;
const CLIENT_PORT: u16 = 49152;
/// The device. Each of its packets contains one segment and is queued until it is read.
const DEVICE: Device = Device { mtu: 1500, queue_len: 10_000, gso_max_segs: 1 };
/// The interval between retries of a blocking call.
const RETRY: Duration = Duration::from_micros(500);
/// The maximum size of an IP packet, in bytes.
const LARGEST: usize = 65_535;

/// The kernel's TCP.
#[derive(Debug)]
pub struct Kernel {
    namespace: Namespace,
    tun: Tun,
    watch: Watch,
    /// The clock. It starts at the first event.
    clock: Option<WallClock>,
    metrics: Metrics,
    has_route: bool,
    /// The congestion controller of each socket. As the default of a namespace, the kernel accepts
    /// only controllers that every user may choose.
    congestion: Option<String>,
    sockets: BTreeMap<i64, Socket>,
    /// The descriptor of the connection, once a connection exists.
    connection: Option<i64>,
    pending: Option<Pending>,
    ended: Option<(Instant, Answer)>,
    /// The ports of the connection, if the peer opens it.
    ports: Endpoints,
    octets: Vec<u8>,
}

#[derive(Debug, Default)]
struct Socket {
    tcp: Option<Tcp>,
    options: Options,
    has_no_delay: bool,
    is_non_blocking: bool,
    is_connecting: bool,
}

#[derive(Debug)]
struct Pending {
    line: usize,
    call: Call,
    written: u64,
}

type Attempt = Result<Option<Answer>, Refusal>;

impl Kernel {
    /// Creates a network namespace with a device that the script reads and writes.
    ///
    /// # Errors
    /// If the process lacks the permission.
    pub fn new() -> Result<Self, Error> {
        let namespace = Namespace::new()?;
        let tun = Tun::new(&namespace, "acklab0")?;
        let refused = |source| Error::Host { what: "cannot configure the device of a script".to_owned(), source };
        let configure = || {
            // Prevents connections from reusing metrics of earlier ones.
            namespace.set("net/ipv4/tcp_no_metrics_save", "1")?;
            let netlink = Netlink::new(&namespace)?;
            netlink.configure(tun.index(), DEVICE)?;
            netlink.bring_up(tun.index())?;
            netlink.add_address(tun.index(), LOCAL.into())?;
            let watch = Watch::new()?;
            watch.add(&tun, 0, Interest::Both)?;
            Ok(watch)
        };
        let watch = configure().map_err(refused)?;
        Ok(Self {
            namespace,
            tun,
            watch,
            clock: None,
            metrics: Metrics::default(),
            has_route: false,
            congestion: None,
            sockets: BTreeMap::new(),
            connection: None,
            pending: None,
            ended: None,
            ports: Endpoints {
                source: SocketAddrV4::new(REMOTE, CLIENT_PORT),
                destination: SocketAddrV4::new(LOCAL, PORT),
            },
            octets: Vec::with_capacity(LARGEST),
        })
    }

    /// Adds the route to the peer before the clock starts. By then, the script has set the
    /// attributes of the route.
    fn add_route(&mut self, line: usize) -> Result<(), Refusal> {
        if !std::mem::replace(&mut self.has_route, true) {
            let netlink = Netlink::new(&self.namespace);
            let added = netlink.and_then(|netlink| netlink.add_route(self.tun.index(), REMOTE.into(), &self.metrics));
            added.map_err(|error| Refusal::out_of_scope(line, format!("a route to the peer: {error}")))?;
        }
        Ok(())
    }

    fn clock(&mut self) -> WallClock {
        *self.clock.get_or_insert_with(WallClock::start)
    }

    /// Reads the packets that are queued in the device.
    fn receive(&mut self, left: &mut Departures) {
        let clock = self.clock();
        loop {
            self.octets.clear();
            if !self.tun.read(&mut self.octets).unwrap_or(false) {
                return;
            }
            // Packets that are not TCP, such as IPv6 announcements, are irrelevant to a script.
            if let Ok((_, segment)) = decode(&self.octets, Checksums::Verify) {
                left.push_back((clock.now(), segment));
            }
        }
    }

    fn resume(&mut self) -> Result<(), Refusal> {
        if let Some(mut pending) = self.pending.take() {
            match self.attempt(&mut pending)? {
                Some(answer) => self.ended = Some((self.clock().now(), answer)),
                None => self.pending = Some(pending),
            }
        }
        Ok(())
    }

    fn attempt(&mut self, pending: &mut Pending) -> Attempt {
        let Pending { line, call, written } = pending;
        let outside = |what: String| Err(Refusal::out_of_scope(*line, what));
        if call.name == "socket" {
            let Some(number) = call.result.filter(|number| *number >= 0) else {
                return outside("a socket that cannot be had".to_owned());
            };
            self.sockets.insert(number, Socket::default());
            return Ok(Some(Answer::Returns(number)));
        }
        let Some(number) = call.number(0).filter(|number| self.sockets.contains_key(number)) else {
            return outside(format!("{} of no socket of TCP", call.name));
        };
        let done = match call.name.as_str() {
            "bind" => Ok(Some(0)),
            "listen" => self.listen(number),
            "accept" => self.accept(number, call.result.unwrap_or_default()),
            "connect" => self.connect(number),
            "setsockopt" => match self.set_option(number, call) {
                Some(done) => done.map(Some),
                None => return outside(format!("the option {} of a socket", call.option())),
            },
            "fcntl" => Ok(Some(self.fcntl(number, call))),
            "getsockopt" => match self.option(number, call) {
                Some(found) => found,
                None => return outside(format!("the option {} of a socket", call.option())),
            },
            "write" | "send" | "sendmsg" => match (call.octets(), SendFlags::of(call)) {
                (Some(octets), Some(flags)) => self.write(number, octets, flags, written),
                (Some(_), None) => return outside(format!("a flag of {}", call.name)),
                (None, _) => return outside(format!("this form of {}", call.name)),
            },
            "read" | "recv" => match call.octets() {
                Some(octets) => self.read(number, octets),
                None => return outside(format!("this form of {}", call.name)),
            },
            "shutdown" => match call.arguments.get(1) {
                Some(Argument::Names(how)) if how == &["SHUT_WR"] => {
                    self.tcp(number).and_then(|tcp| tcp.finish().map(|()| Some(0)))
                }
                _ => return outside("this form of shutdown".to_owned()),
            },
            "close" => {
                self.sockets.remove(&number);
                Ok(Some(0))
            }
            name => return outside(format!("the call {name} at the kernel")),
        };
        Ok(match done {
            Ok(None) if self.sockets.get(&number).is_some_and(|socket| socket.is_non_blocking) => {
                Some(Answer::Fails(if call.name == "connect" { "EINPROGRESS" } else { "EAGAIN" }.to_owned()))
            }
            Ok(number) => number.map(Answer::Returns),
            Err(error) => Some(Answer::Fails(name_of(&error))),
        })
    }

    fn tcp(&self, number: i64) -> io::Result<&Tcp> {
        self.sockets
            .get(&number)
            .and_then(|socket| socket.tcp.as_ref())
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Binds the socket to its address and sets its options.
    fn bound(&mut self, number: i64, port: u16) -> io::Result<()> {
        let Some(socket) = self.sockets.get_mut(&number) else { return Ok(()) };
        socket.options.congestion.clone_from(&self.congestion);
        let tcp = Tcp::bound(&self.namespace, SocketAddr::from((LOCAL, port)), &socket.options)?;
        if socket.has_no_delay {
            tcp.set_no_delay()?;
        }
        socket.tcp = Some(tcp);
        Ok(())
    }

    fn listen(&mut self, number: i64) -> io::Result<Option<i64>> {
        self.bound(number, PORT)?;
        self.tcp(number)?.listen()?;
        Ok(Some(0))
    }

    fn accept(&mut self, number: i64, accepted: i64) -> io::Result<Option<i64>> {
        let Some(tcp) = self.tcp(number)?.accept()? else { return Ok(None) };
        self.sockets.insert(accepted, Socket { tcp: Some(tcp), ..Socket::default() });
        self.connection = Some(accepted);
        Ok(Some(accepted))
    }

    fn connect(&mut self, number: i64) -> io::Result<Option<i64>> {
        if self.sockets.get(&number).is_some_and(|socket| socket.is_connecting) {
            return Ok(self.tcp(number)?.info()?.is_open().then_some(0));
        }
        self.bound(number, CLIENT_PORT)?;
        self.ports =
            Endpoints { source: SocketAddrV4::new(REMOTE, PORT), destination: SocketAddrV4::new(LOCAL, CLIENT_PORT) };
        self.tcp(number)?.connect(SocketAddr::from((REMOTE, PORT)))?;
        self.connection = Some(number);
        if let Some(socket) = self.sockets.get_mut(&number) {
            socket.is_connecting = true;
        }
        Ok(None)
    }

    /// Reads an option of which the script compares only zero with not zero. Returns `None` if the
    /// option is out of scope.
    fn option(&self, number: i64, call: &Call) -> Option<io::Result<Option<i64>>> {
        let expected = call.option_value()?;
        let found = match call.option() {
            // A failed connection reports its error at the next use.
            "SO_ERROR" => Ok(0),
            "SO_SNDBUF" => self.tcp(number).and_then(|tcp| tcp.send_buffer()),
            _ => return None,
        };
        Some(found.and_then(|found| {
            let option = call.option();
            if i64::try_from(found) == Ok(expected) {
                Ok(Some(0))
            } else {
                Err(io::Error::other(format!("{option} {found}")))
            }
        }))
    }

    /// Sets a socket option. Returns `None` if the option is out of scope.
    fn set_option(&mut self, number: i64, call: &Call) -> Option<io::Result<i64>> {
        let value = call.option_value()?;
        let size = usize::try_from(value).ok()?;
        let socket = self.sockets.get_mut(&number)?;
        match (call.option(), &socket.tcp) {
            ("SO_REUSEADDR", _) => {}
            ("TCP_NODELAY", None) => socket.has_no_delay = true,
            ("TCP_NODELAY", Some(tcp)) => return Some(tcp.set_no_delay().map(|()| 0)),
            ("TCP_MAXSEG", None) => socket.options.mss = u32::try_from(value).ok(),
            // The kernel doubles the given value. The option stores the doubled value.
            ("SO_SNDBUF", None) => socket.options.send_buffer = Some(2 * size),
            ("SO_SNDBUF", Some(tcp)) => return Some(tcp.set_send_buffer(2 * size).map(|()| 0)),
            ("TCP_USER_TIMEOUT", Some(tcp)) => {
                return Some(tcp.set_user_timeout(Duration::from_millis(size as u64)).map(|()| 0));
            }
            ("TCP_CORK", Some(tcp)) => return Some(tcp.set_corked(value != 0).map(|()| 0)),
            ("SO_RCVBUF", None) => socket.options.receive_buffer = Some(size),
            _ => return None,
        }
        Some(Ok(0))
    }

    fn fcntl(&mut self, number: i64, call: &Call) -> i64 {
        let Some(socket) = self.sockets.get_mut(&number) else { return -1 };
        match call.arguments.get(1..) {
            Some([Argument::Names(command), Argument::Names(flags)]) if command == &["F_SETFL"] => {
                socket.is_non_blocking = flags.iter().any(|flag| flag == "O_NONBLOCK");
                0
            }
            _ => O_RDWR | if socket.is_non_blocking { O_NONBLOCK } else { 0 },
        }
    }

    fn write(&self, number: i64, octets: u64, flags: SendFlags, written: &mut u64) -> io::Result<Option<i64>> {
        let rest = vec![0; (octets - *written) as usize];
        *written += self.tcp(number)?.send(&rest, flags.more, flags.ends_record)? as u64;
        Ok((*written == octets).then_some(octets as i64))
    }

    fn read(&self, number: i64, octets: u64) -> io::Result<Option<i64>> {
        let mut buffer = vec![0; octets as usize];
        Ok(self.tcp(number)?.discard(&mut buffer)?.map(|read| read as i64))
    }
}

/// The flags of a call that writes bytes.
#[derive(Clone, Copy, Debug, Default)]
struct SendFlags {
    more: bool,
    ends_record: bool,
}

impl SendFlags {
    /// Returns the flags. Returns `None` if a flag is out of scope.
    fn of(call: &Call) -> Option<Self> {
        let mut flags = Self::default();
        for flag in call.flags() {
            match flag.as_str() {
                "MSG_MORE" => flags.more = true,
                "MSG_EOR" => flags.ends_record = true,
                "MSG_NOSIGNAL" | "0" => {}
                _ => return None,
            }
        }
        Some(flags)
    }
}

impl Stack for Kernel {
    fn now(&self) -> Instant {
        self.clock.map_or(Instant::ZERO, |clock| clock.now())
    }

    fn pass(&mut self, until: Instant, left: &mut Departures) {
        let clock = self.clock();
        loop {
            self.receive(left);
            // A call that was attempted before is in scope.
            let _ = self.resume();
            let now = clock.now();
            if !left.is_empty() || self.ended.is_some() || now >= until {
                return;
            }
            let rest = until.since(now);
            let time = if self.pending.is_some() { rest.min(RETRY) } else { rest };
            if self.watch.wait(time, &mut Vec::new()).is_err() {
                return;
            }
        }
    }

    fn inject(&mut self, segment: Segment, left: &mut Departures) {
        self.clock();
        let mut packet = Vec::new();
        if segment.encode(self.ports, Ipv4Fields::default(), Extent::Whole, &mut packet).is_ok() {
            // If the kernel refuses a packet, the packet is lost, and the script detects the loss.
            let _ = self.tun.write(&packet);
        }
        self.receive(left);
    }

    fn begin(&mut self, line: usize, call: &Call, left: &mut Departures) -> Result<(), Refusal> {
        self.add_route(line)?;
        self.clock();
        self.ended = None;
        self.pending = Some(Pending { line, call: call.clone(), written: 0 });
        self.resume()?;
        self.receive(left);
        Ok(())
    }

    fn ended(&mut self) -> Option<(Instant, Answer)> {
        self.ended.take()
    }

    fn set(&mut self, order: &Order) -> Result<(), Refusal> {
        let outside =
            |why: String| Refusal::out_of_scope(order.line, format!("{} = {}: {why}", order.key, order.value));
        match order.key.as_str() {
            "initcwnd" => {
                self.metrics.initial_window =
                    Some(order.value.parse().map_err(|_| outside("expected a number".to_owned()))?);
                Ok(())
            }
            "net.ipv4.tcp_congestion_control" => {
                self.congestion = Some(order.value.clone());
                Ok(())
            }
            key if key.starts_with("net.") => {
                self.namespace.set(&key.replace('.', "/"), &order.value).map_err(|error| outside(error.to_string()))
            }
            _ => Err(outside("no variable of a network namespace".to_owned())),
        }
    }

    fn info(&self, name: &str) -> Option<i64> {
        let info = self.tcp(self.connection?).ok()?.info().ok()?;
        Some(match name {
            "tcpi_state" => info.state().into(),
            "tcpi_ca_state" => info.ca_state().into(),
            "tcpi_snd_mss" => info.snd_mss().into(),
            "tcpi_unacked" => info.unacked().into(),
            "tcpi_sacked" => info.sacked().into(),
            "tcpi_lost" => info.lost().into(),
            "tcpi_retrans" => info.retrans().into(),
            "tcpi_rtt" => info.rtt_us().into(),
            "tcpi_snd_ssthresh" => info.snd_ssthresh().into(),
            "tcpi_snd_cwnd" => info.snd_cwnd().into(),
            "tcpi_reordering" => info.reordering().into(),
            "tcpi_total_retrans" => info.total_retrans().into(),
            "tcpi_notsent_bytes" => info.notsent_bytes().into(),
            "tcpi_busy_time" => return i64::try_from(info.busy_time_us()).ok(),
            "tcpi_rwnd_limited" => return i64::try_from(info.rwnd_limited_us()).ok(),
            "tcpi_sndbuf_limited" => return i64::try_from(info.sndbuf_limited_us()).ok(),
            _ => return None,
        })
    }
}

/// Returns the name of an error in scripts.
fn name_of(error: &io::Error) -> String {
    let name = match error.kind() {
        io::ErrorKind::BrokenPipe => "EPIPE",
        io::ErrorKind::ConnectionReset => "ECONNRESET",
        io::ErrorKind::ConnectionRefused => "ECONNREFUSED",
        io::ErrorKind::TimedOut => "ETIMEDOUT",
        io::ErrorKind::NotConnected => "ENOTCONN",
        io::ErrorKind::WouldBlock => "EAGAIN",
        _ => return error.to_string(),
    };
    name.to_owned()
}
