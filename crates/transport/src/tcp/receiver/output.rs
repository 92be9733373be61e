//! A segment leaves: the SYN-ACK or an ACK.

use super::super::sender::announced_mss;
use super::{Agreed, Receiver};
use crate::ack::Reason;
use acklab_base::{Ecn, Instant};
use acklab_wire::tcp::{Flags, Options, SackBlocks, Segment, SeqNumber, Timestamps};

impl Receiver {
    pub(super) fn syn_ack(&mut self, now: Instant, agreed: Agreed) -> Segment {
        self.acknowledger.count(Reason::Handshake);
        let is_first = self.acknowledger.counts()[Reason::Handshake.index()] == 1;
        self.syn_sent_at = is_first.then_some(now);
        Segment {
            ecn: self.config.ecn.handshake_codepoint(),
            seq: self.initial,
            ack: agreed.first,
            flags: Flags::SYN | Flags::ACK | self.echo.answer(self.syn),
            // RFC 7323, §2.2: not scaled.
            window: u16::try_from(self.config.receive_buffer.get()).unwrap_or(u16::MAX),
            options: Options {
                timestamps: self.timestamps(now, agreed),
                mss: Some(announced_mss(self.config.mss.get(), agreed.has_timestamps)),
                window_scale: agreed.has_scaling.then_some(self.window_shift),
                sack_permitted: agreed.has_sack,
                accurate_ecn: self.echo.first_option().filter(|_| self.config.ecn_option),
                ack_congestion_control: agreed.has_ack_ratio,
                ..Options::default()
            },
            payload: 0,
        }
    }

    /// Acknowledges what is unacknowledged before a segment counts whose mark differs.
    #[cold]
    pub(super) fn acknowledge_apart(&mut self, now: Instant, agreed: Agreed) {
        self.split = Some(self.ack(now, agreed, Reason::MarkChange));
    }

    #[inline(always)]
    pub(super) fn ack(&mut self, now: Instant, agreed: Agreed, reason: Reason) -> Segment {
        self.acknowledger.sent(now, reason);
        self.last_ack_sent = self.stream.next();
        let mut segment = Segment {
            ecn: Ecn::NotEct,
            seq: SeqNumber::at(self.initial, 1),
            ack: SeqNumber::at(agreed.first, self.stream.next()),
            flags: Flags::ACK | self.echo.flags(),
            window: self.window_field(),
            options: Options { timestamps: self.timestamps(now, agreed), ..Options::default() },
            payload: 0,
        };
        let options = &mut segment.options;
        if agreed.has_sack && self.has_blocks() {
            options.sack = self.sack_blocks(agreed.first, SackBlocks::MAX - usize::from(options.timestamps.is_some()));
        }
        // The AccECN option only where SACK leaves room for it.
        if self.config.ecn_option {
            options.accurate_ecn = self.echo.option();
            if options.accurate_ecn.is_some() && options.wire_len() > Options::ROOM {
                options.accurate_ecn = None;
            }
        }
        segment
    }

    pub(super) fn timestamps(&mut self, now: Instant, agreed: Agreed) -> Option<Timestamps> {
        let value = self.clock.as_mut().filter(|_| agreed.has_timestamps)?.read(now);
        Some(Timestamps { value, echo: self.timestamp_to_echo })
    }
}
