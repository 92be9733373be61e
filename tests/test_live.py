"""The live views of an emulation: in the terminal, and on a page."""

import io
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from rich.console import Console

from acklab.errors import UsageError
from acklab.live.samples import Stream
from acklab.live.server import served
from acklab.live.view import drawn
from browser import needs_a_browser, page_in_a_browser

SAMPLE: dict[str, Any] = {
    "time": 2.0,
    "duration": 10.0,
    "flows": [
        {"flow": "up", "throughput": 15.43, "srtt": 24.5, "delay": None, "cwnd": 31.0, "acks": 660.0, "retransmissions": 3},
        {"flow": "calls", "throughput": 2.0, "srtt": None, "delay": 8.1, "cwnd": None, "acks": None, "retransmissions": None},
    ],
    "links": [{"link": "btl_forward", "rate": 16.0, "queue": 17, "drops": 2, "filtered": 3}],
    "cells": [{"cell": "office", "queues": {"ap": 12, "sta": 0}, "airtime": {"data": 0.6, "backoff": 0.25, "idle": 0.001}}],
    "lateness": {"deliveries": 2000, "p50": 22.4, "p99": 61.0, "max": 430.0},
}


def shown(sample):
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(drawn(sample, "path.toml"))
    return console.export_text()


def test_the_terminal_shows_rates_queues_round_trips_airtime_and_lateness():
    text = shown(SAMPLE)
    for words in ("2 of 10 s", "15.43", "24.5", "btl_forward", "17", "data 60%, backoff 25%", "queues: ap 12", "p99 61"):
        assert words in text
    assert "idle" not in text, "less than half a per cent"
    assert shown(SAMPLE | {"lateness": None}).count("no packet was delivered") == 1


def test_many_flows_fit_a_terminal():
    flows = [SAMPLE["flows"][0] | {"flow": f"up_{number}"} for number in range(40)]
    assert "… 28 more" in shown(SAMPLE | {"flows": flows})


def get(address):
    with urllib.request.urlopen(address, timeout=10) as answer:
        return answer.read().decode()


def test_the_page_is_escaped_and_its_stream_has_every_sample_and_ends():
    with served("<a&b>.toml") as (address, show):
        assert address.startswith("http://127.0.0.1:"), "no other machine can reach it"
        assert "&lt;a&amp;b&gt;.toml" in get(address)
        assert "EventSource" in get(f"{address}live.js")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(f"{address}../secret")
        show(SAMPLE)
        got = []
        reader = threading.Thread(target=lambda: got.append(get(f"{address}samples")))
        reader.start()
        show(SAMPLE | {"time": 3.0})
        time.sleep(0.2)
    reader.join(10)
    assert got[0].count("data: {") == 3, "two samples, and the end"
    assert '"time": 3.0' in got[0]
    assert got[0].endswith("event: over\ndata: {}\n\n")


@needs_a_browser
def test_a_telephone_shows_all_names_of_connections_below_their_plots():
    names = [f"server:5201-client:{32_960 + number}" for number in range(7)]
    flows = [SAMPLE["flows"][0] | {"flow": name} for name in names]
    found = """(() => {
        const plot = document.getElementById("throughput");
        const box = plot.getBoundingClientRect();
        const entries = [...plot.querySelectorAll(".legend .traces")].map((entry) => entry.getBoundingClientRect());
        const bars = [...plot.querySelectorAll(".legend .scrollbar")].map((bar) => bar.getBoundingClientRect().height);
        const title = plot.querySelector(".xtitle").getBoundingClientRect();
        return {
            entries: entries.length,
            inside: entries.every((entry) => entry.top >= title.bottom - 2 && entry.bottom <= box.bottom + 1),
            bars: Math.max(0, ...bars),
            width: document.documentElement.scrollWidth,
        };
    })()"""
    with served("many.toml") as (address, show):
        for second in (1.0, 2.0):
            show(SAMPLE | {"time": second, "flows": flows})
        told = page_in_a_browser(address, "document.querySelector('#throughput .legend .traces')", found, height=900, width=390)
    assert told == {"entries": 7, "inside": True, "bars": 0, "width": 390}


def test_a_taken_port_is_refused():
    with served("one") as (address, _):
        port = int(address.rsplit(":", 1)[1].strip("/"))
        with pytest.raises(UsageError, match=rf"--port {port}: cannot listen .*expected a free port"), served("two", port):
            pass


@needs_a_browser
def test_the_plots_move_in_a_browser(monkeypatch):
    taken, after = threading.Event(), Stream.after

    def watched(stream, seen):
        if seen >= 3:
            taken.set()
        return after(stream, seen)

    monkeypatch.setattr(Stream, "after", watched)
    over = "document.getElementById('state').textContent.includes('the run is over')"
    with ThreadPoolExecutor(1) as pool:
        with served("path.toml") as (address, show):
            for second in range(1, 4):
                show(SAMPLE | {"time": float(second)})
            opened = pool.submit(page_in_a_browser, address, over)
            assert taken.wait(60), "the page has the first samples"
            show(SAMPLE | {"time": 4.0})
        dom = opened.result()
    assert "4 of 10 s" in dom
    assert dom.count('class="main-svg"') >= 8, "a plot for each quantity"
    assert "btl_forward" in dom
