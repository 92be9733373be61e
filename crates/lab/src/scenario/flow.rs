//! Flows: their ends, transport, applications and times.

use super::NAME;
use crate::transports::Transport;
use acklab_app::{Page, Reading, Traffic};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration};
use acklab_measure::subjects::back_name;
use acklab_transport::custom::Name;
use acklab_transport::quic::ask;
use acklab_transport::tcp::Preset;
use acklab_transport::{ack, cc, tcp};
use acklab_wifi::access::Category;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One connection, or `count` of them: an application at `from` sends to `to`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The name of the flow in all tables. The default is `flow_<k>`, where k numbers all flows
    /// from 1. With a `count` above 1, the copies are called `<name>_1`, `<name>_2`, …
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = NAME), example = &"flow_1")]
    pub name: String,
    /// The node that sends data.
    #[schemars(regex(pattern = NAME), example = &"src_0")]
    pub from: String,
    /// The node that receives data and sends acknowledgements.
    #[schemars(regex(pattern = NAME), example = &"dst_0")]
    pub to: String,
    /// The transport and its settings. As a shorthand, the settings may be keys of the flow, and
    /// `transport` may be the protocol's name. It defaults to `"tcp"`.
    pub transport: Transport,
    /// The stack that runs the flow. In a simulation, the default is acklab's transport. In an
    /// emulation, it is the kernel's TCP or UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<Stack>,
    /// The access category of data and acknowledgements in Wi-Fi cells with QoS.
    #[serde(default, skip_serializing_if = "is_best_effort")]
    pub category: Category,
    /// The application at `from`. It writes the data of the flow.
    #[serde(default = "greedy")]
    pub traffic: Traffic,
    /// The data that the application at `to` writes over the same connection. Only TCP, TACK and
    /// QUIC carry such data. They are measured as a separate flow, called `<name>_back`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<Traffic>,
    /// A document and its objects, instead of `traffic`. The application at `to` requests them and
    /// the application at `from` sends them. Only TCP, TACK and QUIC carry pages. The end at `to`
    /// opens the connection. Its requests are measured as a separate flow, called `<name>_back`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<Page>,
    /// How the application at `to` reads received data.
    #[serde(default, skip_serializing_if = "Reading::is_at_once")]
    pub reading: Reading,
    /// When the flow opens its connection.
    #[serde(default)]
    #[schemars(example = "0s")]
    pub start: Duration,
    /// When the application stops writing. Default: the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "15s")]
    pub stop: Option<Duration>,
    /// The number of copies of this flow.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Time between the starts of consecutive copies. With `arrivals = "poisson"`, the mean of this
    /// time.
    #[serde(default)]
    #[schemars(example = "100ms")]
    pub spacing: Duration,
    /// The distribution of the start times of the copies.
    #[serde(default, skip_serializing_if = "Arrivals::is_even")]
    pub arrivals: Arrivals,
    /// The name of the flow before expansion, if this flow is one of several copies.
    #[serde(skip)]
    pub group: Option<String>,
}

/// The distribution of the starts of a flow's copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At equal intervals.
    #[default]
    Even,
    /// At exponentially distributed intervals. Copies that would start after the end of the run are
    /// omitted.
    Poisson,
}

impl Arrivals {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    fn is_even(&self) -> bool {
        *self == Self::Even
    }
}

/// The stack that runs a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stack {
    /// The kernel's stack. Only an emulation supports it.
    Kernel,
    /// acklab's implementation of the transport, also in an emulation. There, its endpoints send
    /// the octets of real packets in real time. Only TCP, TACK and UDP.
    Own,
}

/// The key of a part of a flow that is not built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CustomKey {
    /// An ACK policy.
    Policy,
    /// A congestion controller.
    Controller,
    /// A rule that decides when the sender requests ACKs.
    Ask,
    /// The ACK policy of the end at `to`, if the settings of the two ends differ.
    PeerPolicy,
    PeerController,
    PeerAsk,
    /// A transport.
    Transport,
}

impl CustomKey {
    /// Returns the path from a flow to the key with the name of the part.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Policy => "transport.ack.name",
            Self::Controller => "transport.congestion.name",
            Self::Ask => "transport.ask.name",
            Self::PeerPolicy => "transport.peer.ack.name",
            Self::PeerController => "transport.peer.congestion.name",
            Self::PeerAsk => "transport.peer.ask.name",
            Self::Transport => "transport.name",
        }
    }

    /// Returns the path from a flow to the key, in the shorthand of a flow over TCP.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Transport => self.path(),
            _ => self.path().trim_start_matches("transport."),
        }
    }

    /// Returns the policy and the controller with their names, if they are not built in.
    pub(crate) fn among(
        policy: Option<ack::PolicyConfig>,
        controller: Option<cc::ControllerConfig>,
    ) -> Vec<(Self, Name)> {
        let policy = match policy {
            Some(ack::PolicyConfig::Custom { name }) => Some((Self::Policy, name)),
            _ => None,
        };
        let controller = match controller {
            Some(cc::ControllerConfig::Custom { name }) => Some((Self::Controller, name)),
            _ => None,
        };
        policy.into_iter().chain(controller).collect()
    }

    /// Returns the rule of requesting ACKs with its name, if it is not built in.
    pub(crate) fn of_ask(ask: Option<ask::AskConfig>) -> Option<(Self, Name)> {
        match ask {
            Some(ask::AskConfig::Custom { name }) => Some((Self::Ask, name)),
            _ => None,
        }
    }

    /// Returns the same part of the end at `to`.
    pub(crate) const fn of_peer(self) -> Self {
        match self {
            Self::Policy => Self::PeerPolicy,
            Self::Controller => Self::PeerController,
            Self::Ask => Self::PeerAsk,
            Self::PeerPolicy | Self::PeerController | Self::PeerAsk | Self::Transport => self,
        }
    }
}

const fn greedy() -> Traffic {
    Traffic::Greedy {}
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_best_effort(category: &Category) -> bool {
    *category == Category::BestEffort
}

const fn one() -> u32 {
    1
}

impl Flow {
    /// Returns the TCP configuration. Returns `None` for another transport.
    #[must_use]
    pub fn tcp(&self) -> Option<tcp::TcpConfig> {
        self.transport.tcp().map(tcp::Settings::config)
    }

    /// Returns the TCP preset. Returns `None` for another transport.
    #[must_use]
    pub fn preset(&self) -> Option<Preset> {
        self.transport.tcp().map(|settings| settings.preset)
    }

    /// Returns `true` if the application at `to` also writes.
    pub(crate) const fn is_both_ways(&self) -> bool {
        self.back.is_some() || self.page.is_some()
    }

    /// Returns the model of the flow's application, as in the flows table.
    pub(crate) fn traffic_label(&self) -> String {
        self.page.as_ref().map_or_else(|| self.traffic.label(), Page::label)
    }

    /// Returns the direction from `to` to `from` as a flow. Returns `None` if the application at
    /// `to` does not write.
    pub(crate) fn reverse(&self) -> Option<Self> {
        let requests = self.page.as_ref().map(|page| Traffic::Fixed { size: page.requested() });
        Some(Self {
            name: back_name(&self.name),
            from: self.to.clone(),
            to: self.from.clone(),
            traffic: self.back.or(requests)?,
            back: None,
            page: None,
            ..self.clone()
        })
    }

    /// Returns the same flow with all settings of its transport written out, and with its name if
    /// there is only one copy. `before` is the number of flows that precede it in the scenario.
    pub(super) fn in_full(&self, before: usize, copies: usize) -> Self {
        let only_name = self.copy_names(before, copies).next().filter(|_| copies == 1);
        Self {
            name: only_name.unwrap_or_else(|| self.name.clone()),
            transport: self.transport.in_full(),
            ..self.clone()
        }
    }

    /// Returns the names of the flow's copies. `before` is the number of flows that precede it in
    /// the scenario.
    pub(super) fn copy_names(&self, before: usize, copies: usize) -> impl Iterator<Item = String> {
        (0..copies).map(move |index| match (self.name.is_empty(), copies) {
            (true, _) => format!("flow_{}", before + index + 1),
            (false, 1) => self.name.clone(),
            (false, _) => format!("{}_{}", self.name, index + 1),
        })
    }

    /// Returns the flow's copies with their start times and sizes: `count` copies for each pair of
    /// `ends`. `before` is the number of flows that precede it in the scenario.
    pub(super) fn copies(&self, before: usize, ends: &[(String, String)], seed: Seed) -> impl Iterator<Item = Self> {
        let copies = self.count as usize * ends.len();
        let group = if self.name.is_empty() { format!("flow_{}", before + 1) } else { self.name.clone() };
        let mut gaps = seed.stream(&format!("flow/{group}/arrivals"));
        let mut start = self.start;
        let mut next_start = move |index: u64| match self.arrivals {
            Arrivals::Even => self.start + self.spacing.saturating_mul(index),
            Arrivals::Poisson => {
                start += gaps.exponential(self.spacing);
                start
            }
        };
        let group = (copies > 1).then_some(group);
        self.copy_names(before, copies).zip(ends.iter().cycle()).zip(0_u64..).map(move |((name, (from, to)), index)| {
            let chance = |end: &str| seed.stream(&format!("flow/{name}/size{end}"));
            Self {
                from: from.clone(),
                to: to.clone(),
                start: next_start(index),
                traffic: self.traffic.sized(|| chance("")),
                back: self.back.map(|back| back.sized(|| chance("/back"))),
                page: self.page.clone().map(|page| page.sized(|| chance(""))),
                count: 1,
                spacing: Duration::ZERO,
                arrivals: Arrivals::Even,
                group: group.clone(),
                name,
                ..self.clone()
            }
        })
    }

    /// Returns the total number of bytes that the application at `from` sends. Returns `None` if it
    /// does not end by itself.
    pub(crate) fn total(&self) -> Option<u64> {
        match &self.page {
            Some(page) => Some(page.sizes().sum()),
            None => self.traffic.total().map(Bytes::get),
        }
    }
}
