"""Which columns of the tables are metrics, which way they are better, and how their values are written."""

import math
from collections.abc import Sequence
from typing import Any

MORE, LESS = "more", "less"

_BETTER = {
    "agg_lost_l4": LESS,
    "agg_qdisc_drops_l2": LESS,
    "agg_retransmissions_l4": LESS,
    "agg_throughput_l4": MORE,
    "cov_in_flight_l4": LESS,
    "cov_throughput_l4": LESS,
    "flow_completion_time_l4": LESS,
    "jain_throughput_l4": MORE,
    "last_jitter_l4": LESS,
    "max_ack_burst_l4": LESS,
    "mean_ack_burst_l4": LESS,
    "mean_delay_l2": LESS,
    "mean_delivery_rate_l4": MORE,
    "mean_est_qdelay_l4": LESS,
    "mean_feedback_age_l4": LESS,
    "mean_idt_ewma_l4": LESS,
    "mean_mpdus_per_ppdu_l2": MORE,
    "mean_network_power_l4": MORE,
    "mean_one_way_delay_l4": LESS,
    "mean_one_way_delay_l7": LESS,
    "mean_qdisc_delay_l2": LESS,
    "mean_qdisc_length_l2": LESS,
    "mean_queue_length_l2": LESS,
    "mean_recovery_time_l4": LESS,
    "mean_return_utilization_l1": LESS,
    "mean_rtt_l4": LESS,
    "mean_srtt_l4": LESS,
    "mean_throughput_l4": MORE,
    "mean_throughput_l7": MORE,
    "mean_utility_mpdf_l4": MORE,
    "mean_utility_pf_l4": MORE,
    "mean_utilization_bw_l4": MORE,
    "mean_utilization_l1": MORE,
    "share_first_try_l2": MORE,
    "share_lost_l4": LESS,
    "share_unanswered_l2": LESS,
    "time_mean_qdisc_length_l2": LESS,
    "total_ack_bytes_l3": LESS,
    "total_collisions_l1": LESS,
    "total_delivered_bytes_l7": MORE,
    "total_drops_l2": LESS,
    "total_expired_l2": LESS,
    "total_given_up_l2": LESS,
    "total_internal_collisions_l2": LESS,
    "total_lost_l4": LESS,
    "total_qdisc_drops_l2": LESS,
    "total_queue_drops_l2": LESS,
    "total_retransmissions_l4": LESS,
    "total_retries_l2": LESS,
    "total_rtos_l4": LESS,
    "total_rts_unanswered_l2": LESS,
    "total_unanswered_l2": LESS,
    "total_wire_losses_l1": LESS,
}

_STATISTICS = ("agg_", "cov_", "flow_completion", "jain_", "last_", "max_", "mean_", "share_", "time_mean_", "total_")


def is_metric(column: str) -> bool:
    """Whether a column is something measured rather than a name or a setting: its name begins with a statistic."""
    return column.startswith(_STATISTICS)


def name_columns(columns: Sequence[str]) -> list[str]:
    """The columns by which the rows of a table are called: the first, for nodes of Wi-Fi cells also the second; none in a table of one row."""
    if columns[:2] == ["cell", "node"]:
        return ["cell", "node"]
    return [] if is_metric(columns[0]) else [columns[0]]


def best(column: str, values: list[Any]) -> set[int]:
    """Places of the best values of a metric; none if no way is better or if all are the same."""
    better = _BETTER.get(column)
    numbers = [math.nan if value is None else float(value) for value in values]
    known = [number for number in numbers if not math.isnan(number)]
    if better is None or len(known) < 2 or min(known) == max(known):
        return set()
    wanted = max(known) if better == MORE else min(known)
    return {place for place, number in enumerate(numbers) if number == wanted}


def written(value: Any) -> str:
    """A value for a person: two decimals or four significant digits, a dash for what is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}".replace(",", "\u202f")
    size = abs(value)
    if size >= 10_000:
        return f"{value:,.0f}".replace(",", "\u202f")
    return f"{value:.2f}" if size >= 0.1 else f"{value:.3g}"
