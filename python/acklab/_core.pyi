"""The compiled core: text in, Arrow tables out."""

from typing import Protocol, final

class Table(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Cancel:
    """A token that stops the runs it was given to."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

@final
class RunResult:
    """What one run yields."""

    @property
    def scenario(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def tables(self) -> dict[str, Table]: ...

VERSION: str
REVISION: str

def load(text: str, name: str, sets: list[str]) -> str: ...
def run(
    text: str,
    name: str,
    sets: list[str],
    base: str,
    seed: int | None = None,
    captures: str | None = None,
    cancel: Cancel | None = None,
) -> RunResult: ...
def schema() -> str: ...
