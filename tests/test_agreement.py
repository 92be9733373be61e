"""The figure of ratios to another implementation."""

from dataclasses import replace

import pytest

from acklab.figures import agreement
from acklab.verdict import REPRODUCED, Finding

CLAIM = Finding(
    id="s.a", title="goodput", source="ns-3 3.37", unit="Mbps", published=20.0, measured=22.0, low=21.0, high=23.0, tolerance="10%",
    verdict=REPRODUCED, as_written=22.0, seeds=5, metric="flows.x", command="", group="one path",
)  # fmt: skip


def test_ours_over_theirs_by_path_and_quantity():
    every = [
        CLAIM,
        replace(CLAIM, id="s.b", title="drops", measured=10.0, low=-5.0, high=25.0),
        replace(CLAIM, id="s.c", group="another path", measured=20.0, low=float("nan"), high=float("nan")),
        replace(CLAIM, id="s.d", title="timeouts", published=0.0),
        replace(CLAIM, id="s.e", title="timeouts", measured=0.0),
    ]
    figure = agreement(every)
    goodput, drops = figure.data
    assert (goodput.name, drops.name) == ("goodput", "drops")
    assert list(goodput.y) == ["one path", "another path"]
    assert list(goodput.x) == pytest.approx([1.1, 1.0])
    assert list(goodput.error_x.array) == pytest.approx([0.05, 0.0])
    # The axis is logarithmic: an interval that reaches below zero ends above it.
    assert drops.x[0] - drops.error_x.arrayminus[0] > 0
    assert figure.layout.xaxis.type == "log"
    assert list(figure.layout.yaxis.categoryarray) == ["another path", "one path"]
