"""A sweep on a Ray cluster on this machine gives the bytes of one without Ray.

`make validate-cluster` also tests failures of clusters.
"""

from pathlib import Path

import pytest

import acklab
from acklab.sweeps.on_ray import Ray, Travelling, run_job
from folders import contents

ray = pytest.importorskip("ray", reason="needs Ray")

SCENARIO = Path(__file__).parents[1] / "studies/ack_compression/experiment_55.toml"
SHORT = {"duration": "1s", "measure.from": "0s", "flow.0.stop": "1s"}


def test_a_cluster_gives_the_same_octets(tmp_path):
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="warning")
    try:
        for name, on in (("there", Ray()), ("here", None)):
            grid = {"link.btl.forward.queue.limit": ["5packets", "20packets"]}
            acklab.sweep(SCENARIO, grid=grid, seeds=3, set=SHORT, out=tmp_path / name, on=on, quiet=True)
    finally:
        ray.shutdown()
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_a_job_of_another_revision_is_refused_before_it_runs():
    with pytest.raises(acklab.RunError, match="install the same acklab on all nodes"):
        run_job(Travelling("another", "", "", {}, [], "", ""), None)  # type: ignore[arg-type]
