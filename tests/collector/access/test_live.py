"""What a worker does about its tokens, counts and registry while it runs, and where something is in the way."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hubbub_collector.errors import Refusal
from hubbub_collector.layout import DataDirectory
from hubbub_collector.live import REGISTRY, Live
from hubbub_collector.upload import Validator
from hubbub_collector.worker import WorkerSettings
from hubbub_registry import load_registry
from hubbub_registry.commands import main

from tests.collector.access.issuing import bearer, issue
from tests.collector.uploads import DAY, NOW, TODAY, batch, registry_file, upload
from tests.registries import write_registry


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    return registry_file(tmp_path)


def live_of(registry: Path, data: DataDirectory, late: int = 28 * DAY, now: float = NOW) -> Live:
    """What a worker has that asks for tokens, at Unix time ``now``."""
    settings = WorkerSettings(
        str(registry), str(data.root), 0, "127.0.0.1", 0, late, 1 << 20, 1 << 20, None, 0, require_token=True
    )
    return Live(settings, lambda: now)


async def charge(live: Live, text: str, body: bytes) -> set[tuple[bytes, int]]:
    """What the caps of a token do not let in of an upload."""
    assert live.gate is not None
    assert live._tokens is not None
    return await live.gate.charge(live._tokens.holder(bearer(text)), live.validator.check(body, NOW))


async def test_damaged_counts_hold_up_tokens_with_a_cap_only(
    registry: Path, data: DataDirectory, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the file of the counts is damaged a worker starts all the same and says so; a token with a cap is 503, as
    no count can be kept, one without is not held up, and the file is left as it is.
    """
    capped, free = issue(data, cap=8), issue(data)
    data.caps.write_bytes(bytes(5000))
    body = upload(batch(load_registry(registry).metric("choice"), b"\x01"))
    live = live_of(registry, data)
    assert "tokens with a cap are refused, and no others" in caplog.text
    with pytest.raises(Refusal) as refused:
        await charge(live, capped, body)
    assert (refused.value.status, refused.value.code) == (503, "store")
    assert await charge(live, free, body) == set()
    await live.tick()
    await live.close()
    assert data.caps.read_bytes() == bytes(5000)


async def test_counts_are_kept_while_any_run_may_take_their_period(registry: Path, data: DataDirectory) -> None:
    """A run with a small --late, and one whose clock is far ahead, leave the counts as they are where the sealer has
    closed nothing; where it has, and the clock agrees, they are forgotten.
    """
    text = issue(data, cap=2)
    metric = load_registry(registry).metric("choice")
    body = upload(batch(metric, b"\x01\x01", TODAY))
    place = {(metric.fingerprint, TODAY)}
    long, far = 400 * DAY, NOW + 10_000 * DAY
    for late, now, closed in ((long, NOW, 0), (DAY, NOW + 100 * DAY, 1 << 40), (long, far, 0)):
        live = live_of(registry, data, late, now)
        live.validator.closed = closed
        await live.tick()
        live.validator.closed = 0
        assert await charge(live, text, body) == set()
        assert await charge(live, text, upload(batch(metric, b"\x01", TODAY))) == place
        await live.close()
    live = live_of(registry, data, long, far)
    live.validator.closed = 1 << 40
    await live.tick()
    live.validator.closed = 0
    assert await charge(live, text, upload(batch(metric, b"\x01", TODAY))) == set()
    await live.close()


@contextmanager
def no_file_left() -> Iterator[None]:
    """This process cannot open another file."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    held: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, before[1]), before[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):  # noqa: PT012 - which of them it is, nobody knows
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        for file in held:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def test_connections_do_not_keep_a_worker_from_its_files(tmp_path: Path, data: DataDirectory) -> None:
    """While connections have used up all descriptors a revocation is followed, and new metrics are taken, each time."""
    registry = registry_file(tmp_path)
    texts = [issue(data), issue(data)]
    live = live_of(registry, data)
    taken: list[Validator] = []
    live.use = taken.append
    assert live._tokens is not None
    for text in texts:
        assert main(["token", "revoke", text.split(".")[1], "--data", str(data.root)]) == 0
        write_registry(registry, {f"metric_{len(taken)}": {"mechanism": "randomized-response"}})
        with no_file_left():
            await live.tick()
            live.reload(REGISTRY)
        with pytest.raises(Refusal, match="revoked"):
            live._tokens.holder(bearer(text))
    assert len(taken) == 2
    await live.close()


async def test_what_could_not_be_read_again_is_tried_again(
    registry: Path, data: DataDirectory, caplog: pytest.LogCaptureFixture
) -> None:
    """A registry that the parent found right and a worker cannot read is read at a later tick; the log says it once."""
    live = live_of(registry, data)
    taken: list[Validator] = []
    live.use = taken.append
    aside = registry.rename(registry.with_suffix(".aside"))
    live.reload(REGISTRY)
    await live.tick()
    assert (len(taken), len(caplog.records)) == (0, 1)
    aside.rename(registry)
    await live.tick()
    await live.tick()
    assert (len(taken), len(caplog.records)) == (1, 1)
    await live.close()
