"""The closure of imports: everything a board reaches, and nothing that it does not."""

from __future__ import annotations

import pytest

from hubbub_firmware.build.errors import BuildError
from hubbub_firmware.build.modules import closure, imports


def test_a_lazy_import_counts() -> None:
    """An import inside a function is reached by a board, and what stands under TYPE_CHECKING is not."""
    source = (
        "def f():\n    from hubbub_client.plan import Plan\n"
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import hubbub_client.frames\n"
        "else:\n    import hubbub_client.prf\n"
    )
    assert imports(source) == ["hubbub_client.plan", "hubbub_client.prf"]


def test_an_import_by_its_written_name_counts() -> None:
    """``__import__`` with a literal name is an import, and modules of others are none of ours."""
    assert imports('import json, os\n__import__("hubbub_client.prf")\n') == ["hubbub_client.prf"]


def test_a_name_of_the_client_brings_its_home() -> None:
    """The client loads its public names when they are asked for, so the module of each is needed."""
    assert "hubbub_client.reporter" in closure(["from hubbub_client import Reporter"])
    assert "hubbub_client.reporter" not in closure(["from hubbub_client import Plan"])


def test_packages_above_a_module_come_with_it() -> None:
    """A module of a package cannot be imported without the package's own file."""
    found = closure([], ["hubbub_client.mechanisms.rappor"])
    assert {"hubbub_client", "hubbub_client.mechanisms", "hubbub_client.mechanisms.rappor"} <= set(found)


def test_no_mechanism_comes_unasked() -> None:
    """The main loop needs no mechanism by itself: those come by the registry."""
    found = closure(["from hubbub_firmware.loop import run"])
    assert not [name for name in found if name.startswith("hubbub_client.mechanisms.")]


def test_a_host_module_is_refused() -> None:
    """A program for a board that imports the gateway cannot run, and the build says so."""
    with pytest.raises(BuildError, match=r"hubbub_firmware\.gateway"):
        closure(["import hubbub_firmware.gateway"])


def test_a_missing_module_is_refused() -> None:
    """A name that leads nowhere is found on the host, before it is found on the board."""
    with pytest.raises(BuildError, match=r"no module hubbub_client\.gone"):
        closure(["import hubbub_client.gone"])
