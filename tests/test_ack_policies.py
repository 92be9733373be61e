"""The study of ACK policies runs: a share of it that takes seconds."""

from acklab.report import Figure, Table
from acklab.studies import Bench, find
from conftest import load_every_variant


def test_a_share_of_the_study(share_of_ack_policies, tmp_path):
    module = share_of_ack_policies
    bench = Bench(find("ack_policies"), tmp_path, quick=True, quiet=True)
    sections = module.sections(bench)
    assert [section.title for section in sections][1:5] == [
        "Goodput",
        "Largest gains and losses, and their causes",
        "QUIC",
        "Time to completion",
    ]
    drawn = [item for section in sections for item in section.items if isinstance(item, Figure)]
    assert all(figure.commands for figure in drawn)
    hover = next(cell for trace in drawn[0].figure.data for line in trace.customdata for cell in line if cell[0])
    assert "goodput" in hover[0]
    assert hover[1].startswith("acklab run ")
    paths = next(item for item in sections[0].items if isinstance(item, Table))
    assert [row[0] for row in paths.rows] == ["default", "nepal"]


def test_every_variant_is_a_scenario():
    bench = load_every_variant("ack_policies", "path.toml", ("paths.toml", "policies.toml", "senders.toml", "sizes.toml"))
    quic = bench.sets(["endpoint.toml"])
    for variant in bench.variants("quic.toml").chosen.values():
        bench.source("path.toml").load([*quic, *variant.set])
