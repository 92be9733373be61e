"""A replacement of the compiled core, for tests of the Python code around it.

It counts runs and fails on request.

Its additional keys in a scenario: `fail` (a run with it fails), `sleep` (seconds that a run takes;
it can be cancelled).
"""

import hashlib
import json
import threading
import time
import tomllib
from typing import Any

import pyarrow as pa

from acklab.errors import Cancelled, RunError, ScenarioError

VERSION = "0.0.0"
REVISION = "fake"


class Cancel:
    def __init__(self):
        self._event = threading.Event()

    def cancel(self):
        self._event.set()

    @property
    def cancelled(self):
        return self._event.is_set()


class RunResult:
    def __init__(self, scenario, seed, tables):
        self.scenario, self.seed, self.tables = scenario, seed, tables


class BatchResult:
    def __init__(self, outcomes, names, tables):
        self.outcomes, self.names, self.tables = outcomes, names, tables


class FakeCore:
    """Each test has one instance, so that `runs` counts only its runs."""

    VERSION, REVISION, Cancel = VERSION, REVISION, Cancel

    def __init__(self):
        self.runs = 0
        self.lock = threading.Lock()

    def load(self, text, name, sets):
        try:
            document = json.loads(text) if text.startswith("{") else tomllib.loads(text)
        except ValueError as error:
            raise ScenarioError(f"{name}: {error}") from error
        for change in sets:
            key, _, value = change.partition("=")
            *path, last = key.split(".")
            place: Any = document
            for word in path:
                place = place[int(word)] if word.isdigit() else place.setdefault(word, {})
            try:
                place[last] = tomllib.loads(f"x = {value}")["x"]
            except tomllib.TOMLDecodeError:
                place[last] = value
        if "seed" not in document:
            raise ScenarioError(f"{name}: seed: missing")
        if not isinstance(document["seed"], int):
            raise ScenarioError(f"{name}: seed: found {document['seed']!r}, expected a whole number")
        if not document["duration"].endswith("s"):
            raise ScenarioError(f"{name}: duration: found {document['duration']!r}, expected a duration such as 15ms")
        return json.dumps(document, sort_keys=True)

    def check(self, text, name, sets, base):
        return self.load(text, name, sets)

    def run(
        self,
        text,
        name,
        sets,
        base,
        seed=None,
        captures=None,
        qlog=None,
        qlog_version=None,
        cancel=None,
        strategies=None,
        watch=None,
    ):
        scenario = json.loads(self.load(text, name, [*sets, *([] if seed is None else [f"seed={seed}"])]))
        with self.lock:
            self.runs += 1
        until = time.monotonic() + scenario.get("sleep", 0)
        while time.monotonic() < until:
            if cancel is not None and cancel.cancelled:
                raise Cancelled("cancelled")
            time.sleep(0.005)
        if scenario.get("fail"):
            raise RunError(f"{name}: the run failed because it was asked to")
        number = int.from_bytes(hashlib.sha256(json.dumps(scenario, sort_keys=True).encode()).digest()[:4], "big") / 2**32
        flows = pa.table(
            {"flow": ["flow_1"], "cca": ["newreno"], "mean_throughput_l4": [14 + 0.1 * number], "mean_srtt_l4": [25 + number]},
            schema=pa.schema(
                [
                    pa.field("flow", pa.string()),
                    pa.field("cca", pa.string()),
                    pa.field("mean_throughput_l4", pa.float64(), metadata={"unit": "Mbps"}),
                    pa.field("mean_srtt_l4", pa.float64(), metadata={"unit": "ms"}),
                ]
            ),
        )
        links = pa.table({"link": ["btl_forward", "btl_reverse"], "total_qdisc_drops_l2": [74, 0]})
        network = pa.table({"agg_throughput_l4": [14 + 0.1 * number]})
        tables = {"flows": flows, "links": links, "network": network}
        batches = {name: table.to_batches()[0] for name, table in tables.items()}
        return RunResult(json.dumps(scenario, sort_keys=True), scenario["seed"], batches)

    def check_many(self, text, name, sets, points, base, threads):
        found: list[Any] = []
        for own in points:
            scenario = json.loads(self.load(text, name, [*sets, *own]))
            flows = enumerate(scenario.get("flow", []))
            names = [(f"flow.{index}.ack.name", flow["ack"]["name"]) for index, flow in flows if "name" in flow.get("ack", {})]
            found.append((json.dumps(scenario | {"seed": 0}, sort_keys=True), [], names))
        return found

    def run_many(self, text, name, sets, points, base, cancel=None, strategies=None, seconds=None):
        outcomes: list[Any] = []
        names: list[list[str]] = []
        parts: dict[str, list[pa.RecordBatch]] = {}
        for own in points:
            try:
                result = self.run(text, name, [*sets, *own], base, cancel=cancel, strategies=strategies)
            except Cancelled:
                break
            except Exception as error:
                outcomes.append(error)
                names.append([])
                continue
            for table, batch in result.tables.items():
                numbers = pa.array([len(outcomes)] * batch.num_rows, pa.uint32())
                fields = [pa.field("point", pa.uint32(), nullable=False), *batch.schema]
                parts.setdefault(table, []).append(
                    pa.RecordBatch.from_arrays([numbers, *batch.columns], schema=pa.schema(fields))
                )
            outcomes.append(result.scenario)
            names.append(list(result.tables))
        tables = {table: pa.Table.from_batches(batches).combine_chunks().to_batches()[0] for table, batches in parts.items()}
        return BatchResult(outcomes, names, tables)
