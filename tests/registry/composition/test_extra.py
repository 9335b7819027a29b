"""The base install has no numbers at a delta, says which extra brings them, and works without it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from hubbub_registry.composition import errors
from hubbub_registry.composition.errors import MissingExtraError
from hubbub_registry.composition.losses import pld
from hubbub_registry.composition.part import pure
from hubbub_registry.composition.renyi import rdp
from hubbub_registry.composition.shuffle import Randomizer, shuffled_delta, shuffled_epsilon

from tests.registries import write_registry

CHECK = """
import sys
for name in ("numpy", "scipy", "dp_accounting"):
    sys.modules[name] = None
from hubbub_registry.commands import main
sys.exit(main(["check", *sys.argv[1:]]))
"""


def test_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every numeric function raises the typed error, which names the packages and the extra."""
    monkeypatch.setattr(errors, "find_spec", lambda name: None if name == "dp_accounting" else object())
    parts, delta, randomizer = [pure(Fraction(1))], Fraction(1, 10**6), Randomizer(3, 0.5, 3)
    computed: list[Callable[[], object]] = [
        lambda: pld(parts, delta),
        lambda: rdp(parts, delta),
        lambda: shuffled_delta(randomizer, 10, 0.1),
        lambda: shuffled_epsilon(randomizer, 10, delta),
    ]
    for compute in computed:
        with pytest.raises(MissingExtraError, match=r"dp-accounting, not installed.*'hubbub\[accounting\]'"):
            compute()


def test_command_without_the_extra(tmp_path: Path) -> None:
    """``hubbub check`` needs no numeric package until composition is asked for, and then says what to install."""
    path = str(write_registry(tmp_path / "registry.toml", {"m": {"mechanism": "unary-encoding"}}))
    plain = subprocess.run([sys.executable, "-c", CHECK, path], capture_output=True, text=True, check=False)
    assert (plain.returncode, plain.stderr) == (0, "")
    asked = subprocess.run(
        [sys.executable, "-c", CHECK, path, "--horizon", "5y"], capture_output=True, text=True, check=False
    )
    assert asked.returncode == 1
    assert asked.stderr.startswith("hubbub check: error: figures at a delta need ")
    assert "pip install 'hubbub[accounting]'" in asked.stderr
