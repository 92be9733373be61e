//! The flows table.

use super::ending::Ending;
use super::limits::{Facts, HopUse};
use crate::metric::Better::{Less, More, Neither};
use crate::metric::{Metric, Rows, count, number, text};
use crate::probe::FlowProbe;
use crate::snapshot::Snapshot;
use crate::subjects::{Bottleneck, FlowInfo, Place};
use acklab_app::{page, player};
use acklab_base::endpoint::counter;
use acklab_base::{Instant, LimitingFactor};
use std::ops::Range;

/// The counters of the two ends of a direction in the measurement window. An end that is measured
/// elsewhere has no counters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    pub(crate) sender: Option<Snapshot>,
    pub(crate) receiver: Option<Snapshot>,
}

/// The dropped packets of a direction, by type: data and acknowledgments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drops {
    pub(crate) data: u64,
    pub(crate) acks: u64,
}

/// Facts about the path of a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'a> {
    pub(crate) drops: Drops,
    /// The slowest hop on the path of the data.
    pub(crate) hop: Option<&'a HopUse>,
    /// The slowest hop of the sender's connection, which ends at the first proxy.
    pub(crate) own_hop: Option<&'a HopUse>,
    /// The slowest hop on the path of the acknowledgments.
    pub(crate) return_hop: Option<&'a HopUse>,
}

/// The measurements of one direction in the window.
pub(crate) struct FlowResult<'a> {
    info: &'a FlowInfo,
    pub(super) probe: &'a FlowProbe,
    ends: Ends,
    /// Facts about the path. `None` if the network is not measured.
    path: Option<Path<'a>>,
    pub(super) start: f64,
    stop: f64,
    /// The start of the flow or of the window, whichever is later.
    begin: Instant,
    window: Range<Instant>,
    /// The time in the window for which the flow was active, in seconds. Activity ends when all
    /// data are acknowledged, or at the flow's stop. If data are sent or arrive after the stop, it
    /// ends at the last of these times.
    active: f64,
}

impl<'a> FlowResult<'a> {
    pub(crate) fn new(
        probe: &'a FlowProbe,
        info: &'a FlowInfo,
        ends: Ends,
        path: Option<Path<'a>>,
        window: Range<Instant>,
    ) -> Self {
        let stop = info.stop.unwrap_or(window.end);
        // Data written before the stop may arrive after it.
        let moved = [probe.last_departure(), probe.last_arrival].into_iter().flatten().fold(stop, Instant::max);
        let last = probe.completed.unwrap_or(moved).min(window.end);
        let begin = info.start.max(window.start);
        Self {
            info,
            probe,
            ends,
            path,
            start: info.start.as_secs_f64(),
            stop: stop.as_secs_f64(),
            begin,
            window,
            active: last.since(begin).as_secs_f64(),
        }
    }

    fn sender(&self) -> Option<&Snapshot> {
        self.ends.sender.as_ref()
    }

    pub(super) fn receiver(&self) -> Option<&Snapshot> {
        self.ends.receiver.as_ref()
    }

    /// Returns a counter of the sender.
    pub(super) fn sender_count(&self, name: &str) -> Option<u64> {
        self.sender()?.count(name)
    }

    /// Returns a counter of the receiver.
    fn receiver_count(&self, name: &str) -> Option<u64> {
        self.receiver()?.count(name)
    }

    /// Returns the state of the flow at the end of the window. Returns `None` if its transport has
    /// no connections.
    fn ending(&self) -> Option<Ending> {
        self.info.labels.controller.as_ref()?;
        Ending::of(self.probe, self.begin, &self.window)
    }

    pub(super) fn name(&self) -> &str {
        &self.info.name
    }

    /// Returns the rate of `octets` in the window, in Mbps.
    fn rate(&self, octets: u64) -> Option<f64> {
        (self.active > 0.0).then(|| octets as f64 * 8.0 / 1e6 / self.active)
    }

    fn segments(&self, octets: Option<f64>) -> Option<f64> {
        octets.map(|octets| octets / self.info.payload as f64)
    }

    pub(super) fn in_flight(&self) -> Option<f64> {
        self.segments(self.probe.in_flight.mean())
    }

    pub(super) fn srtt(&self) -> Option<f64> {
        ms(self.probe.srtt.mean())
    }

    pub(super) fn throughput(&self) -> Option<f64> {
        self.rate(self.receiver()?.received)
    }

    /// Returns the number of ACKs that the receiver has sent. Returns `None` if its transport does
    /// not acknowledge.
    pub(super) fn acks_sent(&self) -> Option<u64> {
        self.receiver_count(counter::ACKS_SENT)
    }

    /// Returns the number of ACKs sent, including ACKs in packets with data.
    fn ack_frames_sent(&self) -> Option<u64> {
        self.acks_sent()?;
        let receiver = self.receiver()?;
        let by_reason = || receiver.acknowledgments.iter().map(|(_, count)| count).sum();
        Some(receiver.count(counter::ACK_FRAMES_SENT).unwrap_or_else(by_reason))
    }

    /// Returns the IP bytes of the sender that are not data.
    fn overhead(&self) -> Option<u64> {
        Some(self.sender()?.sent_bytes - self.sender_count(counter::DATA_BYTES)?)
    }

    fn handshake_time_ms(&self) -> Option<f64> {
        self.probe.established.map(|established| established.since(self.info.start).as_millis_f64())
    }

    /// Returns `count`, a count of ACKs on the path to the sender or at the sender. Returns `None`
    /// if the transport does not acknowledge, or if the sender is measured elsewhere.
    fn of_acks(&self, count: u64) -> Option<u64> {
        let sender = self.sender()?;
        let acks = self.receiver().map_or_else(|| sender.count(counter::ACKS_RECEIVED), |_| self.acks_sent());
        acks.map(|_| count)
    }

    /// Returns the number of data packets that the sender has sent.
    pub(super) fn sent(&self) -> Option<u64> {
        Some(self.sender()?.count(counter::DATA_PACKETS).unwrap_or_default())
    }

    /// Returns the number of missing packets in the window minus the number of late arrivals in it,
    /// but at least zero. Packets that were missing before the window may arrive in it.
    pub(super) fn lost(&self) -> Option<u64> {
        let passed_over = self.receiver_count(counter::PASSED_OVER_PACKETS)?;
        Some(passed_over.saturating_sub(self.receiver_count(counter::REORDERED_PACKETS)?))
    }

    fn share_lost(&self) -> Option<f64> {
        let lost = self.lost()?;
        let expected = lost + self.receiver_count(counter::ARRIVED_PACKETS)?;
        (expected > 0).then(|| lost as f64 / expected as f64)
    }

    /// Returns a counter of a transport that does not retransmit.
    fn of_lossy(&self, name: &str) -> Option<u64> {
        self.lost()?;
        self.receiver_count(name)
    }

    /// Returns the counter `part` divided by the counter `whole`, both of the video player. Returns
    /// `None` without a player, or if nothing was played.
    fn share_played(&self, part: &str, whole: &str) -> Option<f64> {
        let (part, whole) = (self.receiver_count(part)?, self.receiver_count(whole)?);
        (whole > 0).then(|| part as f64 / whole as f64)
    }

    fn page_load_time(&self) -> Option<f64> {
        let complete = self.receiver()?.gauge(page::counter::COMPLETE)?;
        Some(complete / 1e9 - self.start)
    }

    fn time_to_first_octet(&self) -> Option<f64> {
        let times: Vec<f64> = self.receiver()?.objects.iter().filter_map(time_to_first_octet).collect();
        (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
    }

    /// Returns the seconds from the start of the flow to its completion. For a browser, this is the
    /// complete page. For a sender, it is the ACK of its FIN. Returns `None` if the flow is not
    /// complete.
    pub(super) fn completed_after(&self) -> Option<f64> {
        if self.receiver().is_some_and(|receiver| !receiver.objects.is_empty()) {
            return self.page_load_time();
        }
        self.probe.completed.map(|at| at.as_secs_f64() - self.start)
    }

    /// Returns the name of the flow before expansion, if this flow is one of several copies.
    pub(super) fn group(&self) -> Option<&str> {
        self.info.group.as_deref()
    }

    /// Returns the total number of octets that the application sends. Returns `None` if the
    /// application does not end by itself.
    pub(super) const fn total(&self) -> Option<u64> {
        self.info.total
    }

    fn completion_time(&self) -> Option<f64> {
        self.sender()?;
        Some(self.probe.completed.map_or(self.stop, Instant::as_secs_f64) - self.start)
    }

    /// Returns the seconds from `from` to the last delivery in the window.
    fn delivery_time(&self, from: Instant) -> Option<f64> {
        self.probe.last_delivery.map(|last| last.since(from).as_secs_f64())
    }

    /// Returns the rate at which the receiver's application received its octets, in Mbps.
    fn receiving_rate(&self) -> Option<f64> {
        let time = self.delivery_time(self.begin)?;
        let octets = self.receiver()?.delivered;
        (time > 0.0).then(|| octets as f64 * 8.0 / 1e6 / time)
    }

    fn recovery_time_ms(&self) -> Option<f64> {
        let recoveries = self.sender_count(counter::RECOVERIES)?;
        let time = acklab_base::Duration::from_nanos(self.sender_count(counter::RECOVERY_TIME)?);
        (recoveries > 0).then(|| time.as_millis_f64() / recoveries as f64)
    }

    fn utilization_bw(&self) -> Option<f64> {
        Some(self.throughput()? * 1e6 / self.info.bottleneck?.rate)
    }

    fn utilization_bdp(&self) -> Option<f64> {
        Some(self.in_flight()? / self.info.bdp_segments()?)
    }

    fn return_utilization(&self) -> Option<f64> {
        let octets = self.of_acks(self.probe.ack_bytes)?;
        Some(self.rate(octets)? * 1e6 / self.info.return_bottleneck?.rate)
    }

    /// Returns each limiting factor's share of the time. The sender reports the factors, or the
    /// kernel measures them. The kernel does not measure pacing.
    fn limits(&self) -> Option<[f64; LimitingFactor::ALL.len()]> {
        if let Some(shares) = self.probe.limits.shares() {
            return Some(shares);
        }
        let share = |name| Some(self.sender_count(name)? as f64 / 1e9 / self.active);
        let [busy, peer, buffer] =
            [counter::BUSY_TIME, counter::RECEIVE_WINDOW_TIME, counter::SEND_BUFFER_TIME].map(share);
        let (busy, peer, buffer) = (busy?.min(1.0), peer?, buffer?);
        (self.active > 0.0).then(|| [1.0 - busy, buffer, peer, (busy - peer - buffer).max(0.0), 0.0])
    }

    fn share_limited(&self, factor: LimitingFactor) -> Option<f64> {
        Some(self.limits()?[factor as usize])
    }

    /// Returns the time for which ACKs are delayed on their path, in addition to the propagation
    /// delay.
    fn return_wait_ms(&self) -> Option<f64> {
        self.acks_sent()?;
        Some((ms(self.probe.feedback_age.mean())? - self.info.base_return?.as_millis_f64()).max(0.0))
    }

    /// Returns the use of the slowest hop, and the flow's share of the hop's bytes. In a cell, the
    /// hop also carries the ACKs. For a flow that was active for a part of the time, the use of the
    /// hop is computed from the flow's bytes.
    fn use_of_hop(&self) -> Option<(f64, f64)> {
        self.use_of(self.path?.hop?, self.info.bottleneck?)
    }

    fn use_of(&self, hop: &HopUse, bottleneck: Bottleneck) -> Option<(f64, f64)> {
        let sent = self.sender()?.sent_bytes;
        let acks =
            self.receiver().filter(|_| matches!(hop.at, Place::Cell(_))).map_or(0, |receiver| receiver.sent_bytes);
        let share = (sent + acks) as f64 / hop.octets.max(1) as f64;
        let own_use = self.rate(sent).map_or(0.0, |mbps| mbps * 1e6 / bottleneck.rate);
        Some((hop.busy?.max(own_use.min(1.0)), share))
    }

    fn limited_by(&self) -> Option<String> {
        let has_any = |names: &[&str]| names.iter().any(|name| self.sender_count(name).is_some_and(|count| count > 0));
        let is_dropped = self.path.is_some_and(|path| path.drops.data > 0);
        let signs = [counter::RETRANSMISSIONS, counter::TIMEOUTS, counter::MARK_REDUCTIONS];
        let facts = Facts {
            shares: self.limits()?,
            has_window: self.acks_sent().is_some() || self.in_flight().is_some(),
            hop: self.path.and_then(|path| self.use_of(path.own_hop?, self.info.own_bottleneck?)),
            behind: self.use_of_hop().filter(|_| self.info.bottleneck != self.info.own_bottleneck),
            return_busy: self.path.and_then(|path| path.return_hop?.busy),
            return_wait: self.return_wait_ms().zip(self.srtt()).map(|(wait, srtt)| wait / srtt),
            has_congestion: is_dropped || has_any(&signs),
        };
        Some(facts.limit().to_owned())
    }

    fn data_per_ack(&self) -> Option<f64> {
        let (sent, acks_sent) = (self.sent()?, self.acks_sent()?);
        (acks_sent > 0).then(|| sent as f64 / acks_sent as f64)
    }
}

/// Returns the milliseconds from the request of an object to `at`.
pub(super) fn since_request(object: &page::Object, at: Option<Instant>) -> Option<f64> {
    Some(at?.since(object.requested?).as_millis_f64())
}

/// Returns the milliseconds from the request of an object to its first octet.
pub(super) fn time_to_first_octet(object: &page::Object) -> Option<f64> {
    since_request(object, object.begun)
}

fn ms(nanos: Option<f64>) -> Option<f64> {
    nanos.map(|nanos| nanos / 1e6)
}

pub(crate) struct FlowRows;

impl Rows for FlowRows {
    type Row<'a> = FlowResult<'a>;
}

/// The columns. A metric that is meaningless for a transport is null.
#[rustfmt::skip]
pub(crate) const METRICS: &[Metric<FlowRows>] = &[
    text("flow", "the flow's name", |flow| Some(flow.name().to_owned())),
    text("src", "the node that sends its data", |flow| Some(flow.info.from.clone())),
    text("dst", "the node that receives its data", |flow| Some(flow.info.to.clone())),
    text("transport_protocol", "its transport", |flow| Some(flow.info.labels.protocol.clone())),
    text("preset", "the stack whose settings are the defaults of the end that sends its data", |flow| flow.info.labels.preset.clone()),
    text("peer_preset", "the same for the end that receives its data", |flow| flow.info.labels.peer_preset.clone()),
    text("cca", "its congestion controller", |flow| flow.info.labels.controller.clone()),
    text("cc_recovery_alg", "the algorithm that controls the window in recovery", |flow| flow.info.labels.recovery.clone()),
    text("ack_policy", "the receiver's ACK policy", |flow| flow.info.labels.ack_policy.clone()),
    text("traffic_model", "the model of its application", |flow| Some(flow.info.traffic.clone())),
    text("bottleneck", "the slowest hop on the path of its data: a link direction or a Wi-Fi cell", |flow| Some(flow.path?.hop?.name.clone())),
    text("return_bottleneck", "the same on the path of its ACKs", |flow| Some(flow.path?.return_hop?.name.clone())),
    text("limited_by", "what limits its goodput: application, send buffer, receive window, rate, contention, return path, losses, pacing or window, by the rule of the page [limits](limits.md)", |flow| flow.limited_by()),
    number("start_time", "s", Neither, "start of the flow in the scenario", |flow| Some(flow.start)),
    number("stop_time", "s", Neither, "stop of the flow in the scenario, or the window's end if there is none", |flow| Some(flow.stop)),
    text("ending", "state of the flow at the end of the window: `open`; `finished`, if all data and their end are acknowledged; `opening`, before the end of the handshake; `stands`, if data are in flight but none were delivered in the second half of its measured time (at least 1 s and four round trips); or the end of its connection: `refused`, `closed`, `failed`, `idle-timeout`, `reset`, with the error code if there is one", |flow| flow.ending().map(Ending::name)),
    number("ending_time", "s", Neither, "start of this state: for `finished` and connections that ended, this instant; for `stands`, the last delivery", |flow| flow.ending()?.at().map(Instant::as_secs_f64)),
    number("bottleneck_capacity_l2", "Mbps", Neither, "mean rate of the slowest hop on the path: a link, or a Wi-Fi cell with its capacity for full-sized packets of the flow, from AIFS to response frame, for a single sender without errors", |flow| flow.info.bottleneck.map(|hop| hop.rate / 1e6)),
    number("empty_path_rtt_l4", "ms", Neither, "configured round-trip propagation delay, plus the mean cycle of a cell with a full aggregate if it is the slowest hop", |flow| flow.info.empty_rtt().map(|rtt| rtt.as_millis_f64())),
    number("bandwidth_delay_product_l4", "segments", Neither, "`bottleneck_capacity_l2` × `empty_path_rtt_l4` / bytes of a full packet on the slowest hop, including overhead", |flow| flow.info.bdp_segments()),
    number("cov_in_flight_l4", "", Less, "standard deviation / mean of the bytes in flight, over time", |flow| flow.probe.in_flight.variation()),
    number("cov_throughput_l4", "", Less, "standard deviation / mean of the throughput (l4) of bins", |flow| flow.probe.throughput.rates.variation()),
    number("flow_completion_time_l4", "s", Less, "from start to the ACK of the FIN, or to `stop_time` if it has not arrived", |flow| flow.completion_time()),
    number("delivery_time_l7", "s", Less, "from start to the last delivery of bytes to the receiving application: for a download, the time until its application has the file", |flow| flow.delivery_time(flow.info.start)),
    number("page_load_time_l7", "s", Less, "for a page: from start to the last byte of its last object; null if one is missing", |flow| flow.page_load_time()),
    number("mean_time_to_first_octet_l7", "ms", Less, "mean over the started objects of a page, including the document: from request to first byte", |flow| flow.time_to_first_octet()),
    number("handshake_time_l4", "ms", Less, "from start to the end of the handshake at the end that completes it first", |flow| flow.handshake_time_ms()),
    number("mean_blocked_l4", "segments", Less, "bytes that arrived and were not read, because of a gap or a slow reader / MSS, over time", |flow| flow.segments(flow.probe.blocked.mean())),
    number("mean_cwnd_l4", "segments", Neither, "cwnd / MSS, over time", |flow| flow.segments(flow.probe.cwnd.mean())),
    number("mean_delivery_rate_l4", "Mbps", More, "bytes acknowledged to the sender, cumulatively or by SACK, each counted once / active time; without SACK, excluding segments that cause duplicate ACKs", |flow| flow.rate(flow.sender_count(counter::ACKNOWLEDGED_BYTES)?)),
    number("mean_est_qdelay_l4", "ms", Less, "`mean_srtt_l4` − configured round-trip propagation delay; includes serialisation, and waits at the receiver and at gates", |flow| Some(flow.srtt()? - flow.info.base_rtt?.as_millis_f64())),
    number("mean_idt_ewma_l4", "ms", Less, "time between departures of data packets, moving average with gain 1/8, over time", |flow| ms(flow.probe.idt_ewma.mean())),
    number("mean_in_flight_l4", "segments", Neither, "the sender's estimate of bytes in flight / MSS, over time", |flow| flow.in_flight()),
    number("mean_network_power_l4", "Mbps/s", More, "mean over bins: throughput / latest SRTT", |flow| flow.probe.throughput.power.mean()),
    number("mean_one_way_delay_l4", "ms", Less, "mean over data packets that arrive: from departure at the sender to arrival", |flow| ms(flow.probe.one_way_delay.mean())),
    number("p50_one_way_delay_l4", "ms", Less, "median of the one-way delay of data packets that arrive, to 1 %", |flow| ms(flow.probe.one_way_delays.quantile(0.5))),
    number("p95_one_way_delay_l4", "ms", Less, "95th percentile of the one-way delay of data packets that arrive, to 1 %", |flow| ms(flow.probe.one_way_delays.quantile(0.95))),
    number("mean_one_way_delay_l7", "ms", Less, "over time: for the byte delivered last, from its write to the send buffer to its delivery in order", |flow| flow.probe.application_delay.mean_ms()),
    number("mean_recovery_time_l4", "ms", Less, "mean duration of the recovery episodes that ended in the window, from the first sign of loss; a recovery with a timeout counts as one", |flow| flow.recovery_time_ms()),
    number("mean_rtt_l4", "ms", Less, "mean of the RTT samples; each sample has equal weight, so a burst of ACKs weighs more than a pause", |flow| ms(flow.probe.rtt.mean())),
    number("min_rtt_l4", "ms", Neither, "minimum RTT sample", |flow| flow.probe.min_rtt.map(|rtt| rtt.as_millis_f64())),
    number("mean_sending_rate_l4", "Mbps", Neither, "bytes sent, including retransmissions / active time", |flow| flow.rate(flow.sender_count(counter::DATA_BYTES)?)),
    number("mean_sending_rate_l7", "Mbps", Neither, "bytes written to the send buffer / active time, including a full buffer", |flow| flow.rate(flow.sender()?.written)),
    number("mean_srtt_l4", "ms", Less, "SRTT, over time, from the first sample of data on", |flow| flow.srtt()),
    number("mean_throughput_l4", "Mbps", More, "bytes that arrived at the receiver, in order or not, each counted once / active time", |flow| flow.throughput()),
    number("mean_throughput_l7", "Mbps", More, "bytes delivered in order / active time: goodput", |flow| flow.rate(flow.receiver()?.delivered)),
    number("mean_receiving_rate_l7", "Mbps", More, "bytes delivered in order / time from the start, of the flow or of the window, to the last delivery", |flow| flow.receiving_rate()),
    number("mean_utility_mpdf_l4", "", More, "mean over bins with arrivals: −1 / throughput in Mbps", |flow| flow.probe.throughput.utility_mpdf.mean()),
    number("mean_utility_pf_l4", "", More, "mean over bins with arrivals: ln of throughput in Mbps", |flow| flow.probe.throughput.utility_pf.mean()),
    number("mean_utilization_bdp_l4", "", Neither, "`mean_in_flight_l4` / `bandwidth_delay_product_l4`", |flow| flow.utilization_bdp()),
    number("mean_utilization_bw_l4", "", More, "`mean_throughput_l4` / `bottleneck_capacity_l2`", |flow| flow.utilization_bw()),
    count("total_retransmissions_l4", "packets", Less, "retransmitted data packets", |flow| flow.sender_count(counter::RETRANSMISSIONS)),
    count("total_rtos_l4", "", Less, "retransmission timeouts with data outstanding, without those of the handshake", |flow| flow.sender_count(counter::TIMEOUTS)),
    count("total_tail_loss_probes_l4", "", Neither, "tail loss probes (RFC 8985, §7.3)", |flow| flow.sender_count(counter::TAIL_LOSS_PROBES)),
    count("total_undone_reductions_l4", "", Neither, "window reductions that D-SACK or timestamps showed to be spurious", |flow| flow.sender_count(counter::UNDONE_REDUCTIONS)),
    count("total_spurious_losses_l4", "packets", Less, "packets declared lost and acknowledged later (RFC 9002, §6.1), for transports that number packets", |flow| flow.sender_count(counter::NEEDLESS_LOSSES)),
    count("total_persistent_congestions_l4", "", Less, "times that persistent congestion was established (RFC 9002, §7.6)", |flow| flow.sender_count(counter::PERSISTENT_CONGESTION)),
    count("total_black_holes_l4", "", Less, "times that the sender detected that datagrams of its size were no longer delivered (RFC 8899, §4.3)", |flow| flow.sender_count(counter::BLACK_HOLES)),
    count("total_ack_frequency_sent_l4", "", Neither, "`ACK_FREQUENCY` frames that the sender sent (draft-ietf-quic-ack-frequency, §4)", |flow| flow.sender_count(counter::ACK_FREQUENCY_SENT)),
    count("total_ack_frequency_received_l4", "", Neither, "of these, frames that the receiver received", |flow| flow.receiver_count(counter::ACK_FREQUENCY_RECEIVED)),
    count("total_immediate_ack_sent_l4", "", Neither, "`IMMEDIATE_ACK` frames that the sender sent (draft-ietf-quic-ack-frequency, §5)", |flow| flow.sender_count(counter::IMMEDIATE_ACK_SENT)),
    count("total_immediate_ack_received_l4", "", Neither, "of these, frames that the receiver received", |flow| flow.receiver_count(counter::IMMEDIATE_ACK_RECEIVED)),
    count("total_data_packets_l4", "packets", Neither, "data packets sent, including retransmissions", |flow| flow.sent()),
    count("total_overhead_bytes_l3", "B", Less, "IP bytes of the sender's packets without data: headers of all layers from IP on, handshake, acknowledgments, and overhead of encryption", |flow| flow.overhead()),
    count("total_delivered_bytes_l7", "B", More, "bytes delivered in order", |flow| Some(flow.receiver()?.delivered)),
    count("total_drops_l2", "packets", Less, "packets of the sender dropped by any queue, excluding those filtered or lost on a link", |flow| Some(flow.path?.drops.data)),
    count("total_ack_drops_l2", "packets", Neither, "packets of the receiver dropped by any queue, excluding those filtered or lost on a link", |flow| flow.of_acks(flow.path?.drops.acks)),
    count("total_marked_l4", "packets", Neither, "data packets that arrived marked Congestion Experienced", |flow| flow.receiver_count(counter::MARKED_PACKETS)),
    count("total_marked_bytes_l4", "B", Neither, "bytes that the receiver reported as marked, with DCTCP's or accurate ECN", |flow| flow.sender_count(counter::MARKED_BYTES)),
    count("total_mark_reductions_l4", "", Neither, "window reductions in response to echoed marks", |flow| flow.sender_count(counter::MARK_REDUCTIONS)),
    count("total_acks_sent_l4", "packets", Neither, "acknowledgments sent by the receiver, including SYN-ACK", |flow| flow.acks_sent()),
    count("total_ack_frames_sent_l4", "", Neither, "ACK frames sent by the receiver, in packets with or without data: for QUIC of all packet number spaces, for TCP segments that acknowledge new data, for TACK packets with a TACK or an IACK", |flow| flow.ack_frames_sent()),
    count("total_acks_delivered_l4", "packets", Neither, "acknowledgments that reached the sender, excluding SYN-ACK", |flow| flow.of_acks(flow.probe.acks_delivered)),
    count("total_ack_bytes_l3", "B", Less, "IP bytes of these acknowledgments", |flow| flow.of_acks(flow.probe.ack_bytes)),
    number("mean_data_per_ack_l4", "packets", Neither, "`total_data_packets_l4` / `total_acks_sent_l4`", |flow| flow.data_per_ack()),
    number("mean_ack_burst_l4", "packets", Less, "mean length of runs of ACKs at the sender. In a run, ACKs are closer than half of the transmission time of a full packet on the slowest forward link, or at the PHY rate of a cell (Mogul, SIGCOMM 1992, §3.2)", |flow| flow.probe.bursts.lengths.mean()),
    count("max_ack_burst_l4", "packets", Less, "maximum length of these runs", |flow| flow.of_acks(flow.probe.bursts.longest)),
    number("mean_feedback_age_l4", "ms", Less, "mean over ACKs at the sender: time since the arrival of the newest data that the receiver had received before it sent the ACK", |flow| ms(flow.probe.feedback_age.mean())),
    number("mean_bottleneck_utilization_l1", "", Neither, "utilization of the slowest hop on the path of its data, by the rule of `limited_by`: over the window, for a link `mean_utilization_l1`, for a cell the share of its used airtime; or the share of the flow's own bytes while it was active, if that is more", |flow| Some(flow.use_of_hop()?.0)),
    number("mean_return_utilization_l1", "", Less, "`total_ack_bytes_l3` as a rate / mean rate of the slowest hop on the return path, for a Wi-Fi cell its capacity for packets without payload; without link overhead", |flow| flow.return_utilization()),
    number("mean_return_wait_l4", "ms", Less, "`mean_feedback_age_l4` − configured propagation delay of the path of the ACKs; at least zero", |flow| flow.return_wait_ms()),
    number("share_application_limited_l4", "", Neither, "share of the time in which all data written by the application were sent; for the kernel's TCP, without data outstanding", |flow| flow.share_limited(LimitingFactor::Application)),
    number("share_send_buffer_limited_l4", "", Neither, "share of the time in which the send buffer was full of sent bytes", |flow| flow.share_limited(LimitingFactor::SendBuffer)),
    number("share_receive_window_limited_l4", "", Neither, "share of the time in which the peer's flow control blocked the next bytes", |flow| flow.share_limited(LimitingFactor::ReceiveWindow)),
    number("share_window_limited_l4", "", Neither, "share of the time in which the congestion window blocked them; for the kernel's TCP including the time of pacing, which it does not report separately", |flow| flow.share_limited(LimitingFactor::Window)),
    number("share_pacing_limited_l4", "", Neither, "share of the time in which pacing blocked them", |flow| flow.share_limited(LimitingFactor::Pacing)),
    count("total_lost_l4", "packets", Less, "for transports that do not repair losses: skipped sequence numbers in the window, minus late arrivals in it; at least zero", |flow| flow.lost()),
    number("share_lost_l4", "", Less, "`total_lost_l4` / (`total_lost_l4` + packets that arrived for the first time)", |flow| flow.share_lost()),
    count("total_reordered_l4", "packets", Neither, "for these transports: packets that arrived after a packet sent later (RFC 4737, §3.3)", |flow| flow.of_lossy(counter::REORDERED_PACKETS)),
    count("total_duplicates_l4", "packets", Neither, "for these transports: packets that arrived before", |flow| flow.of_lossy(counter::DUPLICATE_PACKETS)),
    number("rebuffering_ratio_l7", "", Less, "for played video: time in stalls / time since the start of playback, including stalls", |flow| flow.share_played(player::counter::STALL_TIME, player::counter::PLAYBACK_TIME)),
    count("total_stalls_l7", "", Less, "stalls of playback", |flow| flow.receiver_count(player::counter::STALLS)),
    count("total_frames_l7", "", Neither, "displayed frames of a video", |flow| flow.receiver_count(player::counter::FRAMES)),
    count("total_damaged_frames_l7", "", Less, "displayed frames with missing parts", |flow| flow.receiver_count(player::counter::DAMAGED_FRAMES)),
    count("total_macroblocking_l7", "", Less, "runs of displayed frames with artefacts: from a damaged frame up to a key frame or the end of intra refresh", |flow| flow.receiver_count(player::counter::MACROBLOCKING)),
    number("share_macroblocking_l7", "", Less, "displayed frames with artefacts / displayed frames", |flow| flow.share_played(player::counter::FRAMES_WITH_ARTEFACTS, player::counter::FRAMES)),
    number("last_jitter_l4", "ms", Less, "interarrival jitter at the window's end (RFC 3550, §6.4.1), as in iperf3", |flow| ms(flow.receiver()?.gauge(counter::JITTER))),
];
