"""Prints the table of a corpus.

The table has the numbers of files and directions that agree, statements without support, and the
worst disagreements.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from validation.inspection.agreement import FAST, QUANTITIES, SLOW

_WORST = 12
"""Maximum number of printed disagreements of each quantity."""
_LEAST_SEGMENTS = 20
"""Directions with fewer segments are counted separately, because one packet is more than 2 % of
their segments.
"""
_FEW = 50
"""Segments below which a rate has little support.

Chosen as in the issue that requested this table.
"""
_NAMES = ("closed", "cut", "damaged")
"""Counts of a report that name packets without analysis."""


def show(files: Sequence[Mapping[str, Any]], folder: str) -> int:
    """Prints the table. Returns 1 if a file has a traceback or a thinner is refuted."""

    def name(one: Mapping[str, Any]) -> str:
        return str(one["file"]).removeprefix(folder).lstrip("/")

    broken = [one for one in files if one["failure"] or one["tracebacks"]]
    errors = [one for one in files if one["error"]]
    silent = [one for one in files if is_silent(one)]
    print(f"files: {len(files)}; read: {sum(one['counts'] is not None for one in files)}; errors: {len(errors)}")
    _listed("tracebacks, crashes and timeouts", [f"{name(one)}: {_last(one)}" for one in broken])
    _listed("silent (status 0, no connection, no content named)", [f"{name(one)}: {_content(one)}" for one in silent])
    _listed(
        "no connection although tshark finds TCP or QUIC", [f"{name(one)}: {_content(one)}" for one in files if _is_missed(one)]
    )
    with_tcp = [one for one in errors if one["tshark"] and (one["tshark"]["tcp_frames"] or one["tshark"]["quic"])]
    _listed("errors although tshark finds TCP or QUIC", [f"{name(one)}: {one['error']}" for one in with_tcp])
    _listed(
        "logs read as empty",
        [name(one) for one in files if one["is_log"] and not one["error"] and not one.get("directions_with_data")],
    )
    _show_connections(files, name)
    for quantity in (*QUANTITIES, "tcptrace data octets", "tcptrace pure ACKs"):
        _show_quantity(quantity, files, name)
    missing = [f"{name(one)}: {row['from']} → {row['to']}" for one, row in _rows(files) if not row["is_reported"]]
    _listed("directions with data that acklab does not report", missing)
    other = [f"{name(one)}: {row['from']} → {row['to']}" for one, row in _rows(files) if not row["is_dissected"]]
    _listed("directions that tshark does not have", other)
    refuted = _show_statements(files, name)
    return int(bool(broken or refuted))


def is_silent(one: Mapping[str, Any]) -> bool:
    """Returns `True` if a file ends with status 0, and the report shows no content.

    The report then has neither a connection nor the name of a protocol in the file.
    """
    counts = one["counts"]
    if counts is None or counts["connections"] or not counts["packets"]:
        return False
    return not any(counts.get(key) for key in _NAMES) and one["report_keys"].get("cut") is None


def _is_missed(one: Mapping[str, Any]) -> bool:
    """Returns whether tshark finds TCP or QUIC in a file, and acklab finds no connection."""
    tshark = one["tshark"]
    has_any = tshark is not None and (tshark["tcp_frames"] or tshark["quic"])
    return bool(has_any and one["counts"] is not None and not one["counts"]["connections"])


def _content(one: Mapping[str, Any]) -> str:
    tshark = one["tshark"]
    return (
        "a log"
        if tshark is None
        else f"{tshark['frames']} frames, {tshark['tcp_frames']} of TCP in {len(tshark['quic'])} QUIC and {tshark['tcp_connections']} TCP connections"
    )


def _last(one: Mapping[str, Any]) -> str:
    texts = [one["failure"], *(one["tracebacks"] or {}).values()]
    return "; ".join(text.strip().splitlines()[-1] for text in texts if text)


def _listed(title: str, lines: Sequence[str], most: int = _WORST) -> None:
    print(f"{title}: {len(lines)}")
    for line in lines[:most]:
        print(f"    {line}")
    if len(lines) > most:
        print(f"    … and {len(lines) - most}")


def _rows(files: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for one in files:
        for row in one.get("rows") or ():
            yield one, row


def _show_connections(files: Sequence[Mapping[str, Any]], name: Callable[[Mapping[str, Any]], str]) -> None:
    both = [one for one in files if one["counts"] is not None and one["tshark"]]
    packets = [(one["counts"]["packets"], one["tshark"]["frames"], name(one)) for one in both]
    connections = [
        (one["counts"]["connections"] - one["connections"]["quic"], one["tshark"]["tcp_connections"], name(one)) for one in both
    ]
    for title, cases in (("packets", packets), ("TCP connections", connections)):
        differ = [case for case in cases if case[0] != case[1]]
        print(f"{title} equal: {len(cases) - len(differ)} of {len(cases)} files")
        for found, expected, file in sorted(differ, key=lambda case: -abs(case[0] - case[1]))[:_WORST]:
            print(f"    {file}: {found}, tshark {expected}")


def _show_quantity(quantity: str, files: Sequence[Mapping[str, Any]], name: Callable[[Mapping[str, Any]], str]) -> None:
    cases = [(one, row, row[quantity]) for one, row in _rows(files) if quantity in row]
    if not cases:
        return
    known = [case for case in cases if case[2][2] is not None]
    large = [case for case in known if case[1]["segments"] >= _LEAST_SEGMENTS]
    unknown = sum(case[2][0] is None and case[2][1] is not None for case in cases)
    print(
        f"{quantity} within 2 %: {_good(large)} of {len(large)} directions of {_LEAST_SEGMENTS} segments or more, "
        f"{_good(known)} of {len(known)} of all; not known: {unknown}"
    )
    wrong = [case for case in known if not case[2][2]]
    for one, row, (found, expected, _) in sorted(wrong, key=lambda case: -_weight(case[1], case[2]))[:_WORST]:
        print(
            f"    {name(one)}: {row['from']} → {row['to']}: {found:.6g}, expected {expected:.6g} ({row['segments']} segments, {row['copies']} copies)"
        )


def _good(cases: Sequence[tuple[Any, Any, Sequence[Any]]]) -> int:
    return sum(bool(case[2][2]) for case in cases)


def _weight(row: Mapping[str, Any], values: Sequence[Any]) -> float:
    """Returns the sort key, by which large errors of large directions come first."""
    error: float = abs(values[0] - values[1]) / max(abs(values[0]), abs(values[1]))
    return error * min(int(row["segments"]), 1000)


def _show_statements(files: Sequence[Mapping[str, Any]], name: Callable[[Mapping[str, Any]], str]) -> bool:
    thinned = [(one, claim) for one in files for claim in one.get("thinned") or ()]
    refuted = [(one, claim) for one, claim in thinned if claim.get("refuted")]
    print(f"thinners named: {len(thinned)}; refuted by the packets: {len(refuted)}")
    for one, claim in [case for case in thinned if case not in refuted][:_WORST]:
        print(f"    not refuted: {name(one)}: {claim['from']} → {claim['to']} ({claim['segments']} segments)")
    for one, claim in refuted[:_WORST]:
        print(f"    refuted: {name(one)}: {claim['from']} → {claim['to']}: {'; '.join(claim['refuted'])}")
    rates = [(one, claim) for one in files for claim in one.get("rates") or ()]
    few = [case for case in rates if case[1]["segments"] < _FEW]
    print(f"rates without ≥: {len(rates)}, of them on fewer than {_FEW} segments: {len(few)}")
    for title, cases in (
        (f"below {SLOW} Mbps", [case for case in rates if case[1]["rate"] < SLOW]),
        (f"above {FAST:.0f} Mbps", [case for case in rates if case[1]["rate"] > FAST]),
    ):
        _listed(
            title,
            [
                f"{name(one)}: {claim['from']} → {claim['to']}: {claim['rate']:.4g} Mbps, {claim['segments']} segments"
                for one, claim in cases
            ],
        )
    controllers = [claim for one in files for claim in one.get("controllers") or ()]
    families = Counter(claim["family"] for claim in controllers)
    print(f"controllers named: {len(controllers)} ({', '.join(f'{family} {count}' for family, count in families.most_common())})")
    for title, count in (
        ("on no loss epoch", sum(not claim["episodes"] for claim in controllers)),
        ("on one or two", sum(claim["episodes"] in (1, 2) for claim in controllers)),
        ("on ten segments or fewer", sum(claim["segments"] <= 10 for claim in controllers)),
    ):
        print(f"    {title}: {count}")
    _listed(
        "QUIC connections that tshark does not call QUIC",
        [f"{name(one)}: {ends}" for one in files for ends in one.get("not_quic") or ()],
    )
    return bool(refuted)
