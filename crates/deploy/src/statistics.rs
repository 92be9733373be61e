//! The measurements of a connection.

use crate::association::{Association, Counters};
use acklab_base::endpoint::{CounterValue, Vitals};
use acklab_base::{Endpoint, Instant, Rate};

/// The measurements of a connection since it began.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// The time of the measurement, by the clock of the endpoint.
    pub at: Instant,
    /// Window, bytes in flight, round-trip times, and the bytes written, acknowledged and received.
    pub vitals: Vitals,
    /// The pacing rate of data.
    pub pacing_rate: Option<Rate>,
    /// The number of datagrams and of their bytes.
    pub datagrams: Counters,
    /// The counters and gauges of the transport, as a simulation reports them: name, unit and
    /// value.
    pub transport: Vec<(&'static str, &'static str, CounterValue)>,
    /// Acknowledgments sent, by their reason.
    pub acknowledgments: Vec<(String, u64)>,
    /// Datagrams refused, by their reason.
    pub refused: Vec<(&'static str, u64)>,
    /// The number of key updates.
    pub key_updates: u64,
}

impl Statistics {
    pub(crate) fn of(now: Instant, association: &Association) -> Self {
        let machine = association.machine();
        let (mut transport, mut acknowledgments) = (Vec::new(), Vec::new());
        machine.report_counters(&mut |name, unit, value| transport.push((name, unit, value)));
        machine.report_ack_reasons(&mut |reason, count| acknowledgments.push((reason.to_owned(), count)));
        Self {
            at: now,
            vitals: association.vitals(),
            pacing_rate: machine.pacing_rate(),
            datagrams: association.counters,
            transport,
            acknowledgments,
            refused: association.refused().iter().collect(),
            key_updates: association.key_updates(),
        }
    }

    /// Returns the counter of the transport with this name (see
    /// [`counter`](acklab_base::endpoint::counter)). Returns `None` if there is no such counter.
    #[must_use]
    pub fn count(&self, name: &str) -> Option<u64> {
        self.transport.iter().find_map(|(other, _, value)| match value {
            CounterValue::Count(count) if *other == name => Some(*count),
            _ => None,
        })
    }
}
