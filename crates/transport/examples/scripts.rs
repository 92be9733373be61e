//! Converts timelines to scripts of packetdrill:
//! `cargo run -p acklab-transport --example scripts -- FOLDER`
//!
//! Writes a script to FOLDER for each timeline of `tests/timelines` that a kernel can run, under
//! the same name. The kernel then checks the events of the timeline. Prints the timelines that a
//! kernel cannot run, with the reasons.

#![expect(clippy::disallowed_methods, reason = "timelines and scripts are files")]

#[allow(dead_code, reason = "the player of the tests reads all of it")]
#[path = "../tests/timelines/script.rs"]
mod script;

use acklab_app::Traffic;
use acklab_base::{Duration, Ecn, Instant};
use acklab_transport::ack;
use acklab_transport::reading::Reading;
use acklab_transport::recovery::Detection;
use acklab_transport::tcp::sender::AfterIdle;
use acklab_transport::tcp::{Preset, TcpConfig, ecn};
use acklab_wire::tcp::Flags;
use script::{Line, Machine, Script, What, Written};
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The number of octets that a greedy application writes. It is more than any timeline sends.
const GREEDY: u64 = 200_000;
/// Octets of a timestamps option with its padding.
const TIMESTAMPS: u64 = 12;
/// The initial receive buffer of a kernel (`tcp_rmem[1]`), independent of its maximum.
const FIRST_RECEIVE_BUFFER: u64 = 128 << 10;
/// The MSS that the kernel announces over a device for packets of 1500 octets.
const DEVICE_MSS: u64 = 1460;
/// The tolerance that a kernel requires: its timers have a granularity of jiffies of up to 4 ms,
/// and processors are busy. A machine in virtual time requires none.
const TOLERANCE: Duration = Duration::from_millis(10);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("expected a folder")?;
    fs::create_dir_all(&folder)?;
    let timelines = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/timelines");
    let mut paths: Vec<_> =
        fs::read_dir(timelines)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(&path)?;
        let timeline = script::read(&text)?;
        match as_script(&timeline, &text) {
            Ok(script) => fs::write(Path::new(&folder).join(format!("{name}.pkt")), script)?,
            Err(reason) => println!("{name}: {reason}"),
        }
    }
    Ok(())
}

/// Returns the script of a timeline, or the reason why a kernel cannot run it.
fn as_script(timeline: &Script, text: &str) -> Result<String, String> {
    let variables = variables(timeline)?;
    let mut written = String::new();
    for remark in text.lines().filter_map(|line| line.strip_prefix('#')) {
        let _ = writeln!(written, "//{remark}");
    }
    let _ = writeln!(
        written,
        "--tolerance_usecs={}\n--tcp_ts_ecr_scaled\n--strict_segments\n\n`{}`\n",
        TOLERANCE.as_nanos() / 1000,
        variables.join("\n")
    );
    let mut exporter =
        Exporter { timeline, written, socket: 3, received: Vec::new(), unread: 0, fin: None, last: None };
    exporter.handshake()?;
    timeline.lines.iter().try_for_each(|line| exporter.line(line))?;
    Ok(exporter.written)
}

/// Returns the variables for the settings of a timeline. Refuses a setting without a variable.
fn variables(timeline: &Script) -> Result<Vec<String>, String> {
    let config = &timeline.config;
    let linux = Preset::Linux.config();
    let expressible = TcpConfig {
        mss: config.mss,
        timestamps: config.timestamps.map(|_| Duration::from_millis(1)),
        rtt_clock: config.rtt_clock,
        sack: config.sack,
        dsack: config.dsack,
        congestion: config.congestion,
        slow_start: config.slow_start,
        initial_window: config.initial_window,
        tail_loss_probe: config.tail_loss_probe,
        after_idle: config.after_idle,
        detection: config.detection,
        ecn: config.ecn,
        receive_buffer: config.receive_buffer,
        window_scaling: config.window_scaling,
        ..linux
    };
    if *config != expressible {
        let is_linux = config.dialect == linux.dialect && config.ack == linux.ack;
        return Err(if is_linux { "a setting that no kernel has" } else { "not of the preset linux" }.to_owned());
    }
    debug_assert!(matches!(config.ack, ack::PolicyConfig::Linux(_)));
    let ecn = match config.ecn {
        ecn::EcnConfig::Off => 0,
        ecn::EcnConfig::Classic => 1,
        ecn::EcnConfig::Dctcp | ecn::EcnConfig::Accurate => {
            return Err("a use of ECN that kernels differ in".to_owned());
        }
    };
    let controller = match config.congestion.name() {
        "newreno" => "reno",
        name @ "cubic" => name,
        name => return Err(format!("the controller {name}")),
    };
    if config.receive_buffer.get() < FIRST_RECEIVE_BUFFER {
        return Err("a small receive buffer, which a kernel counts by the memory of its driver".to_owned());
    }
    let after_idle = match config.after_idle {
        AfterIdle::Keep => 0,
        AfterIdle::Decay => 1,
        AfterIdle::Restart => return Err("a window after idleness that no kernel has".to_owned()),
    };
    let set = |name: &str, value: String| format!("sysctl -q net.ipv4.{name}=\"{value}\"");
    let on = |name: &str, is_on: bool| set(name, u8::from(is_on).to_string());
    let mut variables = vec![
        set("tcp_congestion_control", controller.to_owned()),
        set("tcp_ecn", ecn.to_string()),
        on("tcp_sack", config.sack),
        on("tcp_dsack", config.dsack),
        on("tcp_timestamps", config.timestamps.is_some()),
        on("tcp_window_scaling", config.window_scaling),
        on("tcp_recovery", config.detection == Detection::Rack),
        set("tcp_early_retrans", if config.tail_loss_probe { 3 } else { 0 }.to_string()),
        set("tcp_slow_start_after_idle", after_idle.to_string()),
        // The greedy application immediately writes all octets that a timeline sends.
        set("tcp_wmem", format!("4096 {} {}", 8 * GREEDY, 8 * GREEDY)),
        set("tcp_rmem", format!("4096 {FIRST_RECEIVE_BUFFER} {}", config.receive_buffer.get())),
    ];
    if config.initial_window != linux.initial_window {
        variables
            .push(format!("ip route change 192.0.2.1 via 192.168.0.2 dev tun0 initcwnd {}", config.initial_window.0));
    }
    Ok(variables)
}

struct Exporter<'a> {
    timeline: &'a Script,
    written: String,
    /// The socket of the connection.
    socket: u8,
    /// The data that have arrived, as ordered ranges that neither touch nor overlap.
    received: Vec<(u64, u64)>,
    /// Octets that have arrived in order, but were not read.
    unread: u64,
    fin: Option<u64>,
    /// The instant of the previous line.
    last: Option<Instant>,
}

impl Exporter<'_> {
    fn say(&mut self, at: Instant, what: &str) {
        // An event at the same instant follows the previous event, however late a timer of the
        // kernel was: its wheel counts timers of more than 252 ms in steps of 32 ms
        // (`kernel/time/timer.c`, 250 Hz).
        let time = if self.last == Some(at) { "+0".to_owned() } else { at.as_secs_f64().to_string() };
        self.last = Some(at);
        let _ = writeln!(self.written, "{time:<9} {what}");
    }

    fn is_sender(&self) -> bool {
        matches!(self.timeline.machine, Machine::Sender | Machine::Active)
    }

    /// Opens the connection at time zero, and establishes it at the time of the timeline.
    fn handshake(&mut self) -> Result<(), String> {
        let established = self.timeline.handshake.ok_or("it shows a handshake of its own")?;
        let config = &self.timeline.config;
        let mss = config.mss.get() + config.timestamps.map_or(0, |_| TIMESTAMPS);
        let timestamps = |value: u64| config.timestamps.map(|_| format!(",TS val {value} ecr 0")).unwrap_or_default();
        let scale = self.timeline.peer.window_scale.map(|shift| format!(",wscale {shift}")).unwrap_or_default();
        let window = self.timeline.peer.window;
        let peer = format!("<mss {mss},sackOK{}{scale}>", timestamps(0));
        let permitted = if config.sack { ",sackOK" } else { "" };
        let offered = |has_scaling: bool| {
            let scale = if has_scaling { format!(",wscale {}", window_shift(config)) } else { String::new() };
            format!("<mss {DEVICE_MSS}{permitted}{}{scale}>", timestamps(0))
        };
        let (offer, answer) = if config.ecn == ecn::EcnConfig::Off { ("S", "S.") } else { ("SEW", "SE.") };
        self.say(Instant::ZERO, "socket(..., SOCK_STREAM, IPPROTO_TCP) = 3");
        self.say(Instant::ZERO, "setsockopt(3, SOL_TCP, TCP_NODELAY, [1], 4) = 0");
        if self.is_sender() {
            self.say(Instant::ZERO, &format!("...{} connect(3, ..., ...) = 0", established.as_secs_f64()));
            self.say(Instant::ZERO, &format!("> {offer} 0:0(0) {}", offered(config.window_scaling)));
            self.say(established, &format!("< {answer} 0:0(0) ack 1 win {window} {peer}"));
            let echo = config.timestamps.map(|_| format!(" <nop,nop,TS val {} ecr 0>", millis(established)));
            self.say(established, &format!("> . 1:1(0) ack 1{}", echo.unwrap_or_default()));
            self.application(established)?;
        } else {
            self.say(Instant::ZERO, "bind(3, ..., ...) = 0");
            self.say(Instant::ZERO, "listen(3, 1) = 0");
            self.say(Instant::ZERO, &format!("< {offer} 0:0(0) win {window} {peer}"));
            let has_scaling = config.window_scaling && self.timeline.peer.window_scale.is_some();
            self.say(Instant::ZERO, &format!("> {answer} 0:0(0) ack 1 {}", offered(has_scaling)));
            let echo = config.timestamps.map(|_| " <nop,nop,TS val 0 ecr 0>").unwrap_or_default();
            self.say(established, &format!("< . 1:1(0) ack 1 win {window}{echo}"));
            self.say(established, "accept(3, ..., ...) = 4");
            self.socket = 4;
        }
        Ok(())
    }

    fn application(&mut self, at: Instant) -> Result<(), String> {
        if self.timeline.machine == Machine::Active {
            return Ok(());
        }
        let config = &self.timeline.config;
        match self.timeline.traffic {
            Traffic::Greedy {} if self.timeline.stop.is_none() => {
                self.say(at, &format!("write(3, ..., {GREEDY}) = {GREEDY}"));
            }
            // A call that ends the stream follows the data of the first call.
            Traffic::Fixed { size } if size.get() <= u64::from(config.initial_window.0) * config.mss.get() => {
                return Err("an application that ends before anything leaves".to_owned());
            }
            Traffic::Fixed { size } => {
                self.say(at, &format!("write(3, ..., {0}) = {0}", size.get()));
                self.say(at, "shutdown(3, SHUT_WR) = 0");
            }
            _ => return Err("an application that writes by the clock".to_owned()),
        }
        Ok(())
    }

    fn line(&mut self, line: &Line) -> Result<(), String> {
        let socket = self.socket;
        match &line.what {
            What::Arrives(segment) => {
                let packet = self.arriving(segment);
                self.say(line.at, &format!("< {packet}"));
                self.take(segment);
                if self.timeline.reading == Reading::AtOnce && self.unread > 0 {
                    let unread = std::mem::take(&mut self.unread);
                    self.say(line.at, &format!("read({socket}, ..., {unread}) = {unread}"));
                }
            }
            What::Leaves(segment) => {
                let packet = self.leaving(line.at, segment);
                self.say(line.at, &format!("> {packet}"));
            }
            What::Reads(octets) => self.say(line.at, &format!("read({socket}, ..., {octets}) = {octets}")),
            What::Writes(octets, flags) => {
                let set_flags = [(flags.more, "MSG_MORE"), (flags.ends_record, "MSG_EOR")];
                let set_flags: Vec<&str> =
                    set_flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name).collect();
                let flags = if set_flags.is_empty() { "0".to_owned() } else { set_flags.join("|") };
                self.say(line.at, &format!("send({socket}, ..., {octets}, {flags}) = {octets}"));
            }
            What::Corks(is_corked) => self.set(line.at, "SOL_TCP, TCP_CORK", u64::from(*is_corked)),
            What::Pushes => self.set(line.at, "SOL_TCP, TCP_NODELAY", 1),
            What::SetsSendBuffer(size) => self.set(line.at, "SOL_SOCKET, SO_SNDBUF", *size),
            What::SetsUserTimeout(limit) => {
                self.set(line.at, "SOL_TCP, TCP_USER_TIMEOUT", limit.as_nanos() / 1_000_000);
            }
            What::Refuses(_) => return Err("a device that refuses what leaves".to_owned()),
            What::Releases => self.say(line.at, &format!("close({socket}) = 0")),
            What::Aborts => return Err("a kernel aborts with SO_LINGER".to_owned()),
            What::Closes => self.say(line.at, &format!("shutdown({socket}, SHUT_WR) = 0")),
            What::Holds(states) => {
                let asserted: Vec<String> = states.iter().filter_map(|(name, value)| assertion(name, value)).collect();
                if !asserted.is_empty() {
                    self.say(line.at, &format!("%{{ assert {} }}%", asserted.join(" and ")));
                }
            }
            What::Silence => self.say(line.at, "%{ }%"),
        }
        Ok(())
    }

    fn set(&mut self, at: Instant, option: &str, value: u64) {
        let socket = self.socket;
        self.say(at, &format!("setsockopt({socket}, {option}, [{value}], 4) = 0"));
    }

    fn arriving(&self, segment: &Written) -> String {
        let mark = match segment.ecn {
            Ecn::NotEct => String::new(),
            codepoint => format!("[{}] ", mark(codepoint)),
        };
        let timestamps = segment.options.as_ref().and_then(|options| options.timestamps);
        let timestamps = timestamps.map(|(value, echo)| format!("nop,nop,TS val {value} ecr {echo}"));
        let blocks = blocks(&segment.sack);
        let options: Vec<String> = timestamps.into_iter().chain(blocks).collect();
        let options = if options.is_empty() { String::new() } else { format!(" <{}>", options.join(",")) };
        let window = segment.window.unwrap_or(self.timeline.peer.window);
        format!("{mark}{} ack {} win {window}{options}", body(segment), segment.ack.unwrap_or(0))
    }

    fn leaving(&self, at: Instant, segment: &Written) -> String {
        let timestamps = self.timeline.config.timestamps.map(|_| format!("nop,nop,TS val {} ecr 0", millis(at)));
        let options: Vec<String> = timestamps.into_iter().chain(blocks(&segment.sack)).collect();
        let options = if options.is_empty() { String::new() } else { format!(" <{}>", options.join(",")) };
        let window = segment.window.map(|window| format!(" win {window}")).unwrap_or_default();
        // A RST without ACK acknowledges nothing.
        let ack = segment.flags.contains(Flags::ACK).then(|| segment.ack.unwrap_or_else(|| self.next()));
        let ack = ack.map(|ack| format!(" ack {ack}")).unwrap_or_default();
        format!("[{}] {}{ack}{window}{options}", mark(segment.ecn), body(segment))
    }

    /// Returns the number of the next octet that the machine expects.
    fn next(&self) -> u64 {
        let end = self.received.first().filter(|(start, _)| *start == 1).map_or(1, |(_, end)| *end);
        end + u64::from(self.fin == Some(end))
    }

    /// Records the data of `segment`.
    fn take(&mut self, segment: &Written) {
        let before = self.next();
        let end = segment.start + u64::from(segment.len);
        if segment.flags.contains(Flags::FIN) {
            self.fin = Some(end);
        }
        if segment.len > 0 && !segment.flags.contains(Flags::SYN) {
            self.received.push((segment.start, end));
            self.received.sort_unstable();
            let mut merged: Vec<(u64, u64)> = Vec::new();
            for (start, end) in std::mem::take(&mut self.received) {
                match merged.last_mut() {
                    Some(last) if start <= last.1 => last.1 = last.1.max(end),
                    _ => merged.push((start, end)),
                }
            }
            self.received = merged;
        }
        self.unread += self.next() - before - u64::from(self.fin.is_some_and(|fin| before <= fin && fin < self.next()));
    }
}

/// Returns the window scale for the receive buffer (`tcp_select_initial_window`).
fn window_shift(config: &TcpConfig) -> u32 {
    (config.receive_buffer.get().max(1).ilog2()).saturating_sub(15).min(14)
}

fn millis(at: Instant) -> u64 {
    at.since(Instant::ZERO).as_millis()
}

fn mark(codepoint: Ecn) -> &'static str {
    match codepoint {
        Ecn::NotEct => "noecn",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
    }
}

/// Returns flags, numbers and length.
fn body(segment: &Written) -> String {
    const LETTERS: [(Flags, char); 8] = [
        (Flags::FIN, 'F'),
        (Flags::SYN, 'S'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
        (Flags::AE, 'A'),
        (Flags::ACK, '.'),
    ];
    let letters: String =
        LETTERS.iter().filter(|(flag, _)| segment.flags.contains(*flag)).map(|(_, letter)| letter).collect();
    let end = segment.start + u64::from(segment.len);
    format!("{letters} {}:{end}({})", segment.start, segment.len)
}

fn blocks(sack: &[(u64, u64)]) -> Option<String> {
    let blocks: Vec<String> = sack.iter().map(|(start, end)| format!("{start}:{end}")).collect();
    (!blocks.is_empty()).then(|| format!("nop,nop,sack {}", blocks.join(" ")))
}

/// Returns an assertion that the field of this name, in microseconds, differs from `time` by no
/// more than the tolerance.
fn within(name: &str, time: &str) -> Option<String> {
    let (time, tolerated) = (time.parse::<Duration>().ok()?.as_nanos() / 1000, TOLERANCE.as_nanos() / 1000);
    Some(format!("{} <= {name} <= {}", time.saturating_sub(tolerated), time + tolerated))
}

/// Returns the assertion for a state in a timeline, if `tcp_info` contains it: in whole segments,
/// and with the precision of a kernel's times.
fn assertion(name: &str, value: &str) -> Option<String> {
    Some(match (name, value) {
        ("state", state) => {
            let state = match state {
                "open" => "Open",
                "disorder" => "Disorder",
                "reduced" => "CWR",
                "recovery" => "Recovery",
                "loss" => "Loss",
                _ => return None,
            };
            format!("tcpi_ca_state == TCP_CA_{state}")
        }
        ("ssthresh", "infinite") => "tcpi_snd_ssthresh == TCP_INFINITE_SSTHRESH".to_owned(),
        ("cwnd" | "ssthresh", segments) => format!("tcpi_snd_{name} == {}", segments.parse::<u64>().ok()?),
        ("busy", time) => within("tcpi_busy_time", time)?,
        ("by-peer-window", time) => within("tcpi_rwnd_limited", time)?,
        ("by-send-buffer", time) => within("tcpi_sndbuf_limited", time)?,
        _ => return None,
    })
}
