"""Reads folders, to compare them in tests."""

from pathlib import Path


def contents(folder: Path) -> dict[str, bytes]:
    """Returns all files of a folder with their content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
