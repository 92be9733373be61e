"""The short answer to a run, as a terminal shows it."""

import io
import json
import time
from pathlib import Path

import pyarrow as pa
from rich.console import Console

from acklab import run
from acklab.answer import answer_table, answer_tables, answers, together
from acklab.cli.run import show
from acklab.files import visible
from acklab.provenance import Provenance
from acklab.report import write_report
from acklab.result import Result
from acklab.tables import Table, tables_of
from acklab.terminal import _drawn, _parts, _plain, show_table
from commands import ROOT, acklab

EXPERIMENT = ROOT / "studies" / "ack_compression" / "experiment_55.toml"
FLOW = {
    "flow": "down",
    "src": "server",
    "dst": "home",
    "transport_protocol": "tcp",
    "cca": "cubic",
    "ack_policy": "linux",
    "bottleneck": "btl_forward",
    "return_bottleneck": "btl_reverse",
    "limited_by": "rate",
    "bottleneck_capacity_l2": 20.0,
    "empty_path_rtt_l4": 40.0,
    "mean_throughput_l4": 15.1,
    "mean_throughput_l7": 15.0,
    "mean_srtt_l4": 62.5,
    "mean_return_wait_l4": 1.5,
    "total_acks_sent_l4": 1000,
    "total_acks_delivered_l4": 990,
    "mean_data_per_ack_l4": 2.0,
    "total_data_packets_l4": 2000,
    "total_retransmissions_l4": 20,
    "total_rtos_l4": 1,
    "share_application_limited_l4": 0.25,
}
LINKS = [{"link": "btl_forward", "mean_utilization_l1": 0.97}, {"link": "btl_reverse", "mean_utilization_l1": 0.99}]


def result(*flows):
    tables = {"flows": pa.Table.from_pylist(list(flows)), "links": pa.Table.from_pylist(LINKS)}
    return Result(tables, Provenance({}, 1, "", "", ""))


def limit(**change):
    return answers(result(FLOW | change))[0].lines[4]


def test_five_lines_say_what_became_of_a_flow():
    (answer,) = answers(result(FLOW))
    assert answer.kind == "server → home  tcp, cubic, ACKs by linux"
    lines = {line.name: (line.value, line.detail) for line in answer.lines}
    assert lines == {
        "goodput": ("15 Mbps", "75% of btl_forward (20 Mbps)"),
        "RTT": ("62.50 ms", "empty path 40 ms"),
        "ACKs": ("1,000", "one for 2.00 data packets, 990 arrived"),
        "retransmissions": ("20", "1.0% of the packets, 1 timeout"),
        "limited by": ("rate", "btl_forward was 97% busy"),
    }


def test_each_limit_has_the_number_behind_it():
    assert limit(limited_by="contention").detail == "btl_forward was 97% busy, shared with other flows"
    assert limit(limited_by="application").detail == "25% of the time"
    assert limit(limited_by="return path").detail == "btl_reverse was 99% busy, ACKs wait 1.50 ms there"
    assert limit(limited_by=None).value == "–"


def test_a_short_transfer_is_told_the_use_while_it_lasted():
    # 5 MB at 16 Mbps take 2.5 s of 20 s. Over the whole window, the flow uses an eighth of the
    # link.
    change = {"duration": "20s", "measure.from": "0s", "flow.0.traffic": {"model": "fixed", "size": "5MB"}, "flow.0.stop": ""}
    done = run(EXPERIMENT, set={**change, "link.btl.forward.queue.limit": "1000packets", "link.btl.reverse.gate": ""})
    assert done.links["mean_utilization_l1"][0] < 0.2
    line = answers(done)[0].lines[4]
    assert line.value == "rate"
    assert int(line.detail.split("was ")[1].split("%")[0]) >= 95


def test_a_run_without_flows_says_so(capsys):
    show(Result({"flows": pa.table({"flow": pa.array([], pa.string())})}, Provenance({}, 1, "", "", "")))
    assert "found no flow and no connection of a program" in capsys.readouterr().out


def test_a_notebook_shows_the_short_answer_first():
    shown = result(FLOW)._repr_html_()
    assert shown.index("limited by") < shown.index("mean_srtt_l4")
    assert shown.count("<details open>") == 1


def test_a_page_has_the_lines_of_each_flow_or_a_table_of_many():
    (table,) = answer_tables(result(FLOW))
    assert table.caption == "down  server → home  tcp, cubic, ACKs by linux"
    assert ["limited by", "rate", "btl_forward was 97% busy"] in table.rows
    many = answer_tables(result(*(FLOW | {"flow": f"down_{number}"} for number in range(9))))
    assert [len(table.rows) for table in many] == [9]


def test_flows_that_do_not_acknowledge_or_ended_badly_say_so():
    call = {"flow": "call", "mean_throughput_l7": 0.064, "mean_one_way_delay_l4": 12.0, "p95_one_way_delay_l4": 15.0}
    lines = {line.name: line.value for line in answers(result(call | {"total_lost_l4": 3, "share_lost_l4": 0.02}))[0].lines}
    assert lines["one-way delay"] == "12 ms"
    assert (lines["ACKs"], lines["lost"]) == ("none", "3")
    state = answers(result(FLOW | {"ending": "refused", "ending_time": 0.5}))[0].lines[-1]
    assert (state.name, state.value, state.detail) == ("state", "refused", "since 0.50 s")


def test_many_flows_share_a_table_and_older_results_have_answers():
    table = answer_table(result(*(FLOW | {"flow": f"down_{number}"} for number in range(9))))
    assert len(table.rows) == 9
    assert table.rows[0][-1] == "rate"
    old = Result({"flows": pa.table({"flow": ["a"], "mean_throughput_l4": [3.0]})}, Provenance({}, 1, "", "", ""))
    assert answers(old)[0].lines[0].value == "3 Mbps"
    assert together(old) == ""


def test_a_narrow_terminal_gets_a_wide_table_in_parts_that_cut_nothing():
    head = ["flow", *(f"mean_throughput_l{number} [Mbps]" for number in range(1, 8))]
    table = Table(head, [["down", *("1.23" for _ in range(7))]], "A table")
    parts = _parts(table, 80)
    assert len(parts) > 1
    assert all(part.head[0] == "flow" for part in parts)
    assert [name for part in parts for name in part.head[1:]] == head[1:]
    assert all(sum(map(len, part.head)) + 2 * (len(part.head) - 1) <= 80 for part in parts)
    assert _parts(table, 400) == [table]


def test_what_a_terminal_would_obey_is_shown():
    assert visible("a\x1b[31m\x07b\nc") == "a\\x1b[31m\\x07b\\x0ac"
    assert visible("a\n\tb\x9b", lines=True) == "a\n\tb\\x9b"


def test_a_title_cannot_write_to_the_terminal(tmp_path: Path):
    words = [
        "run",
        EXPERIMENT,
        "--set",
        "duration=1s",
        "--set",
        "flow.0.stop=1s",
        "--set",
        'title="\\u001b]0;x\\u0007 \\u001b[2J"',
    ]
    done = acklab(*words, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "\\x1b[2J" in done.stdout


def test_all_metrics_and_some_of_them_are_shown_on_demand():
    words = ["run", EXPERIMENT, "--set", "duration=1s", "--set", "flow.0.stop=1s"]
    assert "mean_srtt_l4" not in acklab(*words).stdout
    assert "mean_srtt_l4" in acklab(*words, "--all").stdout
    some = acklab(*words, "--only", "mean_srtt_l4,mean_qdisc_length_l2").stdout
    assert "mean_srtt_l4 [ms]" in some
    assert "mean_qdisc_length_l2 [packets]" in some
    assert "total_rtos_l4" not in some
    unknown = acklab(*words, "--only", "mean_srt_l4")
    assert unknown.returncode == 2
    assert "found 'mean_srt_l4', expected a column such as mean_srtt_l4" in unknown.stderr
    assert unknown.stdout == ""


def test_json_has_the_chosen_columns(tmp_path: Path):
    words = ["run", EXPERIMENT, "--set", "duration=1s", "--set", "flow.0.stop=1s", "--out", tmp_path / "out"]
    chosen = ["--only", "mean_srtt_l4,agg_throughput_l4", "--json"]
    ran = json.loads(acklab(*words, *chosen).stdout)
    assert set(ran) == {"scenario", "seed", "revision", "command", "flows", "network"}
    assert [set(row) for row in ran["flows"]] == [{"flow", "mean_srtt_l4"}]
    assert set(ran["network"]) == {"flows", "mean_srtt_l4", "agg_throughput_l4"}
    assert json.loads(acklab("show", tmp_path / "out", *chosen).stdout) == ran
    unknown = acklab("show", tmp_path / "out", "--only", "nonsense", "--json")
    assert "--only: found 'nonsense'" in unknown.stderr


def test_what_cannot_work_is_found_before_the_run(tmp_path: Path):
    (tmp_path / "mine.py").write_text(
        "import acklab\nclass Mine(acklab.AckPolicy):\n    def decide(self, now, arrival, ledger):\n        return acklab.Now('x')\n"
    )
    unused = acklab("run", EXPERIMENT, "--strategy", f"{tmp_path / 'mine.py'}:Mine")
    assert unused.returncode == 2
    assert "strategy 'Mine': no flow of the scenario names it" in unused.stderr
    grid = ["--grid", "flow.0.congestion=newreno,cubic", "--out", tmp_path / "swept"]
    unused = acklab("sweep", EXPERIMENT, *grid, "--strategy", f"{tmp_path / 'mine.py'}:Mine")
    assert unused.returncode == 2
    assert "strategy 'Mine': no flow of the scenario names it" in unused.stderr
    assert not (tmp_path / "swept").exists(), "nothing was run"
    used = acklab(
        *("sweep", EXPERIMENT, "--strategy", f"{tmp_path / 'mine.py'}:Mine", "--set", "duration=1s", "--set", "flow.0.stop=1s"),
        *("--grid", 'flow.0.ack={policy="custom", name="Mine"},{policy="per-packet"}', "--out", tmp_path / "swept"),
    )
    assert used.returncode == 0, used.stderr
    (tmp_path / "file").write_text("")
    kept = acklab("run", EXPERIMENT, "--out", tmp_path / "file" / "out")
    assert kept.returncode == 1
    assert "cannot be written" in kept.stderr
    assert kept.stdout == "", "nothing was run"


def test_check_says_what_a_scenario_lacks():
    good = acklab("check", EXPERIMENT)
    unlimited = acklab("check", EXPERIMENT, "--set", "link.btl.forward.queue=")
    assert "btl_forward: the queue has no limit" not in good.stderr
    assert "btl_forward: the queue has no limit" in unlimited.stderr
    silent = acklab("check", EXPERIMENT, "--set", "flow.0.ack={policy='byte-counting', segments=4}")
    assert "the ACK policy has no timer" in silent.stderr


def test_sweeps_are_compared_seed_by_seed(tmp_path: Path):
    words = [
        "sweep",
        EXPERIMENT,
        "--seeds",
        3,
        "--vary",
        "flow.0.start=0ms..1s",
        "--set",
        "duration=3s",
        "--set",
        "flow.0.stop=3s",
    ]
    grid = ["--grid", "flow.0.congestion=newreno,cubic", "--grid", "title=a,b"]
    done = acklab(*words, *grid, "--out", tmp_path / "one")
    assert done.returncode == 0, done.stderr
    assert "title has no effect" in done.stderr
    assert "the values of flow.0.congestion" not in done.stderr
    within = acklab("compare", tmp_path / "one", "--relative-to", "congestion=newreno", "--only", "mean_throughput_l7")
    assert within.returncode == 0, within.stderr
    rows = [line.split() for line in within.stdout.splitlines() if line.startswith(("a ", "b "))]
    assert [row[1] for row in rows] == ["newreno", "newreno", "cubic", "cubic"] or [row[1] for row in rows] == [
        "newreno",
        "cubic",
    ] * 2
    assert "…" in within.stdout, "the ratio has an interval"
    both = acklab("compare", tmp_path / "one", tmp_path / "one", "--only", "mean_srtt_l4")
    assert both.returncode == 2 or "1.000 (1.000 … 1.000)" in both.stdout
    unknown = acklab("compare", tmp_path / "one", "--relative-to", "congestion=vegas")
    assert "found 'vegas', expected one of newreno, cubic" in unknown.stderr


def test_figures_of_a_run_are_listed_and_drawn(tmp_path: Path):
    series = "measure.series=['operating_point', 'throughput', 'queue', 'events', 'decisions', 'packets']"
    words = ["run", EXPERIMENT, "--set", series, "--set", "duration=2s", "--set", "flow.0.stop=2s", "--out", tmp_path / "run"]
    assert acklab(*words).returncode == 0
    listed = [line.split()[0] for line in acklab("plot", tmp_path / "run", "--list").stdout.splitlines()]
    assert {"operating-point", "queues", "acks", "decisions", "events", "packets", "means", "limits"} <= set(listed)
    drawn = acklab("plot", tmp_path / "run", "queues", "--out", tmp_path / "queues.html")
    assert drawn.returncode == 0, drawn.stderr
    assert "plotly" in (tmp_path / "queues.html").read_text(encoding="utf-8")
    wrong = acklab("plot", tmp_path / "run", "queue")
    assert "found the figure 'queue', expected one of: " in wrong.stderr
    several = acklab("plot", tmp_path / "run", "--out", tmp_path / "all.html")
    assert "figures for one file" in several.stderr


def test_chosen_runs_share_a_report(tmp_path: Path):
    for name in ("newreno", "cubic"):
        words = ["run", EXPERIMENT, "--set", f"flow.0.congestion={name}", "--set", "duration=2s", "--set", "flow.0.stop=2s"]
        assert acklab(*words, "--out", tmp_path / name).returncode == 0
    missing = acklab("report", tmp_path / "newreno", tmp_path / "cubic")
    assert "expected --out FILE.html" in missing.stderr
    done = acklab("report", tmp_path / "newreno", tmp_path / "cubic", "--out", tmp_path / "both.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert page.index("Comparison") < page.index("newreno: ")
    assert "/ newreno" in page


def test_a_report_of_a_run_without_flows_and_of_hostile_names(tmp_path: Path):
    name = "<!--<script>"
    flows = pa.Table.from_pylist([FLOW | {"flow": name}])
    hostile = Result({"flows": flows, "links": pa.Table.from_pylist(LINKS)}, Provenance({"title": name}, 1, "r", "v", "c"))
    hostile.save(tmp_path / "hostile")
    empty = Result({"flows": flows.slice(0, 0), "links": pa.Table.from_pylist(LINKS)}, Provenance({}, 1, "r", "v", "c"))
    empty.save(tmp_path / "empty")
    page = write_report(tmp_path / "hostile").read_text(encoding="utf-8")
    # The script of the page follows the last figure. "<!--<script" within an element would hide
    # everything after it.
    assert name not in page
    assert json.dumps(name)[1:-1].replace("<", "\\u003c") in page
    assert "<html" in write_report(tmp_path / "empty").read_text(encoding="utf-8")


def rows(count):
    return [[f"l{number}_forward", f"{number / 7:.2f}", "–", "many" if number % 3 else "a few"] for number in range(count)]


MANY_ROWS = Table(["link", "mean_delay [ms]", "max", "word"], rows(200), "Links", text=frozenset({3}))


def test_long_tables_have_the_lines_of_short_ones():
    file = io.StringIO()
    Console(width=160, file=file, no_color=True).print(_drawn(MANY_ROWS))
    drawn = file.getvalue().splitlines()
    assert [line.rstrip() for line in drawn] == _plain(MANY_ROWS).splitlines()


def test_ten_thousand_rows_are_written_in_a_moment(capsys):
    """Rich takes half a millisecond per row, so this table would take five seconds."""
    table = Table(MANY_ROWS.head, rows(10_000), text=MANY_ROWS.text)
    start = time.process_time()
    show_table(table)
    assert time.process_time() - start < 1.5
    assert len(capsys.readouterr().out.splitlines()) == 10_001


def test_many_links_are_told_by_the_range_of_each_metric():
    links = [
        {"link": f"l{number}", "mean_utilization_l1": number / 100, "total_qdisc_drops_l2": 0, "mean_ecn_l2": None}
        for number in range(41)
    ]
    tables = {"flows": pa.Table.from_pylist([FLOW]), "links": pa.Table.from_pylist(links)}
    shown = tables_of(Result(tables, Provenance({}, 1, "", "", "")))
    assert [table.caption for table in shown] == [
        "Flows",
        "Links, range over 41",
        "Links, per direction",
    ]
    assert shown[1].rows == [
        ["mean_utilization_l1", "", "0", "l0", "0.20", "0.40", "l40"],
        ["total_qdisc_drops_l2", "", "0", "", "0", "0", ""],
    ]
    few = {**tables, "links": pa.Table.from_pylist(links[:40])}
    assert len(tables_of(Result(few, Provenance({}, 1, "", "", "")))) == 2
