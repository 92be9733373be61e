"""The sequential rule keeps its stated error, for any number of looks."""

import numpy as np
import pytest
from scipy import special

from acklab.sequential import Looks


def test_looks_double_and_share_the_error_by_seeds():
    looks = Looks.of(10, 80)
    assert looks.seeds == (10, 20, 40, 80)
    assert [1 - looks.confidence(look) for look in range(4)] == pytest.approx([0.05 / 8, 0.05 / 8, 0.05 / 4, 0.05 / 2])
    assert Looks.of(10, 50).seeds == (10, 20, 40, 50)
    assert Looks.of(10, None) == Looks.of(10, 10) == Looks((10,))
    assert Looks((10,)).confidence(0) == 0.95


def stopped(looks, confidences, trials, edge, seed):
    """Returns the shares of trials with the verdicts above and below `edge`, and the mean of seeds.

    Samples are normal, with mean 0 and deviation 1.
    """
    values = np.random.default_rng(seed).standard_normal((trials, looks[-1]))
    verdict = np.zeros(trials)
    seeds = np.full(trials, looks[-1])
    for count, confidence in zip(looks, confidences, strict=True):
        part = values[:, :count]
        half = special.stdtrit(count - 1, (1 + confidence) / 2) * part.std(axis=1, ddof=1) / np.sqrt(count)
        sides = np.sign(part.mean(axis=1) - edge) * (np.abs(part.mean(axis=1) - edge) > half)
        seeds = np.where((verdict == 0) & (sides != 0), count, seeds)
        verdict = np.where(verdict == 0, sides, verdict)
    return (verdict > 0).mean(), (verdict < 0).mean(), seeds.mean()


def test_the_error_of_all_looks_together_is_kept():
    """If the mean is exactly at the edge, each verdict is wrong.

    40,000 trials have a standard error of 0.11 percentage points.
    """
    looks = Looks.of(5, 80)
    of_rule = [looks.confidence(look) for look in range(len(looks.seeds))]
    above, below, _ = stopped(looks.seeds, of_rule, 40_000, 0.0, 1)
    assert above + below < 0.05
    # The rule is not too cautious either: it uses most of the permitted error. With 95 % at each
    # look, it would be wrong twice as often as stated.
    assert above + below > 0.025
    above, below, _ = stopped(looks.seeds, [0.95] * len(of_rule), 40_000, 0.0, 1)
    assert above + below > 0.10


def test_clear_claims_stop_early():
    """If the edge is three deviations away, five seeds suffice, and no verdict is wrong."""
    looks = Looks.of(5, 80)
    of_rule = [looks.confidence(look) for look in range(len(looks.seeds))]
    above, below, seeds = stopped(looks.seeds, of_rule, 5_000, 3.0, 2)
    assert (above, below) == (0, 1)
    assert seeds < 10
