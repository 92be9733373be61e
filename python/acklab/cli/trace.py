"""`acklab trace`: generates the trace of a link, or prints statistics of one."""

from pathlib import Path

from acklab.errors import UsageError
from acklab.files import path_of, printable, read_text
from acklab.traces import NETWORKS, Statistics, cellular, network, poisson, statistics

SPROUT, POISSON = "sprout", "poisson"
MODELS = {
    **{
        name: f"a cellular link as recorded: {known.mean:g} Mbps ± {known.variation:.0%} per second"
        for name, known in NETWORKS.items()
    },
    SPROUT: "Sprout's model of a cellular link",
    POISSON: "a Poisson process of --rate Mbps",
}
"""Models by name."""


def trace_command(what: str, rate: float | None, seconds: int, seed: int, out: Path | None) -> None:
    """Generates a trace from a model, or prints the statistics of a file.

    Otherwise lists the models.
    """
    if not what:
        width = max(len(name) for name in MODELS)
        for name, title in MODELS.items():
            print(f"{name:<{width}}  {title}")
        return
    if (what == POISSON) != (rate is not None):
        raise UsageError(
            "poisson: expected --rate MBPS" if what == POISSON else f"{what}: found --rate, which only poisson accepts"
        )
    if seconds <= 0 or (rate is not None and rate <= 0):
        raise UsageError("expected --seconds and --rate above zero")
    if what not in MODELS:
        text = read_text(
            path_of(what, "trace"), f"trace, or the name of a model ({', '.join(MODELS)})", "lines of milliseconds", UsageError
        )
        try:
            print(describe(statistics(text)))
        except UsageError as error:
            raise UsageError(f"{printable(Path(what))}: {error}") from error
        return
    text = (
        poisson(rate, seconds, seed)
        if rate is not None
        else cellular(seconds, seed)
        if what == SPROUT
        else network(what, seconds, seed)
    )
    if out is None:
        print(text, end="")
        return
    from acklab.atomic import write_text

    if out.exists():
        raise UsageError(f"{printable(out)}: exists already, expected a new name (--out FILE)")
    write_text(out, text)
    print(printable(out))


def describe(found: Statistics) -> str:
    """Returns the statistics as text."""
    lags = ", ".join(f"{correlation:.2f} after {lag} s" for lag, correlation in found.correlations.items())
    quantiles = ", ".join(f"{quantile:.2f}" for quantile in found.quantiles)
    return "\n".join([
        f"length       {found.seconds:.1f} s",
        f"mean rate    {found.mean:.3f} Mbps",
        f"variation    {found.variation:.2f} (standard deviation of the rate of a second, relative to the mean)",
        f"quantiles    {quantiles} Mbps (5, 25, 50, 75 and 95 % of the seconds)",
        f"correlation  {lags}",
        f"long gaps    {found.long_gaps:.2%} above 20 ms, with a density that falls by the power of {found.tail:.2f}",
    ])  # fmt: skip
