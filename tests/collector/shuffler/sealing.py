"""What the tests of shuffling share: keys, devices that seal, the two services as processes and as objects."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hubbub_collector.opening.keys import SHARED, PrivateKey, new_keys
from hubbub_registry import Registry
from hubbub_sealing import PublicKey
from hubbub_sealing.upload import build, seal_upload

from tests.collector.server_process import HUBBUB


@dataclass(frozen=True)
class Keys:
    """What ``hubbub keys new`` made."""

    id: bytes
    public: Path
    private: Path
    secret: Path

    @property
    def seals(self) -> PublicKey:
        return PublicKey.load(self.public)

    @property
    def opens(self) -> PrivateKey:
        return PrivateKey.load(self.private)


def make_keys(folder: Path) -> Keys:
    """A key pair and a secret in ``folder``."""
    id, _ = new_keys(folder)
    return Keys(bytes.fromhex(id), folder / f"{id}.public.json", folder / f"{id}.private.json", folder / SHARED)


def widths(registry: Registry) -> dict[bytes, int]:
    """Fingerprint -> bytes of a record."""
    return {metric.fingerprint: metric.device.record_bytes for metric in registry.metrics.values()}


def sealed(body: bytes, key: PublicKey, registry: Registry) -> bytes:
    """The one sealed upload that a device makes of ``body``."""
    sizes = widths(registry)
    [only] = seal_upload(body, key, sizes, max(sizes.values()))
    return only


def noise_upload(key: bytes, count: int = 1, size: int = 99) -> tuple[bytes, list[bytes]]:
    """A sealed upload of random bytes, which a shuffler cannot tell from ciphertexts, and those bytes."""
    ciphertexts = [os.urandom(size) for _ in range(count)]
    return build(os.urandom(16), key, ciphertexts), ciphertexts


class Service:
    """A running ``hubbub shuffle`` or ``hubbub open``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = ""

    def listens(self) -> None:
        """Waits until it does, and learns where."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("listening on http://"), line
        self.url = line.split()[-1]

    def kill(self) -> None:
        """SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> tuple[int, str]:
        """SIGTERM; the exit status, and all that was logged."""
        self.process.terminate()
        _, logged = self.process.communicate(timeout=30)
        return self.process.returncode, logged


@contextmanager
def service(*arguments: str, wait: bool = True) -> Iterator[Service]:
    """Runs ``hubbub ARGUMENTS``, and waits until it listens; killed at the end if it still runs."""
    command = [*HUBBUB, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            running = Service(process)
            if wait:
                running.listens()
            yield running
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()


def free_port() -> int:
    """A port that nobody has at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def opening(registry: Path, data: Path, keys: Keys, port: int = 0) -> tuple[str, ...]:
    """The arguments of ``hubbub open``."""
    return (
        "open", str(registry), "--data", str(data), "--open-with", str(keys.private), "--secret", str(keys.secret),
        "--port", str(port),
    )  # fmt: skip


def shuffling(data: Path, keys: Keys, forward: str, threshold: int, port: int = 0) -> tuple[str, ...]:
    """The arguments of ``hubbub shuffle``."""
    return (
        "shuffle", "--data", str(data), "--forward", forward, "--secret", str(keys.secret), "--key", keys.id.hex(),
        "--threshold", str(threshold), "--max-wait", "0s", "--port", str(port),
    )  # fmt: skip
