"""The evidence as tables and as a report."""

import math

from acklab.advice.advise import Advice, UseAdvice
from acklab.advice.candidates import TODAY
from acklab.advice.harm import TESTS
from acklab.advice.racing import Standing
from acklab.metrics import written
from acklab.report.document import Document, Section
from acklab.tables import Table

_SHOWN = 8
"""Candidates that a terminal shows."""


def sentence(found: UseAdvice) -> str:
    """The answer in one sentence."""
    if found.winner.name == TODAY:
        return f"{found.use.title}: leave it as it is; nothing is better by more than 2 %."
    gain = found.gain
    ratio = f"{written(gain.mean)} times as good as it is" + (
        f" ({written(gain.low)} to {written(gain.high)})" if gain.count > 1 else ""
    )
    others = found.equals
    tail = (
        f"; as good within 2 %: {', '.join(others[:4])}" + (f" and {len(others) - 4} more" if len(others) > 4 else "")
        if others
        else ""
    )
    return f"{found.use.title}: {found.winner.name}, {ratio}{tail}."


def standings_table(found: UseAdvice, limit: int | None = None) -> Table:
    """The candidates in their order."""
    rows = [
        [one.candidate.name, _mean(one, found), "full" if one.share == 1 else f"{one.share:.0%}", str(len(one.scores))]
        for one in found.standings
    ]
    table = Table(
        ["candidate", f"{found.use.quantity} [{found.use.unit}]", "runs", "seeds"],
        rows,
        f"{found.use.title}, by rounds of the race and score",
        numeric_from=1,
        text=frozenset({2}),
    )
    return table if limit is None else table.cut(limit)


def _mean(standing: Standing, found: UseAdvice) -> str:
    value = standing.mean(found.use)
    return written(value) if math.isfinite(value) else "did not finish"


def _number(value: float | None) -> str:
    return "did not finish" if value is None else written(value)


def harm_table(found: UseAdvice) -> Table:
    """What the winner costs."""
    rows = [[one.what, one.unit, _number(one.today), _number(one.chosen), "worse" if one.is_harm else ""] for one in found.harms]
    measured = {one.what for one in found.harms}
    rows += [[what, "", "no time", "no time", ""] for what in TESTS if what not in measured]
    return Table(
        ["what it costs", "unit", "as it is", found.winner.name, ""],
        rows,
        f"{found.winner.name}: where it may hurt",
        numeric_from=2,
        text=frozenset({4}),
    )


def tables(advice: Advice) -> list[Table]:
    """The tables of the command line. What a choice costs is told once, whatever it is chosen for."""
    found, told = [], {TODAY}
    for one in advice.uses.values():
        found.append(standings_table(one, _SHOWN))
        if one.winner.name not in told:
            told.add(one.winner.name)
            found.append(harm_table(one))
    return found


def lines(advice: Advice) -> list[str]:
    """The answers as text, and how to switch them on: each once."""
    found = [sentence(one) for one in advice.uses.values()]
    for stack in dict.fromkeys(stack for one in advice.uses.values() for stack in one.switches):
        found += [f"{stack.title}: {stack.limits}", *(f"    {command}" for command in stack.commands)]
    return found


def document(advice: Advice) -> Document:
    """The report."""
    sections = [Section("Answer", "\n".join(f"* {sentence(one)}" for one in advice.uses.values()))]
    for one in advice.uses.values():
        how = "\n\n".join(
            f"**{stack.title}.** {stack.limits} Source: {stack.source}.\n\n```\n" + "\n".join(stack.commands) + "\n```"
            for stack in one.switches
        )
        items = [standings_table(one), *([harm_table(one)] if one.winner.name != TODAY else [])]
        sections.append(Section(one.use.title, f"{sentence(one)}\n\n{how}", items))
    ranges = "\n".join(f"* `{key}={text}`" for key, text in advice.vary.items()) or "Nothing was given as uncertain."
    sections.append(Section("What was uncertain", ranges))
    return Document(
        name="advice",
        title=f"Advice for {advice.link}",
        sections=tuple(sections),
    )
