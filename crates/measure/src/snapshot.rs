//! The counters of an endpoint at an instant.

use acklab_app::page::Object;
use acklab_base::{CounterValue, Endpoint};

/// The counters of an endpoint and its application at an instant, or their increase between two
/// instants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Octets that the application has written.
    pub written: u64,
    /// Octets that have arrived, in order or not. Each octet is counted once.
    pub received: u64,
    /// Octets that were delivered to the application.
    pub delivered: u64,
    /// RTT samples taken.
    pub rtt_samples: u64,
    /// IP octets of the packets sent.
    pub sent_bytes: u64,
    /// Counters and gauges: name, unit, value.
    pub counters: Vec<(&'static str, &'static str, CounterValue)>,
    /// ACKs sent, by reason. The reason is `None` if the endpoint does not report it.
    pub acknowledgments: Vec<(Option<String>, u64)>,
    /// The objects of a page, at the end that requests them.
    pub objects: Vec<Object>,
}

impl Snapshot {
    /// Returns the counters of `endpoint`. `sent_bytes` is the number of IP octets of its packets.
    /// The caller adds the counters of the application.
    #[must_use]
    pub fn of(endpoint: &impl Endpoint, sent_bytes: u64) -> Self {
        let vitals = endpoint.vitals();
        let mut snapshot = Self {
            written: vitals.written,
            received: vitals.received,
            delivered: vitals.read.unwrap_or(vitals.received),
            rtt_samples: vitals.rtt_samples,
            sent_bytes,
            ..Self::default()
        };
        endpoint.report_counters(&mut |name, unit, value| snapshot.counters.push((name, unit, value)));
        endpoint
            .report_ack_reasons(&mut |reason, count| snapshot.acknowledgments.push((Some(reason.to_owned()), count)));
        snapshot
    }

    /// Returns the increase since `before`, an earlier snapshot of the same endpoint. Gauges keep
    /// their current value.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut since = self.clone();
        since.written -= before.written;
        since.received -= before.received;
        since.delivered -= before.delivered;
        since.rtt_samples -= before.rtt_samples;
        since.sent_bytes -= before.sent_bytes;
        for ((.., now), (.., before)) in since.counters.iter_mut().zip(&before.counters) {
            if let (CounterValue::Count(now), CounterValue::Count(before)) = (now, before) {
                *now -= before;
            }
        }
        for ((_, now), (_, before)) in since.acknowledgments.iter_mut().zip(&before.acknowledgments) {
            *now -= before;
        }
        since
    }

    /// Returns the value of the counter `name`. Returns `None` if the endpoint does not have the
    /// counter.
    #[must_use]
    pub fn count(&self, name: &str) -> Option<u64> {
        self.counters.iter().find_map(|(known, _, value)| match value {
            CounterValue::Count(count) if *known == name => Some(*count),
            _ => None,
        })
    }

    /// Returns the value of the gauge `name`. Returns `None` if the endpoint does not have the
    /// gauge, or if the gauge has no value.
    #[must_use]
    pub fn gauge(&self, name: &str) -> Option<f64> {
        self.counters.iter().find_map(|(known, _, value)| match value {
            CounterValue::Gauge(value) if *known == name => *value,
            _ => None,
        })
    }

    /// Returns the names of the reasons for ACKs, by their index. The name of a reason that the
    /// endpoint does not report is empty.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        self.acknowledgments.iter().map(|(reason, _)| reason.clone().unwrap_or_default()).collect()
    }
}
