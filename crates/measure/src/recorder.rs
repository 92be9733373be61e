//! The measurement of one endpoint whose peer runs elsewhere, for instance of a real connection. It
//! needs neither a simulated network nor a scenario.

use crate::meter::{EndpointMeter, Role};
use crate::metric;
use crate::observed::Delivery;
use crate::probe::{FlowProbe, Probes, Records};
use crate::qlog::{self, Log};
use crate::series::Series;
use crate::snapshot::Snapshot;
use crate::subjects::FlowInfo;
use crate::table::Table;
use crate::tables::acknowledgments;
use crate::tables::flows::{self, Ends, FlowResult};
use crate::tables::series::{self, Direction};
use acklab_base::{Bytes, Duration, Endpoint, Fate, Instant, Vitals};
use acklab_wire::{IpVersion, Pdu};

/// The options of a [`Recorder`].
#[derive(Clone, Debug)]
pub struct RecorderOptions {
    /// The series to record. Series of links and cells have no rows here.
    pub series: Vec<Series>,
    /// The interval between samples of the operating point. If `None`, the operating point is
    /// recorded at each ACK.
    pub sample_interval: Option<Duration>,
    /// The bin of the throughput series.
    pub bin: Duration,
    /// The maximum time between ACKs of one burst. It is half the transmission time of a full-sized
    /// packet on the slowest link (Mogul, SIGCOMM 1992, §3.2).
    pub burst_gap: Duration,
    /// The version of IP. The IP header is part of the overhead.
    pub version: IpVersion,
}

impl Default for RecorderOptions {
    /// Returns the defaults: no series, bins of 100 ms, and IPv4. The default gap of bursts
    /// corresponds to 1500 octets at 100 Mbps.
    fn default() -> Self {
        Self {
            series: Vec::new(),
            sample_interval: None,
            bin: Duration::from_millis(100),
            burst_gap: Duration::from_micros(60),
            version: IpVersion::V4,
        }
    }
}

/// The measurement of one endpoint of a connection.
///
/// The recorder uses the endpoint only through its [contract](Endpoint). The sent data and the
/// received data are two directions. Each has a row in the flows table. Values that are available
/// only at the peer, such as the throughput of sent data and one-way delays, are null.
///
/// # Order of calls
///
/// 1. For each packet that arrives, call [`accept`](Self::accept) instead of the endpoint's own
///    method.
/// 2. After the application has run and after each wake-up of the endpoint,
///    [`update`](Self::update).
/// 3. For each packet that the endpoint sends, [`sends`](Self::sends).
/// 4. At [`deadline`](Self::deadline), [`sample`](Self::sample).
#[derive(Debug)]
pub struct Recorder {
    /// The direction of the sent data, and the direction of the received data.
    infos: [FlowInfo; 2],
    meter: EndpointMeter,
    probes: Probes,
    series: Vec<Series>,
    sample_interval: Option<Duration>,
    next_sample: Instant,
    version: IpVersion,
    /// The beginning of the measurement window, and the counters at that time.
    begin: Instant,
    before: Snapshot,
}

impl Recorder {
    /// Measures `endpoint` from `now`. `sent` describes the direction of the data that the endpoint
    /// sends.
    pub fn new(now: Instant, sent: FlowInfo, options: &RecorderOptions, endpoint: &mut impl Endpoint) -> Self {
        if options.series.contains(&Series::Decisions) {
            endpoint.record_decisions();
        }
        let payload = sent.payload;
        let probe = || {
            let records = Records::of(&options.series);
            let records = if options.sample_interval.is_some() { records.sampled() } else { records };
            FlowProbe::new(payload, options.bin, options.burst_gap, records)
        };
        let reverse = sent.reverse();
        let infos = [sent, reverse];
        let mut recorder = Self {
            meter: EndpointMeter::new(Role::AtFrom),
            probes: Probes { forward: probe().without_receiver(), reverse: Some(Box::new(probe())) },
            infos,
            series: options.series.clone(),
            sample_interval: options.sample_interval.filter(|interval| !interval.is_zero()),
            next_sample: now,
            version: options.version,
            begin: now,
            before: Snapshot::default(),
        };
        recorder.open(now, endpoint);
        recorder
    }

    /// Writes the log `log` from now on.
    pub fn keep_log(&mut self, log: Log, endpoint: &mut impl Endpoint) {
        self.meter.keep_log(log, endpoint);
    }

    /// Begins a new measurement window. Counters, means and distributions start again at `now`.
    /// Series continue.
    pub fn open(&mut self, now: Instant, endpoint: &impl Endpoint) {
        self.begin = now;
        self.before = Snapshot::of(endpoint, self.meter.sent_bytes());
        let samples = [self.before.rtt_samples, 0];
        let probes = [Some(&mut self.probes.forward), self.probes.reverse.as_deref_mut()];
        probes.into_iter().flatten().zip(samples).for_each(|(probe, samples)| probe.open(now, samples));
    }

    /// Passes `pdu` to `endpoint`. Returns its result.
    pub fn accept<E>(&mut self, now: Instant, pdu: &E::Datagram, endpoint: &mut E) -> Fate
    where
        E: Endpoint,
        E::Datagram: Pdu + Clone,
    {
        let arriving = self.meter.arriving(now, pdu, endpoint);
        let fate = endpoint.accept_borrowed(now, pdu);
        let delivery = Delivery { wire_len: self.wire_len(pdu), origin: None };
        self.meter.arrived(now, pdu, arriving, delivery, endpoint, &mut self.probes);
        fate
    }

    /// Records that the application or a timer of `endpoint` has run.
    pub fn update(&mut self, now: Instant, endpoint: &mut impl Endpoint) {
        self.meter.woken(now, true, endpoint, &mut self.probes);
    }

    /// Records that `endpoint` sends `pdu`.
    pub fn sends<E>(&mut self, now: Instant, pdu: &E::Datagram, endpoint: &E)
    where
        E: Endpoint,
        E::Datagram: Pdu,
    {
        self.meter.departs(now, pdu, self.wire_len(pdu), endpoint, &mut self.probes);
    }

    /// Records that `endpoint` has no more data to send now.
    pub fn rests(&mut self, now: Instant, endpoint: &mut impl Endpoint) {
        self.meter.rests(now, endpoint, &mut self.probes);
    }

    fn wire_len(&self, pdu: &impl Pdu) -> Bytes {
        pdu.wire_len() + Bytes(self.version.longer_by())
    }

    /// Returns when the next sample is due. `None` if samples are not taken at intervals.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.sample_interval.map(|_| self.next_sample)
    }

    /// Samples the state of `endpoint`, if a sample is due.
    pub fn sample(&mut self, now: Instant, endpoint: &impl Endpoint) {
        let Some(interval) = self.sample_interval.filter(|_| now >= self.next_sample) else { return };
        self.probes.forward.sample(now, &endpoint.vitals());
        // After a pause, one sample replaces all missed samples.
        let missed = now.since(self.next_sample).as_nanos() / interval.as_nanos();
        self.next_sample += interval * (missed + 1);
    }

    /// Returns the current state of `endpoint` and its counters since the window began.
    #[must_use]
    pub fn snapshot(&self, endpoint: &impl Endpoint) -> (Vitals, Snapshot) {
        (endpoint.vitals(), Snapshot::of(endpoint, self.meter.sent_bytes()).since(&self.before))
    }

    /// Returns the tables of the series recorded since the last call. Clears the records, so that a
    /// long connection need not store them. `endpoint` provides the names of the reasons for its
    /// decisions.
    pub fn take_series(&mut self, endpoint: &impl Endpoint) -> Vec<Table> {
        let tables = self.series_tables(endpoint);
        self.probes.forward.records.clear();
        if let Some(reverse) = &mut self.probes.reverse {
            reverse.records.clear();
        }
        tables
    }

    fn series_tables(&self, endpoint: &impl Endpoint) -> Vec<Table> {
        let mut reasons = Vec::new();
        endpoint.report_ack_reasons(&mut |reason, _| reasons.push(reason.to_owned()));
        // The peer decides when to acknowledge this end's data.
        let reasons = [Vec::new(), reasons];
        let directions: Vec<Direction<'_>> = self
            .probes
            .directions()
            .zip(&self.infos)
            .zip(reasons)
            .map(|((probe, info), reasons)| Direction { info, probe, reasons })
            .collect();
        let requested = Series::ALL.into_iter().filter(|series| self.series.contains(series));
        requested.filter_map(|series| series::table_of(series, &directions)).collect()
    }

    /// Ends the measurement at `now`. Returns the tables `flows` and `acks` of the window, and the
    /// tables of series that were not returned yet.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn finish(mut self, now: Instant, endpoint: &mut impl Endpoint) -> Result<Vec<Table>, qlog::Error> {
        self.update(now, endpoint);
        if let Some(log) = self.meter.log() {
            log.finish()?;
        }
        self.probes.close(now);
        let (_, own) = self.snapshot(endpoint);
        let ends = [Ends { sender: Some(own.clone()), receiver: None }, Ends { sender: None, receiver: Some(own) }];
        let rows: Vec<FlowResult<'_>> = self
            .probes
            .directions()
            .zip(&self.infos)
            .zip(ends)
            .map(|((probe, info), ends)| FlowResult::new(probe, info, ends, None, self.begin..now))
            .collect();
        let mut tables = vec![metric::table("flows", flows::METRICS, &rows), acknowledgments(&rows)];
        tables.extend(self.series_tables(endpoint));
        Ok(tables)
    }

    /// Returns the first failure of the log.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn check(&mut self) -> Result<(), qlog::Error> {
        self.meter.log().map_or(Ok(()), Log::check)
    }
}
