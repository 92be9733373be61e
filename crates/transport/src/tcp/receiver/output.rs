//! Builds the segments that are sent: the SYN-ACK or an ACK.

use super::super::sender::announced_mss;
use super::{Agreed, Receiver};
use crate::ack::Reason;
use acklab_base::Instant;
use acklab_wire::tcp::{Flags, Options, SackBlocks, Segment, SeqNumber, Timestamps};

impl Receiver {
    /// Overwrites `place` with the next segment: the SYN-ACK or an ACK. Returns `false` if no
    /// segment is due.
    #[inline]
    pub(super) fn write_next(&mut self, now: Instant, place: &mut Segment) -> bool {
        let Some(agreed) = self.agreed else { return false };
        if self.syn_ack_due || self.split.is_some() {
            return self.write_before_ack(now, agreed, place);
        }
        let Some(reason) = self.acknowledger.due() else { return false };
        self.write_ack(now, agreed, reason, place);
        true
    }

    pub(super) fn syn_ack(&mut self, now: Instant, agreed: Agreed) -> Segment {
        self.acknowledger.count(Reason::Handshake);
        let is_first = self.acknowledger.counts()[Reason::Handshake.index()] == 1;
        self.syn_sent_at = is_first.then_some(now);
        Segment {
            ecn: self.config.ecn.handshake_codepoint(),
            seq: self.initial,
            ack: agreed.first,
            flags: Flags::SYN | Flags::ACK | self.echo.answer(self.syn, self.syn_ack_timeouts),
            window: self.initial_window(),
            options: Options {
                timestamps: self.timestamps(now, agreed),
                mss: Some(announced_mss(&self.config)),
                window_scale: agreed.has_scaling.then_some(self.window_shift),
                sack_permitted: agreed.has_sack,
                accurate_ecn: self.echo.option_of_syn_ack(!is_first),
                ack_congestion_control: agreed.requests.ack_congestion_control,
                ack_rate: agreed.requests.ack_rate,
                ..Options::default()
            },
            payload: 0,
        }
    }

    /// Writes the SYN-ACK, or an ACK that was built before the newest segment was counted.
    #[inline(never)]
    fn write_before_ack(&mut self, now: Instant, agreed: Agreed, place: &mut Segment) -> bool {
        let segment =
            if std::mem::take(&mut self.syn_ack_due) { Some(self.syn_ack(now, agreed)) } else { self.split.take() };
        segment.map(|segment| *place = segment).is_some()
    }

    /// Acknowledges pending data before a segment with a different mark is processed.
    #[cold]
    pub(super) fn acknowledge_apart(&mut self, now: Instant, agreed: Agreed) {
        let mut segment = Segment::default();
        self.write_ack(now, agreed, Reason::MarkChange, &mut segment);
        self.split = Some(segment);
    }

    #[inline(always)]
    fn write_ack(&mut self, now: Instant, agreed: Agreed, reason: Reason, place: &mut Segment) {
        self.tell_room();
        self.acknowledger.sent(now, reason);
        self.last_ack_sent = self.stream.next();
        *place = Segment {
            ecn: self.echo.codepoint(),
            seq: SeqNumber::at(self.initial, 1),
            ack: SeqNumber::at(agreed.first, self.stream.next()),
            flags: Flags::ACK | self.echo.flags(),
            window: self.window_field(),
            options: Options { timestamps: self.timestamps(now, agreed), ..Options::default() },
            payload: 0,
        };
        if (agreed.has_sack && self.has_blocks()) || self.echo.report.is_sent() {
            self.add_reports(agreed, &mut place.options);
        }
    }

    /// Adds SACK blocks and marks to an ACK, in addition to its timestamps.
    #[inline(never)]
    fn add_reports(&mut self, agreed: Agreed, options: &mut Options) {
        let duplicate = self.duplicate.as_ref().map(|duplicate| duplicate.start);
        if agreed.has_sack && self.has_blocks() {
            options.sack = self.sack_blocks(agreed.first, SackBlocks::MAX - usize::from(options.timestamps.is_some()));
        }
        self.echo.report.fit(options, Options::ROOM, duplicate);
    }

    #[inline]
    pub(super) fn timestamps(&mut self, now: Instant, agreed: Agreed) -> Option<Timestamps> {
        let value = self.clock.as_mut().filter(|_| agreed.has_timestamps)?.read(now);
        Some(Timestamps { value, echo: self.timestamp_to_echo })
    }
}
