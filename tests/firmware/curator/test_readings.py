"""Lines of readings, and lists of sensors, are read strictly; an error says where, and never what the value was."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.storage import MemoryStorage
from hubbub_firmware.curator.enrolment import read_sensors
from hubbub_firmware.curator.errors import EnrolmentError, ReadingError
from hubbub_firmware.curator.readings import MAX_LINE_BYTES, Reading, read_lines

from tests.firmware.curator.gateway import START, curated, gateway

GOOD = {"sensor": "a", "metric": "heat", "value": -215, "time": 1796774400}


def read(*lines: bytes) -> list[Reading]:
    """The readings of these lines."""
    return list(read_lines(io.BytesIO(b"\n".join(lines)), "in.jsonl"))


def line(**keys: object) -> bytes:
    """A line with some keys in place of the good ones."""
    return json.dumps({**GOOD, **keys}).encode()


def test_good_lines() -> None:
    """Good lines are read in order, blank ones passed over; the last needs no line feed."""
    assert read(line(), b"", b"  ", line(sensor="ä", value=7)) == [
        Reading("a", "heat", -215, 1796774400),
        Reading("ä", "heat", 7, 1796774400),
    ]


def test_one_name_however_it_is_composed(tmp_path: Path) -> None:
    """A sensor enrolled under a name is the one that reports under it, whichever of Unicode's forms each has."""
    composed, decomposed = "b\u00e4d", "ba\u0308d"
    metric = curated(name="heat")
    for enrolled in (composed, decomposed):
        (tmp_path / "sensors").write_text(enrolled + "\n", encoding="utf-8")
        sensors = read_sensors(tmp_path / "sensors", [metric])
        readings = read(line(sensor=composed, time=START), line(sensor=decomposed, time=START))
        run = gateway(MemoryStorage(), metric)
        assert run.take([*readings, *readings], sensors) == {"counted": 2, "extra": 2}


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (b"8675309", "it is not a JSON object"),
        (b"[8675309]", "it is not a JSON object"),
        (b'{"value": 8675309', "it is not a JSON object"),
        (b"\xff8675309", "it is not a JSON object"),
        (b"[" * 4000, "it is not a JSON object"),
        (line()[:-1] + b', "value": 8675309}', "it is not a JSON object"),
        (b'{"value": ' + b"8675309" * 500 + b"}", "its keys are not"),
        (b"{}", "its keys are not sensor, metric, value, time"),
        (line(unit="C"), "its keys are not"),
        *((line(value=value), "value is not an integer of 64 bits") for value in (
            8675309.5, "8675309", True, None, [8675309], 1 << 63, float("nan"), float("inf"),
        )),
        *((line(time=value), "time is not an integer") for value in (8675309.5, "8675309", True, None)),
        *((line(sensor=value), "sensor is not a text") for value in ("", 8675309, None, "8675309" * 40)),
        *((line(metric=value), "metric is not a text") for value in ("", 8675309, None)),
        (line(sensor="8675309" * 1000), f"it is longer than {MAX_LINE_BYTES} bytes"),
    ],
)  # fmt: skip
def test_bad_lines(bad: bytes, says: str) -> None:
    """A bad line is refused with its number, what is wrong and what to do, and without what is in it."""
    with pytest.raises(ReadingError, match=f"^in.jsonl, line 2: {says}") as caught:
        read(line(), bad, line())
    assert "8675309" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    """Whatever comes in is readings or a ReadingError: nothing else is ever raised."""
    with contextlib.suppress(ReadingError):
        read(data)


def test_a_reading_tells_nothing() -> None:
    """A reading that ends in a log by mistake shows no value."""
    assert "-215" not in repr(read(line())[0])


def test_sensors(tmp_path: Path) -> None:
    """A list of sensors must fit every metric, have each sensor once, and be a list at all."""
    path = tmp_path / "sensors.txt"
    path.write_text("a\nb\n\nc\n")
    few, many = curated("few", sensors=3, sensors_minimum=2), curated("many", sensors=9, sensors_minimum=3)
    assert read_sensors(path, [few, many]) == {"a", "b", "c"}
    for wrong in (curated("w", sensors=2), curated("w", sensors_minimum=4)):
        with pytest.raises(EnrolmentError, match=r"has 3, and curated\.w asks for"):
            read_sensors(path, [few, wrong])
    path.write_text("a\na\n")
    with pytest.raises(EnrolmentError, match="repeats"):
        read_sensors(path, [few])
    with pytest.raises(EnrolmentError, match="there is no file"):
        read_sensors(tmp_path / "none.txt", [few])
