"""`acklab query`: questions in SQL about kept tables."""

import json

from acklab.cli.run import finite
from acklab.places import Place, place_of
from acklab.queries import ask
from acklab.store import SWEEP_FILE
from acklab.sweeps import load_sweep
from acklab.tables import plain_table
from acklab.terminal import show_table


def query_command(sql: str, where: str, as_json: bool, as_csv: bool) -> None:
    """Prints the answer as a table, one JSON list, or CSV."""
    place = place_of(where, "DIR")
    frame = ask(sql, place, _tables(place))
    if as_csv:
        print(frame.write_csv(), end="")
    elif as_json:
        print(json.dumps(finite(frame.to_dicts()), allow_nan=False, default=str))
    else:
        show_table(
            plain_table(frame.to_dicts()) if frame.height else plain_table([dict.fromkeys(frame.columns, "")]),
            " (all of them: --csv, or --json)",
        )


def _tables(place: Place) -> list[str]:
    """The tables of a sweep or a run. Raises StoreError."""
    if place.exists(SWEEP_FILE):
        return list(load_sweep(place).files)
    return place.table_names()
