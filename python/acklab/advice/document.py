"""The answer as text, tables and a report."""

import math

from acklab.advice.advise import Advice
from acklab.advice.harm import Harm
from acklab.advice.verdicts import Range, Verdict
from acklab.metrics import written
from acklab.report.document import Document, Section
from acklab.tables import Table


def table(advice: Advice) -> Table:
    """Returns the answer as a table with a row per use, which fits one screen."""
    rows = [
        [one.use.title, _today(one), _best(one), "–" if one.gain is None else gain_of(one), _worse(one)]
        for one in advice.uses.values()
    ]
    return Table(["use", "today", "best change", "gain", "what gets worse"], rows, f"Advice for {advice.link}", numeric_from=5)


def _today(found: Verdict) -> str:
    if found.today is None:
        return "–"
    return f"{written(found.today.median)} {found.use.unit} ({found.use.quantity})"


def _best(found: Verdict) -> str:
    return "nothing to recommend" if found.winner is None else f"{found.winner.reach}: {found.winner.name}"


def gain_of(found: Verdict) -> str:
    """Returns the gain in words: a factor of today's score, with its interval."""
    assert found.gain is not None
    gain = found.gain if found.use.is_better_high else _inverse(found.gain)
    low, high = sorted((gain.low, gain.high))
    return f"{_factor(gain.median)}× today's {found.use.quantity} ({_factor(low)} to {_factor(high)})"


def _inverse(gain: Range) -> Range:
    """Returns a gain of times and delays as a factor of today's."""
    return Range(1 / gain.median, 1 / gain.low, 0.0 if math.isinf(gain.high) else 1 / gain.high, gain.count)


def _factor(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.3g}" if value < 10 else f"{value:.0f}"


def _worse(found: Verdict) -> str:
    worse = [_cost(one) for one in found.harms if one.is_harm]
    return "; ".join(worse) or ("nothing measured" if found.winner is not None and found.harms else "–")


def _cost(harm: Harm) -> str:
    medians = f"{harm.what} {_number(harm.today)} → {_number(harm.chosen)} {harm.unit}"
    return medians if harm.is_usual else f"{medians}, but in a quarter of the scenarios worse by {_percent(harm)}"


def _mark(harm: Harm) -> str:
    return "worse" if harm.is_usual else f"worse in a quarter, by {_percent(harm)}" if harm.is_harm else ""


def _percent(harm: Harm) -> str:
    """Returns the excess of a harm over today, in the worst quarter of the scenarios [%]."""
    gain = harm.quartile
    if gain <= 0:
        return "all"
    return f"{100 * (1 - gain if harm.unit == 'Mbps' else 1 / gain - 1):.0f} %"


def _number(value: float | None) -> str:
    return "did not finish" if value is None else written(value)


def sentence(found: Verdict) -> str:
    """Returns the answer for a use in one sentence."""
    if found.winner is None:
        settle = f" To settle it: {found.settle}." if found.settle else ""
        return f"{found.use.title}: nothing to recommend: {found.reason}.{settle}"
    assert found.gain is not None
    equals = f"; as good within 2 %: {', '.join(found.equals)}" if found.equals else ""
    return f"{found.use.title}: {found.winner.reach}: {found.winner.name}, {gain_of(found)}, in all of {found.gain.count} runs{equals}."


def lines(advice: Advice) -> list[str]:
    """Yields what the table omits: reasons for no recommendation, and each command once."""
    found = [f"note: {note}" for note in advice.notes]
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in advice.uses.values():
        if one.winner is None:
            reasons.setdefault((one.reason, one.settle), []).append(one.use.name)
    for (reason, settle), uses in reasons.items():
        found.append(f"nothing to recommend for {', '.join(uses)}: {reason}")
        if settle:
            found.append(f"    {settle}")
    for one in advice.uses.values():
        shown = {also.title for also in one.use.beside}
        found += [
            f"{one.use.name}: {cost.what}: {_number(cost.today)} → {_number(cost.chosen)} {cost.unit}"
            for cost in one.harms
            if cost.what in shown
        ]
    for stack in dict.fromkeys(stack for one in advice.uses.values() for stack in one.switches):
        found += [f"{stack.title}: {stack.limits}", *(f"    {command}" for command in stack.commands)]
    return found


def standings_table(found: Verdict) -> Table:
    """Returns the table of candidates, the best first."""
    rows = [[one.candidate.name, one.candidate.reach, _factor(one.gain), str(len(one.gains))] for one in found.standings]
    caption = f"{found.use.title}: gain in {found.use.quantity} over today, median (above 1 is better)"
    return Table(["candidate", "whose setting", "gain", "runs"], rows, caption, numeric_from=2)


def harm_table(found: Verdict) -> Table:
    """Returns the costs of the winner."""
    assert found.winner is not None
    rows = [[one.what, one.unit, _number(one.today), _number(one.chosen), _mark(one)] for one in found.harms]
    return Table(
        ["what it costs", "unit", "today", found.winner.name, ""],
        rows,
        f"{found.winner.name}: what changes besides",
        numeric_from=2,
        text=frozenset({4}),
    )


def document(advice: Advice) -> Document:
    """Returns the report."""
    how = f"{advice.members} scenarios, {advice.duration:.3g} s each, {advice.runs} runs."
    text = "\n".join(f"* {sentence(one)}" for one in advice.uses.values())
    notes = "".join(f"\n\n**Note:** {note}" for note in advice.notes)
    sections = [Section("Answer", f"{text}\n\n{how}{notes}", [table(advice)])]
    for one in advice.uses.values():
        how_to = "\n\n".join(
            f"**{stack.title}.** {stack.limits} Source: {stack.source}.\n\n```\n" + "\n".join(stack.commands) + "\n```"
            for stack in one.switches
        )
        items = [*([standings_table(one)] if one.standings else []), *([harm_table(one)] if one.winner is not None else [])]
        sections.append(Section(one.use.title, f"{sentence(one)}\n\n{how_to}", items))
    return Document(name="advice", title=f"Advice for {advice.link}", sections=tuple(sections))
