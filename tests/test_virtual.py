"""Emulation in virtual time: kernels in the cache, builds that are refused, and runs in a guest
where a kernel is built.
"""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import acklab
from acklab.errors import RunError, UsageError
from acklab.studies import run_study
from acklab.virtual import build, kernels
from acklab.virtual.kernels import GuestKernel
from commands import acklab as command

SCENARIO = {
    "duration": "2s",
    "seed": 1,
    "link": [
        {
            "name": "path",
            "from": "server",
            "to": "client",
            "forward": {"rate": "10Mbps", "delay": "10ms", "queue": {"discipline": "fifo", "limit": "50packets"}},
            "reverse": {"rate": "2Mbps", "delay": "10ms"},
        }
    ],
    "flow": [{"from": "server", "to": "client", "preset": "linux", "congestion": "cubic"}],
}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Returns a separate cache with two kernels, of which the second is newer."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for release, built in (("6.1.9", "2026-01-01T00:00:00+00:00"), ("6.12.3", "2026-02-01T00:00:00+00:00")):
        kernel = GuestKernel(kernels.cache() / f"{release}-abc", release, "abc", "a tree", built)
        kernel.folder.mkdir(parents=True)
        kernel.write()
    return kernels.cache()


def test_the_newest_kernel_is_the_default(cache):
    assert [kernel.release for kernel in kernels.kernels()] == ["6.12.3", "6.1.9"]
    assert kernels.find().name == "6.12.3-abc"
    assert kernels.find("6.1.").name == "6.1.9-abc"
    with pytest.raises(UsageError, match=r"kernel: found '6\.', expected one of: 6\.12\.3-abc, 6\.1\.9-abc"):
        kernels.find("6.")


def test_a_build_that_was_not_finished_is_no_kernel(cache):
    (cache / ".build-x").mkdir()
    (cache / "6.13.0-abc").mkdir()
    (cache / "6.13.0-abc" / "kernel.json").write_text("{", encoding="utf-8")
    assert len(kernels.kernels()) == 2


def test_remove_deletes_the_folder(cache):
    done = command("kernel", "remove", "6.1.9")
    assert done.returncode == 0
    assert done.stderr == "removed 6.1.9-abc\n"
    assert [entry["name"] for entry in json.loads(command("kernel", "list", "--json").stdout)] == ["6.12.3-abc"]


def test_a_missing_kernel_names_the_command_that_makes_one(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(RunError, match="required guest kernel is missing; `acklab kernel build` makes one"):
        acklab.emulate(SCENARIO, clock="virtual")


def test_other_hosts_and_keyboards_do_not_wait_for_a_guest(cache, tmp_path):
    with pytest.raises(UsageError, match="internet: found a virtual clock, expected a real one"):
        acklab.emulate(SCENARIO, clock="virtual", internet="server")
    with pytest.raises(UsageError, match="clock: found 'fast', expected one of: real, virtual"):
        acklab.emulate(SCENARIO, clock="fast")
    with pytest.raises(UsageError, match="kernel: found a guest kernel with a real clock"):
        acklab.emulate(SCENARIO, kernel="6.12")
    file = tmp_path / "path.json"
    file.write_text(json.dumps(SCENARIO), encoding="utf-8")
    done = command("emulate", file, "--clock", "virtual", "--shell", "client")
    assert "--shell: found a virtual clock, expected a real one" in done.stderr


def test_a_build_is_refused_before_it_begins(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="found --version and --source, expected one of them"):
        build.build("6.12", tmp_path)
    with pytest.raises(UsageError, match=r"found no arch/um, expected the top folder of a Linux tree"):
        build.build(source=tmp_path)
    with pytest.raises(RunError, match=r"linux-source-5\.99\.tar\.xz is missing; on Debian: apt-get install linux-source-5\.99"):
        build.build("5.99")
    (tmp_path / "arch" / "um").mkdir(parents=True)
    (tmp_path / ".config").touch()
    with pytest.raises(UsageError, match="found a build in the tree, expected none; run `make mrproper` there"):
        build.build(source=tmp_path)
    monkeypatch.setattr("shutil.which", lambda tool: None if tool in ("flex", "bc") else tool)
    with pytest.raises(RunError, match="required programs are missing; on Debian: apt-get install flex bc"):
        build.build("6.12")


def test_jiffies_of_ten_milliseconds_are_refused(tmp_path):
    """`arch/um/Kconfig` fixes HZ at 100 in any configuration. The top of the options has its own
    first.
    """
    (tmp_path / "Kconfig").write_text('mainmenu "Linux"\n\nsource "init/Kconfig"\n\nsource "arch/um/Kconfig"\n', encoding="utf-8")
    (tmp_path / "out").mkdir()
    top = build._top(tmp_path, tmp_path / "out").read_text(encoding="utf-8")
    assert top.startswith('mainmenu "Linux"\n')
    assert top.index("default 1000") < top.index('source "init/Kconfig"') < top.index('source "arch/um/Kconfig"')
    config = tmp_path / ".config"
    options = "".join(f"CONFIG_{name}=y\n" for name in build._ESSENTIAL if name != "HZ=1000")
    config.write_text(options + "CONFIG_HZ=1000\n", encoding="utf-8")
    build._checked(config, tmp_path)
    config.write_text(options + "CONFIG_HZ=100\n", encoding="utf-8")
    with pytest.raises(RunError, match="does not enable HZ=1000"):
        build._checked(config, tmp_path)


needs_a_kernel = pytest.mark.skipif(not kernels.kernels(), reason="needs a guest kernel: acklab kernel build")


@needs_a_kernel
@pytest.mark.timed
def test_two_runs_in_virtual_time_give_the_same_tables():
    first, second = (acklab.emulate(SCENARIO, clock="virtual") for _ in range(2))
    for name in first.tables:
        assert first.arrow(name).equals(second.arrow(name)), name
    # 10 Mbps carry 9.57 Mbps of payload in segments of 1448 octets; the start takes some round
    # trips of 20 ms.
    assert 8.5 < first.flows["mean_throughput_l4"][0] < 10
    assert first.is_trusted, first.reasons
    assert first.table("timing")["p99_lateness"][0] < 10
    assert dict(first.table("kernel").select("parameter", "value").rows())["clock"] == "virtual"


STUDY = """
title = "One path"
question = "Goodput of the kernel's CUBIC"
seeds = 2
quick_seeds = 2

[vary]
"flow.0.start" = "0ms..50ms"

[[claim]]
id = "goodput"
title = "goodput"
source = "the rule: 1448 of 1514 octets are payload"
unit = "Mbps"
published = 9.57
tolerance = "10%"
scenario = "path.json"
metric = "flows.mean_throughput_l7"
"""
POINTS = """
repeats = 2
quick_repeats = 2
[[point]]
name = "path"
scenario = "path.json"
claims = ["goodput"]
"""


@needs_a_kernel
@pytest.mark.timed
def test_a_study_runs_its_points_in_virtual_time_and_keeps_them(tmp_path, monkeypatch):
    folder = tmp_path / "studies" / "one"
    folder.mkdir(parents=True)
    (folder / "claims.toml").write_text(STUDY, encoding="utf-8")
    (folder / "emulated.toml").write_text(POINTS, encoding="utf-8")
    (folder / "path.json").write_text(json.dumps(SCENARIO), encoding="utf-8")
    monkeypatch.setenv("ACKLAB_STUDIES", str(tmp_path / "studies"))
    done = run_study("one", tmp_path / "out", way="virtual", quiet=True)
    (row,) = done.comparisons
    assert row.trusted == row.emulated.count == 2
    assert abs(row.difference.mean) < 5
    assert "--clock virtual" in row.emulation
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "one" / "emulated").rglob("*.parquet")}
    assert all(f"guest-{kernels.find().name}" in str(path) for path in stored)
    again = run_study("one", tmp_path / "out", way="virtual", quiet=True)
    assert {path: path.stat().st_mtime_ns for path in stored} == stored, "nothing was run again"
    assert again.comparisons == done.comparisons


@needs_a_kernel
@pytest.mark.timed
def test_a_sweep_in_virtual_time_has_the_tables_of_its_emulations(tmp_path):
    options: dict[str, Any] = {"grid": {"flow.0.congestion": ["cubic", "bbr"]}, "way": "virtual", "quiet": True}
    swept = acklab.sweep(SCENARIO, out=tmp_path / "out", **options)
    assert not swept.failures
    alone = acklab.emulate(SCENARIO, set={"flow.0.congestion": "bbr"}, clock="virtual")
    bbr = swept.table("flows").filter(pl.col("congestion") == "bbr")
    assert bbr["mean_throughput_l7"].to_list() == alone.flows["mean_throughput_l7"].to_list()
    assert bbr["total_acks_sent_l4"].to_list() == alone.flows["total_acks_sent_l4"].to_list()
    assert swept.table("timing").height == 2
    assert f"acklab emulate --clock virtual --kernel {kernels.find().name}" in swept.commands[1]
    assert f"--way virtual --kernel {kernels.find().name}" in swept.command
    before = (tmp_path / "out" / "flows.parquet").stat().st_mtime_ns
    acklab.sweep(SCENARIO, out=tmp_path / "out", **options)
    assert (tmp_path / "out" / "flows.parquet").stat().st_mtime_ns == before, "nothing was run again"


def test_a_sweep_refuses_a_kernel_without_virtual_time(cache, tmp_path):
    with pytest.raises(UsageError, match="kernel: found a guest kernel with the way 'simulate', expected 'virtual'"):
        acklab.sweep(SCENARIO, out=tmp_path, kernel="6.12")
    with pytest.raises(UsageError, match="way: found 'emulate', expected one of: simulate, virtual"):
        acklab.sweep(SCENARIO, out=tmp_path, way="emulate")
    own = tmp_path / "own.py"
    own.write_text("from acklab import AckPolicy\n\n\nclass Own(AckPolicy):\n    pass\n", encoding="utf-8")
    with pytest.raises(UsageError, match="strategies: found own strategies with the kernel's TCP, expected none"):
        acklab.sweep(SCENARIO, out=tmp_path, way="virtual", strategies=[f"{own}:Own"])


@needs_a_kernel
@pytest.mark.timed
def test_programs_run_in_the_guest_and_their_files_are_kept(tmp_path):
    script = "ping -c 3 -i 0.2 {server}; touch /etc/acklab-was-here; exit 7"
    file = tmp_path / "path.json"
    file.write_text(json.dumps(SCENARIO | {"flow": []}), encoding="utf-8")
    done = command("emulate", file, "--clock", "virtual", "--at", "client", "--", "sh", "-c", script, cwd=tmp_path)
    assert done.returncode == 7, done.stderr
    # Two propagation delays of 10 ms, and 98 octets over 10 and 2 Mbps.
    assert "3 packets transmitted, 3 received" in done.stdout
    assert "time=20." in done.stdout
    assert not Path("/etc/acklab-was-here").exists(), "changes of files stay in the guest"


def twin_of_the_preset() -> str | None:
    """Returns the name of a kernel of 6.12 with jiffies of a millisecond."""
    for kernel in kernels.kernels():
        config = (kernel.folder / "config").read_text(encoding="utf-8")
        if kernel.release.startswith("6.12.") and "CONFIG_HZ=1000" in config.splitlines():
            return kernel.name
    return None


@pytest.mark.skipif(twin_of_the_preset() is None, reason="needs a guest kernel 6.12 with HZ=1000: acklab kernel build")
@pytest.mark.timed
@pytest.mark.parametrize(
    ("rate", "delay", "limit", "congestion", "duration"),
    [
        # Overshoot and recovery, with the queue of a long path.
        ("25Mbps", "30ms", "125packets", "bbr", "6s"),
        ("1Mbps", "25ms", "20packets", "cubic", "15s"),
        # The send buffer limits: 4 MiB are 1840 segments, and the path holds 3300.
        ("1Gbps", "20ms", None, "cubic", "1s"),
    ],
)
def test_the_simulation_is_the_kernel(rate, delay, limit, congestion, duration):
    """The kernel's TCP in virtual time and the preset `linux` give the same goodput and, within
    their quick ACKs, the same number of ACKs."""
    forward = {"rate": rate, "delay": delay} | ({"queue": {"discipline": "fifo", "limit": limit}} if limit else {})
    path = {"name": "path", "from": "server", "to": "client", "forward": forward, "reverse": {"delay": delay}}
    flow = {"from": "server", "to": "client", "preset": "linux", "congestion": congestion, "kernel": "v6.12"}
    scenario = SCENARIO | {"duration": duration, "link": [path], "flow": [flow]}
    simulated, kernel = acklab.run(scenario), acklab.emulate(scenario, clock="virtual", kernel=twin_of_the_preset())
    for column, bound in (("mean_throughput_l4", 0.005), ("total_acks_sent_l4", 0.06), ("total_data_packets_l4", 0.01)):
        simulation, guest = (results.flows[column][0] for results in (simulated, kernel))
        assert abs(simulation / guest - 1) < bound, f"{column}: {simulation} simulated, {guest} of the kernel"
