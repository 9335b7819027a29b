"""How the ledger lies in its file: a SHA-256, then one line of JSON for the device and one for each metric.

The first line is ``{"generation", "enabled", "secret", "device"}``; each other one ``[name, start, end, reports, spent,
lifetime, [[tag, reports], ...]]``, as ledger.py explains them.
"""

import json
from hashlib import sha256

from hubbub_client.errors import StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.report_files import Readable
    from hubbub_client.storage import Storage

NAME = "ledger"
_CHECK = 32


def read_lines(storage: "Readable") -> "list[Any] | None":
    """The decoded lines, the device's first; None where there is no file. Raises StateError where damaged; OSError."""
    data = storage.read(NAME)
    if data is None:
        return None
    text = data[_CHECK:]
    if sha256(text).digest() != data[:_CHECK]:
        raise StateError("state, %s: it is damaged, so what was spent is unknown and nothing more is reported" % NAME)
    return [json.loads(line) for line in text.decode().split("\n")]


def write_lines(storage: "Storage", lines: "list[str]") -> None:
    """Replaces the file, durably. Raises OSError."""
    text = "\n".join(lines).encode()
    storage.write(NAME, sha256(text).digest() + text)
