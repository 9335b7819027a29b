"""What the collector's options take."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hubbub_collector.commands.arguments import address
from hubbub_registry.commands import main

from tests.collector.server_process import HUBBUB
from tests.collector.uploads import registry_file


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [
        ("--rate", "50", "such as 50/s"),
        ("--rate", "0/s", "such as 50/s"),
        ("--trusted-proxy", "10.0.0.0/33", "such as 10.0.0.0/8 or ::1"),
        ("--trusted-proxy", "10.0.0.1/8", "such as 10.0.0.0/8 or ::1"),
        ("--trusted-proxy", "proxy.example.org", "such as 10.0.0.0/8 or ::1"),
        ("--admin", "9090", "such as 127.0.0.1:9090"),
        ("--admin", ":9090", "such as 127.0.0.1:9090"),
        ("--admin", "127.0.0.1:65536", "write a number from 0 to 65535"),
        ("--port", "65536", "write a number from 0 to 65535"),
        ("--connections", "0", "at least 1"),
        ("--head-timeout", "0s", "at least 1s"),
        ("--body-timeout", "30", "such as 1s"),
        ("--idle-timeout", "0s", "at least 1s"),
        ("--log", "xml", "choose from"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, hint: str
) -> None:
    """Status 2, the option and the value by name, what would do, and nothing is made."""
    registry = str(registry_file(tmp_path))
    assert main(["collect", registry, "--data", str(tmp_path / "data"), f"{option}={value}"]) == 2
    said = capsys.readouterr().err
    assert f"argument {option}: " in said
    assert value.rpartition(":")[2] in said
    assert hint in said
    assert not (tmp_path / "data").exists()


def test_an_address_may_be_ipv6() -> None:
    """Brackets around an IPv6 address are taken off."""
    assert address("[::1]:9090") == ("::1", 9090)
    assert address("127.0.0.1:0") == ("127.0.0.1", 0)


def test_more_connections_than_files_is_an_error(tmp_path: Path) -> None:
    """Where a process may not open as many files as it is to have connections it does not start, and says why."""
    registry = registry_file(tmp_path)
    command = ["sh", "-c", 'ulimit -n 600; exec "$@"', "sh", *HUBBUB, "collect", str(registry)]
    command += ["--data", str(tmp_path / "data"), "--port", "0", "--connections", "345"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "--connections: 345 connections and 256 other files are more than the 600" in done.stderr
    assert not (tmp_path / "data").exists()
