//! Who talks to whom, over which transport, and what its application wants.

use super::NAME;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use acklab_transport::custom::Name;
use acklab_transport::recovery::{prr, rack, rto};
use acklab_transport::tcp::config::{Dialect, Preset, RttClock};
use acklab_transport::{ack, cc, pacing, recovery, source, tcp};
use acklab_wifi::access::Category;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tick of the timestamp clock where timestamps are asked for and the preset has none (RFC 7323, §5.4: 1 ms to 1 s).
const TIMESTAMP_TICK: Duration = Duration::from_millis(1);

/// The keys of flows over any transport; all others are TCP's.
pub(super) const OF_ANY_TRANSPORT: [&str; 10] =
    ["name", "from", "to", "transport", "category", "traffic", "start", "stop", "count", "spacing"];

/// A transport protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// TCP (RFC 9293).
    #[default]
    Tcp,
    /// UDP (RFC 768): a datagram for each write of the application, whatever becomes of it. Takes `traffic` of the models `constant` and
    /// `poisson`, and no setting of TCP's.
    Udp,
}

impl Transport {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
        }
    }
}

/// One connection, or `count` of them: an application at `from` sends to `to`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name in every table. Without one, `flow_<k>`, where k counts all flows from 1. With a count above 1, the copies are
    /// called `<name>_1`, `<name>_2`, …
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = NAME), example = &"flow_1")]
    pub name: String,
    /// The node that sends data.
    #[schemars(regex(pattern = NAME), example = &"src_0")]
    pub from: String,
    /// The node that receives data and sends acknowledgements.
    #[schemars(regex(pattern = NAME), example = &"dst_0")]
    pub to: String,
    /// The transport protocol.
    #[serde(default)]
    pub transport: Transport,
    /// Its access category in Wi-Fi cells with QoS, for data and acknowledgements.
    #[serde(default, skip_serializing_if = "is_best_effort")]
    pub category: Category,
    /// The stack whose settings hold wherever the keys below say nothing else. A flow over TCP needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// What the application wants sent.
    #[serde(default = "greedy")]
    pub traffic: source::Config,
    /// When it opens its connection.
    #[serde(default)]
    #[schemars(example = "0s")]
    pub start: Duration,
    /// When its application stops writing. Default: the run's end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "15s")]
    pub stop: Option<Duration>,
    /// So many flows of this kind.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Time from the start of one copy to the start of the next.
    #[serde(default)]
    #[schemars(example = "100ms")]
    pub spacing: Duration,
    /// Congestion controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<cc::Algorithm>,
    /// What the window grows by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<cc::Growth>,
    /// What ends slow start before a loss does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<cc::SlowStart>,
    /// Whose version of the controller is followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_dialect: Option<cc::Dialect>,
    /// Who asks for pacing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<pacing::Config>,
    /// What governs the window in a recovery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<recovery::Algorithm>,
    /// Payload of a full-sized segment, without TCP options.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1448B")]
    pub mss: Option<Bytes>,
    /// Initial window (RFC 6928).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<Segments>,
    /// What the application may write ahead of acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "4MiB")]
    pub send_buffer: Option<Bytes>,
    /// The receive window, at most 1 GiB (RFC 7323, §2.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "4MiB")]
    pub receive_buffer: Option<Bytes>,
    /// Selective acknowledgement (RFC 2018).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// The receiver reports what came twice in the first SACK block (RFC 2883).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// Timestamps in every segment (RFC 7323, §3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// The tick of the timestamp clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1ms")]
    pub timestamp_tick: Option<Duration>,
    /// Window scale (RFC 7323, §2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
    /// Where round-trip times come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_clock: Option<RttClock>,
    /// Grow the window only while it limits sending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validate_window: Option<bool>,
    /// The window after a silence longer than the retransmission timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_idle: Option<tcp::sender::AfterIdle>,
    /// What is halved on loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halves: Option<cc::FlightMeasure>,
    /// PRR: what the reduction is proportional to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prr_basis: Option<prr::Basis>,
    /// PRR: how far it may catch up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prr_bound: Option<prr::Bound>,
    /// What makes a segment count as lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detection: Option<recovery::Detection>,
    /// RACK: whose round trip counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rack_rtt: Option<rack::RoundTrip>,
    /// Probes of the tail of a flight (RFC 8985, §7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_loss_probe: Option<bool>,
    /// What the timers of reordering and of probes wait on top, for the granularity of a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "8ms")]
    pub timer_slack: Option<Duration>,
    /// Undo a reduction that was for nothing, as D-SACK (RFC 3708) or timestamps (RFC 3522) show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<bool>,
    /// New segments on the first two duplicate ACKs (RFC 3042).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Whose reading of loss recovery is followed (RFC 6675, §5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// Explicit congestion notification. A controller that needs to know how much was marked asks for `dctcp` by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<tcp::ecn::Config>,
    /// With `accurate`: tell marked octets in an option of each ACK as well (RFC 9768, §3.2.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_option: Option<bool>,
    /// Retransmission timeout before the first measurement (RFC 6298, §2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1s")]
    pub initial_rto: Option<Duration>,
    /// Lower bound of the retransmission timeout (RFC 6298, §2.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "200ms")]
    pub min_rto: Option<Duration>,
    /// Upper bound of the retransmission timeout (RFC 6298, §2.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "60s")]
    pub max_rto: Option<Duration>,
    /// What the lower bound applies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_floor: Option<rto::Floor>,
    /// Clock granularity G of the retransmission timer (RFC 6298, §2.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1ms")]
    pub rto_granularity: Option<Duration>,
    /// Which ACKs restart the retransmission timer during a recovery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_restart: Option<rto::Restart>,
    /// When the receiver acknowledges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<ack::Config>,
}

const fn greedy() -> source::Config {
    source::Config::Greedy {}
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_best_effort(category: &Category) -> bool {
    *category == Category::BestEffort
}

const fn one() -> u32 {
    1
}

impl Flow {
    /// The settings of its connection: those of the preset, and what this flow says otherwise.
    ///
    /// Without timestamps, round-trip times come from send times unless the flow names another clock. Nothing, if it is not over TCP.
    #[must_use]
    pub fn tcp(&self) -> Option<tcp::Config> {
        let stack = self.preset.filter(|_| self.transport == Transport::Tcp)?;
        let preset = stack.config();
        let timestamps = match self.timestamps {
            Some(false) => None,
            Some(true) => Some(preset.timestamps.unwrap_or(TIMESTAMP_TICK)),
            None => preset.timestamps,
        };
        let congestion = self.congestion.unwrap_or(preset.congestion);
        // Linux's tcp_ca_needs_ecn.
        let ecn = if congestion.counts_marks() { tcp::ecn::Config::Dctcp } else { preset.ecn };
        let sack = self.sack.unwrap_or(preset.sack);
        let clock = if timestamps.is_none() { RttClock::SendTimes } else { preset.rtt_clock };
        Some(tcp::Config {
            mss: self.mss.unwrap_or(preset.mss),
            initial_window: self.initial_window.unwrap_or(preset.initial_window),
            send_buffer: self.send_buffer.unwrap_or(preset.send_buffer),
            receive_buffer: self.receive_buffer.unwrap_or(preset.receive_buffer),
            sack,
            dsack: self.dsack.unwrap_or(preset.dsack && sack),
            window_scaling: self.window_scaling.unwrap_or(preset.window_scaling),
            timestamps: timestamps.map(|tick| self.timestamp_tick.unwrap_or(tick)),
            rtt_clock: self.rtt_clock.unwrap_or(clock),
            congestion,
            growth: self.growth.unwrap_or(preset.growth),
            slow_start: self.slow_start.unwrap_or_else(|| stack.slow_start(congestion)),
            congestion_dialect: self.congestion_dialect.unwrap_or(preset.congestion_dialect),
            pacing: self.pacing.unwrap_or(preset.pacing),
            validate_window: self.validate_window.unwrap_or(preset.validate_window),
            after_idle: self.after_idle.unwrap_or(preset.after_idle),
            halves: self.halves.unwrap_or(preset.halves),
            recovery: self.recovery.unwrap_or(preset.recovery),
            prr_basis: self.prr_basis.unwrap_or(preset.prr_basis),
            prr_bound: self.prr_bound.unwrap_or(preset.prr_bound),
            detection: self.detection.unwrap_or(preset.detection),
            rack_rtt: self.rack_rtt.unwrap_or(preset.rack_rtt),
            tail_loss_probe: self.tail_loss_probe.unwrap_or(preset.tail_loss_probe),
            timer_slack: self.timer_slack.unwrap_or(preset.timer_slack),
            undo: self.undo.unwrap_or(preset.undo),
            limited_transmit: self.limited_transmit.unwrap_or(preset.limited_transmit),
            dialect: self.dialect.unwrap_or(preset.dialect),
            ecn: self.ecn.unwrap_or(ecn),
            ecn_option: self.ecn_option.unwrap_or(preset.ecn_option),
            rto: rto::Config {
                initial: self.initial_rto.unwrap_or(preset.rto.initial),
                min: self.min_rto.unwrap_or(preset.rto.min),
                floor: self.rto_floor.unwrap_or(preset.rto.floor),
                max: self.max_rto.unwrap_or(preset.rto.max),
                granularity: self.rto_granularity.unwrap_or(preset.rto.granularity),
                restart: self.rto_restart.unwrap_or(preset.rto.restart),
            },
            ack: self.ack.unwrap_or(preset.ack),
        })
    }

    /// The strategies that it names and that are not built in: the key of each, and its name.
    pub(crate) fn custom_names(&self) -> impl Iterator<Item = (&'static str, Name)> {
        let policy = match self.ack {
            Some(ack::Config::Custom { name }) => Some(("ack.name", name)),
            _ => None,
        };
        let controller = match self.congestion {
            Some(cc::Algorithm::Custom(name)) => Some(("congestion.custom", name)),
            _ => None,
        };
        policy.into_iter().chain(controller)
    }

    /// The same flow with its name, if it is only one, and every setting of its connection written out. `before` flows come before
    /// it in the scenario, and it stands for so many.
    pub(super) fn in_full(&self, before: usize, copies: usize) -> Self {
        let only_name = self.copy_names(before, copies).next().filter(|_| copies == 1);
        let named = Self { name: only_name.unwrap_or_else(|| self.name.clone()), ..self.clone() };
        let Some(tcp::Config {
            mss,
            initial_window,
            send_buffer,
            receive_buffer,
            sack,
            dsack,
            window_scaling,
            timestamps,
            rtt_clock,
            congestion,
            growth,
            slow_start,
            congestion_dialect,
            pacing,
            validate_window,
            after_idle,
            halves,
            recovery,
            prr_basis,
            prr_bound,
            detection,
            rack_rtt,
            tail_loss_probe,
            timer_slack,
            undo,
            limited_transmit,
            dialect,
            ecn,
            ecn_option,
            rto,
            ack,
        }) = self.tcp()
        else {
            return named;
        };
        Self {
            congestion: Some(congestion),
            growth: Some(growth),
            slow_start: Some(slow_start),
            congestion_dialect: Some(congestion_dialect),
            pacing: Some(pacing),
            recovery: Some(recovery),
            mss: Some(mss),
            initial_window: Some(initial_window),
            send_buffer: Some(send_buffer),
            receive_buffer: Some(receive_buffer),
            sack: Some(sack),
            dsack: Some(dsack),
            timestamps: Some(timestamps.is_some()),
            timestamp_tick: timestamps,
            window_scaling: Some(window_scaling),
            rtt_clock: Some(rtt_clock),
            validate_window: Some(validate_window),
            after_idle: Some(after_idle),
            halves: Some(halves),
            prr_basis: Some(prr_basis),
            prr_bound: Some(prr_bound),
            detection: Some(detection),
            rack_rtt: Some(rack_rtt),
            tail_loss_probe: Some(tail_loss_probe),
            timer_slack: Some(timer_slack),
            undo: Some(undo),
            limited_transmit: Some(limited_transmit),
            dialect: Some(dialect),
            ecn: Some(ecn),
            ecn_option: (ecn == tcp::ecn::Config::Accurate).then_some(ecn_option),
            initial_rto: Some(rto.initial),
            min_rto: Some(rto.min),
            max_rto: Some(rto.max),
            rto_floor: Some(rto.floor),
            rto_granularity: Some(rto.granularity),
            rto_restart: Some(rto.restart),
            ack: Some(ack),
            ..named
        }
    }

    /// The first key that is set though only TCP has it.
    pub(super) fn tcp_key(&self) -> Option<String> {
        let serde_json::Value::Object(keys) = serde_json::to_value(self).ok()? else { return None };
        keys.into_iter().map(|(key, _)| key).find(|key| !OF_ANY_TRANSPORT.contains(&key.as_str()))
    }

    /// The names of its copies. `before` flows come before it in the scenario.
    pub(super) fn copy_names(&self, before: usize, copies: usize) -> impl Iterator<Item = String> {
        (0..copies).map(move |index| match (self.name.is_empty(), copies) {
            (true, _) => format!("flow_{}", before + index + 1),
            (false, 1) => self.name.clone(),
            (false, _) => format!("{}_{}", self.name, index + 1),
        })
    }

    /// Its copies, each by itself: `count` for each pair of `ends`.
    pub(super) fn copies(&self, before: usize, ends: &[(String, String)]) -> impl Iterator<Item = Self> {
        let names = self.copy_names(before, self.count as usize * ends.len());
        names.zip(ends.iter().cycle()).zip(0_u64..).map(|((name, (from, to)), index)| Self {
            name,
            from: from.clone(),
            to: to.clone(),
            start: self.start + self.spacing.saturating_mul(index),
            count: 1,
            spacing: Duration::ZERO,
            ..self.clone()
        })
    }
}
