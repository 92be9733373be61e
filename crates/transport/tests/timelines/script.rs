//! Reads a timeline.

use acklab_app::Traffic;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration, Ecn, Instant, Rate};
use acklab_transport::reading::Reading;
use acklab_transport::tcp::sender::SendFlags;
use acklab_transport::tcp::{Preset, TcpConfig};
use acklab_transport::{ack, cc};
use acklab_wire::tcp::{AccurateEcn, AckRate, FieldOrder, Flags};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as ValueError, StrDeserializer};
use std::fmt;
use std::str::FromStr;

/// The end under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    Sender,
    Receiver,
    /// Both halves, at the opening end.
    Active,
    /// Both halves, at the accepting end.
    Passive,
}

/// A complete file.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) machine: Machine,
    pub(crate) config: TcpConfig,
    pub(crate) traffic: Traffic,
    pub(crate) stop: Option<Instant>,
    pub(crate) handshake: Option<Instant>,
    pub(crate) peer: Peer,
    pub(crate) reading: Reading,
    pub(crate) lines: Vec<Line>,
}

/// The other end's segments in a handshake that the script omits.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) window: u16,
    pub(crate) window_scale: Option<u8>,
}

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) at: Instant,
    pub(crate) what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    Arrives(Written),
    Reads(u64),
    Writes(u64, SendFlags),
    Corks(bool),
    Pushes,
    SetsSendBuffer(u64),
    SetsUserTimeout(Duration),
    Refuses(bool),
    Closes,
    Releases,
    Aborts,
    Leaves(Written),
    Holds(Vec<(String, String)>),
    Silence,
}

/// A segment in a script. Its numbers are relative to the initial sequence numbers, and omitted
/// fields are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) flags: Flags,
    pub(crate) start: u64,
    pub(crate) len: u32,
    pub(crate) ack: Option<u64>,
    pub(crate) window: Option<u16>,
    pub(crate) sack: Vec<(u64, u64)>,
    pub(crate) options: Option<Options>,
    pub(crate) ecn: Ecn,
}

/// The options, except SACK blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    pub(crate) timestamps: Option<(u32, u32)>,
    /// The counters of an AccECN option.
    pub(crate) accurate_ecn: Option<AccurateEcn>,
    pub(crate) ack_congestion_control: bool,
    pub(crate) ack_ratio: Option<u8>,
    pub(crate) ack_rate: Option<AckRate>,
}

const LETTERS: [(char, Flags); 8] = [
    ('F', Flags::FIN),
    ('S', Flags::SYN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('e', Flags::AE),
    ('.', Flags::ACK),
];

const CODEPOINTS: [(&str, Ecn); 3] = [("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters: String =
            LETTERS.iter().filter(|(_, flag)| self.flags.contains(*flag)).map(|(letter, _)| letter).collect();
        write!(f, "{letters} {}:{}({})", self.start, self.start + u64::from(self.len), self.len)?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        if !self.sack.is_empty() {
            let blocks: Vec<String> = self.sack.iter().map(|(start, end)| format!("{start}:{end}")).collect();
            write!(f, " sack {}", blocks.join(","))?;
        }
        if let Some((name, _)) = CODEPOINTS.iter().find(|(_, codepoint)| *codepoint == self.ecn) {
            write!(f, " {name}")?;
        }
        let Some(options) = &self.options else { return Ok(()) };
        let parts = [
            options.mss.map(|mss| format!("mss {mss}")),
            options.window_scale.map(|shift| format!("wscale {shift}")),
            options.sack_permitted.then(|| "sackOK".to_owned()),
            options.timestamps.map(|(value, echo)| format!("ts {value} ecr {echo}")),
            options.accurate_ecn.as_ref().map(counters),
            options.ack_congestion_control.then(|| "ackcc".to_owned()),
            options.ack_ratio.map(|ratio| format!("ratio {ratio}")),
            options.ack_rate.map(|rate| match rate {
                AckRate::Supported => "tarr".to_owned(),
                AckRate::Every(segments) => format!("tarr {segments}"),
            }),
        ];
        write!(f, " <{}>", parts.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

/// Reads a file; a failure begins with the number of its line.
pub(crate) fn read(text: &str) -> Result<Script, String> {
    let mut script = Script {
        machine: Machine::Sender,
        config: Preset::Rfc.config(),
        traffic: Traffic::Greedy {},
        stop: None,
        handshake: None,
        peer: Peer { window: u16::MAX, window_scale: None },
        reading: Reading::AtOnce,
        lines: Vec::new(),
    };
    let mut header = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.split('#').next().unwrap_or_default().trim());
        let fail = |why: String| format!("{number}: {why}");
        match line.split_once('=') {
            _ if line.is_empty() => {}
            Some((key, value)) => {
                set(&mut script, key.trim(), value.trim()).map_err(fail)?;
                header.push(key.trim());
            }
            None => {
                for line in moment(number, line).map_err(fail)? {
                    if script.lines.last().is_some_and(|last| last.at > line.at) {
                        return Err(fail("time runs backwards".to_owned()));
                    }
                    script.lines.push(line);
                }
            }
        }
    }
    match ["machine", "preset", "shows"].iter().find(|key| !header.contains(key)) {
        Some(missing) => Err(format!("1: the header lacks {missing}")),
        None => Ok(script),
    }
}

fn value<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{text}: {error}"))
}

/// Parses a variant by its name in scenarios.
fn variant<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, String> {
    let deserializer: StrDeserializer<'de, ValueError> = text.into_deserializer();
    T::deserialize(deserializer).map_err(|error| error.to_string())
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("expected on or off, found {text}")),
    }
}

fn set(script: &mut Script, key: &str, text: &str) -> Result<(), String> {
    let config = &mut script.config;
    match key {
        "machine" => script.machine = machine(text)?,
        "preset" => *config = variant::<Preset>(text)?.config(),
        "shows" if text.is_empty() => return Err("a timeline shows something".to_owned()),
        "shows" => {}
        "handshake" => script.handshake = Some(Instant::ZERO + value(text)?),
        "stop" => script.stop = Some(Instant::ZERO + value(text)?),
        "traffic" => script.traffic = traffic(text)?,
        "peer_window" => script.peer.window = value(text)?,
        "peer_window_scale" => script.peer.window_scale = Some(value(text)?),
        "reading" if text == "on-demand" => script.reading = Reading::OnDemand,
        "mss" => config.mss = value(text)?,
        "initial_window" => config.initial_window = value::<Segments>(text)?,
        "send_buffer" => config.send_buffer = value::<Bytes>(text)?,
        "receive_buffer" => config.receive_buffer = value::<Bytes>(text)?,
        "receive_window" => config.receive_window = variant(text)?,
        "sack" => config.sack = switch(text)?,
        "dsack" => config.dsack = switch(text)?,
        "window_scaling" => config.window_scaling = switch(text)?,
        "timestamps" if text == "off" => {
            (config.timestamps, config.rtt_clock) = (None, acklab_transport::tcp::config::RttClock::SendTimes);
        }
        "timestamps" => config.timestamps = Some(value::<Duration>(text)?),
        "rtt_clock" => config.rtt_clock = variant(text)?,
        "congestion" => {
            config.congestion = cc::ControllerConfig::named(text).ok_or_else(|| format!("no controller {text}"))?;
        }
        "growth" => config.growth = variant(text)?,
        "slow_start" => {
            config.slow_start = cc::SlowStart::named(text).ok_or_else(|| format!("no slow start {text}"))?;
        }
        "congestion_dialect" => config.congestion_dialect = variant(text)?,
        "validate_window" => config.validate_window = switch(text)?,
        "after_idle" => config.after_idle = variant(text)?,
        "halves" => config.halves = variant(text)?,
        "recovery" => config.recovery = variant(text)?,
        "prr_basis" => config.prr_basis = variant(text)?,
        "prr_bound" => config.prr_bound = variant(text)?,
        "detection" => config.detection = variant(text)?,
        "rack_rtt" => config.rack_rtt = variant(text)?,
        "tail_loss_probe" => config.tail_loss_probe = switch(text)?,
        "timer_slack" => config.timer_slack = value(text)?,
        "undo" => config.undo = switch(text)?,
        "pacing" => config.pacing = variant(text)?,
        "limited_transmit" => config.limited_transmit = switch(text)?,
        "ecn" => config.ecn = variant(text)?,
        "ecn_option" => config.ecn_option = switch(text)?,
        "dialect" => config.dialect = variant(text)?,
        "min_rto" => config.rto.min = value(text)?,
        "max_rto" => config.rto.max = value(text)?,
        "rto_floor" => config.rto.floor = variant(text)?,
        "rto_restart" => config.rto.restart = variant(text)?,
        "ack" => config.ack = ack_policy(text)?,
        _ => return Err(format!("no such setting: {key}")),
    }
    Ok(())
}

fn machine(text: &str) -> Result<Machine, String> {
    Ok(match text {
        "sender" => Machine::Sender,
        "receiver" => Machine::Receiver,
        "active" => Machine::Active,
        "passive" => Machine::Passive,
        _ => return Err(format!("no such machine: {text}")),
    })
}

fn traffic(text: &str) -> Result<Traffic, String> {
    match text.split_whitespace().collect::<Vec<_>>()[..] {
        ["greedy"] => Ok(Traffic::Greedy {}),
        ["fixed", size] => Ok(Traffic::Fixed { size: value(size)? }),
        ["constant", rate, write] => Ok(Traffic::Constant { rate: value::<Rate>(rate)?, write: value(write)? }),
        _ => Err(format!("no such traffic: {text}")),
    }
}

fn ack_policy(text: &str) -> Result<ack::PolicyConfig, String> {
    Ok(match text.split_whitespace().collect::<Vec<_>>()[..] {
        ["delayed", segments, timer] => {
            ack::delayed::Delayed { segments: value(segments)?, timer: value(timer)?, quick: 0 }.into()
        }
        ["byte-counting", segments] => {
            ack::byte_counting::ByteCounting { segments: value(segments)?, timer: None }.into()
        }
        ["byte-counting", segments, timer] => {
            ack::byte_counting::ByteCounting { segments: value(segments)?, timer: Some(value(timer)?) }.into()
        }
        ["daass", segments, timer] => ack::daass::Daass { segments: value(segments)?, timer: value(timer)? }.into(),
        ["chrome", max_ack_delay] => {
            ack::chrome::Chrome { max_ack_delay: value(max_ack_delay)?, ..Default::default() }.into()
        }
        ["quic", packets, max_ack_delay] => {
            ack::quic::Quic { packets: value(packets)?, max_ack_delay: value(max_ack_delay)?, ..Default::default() }
                .into()
        }
        ["ack-frequency", threshold, delay, reordering] => ack::ack_frequency::AckFrequency {
            ack_eliciting_threshold: value(threshold)?,
            requested_max_ack_delay: value(delay)?,
            reordering_threshold: value(reordering)?,
            ..Default::default()
        }
        .into(),
        ["tack", segments, beta, ref startup @ ..] => ack::tack::Tack {
            segments: value(segments)?,
            beta: value(beta)?,
            per_packet_startup: *startup == ["per-packet-startup"],
            ..Default::default()
        }
        .into(),
        ["ack-congestion-control", timer] => {
            ack::congestion_control::AckCongestionControl { timer: value(timer)? }.into()
        }
        // Any other policy, by its name, with its own settings.
        [name] => ack::PolicyConfig::built_in()
            .find(|policy| policy.name() == name)
            .ok_or_else(|| format!("no such ACK policy: {name}"))?,
        _ => return Err(format!("no such ACK policy: {text}")),
    })
}

/// Parses one line of the body, which may represent several segments.
fn moment(number: usize, line: &str) -> Result<Vec<Line>, String> {
    let (time, rest) = line.split_once(' ').unwrap_or((line, ""));
    let at = Instant::ZERO + value::<Duration>(time)?;
    let rest = rest.trim();
    let one = |what| Ok(vec![Line { number, at, what }]);
    match rest.split_at_checked(1) {
        None => one(What::Silence),
        Some(("?", states)) => {
            let words: Vec<&str> = states.split_whitespace().collect();
            one(What::Holds(words.chunks(2).map(|pair| (pair[0].to_owned(), pair[1..].concat())).collect()))
        }
        Some(("<", segment)) => {
            Ok(segments(segment)?.map(|segment| Line { number, at, what: What::Arrives(segment) }).collect())
        }
        Some((">", segment)) => {
            Ok(segments(segment)?.map(|segment| Line { number, at, what: What::Leaves(segment) }).collect())
        }
        Some(("+", verb)) => match verb.split_whitespace().collect::<Vec<_>>()[..] {
            ["read", octets] => one(What::Reads(value(octets)?)),
            ["write", octets] => one(What::Writes(value(octets)?, SendFlags::default())),
            ["write", octets, "more"] => {
                one(What::Writes(value(octets)?, SendFlags { more: true, ..SendFlags::default() }))
            }
            ["write", octets, "eor"] => {
                one(What::Writes(value(octets)?, SendFlags { ends_record: true, ..SendFlags::default() }))
            }
            ["cork"] => one(What::Corks(true)),
            ["uncork"] => one(What::Corks(false)),
            ["push"] => one(What::Pushes),
            ["send_buffer", octets] => one(What::SetsSendBuffer(value(octets)?)),
            ["user_timeout", limit] => one(What::SetsUserTimeout(value(limit)?)),
            ["refuse"] => one(What::Refuses(true)),
            ["take"] => one(What::Refuses(false)),
            ["close"] => one(What::Closes),
            ["release"] => one(What::Releases),
            ["abort"] => one(What::Aborts),
            _ => Err(format!(
                "expected read, write or send_buffer and a number, user_timeout and a time, cork, uncork, push, refuse, take, close, release or abort, after +, found {verb}"
            )),
        },
        Some((other, _)) => Err(format!("expected <, >, + or ? after the time, found {other}")),
    }
}

/// Parses `flags start:end(len)`, the other fields, and `xN` for N segments of one size.
fn segments(text: &str) -> Result<impl Iterator<Item = Written>, String> {
    let (text, options) = match text.trim().strip_suffix('>').and_then(|text| text.split_once('<')) {
        Some((segment, list)) => (segment, Some(options(list)?)),
        None => (text, None),
    };
    let mut words = text.split_whitespace();
    let flags = words.next().ok_or("flags are missing")?.chars().try_fold(Flags::NONE, |flags, letter| {
        let known = LETTERS.iter().find(|(known, _)| *known == letter);
        known.map(|(_, flag)| flags | *flag).ok_or_else(|| format!("no such flag: {letter}"))
    })?;
    let range = words.next().ok_or("sequence numbers are missing")?;
    let (start, rest) = range.split_once(':').ok_or("expected start:end(length)")?;
    let (end, len) = rest.trim_end_matches(')').split_once('(').ok_or("expected start:end(length)")?;
    let (start, end, len): (u64, u64, u32) = (value(start)?, value(end)?, value(len)?);
    if start + u64::from(len) != end {
        return Err(format!("{range}: the length does not fit"));
    }
    let (mut written, mut count) = (Written { flags, start, len, options, ..Written::default() }, 1);
    while let Some(word) = words.next() {
        let mut argument = || words.next().ok_or_else(|| format!("{word}: its value is missing"));
        match word {
            "ack" => written.ack = Some(value(argument()?)?),
            "win" => written.window = Some(value(argument()?)?),
            "ect0" | "ect1" | "ce" => {
                let known = CODEPOINTS.iter().find(|(name, _)| *name == word);
                written.ecn = known.map_or(Ecn::NotEct, |(_, codepoint)| *codepoint);
            }
            "sack" => written.sack = argument()?.split(',').map(block).collect::<Result<_, _>>()?,
            _ => count = value(word.strip_prefix('x').ok_or_else(|| format!("what is {word}?"))?)?,
        }
    }
    if len % count != 0 {
        return Err(format!("{len} octets do not make {count} segments of one size"));
    }
    written.len = len / count;
    Ok((0..u64::from(count))
        .map(move |index| Written { start: start + index * u64::from(written.len), ..written.clone() }))
}

fn block(text: &str) -> Result<(u64, u64), String> {
    let (start, end) = text.split_once(':').ok_or_else(|| format!("{text}: expected start:end"))?;
    Ok((value(start)?, value(end)?))
}

/// Returns the names of the counters, in their order in an AccECN option.
const fn names(order: FieldOrder) -> [&'static str; AccurateEcn::MAX] {
    match order {
        FieldOrder::Ect0First => ["e0b", "ceb", "e1b"],
        FieldOrder::Ect1First => ["e1b", "ceb", "e0b"],
    }
}

fn counters(option: &AccurateEcn) -> String {
    let counters =
        names(option.order()).into_iter().zip(option.fields()).map(|(name, field)| format!("{name} {field}"));
    counters.collect::<Vec<_>>().join(" ")
}

/// Parses the option that begins with the counter `first`, its value, and the other counters in
/// `rest`.
fn accurate_ecn(first: &str, rest: &[&str]) -> Result<AccurateEcn, String> {
    let order = if first == "e0b" { FieldOrder::Ect0First } else { FieldOrder::Ect1First };
    let words: Vec<&str> = std::iter::once(first).chain(rest.iter().copied()).collect();
    let mut fields = Vec::new();
    for (pair, name) in words.chunks(2).zip(names(order)) {
        match *pair {
            [found, counter] if found == name => fields.push(value(counter)?),
            _ => return Err(format!("expected {name} and a number, found {}", pair.join(" "))),
        }
    }
    Ok(AccurateEcn::new(order, &fields))
}

fn options(text: &str) -> Result<Options, String> {
    let mut options = Options::default();
    for option in text.split(',') {
        match option.split_whitespace().collect::<Vec<_>>()[..] {
            ["mss", mss] => options.mss = Some(value(mss)?),
            ["wscale", shift] => options.window_scale = Some(value(shift)?),
            ["sackOK"] => options.sack_permitted = true,
            ["ackcc"] => options.ack_congestion_control = true,
            ["ratio", ratio] => options.ack_ratio = Some(value(ratio)?),
            ["tarr"] => options.ack_rate = Some(AckRate::Supported),
            ["tarr", segments] => options.ack_rate = Some(AckRate::Every(value(segments)?)),
            ["ts", ts, "ecr", echo] => options.timestamps = Some((value(ts)?, value(echo)?)),
            [first @ ("e0b" | "e1b"), ref rest @ ..] => options.accurate_ecn = Some(accurate_ecn(first, rest)?),
            [] => {}
            _ => return Err(format!("no such option: {option}")),
        }
    }
    Ok(options)
}
