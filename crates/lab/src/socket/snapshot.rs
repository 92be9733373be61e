//! The counters of an endpoint and its application at an instant.

use super::Application;
use acklab_app::page::Object;
use acklab_base::{CounterValue, Endpoint, Instant};

/// The counters of an endpoint and its application at an instant, or their increase between two instants.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) written: u64,
    pub(crate) received: u64,
    pub(crate) delivered: u64,
    pub(crate) rtt_samples: u64,
    /// IP octets of the packets sent.
    pub(crate) sent_bytes: u64,
    /// Counters and gauges: name, unit, value.
    pub(crate) counters: Vec<(&'static str, &'static str, CounterValue)>,
    /// Acknowledgments sent, by reason; without a reason where the endpoint does not tell it.
    pub(crate) acknowledgments: Vec<(Option<String>, u64)>,
    /// The objects of a page, at the end that asks for them.
    pub(crate) objects: Vec<Object>,
}

impl Snapshot {
    pub(super) fn of(endpoint: &impl Endpoint, application: &Application, now: Instant) -> Self {
        let vitals = endpoint.vitals();
        let mut snapshot = Self {
            written: vitals.written,
            received: vitals.received,
            delivered: vitals.read.unwrap_or(vitals.received),
            rtt_samples: vitals.rtt_samples,
            objects: application.objects().to_vec(),
            ..Self::default()
        };
        let counters = &mut snapshot.counters;
        endpoint.report_counters(&mut |name, unit, value| counters.push((name, unit, value)));
        application.report_counters(now, &mut |name, unit, value| counters.push((name, unit, value)));
        endpoint
            .report_ack_reasons(&mut |reason, count| snapshot.acknowledgments.push((Some(reason.to_owned()), count)));
        snapshot
    }

    /// The increase since `before`, an earlier snapshot of the same endpoint. Gauges keep their current value.
    pub(crate) fn since(&self, before: &Self) -> Self {
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

    /// The value of the counter `name`. Returns `None` if the endpoint does not have it.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        self.counters.iter().find_map(|(known, _, value)| match value {
            CounterValue::Count(count) if *known == name => Some(*count),
            _ => None,
        })
    }

    /// The value of the gauge `name`. Returns `None` if the endpoint does not have it or if it has no value.
    pub(crate) fn gauge(&self, name: &str) -> Option<f64> {
        self.counters.iter().find_map(|(known, _, value)| match value {
            CounterValue::Gauge(value) if *known == name => *value,
            _ => None,
        })
    }
}
