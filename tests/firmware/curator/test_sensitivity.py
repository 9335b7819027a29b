"""The sensitivities are the true ones: by taking in every small data set, and every neighbour of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest

from hubbub_client.storage import MemoryStorage
from hubbub_firmware.curator import statistic
from hubbub_firmware.curator.aggregates import load
from hubbub_registry.curator import Curated

from tests.firmware.curator.gateway import SENSORS, curated, gateway, reading

# One reading more than counts, and values beyond both bounds.
VALUES = {
    (0, 0): (7,),
    (-3, 5): (-9, -3, 0, 2, 5, 9),
    (2, 4): (0, 2, 4, 9),
    (-4, -1): (-9, -1, 3),
    (0, 3): (-1, 0, 1, 3),
}
SHAPES: list[tuple[str, int, int, int]] = [
    ("count", 0, 0, 0),
    ("sum", -3, 5, 0),
    ("sum", 2, 4, 0),
    ("sum", -4, -1, 0),
    ("histogram", 0, 3, 2),
    ("histogram", 0, 3, 4),
]


def cells_of(metric: Curated, sent: Sequence[tuple[str, int]]) -> list[int]:
    """What the gateway has aggregated after these readings, through all of it."""
    storage = MemoryStorage()
    gateway(storage, metric).take([reading(sensor, value) for sensor, value in sent], SENSORS)
    (waiting,) = (load(storage) or {}).values()
    aggregates = list(waiting.aggregates.values())
    return aggregates[0].cells if aggregates else [0] * len(metric.cells)


def contributions(metric: Curated) -> Iterator[tuple[int, ...]]:
    """Everything that one sensor can send: up to one reading more than counts."""
    values = VALUES[(metric.low, metric.high)]
    for length in range(metric.contributions + 2):
        yield from product(values, repeat=length)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize(("kind", "low", "high", "buckets"), SHAPES)
@pytest.mark.parametrize("bound", [1, 2])
def test_exact(kind: str, low: int, high: int, buckets: int, bound: int, adjacency: str) -> None:
    """Over all pairs of neighbours, the largest changes are the sensitivities, no less and no more."""
    metric = curated(statistic=kind, low=low, high=high, buckets=buckets, contributions=bound, adjacency=adjacency)
    # Another sensor's readings, before, between and after: its own contribution must stay as it is.
    others = [("b", VALUES[(low, high)][-1])] * bound
    reached = {}
    for sent in contributions(metric):
        mine = [("a", value) for value in sent]
        reached[sent] = tuple(cells_of(metric, [*others[:1], *mine, *others[1:], *others]))
    pairs = (
        [(cells, reached[()]) for cells in reached.values()]
        if adjacency == "add-remove"
        else list(product(set(reached.values()), repeat=2))
    )
    changes = [[x - y for x, y in zip(*pair, strict=True)] for pair in pairs]
    assert max(sum(map(abs, change)) for change in changes) == metric.l1
    assert max(sum(part * part for part in change) for change in changes) == metric.l2_squared


def test_order_of_arrival_decides() -> None:
    """Which readings count does not depend on their values: the first ones do, whatever they are."""
    metric = curated(statistic="sum", low=-100, high=100, contributions=2)
    assert cells_of(metric, [("a", 1), ("a", 10), ("a", 100)]) == [11]
    assert cells_of(metric, [("a", 100), ("a", 10), ("a", 1)]) == [110]


def test_sensors_do_not_displace_each_other() -> None:
    """A sensor takes no place from another one: with all of them at their bounds, each adds what it adds alone."""
    metric = curated(statistic="sum", low=0, high=1000, contributions=1, sensors=len(SENSORS))
    sent = [(sensor, 10**position) for position, sensor in enumerate(sorted(SENSORS))]
    for missing in range(len(sent)):
        left = sent[:missing] + sent[missing + 1 :]
        assert cells_of(metric, left) == [1111 - 10**missing]


def test_a_missing_clamp_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without clamping the check above fails: it can."""

    def unclamped(_metric: Curated, cells: list[int], value: int) -> None:
        cells[0] += value

    monkeypatch.setattr(statistic, "add_reading", unclamped)
    monkeypatch.setattr("hubbub_firmware.curator.curator.add_reading", unclamped)
    with pytest.raises(AssertionError):
        test_exact("sum", -3, 5, 0, 1, "add-remove")
