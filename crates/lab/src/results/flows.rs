//! The table of flows.

use crate::build::FlowPlan;
use crate::probe::{FlowProbe, TcpTotals, Totals, UdpTotals};
use crate::table::Table;
use acklab_base::Instant;
use acklab_transport::tcp::Config as TcpConfig;

/// One flow's window.
pub(super) struct FlowResult<'a> {
    plan: &'a FlowPlan,
    pub(super) probe: &'a FlowProbe,
    pub(super) totals: Totals,
    start: f64,
    stop: f64,
    /// Seconds of the window in which the flow was active.
    active: f64,
}

impl<'a> FlowResult<'a> {
    pub(super) fn new(probe: &'a FlowProbe, plan: &'a FlowPlan, totals: Totals, from: Instant, until: Instant) -> Self {
        let start = Instant::ZERO + plan.flow.start;
        let stop = plan.flow.stop.map_or(until, |stop| Instant::ZERO + stop);
        let last = probe.completed.unwrap_or(stop).min(stop).min(until);
        Self {
            plan,
            probe,
            totals,
            start: start.as_secs_f64(),
            stop: stop.as_secs_f64(),
            active: last.since(start.max(from)).as_secs_f64(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.plan.flow.name
    }

    /// Megabits per second, from octets in the window.
    fn rate(&self, octets: u64) -> Option<f64> {
        (self.active > 0.0).then(|| octets as f64 * 8.0 / 1e6 / self.active)
    }

    fn segments(&self, octets: Option<f64>) -> Option<f64> {
        octets.map(|octets| octets / self.plan.payload as f64)
    }

    pub(super) fn in_flight(&self) -> Option<f64> {
        self.segments(self.probe.in_flight.mean())
    }

    pub(super) fn srtt(&self) -> Option<f64> {
        ms(self.probe.srtt.mean())
    }

    pub(super) fn throughput(&self) -> Option<f64> {
        self.rate(self.totals.received)
    }

    fn completion_time(&self) -> f64 {
        self.probe.completed.map_or(self.stop, Instant::as_secs_f64) - self.start
    }

    fn recovery_time_ms(&self) -> Option<f64> {
        let sender = &self.totals.tcp()?.sender;
        (sender.recoveries > 0).then(|| sender.recovery_time.as_millis_f64() / sender.recoveries as f64)
    }

    fn utilization_bw(&self) -> Option<f64> {
        Some(self.throughput()? * 1e6 / self.plan.bottleneck?)
    }

    fn utilization_bdp(&self) -> Option<f64> {
        Some(self.in_flight()? / self.plan.bdp_segments()?)
    }

    fn return_utilization(&self) -> Option<f64> {
        self.totals.tcp()?;
        Some(self.rate(self.probe.ack_bytes)? * 1e6 / self.plan.return_bottleneck?)
    }

    fn data_per_ack(&self) -> Option<f64> {
        let acks_sent = self.totals.tcp()?.acks_sent;
        (acks_sent > 0).then(|| self.totals.sent as f64 / acks_sent as f64)
    }
}

fn ms(nanos: Option<f64>) -> Option<f64> {
    nanos.map(|nanos| nanos / 1e6)
}

/// One row a flow. What has no meaning for its transport is null.
pub(super) fn table(flows: &[FlowResult<'_>]) -> Table {
    let text = |of: fn(&FlowResult<'_>) -> String| flows.iter().map(of).collect::<Vec<_>>();
    let of_tcp = |of: fn(&TcpConfig) -> &str| {
        flows.iter().map(|flow| flow.plan.tcp.as_ref().map(|tcp| of(tcp).to_owned())).collect::<Vec<_>>()
    };
    let number = |of: fn(&FlowResult<'_>) -> Option<f64>| flows.iter().map(of).collect::<Vec<_>>();
    let count = |of: fn(&FlowResult<'_>) -> u64| flows.iter().map(of).collect::<Vec<_>>();
    let tcp_count = |of: fn(&TcpTotals) -> u64| flows.iter().map(|flow| flow.totals.tcp().map(of)).collect::<Vec<_>>();
    let ack_count = |of: fn(&FlowProbe) -> u64| {
        flows.iter().map(|flow| flow.totals.tcp().map(|_| of(flow.probe))).collect::<Vec<_>>()
    };
    let udp_count = |of: fn(&UdpTotals) -> u64| flows.iter().map(|flow| flow.totals.udp().map(of)).collect::<Vec<_>>();
    Table::new("flows")
        .text("flow", text(|flow| flow.name().to_owned()))
        .text("src", text(|flow| flow.plan.flow.from.clone()))
        .text("dst", text(|flow| flow.plan.flow.to.clone()))
        .text("transport_protocol", text(|flow| flow.plan.flow.transport.name().to_owned()))
        .text("preset", flows.iter().map(|flow| flow.plan.flow.preset().map(|preset| preset.name().to_owned())))
        .text("cca", of_tcp(|tcp| tcp.congestion.name()))
        .text("cc_recovery_alg", of_tcp(|tcp| tcp.recovery.name()))
        .text("ack_policy", of_tcp(|tcp| tcp.ack.name()))
        .text("traffic_model", text(|flow| flow.plan.flow.traffic.label()))
        .number("start_time", "s", number(|flow| Some(flow.start)))
        .number("stop_time", "s", number(|flow| Some(flow.stop)))
        .number("cov_in_flight_l4", "", number(|flow| flow.probe.in_flight.variation()))
        .number("cov_throughput_l4", "", number(|flow| flow.probe.throughput.rates.variation()))
        .number("flow_completion_time_l4", "s", number(|flow| Some(flow.completion_time())))
        .number("mean_cwnd_l4", "segments", number(|flow| flow.segments(flow.probe.cwnd.mean())))
        .number("mean_delivery_rate_l4", "Mbps", number(|flow| flow.rate(flow.totals.tcp()?.sender.delivered)))
        .number(
            "mean_est_qdelay_l4",
            "ms",
            number(|flow| flow.srtt().map(|srtt| srtt - flow.plan.base_rtt.as_millis_f64())),
        )
        .number("mean_idt_ewma_l4", "ms", number(|flow| ms(flow.probe.idt_ewma.mean())))
        .number("mean_in_flight_l4", "segments", number(|flow| flow.in_flight()))
        .number("mean_network_power_l4", "Mbps/s", number(|flow| flow.probe.throughput.power.mean()))
        .number("mean_one_way_delay_l4", "ms", number(|flow| ms(flow.probe.one_way_delay.mean())))
        .number("mean_one_way_delay_l7", "ms", number(|flow| flow.probe.application_delay.mean_ms()))
        .number("mean_recovery_time_l4", "ms", number(|flow| flow.recovery_time_ms()))
        .number("mean_rtt_l4", "ms", number(|flow| ms(flow.probe.rtt.mean())))
        .number("mean_sending_rate_l4", "Mbps", number(|flow| flow.rate(flow.totals.sent_bytes)))
        .number("mean_sending_rate_l7", "Mbps", number(|flow| flow.rate(flow.totals.written)))
        .number("mean_srtt_l4", "ms", number(|flow| flow.srtt()))
        .number("mean_throughput_l4", "Mbps", number(|flow| flow.throughput()))
        .number("mean_throughput_l7", "Mbps", number(|flow| flow.rate(flow.totals.delivered)))
        .number("mean_utility_mpdf_l4", "", number(|flow| flow.probe.throughput.utility_mpdf.mean()))
        .number("mean_utility_pf_l4", "", number(|flow| flow.probe.throughput.utility_pf.mean()))
        .number("mean_utilization_bdp_l4", "", number(|flow| flow.utilization_bdp()))
        .number("mean_utilization_bw_l4", "", number(|flow| flow.utilization_bw()))
        .count("total_retransmissions_l4", "packets", tcp_count(|totals| totals.sender.retransmissions))
        .count("total_rtos_l4", "", tcp_count(|totals| totals.sender.timeouts))
        .count("total_tail_loss_probes_l4", "", tcp_count(|totals| totals.sender.tail_loss_probes))
        .count("total_undone_reductions_l4", "", tcp_count(|totals| totals.sender.undone))
        .count("total_data_packets_l4", "packets", count(|flow| flow.totals.sent))
        .count("total_delivered_bytes_l7", "B", count(|flow| flow.totals.delivered))
        .count("total_drops_l2", "packets", count(|flow| flow.probe.drops))
        .count("total_ack_drops_l2", "packets", ack_count(|probe| probe.ack_drops))
        .count("total_marked_l4", "packets", tcp_count(|totals| totals.marked))
        .count("total_marked_bytes_l4", "B", tcp_count(|totals| totals.sender.marked_bytes))
        .count("total_mark_reductions_l4", "", tcp_count(|totals| totals.sender.mark_reductions))
        .count("total_acks_sent_l4", "packets", tcp_count(|totals| totals.acks_sent))
        .count("total_acks_delivered_l4", "packets", ack_count(|probe| probe.acks_delivered))
        .count("total_ack_bytes_l3", "B", ack_count(|probe| probe.ack_bytes))
        .number("mean_data_per_ack_l4", "packets", number(|flow| flow.data_per_ack()))
        .number("mean_ack_burst_l4", "packets", number(|flow| flow.probe.bursts.lengths.mean()))
        .count("max_ack_burst_l4", "packets", ack_count(|probe| probe.bursts.longest))
        .number("mean_feedback_age_l4", "ms", number(|flow| ms(flow.probe.feedback_age.mean())))
        .number("mean_return_utilization_l1", "", number(|flow| flow.return_utilization()))
        .count("total_lost_l4", "packets", udp_count(|totals| totals.receiver.lost()))
        .number("share_lost_l4", "", number(|flow| flow.totals.udp()?.share_lost()))
        .count("total_reordered_l4", "packets", udp_count(|totals| totals.receiver.reordered))
        .count("total_duplicates_l4", "packets", udp_count(|totals| totals.receiver.duplicates))
        .number("last_jitter_l4", "ms", number(|flow| ms(flow.totals.udp()?.jitter)))
}
