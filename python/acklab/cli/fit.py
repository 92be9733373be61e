"""`acklab fit`."""

import json
from pathlib import Path

from acklab.cli.run import finite
from acklab.terminal import run_bar, tell


def fit_command(capture: Path, as_json: bool) -> None:
    """Fits a scenario to a capture and prints it."""
    from acklab.fitting import fit

    with run_bar(capture.name) as bar:
        fitted = fit(capture, watch=bar)
    if as_json:
        print(json.dumps(finite(fitted.to_dict()), allow_nan=False))
    else:
        print(fitted.toml, end="")
    for name, error in fitted.errors.items():
        if abs(error) > 0.1:
            tell(
                f"note: {name} of the fitted path differs by {100 * error:+.0f} %: the path has several bottlenecks, or the capture is too short"
            )
