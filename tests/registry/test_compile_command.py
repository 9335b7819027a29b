"""``hubbub compile``: a plan of integers and text, whole or not at all, that a device reads as it was meant."""

import json
import os
from pathlib import Path
from typing import Any

import msgpack
import pytest

from hubbub_client.plan import Plan
from hubbub_registry import load_registry
from hubbub_registry.commands import main
from hubbub_registry.mechanisms import NAMES

from tests.registries import write_registry
from tests.registry.documents import SKETCH, table, write


@pytest.fixture
def everything(tmp_path: Path) -> Path:
    """A registry with a metric of each mechanism, values beyond ASCII and beyond 16 bits among them."""
    metrics: dict[str, dict[str, Any]] = {name.replace("-", "_"): {"mechanism": name} for name in NAMES}
    metrics["unary_encoding"]["values"] = ["a", "ü", "😀"]
    return write_registry(tmp_path / "registry.toml", metrics)


def leaves(thing: object) -> list[object]:
    """Everything in nested maps and lists that is neither."""
    if isinstance(thing, dict):
        return [leaf for part in (*thing.keys(), *thing.values()) for leaf in leaves(part)]
    if isinstance(thing, list):
        return [leaf for part in thing for leaf in leaves(part)]
    return [thing]


@pytest.mark.parametrize(
    ("name", "flags", "decode"),
    [
        ("plan.json", [], json.loads),
        ("plan.msgpack", [], msgpack.unpackb),
        ("plan", [], json.loads),
        ("plan", ["--format", "msgpack"], msgpack.unpackb),
        ("plan.msgpack", ["--format", "json"], json.loads),
    ],
)
def test_round_trip(everything: Path, tmp_path: Path, name: str, flags: list[str], decode: Any) -> None:
    """What is written, in either format, is the registry's plan, to the last integer."""
    target = tmp_path / name
    assert main(["compile", str(everything), "-o", str(target), *flags]) == 0
    registry = load_registry(everything)
    assert decode(target.read_bytes()) == registry.document
    plan = Plan.load(str(target))
    assert plan.namespace == registry.plan.namespace
    assert {key: vars(metric) for key, metric in plan.metrics.items()} == {
        key: vars(metric) for key, metric in registry.plan.metrics.items()
    }


def test_integers_and_text_only(everything: Path, tmp_path: Path) -> None:
    """No plan, of any mechanism, holds anything but text and integers of at most 64 bits."""
    assert main(["compile", str(everything), "-o", str(tmp_path / "plan")]) == 0
    found = leaves(json.loads((tmp_path / "plan").read_bytes()))
    assert {type(leaf) for leaf in found} == {int, str}
    assert all(-(1 << 63) <= leaf < 1 << 64 for leaf in found if isinstance(leaf, int))


def test_nothing_of_the_host(everything: Path, tmp_path: Path) -> None:
    """Neither an owner nor a description goes to a device."""
    assert main(["compile", str(everything), "-o", str(tmp_path / "plan")]) == 0
    assert "tests@example.org" not in (tmp_path / "plan").read_text()


def test_stdout(everything: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """``-o -`` writes the plan, and nothing else, to stdout."""
    assert main(["compile", str(everything), "-o", "-", "--format", "msgpack"]) == 0
    captured = capfdbinary.readouterr()
    assert msgpack.unpackb(captured.out) == load_registry(everything).document
    assert captured.err == b""


@pytest.mark.parametrize("keys", [{"width": "3"}, {"expires": "2001-01-01"}])
def test_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], keys: dict[str, str]) -> None:
    """A registry with a problem, or with a lint of level error, is not compiled, and an older plan stays as it was."""
    target = tmp_path / "plan.json"
    target.write_text("older")
    assert main(["compile", str(write(tmp_path, table("metrics.m", {**SKETCH, **keys}))), "-o", str(target)]) == 1
    assert f"metrics.m.{next(iter(keys))}: " in capsys.readouterr().err
    assert target.read_text() == "older"


def test_silenced_error_compiles(tmp_path: Path) -> None:
    """An error that a written reason silences does not stop a compilation."""
    keys = {**SKETCH, "expires": "2001-01-01", "silence": '{ expired = "Kept so that old reports can be read" }'}
    assert main(["compile", str(write(tmp_path, table("metrics.m", keys))), "-o", str(tmp_path / "plan")]) == 0


@pytest.mark.parametrize("fails", ["fsync", "open"])
def test_failed_write(
    everything: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fails: str
) -> None:
    """Where the disk fails, the older plan stays, nothing half-written is left, and the message names the plan."""
    target = tmp_path / "plan.json"
    target.write_text("older")
    before = sorted(tmp_path.iterdir())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, fails, full)
    status = main(["compile", str(everything), "-o", str(target)])
    monkeypatch.undo()
    assert status == 1
    assert capsys.readouterr().err == f"hubbub compile: error: {target}: No space left on device\n"
    assert sorted(tmp_path.iterdir()) == before
    assert target.read_text() == "older"


def test_no_folder(everything: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is not there is named with the plan."""
    target = tmp_path / "none" / "plan.json"
    assert main(["compile", str(everything), "-o", str(target)]) == 1
    assert capsys.readouterr().err == f"hubbub compile: error: {target}: No such file or directory\n"


def test_symbolic_links_and_devices(everything: Path, tmp_path: Path) -> None:
    """A link keeps pointing to the plan, and what is no regular file is written to, not replaced."""
    (tmp_path / "link").symlink_to(tmp_path / "plan.json")
    assert main(["compile", str(everything), "-o", str(tmp_path / "link")]) == 0
    assert (tmp_path / "link").is_symlink()
    assert Plan.load(str(tmp_path / "plan.json")).metrics
    assert main(["compile", str(everything), "-o", os.devnull]) == 0
    assert not Path(os.devnull).is_file()


def test_usual_permissions(everything: Path, tmp_path: Path) -> None:
    """A plan has the permissions of any new file, so that a collector of another user can read it."""
    (tmp_path / "other").touch()
    assert main(["compile", str(everything), "-o", str(tmp_path / "plan")]) == 0
    assert (tmp_path / "plan").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_same_bytes_again(everything: Path, tmp_path: Path) -> None:
    """The same registry always compiles to the same bytes."""
    for name in ("one", "two"):
        assert main(["compile", str(everything), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
