"""A sweep stores finished points, resumes, and yields the same bytes with every executor."""

import _thread
import itertools
import signal
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import acklab
import commands
from acklab.metrics import numbers_of
from acklab.places import LocalPlace
from acklab.scenario import Source, overrides
from acklab.sweeps import PackedStore, Plan, Progress
from acklab.sweeps.estimation import Estimate
from acklab.sweeps.grid import Grid, Variation, split_values
from acklab.terminal import progress_bar

LINK = {
    "name": "btl",
    "from": "a",
    "to": "b",
    "forward": {"rate": "10Mbps", "delay": "5ms", "queue": {"discipline": "fifo", "limit": "20packets"}},
    "reverse": {"rate": "10Mbps", "delay": "5ms"},
}
GRID = {"flow.0.congestion": ["newreno", "cubic"], "link.reverse.gate.interval": ["1ms", "5ms", "10ms"]}


def tables(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def test_every_point_is_run_once_and_never_again(fake, scenario, tmp_path):
    out = tmp_path / "out"
    acklab.sweep(scenario, grid=GRID, seeds=2, out=out, quiet=True)
    assert fake.runs == 12
    acklab.sweep(scenario, grid=GRID, seeds=3, out=out, quiet=True)
    assert fake.runs == 18


def test_tables_are_the_same_to_the_octet_for_any_number_of_jobs(fake, scenario, tmp_path):
    for jobs in (1, 2, 7):
        acklab.sweep(scenario, grid=GRID, seeds=3, out=tmp_path / str(jobs), jobs=jobs, quiet=True)
    assert tables(tmp_path / "1") == tables(tmp_path / "2") == tables(tmp_path / "7")
    assert set(tables(tmp_path / "1")) == {"flows.parquet", "links.parquet", "network.parquet", "points.parquet"}


def test_rows_follow_the_order_of_the_grid(fake, scenario, tmp_path):
    result = acklab.sweep(scenario, grid=GRID, seeds=2, out=tmp_path / "out", quiet=True)
    assert result.columns == {"flow.0.congestion": "congestion", "link.reverse.gate.interval": "interval"}
    rows = result.flows.select("congestion", "interval", "seed").rows()
    assert rows == list(itertools.product(["newreno", "cubic"], [1, 5, 10], [42, 43]))
    assert result.query("select count(*) as n from flows where congestion = 'cubic'")["n"].item() == 6


def test_a_failed_point_leaves_the_others_and_tells_how_to_repeat_it(fake, scenario, tmp_path):
    result = acklab.sweep(scenario, grid={"fail": [False, True]}, out=tmp_path / "out", quiet=True)
    assert result.flows["point"].to_list() == [0]
    ((command, message),) = result.failures
    assert command == f"acklab run {scenario} --set fail=true --seed 42"
    assert "asked to" in message
    assert acklab.load_sweep(tmp_path / "out") == result


def test_a_point_that_makes_no_sense_is_refused_before_anything_runs(fake, scenario, tmp_path):
    with pytest.raises(acklab.ScenarioError, match="duration"):
        acklab.sweep(scenario, grid={"duration": ["1s", "x"]}, out=tmp_path / "out", quiet=True)
    assert fake.runs == 0


def test_ctrl_c_keeps_what_is_done_and_the_next_sweep_resumes(fake, scenario, tmp_path):
    out = tmp_path / "out"
    grid = {"sleep": [0, 0.01, 60, 61]}

    def interrupt_after_two() -> None:
        while len(list(out.glob("points/*.json"))) < 2:
            time.sleep(0.02)
        time.sleep(0.2)
        _thread.interrupt_main()

    # If a shell runs the tests in the background, they ignore Ctrl-C.
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt_after_two, daemon=True).start()
    try:
        with pytest.raises(acklab.Cancelled, match="2 of 4 points are stored"):
            acklab.sweep(scenario, grid=grid, out=out, jobs=2, quiet=True)
    finally:
        signal.signal(signal.SIGINT, ignored)
    assert len(PackedStore(LocalPlace(out)).done()) == 2
    before = fake.runs
    acklab.sweep(scenario, grid={"sleep": [0, 0.01, 0.02]}, out=out, quiet=True)
    assert fake.runs == before + 1


@pytest.mark.parametrize(
    "damage",
    [lambda octets: octets[:100], lambda octets: b"", lambda octets: octets[:4] + b"\0" * (len(octets) - 8) + octets[-4:]],
    ids=["cut off", "emptied", "overwritten"],
)
def test_a_damaged_point_is_run_again(fake, scenario, tmp_path, damage):
    out = tmp_path / "out"
    acklab.sweep(scenario, grid=GRID, out=out, quiet=True)
    before, runs = tables(out), fake.runs
    victim = sorted(out.glob("points/*.flows.parquet"))[0]
    victim.write_bytes(damage(victim.read_bytes()))
    acklab.sweep(scenario, grid=GRID, out=out, quiet=True)
    assert fake.runs == runs, "the tables are whole, and no one needs the points"
    (out / "sweep.json").unlink()
    acklab.sweep(scenario, grid=GRID, out=out, quiet=True)
    assert fake.runs == runs + 6
    assert tables(out) == before


def test_two_sweeps_into_one_folder_at_once_both_finish(fake, scenario, tmp_path):
    grid = GRID | {"sleep": [0.0, 0.01]}
    failures = []

    def work():
        try:
            assert acklab.sweep(scenario, grid=grid, out=tmp_path / "out", quiet=True).failures == ()
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    assert acklab.load_sweep(tmp_path / "out").flows.height == 12


def test_a_smaller_sweep_says_that_it_replaces_tables(fake, scenario, tmp_path):
    out = tmp_path / "out"
    assert acklab.sweep(scenario, grid=GRID, out=out, quiet=True).replaced == 0
    smaller = acklab.sweep(scenario, grid={"flow.0.congestion": ["newreno"]}, out=out, quiet=True)
    assert smaller.replaced == 6, "a point of the first sweep names its interval too, so none of its six is among these"
    runs = fake.runs
    assert acklab.sweep(scenario, grid=GRID, out=out, quiet=True).replaced == 1
    assert fake.runs == runs, "the points of the first sweep were kept"


def test_the_summary_has_a_row_for_each_combination_and_the_interval_over_seeds(fake, scenario, tmp_path):
    result = acklab.sweep(scenario, grid=GRID, seeds=3, out=tmp_path / "out", quiet=True)
    frame = result.summary()
    assert frame.select("congestion", "interval").rows() == list(itertools.product(["newreno", "cubic"], [1, 5, 10]))
    first = result.flows.head(3)["mean_srtt_l4"].to_numpy()
    assert frame["mean_srtt_l4_mean"][0] == pytest.approx(first.mean())
    # Student's t with two degrees of freedom, 95 %: 4.3027 in every table of it.
    assert frame["mean_srtt_l4_high"][0] - first.mean() == pytest.approx(4.3027 * first.std(ddof=1) / 3**0.5, rel=1e-4)
    assert "± " in result.summary_table().rows[0][-1]
    assert "2 × 3" not in repr(result)
    assert "6 points" not in repr(result)
    assert "18 points" in repr(result)
    assert "<table>" in result._repr_html_()


def test_values_drawn_by_seed_leave_the_first_seed_as_written(fake, scenario, tmp_path):
    result = acklab.sweep(scenario, seeds=3, vary={"flow.0.start": "0ms..5ms"}, out=tmp_path / "out", quiet=True)
    starts = {result.result(point).scenario["flow"][0]["start"] for point in range(3)}
    assert starts == {"0s", *(Variation.parse("flow.0.start", "0ms..5ms").draw(seed) for seed in (43, 44))}


def test_grid_columns_are_short_but_never_ambiguous():
    grid = Grid.of({"link.1.forward.rate": ["1Mbps"], "link.1.reverse.rate": ["1Mbps"], "flow.0.preset": ["rfc"], "x": [1]})
    assert grid.columns({"preset"}) == {
        "link.1.forward.rate": "forward_rate",
        "link.1.reverse.rate": "reverse_rate",
        "flow.0.preset": "flow_preset",
        "x": "x",
    }


def test_values_split_at_commas_outside_brackets():
    assert split_values('a,{x = 1, y = "b,c"},[1,2]') == ["a", '{x = 1, y = "b,c"}', "[1,2]"]


COLUMN = pd.Series([5, 6], index=["a", "b"])


@pytest.mark.parametrize(
    ("given", "seeds"),
    [
        (np.int64(2), (42, 43)),
        (np.arange(3), (0, 1, 2)),
        (range(5, 7), (5, 6)),
        ((seed for seed in (5, 6)), (5, 6)),
        (COLUMN, (5, 6)),
        (pl.Series([5, 6]), (5, 6)),
        ((np.uint8(5), 6), (5, 6)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_seeds_are_any_list_of_whole_numbers(fake, scenario, tmp_path, given, seeds):
    result = acklab.sweep(scenario, seeds=given, jobs=np.int8(2), out=tmp_path / "out", quiet=True)
    assert result.seeds == seeds
    assert {type(seed) for seed in result.seeds} == {int}
    assert acklab.load_sweep(tmp_path / "out").seeds == seeds


@pytest.mark.parametrize(
    ("given", "choices"),
    [
        (np.array([5, 6]), ("5", "6")),
        (np.array([0.5, 1.5]), ("0.5", "1.5")),
        (np.array([True, False]), ("true", "false")),
        (np.array(["cubic", "bbr"]), ("cubic", "bbr")),
        (np.linspace(1, 2, 2), ("1.0", "2.0")),
        (range(5, 7), ("5", "6")),
        ((number for number in (5, 6)), ("5", "6")),
        (COLUMN, ("5", "6")),
        (pl.Series(["cubic", "bbr"]), ("cubic", "bbr")),
        ([np.float64(1.5), np.array([1, 2]), [np.int8(3)], {"a": np.bool_(1)}], ("1.5", "[1, 2]", "[3]", "{a = true}")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_choices_of_a_grid_are_any_list_of_values(given, choices):
    assert Grid.of({"flow.0.x": given}).values == {"flow.0.x": choices}


def test_overrides_hold_numbers_of_numpy():
    given = {"a": np.int64(3), "b": np.float64(1.5), "c": np.bool_(0), "d": COLUMN, "e": range(2), "f": {"x": np.int8(1)}}
    assert overrides(given) == ["a=3", "b=1.5", "c=false", "d=[5, 6]", "e=[0, 1]", "f={x = 1}"]


def test_the_progress_of_a_cluster_names_few_nodes_and_counts_many(capsys):
    few = Progress(1000, 0, 710, 0, 1.0, {"b/22aa": 310, "a/1f2e": 400})
    assert few.where == "a/1f2e: 400, b/22aa: 310"
    many = Progress(1000, 0, 999, 0, 1.0, {f"n/{number:04x}": 100 + number for number in range(8)})
    assert many.where == "8 nodes: 100 to 107 each"
    with progress_bar() as show:
        show(few)
    assert "290 left (a/1f2e: 400, b/22aa: 310)" in capsys.readouterr().err


def test_a_summary_has_the_metrics_that_are_chosen(fake, scenario, tmp_path):
    result = acklab.sweep(scenario, grid=GRID, seeds=2, out=tmp_path / "out", quiet=True)
    assert result.summary_table(metrics=["mean_srtt_l4"]).head == ["congestion", "interval", "mean_srtt_l4 [ms]"]
    assert set(result.to_dict(["mean_srtt_l4"])["summary"][0]) == {
        *("congestion", "interval", "seeds"),
        *("mean_srtt_l4_mean", "mean_srtt_l4_low", "mean_srtt_l4_high"),
    }
    with pytest.raises(
        acklab.UsageError, match="--only: found 'mean_srt_l4', expected a number of the table flows such as mean_"
    ):
        result.summary(["mean_srt_l4"])


def test_commands_show_the_metrics_that_are_chosen(fake, scenario, tmp_path):
    out = tmp_path / "out"
    done = commands.acklab("sweep", scenario, "--out", out, "--only", "nonsense")
    assert "--only: found 'nonsense'" in done.stderr
    assert fake.runs == 0, "a wrong name is refused before anything runs"
    swept = commands.acklab("sweep", scenario, "--out", out, "--only", "mean_srtt_l4")
    shown = commands.acklab("show", out, "--only", "mean_srtt_l4")
    for text in (swept.stdout, shown.stdout):
        assert "mean_srtt_l4" in text
        assert "mean_throughput_l4" not in text
    assert "--only: found 'flow'" in commands.acklab("show", out, "--only", "flow").stderr
    assert "mean_throughput_l4" in commands.acklab("show", out, "--all").stdout


def test_numbers_of_flows_are_the_numeric_columns_of_a_run():
    scenario = {"seed": 1, "duration": "1s", "link": [LINK], "flow": [{"from": "a", "to": "b", "preset": "linux"}]}
    table = acklab.run(scenario).arrow("flows")
    numeric = [name for name in table.column_names if not pa.types.is_string(table.schema.field(name).type)]
    assert numbers_of("flows") == numeric


def test_a_long_sweep_begins_with_its_estimate(fake, scenario, tmp_path):
    told: list[Estimate] = []
    # Twenty points of 15 s, and then of 1,501 s, which are 30,020 s.
    acklab.sweep(scenario, seeds=20, out=tmp_path / "short", quiet=True, announce=told.append)
    assert told == []
    options = {"seeds": 20, "set": {"duration": "1501s"}, "out": tmp_path / "long", "quiet": True}
    acklab.sweep(scenario, **options, announce=told.append)
    assert [one.points for one in told] == [20]
    # Stored points do not count.
    acklab.sweep(scenario, **options, announce=told.append)
    assert len(told) == 1


def test_the_command_prints_the_estimate_of_a_long_sweep(fake, scenario, tmp_path):
    words = ["sweep", scenario, "--set", "duration=1000000s", "--out", tmp_path / "out"]
    assert commands.acklab(*words).stderr.startswith("1 point\nabout ")


def test_an_axis_may_change_the_duration(fake, scenario, tmp_path):
    grid = Grid.of({"duration": ["1s", "1000s"]})
    plan = Plan.of(Source.of(scenario), grid, 2)
    assert plan.simulated_seconds(()) == 2002
    assert plan.simulated_seconds([point.digest for point in plan.points[2:]]) == 2


@pytest.mark.parametrize("bounds", ["80kbps..120.5kbps", "0.1Mbps..0.1001Mbps", "1000bps..2000bps", "0.5Gbps..1Gbps"])
def test_a_drawn_rate_is_one_that_a_scenario_takes(bounds):
    """Rates are whole bits per second: six digits of kbps are finer."""
    link = {"name": "a", "from": "x", "to": "y", "forward": {"delay": "1ms"}, "reverse": {"delay": "1ms"}}
    scenario = {"duration": "1s", "seed": 1, "link": [link], "flow": [{"from": "x", "to": "y", "preset": "linux"}]}
    for seed in range(1, 9):
        drawn = Variation.parse("link.a.forward.rate", bounds).draw(seed)
        acklab.check({**scenario, "link": [{**link, "forward": {"delay": "1ms", "rate": drawn}}]})
