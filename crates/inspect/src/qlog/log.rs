//! The traces of a log.

use super::connection::Logged;
use super::event::Event;
use super::header::Header;
use super::packet::Packet;
use super::summary::Summary;
use super::times::Times;
use crate::clock::Clock;
use crate::finished::Finished;
use crate::report::{Counts, Report};
use std::collections::BTreeMap;

/// The maximum number of connections of a trace that are followed, and the maximum number in the
/// report (those with the most octets). As in captures.
const MAX_CONNECTIONS: usize = 4096;
const MAX_REPORTED: usize = 1000;
/// Reads traces and their events in the order of the log.
#[derive(Debug)]
pub(super) struct Reader {
    /// The only trace that is read, from 1. `None` reads all.
    only: Option<usize>,
    header: Header,
    times: Times,
    /// The clock of the current trace, which measures its tick.
    clock: Clock<()>,
    /// The connections of the current trace, by the ID in its events.
    connections: BTreeMap<Option<String>, Logged>,
    finished: Finished,
    packets: u64,
    summary: Summary,
}

impl Reader {
    /// Returns a reader of all traces, or of the trace with the number `only` from 1.
    pub(super) fn new(only: Option<usize>) -> Self {
        let header = Header::default();
        Self {
            only,
            times: header.times(),
            clock: Clock::default(),
            header,
            connections: BTreeMap::new(),
            finished: Finished::new(MAX_REPORTED),
            packets: 0,
            summary: Summary::default(),
        }
    }

    /// Begins a trace.
    pub(super) fn begin(&mut self, header: Header) {
        self.end();
        self.times = header.times();
        self.clock = Clock::default();
        if self.summary.version.is_none() {
            self.summary.version.clone_from(&header.version);
        }
        self.header = header;
        self.summary.traces += 1;
    }

    /// Returns the number of traces so far.
    pub(super) const fn traces(&self) -> usize {
        self.summary.traces
    }

    /// Counts an event of this name as unknown.
    pub(super) fn not_understood(&mut self, name: &str) {
        if !self.is_selected() {
            return;
        }
        self.summary.not_understood(name);
    }

    /// Reads the text of an event. Returns `false` if it has no name, as in the header of a log.
    ///
    /// # Errors
    /// If it is not JSON.
    pub(super) fn event(&mut self, text: &str) -> serde_json::Result<bool> {
        let Some(event) = Event::read(text, &self.header)? else { return Ok(false) };
        if self.summary.traces == 0 {
            // A log without a header.
            self.begin(Header::default());
        }
        if self.is_selected() {
            self.summary.events += 1;
            if self.named(&event).is_none() {
                self.not_understood(&event.full_name);
            }
        }
        Ok(true)
    }

    fn is_selected(&self) -> bool {
        self.only.is_none_or(|only| only == self.summary.traces)
    }

    /// Reads an event by its name. Returns `None` if a required field is missing or has an unknown
    /// form.
    fn named(&mut self, event: &Event<'_>) -> Option<()> {
        // Each event advances the time line of a trace with time differences.
        let at = event.time.map(|time| self.times.at(time));
        let data = event.data.map_or("null", |data| data.get());
        match event.name().as_str() {
            // Older names: `connection_new` before draft-02; `new_connection`, `packet_tx` and
            // `packet_rx` before draft-00.
            "connection_started" | "connection_new" | "new_connection" => self.connection(event)?.starts(data),
            "packet_sent" | "packet_tx" => self.packet(event, at?, 0, data)?,
            "packet_received" | "packet_rx" => self.packet(event, at?, 1, data)?,
            "packet_lost" => {
                let packet = Packet::read(data).ok()?;
                self.connection(event)?.lost(event.path, &packet);
                self.summary.packets[2] += 1;
            }
            _ => {}
        }
        Some(())
    }

    fn packet(&mut self, event: &Event<'_>, at: u64, from: usize, data: &str) -> Option<()> {
        let packet = Packet::read(data).ok()?;
        self.clock.read(at);
        self.connection(event)?.packet(at, from, event.path, &packet);
        self.summary.packets[from] += 1;
        self.summary.packets_with_data += u64::from(packet.payload > 0);
        Some(())
    }

    /// Returns the connection of an event. Returns `None` if there are too many.
    fn connection(&mut self, event: &Event<'_>) -> Option<&mut Logged> {
        let group = event.group.as_deref().or(self.header.group.as_deref());
        let place = self.connections.len();
        let key = group.map(str::to_owned);
        if place >= MAX_CONNECTIONS && !self.connections.contains_key(&key) {
            return None;
        }
        let is_of_end = self.header.is_of_end();
        Some(self.connections.entry(key).or_insert_with(|| Logged::new(place, is_of_end)))
    }

    /// Ends the trace.
    fn end(&mut self) {
        let tick = self.clock.tick();
        for (group, logged) in std::mem::take(&mut self.connections) {
            let Some(mut described) = logged.describe(self.header.ends(), tick) else { continue };
            described.source = Some(self.header.source(self.summary.traces, group.as_deref()));
            self.packets += described.packets;
            self.finished.push(described);
        }
    }

    /// Returns the report of the log.
    pub(super) fn finish(mut self) -> Report {
        self.end();
        self.summary.describe();
        let (count, mut connections) = self.finished.largest();
        let starts = || connections.iter().map(|connection| connection.start);
        let first = starts().fold(f64::INFINITY, f64::min);
        // Clocks of different traces are comparable only if each counts from 1970.
        let is_comparable = !connections.is_empty() && starts().all(|start| Times::is_of_day((start * 1e9) as u64));
        for connection in &mut connections {
            connection.start -= if is_comparable { first } else { connection.start };
        }
        Report {
            start: if is_comparable { first } else { 0.0 },
            duration: connections.iter().map(|one| one.start + one.duration).fold(0.0, f64::max),
            clock: self.clock.describe(),
            counts: Counts { packets: self.packets, connections: count, ..Counts::default() },
            log: Some(self.summary),
            connections,
        }
    }
}
