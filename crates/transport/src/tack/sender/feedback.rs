//! Processes TACKs and IACKs in the sender.
//!
//! Feedback is validated as a whole before it changes any state. It must not acknowledge, or report
//! lost, a packet that was never sent. Its times must not run backwards. Its rate must not be zero,
//! infinite or larger than the amount of sent data.

use super::{Content, Control, SPACE, Sender};
use crate::events::Events;
use crate::mtu;
use crate::recovery::delivery_rate::{Newest, Stamp};
use crate::recovery::manager::{Context, PersistentCongestion, Report};
use crate::recovery::packets::{Lost, Packet, Progress};
use crate::tack::ecn::Validation;
use crate::tack::lists;
use crate::tack::path::Path;
use crate::tack::rate::{self, RateSource};
use crate::tack::refusal::Refusal;
use crate::tack::streams::Streams;
use crate::tack::sync::Synced;
use crate::tack::timing::RoundTrips;
use acklab_base::{Duration, Event, Instant, mul_div};
use acklab_wire::tack::{BELOW, Loss, PktSeq, Run, Tack, Timestamp};

/// The validated part of a TACK.
#[derive(Clone, Copy, Debug)]
struct Checked {
    next: u64,
    rtt: Duration,
    rate: Option<(u64, Duration)>,
}

/// The results of feedback that other parts of the connection use.
#[derive(Clone, Copy, Debug)]
pub(in crate::tack) struct Outcome {
    /// The pending report for recovery and congestion control.
    pub(in crate::tack) report: Report,
    /// The number below which the receiver has all packets; zero for an IACK.
    pub(in crate::tack) next: u64,
    /// The round-trip time, if this is the newest TACK.
    pub(in crate::tack) rtt: Option<Duration>,
}

impl Sender {
    /// Handles a TACK. `number` is the number of its packet, and `arrived` is the arrival time by
    /// the clock of this end.
    ///
    /// # Errors
    /// Returns [`Refusal::Skipped`] if the peer acknowledges a skipped number, and another refusal
    /// if the TACK is impossible.
    pub(in crate::tack) fn on_tack(
        &mut self,
        now: Instant,
        arrived: Timestamp,
        number: u64,
        tack: &Tack,
    ) -> Result<Outcome, Refusal> {
        let Checked { next, rtt, rate } = self.check(arrived, tack)?;
        // Times, rates and ECN counts of an older TACK are obsolete.
        let is_newest = self.newest_tack.is_none_or(|newest| number > newest);
        let marked = if is_newest { self.ecn.on_tack()? } else { 0 };
        self.counters.acks += 1;
        let prior_in_flight = self.in_flight();
        let mut late = 0;
        if is_newest {
            self.newest_tack = Some(number);
            late = tack.late.saturating_sub(std::mem::replace(&mut self.late, tack.late));
            self.sample(now, rtt);
            if let Some((octets, interval)) = rate {
                self.reported_rate = Some(mul_div(octets, 1_000_000_000, interval.as_nanos().max(1)));
            }
        }
        let acked = std::iter::once(0..next).chain(lists::ranges(next, &tack.acked));
        let progress = self.recovery.acknowledge(now, SPACE, acked).map_err(|_| Refusal::Skipped)?;
        for range in lists::ranges(next, &tack.lost) {
            self.recovery.lose(SPACE, range);
        }
        self.recovery.space_mut(SPACE).settle();
        if is_newest {
            self.note_unlisted(next, tack);
        }
        let rtt = is_newest.then_some(rtt);
        let newest = if is_newest { newer(progress.newest, self.newest_listed.take()) } else { progress.newest };
        let waited = Duration::from_micros(tack.delay.into());
        let progress = Progress { rtt, waited, newest, spuriously_lost: late.into(), ..progress };
        let rate = rate.filter(|_| is_newest && self.settings.rate == RateSource::Receiver);
        Ok(Outcome { report: self.report(progress, prior_in_flight, marked, rate), next, rtt })
    }

    fn check(&self, arrived: Timestamp, tack: &Tack) -> Result<Checked, Refusal> {
        let sent = self.next_number();
        let next = tack.next.near(sent);
        let reach = |runs: &[Run]| runs.iter().map(|run| u64::from(run.skip) + u64::from(run.length)).sum::<u64>();
        if next > sent || next + reach(&tack.acked).max(reach(&tack.lost)) > sent {
            return Err(Refusal::NeverSent);
        }
        let rtt = RoundTrips::sample_of(arrived, tack.echo, tack.delay)?;
        let rate = rate::check(tack.delivered, tack.interval, self.counters.bytes)?;
        Ok(Checked { next, rtt, rate })
    }

    /// Handles a loss-event-driven IACK.
    ///
    /// Returns [`Refusal::Skipped`] if the peer acknowledges a skipped number, and another refusal
    /// if the IACK is impossible.
    pub(in crate::tack) fn on_loss(&mut self, now: Instant, loss: &Loss) -> Result<Outcome, Refusal> {
        let sent = self.next_number();
        let range = PktSeq(loss.after.0.wrapping_add(1)).near(sent)..loss.before.near(sent);
        let arrived = range.end..range.end + u64::from(loss.arrived);
        if range.is_empty() || arrived.is_empty() || arrived.end > sent {
            return Err(Refusal::NeverSent);
        }
        let prior_in_flight = self.in_flight();
        let arrived = std::iter::once(arrived);
        let progress = self.recovery.acknowledge(now, SPACE, arrived).map_err(|_| Refusal::Skipped)?;
        self.counters.acks += 1;
        self.recovery.lose(SPACE, range);
        self.recovery.space_mut(SPACE).settle();
        self.note_listed(progress.octets);
        // An IACK carries no time, and only TACKs yield rates. The next TACK does not newly
        // acknowledge packets that an IACK acknowledged. The TACK's sample therefore ends with the
        // newest packet acknowledged since the last TACK.
        self.newest_listed = newer(progress.newest, self.newest_listed);
        let progress = Progress { rtt: None, newest: None, spuriously_lost: 0, ..progress };
        Ok(Outcome { report: self.report(progress, prior_in_flight, 0, None), next: 0, rtt: None })
    }

    fn report(
        &mut self,
        progress: Progress,
        prior_in_flight: u64,
        marked: u64,
        rate: Option<(u64, Duration)>,
    ) -> Report {
        let delivered = self.count_delivered(progress.octets);
        if progress.packets > 0 || delivered > 0 {
            self.on_progress();
        }
        self.counters.marked += marked;
        Report {
            progress: Progress { octets: delivered, ..progress },
            prior_in_flight,
            marked: (marked > 0).then(|| marked * self.mss),
            rate,
            persistent: PersistentCongestion::Detected { max_ack_delay: self.tack_delay() },
        }
    }

    /// Passes `report` to the streams and to congestion control.
    pub(in crate::tack) fn settle(
        &mut self,
        now: Instant,
        report: &Report,
        streams: &mut Streams,
        mtu: &mut mtu::Search,
        path: &mut Path,
        events: &mut Events,
    ) {
        let mut contents = Contents { streams, mtu, path, events, ecn: &mut self.ecn, synced: &mut self.synced };
        self.recovery.settle(now, SPACE, report, &mut contents);
        if self.settings.mtu_discovery {
            self.set_mss(mtu.size() - self.settings.headers());
        }
        // The receiver counts late arrivals, so the sender need not track lost packets.
        self.recovery.space_mut(SPACE).forget_lost(Instant::FAR_FUTURE);
        self.refresh_timeout();
    }
}

/// Returns the packet that was sent last among the packets that two reports acknowledge.
fn newer(one: Option<(Newest, Stamp)>, other: Option<(Newest, Stamp)>) -> Option<(Newest, Stamp)> {
    one.into_iter().chain(other).max_by_key(|(newest, _)| newest.number)
}

/// The contents of a connection's packets.
struct Contents<'a> {
    streams: &'a mut Streams,
    mtu: &'a mut mtu::Search,
    path: &'a mut Path,
    events: &'a mut Events,
    ecn: &'a mut Validation,
    synced: &'a mut Synced,
}

impl Context<Content> for Contents<'_> {
    #[inline]
    fn on_acked(&mut self, number: u64, packet: &Packet<Content>) -> bool {
        let Content { piece, control } = packet.content;
        if let Some(piece) = piece {
            self.streams.table.on_acked(&piece);
            self.ecn.on_acknowledged();
        }
        match control {
            Some(Control::Reset(id)) => {
                if let Some(stream) = self.streams.table.get_mut(id) {
                    stream.outgoing.on_reset_acked();
                }
            }
            Some(Control::Mtu(size)) => {
                self.mtu.on_acknowledged(number, size);
                self.events.push(self.mtu.size_event(BELOW));
            }
            _ => {}
        }
        piece.is_some()
    }

    fn on_lost(&mut self, lost: Lost<Content>) -> bool {
        let Content { piece, control } = lost.packet.content;
        if let Some(piece) = piece
            && let Some(stream) = self.streams.table.get_mut(piece.id)
        {
            stream.outgoing.on_lost(&piece);
        }
        match control {
            Some(Control::Sync) => self.synced.on_lost(),
            Some(Control::Reset(id)) => {
                if let Some(stream) = self.streams.table.get_mut(id) {
                    stream.outgoing.on_reset_lost();
                }
            }
            Some(Control::Stop(id)) => self.streams.on_stop_lost(id),
            Some(Control::Streams) => self.streams.owe_offer(),
            Some(Control::Challenge) => self.path.on_lost(),
            Some(Control::Mtu(size)) => {
                self.mtu.on_lost(lost.number, size);
            }
            Some(Control::Handshake | Control::Blocked | Control::Ping) | None => {}
        }
        if piece.is_some() {
            self.events.push_loss(lost.number);
        }
        piece.is_some()
    }

    #[inline]
    fn sent(&self) -> u64 {
        self.streams.table.main().outgoing.sent()
    }

    fn push(&mut self, event: Event) {
        self.events.push(event);
    }
}
