"""`acklab fit`."""

import json
from pathlib import Path

from acklab.cli.run import finite
from acklab.errors import UsageError
from acklab.fitting.quantity import GIVEN
from acklab.terminal import notify, run_bar


def fit_command(capture: Path, sets: list[str], as_json: bool) -> None:
    """Fits a scenario to a capture and prints it. Notes on the fit go to standard error.

    Raises UsageError for a setting that is not a quantity of a fitted path.
    """
    from acklab.fitting import fit
    from acklab.fitting.given import KEYS, given_of

    given = given_of(sets)
    for text in sets:
        if text.partition("=")[0].strip() not in given:
            raise UsageError(f"set: found {text!r}, expected a value of one of {', '.join(KEYS)}")
    with run_bar(capture.name) as bar:
        fitted = fit(capture, set=sets, watch=bar)
    if as_json:
        print(json.dumps(finite(fitted.to_dict()), allow_nan=False))
    else:
        print(fitted.toml, end="")
    for note in fitted.notes[1:]:
        notify(f"note: {note}")
    used = {quantity.key for quantity in fitted.parameters if quantity.status == GIVEN}
    for key in given:
        if key not in used:
            notify(f"note: --set {key} changes nothing: the capture shows it")
    for quantity in fitted.path.missing:
        notify(f"a run needs: {quantity.give}")
