"""Time–sequence graphs: the drawn parts of a captured connection, and the first view."""

from typing import Any

import numpy as np
import pytest

from acklab.figures.time_sequence import Axis, time_sequence

_SEGMENTS = 20


def _curves(**others: Any) -> dict[str, Any]:
    """Returns a segment of 1,000 bytes per millisecond.

    Each is acknowledged 10 ms later with a window of 5,000 bytes, and the fourth is retransmitted
    at 30 ms.
    """
    window = {
        "data": [(n / 1e3, 1000 * n, 1000) for n in range(_SEGMENTS)],
        "retransmitted": [(0.030, 3000, 1000)],
        "reordered": [],
        "acks": [(0.010 + n / 1e3, 1000 * n, 1000 * n + 5000) for n in range(4)] + [(0.014, 3000, 8000), (0.040, 20_000, 25_000)],
        "sacked": [(0.014, 4000, 1000)],
    }
    return {"windows": [window | others], "overview": []}


def _trace(figure: Any, name: str, mode: str = "lines") -> Any:
    return next(trace for trace in figure.data if trace.name == name and trace.mode == mode)


def test_a_segment_is_a_bar_from_its_first_to_its_last_octet() -> None:
    figure = time_sequence(_curves(), "Title")
    # The line that connects segments comes first.
    bars = [trace for trace in figure.data if trace.name == "segment"][-1]
    assert len(bars.x) == 3 * _SEGMENTS
    np.testing.assert_allclose(bars.y[3:5], [1.0, 2.0])
    assert np.isnan(bars.y[5])
    retransmitted = _trace(figure, "retransmitted")
    np.testing.assert_allclose(retransmitted.y[:2], [3.0, 4.0])
    assert retransmitted.line.color != bars.line.color


def test_acks_and_windows_are_steps_and_blocks_are_bars() -> None:
    figure = time_sequence(_curves(), "Title")
    assert _trace(figure, "acknowledged").line.shape == "hv"
    assert _trace(figure, "receive window, right edge").line.shape == "hv"
    np.testing.assert_allclose(_trace(figure, "SACK block").y[:2], [4.0, 5.0])
    # The ACK at 14 ms has the number and the right edge of the previous one.
    assert list(_trace(figure, "duplicate ACK", "markers").x) == [0.014]


def test_axes_have_words_and_units() -> None:
    figure = time_sequence(_curves(), "Title", Axis("Payload", "datagram"))
    assert figure.layout.xaxis.title.text == "Time [s]"
    assert figure.layout.yaxis.title.text == "Payload [kB]"
    assert figure.layout.title.text == "Title"


def test_a_distant_edge_of_the_window_does_not_flatten_the_data() -> None:
    far = [(0.010, 1000, 10_000_000), (0.011, 2000, 10_000_000)]
    low, high = time_sequence(_curves(acks=far), "Title").layout.yaxis.range
    # Twenty segments of a kilobyte, and the margin.
    assert low < 0
    assert 20 < high < 22


def test_a_span_shows_the_data_and_the_acks_of_that_time() -> None:
    figure = time_sequence(_curves(), "Title", span=(0.010, 0.014))
    assert list(figure.layout.xaxis.range) == [0.010, 0.014]
    # The view can be moved, by its own width to either side.
    bars = [trace for trace in figure.data if trace.name == "segment"][-1]
    assert np.nanmin(bars.x) == pytest.approx(0.006)
    assert _trace(figure, "acknowledged").x[0] == pytest.approx(0.010)


def test_a_long_transfer_shows_its_course_between_the_windows() -> None:
    points = [
        {"at": at, "sent": 1000 * at, "acknowledged": 900 * at, "edge": None, "retransmitted": None, "reordered": None}
        for at in range(1, 100)
    ]
    figure = time_sequence(_curves() | {"overview": points}, "Title")
    assert _trace(figure, "sent").x[-1] == 99
    assert _trace(figure, "acknowledged").x[-1] == 99
    # The window with all packets is shaded.
    (shade,) = figure.layout.shapes
    assert (shade.x0, shade.x1) == (0.0, pytest.approx(0.040))


def test_a_capture_of_one_side_has_no_acks() -> None:
    figure = time_sequence(_curves(acks=[], sacked=[]), "Title")
    assert {trace.name for trace in figure.data} == {"segment", "retransmitted"}
