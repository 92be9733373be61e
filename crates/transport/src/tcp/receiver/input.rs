//! Processes an arriving segment.

use super::super::refusal::Refusal;
use super::super::rules::ReportAtFin;
use super::super::sender::Offer;
use super::ecn::Echo;
use super::{Agreed, Receiver};
use crate::ack::{Arrival, Packet, Reason};
use acklab_base::{Ecn, Fate, Instant};
use acklab_wire::tcp::{Flags, Segment, SeqNumber};
use std::ops::Range;

/// Returns the ledger's entry for `segment`. The segment carries the stream bytes `range` and
/// advances rcv.nxt by `advanced` bytes.
pub(super) fn entry(segment: &Segment, range: Range<u64>, advanced: u64) -> Packet {
    Packet::of_stream(range, advanced)
        .pushed(segment.flags.contains(Flags::PSH))
        .stamped(segment.options.timestamps.map(|timestamps| timestamps.value))
}

impl Receiver {
    #[inline]
    pub(super) fn input(&mut self, now: Instant, segment: &Segment) -> Fate {
        match self.agreed {
            None => self.open(segment),
            Some(agreed) if self.is_in_order(segment, &agreed) => self.take_in_order(now, segment, &agreed),
            Some(agreed) => self.take(now, segment, agreed),
        }
    }

    /// Opens the connection if the segment is a SYN.
    fn open(&mut self, segment: &Segment) -> Fate {
        if !segment.flags.contains(Flags::SYN) {
            return Refusal::Connection.into();
        }
        self.agree(segment, self.config.ecn.accept(segment.flags));
        self.open_window(self.initial_window());
        self.echo.take_syn(segment);
        self.syn_ack_due = true;
        Fate::Taken
    }

    /// Applies the options of the peer's SYN or SYN-ACK `segment`. `ecn` is the agreed mode of ECN.
    pub(super) fn agree(&mut self, segment: &Segment, ecn: crate::tcp::ecn::EcnConfig) {
        let options = &segment.options;
        let has_scaling = self.config.window_scaling && options.window_scale.is_some();
        self.agreed = Some(Agreed {
            first: SeqNumber::at(segment.seq, 1),
            has_sack: self.config.sack && options.sack_permitted,
            has_timestamps: self.config.timestamps.is_some() && options.timestamps.is_some(),
            has_scaling,
            requests: Offer::of(&self.config).agreed(options),
        });
        self.timestamp_to_echo = options.timestamps.map_or(0, |timestamps| timestamps.value);
        self.echo = Echo::new(ecn, self.config.ecn_option, &self.config.dialect.rules());
        self.syn = segment.ecn;
    }

    /// Opens the receive window. The handshake has offered `offered` bytes.
    pub(super) fn open_window(&mut self, offered: u16) {
        let has_scaling = self.agreed.is_some_and(|agreed| agreed.has_scaling);
        let shift = if has_scaling { self.window_shift } else { 0 };
        self.window = self.window.agree(self.config.receive_buffer.get(), shift, offered);
        let full_size = self.announced_payload();
        if let Some(autotuning) = &mut self.autotuning {
            autotuning.open(u64::from(offered), full_size);
        }
        self.select_window();
    }

    /// Processes the end of the stream: all data and the FIN have arrived. An end that only
    /// receives closes immediately, so that its FIN carries the ACK.
    #[inline(never)]
    fn acknowledge_fin(&mut self, now: Instant, arrival: Arrival) {
        let rule = self.config.dialect.rules().report_at_fin;
        if rule == ReportAtFin::Forgotten && arrival != Arrival::Duplicate {
            self.duplicate = None;
        }
        // Linux treats this as a lack of memory (`tcp_data_queue`, `ICSK_ACK_NOMEM`).
        let finds_no_room = self.window.is_overrun(self.stream.next());
        if self.may_send && arrival == Arrival::InOrder && !finds_no_room {
            let sack = self.agreed.is_some_and(|agreed| agreed.has_sack);
            self.acknowledger.decide_fin(now, self.stream.held(sack));
        } else {
            self.acknowledger.demand(now, Reason::Fin);
        }
    }

    /// Processes a segment of any kind.
    #[inline(never)]
    fn take(&mut self, now: Instant, segment: &Segment, agreed: Agreed) -> Fate {
        if segment.flags.contains(Flags::SYN) {
            self.syn = segment.ecn;
            self.echo.take_repeated_syn(segment);
            self.syn_ack_due = true;
            return Fate::Duplicate;
        }
        self.measure_handshake(now);
        if let Some(autotuning) = &mut self.autotuning {
            autotuning.begin(now);
        }
        let length = segment.sequence_len();
        if length == 0 {
            self.echo.take_control(segment);
            // RFC 9293, §3.10.7.4: a segment below the acknowledged data is acknowledged. A
            // zero-window probe is an example.
            if SeqNumber::at(agreed.first, self.last_ack_sent).is_after(segment.seq) {
                self.acknowledger.demand(now, Reason::Duplicate);
            }
            return Fate::Taken;
        }
        let before = self.stream.next();
        let start = segment.seq.offset_near(agreed.first, before);
        let end = self.window.cut(before, start, start + length, segment.flags.contains(Flags::FIN));
        let is_in_window = start < end && end > before;
        if is_in_window && self.echo.splits(segment.ecn) && self.acknowledger.is_waiting() {
            self.acknowledge_apart(now, agreed);
        }
        let notice = self.echo.take(segment, is_in_window);
        if segment.ecn == Ecn::Ce {
            self.counters.marked += u64::from(segment.payload > 0);
        }
        // RFC 7323, §4.3: the receiver stores the timestamp of the first segment that the next ACK
        // will acknowledge.
        if let Some(timestamps) = segment.options.timestamps
            && start <= self.last_ack_sent
        {
            self.timestamp_to_echo = timestamps.value;
        }
        if segment.flags.contains(Flags::FIN) && end == start + length && end > before {
            self.fin.get_or_insert(end - 1);
        }
        self.counters.data_segments += 1;
        if let Some(ratio) = segment.options.ack_ratio.filter(|_| agreed.requests.ack_congestion_control) {
            self.tell_policy(|policy| policy.on_ack_ratio(ratio));
        }
        if let Some(request) = segment.options.ack_rate.filter(|_| agreed.requests.ack_rate.is_some()) {
            self.tell_policy(|policy| policy.on_ack_rate(request));
        }

        let ends_write = self.ends_write(segment);
        let is_beyond = start >= end;
        let arrival = if is_beyond {
            Arrival::Duplicate
        } else {
            self.note_duplicate(agreed, start..end);
            self.stream.insert(start..end)
        };
        if arrival == Arrival::Duplicate {
            self.counters.duplicates += 1;
            self.echo.report.on_duplicate(start);
        }
        let fate = match arrival {
            Arrival::Duplicate if is_beyond => Refusal::Window.into(),
            Arrival::Duplicate => Fate::Duplicate,
            _ => Fate::Taken,
        };
        let (data, advanced) = (start..end.min(start + u64::from(segment.payload)), self.stream.next() - before);
        if is_beyond {
            self.acknowledger.pass(now, entry(segment, start..start + u64::from(segment.payload), 0));
        } else {
            self.acknowledger.enter(now, entry(segment, data.clone(), advanced));
            if u64::from(segment.payload) > self.config.mss.get() {
                // As in `tcp_measure_rcv_mss`.
                self.acknowledger.bound_full_size(self.announced_payload());
            }
            self.measure(now, segment, agreed, before);
        }
        if notice.first_mark {
            self.tell_policy(|policy| policy.on_first_mark());
        }
        if notice.reduced {
            self.tell_policy(|policy| policy.on_window_reduced());
        }
        self.autotune(now, arrival, &data, self.in_order().saturating_sub(before));
        if self.fin.is_some_and(|fin| self.stream.next() > fin) {
            self.acknowledge_fin(now, arrival);
            return fate;
        }
        if ends_write {
            self.tell_end_of_write();
        }
        if self.stream.next() - self.last_ack_sent > self.acknowledger.ledger().full_size {
            self.tell_room();
        }
        self.acknowledger.decide(now, arrival, self.stream.held(agreed.has_sack));
        if let Some(reason) = notice.due {
            self.acknowledger.demand(now, reason);
        }
        if advanced > 0 && self.window.is_out_of_memory(self.stream.next()) {
            // `tcp_data_queue`, `ICSK_ACK_NOMEM`: an immediate ACK reports that the window is
            // closed.
            self.acknowledger.demand(now, Reason::WindowUpdate);
        }
        fate
    }

    /// Reports to the policy that the segment ends a write of the peer's application.
    pub(super) fn tell_end_of_write(&mut self) {
        let is_read = self.window.is_read_at_once();
        self.tell_policy(|policy| policy.on_push(is_read));
    }
}
