//! A segment leaves: the SYN-ACK or an ACK.

use super::super::sender::announced_mss;
use super::{Agreed, Receiver};
use crate::ack::Reason;
use acklab_base::Instant;
use acklab_wire::tcp::{Flags, Options, SackBlocks, Segment, SeqNumber, Timestamps};

impl Receiver {
    /// The next segment: the SYN-ACK or an ACK, if one is due.
    #[inline]
    pub(super) fn next_segment(&mut self, now: Instant) -> Option<Segment> {
        let agreed = self.agreed?;
        if self.syn_ack_due || self.split.is_some() {
            return self.next_before_ack(now, agreed);
        }
        let reason = self.acknowledger.due()?;
        Some(self.ack(now, agreed, reason))
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
            // RFC 7323, §2.2: not scaled.
            window: u16::try_from(self.config.receive_buffer.get()).unwrap_or(u16::MAX),
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

    /// The SYN-ACK, or the ACK that was built before the newest segment counted.
    #[inline(never)]
    pub(super) fn next_before_ack(&mut self, now: Instant, agreed: Agreed) -> Option<Segment> {
        if std::mem::take(&mut self.syn_ack_due) { Some(self.syn_ack(now, agreed)) } else { self.split.take() }
    }

    /// Acknowledges what is unacknowledged before a segment counts whose mark differs.
    #[cold]
    pub(super) fn acknowledge_apart(&mut self, now: Instant, agreed: Agreed) {
        self.split = Some(self.ack(now, agreed, Reason::MarkChange));
    }

    #[inline(always)]
    pub(super) fn ack(&mut self, now: Instant, agreed: Agreed, reason: Reason) -> Segment {
        self.tell_room();
        self.acknowledger.sent(now, reason);
        self.last_ack_sent = self.stream.next();
        Segment {
            ecn: self.echo.codepoint(),
            seq: SeqNumber::at(self.initial, 1),
            ack: SeqNumber::at(agreed.first, self.stream.next()),
            flags: Flags::ACK | self.echo.flags(),
            window: self.window_field(),
            options: self.options_of_ack(now, agreed),
            payload: 0,
        }
    }

    #[inline(always)]
    fn options_of_ack(&mut self, now: Instant, agreed: Agreed) -> Options {
        let timestamps = self.timestamps(now, agreed);
        if (agreed.has_sack && self.has_blocks()) || self.echo.report.is_sent() {
            self.options_with_reports(timestamps, agreed)
        } else {
            Options { timestamps, ..Options::default() }
        }
    }

    /// The options of an ACK that reports blocks or marks.
    #[inline(never)]
    fn options_with_reports(&mut self, timestamps: Option<Timestamps>, agreed: Agreed) -> Options {
        let mut options = Options { timestamps, ..Options::default() };
        let duplicate = self.duplicate.as_ref().map(|duplicate| duplicate.start);
        if agreed.has_sack && self.has_blocks() {
            options.sack = self.sack_blocks(agreed.first, SackBlocks::MAX - usize::from(timestamps.is_some()));
        }
        self.echo.report.fit(&mut options, Options::ROOM, duplicate);
        options
    }

    pub(super) fn timestamps(&mut self, now: Instant, agreed: Agreed) -> Option<Timestamps> {
        let value = self.clock.as_mut().filter(|_| agreed.has_timestamps)?.read(now);
        Some(Timestamps { value, echo: self.timestamp_to_echo })
    }
}
