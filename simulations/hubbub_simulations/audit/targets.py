"""What the empirical audit attacks: the client's own encoder of a metric, or any function of another's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

from hubbub_registry import Metric
from hubbub_registry.mechanisms import client_module
from hubbub_simulations.audit.empirical import Target
from hubbub_simulations.audit.errors import AuditError
from hubbub_simulations.audit.layouts import layout_of
from hubbub_simulations.audit.noise import SOURCE

_SECRET_BYTES = 32


@contextmanager
def client_target(
    metric: Metric, encoder: Callable[..., Any] | None = None, urandom: Callable[[int], bytes] = os.urandom
) -> Iterator[Target]:
    """One report of a new device for each call, with the random bytes of ``urandom``: the operating system's.

    What is public about a report (hash number, Hadamard row, cohort) stays as it was drawn first, so that reports can
    be compared: it does not depend on the value, and an attacker knows it. A report's permanent noise comes from a new
    secret each time. A report of the encoder's is a record.
    """
    module = client_module(metric.mechanism)
    layout = layout_of(metric)
    made = (encoder or module.Encoder)(metric.device, urandom(_SECRET_BYTES))
    fixed = int.from_bytes(urandom(layout.channels[SOURCE]), "little")
    public = sum(part.mask for _, part in layout.public)

    def source(count: int) -> bytes:
        if not public or count != layout.channels[SOURCE]:
            return urandom(count)
        drawn = int.from_bytes(urandom(count), "little")
        return (drawn & ~public | fixed & public).to_bytes(count, "little")

    def report(value: str) -> Any:
        return made.encode(value.encode(), source)

    if len(layout.channels) == 1:
        yield report
        return
    expand = module.expand

    def of_a_new_device(_secret: bytes, label: bytes, context: bytes, count: int) -> Any:
        return expand(urandom(_SECRET_BYTES), label, context, count)

    with mock.patch.object(module, "expand", of_a_new_device):
        yield report


def load_target(name: str) -> tuple[Target, tuple[str, ...]]:
    """The function named ``MODULE:FUNCTION``, and the ``VALUES`` of its module, which may be missing.

    The module is looked for in the working directory too. Raises AuditError.
    """
    module_name, _, function = name.partition(":")
    if not module_name or not function:
        raise AuditError(f"{name!r} names no function; write --target MODULE:FUNCTION")
    sys.path.insert(0, os.getcwd())
    try:
        module = import_module(module_name)
    except Exception as error:  # noqa: BLE001 - whatever another's module raises
        raise AuditError(f"--target {name}: the module cannot be imported ({error})") from None
    finally:
        sys.path.pop(0)
    target = getattr(module, function, None)
    if not callable(target):
        raise AuditError(f"--target {name}: {module_name} has no function {function}")
    return target, tuple(str(value) for value in getattr(module, "VALUES", ()))
