"""Runs points on an existing Ray cluster, in batches as plain tasks.

The scenario, its traces and its strategies are sent with the batches. A worker stores its results
itself if it can reach the store, which is a URL or a folder of a shared file system. Otherwise the
results are sent to this process, which stores them.
"""

import atexit
import contextlib
import hashlib
import os
import platform
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acklab import core
from acklab.errors import AcklabError, RunError, StoreError, UsageError
from acklab.places import LocalPlace, Place, place_of
from acklab.scenario import Source
from acklab.strategy_files import StrategyFile
from acklab.sweeps.batch import Failure, Queue, run_batch
from acklab.sweeps.execution import Executor, OnDone, Store
from acklab.sweeps.pack import Pack
from acklab.sweeps.packed_store import PackedStore
from acklab.sweeps.point import Point

if TYPE_CHECKING:
    import ray

_AHEAD = 2
"""Batches in flight per processor of the cluster."""
_PATIENCE = 1.0
"""Maximum seconds to wait for running batches after Ctrl-C.

Chosen: half of the two seconds in which a command ends.
"""
_RETRIES = 3
"""Maximum number of retries of a batch whose worker was lost. Then its points run one by one, to
find the point that kills workers.
"""


@dataclass(frozen=True)
class Travelling:
    """The files of a source that its points require on another machine."""

    revision: str
    text: str
    name: str
    traces: Mapping[str, bytes]
    strategies: Sequence[tuple[str, str, str, bytes]]
    """Name, class, path and content of each file."""
    store: str
    """The folder or the URL of the store."""
    token: str
    """The name of a file that identifies the folder for workers that can reach it."""


@dataclass(frozen=True)
class Job:
    """A batch."""

    points: Sequence[tuple[tuple[str, ...], int, str, str]]
    """Overrides, seed, digest and command of each point."""
    seconds: float
    kernel: str = ""
    """The guest kernel of all points, which each node requires under this name."""


@dataclass(frozen=True)
class Done:
    """The outcome of a batch."""

    finished: Sequence[str]
    failed: Sequence[tuple[str, str]]
    left: Sequence[str]
    """Digests of the points; for failed ones with the message."""
    seconds: float
    node: str
    pack: Pack | None
    """The results, if the worker could not store them."""


@dataclass(frozen=True)
class Ray:
    """Runs points on the Ray cluster at `address`.

    `address` is "auto" for the cluster of this machine or of RAY_ADDRESS, or "ray://HOST:PORT".
    """

    address: str = "auto"

    def run(self, points: Sequence[Point], store: Store, on_done: OnDone) -> None:
        """Runs points on the cluster."""
        with _connected(self.address), _marked(store.place) as token:
            _Driver(store, on_done, token).work(points)


def executor_of(text: str | None) -> Executor | None:
    """Returns the executor for `--on`: "ray", or "ray://HOST:PORT". Raises UsageError."""
    if text is None or text == "local":
        return None
    if text == "ray":
        return Ray()
    if text.startswith("ray://") and len(text) > len("ray://"):
        return Ray(text)
    raise UsageError(f"found the executor {text!r}, expected ray, or ray://HOST:PORT")


@contextlib.contextmanager
def _connected(address: str) -> Iterator[None]:
    try:
        import ray
    except ImportError as error:
        raise UsageError("the package ray is missing: pip install 'acklab[ray]'") from error
    is_owned = not ray.is_initialized()
    if is_owned:
        try:
            ray.init(address=address, log_to_driver=False, logging_level="warning", namespace="acklab")
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            raise RunError(f"cannot connect to the Ray cluster at {address}: {str(error).splitlines()[0]}") from error
    try:
        yield
    finally:
        if is_owned:
            ray.shutdown()


@contextlib.contextmanager
def _marked(place: Place) -> Iterator[str]:
    """Yields the name of a file in a folder, by which a worker recognises the same folder."""
    token = f".ray-{secrets.token_hex(8)}"
    if place.path is None:
        yield ""
        return
    path = place.path / token
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Removes files of killed drivers. A driver that still runs loses its file too; from now on,
        # it receives its results over Ray.
        for earlier in path.parent.glob(".ray-*"):
            earlier.unlink(missing_ok=True)
        path.touch()
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        yield token
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


@dataclass
class _Driver:
    """Sends batches and receives their outcomes."""

    store: Store
    on_done: OnDone
    token: str
    travelling: dict[Any, Any] = field(default_factory=dict)
    """References to the sent files, by source and strategies."""
    running: "dict[ray.ObjectRef, list[Point]]" = field(default_factory=dict)

    def work(self, points: Sequence[Point]) -> None:
        import ray

        task = ray.remote(num_cpus=1, max_retries=_RETRIES)(run_job)
        queue = Queue.of(points, self._processors())
        try:
            while queue.points or self.running:
                while queue.points and len(self.running) < _AHEAD * queue.workers:
                    self._send(task, queue)
                ready, _ = ray.wait(list(self.running), timeout=0.5)
                for reference in ready:
                    self._take(reference, queue)
                queue.workers = self._processors()
        except KeyboardInterrupt:
            self._end(queue)
            raise

    @staticmethod
    def _processors() -> int:
        import ray

        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def _send(self, task: Any, queue: Queue, single: Sequence[Point] = ()) -> None:
        batch = list(single) or queue.next()
        points = [(point.sets, point.seed, point.digest, point.command) for point in batch]
        self.running[task.remote(self._travelling(batch[0]), Job(points, queue.seconds, batch[0].kernel))] = batch

    def _travelling(self, point: Point) -> Any:
        import ray

        key = (point.source, point.strategies, point.traces)
        if key not in self.travelling:
            source = point.source
            self.travelling[key] = ray.put(
                Travelling(
                    core.revision(),
                    source.text,
                    source.name,
                    {name: (source.base / name).read_bytes() for name in point.traces},
                    [(file.name, file.made, str(file.path), file.path.read_bytes()) for file in point.strategies],
                    str(self.store.place.path.absolute() if self.store.place.path else self.store.place),
                    self.token,
                )
            )
        return self.travelling[key]

    def _take(self, reference: Any, queue: Queue) -> None:
        import ray

        batch = self.running.pop(reference)
        try:
            done: Done = ray.get(reference)
        except (ray.exceptions.RayTaskError, ray.exceptions.RayError) as error:
            self._lost(batch, error, queue)
            return
        if done.pack is not None:
            self.store.keep(done.pack)
        by_digest = {point.digest: point for point in batch}
        failed: list[Failure] = [(by_digest[digest], message) for digest, message in done.failed]
        queue.spent(len(done.finished) + len(failed), done.seconds)
        queue.put_back([by_digest[digest] for digest in done.left])
        self.on_done([by_digest[digest] for digest in done.finished], failed, done.node)

    def _lost(self, batch: Sequence[Point], error: Exception, queue: Queue) -> None:
        """Handles a batch without a result.

        The worker was lost repeatedly, or raised an error that no point caused.
        """
        import ray

        cause = getattr(error, "cause", None)
        if isinstance(cause, AcklabError):
            raise cause
        if isinstance(error, ray.exceptions.RayTaskError):
            raise RunError(f"a worker of the cluster failed: {str(error).strip().splitlines()[-1]}") from error
        if len(batch) == 1:
            self.on_done([], [(batch[0], f"its worker was lost {_RETRIES + 1} times: {type(error).__name__}")], "")
            return
        queue.put_back(batch)
        queue.one_by_one(batch)

    def _end(self, queue: Queue) -> None:
        """Receives batches that end soon, and stops the other batches."""
        import ray

        until = time.monotonic() + _PATIENCE
        with contextlib.suppress(KeyboardInterrupt):
            while self.running and (left := until - time.monotonic()) > 0:
                ready, _ = ray.wait(list(self.running), timeout=left)
                for reference in ready:
                    self._take(reference, queue)
        for reference in self.running:
            with contextlib.suppress(Exception):
                ray.cancel(reference)


def run_job(travelling: Travelling, job: Job) -> Done:
    """Runs a batch on a worker.

    Raises RunError if the core there differs, StoreError if results cannot be stored.
    """
    if core.revision() != travelling.revision:
        raise RunError(
            f"{platform.node()}: found the core {core.revision()}, expected {travelling.revision}, which planned the points: "
            "install the same acklab on all nodes"
        )
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="acklab-") as folder:
        source, strategies, names = _unpacked(travelling, Path(folder))
        points = [Point(source, sets, seed, digest, strategies, kernel=job.kernel) for sets, seed, digest, _ in job.points]
        batch = run_batch(points, seconds=job.seconds, commands=[command for *_, command in job.points])
        seconds = time.monotonic() - started
    place = _reached(travelling)
    if place is not None:
        PackedStore(place).keep(batch.pack)
    failed = []
    for point, message in batch.failed:
        for here, there in names.items():
            message = message.replace(here, there)  # noqa: PLW2901
        failed.append((point.digest, message))
    return Done(
        [point.digest for point in batch.finished],
        failed,
        [point.digest for point in batch.left],
        seconds,
        _node(),
        None if place is not None else batch.pack,
    )


def _reached(travelling: Travelling) -> Place | None:
    """Returns the store if this worker can reach the store of the driver; otherwise None."""
    place = place_of(travelling.store, "store")
    if isinstance(place, LocalPlace):
        return place if (place.folder / travelling.token).is_file() else None
    return place


def _unpacked(travelling: Travelling, folder: Path) -> tuple[Source, tuple[StrategyFile, ...], Mapping[str, str]]:
    """Returns the source and the strategies as files of this machine.

    Also returns the paths of the strategies here, each with the path at the driver.
    """
    # Names of traces may begin with `..`, so `base` needs as many folders above it.
    up = max((Path(os.path.normpath(name)).parts.count("..") for name in travelling.traces), default=0)
    base = folder.joinpath("base", *["d"] * up)
    base.mkdir(parents=True)
    for name, octets in travelling.traces.items():
        path = Path(os.path.normpath(base / name))
        if os.path.isabs(name):
            if not path.is_file() or path.read_bytes() != octets:
                raise RunError(f"{platform.node()}: found no such trace {name}, expected that of the driver, or a relative path")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(octets)
    strategies, names = [], {}
    for name, made, there, octets in travelling.strategies:
        # A file is executed once per process, and keeps its path for the lines of its messages.
        path = _home() / hashlib.sha256(octets).hexdigest() / Path(there).name
        path.parent.mkdir(exist_ok=True)
        if not path.is_file():
            path.write_bytes(octets)
        names[str(path)] = there
        strategies.append(StrategyFile(name, path, made))
    return Source(travelling.text, travelling.name, base), tuple(strategies), names


@cache
def _home() -> Path:
    """Returns a folder for the strategies of this worker."""
    folder = tempfile.mkdtemp(prefix="acklab-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _node() -> str:
    """Returns the name of this node: the host, and enough of its id in the cluster to be unique."""
    import ray

    return f"{platform.node()}/{ray.get_runtime_context().get_node_id()[:4]}"
