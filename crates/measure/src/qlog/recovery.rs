//! Recovery in a log: metrics, the state of congestion control, losses and timers.

use super::file::{LogFile, ms};
use super::schema::Kind;
use acklab_base::{Event, Instant, Rate, Vitals};
use serde_json::{Map, Value, json};

/// The values that were logged last. They are stored because events record only changes.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    reported: Map<String, Value>,
    rtt_samples: u64,
    min_rtt: Option<u64>,
    is_recovering: bool,
    state: Option<&'static str>,
    /// The reason of the next change of state, if it is reported.
    trigger: Option<&'static str>,
    /// The maximum size of a datagram.
    datagram: Option<u64>,
}

impl Recovery {
    /// Writes the metrics that have changed, and the state of congestion control if it has changed.
    pub(super) fn update(&mut self, now: Instant, vitals: &Vitals, pacing: Option<Rate>, file: &mut LogFile) {
        if vitals.rtt_samples > self.rtt_samples {
            self.rtt_samples = vitals.rtt_samples;
            let latest = vitals.latest_rtt.as_nanos();
            self.min_rtt = Some(self.min_rtt.map_or(latest, |least| least.min(latest)));
        }
        let has_rtt = self.rtt_samples > 0;
        let metrics = [
            ("min_rtt", self.min_rtt.map(|nanos| ms(nanos).into())),
            ("smoothed_rtt", vitals.smoothed_rtt.filter(|_| has_rtt).map(|rtt| ms(rtt.as_nanos()).into())),
            ("latest_rtt", has_rtt.then(|| ms(vitals.latest_rtt.as_nanos()).into())),
            ("congestion_window", vitals.window.map(Value::from)),
            ("bytes_in_flight", vitals.in_flight.map(Value::from)),
            ("ssthresh", vitals.threshold.map(Value::from)),
            ("pacing_rate", pacing.map(|rate| rate.bits_per_second().into())),
        ];
        let mut changed = Map::new();
        for (name, value) in metrics {
            let Some(value) = value else { continue };
            if self.reported.get(name) != Some(&value) {
                self.reported.insert(name.to_owned(), value.clone());
                changed.insert(name.to_owned(), value);
            }
        }
        if !changed.is_empty() {
            file.event(now, Kind::MetricsUpdated, &changed.into());
        }
        if let Some(state) = self.state_of(vitals) {
            self.enter(now, state, file);
        }
    }

    /// Returns the state of congestion control, with the names for NewReno in
    /// draft-ietf-quic-qlog-quic-events-12. Returns `None` without a threshold, because the log
    /// cannot distinguish the first slow start from a controller without a threshold.
    fn state_of(&self, vitals: &Vitals) -> Option<&'static str> {
        if self.is_recovering {
            return Some("recovery");
        }
        Some(if vitals.window? < vitals.threshold? { "slow_start" } else { "congestion_avoidance" })
    }

    fn enter(&mut self, now: Instant, state: &'static str, file: &mut LogFile) {
        if self.state == Some(state) {
            return;
        }
        let mut data = json!({ "new": state });
        if let Some(old) = self.state {
            data["old"] = old.into();
        }
        self.state = Some(state);
        if let Some(trigger) = self.trigger.take() {
            data["trigger"] = trigger.into();
        }
        file.event(now, Kind::CongestionStateUpdated, &data);
    }

    /// Records that a packet of data was declared lost.
    pub(super) fn lost(now: Instant, number: u64, file: &mut LogFile) {
        let header = json!({ "packet_type": "1RTT", "packet_number": number });
        file.event(now, Kind::PacketLost, &json!({ "header": header }));
    }

    /// Records an event of the endpoint, if it concerns recovery.
    pub(super) fn event(&mut self, now: Instant, event: Event, file: &mut LogFile) {
        match event {
            Event::RecoveryEntered { .. } => {
                self.is_recovering = true;
                self.enter(now, "recovery", file);
            }
            // The state after this event follows from the window.
            Event::RecoveryExited | Event::Undone => self.is_recovering = false,
            Event::PersistentCongestion => self.trigger = Some("persistent_congestion"),
            Event::DatagramSize { octets } => {
                let mut data = json!({ "new": octets });
                if let Some(old) = self.datagram.replace(octets) {
                    data["old"] = old.into();
                }
                file.event(now, Kind::MtuUpdated, &data);
            }
            Event::PacketLost { number } => Self::lost(now, number, file),
            Event::RetransmissionTimeout { .. } | Event::TailLossProbe { .. } => {
                file.event(now, Kind::TimerUpdated, &json!({ "timer_type": "pto", "event_type": "expired" }));
            }
            _ => {}
        }
    }
}
