"""Characters for streams that are not UTF-8, such as a terminal with LC_ALL=C.

A character that the encoding of the stream lacks is replaced by similar characters.
"""

import codecs
import sys
import unicodedata

_SIMILAR = {
    "→": "->",
    "←": "<-",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "..",
    "±": "+-",
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "·": "*",
    "√": "sqrt",
    "∞": "inf",
    "°": "deg",
    "§": "section ",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "′": "'",
    "━": "-",
    "─": "-",
    "═": "=",
    "│": "|",
    "╸": "-",
    "╺": "-",
    "•": "*",
    "▶": ">",
    "◀": "<",
}
_HANDLER = "acklab.fallback"


def similar(character: str) -> str:
    """Returns ASCII in place of a character: "->" for an arrow, "beta" for β, "^9" for ⁹."""
    if character in _SIMILAR:
        return _SIMILAR[character]
    name = unicodedata.name(character, "")
    if name.startswith("GREEK ") and " LETTER " in name:
        letter = name.partition(" LETTER ")[2].split()[0]
        return letter.capitalize() if "CAPITAL" in name else letter.lower()
    plain = "".join(part for part in unicodedata.normalize("NFKD", character) if part.isascii())
    if not plain and character == "µ":
        return "u"
    return ("^" if plain and name.startswith("SUPERSCRIPT") else "") + (plain or "?")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(similar, error.object[error.start : error.end])), error.end


def use_fallback() -> None:
    """Replaces characters that the encoding of standard output and error lacks by similar ones."""
    codecs.register_error(_HANDLER, _replaced)
    for stream in (sys.stdout, sys.stderr):
        encoding = getattr(stream, "encoding", None) or ""
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and not encoding.lower().replace("-", "").startswith("utf"):
            reconfigure(errors=_HANDLER)
