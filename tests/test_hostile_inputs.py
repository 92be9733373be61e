"""Hostile inputs: each is refused with one message, and no stored result is lost."""

import math
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import acklab
from acklab import files
from acklab.sweeps.grid import Grid, Variation
from acklab.sweeps.variants import Variants
from commands import acklab as command
from hostile_desk import LATIN, SCENARIO, lay_out

TABLE = tomllib.loads(SCENARIO)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    lay_out(folder)
    return folder


@pytest.fixture(autouse=True)
def nothing_is_lost(desk, monkeypatch):
    monkeypatch.chdir(desk)
    results = [path for name in ("kept", "swept") for path in sorted((desk / name).rglob("*")) if path.is_file()]
    before = [path.read_bytes() for path in results]
    yield
    assert [path.read_bytes() for path in results] == before


def sets(*pairs):
    return [(f"--set {change}", ["check", "good.toml", "--set", change], words) for change, words in pairs]


def traces(cases):
    """Trace files that no run can use.

    A check reads them too, and so does a sweep before its first point.
    """
    for name, words in cases.items():
        change = f"link.btl.forward={{trace = {{file = '{name}'}}}}"
        for verb in (["check"], ["run"], ["sweep", "--out", "out"]):
            yield (
                f"{verb[0]} with the trace {name}",
                [*verb, "good.toml", "--set", change],
                f'good.toml: link "btl_forward": {words}',
            )


def strategy(name, words):
    own = ["--set", "flow.0.ack={policy = 'custom', name = 'A'}"]
    return f"--strategy {name}", ["run", "good.toml", *own, "--strategy", name], words


def grid(text, words):
    return f"--grid {text}", ["sweep", "good.toml", "--out", "out", "--grid", text], words


def vary(text, words):
    return f"--vary {text}", ["sweep", "good.toml", "--out", "out", "--seeds", "2", "--vary", text], words


COMMANDS = [
    # files of scenarios
    *[
        (f"check {name}", ["check", name], words)
        for name, words in {
            "gone.toml": "gone.toml: cannot read the scenario: No such file",
            "folder.toml": "folder.toml: cannot read the scenario: Is a directory",
            "loop.toml": "loop.toml: cannot read the scenario: Too many levels of symbolic links",
            "endless.toml": "endless.toml: found more than 64 MiB, expected a scenario as TOML text",
            "x" * 300 + ".toml": "cannot read the scenario: File name too long",
            LATIN: r"caf\xe9: cannot read the scenario: No such file",
            "empty.toml": "empty.toml: the key `duration` is missing; expected",
            "nul.toml": "nul.toml:1:8: found",
            "latin.toml": "latin.toml: line 2, column 13: found the byte 0xe9, which is not UTF-8, expected a scenario",
            "utf16.toml": "utf16.toml: line 1, column 1: found the byte 0xff, which is not UTF-8",
            "syntax.toml": "syntax.toml:1:8: the value is missing",
            "twice.toml": "twice.toml:2:1: this is not TOML: duplicate key",
            "deep.toml": "deep.toml:1:85: this is not TOML: cannot recurse further",
            "deep.json": "this is not JSON: recursion limit exceeded",
            "cut.json": "cut.json:1:10: this is not JSON",
            "nan.json": "nan.json:1:10: this is not JSON: expected value",
            "list.json": "list.json: found a list of 2, expected a table",
            "words.json": "words.json:1:1: this is not JSON: expected value",
            "empty.json": "empty.json:1:1: this is not JSON: EOF while parsing a value",
            "endless.json": "endless.json: found more than 64 MiB, expected a scenario as JSON text",
        }.items()
    ],
    # changes of a scenario
    *sets(
        ("", "expected a path and a value"),
        ("=1", "expected a path such as flow.0.congestion before the `=`"),
        ("flow.0", "expected a path and a value"),
        ("flow.9.mss=1B", "`flow` has no entry 9; expected an index from 0 to 0"),
        ("flow.x.mss=1B", "`flow` has no entry `x`; expected the index 0, or one of the names flow_1"),
        ("flow..mss=1B", "a key of this one is empty"),
        ("flow.0.colour=red", "flow.0.colour"),
        ("flow.0=1", "found 1, expected a table"),
        ("flow.0.ack={", "the value is not TOML: unclosed inline table"),
        ("seed=-1", "found -1, expected a whole number of at least 0"),
        ("seed=99999999999999999999", "expected a whole number of at most 18446744073709551615"),
        ("duration=15", "found 15, expected a duration"),
        ("duration=0s", 'found "0s", expected a duration above zero'),
        ("duration=-1s", "it must not be negative"),
        ("duration=1e400s", 'the unit "e400s" is unknown'),
        ("duration=NaNs", "the number is missing"),
        ("link.btl.forward.rate=0bps", "expected a rate above zero"),
        ("link.btl.forward.rate=-16Mbps", "link.0.forward.rate: found"),
        ("link.btl.forward.queue.limit=0packets", "expected a limit above zero"),
        ("link.btl.forward.queue.discipline=magic", 'found "magic", expected one of "fifo"'),
        ("link.btl.forward.loss={model='independent', probability=nan}", "probability: found NaN, expected a number from 0 to 1"),
        ("link.btl.reverse.gate={interval='1ms', quota=0}", "quota"),
        ("link.btl.to=src", "expected a node other than `from`"),
        ("link=[]", "expected at least one link or Wi-Fi cell"),
        ("flow.0.to=nowhere", 'found "nowhere", expected a node that a link or a cell names'),
        ("flow.0.mss=0B", "expected a size from 1B"),
        ("flow.0.congestion=magic", 'found "magic", expected one of "newreno"'),
        ("flow.0.ack={policy='delayed', segments=0}", "segments: found 0, expected a whole number of at least 1"),
        ("flow.0.name='a/b'", "expected a name of letters, digits"),
        ("measure.series=['magic']", 'found "magic", expected one of "operating_point"'),
        ("capture=[{point='src', file='../x'}]", "expected a file inside the folder of the run"),
        ("wifi=1", "found 1, expected a list of tables"),
        (f"title={LATIN}", r'found "title=caf\xe9", which is not UTF-8'),
    ),
    # traces
    *traces(
        {
            "gone.trace": "cannot read the trace ./gone.trace: No such file",
            ".": "cannot read the trace ./.: Is a directory",
            "/dev/zero": "cannot read the trace /dev/zero: found a character device, expected a regular file",
            "empty.trace": "./empty.trace is not a valid trace: expected at least one line with a time above zero",
            "zero.trace": "./zero.trace is not a valid trace: expected at least one line with a time above zero",
            "negative.trace": './negative.trace is not a valid trace: line 1: found "-5", expected a whole number of milliseconds',
            "fraction.trace": './fraction.trace is not a valid trace: line 1: found "1.5", expected',
            "huge.trace": f'./huge.trace is not a valid trace: line 1: found "{"9" * 40}", expected a whole number of milliseconds',
            "falling.trace": "./falling.trace is not a valid trace: line 2 is earlier than the one before it",
            "octets.trace": "cannot read the trace ./octets.trace: line 2: found an octet that is not UTF-8",
        }
    ),
    # strategies
    strategy("plain.py", "strategy 'plain.py': expected FILE.py:CLASS"),
    strategy("gone.py:A", "gone.py: cannot read the strategy: No such file"),
    strategy("folder.py:A", "folder.py: cannot read the strategy: Is a directory"),
    strategy("endless.py:A", "endless.py: found more than 64 MiB, expected a class in Python"),
    strategy("plain.py:B", "plain.py: found no class 'B', expected one of: A"),
    strategy("broken.py:A", "broken.py: line 2: ValueError: why"),
    strategy("syntax.py:A", "syntax.py: line 2: SyntaxError"),
    strategy("nul.py:A", "nul.py: SyntaxError: source code string cannot contain null bytes"),
    strategy("leaves.py:A", "leaves.py: line 2: SystemExit: 7"),
    strategy("plain.py:A", "plain.py: TypeError: A() takes no arguments"),
    strategy("abstract.py:A", "abstract.py: TypeError: Can't instantiate abstract class A"),
    strategy("raises.py:A", "raises.py: line 3: LookupError: gone"),
    strategy("past.py:A", "past.py: line 3: OverflowError"),
    strategy("answers.py:A", "decide: found 42, expected acklab.Now(why)"),
    # grids
    grid("", "grid '': expected key=value,value,…"),
    grid("=1,2", "grid '=1,2': expected key=value"),
    grid("flow.0.congestion=", "found no value, expected at least one"),
    grid("flow.0.congestion=cubic,cubic", "found a value twice in cubic, cubic"),
    grid("flow.0.congestion=cubic,magic", 'found "magic", expected one of'),
    grid(f"flow.0.congestion={LATIN}", r'found "flow.0.congestion=caf\xe9", which is not UTF-8'),
    grid("seed=1,2", "--seeds"),
    grid("p=@gone.toml", "gone.toml: cannot read the variants: No such file"),
    grid("p=@folder.toml", "folder.toml: cannot read the variants: Is a directory"),
    grid("p=@endless.toml", "endless.toml: found more than 64 MiB, expected variants by name"),
    grid("p=@latin.toml", "latin.toml: line 2, column 13: found the byte 0xe9"),
    grid("p=@syntax.toml", "syntax.toml: Invalid value (at line 1, column 8), expected variants by name"),
    grid("p=@list.json", "list.json: found a value of type list, expected variants by name"),
    grid("p=@deep.json", "deep.json: maximum recursion depth exceeded"),
    grid("p=@file", "variants 'file': expected a file such as"),
    grid("p=@good.toml", "good.toml: duration: found '100ms', expected a table"),
    grid("p=@unknown.toml", "unknown.toml: near.sets: found no such key, expected one of set, title"),
    grid("p=@number.toml", "number.toml: near.set: found 1, expected a list"),
    grid("p=@text.toml", "text.toml: near.set: found 'seed=1', expected a list"),
    grid("p=@comma.toml", "comma.toml: found the name 'a,b', expected one without commas"),
    grid("p=@variants.toml:far", "variants.toml: found no variant 'far', expected one of: near"),
    grid("p=@empty.toml", "grid 'p': found no value, expected at least one"),
    grid("link.btl.forward={trace = {file = '/dev/zero'}}", "/dev/zero: found a character device, expected a regular file"),
    vary("flow.0.start", "found '', expected two bounds"),
    vary("flow.0.start=5ms", "found '5ms', expected two bounds of one kind such as 0ms..5ms"),
    vary("flow.0.start=1ms..5s", "expected a time before the run's end at 100ms"),
    vary("flow.0.start=5ms..1ms", "expected the first bound to be less than the second"),
    vary("=1ms..2ms", "expected a key and two bounds"),
    # options
    ("no command", ["magic"], "No such command 'magic'"),
    ("no option", ["run", "good.toml", "--magic"], "No such option: --magic"),
    ("no file", ["run"], "Missing argument 'FILE'"),
    ("two files", ["run", "good.toml", "good.toml"], "unexpected extra argument"),
    ("no seed", ["run", "good.toml", "--seed", "x"], "Invalid value for '--seed'"),
    ("a negative seed", ["run", "good.toml", "--seed", "-1"], "Invalid value for '--seed'"),
    ("no jobs", ["sweep", "good.toml", "--jobs", "0"], "Invalid value for '--jobs'"),
    ("no seeds", ["sweep", "good.toml", "--seeds", "0"], "Invalid value for '--seeds'"),
    ("a version of qlog", ["run", "good.toml", "--qlog-version", "9"], 'found "9", expected "0.3" or "draft-13"'),
    ("no study", ["study", "magic"], "found no study 'magic', expected one of: accecn_filtering"),
    ("no study at all", ["study"], "expected names of studies or --all"),
    ("no time", ["study", "ack_compression", "--processors", "halt"], "found --processors halt without --way emulate"),
    ("no way", ["study", "ack_compression", "--way", "magic"], "way: found 'magic', expected one of: simulate, emulate, virtual"),
    ("no template", ["new", "magic"], "found no template 'magic', expected one of: cable"),
    ("a template over a file", ["new", "cell", "--out", "file"], "file: exists already, expected a new name"),
    ("one run to compare", ["compare", "kept"], "expected at least two folders"),
    (
        "no table",
        ["compare", "kept", "kept", "--table", "magic"],
        "--table: found 'magic', expected a table of all results: acks",
    ),
    ("no metric", ["compare", "kept", "kept", "--only", "magic"], "--only: found 'magic', expected a column"),
    ("an emulation of nothing", ["emulate"], "found no scenario, expected FILE or --calibrate"),
    # folders that cannot be written
    ("a template below a file", ["new", "cell", "--out", "file/x.toml"], "file/x.toml: cannot be written: File exists"),
    ("a sweep into a file", ["sweep", "good.toml", "--out", "file"], "cannot be written: Not a directory"),
    ("logs into a file", ["run", "good.toml", "--qlog", "file"], "file: cannot be written: File exists"),
    (
        "captures into a file",
        ["run", "good.toml", "--set", "capture=[{point='src', file='c.pcapng'}]", "--out", "file"],
        "file: cannot be written: File exists",
    ),
    # folders with results of another kind, which are refused before anything runs
    ("a run into a sweep", ["run", "good.toml", "--out", "swept"], "swept: found a sweep, expected a folder without results"),
    ("a sweep into a run", ["sweep", "good.toml", "--out", "kept"], "kept: found the result of a run, expected a folder"),
    ("an emulation into a sweep", ["emulate", "good.toml", "--out", "swept"], "or with the result of an emulation"),
    # files that are not results
    *[
        (f"{verb} {name}", [verb, name], words)
        for verb in ("show", "report")
        for name, words in {
            "gone": "gone: no such folder, expected one with results",
            "file": "file: no such folder, expected one with results",
            "nothing": "nothing: found no",
            "emptied": "emptied/flows.parquet: found an empty file, expected a Parquet table",
            "foreign": "foreign/flows.parquet: found 100 bytes that begin with b'xxxx', expected a Parquet table",
            "cut": "without the end of a Parquet file: truncated or overwritten; expected a Parquet table",
            "overwritten": "overwritten/flows.parquet: checksum mismatch: the file was changed or damaged",
            "no-json": "no-json/sweep.json: found damaged JSON",
            "no-keys": "no-keys/sweep.json: required key 'grid' is missing, expected the summary of a sweep",
            "no-table": "no-table/sweep.json: found values of other types",
            "latin-json": "latin-json/sweep.json: found damaged JSON",
            "numbers": "numbers/sweep.json: found values of other types",
        }.items()
    ],
    ("show partial", ["show", "partial"], "partial: found the tables acks, links, network, expected the result of a run"),
    ("compare with a sweep", ["compare", "kept", "swept"], "kept: found no sweep, expected only sweeps or only runs"),
]


@pytest.mark.parametrize(("words", "message"), [pytest.param(*case[1:], id=case[0][:60]) for case in COMMANDS])
def test_a_command_refuses_it_with_one_message(desk, words, message):
    done = command(*words, cwd=desk)
    assert done.returncode in (1, 2), done.stderr
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "error: " in done.stderr.lower()


def test_a_place_that_cannot_be_written_is_found_before_the_run(desk):
    done = command("run", "good.toml", "--json", "--out", "file", cwd=desk)
    assert done.returncode == 1
    assert "file: cannot be written: File exists" in done.stderr
    assert done.stdout == "", "nothing was computed"


def test_a_strategy_that_fails_in_a_sweep_leaves_the_other_points(desk, tmp_path):
    own = "flow.0.ack={policy = 'custom', name = 'A'},{policy = 'per-packet'}"
    done = command("sweep", "good.toml", "--grid", own, "--strategy", "raises.py:A", "--out", tmp_path, cwd=desk)
    assert done.returncode == 1
    assert "failed: raises.py: line 3: LookupError: gone" in done.stderr
    assert "1 of 2 points" in done.stdout


def test_names_that_are_not_utf8_are_names(tmp_path):
    folder = tmp_path / LATIN
    folder.mkdir()
    (folder / f"{LATIN}.toml").write_text(SCENARIO)
    for words in (["run", f"{folder}/{LATIN}.toml", "--out", f"{folder}/out"], ["show", f"{folder}/out"]):
        done = command(*words)
        assert done.returncode == 0, done.stderr
        assert "goodput" in done.stdout
    assert "repeat with: acklab run '" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["check", "good.toml"], ["schema"], ["run", "good.toml", "--json"], ["--help"]])
def test_standard_output_that_is_full(words):
    with Path("/dev/full").open("w") as full:
        arguments = [sys.executable, "-m", "acklab", *words]
        done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: standard output: cannot be written: No space left on device\n"


LAB: Any = acklab
"""For calls with arguments that its annotations refuse."""
ENDLESS: dict[str, object] = {}
ENDLESS["link"] = [ENDLESS]
CUSTOM = {"flow.0.ack": {"policy": "custom", "name": "m"}}


def sweep(**options):
    return LAB.sweep(TABLE, **({"out": "out", "quiet": True} | options))


NO_SCENARIOS: list[tuple[Any, str]] = [
    (42, "found a scenario of type int, expected the path of a file, or a dict"),
    (None, "found a scenario of type NoneType"),
    (b"good.toml", "found a scenario of type bytes"),
    ([], "found a scenario of type list"),
    ("", "cannot read the scenario: Is a directory"),
    ("a\0b", "found 'a\\x00b', expected the path of a file"),
    ("\ud800", r"\ud800: cannot read the scenario"),
]
CALLS: list[tuple[str, Any, str]] = [
    # scenarios
    *[(f"run({given!r})", lambda given=given: LAB.run(given), words) for given, words in NO_SCENARIOS],
    *[
        (f"a scenario with {value!r}"[:60], lambda value=value: LAB.check(TABLE | {"title": value}), words)
        for value, words in [
            (math.nan, "scenario.json: title: found nan, expected a finite number"),
            (-math.inf, "title: found -inf, expected a finite number"),
            ([math.nan], "title.0: found nan"),
            (np.array([1.0, math.nan]), "title.1: found nan"),
            (object, "title: found a value of type type, expected text, a number, a list or a table"),
            (b"x", "title: found a value of type bytes"),
            ({1, 2}, "title: found a value of type set"),
            ({1: 2}, "title: found the key 1, expected text"),
            (LATIN, "title: found 'caf\\udce9', which is not UTF-8, expected text"),
            (10**40, "title: found 1e40, expected text in quotes"),
        ]
    ],
    ("a scenario within itself", lambda: LAB.run(ENDLESS), "found more than 100 nested tables"),
    # arguments of run
    *[
        (f"run(set={given!r})", lambda given=given: LAB.run(TABLE, set=given), words)
        for given, words in [
            ("duration=1s", "overrides: found 'duration=1s', expected a list such as"),
            (42, "overrides: found 42, expected a list"),
            ([1], "overrides: found 1 in the list, expected text"),
            ([LATIN], r'overrides: found "caf\xe9", which is not UTF-8'),
            ({"duration": math.nan}, "duration: found nan, expected a finite number"),
            ({"flow.0.mss": LATIN}, "flow.0.mss: found"),
            ({"duration": None}, 'found "None", expected a duration'),
        ]
    ],
    ("run(seed=-1)", lambda: LAB.run(TABLE, seed=-1), "found -1, expected a whole number of at least 0"),
    ("run(seed='x')", lambda: LAB.run(TABLE, seed="x"), 'found "x", expected a whole number'),
    ("run(base=42)", lambda: LAB.run(TABLE, base=42), "base: found 42, expected the path of a file or a folder"),
    ("run(captures=42)", lambda: LAB.run(TABLE, captures=42), "captures: found 42, expected the path"),
    ("run(qlog=42)", lambda: LAB.run(TABLE, qlog=42), "qlog: found 42, expected the path"),
    ("run(qlog=file)", lambda: LAB.run(TABLE, qlog="file"), "file: the folder cannot be created: File exists"),
    ("run(strategies=42)", lambda: LAB.run(TABLE, strategies=42), "strategies: found 42, expected classes by name"),
    ("run(strategies=[…])", lambda: LAB.run(TABLE, strategies=["a"]), "expected classes by name"),
    ("run(strategies={1: …})", lambda: LAB.run(TABLE, strategies={1: 2}), "expected classes by name"),
    ("a strategy that is none", lambda: LAB.run(TABLE, set=CUSTOM, strategies={"m": 3}), 'strategies["m"]: found int'),
    ("run(seed=2.5)", lambda: LAB.run(TABLE, seed=2.5), "found 2.5, expected a whole number"),
    ("emulate(at=42)", lambda: LAB.emulate(TABLE, at=42), "at: found 42, expected a node and a command such as"),
    ("emulate(at=text)", lambda: LAB.emulate(TABLE, at=("src", "ls")), "at: the command: found 'ls', expected a list"),
    ("emulate(42)", lambda: LAB.emulate(42), "found a scenario of type int"),
    # arguments of sweep
    *[
        (f"sweep(grid={given!r})"[:60], lambda given=given: Grid.of(given), words)
        for given, words in [
            ("a=1", "grid: found 'a=1', expected a list"),
            (42, "grid: found 42, expected a list"),
            ([1], "grid: found 1 in the list, expected text"),
            (["=1,2"], "grid '=1,2': expected key=value"),
            ({1: [1]}, "grid: found the key 1, expected text"),
            ({"flow.0.mss": 5}, "grid 'flow.0.mss': found 5, expected a list of values"),
            ({"flow.0.congestion": "cubic"}, "found 'cubic', expected a list of values"),
            ({"flow.0.mss": []}, "found no value, expected at least one"),
            ({"flow.0.mss": np.array(5)}, "grid 'flow.0.mss': found array(5), expected a list of values"),
            ({"flow.0.mss": np.ones((2, 2))}, "expected a list of values"),
            ({"flow.0.mss": {"500B"}}, "expected a list of values"),
            ({"flow.0.mss": [math.nan]}, "flow.0.mss: found nan, expected a finite number"),
            ({"flow.0.mss": [object]}, "flow.0.mss: found a value of type type, expected text, a number"),
            (
                {"report": {"x": {}}},
                "grid 'report': found a reserved or invalid name (report.json), expected another",
            ),
            ({"../p": {"x": {}}}, "grid '../p': found a reserved or invalid name (../p.json)"),
            ({"p": {"x": 42}}, "p.json: x.set: found 42, expected a list"),
            ({"p": {"x": [1]}}, "p.json: x.set: found 1 in the list, expected text"),
            ({"p": {1: {}}}, "p.json: found the name 1, expected one without commas"),
        ]
    ],
    *[
        (f"sweep(seeds={given!r})", lambda given=given: sweep(seeds=given), words)
        for given, words in [
            (0, "found 0 seeds, expected at least 1"),
            ("3", "seeds: found '3', expected a whole number, or a list of them"),
            (2.5, "seeds: found 2.5, expected a whole number"),
            (None, "seeds: found None"),
            ([], "seeds: found []"),
            ([1.5], "seeds: found [1.5]"),
            (True, "seeds: found True"),
            (np.ones(2), "seeds: found [np.float64(1.0), np.float64(1.0)], expected a whole number, or a list of them"),
            (np.ones((2, 2), int), "expected a whole number, or a list of them"),
            ({1, 2}, "seeds: found {1, 2}, expected a whole number"),
            ([1, 1], "seeds: found a seed twice in 1, 1"),
            ([2**64], "expected a whole number of at most"),
        ]
    ],
    ("sweep(jobs=0)", lambda: sweep(jobs=0), "jobs: found 0, expected a whole number of at least 1"),
    ("sweep(jobs=True)", lambda: sweep(jobs=True), "jobs: found True, expected a whole number of at least 1"),
    ("sweep(jobs='x')", lambda: sweep(jobs="x"), "jobs: found 'x', expected a whole number"),
    ("sweep(out=None)", lambda: sweep(out=None), "out: found None, expected the path"),
    ("sweep(out with a NUL)", lambda: sweep(out="a\0b"), "out: found 'a\\x00b', expected the path"),
    ("sweep(strategies=42)", lambda: sweep(strategies=42), "strategies: found 42, expected a list"),
    ("sweep(strategies=[42])", lambda: sweep(strategies=[42]), "strategies: found 42, expected a file and a class"),
    ("sweep(vary='a')", lambda: sweep(vary="a"), "vary: found 'a', expected a list"),
    ("sweep(vary=42)", lambda: sweep(vary=42), "vary: found 42, expected a list"),
    (
        "sweep(vary={…: 5})",
        lambda: sweep(vary={"flow.0.start": 5}),
        "vary 'flow.0.start': found 5, expected a key and two bounds",
    ),
    ("bounds without numbers", lambda: Variation.parse("flow.0.start", "a..b"), "found 'a..b', expected two bounds"),
    ("variants of a number", lambda: Variants.read(cast(Any, 42)), "variants: found 42, expected the path"),
    ("the name of variants", lambda: Variants.read("variants.toml", "near"), "names of variants: found 'near', expected a list"),
    # results
    ("load_result(42)", lambda: LAB.load_result(42), "directory: found 42, expected the path"),
    ("load_result(sweep)", lambda: LAB.load_result("swept"), "swept: found a sweep or a study, expected the result of a run"),
    ("load_sweep(None)", lambda: LAB.load_sweep(None), "directory: found None, expected the path"),
    ("load_sweep(run)", lambda: LAB.load_sweep("kept"), "kept/sweep.json: cannot be read: No such file"),
    ("save(42)", lambda: LAB.load_result("kept").save(42), "directory: found 42, expected the path"),
    ("save(file)", lambda: LAB.load_result("kept").save("file"), "file: cannot be written: File exists"),
    (
        "a table that is none",
        lambda: LAB.load_result("kept").table("magic"),
        "found no table 'magic', expected one of: acks, flows",
    ),
    ("a series", lambda: LAB.load_result("kept").queue, 'request it with measure.series = ["queue"]'),
    ("a query of nonsense", lambda: LAB.load_sweep("swept").query("select magic"), "DuckDB refused the query"),
    ("a query of nothing", lambda: LAB.load_sweep("swept").query(""), "query: found '', expected a query that returns a table"),
]


@pytest.mark.parametrize(("call", "message"), [pytest.param(*case[1:], id=case[0]) for case in CALLS])
def test_a_call_refuses_it_with_one_message(call, message):
    with pytest.raises(acklab.AcklabError) as caught:
        call()
    assert message in str(caught.value)


@pytest.fixture
def fifo(tmp_path):
    """A FIFO to which no process writes."""
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


@pytest.mark.parametrize("name", ["scenario.toml", "mine.py", "lte.trace", "variants.toml", "script.pkt", "capture.pcap"])
def test_no_file_that_is_named_keeps_a_command_waiting(desk, fifo, monkeypatch, name):
    monkeypatch.setattr(files, "PATIENCE", 0.2)
    (desk / name).unlink(missing_ok=True)
    fifo.rename(desk / name)
    words = {
        "scenario.toml": ["check", name],
        "mine.py": ["run", "good.toml", "--strategy", f"{name}:Mine"],
        "lte.trace": ["trace", name],
        "variants.toml": ["sweep", "good.toml", "--grid", f"p=@{name}:far", "--out", "out"],
        "script.pkt": ["packetdrill", name],
        "capture.pcap": ["inspect", name],
    }[name]
    began = time.monotonic()
    done = command(*words, cwd=desk)
    (desk / name).unlink()
    assert time.monotonic() - began < 15
    assert done.returncode in (1, 2)
    assert f"{name}: cannot read the" in done.stderr
    assert "from which nothing come" in done.stderr or "from which nothing came" in done.stderr


@pytest.mark.parametrize(
    ("path", "kind"), [("fifo", "a FIFO"), ("/dev/zero", "a character device"), ("/dev/null", "a character device")]
)
@pytest.mark.parametrize("verb", ["check", "run"])
def test_a_trace_is_a_regular_file(fifo, path, kind, verb):
    trace = fifo.parent / path
    (fifo.parent / "traced.toml").write_text(SCENARIO.replace('rate = "16Mbps"', f'trace = {{ file = "{trace}" }}'))
    done = command(verb, fifo.parent / "traced.toml")
    assert done.returncode == 2, done.stderr
    assert f"found {kind}, expected a regular file" in done.stderr
    assert str(trace) in done.stderr


def test_a_scenario_may_come_from_a_command(desk, fifo):
    # As with `acklab check <(command)`: the shell gives the name of a FIFO.
    with subprocess.Popen(["sh", "-c", f"sleep 0.5; exec cat {desk / 'good.toml'} >{fifo}"]):
        done = command("check", fifo)
    assert done.returncode == 0, done.stderr


class Silent(BaseException):
    """An exception without text that `except Exception` does not catch."""

    def __str__(self):
        raise ValueError


@pytest.mark.parametrize("raised", [SystemExit(0), SystemExit(None), GeneratorExit(), Silent()], ids=repr)
@pytest.mark.parametrize("method", ["decide", "__init__", "on_ack_sent"])
def test_a_strategy_that_ends_the_process_fails_its_run(raised, method):
    def end(*_):
        raise raised

    made = type("Mine", (acklab.AckPolicy,), {"decide": lambda *_: acklab.Now("x"), method: end})
    with pytest.raises(RuntimeError, match=r"found .*, expected a return or an exception that means a failure") as caught:
        acklab.run(TABLE, set={"flow.0.ack": {"policy": "custom", "name": "m"}}, strategies={"m": made})
    assert caught.value.__cause__ is raised


@pytest.mark.parametrize("code", ["sys.exit(0)", "sys.exit()", "raise SystemExit(0)", "raise GeneratorExit"])
@pytest.mark.parametrize("place", ["in the module", "in a call"])
@pytest.mark.parametrize("verb", ["run", "sweep"])
def test_a_strategy_in_a_file_that_ends_the_process_is_named_with_its_line(desk, code, place, verb):
    policy = "import acklab, sys\nclass A(acklab.AckPolicy):\n  def decide(self, now, arrival, ledger):\n    "
    (desk / "ends.py").write_text(policy + (code if place == "in a call" else f"return acklab.Now('x')\n{code}") + "\n")
    words = ["--set", "flow.0.ack={policy = 'custom', name = 'A'}", "--strategy", "ends.py:A"]
    done = command(verb, "good.toml", *words, *(["--out", "ended"] if verb == "sweep" else []), cwd=desk)
    assert done.returncode in (1, 2), done.stderr
    assert f"ends.py: line {4 if place == 'in a call' else 5}: " in done.stderr
    assert "GeneratorExit" in done.stderr or "SystemExit" in done.stderr


def test_there_are_more_than_a_hundred_and_ten():
    assert len(COMMANDS) + len(CALLS) > 110
