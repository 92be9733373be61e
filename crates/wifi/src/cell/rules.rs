//! The configuration of a cell, resolved to the values that the machine uses.

use super::dialect::{self, BackoffRange, CollidingSenders, DialectRules, Durations, EifsEnd, Encapsulation, Sensing};
use super::exchange::{Exchange, Response};
use crate::access::RxEnd;
use crate::config::{Access, AfterMissed, CellConfig, Delivery, EifsAfterCollision, Protection, Queues, Retries};
use crate::frame;
use crate::phy::{Band, ControlRates, Mode, Timing};
use crate::rate;
use acklab_base::{Bytes, Duration};
use acklab_path::{queue, thinner};

/// ns-2's `DSSS_MaxPropagationDelay`, for a round trip (`mac-802_11.h`).
const NS2_PROPAGATION: Duration = Duration::from_micros(4);

/// The rules of all nodes of a cell.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) dialect: DialectRules,
    pub(super) timing: Timing,
    pub(super) control: ControlRates,
    /// The kind of frame that reserves the medium before each OFDM frame, and its mode.
    pub(super) protection: Option<(Protection, Mode)>,
    pub(super) has_qos: bool,
    /// `true` if even a single frame is sent within an A-MPDU.
    pub(super) always_delimits: bool,
    pub(super) rts_threshold: Option<Bytes>,
    pub(super) retries: Retries,
    /// The time after its first transmission in which a frame under a Block ACK agreement may be
    /// retransmitted.
    pub(super) transmit_lifetime: Option<Duration>,
    /// The limit of transmissions of a Block ACK request. `None` if there is no limit.
    pub(super) max_requests: Option<u8>,
    pub(super) lifetime: Option<Duration>,
    /// The limit of octets in an A-MPDU. `None` without aggregation.
    pub(super) max_aggregate: Option<Bytes>,
    pub(super) max_frames: u64,
    pub(super) max_time: Duration,
    pub(super) a_msdu: Bytes,
    pub(super) window: u16,
    pub(super) after_missed: AfterMissed,
    /// `true` if each MPDU of an aggregate is passed up when it ends. Otherwise all are passed up
    /// at the end of the PPDU.
    pub(super) passes_up_each_mpdu: bool,
    pub(super) eifs_after_collision: EifsAfterCollision,
    /// The time from the end of a frame to the start of its response: at least SIFS.
    pub(super) response_space: Duration,
    /// The response space that duration fields announce.
    pub(super) announced_space: Duration,
}

/// The settings of one node.
pub(super) struct NodeSettings<'a> {
    pub(super) name: &'a str,
    pub(super) queue: queue::QueueConfig,
    pub(super) thinner: Option<thinner::ThinnerConfig>,
    pub(super) queues: Queues,
    pub(super) access: &'a Access,
    pub(super) rate: rate::RateConfig,
    /// The time after which the node senses a transmission: aCCATime or longer.
    pub(super) cca: Duration,
}

impl Rules {
    /// Returns the rules, or `None` if a basic rate is not a rate of the standard.
    pub(super) fn new(config: &CellConfig) -> Option<Self> {
        let standard = config.standard;
        let control = ControlRates::new(standard, config.short_preamble, config.basic_rates.as_deref())?;
        // The default rate of protection is the highest basic rate of HR/DSSS (10.6.9), 2 Mbps.
        let dsss = ControlRates::new(crate::phy::Standard::B, config.short_preamble, None)?;
        let protection = (config.protection != Protection::None && config.band() == Band::Ghz2)
            .then(|| (config.protection, dsss.response_to(Mode::dsss(3, config.short_preamble))));
        let is_short_slot = !config.long_slot && config.protection == Protection::None;
        let mut timing = Timing::new(standard, config.band(), is_short_slot);
        timing.packet_extension = config.packet_extension.duration();
        let dialect = config.dialect.rules();
        match dialect.sensing {
            Sensing::CcaTime => {}
            Sensing::FourMicros => timing.cca = Duration::from_micros(4),
            Sensing::FirstBit => timing.cca = Duration::ZERO,
        }
        timing.is_dsss_rounded = dialect.durations == Durations::WholeFrames;
        Some(Self {
            dialect,
            response_space: timing.sifs + config.late_answers,
            announced_space: if config.announces_late_answers {
                timing.sifs + config.late_answers
            } else {
                timing.sifs
            },
            timing,
            control,
            protection,
            has_qos: standard.has_qos(),
            always_delimits: standard.data_format().phy().is_always_a_mpdu,
            rts_threshold: config.rts_threshold,
            retries: config.retries,
            transmit_lifetime: Some(config.retries.lifetime)
                .filter(|lifetime| !lifetime.is_zero() && config.max_aggregate().is_some()),
            max_requests: config.retries.requests.or(dialect.limits_requests.then_some(config.retries.short)),
            lifetime: config.lifetime,
            max_aggregate: config.max_aggregate(),
            max_frames: u64::from(config.aggregation.max_frames.unwrap_or(u16::MAX).min(config.window())),
            max_time: config.aggregation.max_time,
            a_msdu: if standard.has_qos() { config.aggregation.a_msdu } else { Bytes::ZERO },
            window: config.window(),
            after_missed: config.aggregation.after_missed,
            passes_up_each_mpdu: match config.aggregation.delivery {
                Some(delivery) => delivery == Delivery::Each,
                None => dialect.passes_up_each_mpdu,
            },
            eifs_after_collision: config.eifs_after_collision.unwrap_or(dialect.eifs_after_collision),
        })
    }

    pub(super) fn node_settings<'a>(&self, config: &'a CellConfig, node: usize) -> NodeSettings<'a> {
        let mut before = 0;
        for station in &config.station {
            before += usize::from(station.count);
            if (1..=before).contains(&node) {
                return NodeSettings {
                    name: &station.name,
                    queue: station.queue,
                    thinner: station.thinner,
                    queues: Queues::PerStation,
                    access: &station.access,
                    rate: station.rate.unwrap_or(config.rate),
                    cca: self.timing.cca + station.late_sensing.unwrap_or(config.late_sensing),
                };
            }
        }
        let ap = &config.ap;
        NodeSettings {
            name: &ap.name,
            queue: ap.queue,
            thinner: ap.thinner,
            queues: ap.queues,
            access: &ap.access,
            rate: ap.rate.unwrap_or(config.rate),
            cca: self.timing.cca + ap.late_sensing.unwrap_or(config.late_sensing),
        }
    }

    /// Returns the number of octets of a response frame.
    pub(super) const fn response_octets(&self, response: Response) -> Bytes {
        match response {
            Response::None => Bytes::ZERO,
            Response::Cts | Response::Ack => frame::ACK,
            Response::BlockAck => frame::block_ack(self.window),
        }
    }

    /// Returns the duration of a response frame in this mode.
    pub(super) fn response_time(&self, response: Response, mode: Mode) -> Duration {
        self.timing.duration(mode, self.response_octets(response))
    }

    /// Returns `true` if response frames start later than SIFS after the frame that they respond
    /// to.
    pub(super) fn has_late_responses(&self) -> bool {
        self.response_space > self.timing.sifs
    }

    /// Returns the end of the reception of a PPDU at a node. `is_correct` means that the node has
    /// decoded it, `is_detected` that it has detected its preamble.
    pub(super) fn rx_end(&self, is_correct: bool, is_detected: bool) -> RxEnd {
        match (is_correct, is_detected) {
            (true, _) => RxEnd::Correct,
            (false, true) => RxEnd::Erroneous(self.eifs_extra()),
            (false, false) => RxEnd::Undetected,
        }
    }

    /// Returns the time beyond AIFS for which a node defers after a frame that it could not decode:
    /// EIFS (10.3.2.3.7).
    pub(super) fn eifs_extra(&self) -> Duration {
        let extra = self.timing.eifs_extra(self.control.lowest_mandatory(), frame::ACK);
        match self.dialect.eifs_end {
            EifsEnd::FirstSlot => extra,
            EifsEnd::Difs => extra + self.timing.aifs(2),
        }
    }

    /// Returns `true` if nodes that share one view of the medium begin to receive a PPDU that they
    /// cannot decode.
    pub(super) fn detects(&self, exchange: &Exchange) -> bool {
        !exchange.is_undetected || self.eifs_after_collision == EifsAfterCollision::Always
    }

    /// Returns `true` if the sender of this PPDU, which collided, defers for EIFS.
    pub(super) fn defers_as_sender(&self, exchange: &Exchange) -> bool {
        exchange.is_outlasted
            && self.dialect.colliding_senders == CollidingSenders::DeferIfOutlasted
            && self.detects(exchange)
    }

    /// NAVTimeout (10.3.2.4): a node that has received an RTS resets its NAV if no PPDU begins
    /// within this time after the end of the RTS.
    pub(super) fn nav_timeout(&self, cts: Mode) -> Duration {
        self.timing.sifs * 2 + self.response_time(Response::Cts, cts) + cts.preamble() + self.timing.slot * 2
    }

    /// Returns the time after the end of its frame for which an initiator waits for a response
    /// frame in this mode.
    pub(super) fn response_timeout(&self, mode: Mode) -> Duration {
        match self.dialect.timeout {
            dialect::ResponseTimeout::Start => {
                self.timing.response_timeout(mode) + (self.response_space - self.timing.sifs)
            }
            dialect::ResponseTimeout::End => {
                self.response_space + self.response_time(Response::Ack, mode) + NS2_PROPAGATION
            }
        }
    }

    /// Returns the number of values that a backoff may have: it is drawn from 0 to this number
    /// minus one.
    pub(super) fn backoffs(&self, window: u16) -> u64 {
        match self.dialect.backoff_range {
            BackoffRange::ToWindow => u64::from(window) + 1,
            BackoffRange::BelowWindow => u64::from(window).max(1),
        }
    }

    /// Returns the MPDU that carries one packet.
    pub(super) const fn mpdu(&self, packet: Bytes) -> Bytes {
        match self.dialect.encapsulation {
            Encapsulation::LlcSnap => frame::mpdu(packet, self.has_qos),
            Encapsulation::Ns2 => frame::ns2_mpdu(packet),
        }
    }

    /// Returns a duration field that covers `time` (9.2.5).
    pub(super) fn duration_field(&self, time: Duration) -> Duration {
        match self.dialect.durations {
            Durations::WholeFrames => time,
            Durations::WholeFields => Duration::from_micros((time.as_nanos() + 500) / 1_000),
        }
    }

    /// Returns `true` if duration fields are rounded or do not cover late response frames, so that
    /// the NAV of bystanders may end before or after the exchange. Bystanders and the two nodes of
    /// the exchange then count slots from different instants.
    pub(super) fn nav_is_inexact(&self) -> bool {
        let is_rounded = self.dialect.durations == Durations::WholeFields && self.rts_threshold.is_some();
        is_rounded || self.announced_space != self.response_space
    }
}
