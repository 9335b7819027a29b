"""A gateway counts readings in within their bounds, and releases each period once."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from fractions import Fraction
from itertools import count

import pytest

from hubbub_client.errors import StateError
from hubbub_client.storage import MemoryStorage
from hubbub_firmware.curator import aggregates
from hubbub_firmware.curator.curator import MOST_WAITING, Refused
from hubbub_firmware.curator.errors import CuratorError, NoiseError
from hubbub_firmware.curator.releases import read_releases, write_release
from hubbub_registry.curator import Curated

from tests.firmware.curator.gateway import DAY, SENSORS, START, curated, gateway, reading, spent, values


def fresh_noise() -> Callable[[Curated], Callable[[int], int]]:
    """Noise that is another one at each draw."""
    draws = count(1000)
    return lambda _metric: lambda value: value + next(draws)


def test_what_becomes_of_readings() -> None:
    """Each reading is counted, or left out for a reason that its value has no part in."""
    storage = MemoryStorage()
    metric = curated(expires=datetime.date(2026, 12, 1))  # at the end of the day that runs
    run = gateway(storage, metric)
    became = run.take(
        [
            reading("a"), reading("a"), reading("a"), reading("b"), reading("x"),
            reading("a", time=START - 1), reading("a", time=START + DAY),
        ],
        SENSORS,
    )  # fmt: skip
    assert became == {"counted": 3, "extra": 1, "not-enrolled": 1, "late": 1, "early": 1}
    later = gateway(storage, metric, now=START + 2 * DAY)
    assert later.take([reading("c", time=START + DAY)], SENSORS) == {"expired": 1}
    assert later.release() == []
    assert values(storage) == [[3]]


def test_releases_each_ended_period_with_readings_or_without() -> None:
    """Three days later there are three releases, a silent day's among them, and none of the day that runs."""
    storage = MemoryStorage()
    gateway(storage).take([reading("a"), reading("b")], SENSORS)
    run = gateway(storage, now=START + 3 * DAY + 5)
    run.take([reading("a", time=START + 2 * DAY), reading("a", time=START + 3 * DAY)], SENSORS)
    assert run.release() == []
    assert [(each["start"], each["values"]) for each in read_releases(storage)] == [
        (START, [2]), (START + DAY, [0]), (START + 2 * DAY, [1]),
    ]  # fmt: skip
    assert spent(storage) == {"c:epsilon": 3 * 10**9}


def test_nothing_of_a_period_stays() -> None:
    """Once a period is released, neither its true figures nor who reported are in the state; names never are."""
    storage = MemoryStorage()
    metric = curated(statistic="sum", low=0, high=10**6, contributions=1)
    gateway(storage, metric).take([reading("sensor-one", 123457)], frozenset({"sensor-one"}))
    (waiting,) = (aggregates.load(storage) or {}).values()
    (pseudonym,) = waiting.aggregates[START // DAY].counted
    assert not any(b"sensor-one" in data for data in storage.files.values())
    assert gateway(storage, metric, now=START + DAY, noise=lambda _metric: lambda _value: -5).release() == []
    everything = b"".join(storage.files.values())
    assert b"123457" not in everything
    assert pseudonym.encode() not in everything


def test_pseudonyms_differ_from_period_to_period() -> None:
    """The keyed hash of a sensor is another one in each period and metric, so none links them."""
    storage = MemoryStorage()
    metrics = (curated("c"), curated("d"))
    run = gateway(storage, *metrics)
    later = START + DAY
    run.take([reading("a"), reading("a", metric="d")], SENSORS)
    gateway(storage, *metrics, now=later).take([reading("a", time=later)], SENSORS)
    seen = [
        name
        for waiting in (aggregates.load(storage) or {}).values()
        for aggregate in waiting.aggregates.values()
        for name in aggregate.counted
    ]
    assert len(seen) == len(set(seen)) == 3


def test_the_same_release_for_ever() -> None:
    """Asked again, and again by another run, a period gives the noisy value it gave first, and costs nothing more."""
    storage = MemoryStorage()
    noise = fresh_noise()
    gateway(storage, noise=noise)
    gateway(storage, now=START + DAY, noise=noise).release()
    first, paid = values(storage), spent(storage)
    for _ in range(3):
        gateway(storage, now=START + DAY + 7, noise=noise).release()
    assert (values(storage), spent(storage)) == (first, paid)


def test_a_release_is_never_replaced() -> None:
    """The store itself refuses a second release of one period."""
    storage = MemoryStorage()
    gateway(storage)
    gateway(storage, now=START + DAY).release()
    (release,) = read_releases(storage)
    with pytest.raises(StateError, match="released already"):
        write_release(storage, {**release, "values": [99]})


def test_lifetime() -> None:
    """When the life is used up periods end without a release, nothing more is spent, and no reading is taken."""
    storage = MemoryStorage()
    metric = curated(lifetime=Fraction(5, 2))
    gateway(storage, metric)
    run = gateway(storage, metric, now=START + 4 * DAY)
    first = START // DAY
    assert run.release() == [Refused("c", first + 2, "lifetime-used-up"), Refused("c", first + 3, "lifetime-used-up")]
    assert spent(storage) == {"c:epsilon": 2 * 10**9}
    assert len(values(storage)) == 2
    assert run.take([reading("a", time=START + 4 * DAY)], SENSORS) == {"used-up": 1}


def test_rho_is_spent() -> None:
    """With discrete Gaussian noise rho is what adds up in the ledger."""
    storage = MemoryStorage()
    metric = curated(noise="discrete-gaussian", declared=Fraction(1, 10))
    gateway(storage, metric)
    gateway(storage, metric, now=START + 3 * DAY).release()
    assert spent(storage) == {"c:rho": 3 * metric.charge_nano}
    assert metric.loss * 10**9 <= metric.charge_nano <= 10**8
    with pytest.raises(CuratorError, match="it has spent rho before"):
        gateway(storage, curated())


def test_a_new_definition_refills_nothing() -> None:
    """Another epsilon under the same name goes on from what was spent, and a period is not released under both."""
    storage = MemoryStorage()
    gateway(storage)
    gateway(storage, now=START + DAY).release()
    new = curated(declared=Fraction(2))
    assert gateway(storage, new, now=START + DAY + 9).release() == []
    gateway(storage, new, now=START + 2 * DAY).release()
    assert spent(storage) == {"c:epsilon": 3 * 10**9}
    # A definition whose period overlaps one that was paid for.
    longer = curated(period=7 * DAY)
    gateway(storage, longer, now=START + 2 * DAY)
    refused = gateway(storage, longer, now=START + 8 * DAY).release()
    assert {each.reason for each in refused} == {"period-used-up"}


def test_a_definition_that_left_with_readings() -> None:
    """Readings under a definition that is gone stop the gateway, until they are given up by name."""
    storage = MemoryStorage()
    gateway(storage).take([reading("a")], SENSORS)
    other = curated(declared=Fraction(2))
    before = dict(storage.files)
    with pytest.raises(CuratorError, match=r"curated\.c: readings wait .* --forget"):
        gateway(storage, other)
    assert storage.files == before
    gateway(storage, other, now=START, forget=True)
    assert gateway(storage, other, now=START + DAY).release() == []
    assert values(storage) == [[0]]


def test_all_or_nothing() -> None:
    """Where one reading is refused none of its input is counted, in the state or in the run."""
    storage = MemoryStorage()
    run = gateway(storage)
    before = dict(storage.files)
    with pytest.raises(CuratorError, match="does not curate; it has: c") as caught:
        run.take([reading("a"), reading("b", metric="temperature")], SENSORS)
    assert "temperature" not in str(caught.value)
    assert storage.files == before
    assert run.take([reading("a"), reading("a")], SENSORS) == {"counted": 2}


def test_too_many_periods_wait() -> None:
    """Without releases the state does not grow past a thousand periods; the error says to release them."""
    storage = MemoryStorage()
    gateway(storage)
    late = START + MOST_WAITING * DAY
    run = gateway(storage, now=late)
    with pytest.raises(CuratorError, match=r"1000 periods wait; run hubbub curate --release"):
        run.take([reading("a", time=late)], SENSORS)


def test_no_noise_no_payment() -> None:
    """Where the noise is not to be had, nothing is spent; where a draw fails it is paid once, and drawn later."""
    storage = MemoryStorage()
    gateway(storage)

    def missing(_metric: Curated) -> Callable[[int], int]:
        raise NoiseError("no library")

    def failing(_metric: Curated) -> Callable[[int], int]:
        def draw(_value: int) -> int:
            raise NoiseError("no random numbers")

        return draw

    for noise, paid in [(missing, {}), (failing, {"c:epsilon": 10**9}), (failing, {"c:epsilon": 10**9})]:
        with pytest.raises(NoiseError):
            gateway(storage, now=START + DAY, noise=noise).release()
        assert (spent(storage), values(storage)) == (paid, [])
    assert gateway(storage, now=START + DAY).release() == []
    assert (spent(storage), values(storage)) == ({"c:epsilon": 10**9}, [[0]])


def test_what_is_paid_for_does_not_change() -> None:
    """After a draw that failed, the run takes no reading into the aggregate that was paid for."""
    storage = MemoryStorage()
    gateway(storage)

    def failing(_value: int) -> int:
        raise NoiseError("no random numbers")

    run = gateway(storage, now=START + DAY, noise=lambda _metric: failing)
    with pytest.raises(NoiseError):
        run.release()
    assert run.take([reading("a")], SENSORS) == {"late": 1}


def test_state_is_json() -> None:
    """What is open is one small document: bounded by sensors, contributions and periods, whatever is read."""
    storage = MemoryStorage()
    run = gateway(storage)
    for _ in range(50):
        run.take([reading(sensor) for sensor in SENSORS], SENSORS)
    (waiting,) = json.loads(storage.files["curator"][32:]).values()
    (aggregate,) = waiting["aggregates"].values()
    assert sorted(aggregate["counted"].values()) == [2] * len(SENSORS)
