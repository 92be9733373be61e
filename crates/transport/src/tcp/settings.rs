//! The settings of a connection, with one definition per setting.
//!
//! One list generates two types. In [`Settings`], a scenario names a preset and overrides some of
//! its values. [`TcpConfig`] contains every value of a connection. To add a setting, add a row to
//! `shared` below and a value to the presets of [`config`](super::config). The scenario language,
//! its schema and its canonical form are derived from these.

mod check;

use super::config::{Dialect, Preset, RttClock};
use super::ecn;
use super::kernel::Kernel;
use super::receiver::ReceiveWindow;
use super::sender::{AfterIdle, SendBufferLimit};
use crate::{ack, cc, pacing, recovery};
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use recovery::{prr, rack, rto};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tick of the timestamp clock, if a scenario requests timestamps and the preset has no tick
/// (RFC 7323, §5.4: 1 ms to 1 s).
const TIMESTAMP_TICK: Duration = Duration::from_millis(1);

/// Generates [`TcpConfig`] and [`Settings`] from four lists:
///
/// * `shared`: settings with the same form in a scenario and in the connection;
/// * `parts`: settings that are single keys in a scenario, and members of a group in the connection
///   (`key: Type => group.member`);
/// * `said`: settings of a scenario that [`Settings::defaults`] and [`Settings::in_full`]
///   translate;
/// * `held`: the settings of a connection that result from `parts` and `said`.
macro_rules! settings {
    (
        shared { $($(#[doc = $doc:literal])+ $(#[schemars($($schema:tt)+)])? $name:ident: $type:ty,)+ }
        parts { $($(#[doc = $part_doc:literal])+ $(#[schemars($($part_schema:tt)+)])? $part:ident: $part_type:ty => $group:ident.$member:ident,)+ }
        said { $($(#[doc = $said_doc:literal])+ $(#[schemars($($said_schema:tt)+)])? $said:ident: $said_type:ty,)+ }
        held { $($(#[doc = $held_doc:literal])+ $held:ident: $held_type:ty,)+ }
    ) => {
        /// All settings of one connection.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct TcpConfig {
            $($(#[doc = $doc])+ pub $name: $type,)+
            $($(#[doc = $held_doc])+ pub $held: $held_type,)+
        }

        /// The settings of a connection in a scenario: a stack, and the differences from it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            /// The stack whose settings apply unless another key overrides them.
            pub preset: Preset,
            $($(#[doc = $doc])+ $(#[schemars($($schema)+)])? #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$type>,)+
            $($(#[doc = $part_doc])+ $(#[schemars($($part_schema)+)])? #[serde(skip_serializing_if = "Option::is_none")] pub $part: Option<$part_type>,)+
            $($(#[doc = $said_doc])+ $(#[schemars($($said_schema)+)])? #[serde(skip_serializing_if = "Option::is_none")] pub $said: Option<$said_type>,)+
        }

        impl Settings {
            /// Returns the settings of `preset`.
            #[must_use]
            pub const fn of(preset: Preset) -> Self {
                Self { preset, $($name: None,)+ $($part: None,)+ $($said: None,)+ }
            }

            /// Returns `defaults`, with the values that this scenario overrides.
            fn over(&self, mut defaults: TcpConfig) -> TcpConfig {
                $(if let Some(value) = self.$name { defaults.$name = value; })+
                $(if let Some(value) = self.$part { defaults.$group.$member = value; })+
                defaults
            }

            /// Returns all values of `config` as keys of a scenario.
            const fn spelled(preset: Preset, config: &TcpConfig) -> Self {
                Self {
                    $($name: Some(config.$name),)+
                    $($part: Some(config.$group.$member),)+
                    ..Self::of(preset)
                }
            }
        }
    };
}

settings! {
    shared {
        /// Congestion controller.
        congestion: cc::ControllerConfig,
        /// The unit of the window's growth.
        growth: cc::Growth,
        /// The algorithm that ends slow start before a loss.
        slow_start: cc::SlowStart,
        /// The stack whose variant of the controller is used.
        congestion_dialect: cc::Dialect,
        /// The controllers that are paced.
        pacing: pacing::PacingConfig,
        /// The algorithm that controls the window in a recovery.
        recovery: recovery::Algorithm,
        /// Payload of a full-sized segment, without TCP options.
        #[schemars(example = "1448B")]
        mss: Bytes,
        /// Initial congestion window (RFC 6928).
        initial_window: Segments,
        /// Send buffer: the data that are written but not acknowledged.
        #[schemars(example = "4MiB")]
        send_buffer: Bytes,
        /// The quantity that `send_buffer` limits.
        send_buffer_limit: SendBufferLimit,
        /// The receive buffer, at most 1 GiB (RFC 7323, §2.2). `receive_window` determines the
        /// offered window.
        #[schemars(example = "4MiB")]
        receive_buffer: Bytes,
        /// The part of `receive_buffer` that the receiver offers. The ACK policy does not affect
        /// it.
        receive_window: ReceiveWindow,
        /// Selective acknowledgement (RFC 2018).
        sack: bool,
        /// The receiver reports duplicate data in the first SACK block (RFC 2883).
        dsack: bool,
        /// Window scale (RFC 7323, §2).
        window_scaling: bool,
        /// The source of round-trip times.
        rtt_clock: RttClock,
        /// Grow the window only while the window limits sending (RFC 9293 has no rule; RFC 7661,
        /// §4; Linux's `tcp_is_cwnd_limited`).
        validate_window: bool,
        /// The window after an idle period longer than the retransmission timeout.
        after_idle: AfterIdle,
        /// The quantity that a loss halves.
        halves: cc::FlightMeasure,
        /// PRR: the amount of data in flight to which the reduction is proportional.
        prr_basis: prr::Basis,
        /// PRR: the bound on the data that PRR may send to reach the threshold.
        prr_bound: prr::Bound,
        /// The condition under which a segment is declared lost.
        detection: recovery::Detection,
        /// RACK: the segment whose round-trip time is used.
        rack_rtt: rack::RoundTrip,
        /// Probes of the tail of a flight (RFC 8985, §7).
        tail_loss_probe: bool,
        /// The additional delay of the reordering timer and the probe timeout, which allows for the
        /// granularity of a clock.
        #[schemars(example = "8ms")]
        timer_slack: Duration,
        /// Undo a spurious reduction that D-SACK (RFC 3708) or timestamps (RFC 3522) reveal.
        undo: bool,
        /// Send new segments on the first two duplicate ACKs (RFC 3042).
        limited_transmit: bool,
        /// The variant of loss recovery (RFC 6675, §5).
        dialect: Dialect,
        /// Explicit congestion notification. A controller that requires the number of marks always
        /// requests `dctcp`.
        ecn: ecn::EcnConfig,
        /// With `accurate`: also report marked bytes in an option of each ACK (RFC 9768, §3.2.3).
        ecn_option: bool,
        /// The policy that decides when the receiver sends ACKs.
        ack: ack::PolicyConfig,
    }
    parts {
        /// Retransmission timeout before the first measurement (RFC 6298, §2.1).
        #[schemars(example = "1s")]
        initial_rto: Duration => rto.initial,
        /// Lower bound of the retransmission timeout (RFC 6298, §2.4).
        #[schemars(example = "200ms")]
        min_rto: Duration => rto.min,
        /// Upper bound of the retransmission timeout (RFC 6298, §2.5).
        #[schemars(example = "60s")]
        max_rto: Duration => rto.max,
        /// The quantity to which the lower bound applies.
        rto_floor: rto::Floor => rto.floor,
        /// Clock granularity G of the retransmission timer (RFC 6298, §2.3).
        #[schemars(example = "1ms")]
        rto_granularity: Duration => rto.granularity,
        /// The events that restart the retransmission timer during a recovery.
        rto_restart: rto::Restart => rto.restart,
    }
    said {
        /// With `receive_window = "autotuned"`: the version of Linux whose receive buffer is
        /// modelled. The version also determines the default of `receive_buffer`.
        kernel: Kernel,
        /// Send timestamps in every segment (RFC 7323, §3).
        timestamps: bool,
        /// The tick of the timestamp clock.
        #[schemars(example = "1ms")]
        timestamp_tick: Duration,
    }
    held {
        /// The version of Linux whose receive buffer is modelled.
        kernel: Kernel,
        /// Retransmission timer.
        rto: rto::RtoConfig,
        /// The tick of the timestamp clock (RFC 7323, §3), or `None` without timestamps.
        timestamps: Option<Duration>,
    }
}

impl Settings {
    /// Returns the settings of the connection: the values of the preset, with the values that this
    /// scenario overrides.
    #[must_use]
    pub fn config(&self) -> TcpConfig {
        self.over(self.defaults())
    }

    /// Returns the settings of the preset. Values that depend on overridden values are adapted.
    fn defaults(&self) -> TcpConfig {
        let preset = self.preset.config();
        let congestion = self.congestion.unwrap_or(preset.congestion);
        let timestamps = match self.timestamps {
            Some(false) => None,
            Some(true) => Some(preset.timestamps.unwrap_or(TIMESTAMP_TICK)),
            None => preset.timestamps,
        };
        let kernel = self.kernel.unwrap_or(preset.kernel);
        TcpConfig {
            kernel,
            receive_buffer: match self.receive_window.unwrap_or(preset.receive_window) {
                ReceiveWindow::Autotuned => kernel.largest_receive_buffer(),
                ReceiveWindow::WholeBuffer => Preset::Rfc.config().receive_buffer,
            },
            slow_start: self.preset.slow_start(&congestion),
            // Linux's tcp_ca_needs_ecn.
            ecn: match (congestion.is_scalable(), congestion.counts_marks()) {
                (true, _) => ecn::EcnConfig::Accurate,
                (false, true) => ecn::EcnConfig::Dctcp,
                (false, false) => preset.ecn,
            },
            dsack: preset.dsack && self.sack.unwrap_or(preset.sack),
            timestamps: timestamps.map(|tick| self.timestamp_tick.unwrap_or(tick)),
            rtt_clock: if timestamps.is_none() { RttClock::SendTimes } else { preset.rtt_clock },
            ..preset
        }
    }

    /// Returns the same settings with every value explicit.
    #[must_use]
    pub fn in_full(&self) -> Self {
        let config = self.config();
        Self {
            kernel: config.is_autotuned().then_some(config.kernel),
            timestamps: Some(config.timestamps.is_some()),
            timestamp_tick: config.timestamps,
            ecn_option: (config.ecn == ecn::EcnConfig::Accurate).then_some(config.ecn_option),
            ..Self::spelled(self.preset, &config)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESETS: [Preset; 3] = [Preset::Linux, Preset::Ns3, Preset::Rfc];

    #[test]
    fn a_preset_alone_is_its_configuration() {
        for preset in PRESETS {
            assert_eq!(Settings::of(preset).config(), preset.config(), "{preset:?}");
        }
    }

    #[test]
    fn written_out_in_full_they_mean_the_same() {
        for preset in PRESETS {
            let changes: [fn(&mut Settings); 5] = [
                |_| {},
                |settings| settings.timestamps = Some(false),
                |settings| settings.congestion = cc::ControllerConfig::named("cubic"),
                |settings| settings.congestion = cc::ControllerConfig::named("dctcp"),
                |settings| (settings.sack, settings.min_rto) = (Some(false), Some(Duration::from_millis(5))),
            ];
            for change in changes {
                let mut settings = Settings::of(preset);
                change(&mut settings);
                assert_eq!(settings.in_full().config(), settings.config(), "{settings:?}");
                assert_eq!(settings.check(), Ok(()), "{settings:?}");
            }
        }
    }

    #[test]
    fn defaults_follow_what_is_said_of_others() {
        let said = Settings { sack: Some(false), timestamps: Some(false), ..Settings::of(Preset::Rfc) };
        let config = said.config();
        assert_eq!((config.dsack, config.timestamps, config.rtt_clock), (false, None, RttClock::SendTimes));
        let marks = Settings { congestion: cc::ControllerConfig::named("dctcp"), ..Settings::of(Preset::Linux) };
        assert_eq!(marks.config().ecn, ecn::EcnConfig::Dctcp, "tcp_ca_needs_ecn");
        let cubic = Settings { congestion: cc::ControllerConfig::named("cubic"), ..Settings::of(Preset::Linux) };
        assert_eq!(cubic.config().slow_start, cc::SlowStart::LINUX_HYSTART);
    }
}
