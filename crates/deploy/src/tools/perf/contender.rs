//! A transport with its settings, in the syntax of `--with`.

use crate::config;
use crate::tools::ToolError;
use acklab_base::Bytes;
use acklab_transport::tack::Settings;
use acklab_transport::{ack, cc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The number of unread bytes that a control connection may send. Chosen: the size of some
/// messages.
pub(super) const CONTROL_BUFFER: Bytes = Bytes(64 << 10);

/// The bytes in flight that QUIC's flow control permits. The value equals
/// [TACK's](config::settings).
const QUIC_WINDOW: Bytes = Bytes(16 << 20);
/// The maximum flow control window that may be requested.
const MAX_WINDOW: Bytes = Bytes(1 << 30);

/// A measured transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contender {
    /// The contender's name in tables, as the user wrote it.
    pub name: String,
    /// The transport.
    pub transport: Transport,
}

/// A transport with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Transport {
    /// TACK over UDP.
    Tack(Box<Settings>),
    /// QUIC, implemented by quinn.
    Quic(Quic),
    /// The kernel's TCP.
    Tcp {
        /// The kernel's name of the congestion controller. `None` means the kernel's default.
        congestion: Option<String>,
    },
}

/// The congestion controllers of quinn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuicController {
    /// CUBIC (RFC 9438).
    #[default]
    Cubic,
    /// NewReno (RFC 9002, §7).
    NewReno,
    /// BBR, version 1. quinn calls it experimental.
    Bbr,
}

/// The settings of QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quic {
    /// The congestion controller.
    pub congestion: QuicController,
    /// `true` if the sender requests fewer ACKs from its receiver (draft-ietf-quic-ack-frequency),
    /// with quinn's settings.
    pub ack_frequency: bool,
    /// The bytes in flight that flow control permits, at most 1 GiB. quinn ends a connection with
    /// more than 1024 gaps in a stream (`MAX_CHUNKS` of its assembler). With a larger window, slow
    /// start may cause so many gaps if the path's queue is long.
    pub window: Bytes,
}

impl Default for Quic {
    fn default() -> Self {
        Self { congestion: QuicController::default(), ack_frequency: false, window: QUIC_WINDOW }
    }
}

impl Quic {
    /// Returns the settings of control connections.
    pub(crate) fn of_control() -> Self {
        Self { window: CONTROL_BUFFER, ..Self::default() }
    }

    pub(crate) fn transport(self) -> Arc<quinn::TransportConfig> {
        use quinn::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
        let mut config = quinn::TransportConfig::default();
        let octets = self.window.min(MAX_WINDOW).get();
        let window = quinn::VarInt::try_from(octets).unwrap_or(quinn::VarInt::MAX);
        config.stream_receive_window(window).receive_window(window).send_window(octets);
        // Each connection has one stream, which the client opens.
        config.max_concurrent_bidi_streams(1u32.into()).max_concurrent_uni_streams(0u32.into());
        match self.congestion {
            QuicController::Cubic => config.congestion_controller_factory(Arc::new(CubicConfig::default())),
            QuicController::NewReno => config.congestion_controller_factory(Arc::new(NewRenoConfig::default())),
            QuicController::Bbr => config.congestion_controller_factory(Arc::new(BbrConfig::default())),
        };
        config.ack_frequency_config(self.ack_frequency.then(quinn::AckFrequencyConfig::default));
        Arc::new(config)
    }
}

impl Contender {
    /// Returns the contenders of a list such as
    /// `tack,tack:congestion=cubic,ack.beta=8,quic:ack_frequency,bbr`. An item with `=` belongs to
    /// the preceding item with `:`.
    ///
    /// # Errors
    /// If an item is not a contender.
    pub fn list(text: &str) -> Result<Vec<Self>, ToolError> {
        let mut items: Vec<String> = Vec::new();
        for item in text.split(',').map(str::trim) {
            match items.last_mut() {
                Some(last) if last.contains(':') && item.contains('=') && !item.contains(':') => {
                    last.push(',');
                    last.push_str(item);
                }
                _ => items.push(item.to_owned()),
            }
        }
        items.iter().map(|item| Self::parse(item)).collect()
    }

    fn parse(text: &str) -> Result<Self, ToolError> {
        let (transport, settings) = text.split_once(':').unwrap_or((text, ""));
        let settings = settings.split(',').filter(|setting| !setting.is_empty()).map(|setting| {
            let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
            (key.trim(), value.trim())
        });
        let transport = match transport {
            "tack" => Transport::Tack(Box::new(tack(text, settings)?)),
            "quic" => Transport::Quic(quic(text, settings)?),
            "tcp" => Transport::Tcp { congestion: tcp(text, settings)? },
            name if is_name(name) && !text.contains(':') => Transport::Tcp { congestion: Some(name.to_owned()) },
            _ => return Err(ToolError::usage("--with", format_args!("{text:?}"), known())),
        };
        Ok(Self { name: text.to_owned(), transport })
    }

    /// Returns the name of the congestion controller, if one is set.
    #[must_use]
    pub fn congestion(&self) -> Option<String> {
        match &self.transport {
            Transport::Tack(settings) => Some(settings.congestion.name().to_owned()),
            Transport::Quic(quic) => Some(format!("{:?}", quic.congestion).to_lowercase()),
            Transport::Tcp { congestion } => congestion.clone(),
        }
    }

    /// Returns the name of the transport.
    #[must_use]
    pub const fn protocol(&self) -> &'static str {
        match self.transport {
            Transport::Tack(_) => "tack",
            Transport::Quic(_) => "quic",
            Transport::Tcp { .. } => "tcp",
        }
    }
}

/// Returns `true` if `name` is a valid name of a kernel controller. Names have at most 15 letters
/// (`TCP_CA_NAME_MAX` is 16 with the terminator).
pub(crate) fn is_name(name: &str) -> bool {
    (1..16).contains(&name.len()) && name.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"-_".contains(&octet))
}

/// Returns the controllers that this kernel has loaded.
pub(crate) fn kernel_controllers() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default().trim().to_owned()
}

fn known() -> String {
    format!("tack, quic, tcp, or a congestion controller of the kernel (here: {})", kernel_controllers())
}

fn tcp<'t>(text: &str, settings: impl Iterator<Item = (&'t str, &'t str)>) -> Result<Option<String>, ToolError> {
    let mut congestion = None;
    for (key, value) in settings {
        if key != "congestion" || !is_name(value) {
            return Err(ToolError::usage(
                format_args!("--with {text}"),
                format_args!("{key}={value}"),
                "congestion=NAME",
            ));
        }
        congestion = Some(value.to_owned());
    }
    Ok(congestion)
}

fn quic<'t>(text: &str, settings: impl Iterator<Item = (&'t str, &'t str)>) -> Result<Quic, ToolError> {
    let table: Map<String, Value> = settings
        .map(|(key, value)| (key.to_owned(), value.parse::<bool>().map_or_else(|_| json!(value), Value::Bool)))
        .collect();
    serde_json::from_value(Value::Object(table)).map_err(|error| {
        ToolError::Usage(format!(
            "--with {text}: {error}; expected congestion=cubic, newreno or bbr, ack_frequency, and window=16MiB"
        ))
    })
}

/// Returns the usual settings with these changes. Each change has the key of a scenario:
/// `ack.beta=8`, `idle_timeout=10s`.
fn tack<'t>(text: &str, settings: impl Iterator<Item = (&'t str, &'t str)>) -> Result<Settings, ToolError> {
    let place = format!("--with {text}");
    let failed = |why: &dyn std::fmt::Display| ToolError::Usage(format!("{place}: {why}"));
    let mut table = serde_json::to_value(config::settings()).map_err(|error| failed(&error))?;
    for (key, value) in settings {
        let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        let (value, names) = match key {
            "congestion" => (
                json!({ "algorithm": value }),
                Some(cc::ControllerConfig::built_in().map(|one| one.name().to_owned()).collect()),
            ),
            "ack" => (
                json!({ "policy": value }),
                Some(ack::PolicyConfig::built_in().map(|one| one.name().to_owned()).collect::<Vec<_>>()),
            ),
            _ => (value, None),
        };
        let mut slot = &mut table;
        for key in key.split('.') {
            let Value::Object(table) = slot else {
                return Err(failed(&format_args!("{key:?} belongs to no table")));
            };
            // Adds only keys that a scenario omits if they have no value.
            slot = table.entry(key).or_insert(Value::Null);
        }
        *slot = value;
        // Each change is checked immediately, so that the message names the invalid one.
        if let Err(error) = serde_json::from_value::<Settings>(table.clone()) {
            let expected = names.map(|names| format!("; expected one of {}", names.join(", "))).unwrap_or_default();
            return Err(failed(&format_args!("{key}: {error}{expected}")));
        }
    }
    let settings: Settings = serde_json::from_value(table).map_err(|error| failed(&error))?;
    settings.check().map_err(|fault| failed(&crate::error::ConnectError::of(&fault)))?;
    if matches!(settings.congestion, cc::ControllerConfig::Custom { .. })
        || matches!(settings.ack, ack::PolicyConfig::Custom { .. })
    {
        return Err(failed(&crate::error::ConnectError::OwnStrategy));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        Contender::list(text).unwrap().into_iter().map(|one| one.name).collect()
    }

    fn refused(text: &str) -> String {
        Contender::list(text).unwrap_err().to_string()
    }

    #[test]
    fn settings_belong_to_the_contender_before_them() {
        let list = "tack:congestion=cubic,ack.beta=8,quic:ack_frequency,window=8MiB,bbr";
        assert_eq!(names(list), ["tack:congestion=cubic,ack.beta=8", "quic:ack_frequency,window=8MiB", "bbr"]);
        let found = Contender::list(list).unwrap();
        let Transport::Tack(settings) = &found[0].transport else { panic!("{found:?}") };
        assert_eq!((settings.congestion.name(), settings.law().beta), ("cubic", 8));
        assert_eq!(settings.burst, config::settings().burst, "the others are the usual ones");
        assert_eq!(
            found[1].transport,
            Transport::Quic(Quic { ack_frequency: true, window: Bytes(8 << 20), ..Quic::default() })
        );
        assert_eq!(found[2].transport, Transport::Tcp { congestion: Some("bbr".to_owned()) });
    }

    #[test]
    fn what_is_no_contender_is_refused() {
        assert!(refused("").starts_with("--with: found \"\", expected tack, quic, tcp, or a congestion controller"));
        assert!(refused("tack:congestion=nothing").contains("expected one of newreno, cubic"));
        assert!(refused("tack:speed=9").contains("unknown field `speed`"));
        assert!(refused("tack:ack=custom").contains("--with tack:ack=custom"));
        assert!(refused("quic:congestion=vegas").contains("unknown variant `vegas`"));
        assert!(refused("quic:window=2").contains("window"));
        assert!(refused("tcp:mss=1000").contains("found mss=1000, expected congestion=NAME"));
        assert!(refused("tack:packet=1B").contains("packet"));
    }

    #[test]
    fn a_contender_survives_its_message() {
        for one in Contender::list("tack,tack:ack=per-packet,quic:congestion=bbr,tcp,reno").unwrap() {
            let text = serde_json::to_string(&one).unwrap();
            assert_eq!(serde_json::from_str::<Contender>(&text).unwrap(), one);
        }
    }
}
