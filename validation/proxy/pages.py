"""Pages and downloads through `acklab proxy` and over TCP, over an emulated bad Wi-Fi link.

`sudo .venv/bin/python validation/proxy/pages.py [--loads N] [--link LINK] [--octets N]
[--without-browser] [--json]`.

A server of HTTP/1.1 and the far side of the proxy share a node. A browser (chromium) and curl are
behind the Wi-Fi link. Each load begins with a new browser or a new process of curl, and without a
connection. Loads over TCP, with the kernel's CUBIC and BBR, and over the proxy alternate. The load
time of a page is the time of its load event, which the page's script reports.
"""

import argparse
import contextlib
import http.server
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import acklab
from acklab import core
from acklab.scenario import Source
from acklab.statistics import Interval, mean_interval, ratio_interval
from acklab.studies import Bench, find
from acklab.tables import Table
from acklab.terminal import out, show_table

LINKS = {
    "lossy": ("802.11g, 20 ms, 1 % of data and of ACKs lost", ["../tack_ideal/links.toml:802.11g", "cases.toml:case 2"], ["wifi.0.ap.queue.limit=1000packets"]),
    "noisy": (
        "802.11g, 20 ms, 1 % lost beyond, and a third of the frames lost to noise",
        ["../tack_ideal/links.toml:802.11g", "cases.toml:case 2"],
        ["wifi.0.ap.queue.limit=1000packets", 'wifi.0.reception={channel = {model = "fixed", frame_error_rate = 0.33}}'],
    ),
    "clean": ("802.11g, 20 ms, nothing lost", ["../tack_ideal/links.toml:802.11g", "cases.toml:case 1"], ["wifi.0.ap.queue.limit=1000packets"]),
}  # fmt: skip
"""Title, variants of the study `tack_wan` and overrides: case 2 of Figure 13 with a queue of
Linux's default length, the same with noise, and case 1.
"""
IMAGES, IMAGE = 70, 35_000
"""A page: the number of its images, and the bytes of each image.

HTTP Archive, "State of the Web", mobile pages of 2024: 66 requests and 2.3 MB in the median.
"""
FILE = 4_000_000
"""Bytes of the file that curl fetches, unless `--octets` is given."""
WAYS = ("TCP, CUBIC", "TCP, BBR", "proxy")
PORT, SOCKS, FAR = 8080, 1080, 8225
LOADED = "loaded after [ms]: "
"""Prefix that the server prints before the time of a load."""
PATIENCE = 120
"""Seconds after which a load has failed."""
MEASURES = {"page": "page in a browser [s]", "file": "file with curl [s]", "small": "image with curl [s]"}

PAGE = (
    "<!doctype html><title>page</title>"
    + "".join(f'<img src="/{number}.bin?size={IMAGE}">' for number in range(IMAGES))
    + "<script>addEventListener('load', () => navigator.sendBeacon('/loaded', String(performance.now())))</script>"
)


class Pages(http.server.BaseHTTPRequestHandler):
    """Serves the page and files of any size, and receives the time that the page reports."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Sends the page, or a file of the requested size."""
        _, _, size = self.path.partition("?size=")
        body, kind = (bytes(int(size)), "application/octet-stream") if size else (PAGE.encode(), "text/html")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", kind)
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)

    def do_POST(self) -> None:
        """Prints the time of a load, in milliseconds."""
        print(LOADED + self.rfile.read(int(self.headers["Content-Length"])).decode(), flush=True)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Prints nothing, because the output has only the times."""


class Server(http.server.ThreadingHTTPServer):
    """The kernel's TCP with a congestion controller."""

    request_queue_size = 128

    def __init__(self, port: int, congestion: str) -> None:
        super().__init__(("", port), Pages)
        # Accepted connections inherit the controller.
        self.socket.setsockopt(6, 13, congestion.encode())


def serve() -> None:
    """Serves pages under CUBIC on one port, and under BBR on the next."""
    servers = [Server(PORT + place, congestion) for place, congestion in enumerate(("cubic", "bbr"))]
    threads = [threading.Thread(target=server.serve_forever) for server in servers]
    for thread in threads:
        thread.start()
    threads[0].join()


@contextlib.contextmanager
def browser(address: str, options: list[str]) -> Iterator[None]:
    """Yields a new browser, without data of earlier loads, that opens an address."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        quiet = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
        ]
        command = ["chromium", *quiet, f"--user-data-dir={profile}", *options, address]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def visit(server: str, times: Path, loads: int, octets: int, with_browser: bool) -> None:
    """Loads the page and the files alternately, and prints a line of JSON for each."""
    for place in ((server, PORT), (server, PORT + 1), ("127.0.0.1", SOCKS)):
        _await(place)
    for load in range(loads):
        for way in WAYS[load % len(WAYS) :] + WAYS[: load % len(WAYS)]:
            port = PORT + (way == "TCP, BBR")
            proxied = way == "proxy"
            found: dict[str, float | None] = {}
            if with_browser:
                seen = len(_loaded(times))
                with browser(
                    f"http://{server}:{port}/",
                    [f"--proxy-server=socks5://127.0.0.1:{SOCKS}"] if proxied else ["--no-proxy-server"],
                ):
                    until = time.monotonic() + PATIENCE
                    while len(lines := _loaded(times)) == seen and time.monotonic() < until:
                        time.sleep(0.02)
                found["page"] = lines[-1] / 1000 if len(lines) > seen else None
            for name, size in (("file", octets), ("small", IMAGE)):
                command = [
                    "curl",
                    "--silent",
                    "--output",
                    "/dev/null",
                    "--write-out",
                    "%{size_download} %{time_total}",
                    "--max-time",
                    str(PATIENCE),
                ]
                command += ["--proxy", f"socks5h://127.0.0.1:{SOCKS}"] * proxied
                told = subprocess.run(
                    [*command, f"http://{server}:{port}/{name}.bin?size={size}"], capture_output=True, text=True, check=False
                ).stdout.split()
                found[name] = float(told[1]) if told and int(told[0]) == size else None
            print(json.dumps({"way": way, **found}), flush=True)


def _await(place: tuple[str, int]) -> None:
    """Waits until a process listens on the port."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(place, timeout=1):
            return
        time.sleep(0.1)
    sys.exit(f"error: no listener at {place[0]}:{place[1]}")


def _loaded(file: Path) -> list[float]:
    """Returns the times that pages reported, in ms."""
    return [float(line.removeprefix(LOADED)) for line in file.read_text().splitlines() if line.startswith(LOADED)]


def emulate(
    link: str, loads: int, octets: int, with_browser: bool
) -> tuple[list[dict[str, float | str | None]], tuple[str, ...]]:
    """Returns the times of each load, and the reasons why they are unreliable."""
    _, variants, changes = LINKS[link]
    own = f"{sys.executable} {Path(__file__).resolve()}"
    core.acquire_permission()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(find("tack_wan"), Path(folder))
        tools = f"{sys.executable} -m acklab proxy"
        # Both sides share a folder of state, where the near side finds what the far side has made.
        listen = f"{tools} listen --json --state {folder}/far --allow 127.0.0.1 --allow 10.0.0.0/8"
        read = "import json,sys; line=json.loads(open(sys.argv[1]).readline()); print(line[sys.argv[2]])"
        of_far = f"$({sys.executable} -c '{read}' {folder}/far.out %s)"
        token, fingerprint = of_far % "token", of_far % "fingerprint"
        until = f"until [ -s {folder}/far.out ]; do sleep 0.1; done"
        connect = f"{until}; ACKLAB_PROXY_TOKEN={token} exec {tools} connect --via {{server}}:{FAR} --fingerprint {fingerprint} --socks 127.0.0.1:{SOCKS}"
        applications = [
            {"name": "pages", "node": "server", "command": f"exec {own} --serve"},
            {"name": "far", "node": "server", "command": f"exec {listen}"},
            {"name": "near", "node": "sta", "command": connect},
        ]
        sets = [
            *bench.sets(variants),
            *changes,
            "flow=[]",
            "duration=60min",
            "measure.from=4s",
            *acklab.scenario.overrides({"application": applications}),
        ]
        visitor = [*own.split(), "--visit", "{server}", f"{folder}/pages.out", "--loads", str(loads), "--octets", str(octets)] + [
            "--without-browser"
        ] * (not with_browser)
        wait = ["sh", "-c", f'sleep 3; exec "$@" > {folder}/visits.json', "visit", *visitor]
        done = acklab.emulate(Source.of(bench.source("path.toml")), set=sets, outputs=folder, at=("sta", wait))
        lines = (Path(folder) / "visits.json").read_text().splitlines()
    return [json.loads(line) for line in lines], done.reasons


def main() -> None:
    """Measures, and shows a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--loads", type=int, default=10)
    parser.add_argument("--octets", type=int, default=FILE, help="the size of the file that curl fetches")
    parser.add_argument("--link", choices=LINKS, default="lossy")
    parser.add_argument("--without-browser", action="store_true", help="only with curl")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--visit", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        return serve()
    if given.visit:
        return visit(given.visit[0], Path(given.visit[1]), given.loads, given.octets, not given.without_browser)
    tools = ["curl"] + ["chromium"] * (not given.without_browser)
    if missing := [tool for tool in tools if shutil.which(tool) is None]:
        sys.exit(f"error: found no {' and no '.join(missing)}")
    rows, reasons = emulate(given.link, given.loads, given.octets, not given.without_browser)
    if given.json:
        print(json.dumps({"link": given.link, "loads": rows, "reasons": reasons}))
        return None
    shown = [[way, *(_cell(rows, way, name) for name in MEASURES)] for way in WAYS]
    show_table(Table(["way", *MEASURES.values()], shown, LINKS[given.link][0], numeric_from=1))
    for name, title in MEASURES.items():
        for other in WAYS[:2]:
            ratio = _ratio(rows, name, other)
            out.print(f"{title}: the proxy takes {ratio.text(2)} of the time of {other}", highlight=False)
    if reasons:
        out.print("results unreliable: " + "; ".join(reasons), highlight=False)
    return None


def _times(rows: list[dict[str, float | str | None]], way: str, name: str) -> list[float | None]:
    return [None if (found := row.get(name)) is None else float(found) for row in rows if row["way"] == way]


def _cell(rows: list[dict[str, float | str | None]], way: str, name: str) -> str:
    times = _times(rows, way, name)
    failed = sum(found is None for found in times)
    return mean_interval(found for found in times if found is not None).text(2) + (f", {failed} failed" if failed else "")


def _ratio(rows: list[dict[str, float | str | None]], name: str, other: str) -> Interval:
    return ratio_interval(_times(rows, "proxy", name), _times(rows, other, name))


if __name__ == "__main__":
    main()
