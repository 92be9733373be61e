"""Measures and report sections of the study."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.studies import Bench, Measure, closed_form
from acklab.sweeps import Point

from . import drawing
from .choices import SPACES, A, Space
from .points import SINGLE
from .runs import CURVES, SCENARIO, Candidates, Curves, Held, candidates, cells_of, curves, kept, link, run

COMMAND = "acklab study wifi_capacity"


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns numbers of claims that are in no table of a single run."""
    swept = run(bench)
    held = _all(curves(bench, swept[CURVES]), [candidates(bench, space, swept[space.link]) for space in SPACES])
    alone, batches = (bench.replicas([(SCENARIO, link(bench, name).set)])[0] for name in ("n600", "n150"))
    command, of_batches = [alone[0].command], [batches[0].command]
    (of_a,) = cells_of(bench, A, [()])
    payload = closed_form.cycle(dataclasses.replace(of_a, mode=closed_form.ht(7), payload=1500)).payload
    return {
        "idle": Measure([_idle(bench, point) for point in alone], command),
        "efficiency": Measure([100 * _goodput(bench, point) / 600 for point in alone], command),
        "batch": Measure([_access_point(bench, point, "mean_mpdus_per_ppdu_l2") for point in batches], of_batches),
        "payload": Measure([payload / 1000], [COMMAND]),
        "apart": Measure([max(abs(one.apart) for one in held)], [COMMAND]),
        "apart_in_time": Measure([max(one.apart_in_time for one in held)], [COMMAND]),
    }


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    swept = kept(bench)
    drawn = curves(bench, swept[CURVES])
    spaces = [candidates(bench, space, swept[space.link]) for space in SPACES]
    return [_capacity(bench, drawn), _time(drawn), *_published(bench, spaces), _agreement(drawn, spaces)]


def _goodput(bench: Bench, point: Point) -> float:
    return float(bench.results([point])[0].flows["mean_throughput_l7"][0])


def _access_point(bench: Bench, point: Point, column: str) -> float:
    return float(bench.results([point])[0].table("stations").row(0, named=True)[column])


def _idle(bench: Bench, point: Point) -> float:
    """Returns AIFS and backoff of one exchange [µs].

    The result is the mean over a run. It includes all interframe spaces and backoffs, except the
    SIFS before each response frame.
    """
    result = bench.results([point])[0]
    waits = result.table("airtime").filter(pl.col("use").is_in(["interframe_space", "backoff"]))
    return float(waits["time"].sum()) / _access_point(bench, point, "total_ppdus_l2") / 1000 - 16


def _all(drawn: Curves, spaces: Sequence[Candidates]) -> list[Held]:
    groups: list[Curves | Candidates] = [drawn, *spaces]
    return [one for group in groups for one in group.held if one.simulated is not None]


def _capacity(bench: Bench, drawn: Curves) -> Section:
    seeds = f"mean over {bench.seeds} seeds with its 95 % confidence interval, mostly smaller than the marker"
    marks = drawing.marks(bench.findings)
    return Section(
        "Goodput and efficiency by rate",
        "Lines are the analytic model, dots the simulation, and stars published values. 802.11g coincides with 802.11a. Single frames with 1472 bytes of payload use "
        "a smaller share of a faster PHY, because the time between two frames is constant. Aggregates delay this effect until an A-MPDU "
        "of 65,535 bytes, or 64 frames, is short as well.",
        items=[
            Figure(drawing.capacity(drawn, marks), f"Goodput against the rate of the PHY, both logarithmic; {seeds}", [COMMAND, drawn.command]),
            Figure(drawing.capacity(drawn, marks, efficiency=True), f"Goodput as a share of the rate of the PHY; {seeds}", [COMMAND, drawn.command]),
        ],
    )  # fmt: skip


def _time(drawn: Curves) -> Section:
    return Section(
        "Use of the time",
        "The mean cycle of the model. Headers are those of UDP, IP, LLC and MAC with delimiters, padding, tail bits and signal extension.",
        items=[
            Figure(
                drawing.cycles([(one, point.panel == SINGLE) for one, point in zip(drawn.held, drawn.points, strict=True)]),
                "Shares of the cycle at the fastest rate of each standard",
                [COMMAND],
            )
        ],
    )


def _published(bench: Bench, spaces: Sequence[Candidates]) -> Iterator[Section]:
    combined = {one.space.link: _combinations(bench, one.space) for one in spaces}
    published = {one.space.link: _published_for(bench, one.space) for one in spaces}
    tables = []
    for one in spaces:
        number = published[one.space.link]
        tables += [_tried(one, number), _nearest(combined[one.space.link], number, one.title)]
    yield Section(
        "Choices of the standard, compared with published numbers",
        "Each choice of the standard, by itself and in all combinations. Nothing is fitted: every candidate is listed with its result. "
        "The frequencies of TACK's Figure 8(b), 294 and 24,777 Hz, follow from baselines in units of 1024 kbps (7 · 1,024,000 / (8 · 2 · 1524)), "
        "so its baselines may be 2.4 % higher than printed. The grey band covers this range.",
        items=[
            Figure(
                drawing.spaces({name: _plainest(found) for name, found in combined.items()}, spaces, published),
                "Goodput of the model ÷ published number: all combinations as small dots, single choices as large ones. Hover over a dot for its choices.",
                [COMMAND],
            ),
            *tables,
            _of_any_length(bench, spaces),
        ],
    )  # fmt: skip


def _published_for(bench: Bench, space: Space) -> float:
    (claim,) = (claim for claim in bench.study.file.claim if claim.id == space.claim)
    return claim.published


def _combinations(bench: Bench, space: Space) -> list[tuple[str, float]]:
    """Returns every combination with its goodput."""
    combinations = list(space.combinations())
    titles = ("; ".join(choice.title for choice in choices) or "the standard's defaults" for choices in combinations)
    cells = cells_of(bench, space, combinations)
    return [(title, closed_form.cycle(cell).goodput) for title, cell in zip(titles, cells, strict=True)]


def _tried(tried: Candidates, published: float) -> Table:
    rows = []
    for choice, one in zip(tried.choices, tried.held, strict=True):
        off = 100 * (one.cycle.goodput / published - 1)
        rows.append(
            [
                choice.title,
                choice.note,
                f"{one.cycle.goodput:.2f}",
                "–" if one.simulated is None else one.simulated.text(),
                f"{off:+.1f}",
            ]
        )
    head = ["setting", "note", "model", "simulated", "of published [%]"]
    caption = (
        f"{tried.title}, published {published:g} Mbps: one choice at a time. A dash means that the simulator has no such setting"
    )
    return Table(head, rows, caption, commands=[tried.command], numeric_from=2)


def _plainest(combined: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Returns the combination with the fewest choices for each goodput, to 10 kbps."""
    found: dict[int, tuple[str, float]] = {}
    for text, goodput in sorted(combined, key=lambda one: one[0].count(";")):
        found.setdefault(round(100 * goodput), (text, goodput))
    return list(found.values())


def _of_any_length(bench: Bench, spaces: Sequence[Candidates]) -> Table:
    """Returns lengths of Block ACK agreements, up to 64 frames, that give nearly published values.

    Source: Buffer Size, 9.4.1.13.
    """
    rows = []
    for one in spaces:
        published = _published_for(bench, one.space)
        (defaults,) = cells_of(bench, one.space, [()])
        if not defaults.aggregate:
            continue
        for frames in range(1, closed_form.WINDOW):
            around = [closed_form.cycle(dataclasses.replace(defaults, frames=count)).goodput for count in (frames, frames + 1)]
            if around[0] <= published < around[1]:
                title = bench.variants("links.toml").chosen[one.space.link].title
                rows.append(
                    [title, f"{published:g}", *(f"{frames + more}: {goodput:.1f}" for more, goodput in enumerate(around))]
                )
    head = ["link", "published", "frames: model", "one more frame"]
    return Table(head, rows, "Frames per aggregate for the published number, with defaults otherwise")


def _nearest(combined: Sequence[tuple[str, float]], published: float, title: str) -> Table:
    """Returns the combinations nearest to the published number.

    Among equal results, returns the combination with the fewest choices.
    """
    ranked = sorted(_plainest(combined), key=lambda one: abs(one[1] / published - 1))
    within = sum(abs(goodput / published - 1) <= 0.01 for _, goodput in combined)
    least, most = min(goodput for _, goodput in combined), max(goodput for _, goodput in combined)
    rows = [[text, f"{goodput:.2f}", f"{100 * (goodput / published - 1):+.2f}"] for text, goodput in ranked[:6]]
    caption = f"{title}: of {len(combined)} combinations, from {least:.1f} to {most:.1f} Mbps, {within} are within 1 % of {published:g}; nearest combinations"
    return Table(["combination", "model", "of published [%]"], rows, caption)


def _agreement(drawn: Curves, spaces: Sequence[Candidates]) -> Section:
    held = sorted(_all(drawn, spaces), key=lambda one: -abs(one.apart))
    outside = [
        one for one in held if one.simulated is not None and not one.simulated.low <= one.cycle.goodput <= one.simulated.high
    ]
    rows = [
        [
            one.name,
            str(one.cycle.frames),
            simulated.text(),
            f"{one.cycle.goodput:.3f}",
            f"{one.apart:+.3f}",
            f"{one.apart_in_time:.3f}",
        ]
        for one, simulated in ((one, one.simulated) for one in held[:10])
        if simulated is not None
    ]
    head = ["cell", "frames", "simulated", "model", "difference [%]", "time share [%]"]
    return Section(
        "Simulation and model",
        f"{len(held)} cells. The model is outside the 95 % confidence interval of {len(outside)} of them; about "
        f"{0.05 * len(held):.0f} are expected at random.",
        items=[
            Figure(drawing.agreement(held), "Simulation ÷ model, point by point, with 95 % confidence intervals", [COMMAND]),
            Table(head, rows, "The ten cells with the largest difference", commands=[held[0].command]),
        ],
    )
