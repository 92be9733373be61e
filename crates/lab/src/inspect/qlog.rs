//! Reads the log of an endpoint in qlog.

use super::{Inspected, Progress, Stop, described};
use acklab_inspect::qlog;
use serde::Deserialize;
use std::io::{self, BufRead};

/// What separates the records of a log (RFC 7464, §2.2). A log in one piece begins with a brace.
pub(super) const RECORD: u8 = 0x1e;

/// A log in one piece.
#[derive(Deserialize)]
struct WholeLog {
    traces: Vec<WholeTrace>,
}

#[derive(Deserialize)]
struct WholeTrace {
    #[serde(default)]
    events: Vec<qlog::Event>,
}

/// Reads a log of an endpoint: records that are read one by one, or all in one piece (draft-ietf-quic-qlog-main-schema, "QLOG Serialization").
pub(super) fn read(mut file: impl BufRead, progress: &mut Progress<'_>) -> Result<Inspected, Stop> {
    let cannot = |error: io::Error| Stop::Refused(format!("cannot read the log: {error}"));
    let mut reader = qlog::Reader::default();
    let mut record = Vec::new();
    let (mut octets, mut events, mut cut) = (0, 0_u64, None);
    loop {
        record.clear();
        let read = file.read_until(RECORD, &mut record).map_err(cannot)?;
        if read == 0 {
            break;
        }
        octets += read as u64;
        let text = record.strip_suffix(&[RECORD]).unwrap_or(&record).trim_ascii();
        if text.is_empty() {
            continue;
        }
        match serde_json::from_slice::<qlog::Event>(text) {
            Ok(event) if !event.name.is_empty() => reader.event(&event),
            // The header of a log, or a whole one.
            Ok(_) if events == 0 => {
                if let Ok(log) = serde_json::from_slice::<WholeLog>(text) {
                    let [trace] = &log.traces[..] else {
                        let found = log.traces.len();
                        return Err(Stop::Refused(format!(
                            "found a log of {found} traces, expected one of one connection"
                        )));
                    };
                    trace.events.iter().for_each(|event| reader.event(event));
                }
            }
            Ok(_) => {}
            Err(error) if events == 0 => {
                return Err(Stop::Refused(format!("found no record of qlog ({error}), expected one")));
            }
            Err(error) => {
                cut = Some(described(error.is_eof(), octets, &error));
                break;
            }
        }
        events += 1;
        progress.packet(octets)?;
    }
    Ok(Inspected { report: reader.finish(), cut })
}
