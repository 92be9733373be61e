"""Checksums inside JSON documents: they detect damage that leaves valid JSON."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from acklab.errors import StoreError
from acklab.places import changed

_KEY = "sha256"


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the document with its checksum. Raises ValueError for NaN."""
    return {**document, _KEY: _digest(document)}


def opened(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the document without its checksum, which is not verified."""
    return {key: value for key, value in document.items() if key != _KEY}


def verify(document: Mapping[str, Any], name: str) -> None:
    """Raises StoreError, naming the document, if its checksum differs.

    Documents of an earlier version have no checksum.
    """
    if _KEY in document and document[_KEY] != _digest(opened(document)):
        raise StoreError(changed(name))


def _digest(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
