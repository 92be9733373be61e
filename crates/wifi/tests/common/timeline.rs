//! The PPDUs of a cell with one station, as readable lines.
//!
//! A line is a PPDU: its sender, its contents (segments by number, ACKs with an `a` before the
//! number), `more` and `sync` if its frames have these bits, the octets appended to a response
//! frame, and the ACKs that are delivered at its end.

#![allow(unreachable_pub, reason = "others pass it on")]

use super::tcp::{Acks, Flow, drive};
use super::typed::Typed;
use acklab_base::{Duration, Instant};
use acklab_wifi::hack::Counters;
use acklab_wifi::ppdu::{Frame, Outcome, Ppdu};
use serde_json::{Value, json};

/// The time at which the segments of the test are sent. One segment precedes them; its ACK
/// establishes the context.
pub const START: Duration = Duration::from_millis(10);

/// The PPDUs after the first segment, the ACKs, and the counters of the access point and the
/// station.
pub struct Timeline {
    pub lines: Vec<String>,
    pub air: Vec<Ppdu<Typed>>,
    pub acks: Acks,
    pub counters: Vec<Counters>,
}

/// Sends `segments` after the first segment from or to the access point, over `cell`. The PPDUs at
/// these positions of the timeline are lost, because their receiver is absent.
pub fn play(cell: &Value, segments: usize, is_upload: bool, lost: &[usize]) -> Timeline {
    let (from, to) = if is_upload { (1, 0) } else { (0, 1) };
    let mut flow = Flow::new(from, to, vec![Instant::ZERO]);
    flow.joins.extend(std::iter::repeat_n(Instant::ZERO + START, segments));
    let mut cell = cell.clone();
    let mut absences = cell["reception"]["absences"].as_array().cloned().unwrap_or_default();
    for place in lost {
        let ppdu = &run(&cell, &flow).air[*place];
        let (begins, ends) = (ppdu.at.as_nanos(), (ppdu.at + ppdu.duration).as_nanos());
        let (from, until) = (format!("{}ns", begins + 1), format!("{}ns", ends + 1));
        absences.push(json!({"node": ppdu.to, "from": from, "until": until}));
        cell["reception"]["absences"] = json!(absences);
    }
    run(&cell, &flow)
}

/// Returns the timeline of a flow.
pub fn run(cell: &Value, flow: &Flow) -> Timeline {
    let (mut cell, mut acks) = drive(cell, std::slice::from_ref(flow), true);
    let acks = acks.remove(0);
    let is_new = |ppdu: &Ppdu<Typed>| ppdu.at >= Instant::ZERO + START;
    let air: Vec<Ppdu<Typed>> = cell.take_log().filter(is_new).collect();
    let lines = air.iter().map(|ppdu| line(ppdu, &acks)).collect();
    Timeline { lines, air, acks, counters: cell.hack_counters().to_vec() }
}

fn line(ppdu: &Ppdu<Typed>, acks: &Acks) -> String {
    let mut line = format!("{} {}", ["ap", "sta"][ppdu.from], ppdu.frame.name());
    if let Frame::Data(mpdus) = &ppdu.frame {
        for mpdu in mpdus {
            let mark = if mpdu.packets[0].is_data() { "" } else { "a" };
            line += &format!(" {mark}{}", mpdu.packets[0].number);
        }
        line += if mpdus[0].has_more { " more" } else { "" };
        line += if mpdus[0].is_sync { " sync" } else { "" };
        assert!(mpdus.iter().all(|mpdu| (mpdu.has_more, mpdu.is_sync) == (mpdus[0].has_more, mpdus[0].is_sync)));
    }
    if !ppdu.appended.is_empty() {
        line += &format!(" +{}", ppdu.appended.len());
    }
    line += if ppdu.outcome == Outcome::Received { "" } else { " lost" };
    let ends = ppdu.at + ppdu.duration;
    let delivered: Vec<String> =
        acks.arrived.iter().filter(|(at, _)| *at == ends).map(|(_, ack)| format!("a{}", ack.number)).collect();
    if !delivered.is_empty() {
        line += &format!(" => {}", delivered.join(" "));
    }
    line
}

/// # Panics
/// If it differs, or a frame of compressed ACKs could not be decompressed.
pub fn shows(timeline: &Timeline, expected: &[&str]) {
    assert_eq!(timeline.lines, expected, "\n{:#?}", timeline.lines);
    assert!(timeline.counters.iter().all(|counters| counters.failures == 0));
}
