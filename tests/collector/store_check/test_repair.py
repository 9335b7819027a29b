"""``hubbub store``: verify names, repair keeps all that is intact, and neither stands in the way of the collector."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from hubbub_collector.access.caps import Caps, Charge
from hubbub_collector.errors import CollectorError, UnreadableError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.seal.sorted_store import SortedStore
from hubbub_collector.sqlite import REPAIRED
from hubbub_collector.sqlite_store import SqliteStore
from hubbub_collector.store_check import repair, verify
from hubbub_registry import Metric, Registry
from hubbub_registry.commands import main

from tests.collector.store_check.stores import rows
from tests.collector.uploads import ALL, NOW, batch, counts, fill, park, records, sealed, split, upload


def overwrite(path: Path, what: bytes, by: bytes | None = None) -> None:
    """Overwrites bytes of a file, by others of their length or by these with a bit flipped."""
    content = path.read_bytes()
    assert content.count(what) == 1
    path.write_bytes(content.replace(what, by or what[:-1] + bytes([what[-1] ^ 1])))


def test_a_repaired_store_is_sealed_but_for_what_was_hit(
    registry: Registry, data: DataDirectory, sketch: Metric
) -> None:
    """With one group flipped, and the root page of the groups overwritten, all other groups and what is in quarantine
    are sealed after a repair, each once, and the damaged files are kept as they were.
    """
    contents = [records(sketch, 200) for _ in range(12)]
    fill(data, *([upload(batch(sketch, content))] for content in contents))
    park(data, upload(batch(sketch, contents[11][: sketch.device.record_bytes])))
    path = data.worker_store(0)
    overwrite(path, contents[4][-64:])
    overwrite(path, path.read_bytes()[2 * 16384 : 3 * 16384], os.urandom(16384))
    before = path.read_bytes()
    found = verify(data)
    assert found
    assert {finding.file for finding in found} == {str(path)}
    dry = repair(data, dry_run=True)
    assert path.read_bytes() == before
    assert not data.damaged.exists()
    (done,) = repair(data)
    assert [one.kept for one in dry] == [done.kept]
    assert done.kept["groups"] == 11
    assert done.kept["quarantine"] == 1
    assert (Path(done.aside) / path.name).read_bytes() == before
    assert not path.exists()
    assert verify(data) == []
    assert repair(data) == []
    report = seal(registry, data, ALL, NOW)
    assert not report.damaged
    expected = [record for number, content in enumerate(contents) if number != 4 for record in split(content, sketch)]
    expected.append(contents[11][: sketch.device.record_bytes])
    assert counts(sealed(data, sketch)) == Counter(expected)


def test_what_was_sealed_before_a_repair_counts_once(registry: Registry, data: DataDirectory, sketch: Metric) -> None:
    """A group that is salvaged though it was taken already, because the files were not of one moment, is a repeat."""
    contents = [records(sketch, 3) for _ in range(4)]
    fill(data, *([upload(batch(sketch, content))] for content in contents))
    path = data.worker_store(0)
    copy = path.read_bytes()
    seal(registry, data, ALL, NOW)
    path.write_bytes(copy)
    overwrite(path, contents[0][:30])
    (done,) = repair(data)
    assert done.kept["groups"] == 3
    report = seal(registry, data, ALL, NOW)
    assert (report.batches, report.repeats) == (3, 3)
    assert counts(sealed(data, sketch)) == Counter(split(b"".join(contents), sketch))


def test_a_damaged_upload_holds_up_only_its_period(registry: Registry, data: DataDirectory, sketch: Metric) -> None:
    """Flipped while it waits to be sealed, an upload is named and nothing of its period is sealed; after a repair all
    others of the period are, and what was sealed before is still known.
    """
    contents = [records(sketch, 4) for _ in range(6)]
    repeated = upload(batch(sketch, contents[0]))
    fill(data, [repeated])
    seal(registry, data, ALL, NOW)
    fill(data, *([upload(batch(sketch, content))] for content in contents[1:]))
    seal(registry, data, SealOptions(1000), NOW)
    overwrite(data.sorted_store, contents[3])
    report = seal(registry, data, ALL, NOW)
    assert [group.status for group in report.groups] == ["damaged"]
    assert "hubbub store repair" in report.groups[0].problem
    assert [finding.file for finding in verify(data)] == [str(data.sorted_store)]
    (done,) = repair(data)
    assert (done.kept["batches"], done.kept["ids"], done.damaged) == (4, 1, {"batches": 1})
    fill(data, [repeated])
    assert seal(registry, data, ALL, NOW).repeats == 1
    expected = [record for number in (0, 1, 2, 4, 5) for record in split(contents[number], sketch)]
    assert counts(sealed(data, sketch)) == Counter(expected)


def test_a_crash_in_a_repair_is_ended_by_whoever_comes_next(
    registry: Registry, data: DataDirectory, sketch: Metric
) -> None:
    """Once the repaired copy of the sealer's database has its name it takes the damaged one's place, log and all."""
    fill(data, [upload(batch(sketch, records(sketch, 2)))])
    seal(registry, data, SealOptions(1000), NOW)
    copy = data.sorted_store.read_bytes()
    expected = rows(data.sorted_store)
    data.sorted_store.write_bytes(b"no database" * 999)
    log = data.sorted_store.with_name(data.sorted_store.name + "-wal")
    log.write_bytes(b"of the damaged one")
    data.sorted_store.with_name(data.sorted_store.name + REPAIRED).write_bytes(copy)
    SortedStore(data.sorted_store).close()
    assert [path.name for path in data.sorted_store.parent.iterdir()] == ["sorted.sqlite"]
    assert rows(data.sorted_store) == expected


def test_a_store_in_use_is_not_repaired(registry: Registry, data: DataDirectory, sketch: Metric) -> None:
    """The store that a collector writes is left alone while it runs, with what to do; one that it gave up is not."""
    contents = [records(sketch, 100) for _ in range(2)]
    fill(data, *([upload(batch(sketch, content))] for content in contents))
    overwrite(data.worker_store(0), contents[0][:30])
    with exclusive(data.collector_lock, "collector"):
        with pytest.raises(CollectorError, match="stop the collector"):
            repair(data)
        SqliteStore(data.worker_store(0, 1)).close()
        (done,) = repair(data)
    assert done.repaired == str(data.worker_store(0, 2))
    with exclusive(data.seal_lock, "sealer"), pytest.raises(CollectorError, match="another sealer"):
        repair(data)


def test_counts_for_caps_are_repaired_but_for_what_was_hit(data: DataDirectory) -> None:
    """With one token's count flipped, it alone begins again at nothing, and only while no collector counts."""
    fill(data)
    caps = Caps(data.caps, 1)
    charges = [Charge(token, 9, bytes(15) + token.encode(), bytes(8), 1, 7, 10**9) for token in "ace"]
    assert caps.charge(charges) == [True] * 3
    caps.close()
    overwrite(data.caps, b"c" + bytes(8), b"b" + bytes(8))
    (finding,) = verify(data)
    assert finding.where.startswith("used, row b")
    with exclusive(data.collector_lock, "collector"), pytest.raises(CollectorError, match="stop the collector"):
        repair(data)
    (done,) = repair(data)
    assert (done.kept["used"], done.damaged) == (2, {"used": 1})
    assert "its cap once more" in done.lost[0]
    assert verify(data) == []
    caps = Caps(data.caps, 1)
    assert [caps.used(token, bytes(8), 1) for token in "abce"] == [7, 0, 0, 7]
    caps.close()


def test_an_older_format_is_not_taken_for_damage(data: DataDirectory) -> None:
    """What has no checksums yet is left as it is, with what to do; a format that is a flipped bit is repaired."""
    fill(data)
    caps = Caps(data.caps, 1)
    assert caps.charge([Charge("a", 9, bytes(16), bytes(8), 1, 7, 10**9)]) == [True]
    caps._db.executescript("PRAGMA user_version = 2")
    assert [done.kept["used"] for done in repair(data)] == [1]
    caps.close()
    caps = Caps(data.caps, 1)
    without = "ALTER TABLE used DROP COLUMN crc; ALTER TABLE charged DROP COLUMN crc; DROP TABLE late"
    caps._db.executescript(f"{without}; PRAGMA user_version = 1")
    caps.close()
    for dry_run in (True, False):
        with pytest.raises(CollectorError, match="older format 1: run hubbub collect"):
            repair(data, dry_run=dry_run)
    caps = Caps(data.caps, 1)
    assert caps.used("a", bytes(8), 1) == 7
    caps.close()
    assert verify(data) == []


@pytest.mark.parametrize("letter", ["i", "I"], ids=["in SQLite's message", "in a column"])
def test_a_table_whose_description_is_no_text_is_damaged(data: DataDirectory, letter: str) -> None:
    """A flipped bit that leaves no UTF-8 in a database's own description is named, and repaired like any other."""
    fill(data)
    caps = Caps(data.caps, 1)
    assert caps.charge([Charge("a", 9, bytes(16), bytes(8), 1, 7, 10**9)]) == [True]
    caps.close()
    described = b"period INTEGER"
    overwrite(data.caps, described, described.replace(letter.encode(), bytes([ord(letter) ^ 0x80])))
    (finding,) = verify(data)
    assert "SQLite cannot read it" in finding.what
    if letter == "i":
        with pytest.raises(UnreadableError, match="it is damaged"):
            Caps(data.caps, 1)
    repair(data)
    assert verify(data) == []
    caps = Caps(data.caps, 1)
    assert caps.used("a", bytes(8), 1) == 7
    caps.close()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda parquet: overwrite(parquet, parquet.read_bytes()[40:60]), "its size or its digest"),
        (lambda parquet: parquet.unlink(), "No such file"),
        (lambda parquet: parquet.with_suffix(".json").unlink(), "its manifest is missing"),
        (lambda parquet: overwrite(parquet.with_suffix(".json"), b'"records": 5'), "its checksum does not match"),
        (lambda parquet: overwrite(parquet.with_suffix(".json"), b'"expires": 407'), "its checksum does not match"),
        (lambda parquet: parquet.with_suffix(".json").write_bytes(b"{"), "it is no manifest"),
        (lambda parquet: parquet.parent.rename(parquet.parent.with_name("7")), "it is not the manifest of its place"),
    ],
    ids=["flipped", "gone", "no manifest", "count", "entry", "torn", "moved"],
)  # fmt: skip
def test_damage_to_the_sealed_data_is_named(
    registry: Registry, data: DataDirectory, sketch: Metric, damage: object, words: str
) -> None:
    """A part whose records or manifest are not what was written is named with its file."""
    fill(data, [upload(batch(sketch, records(sketch, 5)))])
    seal(registry, data, ALL, NOW)
    assert verify(data) == []
    (parquet,) = data.parts.glob("*/*/*/*.parquet")
    assert callable(damage)
    damage(parquet)
    assert any(words in finding.what and "00001." in finding.file for finding in verify(data))


def test_the_command_prints_and_returns_what_it_found(
    registry: Registry, data: DataDirectory, sketch: Metric, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 0 and one line where nothing is damaged; status 1 and each damage by file and row where something is; JSON
    for programs; and a repair says what it kept and where.
    """
    contents = [records(sketch, 100) for _ in range(3)]
    fill(data, *([upload(batch(sketch, content))] for content in contents))
    assert main(["store", "verify", str(data.root)]) == 0
    assert capsys.readouterr().out == "nothing is damaged\n"
    overwrite(data.worker_store(0), contents[1][-40:])
    assert main(["store", "verify", str(data.root), "--json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["damaged"]
    assert finding["file"].endswith("worker-0.sqlite")
    assert finding["where"].startswith("groups, row 2 ")
    assert main(["store", "repair", str(data.root), "--dry-run"]) == 0
    assert "groups: 2 whole rows, 1 damaged" in capsys.readouterr().out
    assert main(["store", "repair", str(data.root), "--json"]) == 0
    (done,) = json.loads(capsys.readouterr().out)["repaired"]
    assert done["repaired"].endswith("worker-0-1.sqlite")
    assert main(["store", "repair", str(data.root)]) == 0
    assert capsys.readouterr().out == "no database is damaged\n"
    assert main(["store", "verify", str(data.root / "nowhere")]) == 1
