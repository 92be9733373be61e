"""`acklab fit`."""

import json
from pathlib import Path

from acklab.cli.run import finite
from acklab.terminal import notify, run_bar


def fit_command(capture: Path, as_json: bool) -> None:
    """Fits a scenario to a capture and prints it. Notes on the fit go to standard error."""
    from acklab.fitting import fit

    with run_bar(capture.name) as bar:
        fitted = fit(capture, watch=bar)
    if as_json:
        print(json.dumps(finite(fitted.to_dict()), allow_nan=False))
    else:
        print(fitted.toml, end="")
    for note in fitted.notes[1:]:
        notify(f"note: {note}")
    for quantity in fitted.path.missing:
        notify(f"a run needs: {quantity.give}")
