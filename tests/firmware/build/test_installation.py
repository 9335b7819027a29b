"""MicroPython's own tools install what was built: ``mip``, a frozen manifest, and pip on the host."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hubbub_firmware.build.interpreter import find_interpreter
from hubbub_firmware.build.library import library_files, portable_modules

from tests.firmware.build.folders import folder_of, names_in, root_of
from tests.registries import write_registry

ROOT = Path(__file__).parents[3]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder over HTTP on loopback, as its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def mip_install(url: str, target: Path) -> None:
    """Installs a package with MicroPython's own ``mip``."""
    program = f'import mip\nmip.install("{url}", target="{target}", mpy=False)\n'
    done = subprocess.run([find_interpreter(), "-c", program], capture_output=True, text=True, check=False)
    assert "Done" in done.stdout, done.stdout + done.stderr


def test_mip_installs_a_built_folder(tmp_path: Path) -> None:
    """``mip`` brings exactly the library of the folder, byte for byte."""
    built = folder_of(tmp_path)
    with served(built) as url:
        mip_install(f"{url}/package.json", tmp_path / "installed")
    assert names_in(tmp_path / "installed") == names_in(built / "lib")
    for name in names_in(built / "lib"):
        assert (tmp_path / "installed" / name).read_bytes() == (built / "lib" / name).read_bytes()


def test_mip_installs_the_library_itself(tmp_path: Path) -> None:
    """``firmware/package.json`` brings every portable module, the client's among them."""
    with served(ROOT) as url:
        mip_install(f"{url}/firmware/package.json", tmp_path)
    names = names_in(tmp_path)
    assert {"hubbub_client/reporter.py", "hubbub_firmware/loop.py", "hubbub_firmware/links/mqtt.py"} <= names
    for name in names:
        package, _, rest = name.partition("/")
        assert (tmp_path / name).read_bytes() == (root_of(package) / rest).read_bytes()


def test_the_librarys_lists_are_up_to_date() -> None:
    """A module that was added, or removed, is so in both lists: python -m hubbub_firmware.build.library writes them."""
    for name, data in library_files().items():
        assert (ROOT / "firmware" / name).read_bytes() == data


def test_nothing_for_hosts_is_in_the_library() -> None:
    """What only a host can run is in no list."""
    found = set(portable_modules())
    assert not [name for name in found if name.startswith(("hubbub_firmware.build", "hubbub_firmware.gateway"))]
    assert "hubbub_client.http_transport" not in found


class _Manifest:
    """What MicroPython's build gives a manifest to call: every call is kept."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def run(self, path: Path) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
        names = ("include", "package", "module", "freeze_mpy")
        code = compile(path.read_text(), str(path), "exec")
        exec(code, {name: functools.partial(self._keep, name) for name in names})  # noqa: S102 - our own manifest
        return self.calls

    def _keep(self, call: str, *words: Any, **keys: Any) -> None:
        self.calls.append((call, words, keys))


@pytest.mark.parametrize("mpy", [False, True], ids=["source", "byte code"])
def test_the_manifest_of_a_folder_names_what_is_there(tmp_path: Path, mpy: bool) -> None:
    """A manifest begins with the port's own, and every path in it exists."""
    built = folder_of(tmp_path, mpy=mpy)
    calls = _Manifest().run(built / "manifest.py")
    assert calls[0] == ("include", ("$(PORT_DIR)/boards/manifest.py",), {})
    assert ("module", ("board.py",), {}) in calls
    for call, words, keys in calls[1:]:
        assert (built / keys.get("base_path", ".") / words[0]).exists(), call


def test_the_librarys_manifest_names_every_file() -> None:
    """The files that the library's manifest freezes are those of package.json, and exist."""
    frozen = set()
    for call, words, keys in _Manifest().run(ROOT / "firmware" / "manifest.py"):
        if call == "package":
            frozen |= {f"{words[0]}/{name}" for name in keys["files"]}
            assert all((ROOT / "firmware" / keys["base_path"] / words[0] / name).is_file() for name in keys["files"])
    listed = json.loads((ROOT / "firmware" / "package.json").read_text())["urls"]
    assert frozen == {name for name, _ in listed}


def test_an_installed_wheel_builds_firmware(tmp_path: Path) -> None:
    """The boards, the templates and the stubs come with the wheel: away from the source tree it builds the same."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "site")
    registry = write_registry(tmp_path / "registry.toml", {"band": {"mechanism": "randomized-response"}})
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import hubbub_firmware; print(hubbub_firmware.__file__); "
        "from hubbub_registry.commands import main; sys.exit(main())"
    )
    words = ["firmware", "build", str(registry), "--board", "unix", "-o", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "site"), *words],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "site"))
    assert names_in(tmp_path / "out") == names_in(folder_of(tmp_path / "tree"))
    stubs = tmp_path / "site" / "hubbub_firmware" / "build" / "on_board" / "stubs"
    assert (stubs / "machine.py").is_file()
