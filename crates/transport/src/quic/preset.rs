//! The defaults of implementations, as far as acknowledgments depend on them.
//!
//! | preset | acknowledges | asks for | controller | source |
//! |---|---|---|---|---|
//! | `rfc` | every second packet, 25 ms | – | NewReno | RFC 9000, §13.2; RFC 9002, §7 |
//! | `chrome` | every second of the first 100 packets, then every tenth or a quarter of RTTmin | – | CUBIC | Google's quiche, `quic_received_packet_manager.cc` |
//! | `neqo` | every second packet, 20 ms | 4 ACKs in a round trip | CUBIC | neqo, `tracking.rs`, `ackrate.rs` |
//! | `picoquic` | every second packet, 10 ms | 4 ACKs in a round trip, within bounds | NewReno | picoquic, `frames.c` |
//! | `quicly` | every second packet, 25 ms; after a gap every packet for an eighth of a round trip | – | NewReno | quicly, `constants.h`; Custura et al., IETF 106 |
//! | `msquic` | every second packet, 25 ms | – | CUBIC | msquic, `quicdef.h` |
//! | `quinn` | every second packet, 25 ms | – | CUBIC | quinn-proto, `config/transport.rs` |

use super::ask;
use crate::{ack, cc, pacing};
use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `DEFAULT_LOCAL_ACK_DELAY` of neqo, `tracking.rs`.
const NEQO_DELAY: Duration = Duration::from_millis(20);
/// `PICOQUIC_ACK_DELAY_MAX`.
const PICOQUIC_DELAY: Duration = Duration::from_millis(10);

/// Whose defaults are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// RFC 9000 and RFC 9002.
    #[default]
    Rfc,
    /// Chrome.
    Chrome,
    /// Firefox.
    Neqo,
    /// picoquic.
    Picoquic,
    /// quicly.
    Quicly,
    /// msquic.
    Msquic,
    /// quinn.
    Quinn,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 7] =
        [Self::Rfc, Self::Chrome, Self::Neqo, Self::Picoquic, Self::Quicly, Self::Msquic, Self::Quinn];

    /// Its name, as scenarios spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rfc => "rfc",
            Self::Chrome => "chrome",
            Self::Neqo => "neqo",
            Self::Picoquic => "picoquic",
            Self::Quicly => "quicly",
            Self::Msquic => "msquic",
            Self::Quinn => "quinn",
        }
    }

    /// Its ACK policy.
    #[must_use]
    pub fn ack(self) -> ack::Config {
        let within = |max_ack_delay| ack::quic::Quic { max_ack_delay, ..ack::quic::Quic::default() }.into();
        match self {
            Self::Rfc | Self::Msquic | Self::Quinn => ack::quic::Quic::default().into(),
            Self::Chrome => ack::chrome::Chrome::default().into(),
            Self::Neqo => within(NEQO_DELAY),
            Self::Picoquic => within(PICOQUIC_DELAY),
            Self::Quicly => ack::after_gap::AfterGap::default().into(),
        }
    }

    /// What it asks of its peer's ACKs.
    #[must_use]
    pub fn ask(self) -> ask::Config {
        match self {
            Self::Neqo => ask::Config::Neqo(ask::neqo::Neqo::default()),
            Self::Picoquic => ask::Config::Picoquic(ask::picoquic::Picoquic::default()),
            Self::Rfc | Self::Chrome | Self::Quicly | Self::Msquic | Self::Quinn => ask::Config::None,
        }
    }

    /// How much its pacing lets leave at once.
    #[must_use]
    pub const fn burst(self) -> Option<pacing::Burst> {
        match self {
            Self::Quinn => Some(pacing::Burst::QUINN),
            Self::Rfc | Self::Chrome | Self::Neqo | Self::Picoquic | Self::Quicly | Self::Msquic => None,
        }
    }

    /// Its congestion controller.
    #[must_use]
    pub fn congestion(self) -> cc::Config {
        match self {
            Self::Rfc | Self::Picoquic | Self::Quicly => cc::Config::NewReno(cc::newreno::Config::default()),
            Self::Chrome | Self::Neqo | Self::Msquic | Self::Quinn => cc::Config::Cubic(cc::cubic::Config::default()),
        }
    }
}
