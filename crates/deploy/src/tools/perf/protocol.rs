//! The messages of a measurement: see [`perf`](super).

use super::contender::Contender;
use crate::tools::{PATIENCE, ToolError};
use serde::{Deserialize, Serialize};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// The version of the protocol.
pub const VERSION: u8 = 1;
/// The maximum size of a message, in octets.
pub const LARGEST: usize = 64 << 10;
/// The maximum number of parallel streams, as with iperf3.
pub const MAX_STREAMS: u32 = 128;
/// The maximum duration of a measurement.
pub const LONGEST: Duration = Duration::from_secs(3600);
/// The maximum number of bytes of a measurement.
pub const MAX_OCTETS: u64 = 1 << 50;
const NAME: &[u8; 6] = b"acklab";
/// The size of a preface in octets.
pub const PREFACE: usize = 16;

/// The first octets of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preface {
    /// `true` for a data channel, `false` for a control channel.
    pub is_data: bool,
    /// The random number of the measurement.
    pub test: u64,
}

impl Preface {
    /// Returns the octets of the preface on the wire.
    #[must_use]
    pub fn octets(self) -> [u8; PREFACE] {
        let mut octets = [0; PREFACE];
        octets[..6].copy_from_slice(NAME);
        octets[6] = VERSION;
        octets[7] = self.is_data.into();
        octets[8..].copy_from_slice(&self.test.to_be_bytes());
        octets
    }

    /// Reads the preface of a channel.
    ///
    /// # Errors
    /// If the preface is malformed.
    pub(crate) async fn read(from: &mut (impl AsyncRead + Unpin)) -> Result<Self, String> {
        let mut octets = [0; PREFACE];
        match tokio::time::timeout(PATIENCE, from.read_exact(&mut octets)).await {
            Ok(Ok(_)) => Self::parse(octets),
            Ok(Err(error)) => Err(format!("preface: {error}")),
            Err(_) => Err(format!("preface: found nothing for {} s, expected {PREFACE} octets", PATIENCE.as_secs())),
        }
    }

    /// Returns the preface of these octets.
    ///
    /// # Errors
    /// If the preface is malformed.
    pub fn parse(octets: [u8; PREFACE]) -> Result<Self, String> {
        if octets[..6] != *NAME {
            return Err(format!("preface: found {:?}, expected \"acklab\"", String::from_utf8_lossy(&octets[..6])));
        }
        if octets[6] != VERSION {
            return Err(format!("version of the protocol: found {}, expected {VERSION}", octets[6]));
        }
        let is_data = match octets[7] {
            0 => false,
            1 => true,
            other => return Err(format!("kind of channel: found {other}, expected 0 or 1")),
        };
        let mut test = [0; 8];
        test.copy_from_slice(&octets[8..]);
        Ok(Self { is_data, test: u64::from_be_bytes(test) })
    }
}

/// A client's request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The transport and its settings.
    pub contender: Contender,
    /// `true` if the server sends the data.
    pub reverse: bool,
    /// The number of parallel streams.
    pub streams: u32,
    /// The time in seconds for which data are received. If `None`, data are received until all
    /// `octets` have arrived.
    pub seconds: Option<f64>,
    /// The total number of bytes of all streams.
    pub octets: Option<u64>,
    /// The rate at which the application writes to each stream, in bits per second.
    pub bitrate: Option<u64>,
    /// The time between reports, in seconds.
    pub interval: f64,
}

impl Plan {
    /// Checks the limits.
    ///
    /// # Errors
    /// If a value exceeds its limit.
    pub fn check(&self) -> Result<(), ToolError> {
        let fault =
            |place: &str, found: &dyn std::fmt::Display, expected: &str| Err(ToolError::usage(place, found, expected));
        match (self.seconds, self.octets) {
            (Some(seconds), None) if !(0.01..=LONGEST.as_secs_f64()).contains(&seconds) => {
                return fault("time", &seconds, "0.01 s to 3600 s");
            }
            (None, Some(octets)) if !(1..=MAX_OCTETS).contains(&octets) => {
                return fault("bytes", &octets, "1 octet to 2^50 octets");
            }
            (Some(_), None) | (None, Some(_)) => {}
            _ => return fault("time and bytes", &"both or neither", "one of them"),
        }
        if !(1..=MAX_STREAMS).contains(&self.streams) {
            return fault("parallel", &self.streams, "1 to 128 streams");
        }
        if self.bitrate.is_some_and(|rate| !(1000..=1_000_000_000_000).contains(&rate)) {
            return fault("bitrate", &self.bitrate.unwrap_or_default(), "1 kbit/s to 1 Tbit/s");
        }
        if !(0.05..=60.0).contains(&self.interval) {
            return fault("interval", &self.interval, "0.05 s to 60 s");
        }
        Ok(())
    }

    /// Returns the number of bytes of the stream with this index.
    #[must_use]
    pub fn octets_of(&self, stream: u32) -> Option<u64> {
        let streams = u64::from(self.streams);
        self.octets.map(|octets| octets / streams + u64::from(u64::from(stream) < octets % streams))
    }

    pub(crate) fn report_every(&self) -> Duration {
        Duration::from_secs_f64(self.interval)
    }
}

/// The data that have arrived since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The time since the first byte, in seconds.
    pub seconds: f64,
    /// The number of bytes that the application has read.
    pub octets: u64,
}

/// The counters of one side of a measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// The data that have arrived, as the receiver reports them.
    pub received: Option<Report>,
    /// The number of data packets sent, including retransmissions.
    pub data_packets: u64,
    /// The number of retransmitted packets.
    pub retransmissions: u64,
    /// The number of packets that acknowledge and carry no data.
    pub acks: u64,
    /// Processor time of the process, in seconds.
    pub cpu_seconds: f64,
    /// The mean of the sender's smoothed round-trip time, in milliseconds.
    pub mean_rtt: Option<f64>,
    /// The 95th percentile of the sender's smoothed round-trip time, in milliseconds.
    pub p95_rtt: Option<f64>,
    /// The congestion controller of the sender.
    pub congestion: Option<String>,
}

/// A message of a control channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// The client requests a measurement.
    Request(Plan),
    /// The server expects the data channels.
    Accepted,
    /// The server has all data channels.
    Started,
    /// The server reports the data received so far.
    Report(Report),
    /// The client has received all data that it requires.
    Stop,
    /// The server's counters.
    Result(Side),
    /// The server refuses to continue.
    Refused {
        /// The reason.
        reason: String,
    },
}

/// Sends a message.
///
/// # Errors
/// If the channel is lost.
pub(crate) async fn send(to: &mut (impl AsyncWrite + Unpin), message: &Message) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let mut octets = (text.len() as u32).to_be_bytes().to_vec();
    octets.extend(text);
    to.write_all(&octets).await?;
    to.flush().await
}

/// Reads a message.
///
/// # Errors
/// If the message is malformed or the channel is lost.
async fn read(from: &mut (impl AsyncRead + Unpin)) -> Result<Message, String> {
    let lost = |error: io::Error| format!("the control channel is lost: {error}");
    let length = from.read_u32().await.map_err(lost)? as usize;
    if length > LARGEST {
        return Err(format!("message: found {length} octets, expected {LARGEST} at most"));
    }
    let mut octets = vec![0; length];
    from.read_exact(&mut octets).await.map_err(lost)?;
    serde_json::from_slice(&octets).map_err(|error| format!("message: {error}"))
}

/// Returns messages as they arrive, up to the first malformed one. If a wait for a message is
/// dropped, no part of the next message is lost.
pub(crate) fn inbox(mut from: impl AsyncRead + Unpin + Send + 'static) -> mpsc::Receiver<Result<Message, String>> {
    let (to, messages) = mpsc::channel(8);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                message = read(&mut from) => {
                    let is_last = message.is_err();
                    if to.send(message).await.is_err() || is_last {
                        break;
                    }
                }
                () = to.closed() => break,
            }
        }
    });
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let contender = Contender::list("tcp").unwrap().remove(0);
        Plan { contender, reverse: false, streams: 3, seconds: None, octets: Some(10), bitrate: None, interval: 1.0 }
    }

    #[test]
    fn octets_are_shared_out() {
        let shares: Vec<_> = (0..3).map(|stream| plan().octets_of(stream)).collect();
        assert_eq!(shares, [Some(4), Some(3), Some(3)]);
    }

    #[test]
    fn plans_have_limits() {
        let refused = |change: fn(&mut Plan)| {
            let mut plan = plan();
            change(&mut plan);
            plan.check().map_err(|error| error.to_string())
        };
        assert_eq!(refused(|_| {}), Ok(()));
        assert!(refused(|plan| plan.seconds = Some(1.0)).unwrap_err().contains("expected one of them"));
        assert!(refused(|plan| (plan.seconds, plan.octets) = (Some(f64::NAN), None)).is_err());
        assert!(refused(|plan| plan.streams = 0).unwrap_err().contains("found 0, expected 1 to 128 streams"));
        assert!(refused(|plan| plan.interval = 0.0).is_err());
        assert!(refused(|plan| plan.bitrate = Some(1)).is_err());
        assert!(refused(|plan| plan.octets = Some(u64::MAX)).is_err());
    }

    #[test]
    fn a_preface_survives_and_nonsense_is_named() {
        let preface = Preface { is_data: true, test: 7 };
        let octets = preface.octets();
        assert_eq!(Preface::parse(octets), Ok(preface));
        let changed = |place: usize, to| {
            let mut octets = octets;
            octets[place] = to;
            Preface::parse(octets).unwrap_err()
        };
        assert!(changed(0, b'x').contains("found \"xcklab\""));
        assert_eq!(changed(6, 9), "version of the protocol: found 9, expected 1");
        assert_eq!(changed(7, 2), "kind of channel: found 2, expected 0 or 1");
    }
}
