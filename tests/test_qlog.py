"""Logs of endpoints from Python and from the command line."""

import json

import pytest

import acklab
from acklab.errors import UsageError

SCENARIO = {
    "duration": "2s",
    "seed": 1,
    "link": [
        {
            "name": "path",
            "from": "a",
            "to": "b",
            "forward": {"rate": "10Mbps", "delay": "10ms"},
            "reverse": {"rate": "10Mbps", "delay": "10ms"},
        }
    ],
    "flow": [{"name": "flow", "from": "a", "to": "b", "preset": "linux", "traffic": {"model": "fixed", "size": "100kB"}}],
}


def header(path):
    return json.loads(path.read_text().split("\x1e")[1])


def test_a_run_writes_a_log_at_each_end_into_a_folder_that_it_makes(tmp_path):
    folder = tmp_path / "deep" / "qlog"
    acklab.run(SCENARIO, qlog=folder)
    assert sorted(path.name for path in folder.iterdir()) == ["flow_client.sqlog", "flow_server.sqlog"]
    assert header(folder / "flow_server.sqlog")["trace"]["vantage_point"] == {"name": "b", "type": "server"}
    assert header(folder / "flow_client.sqlog")["qlog_version"] == "0.3"


def test_the_current_drafts_can_be_asked_for(tmp_path):
    acklab.run(SCENARIO, qlog=tmp_path, qlog_version="draft-13")
    assert header(tmp_path / "flow_client.sqlog")["serialization_format"] == "application/qlog+json-seq"


def test_a_version_that_is_not_known_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(UsageError, match=r'qlog_version: found "0\.5", expected "0\.3" or "draft-13"'):
        acklab.run(SCENARIO, qlog=tmp_path / "qlog", qlog_version="0.5")
    assert not (tmp_path / "qlog").exists()
