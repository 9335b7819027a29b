"""Several collectors' data directories in one sealed data set."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.seal import seal
from hubbub_registry import Registry
from hubbub_registry.commands import main

from tests.collector.uploads import (
    ALL,
    NOW,
    batch,
    counts,
    fill,
    park,
    quarantined,
    records,
    sealed,
    split,
    upload,
)


@pytest.fixture
def hosts(tmp_path: Path) -> list[DataDirectory]:
    found = [DataDirectory(tmp_path / name) for name in ("a", "b", "c")]
    for host in found:
        host.intake.mkdir(parents=True)
    return found


def test_an_upload_counts_once_over_all_hosts(registry: Registry, hosts: list[DataDirectory]) -> None:
    """Sent to three hosts, to one before and to one after its period was sealed, also by way of a quarantine: once; and
    the others' stores are emptied.
    """
    sketch = registry.metric("sketch")
    contents = [records(sketch, 3) for _ in range(4)]
    bodies = [upload(batch(sketch, content)) for content in contents]
    a, b, c = hosts
    fill(a, [bodies[0], bodies[1]])
    fill(b, [bodies[1], bodies[2]])
    park(c, bodies[2])
    report = seal(registry, a, ALL, NOW, sources=[b, c])
    assert (report.batches, report.repeats, report.released_repeats) == (4, 1, 1)
    fill(c, [bodies[0], bodies[3]], worker=1)
    assert seal(registry, a, ALL, NOW, sources=[b, c]).repeats == 1
    assert counts(sealed(a, sketch)) == Counter(split(b"".join(contents), sketch))
    assert quarantined(c) == 0
    assert not b.parts.exists()
    assert not b.sorted_store.exists()


def test_a_host_is_sealed_into_one_data_set_for_good(registry: Registry, hosts: list[DataDirectory]) -> None:
    """Sealed by itself, into another data set, or after it was sealed by itself, a host's uploads could count twice:
    each is refused with what to do, and nothing is taken.
    """
    choice = registry.metric("choice")
    a, b, c = hosts
    seal(registry, a, ALL, NOW, sources=[b])
    seal(registry, c, ALL, NOW)
    fill(b, [upload(batch(choice, b"\x01"))])
    with pytest.raises(CollectorError, match="sealed into another data directory; name that one with --data"):
        seal(registry, b, ALL, NOW)
    with pytest.raises(CollectorError, match="sealed into another data directory than"):
        seal(registry, c, ALL, NOW, sources=[b])
    with pytest.raises(CollectorError, match="has been sealed by itself"):
        seal(registry, a, ALL, NOW, sources=[c])
    with pytest.raises(CollectorError, match="another data directory than --data"):
        seal(registry, a, ALL, NOW, sources=[a])
    with exclusive(b.seal_lock, "sealer"), pytest.raises(CollectorError, match="another sealer"):
        seal(registry, a, ALL, NOW, sources=[b])
    assert counts(sealed(a, choice)) == {}
    assert seal(registry, a, ALL, NOW, sources=[b]).batches == 1
    assert counts(sealed(a, choice)) == {b"\x01": 1}


def test_the_command_takes_several_hosts(
    registry: Registry, hosts: list[DataDirectory], capsys: pytest.CaptureFixture[str]
) -> None:
    """``--from`` may be given several times."""
    choice = registry.metric("choice")
    body = upload(batch(choice, b"\x01"))
    for host in hosts:
        fill(host, [body])
    a, b, c = (str(host.root) for host in hosts)
    arguments = ["--data", a, "--from", b, "--from", c, "--all", "--min-batch", "1"]
    assert main(["seal", str(registry.path), *arguments]) == 0
    assert "3 batches taken from the intake, 2 of them repeats" in capsys.readouterr().out
