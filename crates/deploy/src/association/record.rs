//! Records a connection: the tables of a simulation, and a log for the viewer qvis.

use super::Association;
use crate::config::Recording;
use acklab_base::{Endpoint, Fate, Instant};
use acklab_measure::qlog::{self, Log, TraceInfo, VantagePoint};
use acklab_measure::subjects::TransportLabels;
use acklab_measure::{FlowInfo, Recorder, RecorderOptions, Table};
use acklab_transport::tack::{Connection, Settings};
use acklab_wire::IpVersion;
use acklab_wire::tack::Packet;
use std::net::SocketAddr;

/// Creates a recorder of `machine`. It records from `now`.
pub(super) fn recorder(
    now: Instant,
    recording: &Recording,
    settings: &Settings,
    remote: SocketAddr,
    vantage_point: VantagePoint,
    machine: &mut Connection,
) -> Box<Recorder> {
    let version = if remote.is_ipv6() { IpVersion::V6 } else { IpVersion::V4 };
    let options = RecorderOptions { version, ..recording.options.clone() };
    let name = format!("{:016x}", machine.id().0);
    let (congestion, policy) = (settings.congestion.name(), settings.ack.name());
    let labels = TransportLabels {
        protocol: "tack".into(),
        controller: Some(congestion.into()),
        ack_policy: Some(policy.into()),
        ..TransportLabels::default()
    };
    let info = FlowInfo {
        name: name.clone(),
        from: "here".into(),
        to: remote.to_string(),
        start: now,
        payload: settings.mss(),
        labels,
        ..FlowInfo::default()
    };
    let mut recorder = Recorder::new(now, info, &options, machine);
    if let Some(folder) = &recording.qlog {
        let options = qlog::Options { folder: folder.clone(), schema: recording.schema };
        let description = format!("{congestion}, {policy}");
        let info = TraceInfo {
            title: &name,
            description: &description,
            protocol: "TACK",
            node: "here",
            vantage_point,
            directions: 2,
        };
        let any = SocketAddr::new(if remote.is_ipv6() { [0; 16].into() } else { [0; 4].into() }, 0);
        recorder.keep_log(Log::new(&options, &name, &info, [any, remote]), machine);
    }
    Box::new(recorder)
}

impl Association {
    /// Passes a packet to the transport.
    #[inline]
    pub(super) fn accept(&mut self, now: Instant, packet: &Packet) -> Fate {
        match &mut self.recorder {
            Some(recorder) => recorder.accept(now, packet, &mut self.machine),
            None => self.machine.accept_borrowed(now, packet),
        }
    }

    /// Records the packet that the transport has sent, if it has sent one.
    #[inline]
    pub(super) fn record_poll(
        machine: &mut Connection,
        recorder: &mut Option<Box<Recorder>>,
        now: Instant,
        packet: Option<&Packet>,
    ) {
        if let Some(recorder) = recorder {
            match packet {
                Some(packet) => recorder.sends(now, packet, machine),
                None => recorder.rests(now, machine),
            }
        }
    }

    /// Records changes made by the application or by timers.
    pub(super) fn record(&mut self, now: Instant) {
        if let Some(recorder) = &mut self.recorder {
            recorder.update(now, &mut self.machine);
            recorder.sample(now, &self.machine);
        }
        while self.machine.take_event().is_some() {}
    }

    /// Ends the recording. Returns its tables, or `None` if nothing is recorded.
    pub(crate) fn finish_recording(&mut self, now: Instant) -> Option<Result<Vec<Table>, qlog::Error>> {
        Some(self.recorder.take()?.finish(now, &mut self.machine))
    }
}
