"""Errors, and the exit code of the command line for each.

Every message names the place, what was found and what was expected.
"""


class AcklabError(Exception):
    """Any failure that acklab reports. `exit_code` is the exit code of the command line."""

    exit_code = 1


def words_of(error: BaseException) -> str:
    """Returns the text of an exception from code outside acklab, which may have none."""
    try:
        return str(error)
    except Exception:
        return "an exception whose text raises another"


class ScenarioError(AcklabError):
    """A scenario was refused: unknown key, wrong unit, invalid value, unreadable file."""

    exit_code = 2


class UsageError(AcklabError):
    """An argument is invalid: a grid without values, a metric that is in no table."""

    exit_code = 2


class RunError(AcklabError):
    """A run failed after its scenario was accepted."""


class StoreError(AcklabError):
    """A result could not be written, or a file is not a result."""


class Cancelled(AcklabError):
    """The work was stopped before its end. Finished results are stored."""

    exit_code = 130
