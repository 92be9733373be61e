"""Validates logs of version `draft-13` by the CDDL of the drafts.

`python validation/qlog/validate.py DRAFTS [LOG...]`.

DRAFTS is a folder with draft-ietf-quic-qlog-main-schema-13 and draft-ietf-quic-qlog-quic-events-12,
in XML as published by the IETF, or in Markdown as in their repository (quicwg/qlog). The drafts are
not part of acklab. Without LOG, validates logs of a short lossy download over each transport.
Requires `pip install pycddl cbor2`.

The header, the fields of each event, its data by the event's name, and each frame by its type are
validated separately, so that a message names the fault. In the drafts, event data and frames are in
unions in which any object is a valid frame. Two notations are rewritten for pycddl: `~Type` is
replaced by the fields of Type, and group sockets are replaced by nothing or by acklab's field
`tcp`. JSON has one kind of number, so float32 and float64 also accept integers.
"""

import argparse
import html
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cbor2
from pycddl import Schema, ValidationError

import acklab

TRANSPORTS = ({"protocol": "tcp", "preset": "linux"}, {"protocol": "tack"}, {"protocol": "quic"}, {"protocol": "quinn"})
EXTENSIONS = {
    "$$quic-packetsent-extension": "? tcp: { * text => any }",
    "$$quic-packetreceived-extension": "? tcp: { * text => any }",
}
"""Fields that acklab adds to events."""
OWN_FRAMES = re.compile(r"tack_\w+|ack_frequency|immediate_ack")
"""Frames that the drafts lack: the frames of TACK, and the frames of draft-ietf-quic-ack-frequency.
"""


class Drafts:
    """The CDDL of the drafts in a folder."""

    def __init__(self, folder: Path) -> None:
        """Reads the drafts in `folder`. Ends the program if there are none."""
        files = sorted(path for path in folder.iterdir() if path.suffix in (".xml", ".md", ".cddl"))
        text = "\n".join(_cddl(path) for path in files)
        if "QlogFileSeq" not in text or "QUICPacketSent" not in text:
            sys.exit(
                f"error: found no CDDL of both drafts in {folder}, expected draft-ietf-quic-qlog-{{main-schema-13,quic-events-12}}.xml"
            )
        self.text = _rewritten(text)
        rules = re.findall(r"^(\w+)\s*/?=", self.text, re.MULTILINE)
        self.events = {rule.lower(): rule for rule in rules}
        frames = re.findall(r'^(\w+)\s*=\s*\{\s*frame_type:\s*"(\w+)"', self.text, re.MULTILINE)
        self.frames = {kind: rule for rule, kind in frames}
        # The cache includes the instance, of which there is only one.
        self.schema = cache(self._schema)

    def _schema(self, rule: str) -> Schema:
        # pycddl validates by the first rule.
        return Schema(f"validated = {rule}\n{self.text}")

    def faults(self, rule: str, value: object) -> Iterator[str]:
        """Yields the faults of `value` as an instance of `rule`."""
        try:
            self.schema(rule).validate_cbor(cbor2.dumps(value))
        except ValidationError as error:
            yield f"{rule}: {' '.join(str(error).split())}: {json.dumps(value)[:300]}"


def _cddl(path: Path) -> str:
    """Returns the CDDL in a file: all of it, or the marked parts of XML and Markdown."""
    text = path.read_text()
    if path.suffix == ".xml":
        parts = re.findall(r'<sourcecode[^>]*type="cddl"[^>]*>(.*?)</sourcecode>', text, re.DOTALL)
        return "\n".join(html.unescape(re.sub(r"<!\[CDATA\[|\]\]>", "", part)) for part in parts)
    if path.suffix == ".md":
        return "\n".join(re.findall(r"^~~~+ *cddl\n(.*?)^~~~+$", text, re.DOTALL | re.MULTILINE))
    return text


def _rewritten(text: str) -> str:
    """Returns the same CDDL in the notation of pycddl."""
    text = re.sub(r";.*", "", text)
    for name in set(re.findall(r"~(\w+)", text)):
        if fields := re.search(rf"^{name}\s*=\s*\{{(.*?)^\}}", text, re.DOTALL | re.MULTILINE):
            text = text.replace(f"~{name}", fields[1])
    text = re.sub(r"\* (\$\$[\w-]+)", lambda socket: EXTENSIONS.get(socket[1], ""), text)
    # pycddl interprets an unquoted key `time` as the type `time` of the prelude.
    text = re.sub(r"\btime:", '"time":', text)
    # The rule of the event accepts any data. The data are validated afterwards by their rule.
    text = text.replace("data: $ProtocolEventData", "data: { * text => any }")
    text = re.sub(r"^\$ProtocolEventData\s*/=.*?(?=^\S|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"frames: \[([*+]) \$QuicFrame\]", r"frames: [\1 { * text => any }]", text)
    text = re.sub(r"^\$QuicFrame\s*/=\s*(\{.*?^\}|\w+)", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"\bfloat32\b", "float64", text)


def _records(path: Path) -> list[Any]:
    """Returns the records of JSON text sequences (RFC 7464)."""
    return [json.loads(record) for record in path.read_text().split("\x1e")[1:]]


def faults(drafts: Drafts, path: Path, seen: Counter[str]) -> Iterator[str]:
    """Yields the faults of the log at `path`.

    Counts the events and frames that were validated, by name, in `seen`.
    """
    header, *events = _records(path)
    yield from drafts.faults("QlogFileSeq", header)
    for event in events:
        yield from drafts.faults("Event", event)
        name, data = event["name"], event["data"]
        if name.startswith("acklab:"):
            continue
        seen[name] += 1
        rule = drafts.events.get(name.replace(":", "").replace("_", ""))
        if rule is None:
            yield f"{name}: found no such event in the drafts"
            continue
        yield from drafts.faults(rule, data)
        for frame in data.get("frames", ()):
            kind = frame["frame_type"]
            if kind in drafts.frames:
                seen[f"frame {kind}"] += 1
                # Properties of ACKs that only TACK reports.
                yield from drafts.faults(drafts.frames[kind], {key: value for key, value in frame.items() if key != "tack"})
            elif not OWN_FRAMES.fullmatch(kind):
                yield f"frame {kind}: found no such frame in the drafts"


def _logs(folder: Path) -> list[Path]:
    """Writes logs of a lossy download over each transport."""
    way = {"rate": "20Mbps", "delay": "20ms", "loss": {"model": "independent", "probability": 0.01}}
    for transport in TRANSPORTS:
        traffic = {"model": "fixed", "size": "500kB"}
        flow = {"name": transport["protocol"], "from": "a", "to": "b", "transport": transport, "traffic": traffic}
        link = {"name": "path", "from": "a", "to": "b", "forward": way, "reverse": way}
        scenario = {"duration": "20s", "seed": 1, "link": [link], "flow": [flow]}
        acklab.run(scenario, qlog=folder, qlog_version="draft-13")
    return sorted(folder.glob("*.sqlog"))


def main() -> None:
    """Prints each kind of fault once, with the number of times that it occurs.

    Exits with status 1 if there is any fault.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":", 1)[0])
    parser.add_argument("drafts", type=Path)
    parser.add_argument("logs", type=Path, nargs="*")
    given = parser.parse_args()
    drafts = Drafts(given.drafts)
    found = False
    with tempfile.TemporaryDirectory() as folder:
        for path in given.logs or _logs(Path(folder)):
            seen: Counter[str] = Counter()
            kinds: dict[str, tuple[int, str]] = {}
            for fault in faults(drafts, path, seen):
                kind = fault.split(": {", 1)[0]
                kinds[kind] = (kinds.get(kind, (0, ""))[0] + 1, fault)
            events = sum(count for name, count in seen.items() if ":" in name)
            frames = seen.total() - events
            print(
                f"{path.name}: {events} events of {sum(':' in name for name in seen)} kinds and {frames} frames, {sum(count for count, _ in kinds.values())} faults"
            )
            for count, fault in kinds.values():
                print(f"    {count} × {fault}")
            found |= bool(kinds)
    sys.exit(found)


if __name__ == "__main__":
    main()
