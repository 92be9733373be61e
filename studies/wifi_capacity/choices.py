"""Choices of the standard on links with published numbers.

A cell has one choice of each dimension.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from acklab.studies.closed_form import Cell, Mode, dsss


@dataclass(frozen=True)
class Choice:
    """A choice: overrides of the scenario, or of the model if the scenario lacks such a setting."""

    title: str
    set: Mapping[str, object] = field(default_factory=dict)
    beyond: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the model's cell."""
    note: str = ""

    @property
    def name(self) -> str:
        """Returns the name as a variant, without commas."""
        return self.title.replace(",", ";")

    @property
    def is_simulated(self) -> bool:
        """Returns whether the simulator has this setting."""
        return not self.beyond


@dataclass(frozen=True)
class Space:
    """Choices of a link by dimension.

    The first choice of each dimension is the default of the standard.
    """

    link: str
    """Name in links.toml."""
    claim: str
    """Id of the claim on the link's goodput."""
    dimensions: Mapping[str, Sequence[Choice]]

    def candidates(self) -> Iterator[Choice]:
        """Yields the default, then every single deviation from the default."""
        yield Choice("the standard's defaults")
        for choices in self.dimensions.values():
            yield from choices[1:]

    def combinations(self) -> Iterator[tuple[Choice, ...]]:
        """Yields all combinations, without the choices of the default."""
        for chosen in itertools.product(*self.dimensions.values()):
            defaults = (choices[0] for choices in self.dimensions.values())
            yield tuple(choice for choice, default in zip(chosen, defaults, strict=True) if choice is not default)


def beyond(cell: Cell, choices: Sequence[Choice]) -> Cell:
    """Returns a cell with settings that the simulator does not have."""
    for choice in choices:
        changes = dict(choice.beyond)
        if (preamble := changes.pop("preamble", None)) is not None:
            changes["mode"] = replace(cell.mode, preamble=preamble)
        cell = replace(cell, **changes)
    return cell


_DSSS: tuple[Mode, ...] = (dsss(1), dsss(2))
_CCK: tuple[Mode, ...] = (*_DSSS, dsss(5.5), dsss(11))
_SHORT: tuple[Mode, ...] = (dsss(1), dsss(2, True), dsss(5.5, True), dsss(11, True))

_NO_RTS = [Choice("no RTS"), Choice("RTS and CTS", {"wifi.0.rts_threshold": "500B"})]
_QOS = Choice("EDCA: AIFS of 3 slots, QoS data frames", beyond={"has_qos": True, "aifsn": 3}, note="10.23.2; Table 9-155")
_TXOP = "TXOPs of up to 2.528 ms"
_DEFAULT_OF_2020 = "Table 9-155; none in earlier editions"
_TXOPS = [Choice("one exchange a TXOP"), Choice(_TXOP, {"wifi.0.access.best_effort.txop_limit": "2528us"}, note=_DEFAULT_OF_2020)]
_MORE_RESPONSE_RATES = [
    Choice("response frames at up to 54 Mbps", {"wifi.0.basic_rates": ["6Mbps", "12Mbps", "24Mbps", "54Mbps"]}),
    Choice("response frames at 6 Mbps", {"wifi.0.basic_rates": ["6Mbps"]}),
]


def _lengths(*octets: int) -> list[Choice]:
    return [Choice(f"A-MPDU of at most {most} octets", {"wifi.0.aggregation.max_bytes": f"{most}B"}) for most in octets]


_WINDOWS = [
    Choice(f"Block ACK agreement for {frames} frames", {"wifi.0.aggregation.max_frames": frames}, note="Buffer Size, 9.4.1.13")
    for frames in (32, 16, 8)
]
_ONE_BY_ONE = Choice("frames one by one", {"wifi.0.aggregation.max_bytes": "0B"})

B = Space(
    "b",
    "tack_b",
    {
        "preamble": [Choice("long preamble"), Choice("short preamble", {"wifi.0.short_preamble": True}, note="16.2.2.3")],
        "response": [
            Choice("response frames at up to 2 Mbps"),
            Choice("response frames at up to 11 Mbps", {"wifi.0.basic_rates": ["1Mbps", "2Mbps", "5.5Mbps", "11Mbps"]}),
            Choice("response frames at 1 Mbps", {"wifi.0.basic_rates": ["1Mbps"]}),
        ],
        "window": [
            Choice("CWmin 31"),
            Choice("CWmin 15", {"wifi.0.access.best_effort.cw_min": 15}, note="of stations that also know OFDM, 18.4.5"),
        ],
        "access": [Choice("DCF"), _QOS],
        "rts": _NO_RTS,
    },
)

G = Space(
    "g",
    "tack_g",
    {
        "slot": [
            Choice("slots of 9 µs"),
            Choice("slots of 20 µs", {"wifi.0.long_slot": True}, note="a station without short slots is about, 18.4.5"),
        ],
        "protection": [
            Choice("no protection"),
            Choice("CTS-to-self at 2 Mbps", beyond={"cts_to_self": dsss(2)}, note="10.27.2"),
            Choice("CTS-to-self at 2 Mbps, short preamble", beyond={"cts_to_self": dsss(2, True)}),
            Choice("CTS-to-self at 11 Mbps", beyond={"cts_to_self": dsss(11)}),
            Choice("CTS-to-self at 11 Mbps, short preamble", beyond={"cts_to_self": dsss(11, True)}),
            Choice("CTS-to-self at 2 Mbps, slots of 20 µs", {"wifi.0.protection": "cts-to-self"}),
        ],
        "response": [
            Choice("response frames at up to 24 Mbps"),
            *_MORE_RESPONSE_RATES,
            Choice("response frames at 2 Mbps (DSSS)", beyond={"basic": _DSSS}, note="no OFDM rate is basic, as 802.11g-2003, 9.6 has it"),
            Choice("response frames at 11 Mbps (CCK)", beyond={"basic": _CCK}),
            Choice("response frames at 11 Mbps (CCK), short preamble", beyond={"basic": _SHORT}),
        ],
        "window": [Choice("CWmin 15"), Choice("CWmin 31", {"wifi.0.access.best_effort.cw_min": 31}, note="no OFDM rate is known to all, 18.4.5")],
        "access": [
            Choice("DCF"),
            _QOS,
            Choice(f"EDCA: the same with {_TXOP}", beyond={**_QOS.beyond, "txop": 2_528_000}, note=_DEFAULT_OF_2020),
        ],
        "rts": _NO_RTS,
    },
)  # fmt: skip

N = Space(
    "n",
    "tack_n",
    {
        "length": [Choice("A-MPDU of at most 65535 octets"), *_lengths(32767, 16383, 8191), _ONE_BY_ONE],
        "window": [Choice("Block ACK agreement for 64 frames"), *_WINDOWS],
        "a-msdu": [
            Choice("a packet a frame"),
            Choice("A-MSDU of at most 3839 octets", {"wifi.0.aggregation.a_msdu": "3839B"}, note="9.4.2.55.2"),
        ],
        "band": [Choice("5 GHz"), Choice("2.4 GHz", {"wifi.0.band": "2.4GHz"})],
        "preamble": [
            Choice("HT-mixed"),
            Choice("HT-greenfield", beyond={"preamble": 28_000}, note="19.3.9.5: 8 + 8 + 8 + 4 µs"),
        ],
        "response": [Choice("response frames at up to 24 Mbps"), *_MORE_RESPONSE_RATES],
        "txop": _TXOPS,
        "rts": _NO_RTS,
    },
)

AC = Space(
    "ac",
    "tack_ac",
    {
        "length": [Choice("A-MPDU of at most 1048575 octets"), *_lengths(131071, 65535, 32767, 16383, 8191), _ONE_BY_ONE],
        "window": [Choice("Block ACK agreement for 64 frames"), *_WINDOWS],
        "a-msdu": [
            Choice("a packet a frame"),
            Choice("A-MSDU within MPDUs of 3895 octets", {"wifi.0.aggregation.a_msdu": "3865B"}, note="9.4.2.157.2, less header and FCS"),
            Choice("A-MSDU within MPDUs of 7991 octets", {"wifi.0.aggregation.a_msdu": "7961B"}),
            Choice("A-MSDU within MPDUs of 11454 octets", {"wifi.0.aggregation.a_msdu": "11424B"}),
        ],
        "response": [Choice("response frames at up to 24 Mbps"), *_MORE_RESPONSE_RATES],
        "txop": _TXOPS,
        "rts": _NO_RTS,
    },
)  # fmt: skip

A = Space(
    "a",
    "hack_a",
    {
        "response": [Choice("response frames at up to 24 Mbps"), *_MORE_RESPONSE_RATES],
        "payload": [
            Choice("1472 octets of payload"),
            Choice("1470 octets of payload", {"flow.0.traffic.write": "1470B"}, note="iperf's default"),
            Choice("1460 octets of payload", {"flow.0.traffic.write": "1460B"}, note="as many as TCP's"),
        ],
        "window": [
            Choice("CWmin 15: 7.5 slots on average"),
            Choice("7 slots on average", {"wifi.0.access.best_effort.cw_min": 14}, note="(CWmin − 1)/2; the standard has no such CWmin"),
        ],
        "access": [Choice("DCF"), _QOS],
        "rts": _NO_RTS,
    },
)  # fmt: skip

SPACES = (B, G, N, AC, A)
